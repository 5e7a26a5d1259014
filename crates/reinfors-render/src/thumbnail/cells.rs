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

/// All strokes of a frame.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub width: usize,
    /// Stretches of a row.
    pub stretches: usize,
    pub strokes: Vec<Stroke>,
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
            last: vec![NONE; room],
        }
    }

    pub fn clear(&mut self) {
        self.strokes.clear();
        self.last.fill(NONE);
    }

    /// The strokes of the next shape, which touch nothing yet: stretch after stretch, those of its rows.
    #[inline(always)]
    pub fn begin(&mut self, ink: u32, rows: Range<usize>) -> &mut [Stroke] {
        let first = self.strokes.len();
        for last in self.last.chunks_mut(self.height) {
            let start = self.strokes.len() as u32;
            self.strokes.extend(last[rows.clone()].iter_mut().zip(start..).map(|(last, index)| Stroke {
                touched: 0,
                covered: 0,
                lines: [0; LINES],
                ink,
                before: std::mem::replace(last, index),
            }));
        }
        &mut self.strokes[first..]
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
