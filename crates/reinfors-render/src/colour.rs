//! A colour of the surface: red, green and blue in one word.

/// An opaque colour, `0x00BBGGRR`: the byte order of the surface's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Colour(pub(crate) u32);

impl Colour {
    /// Black, the colour of a fresh surface.
    pub const BLACK: Self = Self(0);

    /// From red, green and blue, 0 to 255 each.
    #[must_use]
    pub const fn rgb([red, green, blue]: [u8; 3]) -> Self {
        Self(red as u32 | (green as u32) << 8 | (blue as u32) << 16)
    }

    /// A grey of the given level.
    #[must_use]
    pub const fn grey(level: u8) -> Self {
        Self::rgb([level, level, level])
    }

    /// Red, green and blue.
    #[must_use]
    pub const fn channels(self) -> [u8; 3] {
        let [red, green, blue, _] = self.0.to_le_bytes();
        [red, green, blue]
    }
}
