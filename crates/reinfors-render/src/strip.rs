//! A few scanlines of the surface, kept as cheaply as the shrinking filter allows.
//!
//! 1. A scanline is a row of output columns. A column whose own pixels all have one colour is a palette
//!    index; only a *mixed* column has pixels in memory. In a frame nineteen columns of twenty stay uniform.
//! 2. Painting a span mixes at most the two columns it ends in; between them it writes indices.
//! 3. A column owns the pixel it shares with its right neighbour ([`Axis`]), so no pixel is stored twice; the
//!    filter looks one pixel to the left.
//!
//! Not done: one buffer for the whole surface. It is simpler, but leaves the cache at each scanline.

use crate::axis::Axis;
use crate::{Colour, filter};

/// The index of a column whose pixels differ.
const MIXED: u8 = u8::MAX;

/// Index bytes read at a time when looking for the end of a run.
const WORD: usize = 8;

/// A colour to paint with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    colour: Colour,
    /// `MIXED` once the palette is full: such a colour is always written as pixels.
    index: u8,
}

/// Scanlines of uniform and mixed columns.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    axis: Axis,
    /// Source pixels that reach the output: the owned ones.
    width: usize,
    /// The column that owns each pixel.
    owner: Vec<u16>,
    palette: Vec<Colour>,
    /// Each palette colour as it leaves the filter, column by column.
    filtered: Vec<[u8; 4]>,
    /// Palette indices, `stride` to a row: the columns, then padding that ends every run.
    indices: Vec<u8>,
    stride: usize,
    pixels: Vec<Colour>,
}

impl Strip {
    /// A strip of at most `height` scanlines.
    pub fn new(axis: Axis, height: usize) -> Self {
        let columns = axis.taps.len();
        let mut owner = Vec::new();
        for (column, tap) in axis.taps.iter().enumerate() {
            owner.resize(tap.start + tap.len, column as u16);
        }
        let (width, stride) = (owner.len(), columns.next_multiple_of(WORD) + WORD);
        Self {
            axis,
            width,
            owner,
            palette: Vec::with_capacity(usize::from(MIXED)),
            filtered: Vec::with_capacity(usize::from(MIXED) * columns),
            indices: vec![0; stride * height],
            stride,
            pixels: vec![Colour::BLACK; width * height],
        }
    }

    /// Forgets the palette; every row is undefined until [`Strip::fill`].
    pub fn clear_palette(&mut self) {
        self.palette.clear();
        self.filtered.clear();
    }

    /// The paint of a colour. Call [`Strip::fill`] with the first one.
    pub fn paint(&mut self, colour: Colour) -> Paint {
        if let Some(index) = self.palette.iter().position(|&known| known == colour) {
            return Paint { colour, index: index as u8 };
        }
        if self.palette.len() == usize::from(MIXED) {
            return Paint { colour, index: MIXED };
        }
        self.palette.push(colour);
        let channels = colour.channels();
        for column in 0..self.axis.taps.len() {
            let [r, g, b] = channels.map(|value| self.axis.uniform(column, value));
            self.filtered.push([r, g, b, 0]);
        }
        Paint { colour, index: (self.palette.len() - 1) as u8 }
    }

    /// Paints all of the first `rows` scanlines.
    pub fn fill(&mut self, rows: usize, paint: Paint) {
        self.indices[..rows * self.stride].fill(paint.index);
        if paint.index == MIXED {
            self.pixels[..rows * self.width].fill(paint.colour);
        }
    }

    /// Paints columns `x0..=x1` of a row, clipped; nothing if `x0 > x1`.
    #[inline]
    pub fn span(&mut self, row: usize, x0: i32, x1: i32, paint: Paint) {
        let (x0, x1) = (x0.max(0), x1.min(self.width as i32 - 1));
        if x0 > x1 {
            return;
        }
        let (start, end) = (x0 as usize, x1 as usize + 1);
        let (mut first, mut last) = (usize::from(self.owner[start]), usize::from(self.owner[end - 1]) + 1);
        let head = self.axis.taps[first];
        if start > head.start {
            self.part(row, first, start, end.min(head.start + head.len), paint);
            first += 1;
        }
        if first < last {
            let tail = self.axis.taps[last - 1];
            if end < tail.start + tail.len {
                last -= 1;
                self.part(row, last, tail.start, end, paint);
            }
        }
        if first < last {
            self.indices[row * self.stride..][first..last].fill(paint.index);
            if paint.index == MIXED {
                let (from, to) = (self.axis.taps[first].start, self.axis.taps[last - 1]);
                self.pixels[row * self.width..][from..to.start + to.len].fill(paint.colour);
            }
        }
    }

    /// Blends one pixel toward the paint; nothing outside the row.
    #[inline]
    pub fn blend(&mut self, row: usize, x: i32, alpha: u32, paint: Paint) {
        if alpha == 0 || x < 0 || x as usize >= self.width {
            return;
        }
        let x = x as usize;
        if self.mix(row, usize::from(self.owner[x]), paint) {
            let pixel = &mut self.pixels[row * self.width + x];
            *pixel = pixel.under(paint.colour, alpha);
        }
    }

    /// Writes one pixel of any colour; nothing outside the row.
    pub fn set(&mut self, row: usize, x: i32, colour: Colour) {
        if x >= 0 && (x as usize) < self.width {
            let x = x as usize;
            self.mix(row, usize::from(self.owner[x]), Paint { colour, index: MIXED });
            self.pixels[row * self.width + x] = colour;
        }
    }

    /// Paints pixels `start..end`, some but not all of a column's.
    #[inline]
    fn part(&mut self, row: usize, column: usize, start: usize, end: usize, paint: Paint) {
        if self.mix(row, column, paint) {
            self.pixels[row * self.width..][start..end].fill(paint.colour);
        }
    }

    /// Gives a column its pixels. False if it is uniform in the paint's colour, which painting cannot change.
    #[inline]
    fn mix(&mut self, row: usize, column: usize, paint: Paint) -> bool {
        let index = &mut self.indices[row * self.stride + column];
        if *index != MIXED {
            if *index == paint.index {
                return false;
            }
            let tap = self.axis.taps[column];
            let colour = self.palette[usize::from(*index)];
            self.pixels[row * self.width..][tap.start..tap.start + tap.len].fill(colour);
            *index = MIXED;
        }
        true
    }

    /// Shrinks a row: `out` receives red, green, blue and nothing for each column.
    pub fn shrink(&self, row: usize, out: &mut [[u8; 4]]) {
        let columns = self.axis.taps.len();
        let indices = &self.indices[row * self.stride..][..self.stride];
        let pixels = &self.pixels[row * self.width..][..self.width];
        let out = &mut out[..columns];
        // The pixel left of the row has weight 0.
        let mut before = Colour::BLACK;
        let mut column = 0;
        while column < columns {
            let index = indices[column];
            if index == MIXED {
                let tap = &self.axis.taps[column];
                let (&last, whole) = pixels[tap.start..][..tap.len].split_last().expect("a tap owns a pixel");
                out[column] = filter::pixel(tap, self.axis.reciprocal, filter::sum(whole), before, last);
                before = last;
                column += 1;
            } else {
                let end = run_end(indices, column).min(columns);
                let filtered = &self.filtered[usize::from(index) * columns..][..columns];
                out[column..end].copy_from_slice(&filtered[column..end]);
                let colour = self.palette[usize::from(index)];
                if before != colour && column > 0 {
                    let tap = &self.axis.taps[column];
                    let sum = filter::repeated(colour, tap.len - 1);
                    out[column] = filter::pixel(tap, self.axis.reciprocal, sum, before, colour);
                }
                before = colour;
                column = end;
            }
        }
    }
}

/// The first column from `start` on whose index differs; at least `start + 1`, perhaps in the padding.
#[inline]
fn run_end(indices: &[u8], start: usize) -> usize {
    let same = u64::from_le_bytes([indices[start]; WORD]);
    let mut column = start;
    while let Some(word) = indices.get(column..column + WORD) {
        let differing = u64::from_le_bytes(word.try_into().expect("eight bytes")) ^ same;
        if differing != 0 {
            return column + differing.trailing_zeros() as usize / 8;
        }
        column += WORD;
    }
    column
}
