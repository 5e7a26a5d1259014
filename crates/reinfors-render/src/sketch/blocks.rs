//! Blocks of cells on the canvas, and the one rule for mixing colours on it.
//!
//! Bytes are kept as they leave `smoothscale`, which lowers a uniform colour by one level across and one
//! down. Its truncations lower mixed colours a little less: [`ROUND`] is that difference and the rounding to
//! a byte.

use super::coverage::Cells;
use super::stencil::COLOURS;
use crate::canvas::Canvas;

/// Cells handled together, side by side.
pub(super) const BLOCK: usize = 8;

/// Added before the fraction is dropped. Uniform colours stay as they are for any value in `0.0..1.0`.
const ROUND: f32 = 0.95;

/// A column of blocks of the canvas, from one row on.
pub(super) struct Strip<'a> {
    planes: [&'a mut [u8]; 3],
    at: usize,
    width: usize,
    /// Cells to a row; fewer than to a block at the right border of some canvases.
    cells: usize,
}

impl Strip<'_> {
    /// Puts bytes into the row and goes on below it.
    #[inline(always)]
    pub fn store(&mut self, [reds, greens, blues]: &[[u8; BLOCK]; 3]) {
        let Self { planes: [red, green, blue], at, width, cells } = self;
        if *cells == BLOCK {
            red[*at..*at + BLOCK].copy_from_slice(reds);
            green[*at..*at + BLOCK].copy_from_slice(greens);
            blue[*at..*at + BLOCK].copy_from_slice(blues);
        } else {
            red[*at..*at + *cells].copy_from_slice(&reds[..*cells]);
            green[*at..*at + *cells].copy_from_slice(&greens[..*cells]);
            blue[*at..*at + *cells].copy_from_slice(&blues[..*cells]);
        }
        *at += *width;
    }

    /// Puts the same bytes into so many rows and goes on below them.
    #[inline(always)]
    pub fn fill(&mut self, rows: usize, bytes: &[[u8; BLOCK]; 3]) {
        for _ in 0..rows {
            self.store(bytes);
        }
    }

    /// Leaves so many rows as they are.
    #[inline(always)]
    pub fn skip(&mut self, rows: usize) {
        self.at += rows * self.width;
    }

    /// What the row shows.
    #[inline(always)]
    pub fn load(&self) -> [[f32; BLOCK]; 3] {
        let mut cells = [[0.0; BLOCK]; 3];
        for (cells, plane) in cells.iter_mut().zip(&self.planes) {
            for (cell, &byte) in cells.iter_mut().zip(&plane[self.at..self.at + self.cells]) {
                *cell = f32::from(byte);
            }
        }
        cells
    }
}

impl Canvas<'_> {
    /// A column of blocks, from the top on.
    #[inline(always)]
    pub(super) fn strip(&mut self, block: usize) -> Strip<'_> {
        let (area, width) = (self.size.area(), self.size.width);
        let [red, green, blue] = &mut self.planes;
        let at = block * BLOCK;
        let cells = (width - at).min(BLOCK);
        Strip { planes: [&mut red[..area], &mut green[..area], &mut blue[..area]], at, width, cells }
    }

    /// Mixes the cells from one on, as far as there are any, with inks that cover a share of each.
    #[inline(always)]
    pub(super) fn blend_block(
        &mut self,
        row: usize,
        column: usize,
        covers: &[Cells; COLOURS],
        inks: &[[f32; 3]; COLOURS],
    ) {
        let start = row * self.size.width + column;
        let mut keep = Cells::default();
        for lane in 0..BLOCK {
            let mut rest = 1.0;
            for cover in covers {
                rest -= cover.0[lane];
            }
            keep.0[lane] = if rest > 0.0 { rest } else { 0.0 };
        }
        for (channel, plane) in self.planes.iter_mut().enumerate() {
            let cells = &mut plane[start..];
            let mut bytes = [0; BLOCK];
            if let Some(cells) = cells.first_chunk() {
                bytes = *cells;
            } else {
                bytes[..cells.len()].copy_from_slice(cells);
            }
            let mut mixed = [0.0; BLOCK];
            for lane in 0..BLOCK {
                let mut ink = 0.0;
                for (cover, colour) in covers.iter().zip(inks) {
                    ink += colour[channel] * cover.0[lane];
                }
                mixed[lane] = f32::from(bytes[lane]) * keep.0[lane] + ink;
            }
            let integers = rounded(mixed);
            for lane in 0..BLOCK {
                bytes[lane] = integers[lane] as u8;
            }
            if let Some(cells) = cells.first_chunk_mut() {
                *cells = bytes;
            } else {
                let len = cells.len();
                cells.copy_from_slice(&bytes[..len]);
            }
        }
    }

    /// Mixes one cell: `keep` of what is there, plus `ink`.
    #[inline(always)]
    pub fn blend(&mut self, row: usize, column: usize, keep: f32, ink: [f32; 3]) {
        let at = row * self.size.width + column;
        for (plane, ink) in self.planes.iter_mut().zip(ink) {
            let [value] = rounded([f32::from(plane[at]) * keep + ink]);
            plane[at] = value as u8;
        }
    }
}

/// Mixed colours as integers that fit a byte. Adding 1.5 * 2^23 leaves the nearest one in the low bits, which
/// vectorises where a cast does not.
#[inline(always)]
pub(super) fn rounded<const N: usize>(mixed: [f32; N]) -> [i32; N] {
    const INTEGERS: f32 = 12_582_912.0;
    let mut integers = [0; N];
    for lane in 0..N {
        let bits = (mixed[lane] + (ROUND - 0.5) + INTEGERS).to_bits() as i32;
        integers[lane] = (bits - INTEGERS.to_bits() as i32).clamp(0, 255);
    }
    integers
}
