//! Hard shapes: which pixels each colour of a run of shapes ends up with, as bits, and from them the exact
//! area in every cell.
//!
//! 1. Shapes that cover each other must not be mixed one by one: a wheel under the hull would shine through
//!    the hull's edge. Bits are repainted as pixels are, and mixed with what lies below once.
//! 2. A scanline of 64 pixels is one word to a colour. Wider shapes are taken in several windows, more
//!    colours in several runs.

mod silhouette;

use super::Axes;
use super::blocks::BLOCK;
use super::coverage::Cells;
use super::spans::{Spans, mask};
use crate::axis::Axis;
use crate::canvas::Canvas;
use crate::circle::disc;
use crate::line::thick_line;
use crate::scene::{Item, Shape};
use crate::{Colour, Scene};
use reinfors_math::cpu::{Kernel, Level};
use silhouette::Silhouette;
use std::ops::Range;

/// Colours that can be told apart at a time.
pub(super) const COLOURS: usize = 4;

/// A pixel's weight.
const ONE: f32 = 16384.0;

/// Pixels to a word.
const WORD: i32 = u64::BITS as i32;

/// The pixels of a scanline that have each colour.
type Bits = [u64; COLOURS];

/// Working memory for one run of hard shapes.
#[derive(Clone, Debug, Default)]
pub(super) struct Stencil {
    spans: Spans,
    silhouette: Silhouette,
    colours: Vec<Colour>,
    bits: Vec<Bits>,
    /// Where the cells of the run's box begin, in 14-bit pixels from the window's left side.
    borders: Vec<Cells>,
    areas: Areas,
}

/// Area of each colour in the cells of a run's box, in 14-bit pixels, row by row.
#[derive(Clone, Debug, Default)]
struct Areas {
    /// Blocks of cells to a row, the last one filled up.
    blocks: usize,
    colours: usize,
    cells: Vec<Cells>,
}

/// A run of shapes of few enough colours.
struct DrawRun<'a, 'b> {
    stencil: &'a mut Stencil,
    scene: &'a Scene,
    run: &'a [Item],
    limit: i32,
    axes: &'a Axes,
    canvas: &'a mut Canvas<'b>,
}

impl Kernel for DrawRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.stencil.draw_run(self.scene, self.run, self.limit, self.axes, self.canvas);
    }
}

/// Pixels from `left` to `right` and rows from `top` to `bottom`, ends included, as the canvas has them.
#[derive(Clone, Copy, Debug)]
struct Extent {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Stencil {
    /// Draws a run of polygons, rectangles and lines of one side up, the first ones first.
    pub fn draw(
        &mut self,
        level: Level,
        scene: &Scene,
        items: &[Item],
        limit: i32,
        axes: &Axes,
        canvas: &mut Canvas,
    ) {
        let mut rest = items;
        while let Some(first) = rest.first() {
            self.colours.clear();
            self.colours.push(first.colour);
            let mut count = 1;
            for item in &rest[1..] {
                if !self.colours.contains(&item.colour) {
                    if self.colours.len() == COLOURS {
                        break;
                    }
                    self.colours.push(item.colour);
                }
                count += 1;
            }
            let (run, later) = rest.split_at(count);
            level.run(DrawRun { stencil: self, scene, run, limit, axes, canvas });
            rest = later;
        }
    }

    #[inline(always)]
    fn draw_run(&mut self, scene: &Scene, run: &[Item], limit: i32, axes: &Axes, canvas: &mut Canvas) {
        let Some(extent) = extent(scene, run, limit) else { return };
        let columns = cells(&axes.columns, extent.left, extent.right);
        let rows = cells(&axes.rows, extent.top, extent.bottom);
        if columns.is_empty() {
            return;
        }
        self.areas.restart(columns.len().div_ceil(BLOCK), rows.len(), self.colours.len());
        for left in (extent.left..=extent.right).step_by(WORD as usize) {
            self.paint(scene, run, Extent { left, right: (left + WORD - 1).min(extent.right), ..extent });
            self.measure(axes, left, extent.top, columns.start, &rows);
        }
        let scale = pixel(&axes.columns) * pixel(&axes.rows) / ONE;
        let mut inks = [[0.0; 3]; COLOURS];
        for (ink, &colour) in inks.iter_mut().zip(&self.colours) {
            *ink = axes.ink(colour);
        }
        for (index, row) in rows.enumerate() {
            for block in 0..self.areas.blocks {
                let covers = self.areas.covers(index, block, scale);
                canvas.blend_block(row, columns.start + block * BLOCK, &covers, &inks);
            }
        }
    }

    /// Sets the bits of one window.
    #[inline(always)]
    fn paint(&mut self, scene: &Scene, run: &[Item], extent: Extent) {
        let Self { spans, silhouette, bits, colours, .. } = self;
        bits.clear();
        bits.resize((extent.bottom - extent.top + 1) as usize, [0; COLOURS]);
        let is_flipped = scene.is_flipped(&run[0]);
        let mut window = Window::new(bits, extent, is_flipped.then_some(scene.size().height as i32));
        let mut drawn = run.len() - Silhouette::count(run);
        let is_kept = drawn < run.len() && silhouette.update(scene, &run[drawn..], spans);
        if !is_kept {
            drawn = run.len();
        }
        let ink = |item: &Item| colours.iter().position(|&colour| colour == item.colour).unwrap_or(0);
        for item in &run[..drawn] {
            window.ink = ink(item);
            let rows = window.rows.clone();
            match &item.shape {
                Shape::Polygon { points } => {
                    let (top, masks) = spans.fill(scene.points(points), &rows, [window.left, window.right]);
                    window.cover(top, masks);
                }
                Shape::Rectangle { min, max } => {
                    for y in min.y.max(rows.start)..=max.y.min(rows.end - 1) {
                        window.span(min.x, max.x, y);
                    }
                }
                Shape::AaCircle { centre, radius } => {
                    disc(*centre, *radius, |x0, x1, y| window.span(x0, x1, y));
                }
                Shape::Line { from, to, width } => {
                    thick_line(*from, *to, *width, scene.size(), |x0, x1, y| window.span(x0, x1, y));
                }
                Shape::AaPolygon { .. } | Shape::Bitmap { .. } => {}
            }
        }
        if is_kept {
            window.ink = ink(&run[drawn]);
            let (top, masks) = silhouette.seen(extent.left, extent.right, &window.rows);
            window.cover(top, masks);
        }
    }

    /// Adds the areas of the window that starts at pixel `left` and row `top`.
    #[inline(always)]
    fn measure(&mut self, axes: &Axes, left: i32, top: i32, first_column: usize, rows: &Range<usize>) {
        let Self { bits, areas, borders, .. } = self;
        let whole = whole(&axes.columns);
        borders.clear();
        for block in 0..areas.blocks {
            let mut cells = Cells::default();
            let first = (first_column + block * BLOCK) as f32 * whole - left as f32 * ONE;
            for lane in 0..BLOCK {
                cells.0[lane] = first + lane as f32 * whole;
            }
            borders.push(cells);
        }
        for (index, row) in rows.clone().enumerate() {
            let tap = &axes.rows.taps[row];
            let (first, last) = (tap.start as i32 - 1, (tap.start + tap.len) as i32 - 1);
            let end = last.min(top + bits.len() as i32 - 1) + 1;
            let mut y = first.max(top);
            while y < end {
                let line = &bits[(y - top) as usize];
                let mut weight = 1.0;
                if y == first {
                    weight = part(tap.lead);
                } else if y == last {
                    weight = part(tap.tail);
                } else {
                    // Rows that repeat count as one.
                    while y + 1 < end.min(last) && bits[(y + 1 - top) as usize] == *line {
                        weight += 1.0;
                        y += 1;
                    }
                }
                y += 1;
                for (&bits, cells) in line.iter().zip(areas.row(index)) {
                    if bits == 0 {
                        continue;
                    }
                    for (cells, borders) in cells.iter_mut().zip(&*borders) {
                        let (mut grown, mut rest) = (*cells, bits);
                        while rest != 0 {
                            let start = rest.trailing_zeros() as i32;
                            let end = start + (!(rest >> start)).trailing_zeros() as i32;
                            rest &= u64::MAX.checked_shl(end as u32).unwrap_or(0);
                            grow(&mut grown, borders, [start as f32 * ONE, end as f32 * ONE], whole, weight);
                        }
                        *cells = grown;
                    }
                }
            }
        }
    }
}

/// Adds the part of a line from `start` to `end` that lies in each cell, `weight` times.
#[inline(always)]
fn grow(cells: &mut Cells, borders: &Cells, [start, end]: [f32; 2], whole: f32, weight: f32) {
    for lane in 0..BLOCK {
        let (start, end) = (start - borders.0[lane], end - borders.0[lane]);
        let start = if start > 0.0 { start } else { 0.0 };
        let end = if end < whole { end } else { whole };
        let inside = if end > start { end - start } else { 0.0 };
        cells.0[lane] += inside * weight;
    }
}

impl Areas {
    /// Nothing yet in a box of so many blocks and rows, of so many colours.
    #[inline(always)]
    fn restart(&mut self, blocks: usize, rows: usize, colours: usize) {
        (self.blocks, self.colours) = (blocks, colours);
        self.cells.clear();
        self.cells.resize(rows * colours * blocks, Cells::default());
    }

    /// A row, colour by colour.
    #[inline(always)]
    fn row(&mut self, row: usize) -> std::slice::ChunksExactMut<'_, Cells> {
        let len = self.colours * self.blocks;
        self.cells[row * len..][..len].chunks_exact_mut(self.blocks)
    }

    /// The share of each cell of a block that each colour covers, where a pixel is `scale` of a cell.
    #[inline(always)]
    fn covers(&self, row: usize, block: usize, scale: f32) -> [Cells; COLOURS] {
        let mut covers = [Cells::default(); COLOURS];
        let areas = self.cells[row * self.colours * self.blocks + block..].iter().step_by(self.blocks);
        for (cover, areas) in covers.iter_mut().zip(areas).take(self.colours) {
            for lane in 0..BLOCK {
                cover.0[lane] = areas.0[lane] * scale;
            }
        }
        covers
    }
}

/// Up to 64 columns of pixels, and the colour that paints them.
struct Window<'a> {
    bits: &'a mut [Bits],
    /// The scene's rows that are seen.
    rows: Range<i32>,
    left: i32,
    right: i32,
    top: i32,
    /// The surface's height if its rows are reversed.
    flipped: Option<i32>,
    ink: usize,
}

impl<'a> Window<'a> {
    fn new(bits: &'a mut [Bits], Extent { left, right, top, bottom }: Extent, flipped: Option<i32>) -> Self {
        let rows = match flipped {
            Some(height) => height - 1 - bottom..height - top,
            None => top..bottom + 1,
        };
        Self { bits, rows, left, right, top, flipped, ink: 0 }
    }

    /// Paints pixels `x0..=x1` of a row of the scene.
    #[inline(always)]
    fn span(&mut self, x0: i32, x1: i32, y: i32) {
        if self.rows.contains(&y) {
            self.cover(y, &[mask(x0, x1, self.left, self.right)]);
        }
    }

    /// Paints the pixels whose bits are set in the rows of the scene from `top` on, which are seen.
    #[inline(always)]
    fn cover(&mut self, top: i32, masks: &[u64]) {
        if masks.is_empty() {
            return;
        }
        let mut paint = [0; COLOURS];
        paint[self.ink] = u64::MAX;
        if let Some(height) = self.flipped {
            let end = (height - top - self.top) as usize;
            let rows = &mut self.bits[end - masks.len()..end];
            for (row, &mask) in rows.iter_mut().rev().zip(masks) {
                cover(row, mask, &paint);
            }
        } else {
            let rows = &mut self.bits[(top - self.top) as usize..][..masks.len()];
            for (row, &mask) in rows.iter_mut().zip(masks) {
                cover(row, mask, &paint);
            }
        }
    }
}

/// Paints pixels of a row with the colour whose bits are set in `paint`.
#[inline(always)]
fn cover(row: &mut Bits, mask: u64, paint: &Bits) {
    for colour in 0..COLOURS {
        row[colour] = row[colour] & !mask | mask & paint[colour];
    }
}

/// The share of a whole pixel in its cell, along one axis.
fn pixel(axis: &Axis) -> f32 {
    axis.reciprocal as f32 / 65536.0
}

/// The share of any pixel in a cell, along one axis.
pub(super) fn share(axis: &Axis, cell: usize, at: i32) -> f32 {
    let tap = &axis.taps[cell];
    let (first, last) = (tap.start as i32 - 1, (tap.start + tap.len) as i32 - 1);
    if at < first || at > last {
        0.0
    } else if at == first {
        pixel(axis) * part(tap.lead)
    } else if at == last {
        pixel(axis) * part(tap.tail)
    } else {
        pixel(axis)
    }
}

/// A 14-bit weight as a share of a pixel.
fn part(weight: u32) -> f32 {
    weight as f32 / ONE
}

/// A cell along an axis, in 14-bit pixels.
#[inline(always)]
fn whole(axis: &Axis) -> f32 {
    let tap = &axis.taps[0];
    (tap.lead + tap.tail) as f32 + (tap.len - 1) as f32 * ONE
}

/// The cells that pixels `first..=last` fall into.
#[inline(always)]
pub(super) fn cells(axis: &Axis, first: i32, last: i32) -> Range<usize> {
    let start = axis.taps.partition_point(|tap| ((tap.start + tap.len) as i32) <= first);
    let end = axis.taps.partition_point(|tap| tap.start as i32 - 1 <= last);
    start..end.max(start)
}

/// The box of a run's pixels on the canvas; none if it is empty.
fn extent(scene: &Scene, run: &[Item], limit: i32) -> Option<Extent> {
    let (width, height) = (scene.size().width as i32, scene.size().height as i32);
    let mut extent = Extent { left: width, right: -1, top: height, bottom: -1 };
    for item in run {
        if matches!(item.shape, Shape::AaPolygon { .. } | Shape::Bitmap { .. }) {
            continue;
        }
        let (top, bottom) = if scene.is_flipped(item) {
            ((height - 1).saturating_sub(item.rows.max), (height - 1).saturating_sub(item.rows.min))
        } else {
            (item.rows.min, item.rows.max)
        };
        extent = Extent {
            left: extent.left.min(item.columns.min),
            right: extent.right.max(item.columns.max),
            top: extent.top.min(top),
            bottom: extent.bottom.max(bottom),
        };
    }
    let extent = Extent {
        left: extent.left.max(0),
        right: extent.right.min(width - 1),
        top: extent.top.max(0),
        bottom: extent.bottom.min(limit - 1),
    };
    (extent.left <= extent.right && extent.top <= extent.bottom).then_some(extent)
}
