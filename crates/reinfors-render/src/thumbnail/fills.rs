//! What fills the cells of a row below all that is seen of them, each cell once.

use super::sets::{HALF, Half, firsts, take_first};
use crate::Colour;

/// A colour, and what a cell comes out as that shows nothing else, if that is the same in all cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub colour: Colour,
    pub shown: [u8; 3],
}

/// Some cells of one colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub cells: Half,
    pub colour: Colour,
}

/// The fills of half a stretch, of which no two share a cell.
#[derive(Clone, Debug)]
pub(super) struct Fills {
    /// From the last drawn to the first.
    fills: Vec<Fill>,
    /// Where runs of neighbours of one fill start.
    pub starts: Half,
    /// The paint of each run, at its first cell.
    paints: [Paint; HALF],
}

impl Fills {
    pub fn new() -> Self {
        let paints = [Paint { colour: Colour::BLACK, shown: [0; 3] }; HALF];
        Self { fills: Vec::with_capacity(HALF), starts: 0, paints }
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.fills.clear();
        self.starts = 0;
    }

    /// Fills some cells, of which nothing was known.
    #[inline(always)]
    pub fn push(&mut self, cells: Half, paint: Paint) {
        let mut firsts = firsts(cells);
        self.starts |= firsts;
        while let Some(first) = take_first(&mut firsts) {
            self.paints[first % HALF] = paint;
        }
        self.fills.push(Fill { cells, colour: paint.colour });
    }

    /// What fills the run that starts at a cell.
    #[inline(always)]
    pub fn paint(&self, start: usize) -> Paint {
        self.paints[start % HALF]
    }

    /// From the first drawn to the last.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &Fill> {
        self.fills.iter().rev()
    }

    /// What fills a cell below all that is seen.
    #[inline(always)]
    pub fn under(&self, cell: Half) -> Colour {
        self.iter().find(|fill| fill.cells & cell != 0).expect("all cells are filled").colour
    }
}
