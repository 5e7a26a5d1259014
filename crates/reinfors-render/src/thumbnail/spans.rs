//! What shapes fill: the first and last column of each row, in layers where a row has several spans.
//!
//! Rows are the output's, after any flip. All spans of a shape have its colour, so that their order does not
//! matter, and spans that touch become one.

use super::outline::Turn;
use super::rows::{LANES, Places};
use std::ops::Range;

/// The first column of a row without a span: larger than the last, whatever they are compared with.
const NO_LEFT: i16 = i16::MAX;
const NO_RIGHT: i16 = i16::MIN;

/// Empty rows above and below, so that any sixteen rows that meet a fill's can be read at once.
const MARGIN: usize = LANES;

/// The spans of all shapes.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    left: Vec<i16>,
    right: Vec<i16>,
}

/// One shape's spans.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    pub rows: Range<i32>,
    start: usize,
    pub layers: usize,
}

impl Fill {
    const fn stride(&self) -> usize {
        self.rows.end.abs_diff(self.rows.start) as usize + 2 * MARGIN
    }

    #[inline(always)]
    const fn index(&self, layer: usize, row: i32) -> usize {
        self.start + layer * self.stride() + (row - self.rows.start + MARGIN as i32) as usize
    }
}

impl Spans {
    /// Sixteen rows without a span.
    pub const NONE: (Places, Places) = (Places([NO_LEFT; LANES]), Places([NO_RIGHT; LANES]));

    /// With room for so many.
    pub fn new(room: usize) -> Self {
        Self { left: Vec::with_capacity(room), right: Vec::with_capacity(room) }
    }

    pub fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
    }

    /// A new shape's spans in `rows`: none yet.
    #[inline(always)]
    pub fn begin(&mut self, rows: Range<i32>) -> Fill {
        let mut fill = Fill { rows, start: self.left.len(), layers: 0 };
        self.add_layer(&mut fill);
        fill
    }

    #[inline(always)]
    fn add_layer(&mut self, fill: &mut Fill) {
        fill.layers += 1;
        let end = fill.start + fill.layers * fill.stride();
        self.left.resize(end, NO_LEFT);
        self.right.resize(end, NO_RIGHT);
    }

    /// The rows of a fill's first layer, to be written at once.
    #[inline(always)]
    pub fn first_layer(&mut self, fill: &Fill) -> (&mut [i16], &mut [i16]) {
        let (start, len) = (fill.index(0, fill.rows.start), fill.rows.len());
        (&mut self.left[start..][..len], &mut self.right[start..][..len])
    }

    /// Adds columns `left..=right`, on the surface, of a row to the fill that was begun last.
    #[inline(always)]
    pub fn add(&mut self, fill: &mut Fill, row: i32, left: i32, right: i32) {
        if !fill.rows.contains(&row) || left > right {
            return;
        }
        let (left, right) = (left as i16, right as i16);
        for layer in 0.. {
            if layer == fill.layers {
                self.add_layer(fill);
            }
            let index = fill.index(layer, row);
            let (known_left, known_right) = (&mut self.left[index], &mut self.right[index]);
            let is_empty = *known_left > *known_right;
            if is_empty || (left <= known_right.saturating_add(1) && right >= known_left.saturating_sub(1)) {
                (*known_left, *known_right) = (left.min(*known_left), right.max(*known_right));
                return;
            }
        }
    }

    /// The spans of sixteen rows from `row` on, at least one of which is the fill's.
    #[inline(always)]
    pub fn read(&self, fill: &Fill, layer: usize, row: i32) -> (Places, Places) {
        let index = fill.index(layer, row);
        let read = |places: &[i16]| Places(places[index..][..LANES].try_into().expect("sixteen rows"));
        (read(&self.left), read(&self.right))
    }

    /// Writes the first layer of eight rows from `y` on, before the flip; rows that are not the fill's are
    /// left out.
    #[inline(always)]
    pub fn put(&mut self, fill: &Fill, turn: Turn, y: i32, lefts: &[i32; 8], rights: &[i32; 8]) {
        let first = fill.index(0, turn.row(y).min(turn.row(y + 7)));
        let (left, right) = (&mut self.left[first..first + 8], &mut self.right[first..first + 8]);
        for (places, values) in [(left, lefts), (right, rights)] {
            let mut values = values.map(|value| value as i16);
            if turn.sign < 0 {
                values.reverse();
            }
            places.copy_from_slice(&values);
        }
    }
}
