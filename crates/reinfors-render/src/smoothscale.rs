//! `pygame.transform.smoothscale`, shrinking: across first, into bytes, then down. The SSE2 back end, which
//! is what every x86-64 processor runs; its fractions are 14-bit and every product is truncated.

use crate::axis::MAX_SHRINK;
use crate::{Layout, Size, SizeError, Surface};

const ONE: u32 = 0x4000;

/// Scales a surface to `size` and writes it into `out`, a picture in `layout`.
///
/// # Errors
/// [`SizeError`] if a side is larger than the surface's, 0, or below 1/250 of it.
///
/// # Panics
/// If `out` has another length.
pub fn smoothscale(surface: &Surface, size: Size, layout: Layout, out: &mut [u8]) -> Result<(), SizeError> {
    let source = surface.size();
    let fits = |source: usize, output: usize| output <= source && source <= MAX_SHRINK * output;
    if !fits(source.width, size.width) || !fits(source.height, size.height) {
        return Err(SizeError { given: size, surface: source });
    }
    let mut bytes = Vec::with_capacity(4 * source.width);
    let mut narrow = Vec::with_capacity(4 * size.width * source.height);
    for row in surface.pixels().chunks_exact(source.width) {
        bytes.clear();
        bytes.extend(row.iter().flat_map(|colour| colour.0.to_le_bytes()));
        shrink(bytes.chunks_exact(4), source.width, size.width, &mut narrow);
    }
    let mut small = Vec::with_capacity(4 * size.area());
    shrink(narrow.chunks_exact(4 * size.width), source.height, size.height, &mut small);
    let (pixels, _) = small.as_chunks::<4>();
    for (row, line) in pixels.chunks_exact(size.width).enumerate() {
        layout.write_row(out, size, row, line);
    }
    Ok(())
}

/// Shrinks `source` elements to `output` of them, byte by byte, and appends them. An element is a pixel when
/// shrinking across (`filter_shrink_X_SSE2`), a whole row when shrinking down (`filter_shrink_Y_SSE2`).
fn shrink<'a>(elements: impl Iterator<Item = &'a [u8]>, source: usize, output: usize, out: &mut Vec<u8>) {
    if source == output {
        return elements.for_each(|element| out.extend_from_slice(element));
    }
    let space = ONE * source as u32 / output as u32;
    let reciprocal = 0x4000_0000 / space;
    let part = |byte: u8, weight: u32| (4 * u32::from(byte) * weight) >> 16;
    let mut sums = Vec::new();
    let mut left = space;
    for element in elements {
        sums.resize(element.len(), 0);
        if left > ONE {
            for (sum, &byte) in sums.iter_mut().zip(element) {
                *sum += u32::from(byte);
            }
            left -= ONE;
        } else {
            let rest = ONE - left;
            for (sum, &byte) in sums.iter_mut().zip(element) {
                out.push((((*sum + part(byte, left)) * reciprocal) >> 16) as u8);
                *sum = part(byte, rest);
            }
            left = space - rest;
        }
    }
}
