//! The scene at the small size, byte for byte what [`smoothscale`](crate::smoothscale()) makes of the full
//! surface, without ever having the full surface.
//!
//! The surface is drawn in strips of scanlines that stay in the cache ([`Strip`]). A strip starts at the last
//! shape that covers all of it. Each finished scanline is shrunk across, then added to its output row.

use crate::axis::Axis;
use crate::crossings::{Crossings, Rule};
use crate::fringe::{FringeLine, Ink};
use crate::line::thick_line;
use crate::scene::{Item, Shape};
use crate::strip::{Paint, Strip, high};
use crate::{Colour, Layout, Point, Scene, Size, SizeError};
use std::ops::Range;

/// Scanlines drawn at a time: a few hundred kilobytes, within a core's second-level cache.
const STRIP_ROWS: usize = 100;

/// An empty run of columns: nothing is hidden.
const NOTHING: (i32, i32) = (1, 0);

/// Draws scenes at one small size. Keeps its buffers: a frame allocates nothing.
#[derive(Clone, Debug)]
pub struct Thumbnail {
    surface: Size,
    size: Size,
    layout: Layout,
    strip: Strip,
    scratch: Scratch,
    shrink: RowShrink,
    line: Vec<[u8; 4]>,
}

/// Working memory of one polygon.
#[derive(Clone, Debug, Default)]
struct Scratch {
    crossings: Crossings,
    /// The span of each of the polygon's rows that has one span only; else [`NOTHING`].
    single: Vec<(i32, i32)>,
}

impl Thumbnail {
    /// For scenes of `surface`, drawn at `size` in the given layout.
    ///
    /// # Errors
    /// [`SizeError`] unless `size` is smaller than `surface` on both axes, and not below 1/250 of it.
    pub fn new(surface: Size, size: Size, layout: Layout) -> Result<Self, SizeError> {
        let error = SizeError { given: size, surface };
        if size.width == 0 || size.height == 0 {
            return Err(error);
        }
        let columns = Axis::new(surface.width, size.width).ok_or(error)?;
        let rows = Axis::new(surface.height, size.height).ok_or(error)?;
        Ok(Self {
            surface,
            size,
            layout,
            strip: Strip::new(columns, STRIP_ROWS.min(surface.height)),
            scratch: Scratch::default(),
            shrink: RowShrink::new(rows, size.width),
            line: vec![[0; 4]; size.width],
        })
    }

    /// The output's size.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Draws `scene` into `out`, `3 * width * height` bytes in this thumbnail's layout.
    ///
    /// # Panics
    /// If the scene is of another surface size, or `out` of another length.
    pub fn draw(&mut self, scene: &Scene, out: &mut [u8]) {
        assert_eq!(scene.size(), self.surface, "a scene of this thumbnail's surface");
        assert_eq!(out.len(), 3 * self.size.area(), "three bytes a pixel");
        self.shrink.restart();
        self.strip.clear_palette();
        for start in (0..self.surface.height).step_by(STRIP_ROWS) {
            let rows = start..(start + STRIP_ROWS).min(self.surface.height);
            self.draw_strip(scene, rows.clone());
            for row in 0..rows.len() {
                self.strip.shrink(row, &mut self.line);
                if let Some((index, pixels)) = self.shrink.push(&self.line) {
                    self.layout.write_row(out, self.size, index, pixels);
                }
            }
        }
    }

    fn draw_strip(&mut self, scene: &Scene, rows: Range<usize>) {
        let height = self.surface.height as i32;
        let window = |item: &Item| {
            let (start, end) = (rows.start as i32, rows.end as i32);
            if scene.is_flipped(item) { height - end..height - start } else { start..end }
        };
        let items = scene.items();
        let covers = |item: &&Item| covers(item, &window(item), self.surface.width);
        let base = items.iter().rposition(|item| covers(&item));
        let ground = base.map_or(Colour::BLACK, |index| items[index].colour);
        let paint = self.strip.paint(ground);
        self.strip.fill(rows.len(), paint);
        for item in &items[base.map_or(0, |index| index + 1)..] {
            let window = window(item);
            if item.rows.max < window.start || item.rows.min >= window.end {
                continue;
            }
            let paint = self.strip.paint(item.colour);
            let flipped = scene.is_flipped(item);
            let brush = Brush { strip: &mut self.strip, paint, window, flipped, hidden: &[], hidden_top: 0 };
            brush.draw(scene, item, self.surface, &mut self.scratch);
        }
    }
}

/// Whether a shape paints every pixel of the window.
fn covers(item: &Item, window: &Range<i32>, width: usize) -> bool {
    match item.shape {
        Shape::Rectangle { min, max } => {
            min.x <= 0 && max.x >= width as i32 - 1 && min.y <= window.start && max.y >= window.end - 1
        }
        _ => false,
    }
}

/// One shape's paint over one strip. Rows are named as the shape names them, before any flip.
struct Brush<'a> {
    strip: &'a mut Strip,
    paint: Paint,
    window: Range<i32>,
    flipped: bool,
    /// What will be painted over, from row `hidden_top` on.
    hidden: &'a [(i32, i32)],
    hidden_top: i32,
}

impl<'a> Brush<'a> {
    #[inline]
    fn row(&self, y: i32) -> usize {
        (if self.flipped { self.window.end - 1 - y } else { y - self.window.start }) as usize
    }

    fn draw(mut self, scene: &Scene, item: &Item, surface: Size, scratch: &'a mut Scratch) {
        match &item.shape {
            Shape::AaPolygon { points } => self.aa_polygon(scene.points(points), surface, scratch),
            Shape::Polygon { points } => self.polygon(scene.points(points), &mut scratch.crossings),
            Shape::Rectangle { min, max } => {
                for y in min.y.max(self.window.start)..=max.y.min(self.window.end - 1) {
                    self.span(min.x, max.x, y);
                }
            }
            Shape::Line { from, to, width } => {
                thick_line(*from, *to, *width, surface, |x0, x1, y| self.span(x0, x1, y));
            }
            Shape::Bitmap { min, size, greys } => self.bitmap(*min, *size, scene.greys(greys)),
        }
    }

    /// A span on a row that may lie outside the window.
    fn span(&mut self, x0: i32, x1: i32, y: i32) {
        if self.window.contains(&y) {
            self.strip.span(self.row(y), x0, x1, self.paint);
        }
    }

    /// The outline first, then the fill over it. Outline pixels the fill will cover are not drawn: that is
    /// decided row by row, and only where the fill is a single span.
    fn aa_polygon(&mut self, points: &[Point], surface: Size, scratch: &'a mut Scratch) {
        let Scratch { crossings, single } = scratch;
        crossings.collect(points, Rule::SdlGfx, &self.window);
        let rows = crossings.rows();
        single.clear();
        single.extend(rows.clone().map(|y| {
            let mut spans = crossings.spans(y, Rule::SdlGfx);
            if let (Some(only), None) = (spans.next(), spans.next()) { only } else { NOTHING }
        }));
        (self.hidden, self.hidden_top) = (single, rows.start);
        let window = self.window.clone();
        for (index, &point) in points.iter().enumerate() {
            let next = points[(index + 1) % points.len()];
            if let Some(line) = FringeLine::new(point, next, surface) {
                line.draw(&window, self);
            }
        }
        for (y, &(x0, x1)) in rows.zip(self.hidden) {
            let row = self.row(y);
            if x0 <= x1 {
                self.strip.span(row, x0, x1, self.paint);
            } else {
                crossings
                    .spans(y, Rule::SdlGfx)
                    .for_each(|(x0, x1)| self.strip.span(row, x0, x1, self.paint));
            }
        }
    }

    fn polygon(&mut self, points: &[Point], crossings: &mut Crossings) {
        let top = points.iter().map(|p| p.y).min().unwrap_or(0);
        let bottom = points.iter().map(|p| p.y).max().unwrap_or(0);
        if top == bottom {
            let left = points.iter().map(|p| p.x).min().unwrap_or(0);
            let right = points.iter().map(|p| p.x).max().unwrap_or(0);
            return self.span(left, right, top);
        }
        crossings.collect(points, Rule::Pygame, &self.window);
        for y in crossings.rows() {
            let row = self.row(y);
            crossings.spans(y, Rule::Pygame).for_each(|(x0, x1)| self.strip.span(row, x0, x1, self.paint));
        }
        // Level edges between top and bottom are missed by the crossings: pygame draws them on their own.
        let mut previous = points[points.len() - 1];
        for &point in points {
            if previous.y == point.y && top < point.y && point.y < bottom {
                self.span(previous.x.min(point.x), previous.x.max(point.x), point.y);
            }
            previous = point;
        }
    }

    /// A grey picture: its box in the paint's black, then the pixels that are not.
    fn bitmap(&mut self, min: Point, size: Size, greys: &[u8]) {
        for (y, line) in (min.y..).zip(greys.chunks_exact(size.width.max(1))) {
            if !self.window.contains(&y) {
                continue;
            }
            self.span(min.x, min.x + size.width as i32 - 1, y);
            let row = self.row(y);
            for (x, &level) in (min.x..).zip(line) {
                if level != 0 {
                    self.strip.set(row, x, Colour::grey(level));
                }
            }
        }
    }
}

impl Ink for Brush<'_> {
    fn solid(&mut self, x0: i32, x1: i32, y: i32) {
        self.strip.span(self.row(y), x0, x1, self.paint);
    }

    #[inline]
    fn soft(&mut self, x: i32, y: i32, weight: u32) {
        self.strip.blend(self.row(y), x, (255 * weight) >> 8, self.paint);
    }

    #[inline]
    fn hidden(&self, y: i32) -> (i32, i32) {
        self.hidden.get((y - self.hidden_top) as usize).copied().unwrap_or(NOTHING)
    }
}

/// The second half of the filter: scanlines in, output rows out.
#[derive(Clone, Debug)]
struct RowShrink {
    axis: Axis,
    /// Output row being summed.
    index: usize,
    /// Scanlines it has taken.
    taken: usize,
    /// Four channels to a pixel, flat: every lane is treated alike.
    sums: Vec<u16>,
    pixels: Vec<[u8; 4]>,
}

impl RowShrink {
    fn new(axis: Axis, width: usize) -> Self {
        Self { axis, index: 0, taken: 0, sums: vec![0; 4 * width], pixels: vec![[0; 4]; width] }
    }

    fn restart(&mut self) {
        (self.index, self.taken) = (0, 0);
        self.sums.fill(0);
    }

    /// Takes the next scanline; gives an output row and its index when that was its last.
    fn push(&mut self, line: &[[u8; 4]]) -> Option<(usize, &[[u8; 4]])> {
        let tap = self.axis.taps.get(self.index)?;
        let bytes = line.as_flattened();
        self.taken += 1;
        if self.taken < tap.len {
            for (sum, &byte) in self.sums.iter_mut().zip(bytes) {
                *sum += u16::from(byte);
            }
            return None;
        }
        let (tail, lead) = (tap.tail as u16, (0x4000 - tap.tail) as u16);
        let reciprocal = self.axis.reciprocal as u16;
        let lanes = self.sums.iter_mut().zip(self.pixels.as_flattened_mut());
        for ((sum, out), &byte) in lanes.zip(bytes) {
            let scaled = 4 * u16::from(byte);
            *out = high(*sum + high(scaled, tail), reciprocal) as u8;
            *sum = high(scaled, lead);
        }
        let index = self.index;
        (self.index, self.taken) = (index + 1, 0);
        Some((index, &self.pixels))
    }
}
