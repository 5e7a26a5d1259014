//! Which cells each shape touches and which it fills, row after row of cells.

use super::sets::{STRETCH, Set, between};
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

/// A shape's strokes.
pub(super) struct Strokes<'a> {
    rows: Range<usize>,
    stretches: usize,
    strokes: &'a mut [Stroke],
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

    /// The strokes of the next shape, which touch nothing yet.
    #[inline(always)]
    pub fn begin(&mut self, ink: u32, rows: Range<usize>) -> Strokes<'_> {
        let first = self.strokes.len();
        for last in &mut self.last[rows.start * self.stretches..rows.end * self.stretches] {
            let before = std::mem::replace(last, self.strokes.len() as u32);
            self.strokes.push(Stroke { touched: 0, covered: 0, lines: [0; LINES], ink, before });
        }
        Strokes { rows, stretches: self.stretches, strokes: &mut self.strokes[first..] }
    }

    /// The cells of a stretch.
    #[inline(always)]
    pub fn stretch(&self, index: usize) -> Range<usize> {
        index * STRETCH..((index + 1) * STRETCH).min(self.width)
    }
}

impl Strokes<'_> {
    /// The shape's spans or dots touch some cells of a row.
    #[inline(always)]
    pub fn touch(&mut self, row: usize, cells: Range<usize>) {
        self.each(row, cells, |stroke, set| stroke.touched |= set);
    }

    /// The shape fills some cells of a row.
    #[inline(always)]
    pub fn cover(&mut self, row: usize, cells: Range<usize>) {
        self.each(row, cells, |stroke, set| stroke.covered |= set);
    }

    /// One of the shape's lines comes near some cells of a row.
    #[inline(always)]
    pub fn approach(&mut self, row: usize, cells: Range<usize>, line: usize) {
        self.each(row, cells, |stroke, set| stroke.lines[line % LINES] |= set);
    }

    #[inline(always)]
    fn each(&mut self, row: usize, cells: Range<usize>, change: impl Fn(&mut Stroke, Set)) {
        debug_assert!(self.rows.contains(&row), "row {row} of {:?}", self.rows);
        let strokes = &mut self.strokes[(row - self.rows.start) * self.stretches..][..self.stretches];
        if let [stroke] = strokes {
            return change(stroke, between(cells.start, cells.end));
        }
        for (index, stroke) in strokes.iter_mut().enumerate() {
            let inside = |cell: usize| cell.clamp(index * STRETCH, (index + 1) * STRETCH) - index * STRETCH;
            change(stroke, between(inside(cells.start), inside(cells.end)));
        }
    }
}
