//! How far a fill reaches in the rows of each window: the least and the most of its first and last columns.
//!
//! The least number of every stretch of 2, 4, 8 rows is found first, all rows at once; a window is one or two
//! such stretches, which may overlap.

use super::spans::{Fill, NO_LEFT, NO_RIGHT, Spans};
use super::windows::{Window, Windows};

/// How far a fill reaches in some rows. A row without a span is one that reaches nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub min_left: i32,
    pub max_left: i32,
    pub min_right: i32,
    pub max_right: i32,
}

/// Rows that are compared at a time.
const PIECE: usize = 8;

/// Numbers of which the least are looked for: the first column, its complement, the last, its complement.
type Reach = [i16; 4];

/// The reach of a fill's layer; reused from layer to layer.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    /// Rows of the narrowest window, made a power of two, and of the widest.
    pace: usize,
    widest: usize,
    /// Of as many rows as the pace from each row on. There are rows before and after the fill's.
    reaches: Vec<Reach>,
    /// The row that the first is.
    first: i32,
}

impl Extents {
    /// For windows of an axis.
    pub fn new(rows: &Windows) -> Self {
        let narrowest = rows.windows.iter().map(Window::len).min().unwrap_or(1);
        Self { pace: 1 << narrowest.ilog2(), widest: rows.widest, reaches: Vec::new(), first: 0 }
    }

    /// Looks at a layer.
    #[inline(always)]
    pub fn collect(&mut self, spans: &Spans, fill: &Fill, layer: usize) {
        let (lefts, rights) = spans.rows(fill, layer);
        let reach = |left: i16, right: i16| [left, !left, right, !right];
        let margin = self.widest;
        let end = margin + lefts.len();
        self.first = fill.rows.start - margin as i32;
        // Whole pieces, and beyond them what the last piece is compared with.
        let pieces = (end + margin).div_ceil(PIECE);
        self.reaches.resize(pieces * PIECE + self.pace, [0; 4]);
        self.reaches[..margin].fill(reach(NO_LEFT, NO_RIGHT));
        for (to, (&left, &right)) in self.reaches[margin..end].iter_mut().zip(lefts.iter().zip(rights)) {
            *to = reach(left, right);
        }
        self.reaches[end..end + margin].fill(reach(NO_LEFT, NO_RIGHT));
        let mut pace = 1;
        while pace < self.pace {
            // In place: what is compared with lies ahead.
            let numbers = self.reaches.as_flattened_mut();
            for piece in 0..pieces {
                let at = 4 * PIECE * piece;
                let other: [i16; 4 * PIECE] = *numbers[at + 4 * pace..].first_chunk().expect("a piece");
                let own: &mut [i16; 4 * PIECE] = numbers[at..].first_chunk_mut().expect("a piece");
                for (own, other) in own.iter_mut().zip(other) {
                    *own = other.min(*own);
                }
            }
            pace *= 2;
        }
    }

    /// How far the layer reaches in the rows of a window, of which some are the fill's.
    #[inline(always)]
    pub fn of(&self, window: &Window) -> Extent {
        let (start, end) = ((window.start - self.first) as usize, (window.end - self.first) as usize);
        let mut least = self.reaches[end - self.pace];
        let mut at = start;
        while at + self.pace < end {
            for (least, number) in least.iter_mut().zip(self.reaches[at]) {
                *least = number.min(*least);
            }
            at += self.pace;
        }
        let [min_left, max_left, min_right, max_right] = least;
        Extent {
            min_left: min_left.into(),
            max_left: (!max_left).into(),
            min_right: min_right.into(),
            max_right: (!max_right).into(),
        }
    }
}
