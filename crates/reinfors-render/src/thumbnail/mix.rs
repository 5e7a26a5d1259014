//! Cells with several shapes, or with one that is more than spans and a line: their pixels are drawn shape by
//! shape, then summed.
//!
//! Sixteen rows are lanes, and up to sixteen columns of them a *tile*: few cells have more than one.

use super::cells::LINES;
use super::ink::{Dot, Ink, Inks, Picture};
use super::jobs::{Mark, Mix};
use super::opacity::{Offsets, Place};
use super::outline::{Soft, Turn};
use super::pair::Pair;
use super::rows::{BATCH, LANES, Lanes, Places, anew};
use super::sums::{Filter, Totals};
use super::windows::Axes;
use crate::Scene;
use crate::canvas::Canvas;
use reinfors_math::cpu::Kernel;

/// Cells of one number of channels.
pub(super) struct DrawMixes<'a, 'b, const N: usize> {
    pub mixes: &'a [Mix],
    pub marks: &'a [Mark],
    pub inks: &'a Inks,
    pub scene: &'a Scene,
    pub axes: Axes<'a>,
    pub canvas: &'a mut Canvas<'b>,
}

impl<const N: usize> Kernel for DrawMixes<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { mixes, marks, inks, scene, axes: (columns, rows), canvas } = self;
        let width = columns.windows.len() as u32;
        let (mut totals, mut tile, mut pair) = (Totals::<N>::ZERO, Tile::<N>::new(), Pair::new());
        let (filter, mut sums) = (Filter::new(columns), [Lanes::ZERO; N]);
        for mixes in mixes.chunks(BATCH) {
            for (index, mix) in mixes.iter().enumerate() {
                let (row, column) = ((mix.cell / width) as usize, (mix.cell % width) as usize);
                let (wide, tall) = (&columns.windows[column], &rows.windows[row]);
                let (marks, base) = (&marks[mix.marks.clone()], mix.channels.levels(mix.under));
                for strip in 0..rows.strips {
                    tile.place.row = tall.start + (LANES * strip) as i32;
                    tile.place.rows = (tall.end - tile.place.row).min(LANES as i32);
                    if let [lower, upper] = marks
                        && let (Some(lower), Some(upper)) = (lower.spans(inks), upper.spans(inks))
                    {
                        pair.set(wide, inks.read(lower, tile.place.row), inks.read(upper, tile.place.row));
                        pair.sum(wide, mix.channels, [mix.under, lower.colour, upper.colour], &mut sums);
                    } else {
                        sums = [Lanes::ZERO; N];
                        for block in 0..columns.strips {
                            tile.place.column = wide.start + (LANES * block) as i32;
                            tile.place.columns = (wide.end - tile.place.column).clamp(0, LANES as i32);
                            tile.paint(base, mix, marks, inks, scene);
                            tile.add(base, columns.strip(column, block), &mut sums);
                        }
                    }
                    let (filter, weights) = (anew(&filter), rows.strip(row, strip));
                    for (channel, sum) in sums.iter().enumerate() {
                        totals.add(channel, index, strip, filter.levels(*sum, weights));
                    }
                }
            }
            totals.finish(mixes.len(), rows);
            for (index, mix) in mixes.iter().enumerate() {
                mix.channels.write(totals.shrunk(index), mix.cell as usize, canvas);
            }
        }
    }
}

impl Mark {
    /// The shape, if it is nothing but spans in this cell.
    #[inline(always)]
    fn spans(self, inks: &Inks) -> Option<&Ink> {
        let ink = inks.get(self.ink);
        (self.lines == 0 && ink.is_simple).then_some(ink)
    }
}

/// A part of a cell that is being drawn.
struct Tile<const N: usize> {
    place: Place,
    /// The channels of each column.
    pixels: [[Lanes; N]; LANES],
    offsets: Offsets,
}

/// The spans of sixteen rows, counted from the first column of a tile, and the columns of the tile with some.
struct Span {
    left: Places,
    right: Places,
    first: u16,
    end: u16,
}

/// The weight of a pixel that is not shared.
const WHOLE: u16 = 0x4000;

/// The numbers of the columns, in all lanes.
static COLUMNS: [Places; LANES] = {
    let mut columns = [Places([0; LANES]); LANES];
    let mut column = 0;
    while column < LANES {
        columns[column] = Places([column as i16; LANES]);
        column += 1;
    }
    columns
};

impl<const N: usize> Tile<N> {
    #[inline(always)]
    const fn new() -> Self {
        Self {
            place: Place { column: 0, columns: 0, row: 0, rows: 0 },
            pixels: [[Lanes::ZERO; N]; LANES],
            offsets: Offsets::ZERO,
        }
    }

    /// Draws the shapes over what is under them, which fills the columns beyond the tile too.
    #[inline(always)]
    fn paint(&mut self, base: [u16; N], mix: &Mix, marks: &[Mark], inks: &Inks, scene: &Scene) {
        for pixel in &mut self.pixels {
            for (pixel, &level) in pixel.iter_mut().zip(&base) {
                *pixel = Lanes::splat(level);
            }
        }
        for mark in marks {
            let ink = inks.get(mark.ink);
            let levels = mix.channels.levels::<N>(ink.colour);
            let mut span = self.span(inks.read(ink, self.place.row));
            let mut lines = &inks.lines[ink.lines.clone()];
            loop {
                let mut near = mark.lines;
                while let Some(line) = lines.get(near.trailing_zeros() as usize) {
                    near &= near - 1;
                    self.soften(levels, line, ink.turn, &mut span);
                }
                if lines.len() <= LINES {
                    break;
                }
                lines = &lines[LINES..];
            }
            self.fill(levels, &span);
            if !ink.is_simple {
                for layer in 1..ink.fill.layers {
                    let span = self.span(inks.spans.read(&ink.fill, layer, self.place.row));
                    self.fill(levels, &span);
                }
                self.dot(levels, &inks.dots[ink.dots.clone()]);
                if let Some(picture) = &ink.picture {
                    self.print(picture, ink, scene);
                }
            }
        }
    }

    /// The spans of sixteen rows as the tile sees them.
    #[inline(always)]
    fn span(&self, (left, right): (Places, Places)) -> Span {
        let (left, right) = (left.back(self.place.column as i16), right.back(self.place.column as i16));
        let (first, last) = (i32::from(left.min()), i32::from(right.max()));
        Span {
            left,
            right,
            first: first.max(0) as u16,
            end: (last + 1).min(self.place.columns).max(0) as u16,
        }
    }

    /// Draws a span in each row.
    #[inline(always)]
    fn fill(&mut self, levels: [u16; N], span: &Span) {
        for column in span.first..span.end {
            let column = usize::from(column) % LANES;
            let pixel = &mut self.pixels[column];
            for channel in 0..N {
                pixel[channel] =
                    pixel[channel].replaced(levels[channel], &span.left, &span.right, &COLUMNS[column]);
            }
        }
    }

    /// Draws the soft pixels of a line. Those of a flat one are in many columns, so that the spans are drawn along
    /// with them, if they are not yet: as soft pixels that take all of the ink. Which come first does not
    /// matter, for a colour over itself is that colour.
    #[inline(always)]
    fn soften(&mut self, levels: [u16; N], line: &Soft, turn: Turn, span: &mut Span) {
        match line {
            Soft::Steep(line) => {
                let Some([first, end]) = self.offsets.set_steep(line, turn, self.place) else { return };
                for column in first..end {
                    let column = usize::from(column) % LANES;
                    let opacity = self.offsets.opacity(column);
                    self.blend(column, levels, opacity);
                }
            }
            Soft::Flat(line) => {
                let Some([first, end]) = self.offsets.set_flat(line, turn, self.place) else { return };
                for column in first.min(span.first)..end.max(span.end) {
                    let column = usize::from(column) % LANES;
                    let opacity =
                        self.offsets.opacity(column).replaced(256, &span.left, &span.right, &COLUMNS[column]);
                    self.blend(column, levels, opacity);
                }
                (span.first, span.end) = (LANES as u16, 0);
            }
        }
    }

    #[inline(always)]
    fn blend(&mut self, column: usize, levels: [u16; N], opacity: Lanes) {
        let pixel = &mut self.pixels[column];
        for channel in 0..N {
            pixel[channel] = pixel[channel].under(levels[channel], opacity);
        }
    }

    /// Draws single soft pixels.
    fn dot(&mut self, levels: [u16; N], dots: &[Dot]) {
        for dot in dots {
            let (x, lane) = (dot.x - self.place.column, dot.row - self.place.row);
            if (0..self.place.columns).contains(&x) && (0..LANES as i32).contains(&lane) {
                for (pixel, level) in self.pixels[x as usize].iter_mut().zip(levels) {
                    let pixel = &mut pixel.0[lane as usize];
                    *pixel = (*pixel * (256 - dot.opacity) + level * dot.opacity) >> 8;
                }
            }
        }
    }

    /// Draws a grey picture.
    fn print(&mut self, picture: &Picture, ink: &Ink, scene: &Scene) {
        let Picture { min, size, greys } = picture;
        let (greys, start) = (scene.greys(greys), self.place.column);
        let (left, right) = (min.x.max(start), (min.x + size.width as i32).min(start + self.place.columns));
        for lane in 0..LANES {
            let y = ink.turn.row(self.place.row + lane as i32) - min.y;
            if !(0..size.height as i32).contains(&y) {
                continue;
            }
            let line = &greys[y as usize * size.width..][..size.width];
            for x in left..right {
                let level = u16::from(line[(x - min.x) as usize]);
                for pixel in &mut self.pixels[(x - start) as usize] {
                    pixel.0[lane] = level;
                }
            }
        }
    }

    /// Adds the columns to the sums across as far as they count: all sixteen as they are, less those that lie
    /// beyond or are shared, then what is shared. Step after step through memory, else the compiler takes the
    /// vectors apart.
    #[inline(always)]
    fn add(&self, base: [u16; N], weights: &Lanes, sums: &mut [Lanes; N]) {
        let columns = (self.place.columns as usize).min(LANES);
        let Some(last) = columns.checked_sub(1) else { return };
        let lead = if last > 0 { weights.0[0] } else { WHOLE };
        let (lead, tail) = (Lanes::splat(lead).settled(), Lanes::splat(weights.0[last]).settled());
        let beyond = (LANES - columns) as u16;
        for channel in 0..N {
            let (first, last) = (self.pixels[0][channel], self.pixels[last][channel]);
            let beyond = Lanes::splat(beyond.wrapping_mul(base[channel]).wrapping_neg()).settled();
            let whole = beyond.minus(first).minus(last).settled();
            let first = first.times_four().high(lead).settled();
            let last = last.times_four().high(tail).settled();
            let mut sum = sums[channel].plus(whole).plus(first).plus(last);
            for pixel in &self.pixels[..LANES / 2] {
                sum = sum.plus(pixel[channel]);
            }
            sum = sum.settled();
            for pixel in &self.pixels[LANES / 2..] {
                sum = sum.plus(pixel[channel]);
            }
            sums[channel] = sum;
        }
    }
}
