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
    /// The last stroke of each stretch.
    pub last: Vec<u32>,
}

impl Cells {
    pub fn new(size: Size) -> Self {
        let stretches = size.width.div_ceil(STRETCH);
        let room = stretches * size.height;
        Self {
            width: size.width,
            stretches,
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
        let none = Stroke { touched: 0, covered: 0, lines: [0; LINES], ink, before: NONE };
        self.strokes.resize(first + self.stretches * rows.len(), none);
        let last = &mut self.last[rows.start * self.stretches..rows.end * self.stretches];
        for stretch in 0..self.stretches {
            let start = first + stretch * rows.len();
            let last = last.iter_mut().skip(stretch).step_by(self.stretches);
            for ((stroke, index), last) in self.strokes[start..].iter_mut().zip(start as u32..).zip(last) {
                stroke.before = std::mem::replace(last, index);
            }
        }
        &mut self.strokes[first..]
    }

    /// The cells of a stretch.
    #[inline(always)]
    pub fn stretch(&self, index: usize) -> Range<usize> {
        index * STRETCH..((index + 1) * STRETCH).min(self.width)
    }
}
