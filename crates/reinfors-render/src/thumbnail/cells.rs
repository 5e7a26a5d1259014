//! Which cells each shape touches and which it fills, row after row of cells.

use super::sets::{STRETCH, Set};
use crate::Size;
use std::ops::Range;

/// Lines of a shape that are told apart: line `k` is told as number `k % LINES`.
pub(super) const LINES: usize = 4;

/// No stroke.
pub(super) const NONE: u32 = u32::MAX;

/// One shape in one row of cells, or in a stretch of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    /// Cells that the shape's spans or dots touch.
    pub touched: Set,
    /// Cells that show nothing but its colour.
    pub covered: Set,
    /// Cells that each of its lines comes near.
    pub lines: [Set; LINES],
    pub ink: u32,
    /// The stroke that was drawn there before it.
    pub before: u32,
}

impl Stroke {
    const NONE: Self = Self { touched: 0, covered: 0, lines: [0; LINES], ink: 0, before: NONE };
}

/// Strokes that hold anything: the next of their rows.
pub(super) struct Begun<'a> {
    pub strokes: &'a mut [Stroke],
    /// The last stroke of each row.
    pub lasts: &'a mut [u32],
    /// Which one the first of the strokes is.
    pub first: u32,
}

/// All strokes of a frame.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub width: usize,
    /// Stretches of a row.
    pub stretches: usize,
    pub strokes: Vec<Stroke>,
    /// Beyond the last stroke of this frame.
    end: usize,
    /// Rows of cells.
    height: usize,
    /// The last stroke of each row, stretch after stretch.
    last: Vec<u32>,
}

impl Cells {
    pub fn new(size: Size) -> Self {
        let stretches = size.width.div_ceil(STRETCH);
        let room = stretches * size.height;
        Self {
            width: size.width,
            stretches,
            height: size.height,
            // Memory that is never written costs nothing.
            strokes: Vec::with_capacity(8 * room),
            end: 0,
            last: vec![NONE; room],
        }
    }

    pub fn clear(&mut self) {
        self.end = 0;
        self.last.fill(NONE);
    }

    /// The strokes of the next shape in some rows of a stretch, all to be written.
    #[inline(always)]
    pub fn begin(&mut self, stretch: usize, rows: Range<usize>) -> Begun<'_> {
        let (first, end) = (self.end, self.end + rows.len());
        if self.strokes.len() < end {
            self.strokes.resize(end, Stroke::NONE);
        }
        self.end = end;
        let lasts = &mut self.last[stretch * self.height..][rows];
        Begun { strokes: &mut self.strokes[first..end], lasts, first: first as u32 }
    }

    /// The last stroke of a stretch, or none.
    #[inline(always)]
    pub fn last(&self, row: usize, stretch: usize) -> u32 {
        self.last[stretch * self.height + row]
    }

    /// The cells of a stretch.
    #[inline(always)]
    pub fn stretch(&self, index: usize) -> Range<usize> {
        index * STRETCH..((index + 1) * STRETCH).min(self.width)
    }
}
