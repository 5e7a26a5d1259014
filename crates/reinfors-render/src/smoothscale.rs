//! `pygame.transform.smoothscale`, shrinking: across first, into bytes, then down. The SSE2 back end, which is
//! what every x86-64 processor runs; its fractions are 14-bit and every product is truncated.

use crate::axis::MAX_SHRINK;
use crate::{Layout, Size, SizeError, Surface};

const ONE: u32 = 0x4000;

/// Scales a surface to `size` and writes it into `out`, `3 * width * height` bytes in `layout`.
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
    let pixels: Vec<[u8; 4]> = surface.pixels().iter().map(|colour| colour.0.to_le_bytes()).collect();
    let mut narrow = Vec::with_capacity(size.width * source.height);
    for row in pixels.chunks_exact(source.width) {
        shrink(row.iter().copied(), source.width, size.width, |pixel| narrow.push(pixel));
    }
    let mut small = vec![[0; 4]; size.area()];
    for column in 0..size.width {
        let mut row = 0;
        let line = narrow.iter().skip(column).step_by(size.width).copied();
        shrink(line, source.height, size.height, |pixel| {
            small[row * size.width + column] = pixel;
            row += 1;
        });
    }
    for (row, line) in small.chunks_exact(size.width).enumerate() {
        layout.write_row(out, size, row, line);
    }
    Ok(())
}

/// Shrinks one line of pixels from `source` to `output` of them (`filter_shrink_X_SSE2`).
fn shrink(line: impl Iterator<Item = [u8; 4]>, source: usize, output: usize, mut write: impl FnMut([u8; 4])) {
    if source == output {
        return line.for_each(write);
    }
    let space = ONE * source as u32 / output as u32;
    let reciprocal = 0x4000_0000 / space;
    let part = |byte: u8, weight: u32| (4 * u32::from(byte) * weight) >> 16;
    let mut sums = [0; 4];
    let mut left = space;
    for pixel in line {
        if left > ONE {
            for (sum, byte) in sums.iter_mut().zip(pixel) {
                *sum += u32::from(byte);
            }
            left -= ONE;
        } else {
            let rest = ONE - left;
            let mut out = [0; 4];
            for k in 0..4 {
                out[k] = (((sums[k] + part(pixel[k], left)) * reciprocal) >> 16) as u8;
                sums[k] = part(pixel[k], rest);
            }
            write(out);
            left = space - rest;
        }
    }
}
