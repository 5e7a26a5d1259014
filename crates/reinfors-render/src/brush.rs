//! How each shape is painted onto a strip: geometry from the crossings, soft edges from the fringe.
//!
//! A smooth polygon's outline comes first and its fill over it, so the outline is only drawn where the fill
//! will not be: fewer soft pixels, and the columns inside stay uniform.

use crate::circle::{disc, ring};
use crate::crossings::{Crossings, Rule};
use crate::fringe::{FringeLine, Ink};
use crate::line::thick_line;
use crate::scene::{Item, Shape};
use crate::strip::{Paint, Strip};
use crate::{Colour, Point, Scene, Size};
use std::ops::Range;

/// An empty run of columns: nothing is hidden.
const NOTHING: (i32, i32) = (1, 0);

/// Working memory of one polygon.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    crossings: Crossings,
    /// The span of each of the polygon's rows that has one span only; else [`NOTHING`].
    single: Vec<(i32, i32)>,
}

/// One shape's paint over one strip. Rows are named as the shape names them, before any flip.
pub(crate) struct Brush<'a> {
    strip: &'a mut Strip,
    paint: Paint,
    window: Range<i32>,
    flipped: bool,
    /// What will be painted over, from row `hidden_top` on.
    hidden: &'a [(i32, i32)],
    hidden_top: i32,
}

impl<'a> Brush<'a> {
    /// A brush for rows `window` of the surface as the shape sees it; `flipped` if those are upside down.
    pub fn new(strip: &'a mut Strip, colour: Colour, window: Range<i32>, flipped: bool) -> Self {
        let paint = strip.paint(colour);
        Self { strip, paint, window, flipped, hidden: &[], hidden_top: 0 }
    }

    #[inline]
    fn row(&self, y: i32) -> usize {
        (if self.flipped { self.window.end - 1 - y } else { y - self.window.start }) as usize
    }

    /// Paints what of the item lies in the window.
    pub fn draw(mut self, scene: &Scene, item: &Item, surface: Size, scratch: &'a mut Scratch) {
        match &item.shape {
            Shape::AaPolygon { points } => self.aa_polygon(scene.points(points), surface, scratch),
            Shape::AaCircle { centre, radius } => {
                ring(*centre, *radius, |x, y, alpha| {
                    if self.window.contains(&y) {
                        self.strip.blend(self.row(y), x, alpha, self.paint);
                    }
                });
                disc(*centre, *radius, |x0, x1, y| self.span(x0, x1, y));
            }
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
