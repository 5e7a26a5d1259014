//! The small picture being drawn: a plane of bytes to a channel, and how planes become a layout's bytes.

use crate::Size;
use crate::layout::luminance;
use reinfors_math::cpu::Kernel;
use std::ops::Range;

/// Three planes of `size` bytes, borrowed: where the layout allows it they are the picture itself.
#[derive(Debug)]
pub(crate) struct Canvas<'a> {
    pub size: Size,
    pub planes: [&'a mut [u8]; 3],
}

impl<'a> Canvas<'a> {
    /// A canvas over `3 * size.area()` bytes.
    pub fn over(bytes: &'a mut [u8], size: Size) -> Self {
        let (red, rest) = bytes.split_at_mut(size.area());
        let (green, blue) = rest.split_at_mut(size.area());
        Self { size, planes: [red, green, blue] }
    }

    /// The cells of a box in one plane, row by row.
    #[inline(always)]
    pub fn cells(
        &mut self,
        plane: usize,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> impl Iterator<Item = &mut [u8]> {
        let width = self.size.width;
        let lines = rows.start * width..rows.end * width;
        self.planes[plane][lines].chunks_exact_mut(width).map(move |row| &mut row[columns.clone()])
    }
}

/// Planes as pixels, or as their luminance.
pub(crate) struct Interleave<'a> {
    pub planes: &'a [u8],
    pub is_gray: bool,
    pub out: &'a mut [u8],
}

impl Kernel for Interleave<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (reds, rest) = self.planes.split_at(self.planes.len() / 3);
        let (greens, blues) = rest.split_at(reds.len());
        let pixels = reds.iter().zip(greens).zip(blues);
        if self.is_gray {
            for (byte, ((&red, &green), &blue)) in self.out.iter_mut().zip(pixels) {
                *byte = luminance([red, green, blue, 0]);
            }
        } else {
            for (pixel, ((&red, &green), &blue)) in self.out.chunks_exact_mut(3).zip(pixels) {
                pixel.copy_from_slice(&[red, green, blue]);
            }
        }
    }
}
