//! The shape of what is drawn into: sizes in pixels, and the order of the bytes lent.

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

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Size { width: w, height: h }, surface) = (self.given, self.surface);
        let least = |length: usize| length.div_ceil(crate::axis::MAX_SHRINK);
        write!(
            f,
            "size {w}x{h} cannot be scaled from {}x{}: width must be {}..={}, height {}..={}",
            surface.width,
            surface.height,
            least(surface.width),
            surface.width - 1,
            least(surface.height),
            surface.height - 1,
        )
    }
}

impl std::error::Error for SizeError {}

/// The order of an RGB picture's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// Channel, row, column: what a convolution takes.
    #[default]
    Chw,
    /// Row, column, channel: what Gymnasium and image files take.
    Hwc,
}

impl Layout {
    /// Writes one row of pixels into a picture of `size`.
    ///
    /// # Panics
    /// If `out` is not `3 * size.area()` long or `pixels` not `size.width`.
    #[inline]
    pub(crate) fn write_row(self, out: &mut [u8], size: Size, row: usize, pixels: &[[u8; 4]]) {
        assert_eq!(out.len(), 3 * size.area(), "an RGB picture of {}x{}", size.width, size.height);
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
        }
    }
}
