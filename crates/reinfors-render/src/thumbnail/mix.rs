//! Cells with several shapes, or with one that is more than spans and a line: their pixels are drawn shape by
//! shape, then summed.

use super::cells::LINES;
use super::ink::{Dot, Ink, Inks, Picture};
use super::jobs::{Mark, Mix};
use super::opacity::{Offsets, Rows};
use super::outline::{Soft, Turn};
use super::rows::{BATCH, LANES, Lanes};
use super::sums::Sums;
use super::windows::{Axes, Window};
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
    pub brush: &'a mut Brush,
    pub canvas: &'a mut Canvas<'b>,
}

impl<const N: usize> Kernel for DrawMixes<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { mixes, marks, inks, scene, axes, brush, canvas } = self;
        let (columns, rows) = axes;
        let width = columns.windows.len() as u32;
        let mut sums = Sums::<N>::ZERO;
        for mixes in mixes.chunks(BATCH) {
            sums.begin(mixes.len());
            for strip in 0..rows.strips {
                for (index, mix) in mixes.iter().enumerate() {
                    let (row, column) = ((mix.cell / width) as usize, (mix.cell % width) as usize);
                    let window = &rows.windows[row];
                    let strip = Strip {
                        columns: &columns.windows[column],
                        row: window.start + (LANES * strip) as i32,
                        end: window.end,
                    };
                    sums.rows[index] = row;
                    let across = brush.paint::<N>(mix, &marks[mix.marks.clone()], inks, scene, strip);
                    for (sums, across) in sums.across.iter_mut().zip(across) {
                        sums.set(index, across);
                    }
                }
                sums.add(mixes.len(), strip, axes);
            }
            for (index, mix) in mixes.iter().enumerate() {
                mix.channels.write(sums.shrunk(index, rows), mix.cell as usize, canvas);
            }
        }
    }
}

/// Sixteen rows of a cell that are being drawn.
#[derive(Clone, Copy)]
struct Strip<'a> {
    columns: &'a Window,
    /// The first row.
    row: i32,
    /// Beyond the last row of the cell.
    end: i32,
}

/// Working memory for one cell.
#[derive(Clone, Debug)]
pub(super) struct Brush {
    /// Up to three channels of each column.
    pixels: Vec<Lanes>,
    offsets: Offsets,
}

impl Brush {
    /// For cells of up to so many columns.
    pub fn new(width: usize) -> Self {
        Self { pixels: vec![Lanes::ZERO; 3 * width], offsets: Offsets::new(width) }
    }

    /// The sums across of sixteen rows of some channels.
    #[inline(always)]
    fn paint<const N: usize>(
        &mut self,
        mix: &Mix,
        marks: &[Mark],
        inks: &Inks,
        scene: &Scene,
        strip: Strip,
    ) -> [Lanes; N] {
        let (chunks, _) = self.pixels.as_chunks_mut::<N>();
        let pixels = &mut chunks[..strip.columns.len()];
        let base = mix.channels.levels::<N>(mix.under);
        for pixel in &mut *pixels {
            for (pixel, level) in pixel.iter_mut().zip(base) {
                *pixel = Lanes::splat(level);
            }
        }
        for mark in marks {
            let ink = inks.get(mark.ink);
            let rows = &ink.fill.rows;
            if rows.start >= strip.row + LANES as i32 || rows.end <= strip.row {
                continue;
            }
            let levels = mix.channels.levels::<N>(ink.colour);
            let rows = Rows { first: strip.row, count: (strip.end - strip.row).min(LANES as i32) };
            for lines in inks.lines[ink.lines.clone()].chunks(LINES) {
                let mut near = mark.lines;
                while let Some(line) = lines.get(near.trailing_zeros() as usize) {
                    near &= near - 1;
                    soften(pixels, levels, (line, ink.turn), rows, strip.columns, &mut self.offsets);
                }
            }
            if !ink.dots.is_empty() {
                dot(pixels, levels, &inks.dots[ink.dots.clone()], strip);
            }
            for layer in 0..ink.fill.layers {
                let (left, right) = inks.spans.read(&ink.fill, layer, strip.row);
                let start = strip.columns.start as i16;
                let (first, last) = (left.min().max(start), right.max());
                // Not only spares the rest: what is compared here the compiler finds with vectors.
                if first > last {
                    continue;
                }
                let skipped = usize::from((first - start) as u16).min(pixels.len());
                for (pixel, x) in pixels[skipped..].iter_mut().zip(first..) {
                    // Also tells the compiler not to take columns for lanes.
                    if x > last {
                        break;
                    }
                    for channel in 0..N {
                        pixel[channel] = pixel[channel].replaced(levels[channel], &left, &right, x);
                    }
                }
            }
            if let Some(picture) = &ink.picture {
                print(pixels, picture, ink, scene, strip);
            }
        }
        across(pixels, strip.columns)
    }
}

/// The sums across of sixteen rows: channel after channel, for the compiler takes several sums at once apart.
#[inline(always)]
fn across<const N: usize>(pixels: &[[Lanes; N]], window: &Window) -> [Lanes; N] {
    let (last, rest) = pixels.split_last().expect("a window has a pixel");
    let (first, whole) = rest.split_at(usize::from(window.lead > 0));
    let mut sums = [Lanes::ZERO; N];
    for (channel, sum) in sums.iter_mut().enumerate() {
        let mut across = last[channel].times_four().high(Lanes::splat(window.tail));
        for pixel in first {
            across = across.plus(pixel[channel].times_four().high(Lanes::splat(window.lead)));
        }
        for pixel in whole {
            across = across.plus(pixel[channel]);
        }
        *sum = across;
    }
    sums
}

/// Draws the soft pixels of a line.
#[inline(always)]
fn soften<const N: usize>(
    pixels: &mut [[Lanes; N]],
    levels: [u16; N],
    (line, turn): (&Soft, Turn),
    rows: Rows,
    window: &Window,
    offsets: &mut Offsets,
) {
    // Loops that end as soon as a column is too far: else the compiler takes columns for lanes.
    let columns = window.start..window.end;
    match line {
        Soft::Steep(steep) => {
            let Some([first, last]) = offsets.begin_steep(steep, turn, rows, columns) else { return };
            for (pixel, x) in pixels[usize::from(first as u16)..].iter_mut().zip(first..) {
                if x > last {
                    break;
                }
                blend(pixel, levels, offsets.steep(x.wrapping_sub(first)));
            }
        }
        Soft::Flat(flat) => {
            let Some(last) = offsets.begin_flat(flat, turn, rows, columns) else { return };
            for (pixel, x) in pixels.iter_mut().zip(0..) {
                if x > last {
                    break;
                }
                blend(pixel, levels, offsets.flat(x));
            }
        }
    }
}

/// Draws the soft pixels of a column.
#[inline(always)]
fn blend<const N: usize>(pixel: &mut [Lanes; N], levels: [u16; N], opacities: Lanes) {
    for channel in 0..N {
        pixel[channel] = pixel[channel].under(levels[channel], opacities);
    }
}

/// Draws single soft pixels.
fn dot<const N: usize>(pixels: &mut [[Lanes; N]], levels: [u16; N], dots: &[Dot], strip: Strip) {
    for dot in dots {
        let (x, lane) = (dot.x - strip.columns.start, dot.row - strip.row);
        if (0..pixels.len() as i32).contains(&x) && (0..LANES as i32).contains(&lane) {
            for (pixel, level) in pixels[x as usize].iter_mut().zip(levels) {
                let pixel = &mut pixel.0[lane as usize];
                *pixel = (*pixel * (256 - dot.opacity) + level * dot.opacity) >> 8;
            }
        }
    }
}

/// Draws a grey picture.
fn print<const N: usize>(
    pixels: &mut [[Lanes; N]],
    picture: &Picture,
    ink: &Ink,
    scene: &Scene,
    strip: Strip,
) {
    let Picture { min, size, greys } = picture;
    let greys = scene.greys(greys);
    let (left, right) = (min.x.max(strip.columns.start), (min.x + size.width as i32).min(strip.columns.end));
    for lane in 0..LANES {
        let y = ink.turn.row(strip.row + lane as i32) - min.y;
        if !(0..size.height as i32).contains(&y) {
            continue;
        }
        let line = &greys[y as usize * size.width..][..size.width];
        for x in left..right {
            let level = u16::from(line[(x - min.x) as usize]);
            for pixel in &mut pixels[(x - strip.columns.start) as usize] {
                pixel.0[lane] = level;
            }
        }
    }
}
