//! Which shapes each cell shows: a colour all over, then the shapes that touch it, in drawing order.

use super::ink::{Ink, Inks};
use super::jobs::Jobs;
use super::windows::Axes;
use crate::canvas::Canvas;
use crate::{Colour, Size};
use std::ops::Range;

/// Marks of a cell that there is room for from the beginning: more than a crowded frame has on average. Memory
/// that is never written costs nothing.
pub(super) const MARKS: usize = 4;

/// No mark.
const NONE: u32 = u32::MAX;

/// That a shape touches a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub ink: u32,
    /// Which of its lines come near: line `k` has bit `k % 32`.
    pub lines: u32,
    next: u32,
}

/// The cells of a picture, row after row.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    size: Size,
    /// The colour that covered each cell last.
    base: Vec<Colour>,
    /// The first and last mark since.
    chains: Vec<[u32; 2]>,
    marks: Vec<Mark>,
    /// Cells that were given a first mark, perhaps more than once.
    mixed: Vec<u32>,
}

impl Cells {
    pub fn new(size: Size) -> Self {
        Self {
            size,
            base: vec![Colour::BLACK; size.area()],
            chains: vec![[NONE; 2]; size.area()],
            marks: Vec::with_capacity(MARKS * size.area()),
            mixed: Vec::with_capacity(size.area()),
        }
    }

    /// Every cell shows `colour` alone.
    #[inline(always)]
    pub fn clear(&mut self, colour: Colour, axes: Axes, canvas: &mut Canvas) {
        self.marks.clear();
        self.mixed.clear();
        for row in 0..axes.1.end {
            self.cover(row, 0..self.size.width, colour, axes, canvas);
        }
    }

    /// Some cells of a row show `colour` alone.
    #[inline(always)]
    pub fn cover(
        &mut self,
        row: usize,
        cells: Range<usize>,
        colour: Colour,
        axes: Axes,
        canvas: &mut Canvas,
    ) {
        let start = row * self.size.width;
        let range = start + cells.start..start + cells.end;
        self.base[range.clone()].fill(colour);
        self.chains[range.clone()].fill([NONE; 2]);
        if axes.0.is_even() {
            let shown = shown(colour, axes, row, cells.start);
            for (plane, shown) in canvas.planes.iter_mut().zip(shown) {
                plane[range.clone()].fill(shown);
            }
        } else {
            for (column, cell) in cells.zip(range) {
                let shown = shown(colour, axes, row, column);
                for (plane, shown) in canvas.planes.iter_mut().zip(shown) {
                    plane[cell] = shown;
                }
            }
        }
    }

    /// A shape touches some cells of a row, with the lines of the mask.
    #[inline(always)]
    pub fn touch(&mut self, row: usize, cells: Range<usize>, index: u32, ink: &Ink, lines: u32) {
        let start = row * self.size.width;
        for cell in start + cells.start..start + cells.end {
            let [first, last] = self.chains[cell];
            let mark = self.marks.len() as u32;
            if last == NONE {
                // A shape in the colour of all that is there does not show.
                if self.base[cell] == ink.colour && ink.picture.is_none() {
                    continue;
                }
                self.chains[cell] = [mark, mark];
                self.mixed.push(cell as u32);
            } else {
                let known = &mut self.marks[last as usize];
                if known.ink == index {
                    known.lines |= lines;
                    continue;
                }
                known.next = mark;
                self.chains[cell] = [first, mark];
            }
            self.marks.push(Mark { ink: index, lines, next: NONE });
        }
    }

    /// Sorts out what is to be drawn of the cells that show more than a colour.
    #[inline(always)]
    pub fn sort(&mut self, jobs: &mut Jobs, inks: &Inks, axes: Axes, canvas: &mut Canvas) {
        jobs.clear();
        for &cell in &self.mixed {
            let cell = cell as usize;
            let [mut next, _] = std::mem::replace(&mut self.chains[cell], [NONE; 2]);
            if next == NONE {
                continue;
            }
            let first = jobs.marks.len();
            while next != NONE {
                let mark = self.marks[next as usize];
                jobs.marks.push(mark);
                next = mark.next;
            }
            let place = (cell / self.size.width, cell % self.size.width, cell);
            jobs.push(place, self.base[cell], first, inks, axes, canvas);
        }
    }
}

/// What a cell comes out as that shows one colour.
#[inline(always)]
pub(super) fn shown(colour: Colour, (columns, rows): Axes, row: usize, column: usize) -> [u8; 3] {
    let mut shown = colour.channels();
    for value in &mut shown {
        *value = rows.uniform(row, columns.uniform(column, *value));
    }
    shown
}
