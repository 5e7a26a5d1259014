//! The small picture being drawn, a plane of bytes to a channel, and the one rule for mixing colours on it.
//!
//! Bytes are kept as they leave `smoothscale`, which lowers a uniform colour by one level across and one
//! down. Its truncations lower mixed colours a little less: [`ROUND`] is that difference and the rounding to
//! a byte.

use crate::Size;
use std::ops::Range;

/// Cells handled together, side by side.
pub(super) const BLOCK: usize = 8;

/// Added before the fraction is dropped. Uniform colours stay as they are for any value in `0.0..1.0`.
const ROUND: f32 = 0.95;

/// Coverage above this is an overlap, not rounding.
const MOST_COVER: f32 = 1.0001;

/// Three planes of `stride * height` bytes.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    pub size: Size,
    /// Bytes to a row, a multiple of [`BLOCK`].
    pub stride: usize,
    pub planes: [Vec<u8>; 3],
}

impl Canvas {
    /// A black canvas.
    pub fn new(size: Size) -> Self {
        let stride = size.width.next_multiple_of(BLOCK);
        Self { size, stride, planes: std::array::from_fn(|_| vec![0; stride * size.height]) }
    }

    /// One colour everywhere.
    pub fn fill(&mut self, colour: [u8; 3]) {
        for (plane, value) in self.planes.iter_mut().zip(colour) {
            plane.fill(value);
        }
    }

    /// Lays `sums` (coverage, red, green, blue) over a block.
    #[inline(always)]
    pub fn mix(&mut self, row: usize, block: usize, sums: &[[f32; BLOCK]; 4]) {
        let start = row * self.stride + block * BLOCK;
        let cover = sums[0];
        let keep: [f32; BLOCK] = each(|lane| 1.0 - if cover[lane] < 1.0 { cover[lane] } else { 1.0 });
        let mut scale = [1.0; BLOCK];
        if cover.iter().fold(false, |any, &cover| any | (cover > MOST_COVER)) {
            scale = each(|lane| if cover[lane] > 1.0 { 1.0 / cover[lane] } else { 1.0 });
        }
        for (plane, sums) in self.planes.iter_mut().zip(&sums[1..]) {
            let bytes: &mut [u8; BLOCK] = (&mut plane[start..start + BLOCK]).try_into().expect("a block");
            let below: [f32; BLOCK] = bytes.map(f32::from);
            let mixed: [f32; BLOCK] = each(|lane| below[lane] * keep[lane] + sums[lane] * scale[lane]);
            for (byte, value) in bytes.iter_mut().zip(rounded(mixed)) {
                *byte = value as u8;
            }
        }
    }

    /// Repeats the block of the row above.
    #[inline(always)]
    pub fn repeat(&mut self, row: usize, block: usize) {
        let start = row * self.stride + block * BLOCK;
        for plane in &mut self.planes {
            let above: [u8; BLOCK] = plane[start - self.stride..][..BLOCK].try_into().expect("a block");
            plane[start..start + BLOCK].copy_from_slice(&above);
        }
    }

    /// The cells of a box in one plane, row by row.
    #[inline(always)]
    pub fn cells(
        &mut self,
        plane: usize,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> impl Iterator<Item = &mut [u8]> {
        let lines = rows.start * self.stride..rows.end * self.stride;
        self.planes[plane][lines].chunks_exact_mut(self.stride).map(move |row| &mut row[columns.clone()])
    }

    /// Mixes one cell: `keep` of what is there, plus `ink`.
    #[inline(always)]
    pub fn blend(&mut self, row: usize, column: usize, keep: f32, ink: [f32; 3]) {
        let at = row * self.stride + column;
        for (plane, ink) in self.planes.iter_mut().zip(ink) {
            let [value] = rounded([f32::from(plane[at]) * keep + ink]);
            plane[at] = value as u8;
        }
    }
}

/// Mixed colours as bytes, in the low bits. Adding 2^23 leaves the nearest integer there, which vectorises
/// where a saturating cast does not.
#[inline(always)]
fn rounded<const N: usize>(mixed: [f32; N]) -> [u32; N] {
    const INTEGERS: f32 = 8_388_608.0;
    let mixed = mixed.map(|value| value + (ROUND - 0.5));
    let mixed = mixed.map(|value| if value > 0.0 { value } else { 0.0 });
    let mixed = mixed.map(|value| if value < 255.0 { value } else { 255.0 });
    mixed.map(|value| (value + INTEGERS).to_bits())
}

#[inline(always)]
fn each<const N: usize>(value: impl Fn(usize) -> f32) -> [f32; N] {
    let mut lanes = [0.0; N];
    for (index, lane) in lanes.iter_mut().enumerate() {
        *lane = value(index);
    }
    lanes
}
