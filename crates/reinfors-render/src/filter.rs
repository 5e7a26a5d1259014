//! The arithmetic of `smoothscale` on 16-bit lanes: across, one output pixel at a time.
//!
//! Sums of whole bytes, fractions of shared ones, one truncated product by the reciprocal of the ratio.
//! Everything fits 16 bits unsigned (see [`MAX_SHRINK`](crate::axis::MAX_SHRINK)).

use crate::Colour;
use crate::axis::Tap;

/// The upper half of a product: SSE2's `mulhi_epu16`.
#[inline(always)]
pub(crate) const fn high(a: u16, b: u16) -> u16 {
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
