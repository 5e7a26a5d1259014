//! Hard shapes: which pixels each colour of a run of shapes ends up with, as bits, and from them the exact
//! area in every cell.
//!
//! 1. Shapes that cover each other must not be mixed one by one: a wheel under the hull would shine through
//!    the hull's edge. Bits are repainted as pixels are, and mixed with what lies below once.
//! 2. A scanline of 64 pixels is one word to a colour. Wider shapes are taken in several windows, more
//!    colours in several runs.

mod silhouette;

use super::Axes;
use super::spans::Spans;
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
const COLOURS: usize = 4;

/// Pixels to a word.
const WORD: i32 = u64::BITS as i32;

/// The pixels of a scanline that have each colour.
type Bits = [u64; COLOURS];

/// A column of cells in a window: its whole pixels, and the ones it shares with its neighbours.
#[derive(Clone, Copy, Debug, Default)]
struct Gauge {
    whole: u64,
    lead: u64,
    tail: u64,
    lead_weight: u32,
    tail_weight: u32,
}

/// Working memory for one run of hard shapes.
#[derive(Clone, Debug, Default)]
pub(super) struct Stencil {
    spans: Spans,
    silhouette: Silhouette,
    colours: Vec<Colour>,
    bits: Vec<Bits>,
    gauges: Vec<Gauge>,
    /// Area of each colour in the cells of the run's box, row by row.
    areas: Vec<[f32; COLOURS]>,
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
        self.areas.clear();
        self.areas.resize(columns.len() * rows.len(), [0.0; COLOURS]);
        for left in (extent.left..=extent.right).step_by(WORD as usize) {
            self.paint(scene, run, Extent { left, right: (left + WORD - 1).min(extent.right), ..extent });
            self.measure(axes, left, extent.top, &columns, &rows);
        }
        let scale = pixel(&axes.columns) * pixel(&axes.rows) / 16384.0;
        let inks: [[f32; 3]; COLOURS] =
            std::array::from_fn(|index| self.colours.get(index).map_or([0.0; 3], |&colour| axes.ink(colour)));
        for (row, areas) in rows.zip(self.areas.chunks_exact(columns.len())) {
            for (column, areas) in columns.clone().zip(areas) {
                let (mut ink, mut keep) = ([0.0; 3], 1.0);
                for (area, colour) in areas.iter().zip(&inks) {
                    keep -= area * scale;
                    for (sum, channel) in ink.iter_mut().zip(colour) {
                        *sum += channel * area * scale;
                    }
                }
                canvas.blend(row, column, keep.max(0.0), ink);
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
                    spans.each(scene.points(points), &rows, |x0, x1, y| window.span(x0, x1, y));
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
            silhouette.each(extent.left, |covered, y| window.cover(covered, y));
        }
    }

    /// Adds the areas of the window that starts at pixel `left` and row `top`.
    #[inline(always)]
    fn measure(&mut self, axes: &Axes, left: i32, top: i32, columns: &Range<usize>, rows: &Range<usize>) {
        let Self { bits, gauges, areas, .. } = self;
        gauges.clear();
        gauges.extend(columns.clone().map(|column| gauge(&axes.columns, column, left)));
        for (row, areas) in rows.clone().zip(areas.chunks_exact_mut(columns.len())) {
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
                    // Rows that repeat count as one: sums of whole rows are exact in any order.
                    while y + 1 < end.min(last) && bits[(y + 1 - top) as usize] == *line {
                        weight += 1.0;
                        y += 1;
                    }
                }
                y += 1;
                for (colour, &bits) in line.iter().enumerate() {
                    if bits == 0 {
                        continue;
                    }
                    for (areas, gauge) in areas.iter_mut().zip(gauges.iter()) {
                        let whole = (bits & gauge.whole).count_ones() << 14;
                        let lead = if bits & gauge.lead == 0 { 0 } else { gauge.lead_weight };
                        let tail = if bits & gauge.tail == 0 { 0 } else { gauge.tail_weight };
                        areas[colour] += weight * (whole + lead + tail) as i32 as f32;
                    }
                }
            }
        }
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
        let (x0, x1) = (x0.max(self.left), x1.min(self.right));
        if x0 <= x1 {
            self.cover((u64::MAX >> (WORD - 1 - (x1 - x0))) << (x0 - self.left), y);
        }
    }

    /// Paints the pixels of a row whose bits are set.
    #[inline(always)]
    fn cover(&mut self, covered: u64, y: i32) {
        if !self.rows.contains(&y) {
            return;
        }
        let row = if let Some(height) = self.flipped { height - 1 - y } else { y } - self.top;
        let inside = u64::MAX >> (WORD - 1 - (self.right - self.left));
        let row = &mut self.bits[row as usize];
        for bits in row.iter_mut() {
            *bits &= !covered;
        }
        row[self.ink] |= covered & inside;
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
    weight as f32 / 16384.0
}

fn gauge(axis: &Axis, column: usize, left: i32) -> Gauge {
    let tap = &axis.taps[column];
    let bit = |pixel: i32| if (left..left + WORD).contains(&pixel) { 1 << (pixel - left) } else { 0 };
    let (start, end) = (tap.start as i32, (tap.start + tap.len) as i32 - 1);
    Gauge {
        whole: (start.max(left)..end.min(left + WORD)).fold(0, |bits, pixel| bits | bit(pixel)),
        lead: bit(start - 1),
        tail: bit(end),
        lead_weight: tap.lead,
        tail_weight: tap.tail,
    }
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
        let (left, right) = match &item.shape {
            Shape::Polygon { points } => scene
                .points(points)
                .iter()
                .fold((i32::MAX, i32::MIN), |(left, right), point| (left.min(point.x), right.max(point.x))),
            Shape::AaCircle { centre, radius } => (centre.x - radius, centre.x + radius),
            Shape::Rectangle { min, max } => (min.x, max.x),
            Shape::Line { from, to, width } => {
                (from.x.min(to.x).saturating_sub(*width), from.x.max(to.x).saturating_add(*width))
            }
            Shape::AaPolygon { .. } | Shape::Bitmap { .. } => continue,
        };
        let (top, bottom) = if scene.is_flipped(item) {
            ((height - 1).saturating_sub(item.rows.max), (height - 1).saturating_sub(item.rows.min))
        } else {
            (item.rows.min, item.rows.max)
        };
        extent = Extent {
            left: extent.left.min(left),
            right: extent.right.max(right),
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
