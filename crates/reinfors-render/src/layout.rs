//! The shape of what is drawn into: sizes in pixels, and the bytes that a pixel becomes.

use crate::axis::MAX_SHRINK;
use reinfors_math::cpu::{Kernel, Level};
use std::ops::RangeInclusive;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Size {
    /// Width by height.
    #[must_use]
    pub const fn new(width: usize, height: usize) -> Self {
        Self { width, height }
    }

    /// Pixels in all.
    #[must_use]
    pub const fn area(self) -> usize {
        self.width * self.height
    }
}

/// A size that cannot be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeError {
    /// The size asked for.
    pub given: Size,
    /// The surface it would be scaled from.
    pub surface: Size,
}

impl SizeError {
    /// The widths that can be drawn.
    #[must_use]
    pub fn widths(&self) -> RangeInclusive<usize> {
        self.surface.width.div_ceil(MAX_SHRINK)..=self.surface.width - 1
    }

    /// The heights that can be drawn.
    #[must_use]
    pub fn heights(&self) -> RangeInclusive<usize> {
        self.surface.height.div_ceil(MAX_SHRINK)..=self.surface.height - 1
    }
}

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Size { width: w, height: h }, surface) = (self.given, self.surface);
        write!(
            f,
            "size {w}x{h} cannot be scaled from {}x{}: width must be {:?}, height {:?}",
            surface.width,
            surface.height,
            self.widths(),
            self.heights(),
        )
    }
}

impl std::error::Error for SizeError {}

/// What a pixel becomes, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// Channel, row, column: what a convolution takes.
    #[default]
    Chw,
    /// Row, column, channel: what Gymnasium and image files take.
    Hwc,
    /// Row, column: the luminance alone, by the weights of Gymnasium's `GrayscaleObservation`.
    Gray,
}

impl Layout {
    /// Bytes of a pixel.
    #[must_use]
    pub const fn channels(self) -> usize {
        match self {
            Self::Chw | Self::Hwc => 3,
            Self::Gray => 1,
        }
    }

    /// Writes one row of pixels into a picture of `size`.
    ///
    /// # Panics
    /// If `out` is not `self.channels() * size.area()` long or `pixels` not `size.width`.
    #[inline(always)]
    pub(crate) fn write_row(self, out: &mut [u8], size: Size, row: usize, pixels: &[[u8; 4]]) {
        let bytes = self.channels() * size.area();
        assert_eq!(out.len(), bytes, "a picture of {}x{}, {self:?}", size.width, size.height);
        assert_eq!(pixels.len(), size.width);
        match self {
            Self::Chw => {
                for (channel, plane) in out.chunks_exact_mut(size.area()).enumerate() {
                    let line = &mut plane[row * size.width..][..size.width];
                    for (byte, pixel) in line.iter_mut().zip(pixels) {
                        *byte = pixel[channel];
                    }
                }
            }
            Self::Hwc => {
                let line = &mut out[3 * row * size.width..][..3 * size.width];
                for (bytes, pixel) in line.chunks_exact_mut(3).zip(pixels) {
                    bytes.copy_from_slice(&pixel[..3]);
                }
            }
            Self::Gray => {
                let line = &mut out[row * size.width..][..size.width];
                Level::best().run(GreyRow { line, pixels });
            }
        }
    }
}

/// A row of pixels to be written as their luminance.
struct GreyRow<'a> {
    line: &'a mut [u8],
    pixels: &'a [[u8; 4]],
}

impl Kernel for GreyRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (byte, pixel) in self.line.iter_mut().zip(self.pixels) {
            *byte = luminance(*pixel);
        }
    }
}

/// The luminance of a pixel, truncated. Sums in double precision and in this order are what the reference's
/// are: of some greys the sum is the least bit below the grey, which takes a level off.
///
/// Truncated in operations that vectorise at every level, which Rust's saturating conversion does badly:
/// [`NEAREST`] leaves the nearest integer in the low bits, and where that lies above the sum it is one too
/// many.
#[inline(always)]
pub(crate) fn luminance([red, green, blue, _]: [u8; 4]) -> u8 {
    let sum = f64::from(red) * 0.2125 + f64::from(green) * 0.7154 + f64::from(blue) * 0.0721;
    let shifted = sum + NEAREST;
    let is_above = shifted - NEAREST > sum;
    (shifted.to_bits() as u32 - u32::from(is_above)) as u8
}

/// 1.5 * 2^52: a sum with it is rounded to an integer.
const NEAREST: f64 = 6_755_399_441_055_744.0;

#[cfg(test)]
mod tests {
    use super::{Layout, Size, luminance};

    #[test]
    fn a_row_is_written_in_each_layout() {
        let written = |layout: Layout| {
            let mut out = vec![0; layout.channels() * 4];
            layout.write_row(&mut out, Size::new(2, 2), 1, &[[1, 2, 3, 9], [255, 255, 255, 9]]);
            out
        };
        assert_eq!(written(Layout::Chw), [0, 0, 1, 255, 0, 0, 2, 255, 0, 0, 3, 255]);
        assert_eq!(written(Layout::Hwc), [0, 0, 0, 0, 0, 0, 1, 2, 3, 255, 255, 255]);
        assert_eq!(written(Layout::Gray), [0, 0, 1, 255]);
    }

    #[test]
    fn every_colour_has_the_luminance_that_a_conversion_truncates_to() {
        for red in 0..=255 {
            for (green, blue) in (0..=255_u8).flat_map(|green| (0..=255_u8).map(move |blue| (green, blue))) {
                let sum = f64::from(red) * 0.2125 + f64::from(green) * 0.7154 + f64::from(blue) * 0.0721;
                assert_eq!(luminance([red, green, blue, 0]), sum as u8, "{red} {green} {blue}");
            }
        }
    }

    /// Of all greys, NumPy's sum of the three products falls short of these.
    #[test]
    fn greys_keep_their_level_but_for_eight_that_lose_one() {
        let darker: Vec<u8> = (0..=255).filter(|&grey| luminance([grey; 4]) != grey).collect();
        assert_eq!(darker, [43, 86, 91, 167, 172, 182, 187, 233]);
        assert!(darker.iter().all(|&grey| luminance([grey; 4]) == grey - 1));
    }
}
