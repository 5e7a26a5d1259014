//! A colour of the surface: red, green and blue in one word, and the blend the anti-aliased line uses.

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

    /// This colour under `over` at opacity `alpha` (0 to 256), per channel `d + ((s - d) * alpha >> 8)` with
    /// a flooring shift (SDL_gfx `_putPixelAlpha`, 32 bits per pixel).
    ///
    /// `d * (256 - alpha) + s * alpha` is the same number times 256 and never negative, so that red and blue
    /// share one multiplication.
    #[inline]
    #[must_use]
    pub(crate) const fn under(self, over: Self, alpha: u32) -> Self {
        const RED_BLUE: u32 = 0x00ff_00ff;
        const GREEN: u32 = 0x0000_ff00;
        let keep = 256 - alpha;
        let red_blue = ((self.0 & RED_BLUE) * keep + (over.0 & RED_BLUE) * alpha) >> 8 & RED_BLUE;
        let green = (((self.0 & GREEN) >> 8) * keep + ((over.0 & GREEN) >> 8) * alpha) & GREEN;
        Self(red_blue | green)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blending_is_sdl_gfx_for_every_pair_and_opacity() {
        for alpha in 0..=256u32 {
            for d in 0..=255u8 {
                for s in [0, 1, 77, 127, 128, 204, 254, 255] {
                    let want = |d: u8, s: u8| {
                        (i32::from(d) + (((i32::from(s) - i32::from(d)) * alpha as i32) >> 8)) as u8
                    };
                    let got = Colour::rgb([d, s, 255 - d]).under(Colour::rgb([s, d, s]), alpha).channels();
                    assert_eq!(got, [want(d, s), want(s, d), want(255 - d, s)], "{d} under {s} at {alpha}");
                }
            }
        }
    }
}
