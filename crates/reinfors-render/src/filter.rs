//! The arithmetic of `smoothscale` on 16-bit lanes: across, one output pixel at a time; down, a whole row at
//! a time.
//!
//! Sums of whole bytes, fractions of shared ones, one truncated product by the reciprocal of the ratio.
//! Everything fits 16 bits unsigned (see [`MAX_SHRINK`](crate::axis::MAX_SHRINK)).

use crate::Colour;
use crate::axis::{Axis, Tap};

/// The upper half of a product: SSE2's `mulhi_epu16`.
#[inline]
const fn high(a: u16, b: u16) -> u16 {
    ((a as u32 * b as u32) >> 16) as u16
}

#[inline]
fn lanes(colour: Colour) -> [u16; 4] {
    let [red, green, blue] = colour.channels();
    [red.into(), green.into(), blue.into(), 0]
}

/// The channel sums of pixels: red and blue share a word, two 16-bit halves.
#[inline]
pub(crate) fn sum(pixels: &[Colour]) -> [u16; 4] {
    let (mut red_blue, mut green) = (0, 0);
    for pixel in pixels {
        red_blue += pixel.0 & 0x00ff_00ff;
        green += pixel.0 >> 8 & 0xff;
    }
    [red_blue as u16, green as u16, (red_blue >> 16) as u16, 0]
}

/// The channel sums of `count` pixels of one colour.
#[inline]
pub(crate) fn repeated(colour: Colour, count: usize) -> [u16; 4] {
    lanes(colour).map(|value| value * count as u16)
}

/// One output pixel, from the sum of its whole pixels, the last pixel `before` it and its own `last`.
#[inline(always)]
pub(crate) fn pixel(tap: &Tap, reciprocal: u32, whole: [u16; 4], before: Colour, last: Colour) -> [u8; 4] {
    let (before, last) = (lanes(before), lanes(last));
    let mut bytes = [0; 4];
    for k in 0..4 {
        let total = whole[k] + high(4 * before[k], tap.lead as u16) + high(4 * last[k], tap.tail as u16);
        bytes[k] = high(total, reciprocal as u16) as u8;
    }
    bytes
}

/// The second half of the filter: shrunken scanlines in, output rows out.
#[derive(Clone, Debug)]
pub(crate) struct RowShrink {
    axis: Axis,
    /// Output row being summed.
    index: usize,
    /// Scanlines it has taken.
    taken: usize,
    /// Four channels to a pixel, flat: every lane is treated alike.
    sums: Vec<u16>,
    pixels: Vec<[u8; 4]>,
}

impl RowShrink {
    /// For output rows of `width` pixels.
    pub fn new(axis: Axis, width: usize) -> Self {
        Self { axis, index: 0, taken: 0, sums: vec![0; 4 * width], pixels: vec![[0; 4]; width] }
    }

    /// Starts over at the first row.
    pub fn restart(&mut self) {
        (self.index, self.taken) = (0, 0);
        self.sums.fill(0);
    }

    /// Takes the next scanline; gives an output row and its index when that was its last.
    pub fn push(&mut self, line: &[[u8; 4]]) -> Option<(usize, &[[u8; 4]])> {
        let tap = self.axis.taps.get(self.index)?;
        let bytes = line.as_flattened();
        self.taken += 1;
        if self.taken < tap.len {
            for (sum, &byte) in self.sums.iter_mut().zip(bytes) {
                *sum += u16::from(byte);
            }
            return None;
        }
        let (tail, lead) = (tap.tail as u16, (0x4000 - tap.tail) as u16);
        let reciprocal = self.axis.reciprocal as u16;
        let lanes = self.sums.iter_mut().zip(self.pixels.as_flattened_mut());
        for ((sum, out), &byte) in lanes.zip(bytes) {
            let scaled = 4 * u16::from(byte);
            *out = high(*sum + high(scaled, tail), reciprocal) as u8;
            *sum = high(scaled, lead);
        }
        let index = self.index;
        (self.index, self.taken) = (index + 1, 0);
        Some((index, &self.pixels))
    }
}
