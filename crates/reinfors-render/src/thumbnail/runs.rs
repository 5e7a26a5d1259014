//! What fills the cells of a row below all that is seen of them: runs of cells of one colour.

use super::sets::{STRETCH, Set, ahead, firsts, last, take_first, until};
use crate::Colour;

/// A colour, and what a cell comes out as that shows nothing else, if that is the same in all cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub colour: Colour,
    pub shown: Colour,
}

/// The runs of a stretch.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// Where they start.
    pub starts: Set,
    /// The paint of each, at its first cell.
    paints: [Paint; STRETCH],
}

impl Runs {
    pub const fn new() -> Self {
        Self { starts: 0, paints: [Paint { colour: Colour::BLACK, shown: Colour::BLACK }; STRETCH] }
    }

    #[inline(always)]
    pub const fn clear(&mut self) {
        self.starts = 0;
    }

    /// Some cells, of which nothing was known, are of one colour.
    #[inline(always)]
    pub fn fill(&mut self, cells: Set, paint: Paint) {
        let mut firsts = firsts(cells);
        self.starts |= firsts;
        while let Some(first) = take_first(&mut firsts) {
            self.paints[first % STRETCH] = paint;
        }
    }

    /// What fills the run that starts at a cell.
    #[inline(always)]
    pub fn paint(&self, start: usize) -> Paint {
        self.paints[start % STRETCH]
    }

    /// Of some cells those that lie in one run with the first of them, and the colour of that run. There is at
    /// least one cell, and all cells are filled.
    #[inline(always)]
    pub fn split(&self, cells: Set) -> (Set, Colour) {
        let until = until(cells);
        let start = last(self.starts & until);
        (cells & ahead(self.starts & !until), self.paint(start).colour)
    }
}
