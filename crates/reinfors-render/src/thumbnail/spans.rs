//! What shapes fill: the first and last column of each row, in layers where a row has several spans.
//!
//! Rows are the output's, after any flip. All spans of a shape have its colour, so that their order does not
//! matter, and spans that touch become one.

use super::rows::{LANES, Places};
use std::ops::Range;

/// The first column of a row without a span: larger than the last, whatever they are compared with.
pub(super) const NO_LEFT: i16 = i16::MAX;
pub(super) const NO_RIGHT: i16 = i16::MIN;

/// Empty rows before and after a layer, so that any sixteen rows that meet a fill's can be read at once, and
/// those from one of its rows on be written.
const MARGIN: usize = LANES;

/// The spans of all shapes: layer after layer, with a margin before the first and after each.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    left: Vec<i16>,
    right: Vec<i16>,
    /// Where the last layer's margin ends.
    end: usize,
}

/// One shape's spans.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    pub rows: Range<i32>,
    start: usize,
    pub layers: usize,
}

/// The first and last columns of a layer, with both margins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    /// The row of the first.
    first: i32,
    left: &'a [i16],
    right: &'a [i16],
}

impl Layer<'_> {
    /// Places of rows that meet the fill's, for [`at`](Self::at). Of those beyond the fill, all alike, no more
    /// than one on each side.
    #[inline(always)]
    pub fn around(&self, rows: Range<i32>) -> Range<usize> {
        let margin = MARGIN as i32 - 1;
        let start = (rows.start - self.first).max(margin) as usize;
        start..(rows.end - self.first).min(self.left.len() as i32 - margin) as usize
    }

    /// The spans of sixteen rows from a place on.
    #[inline(always)]
    pub fn at(&self, place: usize) -> (Places, Places) {
        (sixteen(self.left, place), sixteen(self.right, place))
    }
}

/// Where a layer lies, for [`Spans::at`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its first row, in the margin before it.
    row: i32,
    /// The index of that row, and of the last one that fifteen more follow.
    first: u32,
    last: u32,
}

impl Fill {
    const fn stride(&self) -> usize {
        (self.rows.end - self.rows.start) as usize + MARGIN
    }

    /// Where one of its layers lies.
    #[inline(always)]
    pub const fn place(&self, layer: usize) -> Place {
        let first = self.start + layer * self.stride() - MARGIN;
        let last = first + self.stride() + MARGIN - LANES;
        Place { row: self.rows.start - MARGIN as i32, first: first as u32, last: last as u32 }
    }

    #[inline(always)]
    const fn index(&self, layer: usize, row: i32) -> usize {
        (self.start + layer * self.stride()).wrapping_add_signed((row - self.rows.start) as isize)
    }
}

impl Spans {
    /// With room for so many.
    pub fn new(room: usize) -> Self {
        let mut spans = Self { left: Vec::with_capacity(room), right: Vec::with_capacity(room), end: MARGIN };
        spans.left.resize(MARGIN, NO_LEFT);
        spans.right.resize(MARGIN, NO_RIGHT);
        spans
    }

    pub fn clear(&mut self) {
        self.end = MARGIN;
    }

    /// A new shape's spans in `rows`, which are to be written, or to be left [`empty`](Self::empty).
    #[inline(always)]
    pub fn begin(&mut self, rows: Range<i32>) -> Fill {
        let fill = Fill { rows, start: self.end, layers: 1 };
        self.extend(&fill);
        fill
    }

    /// Makes room for one layer more.
    #[inline(always)]
    fn extend(&mut self, fill: &Fill) {
        self.end += fill.stride();
        if self.left.len() < self.end {
            self.left.resize(self.end, NO_LEFT);
            self.right.resize(self.end, NO_RIGHT);
        }
    }

    /// The last layer of the fill that was begun last has no spans.
    pub fn empty(&mut self, fill: &Fill) {
        let layer = self.end - fill.stride()..self.end;
        self.left[layer.clone()].fill(NO_LEFT);
        self.right[layer].fill(NO_RIGHT);
    }

    /// The first layer's rows of the fill that was begun last, and the margin after them: to be written at
    /// once, then to be [closed](Self::close).
    #[inline(always)]
    pub fn first_layer(&mut self, fill: &Fill) -> (&mut [i16], &mut [i16]) {
        let layer = fill.start..fill.start + fill.stride();
        (&mut self.left[layer.clone()], &mut self.right[layer])
    }

    /// Nothing is filled after the rows of the fill that was begun last.
    #[inline(always)]
    pub fn close(&mut self, fill: &Fill) {
        let start = fill.index(0, fill.rows.end);
        self.left[start..start + MARGIN].copy_from_slice(&[NO_LEFT; MARGIN]);
        self.right[start..start + MARGIN].copy_from_slice(&[NO_RIGHT; MARGIN]);
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
                fill.layers += 1;
                self.extend(fill);
                self.empty(fill);
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

    /// The spans of a fill in sixteen rows from `row` on.
    #[inline(always)]
    pub fn read(&self, fill: &Fill, layer: usize, row: i32) -> (Places, Places) {
        self.at(fill.place(layer), row)
    }

    /// The same of a layer whose place is known.
    #[inline(always)]
    pub fn at(&self, place: Place, row: i32) -> (Places, Places) {
        let index = (place.first + (row - place.row).max(0) as u32).min(place.last) as usize;
        (sixteen(&self.left, index), sixteen(&self.right, index))
    }

    /// A layer, to be read again and again.
    #[inline(always)]
    pub fn layer(&self, fill: &Fill, layer: usize) -> Layer<'_> {
        let Place { row, first, last } = fill.place(layer);
        let all = first as usize..last as usize + LANES;
        Layer { first: row, left: &self.left[all.clone()], right: &self.right[all] }
    }
}

/// Places of sixteen rows.
#[inline(always)]
fn sixteen(places: &[i16], start: usize) -> Places {
    Places(places[start..start + LANES].try_into().expect("sixteen rows"))
}
