//! Blocks of cells on the canvas, and the one rule for mixing colours on it.
//!
//! Bytes are kept as they leave `smoothscale`, which lowers a uniform colour by one level across and one
//! down. Its truncations lower mixed colours a little less: [`ROUND`] is that difference and the rounding to
//! a byte.

use crate::canvas::Canvas;

/// Cells handled together, side by side.
pub(super) const BLOCK: usize = 8;

/// Added before the fraction is dropped. Uniform colours stay as they are for any value in `0.0..1.0`.
const ROUND: f32 = 0.95;

impl Canvas<'_> {
    /// Puts bytes into a block. The last block of a row may be narrower.
    #[inline(always)]
    pub fn store(&mut self, row: usize, block: usize, bytes: &[[u8; BLOCK]; 3]) {
        let start = row * self.size.width + block * BLOCK;
        let width = self.size.width - block * BLOCK;
        for (plane, bytes) in self.planes.iter_mut().zip(bytes) {
            if width >= BLOCK {
                plane[start..start + BLOCK].copy_from_slice(bytes);
            } else {
                plane[start..start + width].copy_from_slice(&bytes[..width]);
            }
        }
    }

    /// Fills a row with the same block over and over.
    #[inline(always)]
    pub fn fill_row(&mut self, row: usize, bytes: &[[u8; BLOCK]; 3]) {
        if row < self.size.height {
            for block in 0..self.size.width.div_ceil(BLOCK) {
                self.store(row, block, bytes);
            }
        }
    }

    /// Makes a row what the row above is.
    #[inline(always)]
    pub fn repeat_row(&mut self, row: usize) {
        let width = self.size.width;
        for plane in &mut self.planes {
            let (above, below) = plane[(row - 1) * width..(row + 1) * width].split_at_mut(width);
            // In vectors: a call for so few bytes costs more than they do.
            let (above, below) = (above.as_chunks::<32>(), below.as_chunks_mut::<32>());
            for (below, above) in below.0.iter_mut().zip(above.0) {
                *below = *above;
            }
            if !above.1.is_empty() {
                below.1.copy_from_slice(above.1);
            }
        }
    }

    /// What a block shows.
    #[inline(always)]
    pub fn load(&self, row: usize, block: usize) -> [[f32; BLOCK]; 3] {
        let start = row * self.size.width + block * BLOCK;
        let width = (self.size.width - block * BLOCK).min(BLOCK);
        let mut cells = [[0.0; BLOCK]; 3];
        for (cells, plane) in cells.iter_mut().zip(&self.planes) {
            for (cell, &byte) in cells.iter_mut().zip(&plane[start..start + width]) {
                *cell = f32::from(byte);
            }
        }
        cells
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

/// Mixed colours as bytes, in the low bits. Adding 2^23 leaves the nearest integer there, which vectorises
/// where a saturating cast does not.
#[inline(always)]
pub(super) fn rounded<const N: usize>(mixed: [f32; N]) -> [u32; N] {
    const INTEGERS: f32 = 8_388_608.0;
    let mut bits = [0; N];
    for lane in 0..N {
        let value = mixed[lane] + (ROUND - 0.5);
        let value = if value > 0.0 { value } else { 0.0 };
        let value = if value < 255.0 { value } else { 255.0 };
        bits[lane] = (value + INTEGERS).to_bits();
    }
    bits
}
