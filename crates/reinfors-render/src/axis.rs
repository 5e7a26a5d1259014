//! How `smoothscale` shrinks one axis: which source pixels feed which output pixel, and with what weight.
//!
//! Each output pixel is a sum of whole source pixels plus a fraction of the one it shares with its left
//! neighbour and of the one it shares with its right. Weights are 14-bit; every product is truncated.
//! A shared pixel is *owned* by the output pixel it ends, so that owned ranges cut the axis without overlap.

use crate::{Size, SizeError};

/// The largest source-to-output ratio: sums of this many bytes still fit 16 bits, as the reference's do.
pub(crate) const MAX_SHRINK: usize = 250;

const ONE: u32 = 0x4000;

/// The share of one output pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tap {
    /// First owned source pixel.
    pub start: usize,
    /// Owned source pixels; the last one is shared with the next output pixel.
    pub len: usize,
    /// Weight of the previous tap's last pixel.
    pub lead: u32,
    /// Weight of the last owned pixel.
    pub tail: u32,
}

/// One shrunken axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub taps: Vec<Tap>,
    /// The fixed-point reciprocal of the ratio.
    pub reciprocal: u32,
}

impl Axis {
    /// The columns and the rows of a surface that is shrunk to `size`.
    pub fn both(surface: Size, size: Size) -> Result<[Self; 2], SizeError> {
        let columns = Self::new(surface.width, size.width);
        let rows = Self::new(surface.height, size.height);
        columns.zip(rows).map(Into::into).ok_or(SizeError { given: size, surface })
    }

    /// From `source` to `output` pixels; `None` unless `output < source <= MAX_SHRINK * output`.
    pub fn new(source: usize, output: usize) -> Option<Self> {
        if output >= source || source > MAX_SHRINK * output {
            return None;
        }
        let space = ONE * source as u32 / output as u32;
        let mut taps = Vec::with_capacity(output);
        let (mut start, mut lead, mut left) = (0, 0, space);
        for pixel in 0..source {
            if left > ONE {
                left -= ONE;
            } else if taps.len() < output {
                taps.push(Tap { start, len: pixel + 1 - start, lead, tail: left });
                (start, lead) = (pixel + 1, ONE - left);
                left = space - lead;
            }
        }
        debug_assert_eq!(taps.len(), output);
        Some(Self { taps, reciprocal: 0x4000_0000 / space })
    }

    /// The first and last step of the filter for one channel: a fraction of a byte, truncated.
    #[inline]
    pub fn fraction(byte: u32, weight: u32) -> u32 {
        (4 * byte * weight) >> 16
    }

    /// What a stretch of one value comes out as at output pixel `index`.
    pub fn uniform(&self, index: usize, value: u8) -> u8 {
        let tap = &self.taps[index];
        let value = u32::from(value);
        let sum =
            (tap.len as u32 - 1) * value + Self::fraction(value, tap.lead) + Self::fraction(value, tap.tail);
        ((sum * self.reciprocal) >> 16) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_cut_the_axis_without_gap() {
        for (source, output) in [(1000, 96), (800, 96), (1000, 600), (1000, 999), (1000, 4), (7, 3)] {
            let axis = Axis::new(source, output).unwrap();
            let mut next = 0;
            for tap in &axis.taps {
                assert_eq!(tap.start, next);
                next += tap.len;
            }
            assert!(next <= source && source - next <= 1, "{source} to {output} ends at {next}");
        }
    }

    #[test]
    fn only_shrinking_within_the_sixteen_bits_is_taken() {
        assert!(Axis::new(96, 0).is_none());
        assert!(Axis::new(96, 96).is_none());
        assert!(Axis::new(1000, 3).is_none());
        assert!(Axis::new(1000, 4).is_some());
        let surface = Size::new(1000, 800);
        assert!(Axis::both(surface, Size::new(96, 64)).is_ok());
        for given in [Size::new(1000, 64), Size::new(96, 800), Size::new(0, 64), Size::new(96, 3)] {
            assert_eq!(Axis::both(surface, given).err(), Some(SizeError { given, surface }));
        }
    }
}
