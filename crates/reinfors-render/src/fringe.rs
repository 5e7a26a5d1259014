//! The anti-aliased outline of SDL_gfx (`_aalineColor`, no end point): which pixels, and how opaque.
//!
//! Along its longer direction a line advances one pixel a step; the error's top eight bits share the ink
//! between the two pixels nearest across. Any stretch can be computed on its own, so a strip asks only for
//! its rows.

use crate::clip::clip_segment;
use crate::{Point, Size};
use std::ops::Range;

/// A clipped line, its upper end first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FringeLine {
    /// The pixel drawn solid first: the clipped line's own start.
    start: Point,
    upper: Point,
    /// +1 or -1: where x goes as y grows.
    direction: i32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Solid down to `bottom`, included.
    Vertical { bottom: i32 },
    /// Solid to `end`, included.
    Horizontal { end: i32 },
    /// `rows` steps down; x advances by `slope / 2^32` a step.
    Steep { rows: i32, slope: u64 },
    /// `columns` steps aside; y advances by `slope / 2^32` a step.
    Flat { columns: i32, slope: u64 },
}

/// Receives the pixels of a line.
pub(crate) trait Ink {
    /// Columns `x0..=x1` of row `y`, opaque.
    fn solid(&mut self, x0: i32, x1: i32, y: i32);
    /// One pixel at `weight / 255` of full ink.
    fn soft(&mut self, x: i32, y: i32, weight: u32);
    /// The columns of row `y` that will be painted over anyway, ends included; empty if the first is larger.
    fn hidden(&self, y: i32) -> (i32, i32);
}

impl FringeLine {
    /// The line from `a` to `b` as far as it lies on the surface.
    pub fn new(a: Point, b: Point, surface: Size) -> Option<Self> {
        let (start, end) = clip_segment(a, b, surface)?;
        let (upper, lower) = if start.y > end.y { (end, start) } else { (start, end) };
        let (dx, rows) = (lower.x - upper.x, lower.y - upper.y);
        let direction = if dx >= 0 { 1 } else { -1 };
        let columns = dx.abs();
        let slope = |minor: i32, major: i32| (((minor as u64) << 16) / major as u64) << 16;
        let kind = if columns == 0 {
            Kind::Vertical { bottom: lower.y }
        } else if rows == 0 {
            Kind::Horizontal { end: lower.x }
        } else if rows > columns {
            Kind::Steep { rows, slope: slope(columns, rows) }
        } else {
            Kind::Flat { columns, slope: slope(rows, columns) }
        };
        Some(Self { start, upper, direction, kind })
    }

    /// Draws the pixels of rows in `window` that are not hidden.
    pub fn draw(&self, window: &Range<i32>, ink: &mut impl Ink) {
        match self.kind {
            Kind::Vertical { bottom } => {
                for y in self.upper.y.max(window.start)..(bottom + 1).min(window.end) {
                    solid(ink, self.upper.x, self.upper.x, y);
                }
            }
            Kind::Horizontal { end } => {
                if window.contains(&self.upper.y) {
                    solid(ink, self.upper.x.min(end), self.upper.x.max(end), self.upper.y);
                }
            }
            Kind::Steep { rows, slope } => {
                self.draw_start(window, ink);
                self.draw_steep(rows, slope, window, ink);
            }
            Kind::Flat { columns, slope } => {
                self.draw_start(window, ink);
                self.draw_flat(columns, slope, window, ink);
            }
        }
    }

    fn draw_start(&self, window: &Range<i32>, ink: &mut impl Ink) {
        if window.contains(&self.start.y) {
            solid(ink, self.start.x, self.start.x, self.start.y);
        }
    }

    fn draw_steep(&self, rows: i32, slope: u64, window: &Range<i32>, ink: &mut impl Ink) {
        let first = (self.upper.y + 1).max(window.start);
        let last = (self.upper.y + rows).min(window.end);
        let mut error = (first - self.upper.y) as u64 * slope;
        for y in first..last {
            let x = self.upper.x + self.direction * (error >> 32) as i32;
            let weight = (error >> 24 & 255) as u32;
            let (hidden_min, hidden_max) = ink.hidden(y);
            if x < hidden_min || x > hidden_max {
                ink.soft(x, y, 255 - weight);
            }
            let x = x + self.direction;
            if x < hidden_min || x > hidden_max {
                ink.soft(x, y, weight);
            }
            error += slope;
        }
    }

    /// Row `m` below the upper end gets the nearer pixels of the steps whose y is `m`, and the farther ones
    /// of those whose y is `m - 1`.
    fn draw_flat(&self, columns: i32, slope: u64, window: &Range<i32>, ink: &mut impl Ink) {
        let steps_before = |m: i32| -> i32 {
            let steps = ((m.max(0) as u64) << 32).div_ceil(slope);
            steps.clamp(1, columns as u64) as i32
        };
        let deepest = (((columns - 1) as u64 * slope) >> 32) as i32 + 1;
        let first = self.upper.y.max(window.start);
        let last = (self.upper.y + deepest + 1).min(window.end);
        let (mut above, mut here) =
            (steps_before(first - self.upper.y - 1), steps_before(first - self.upper.y));
        for y in first..last {
            let below = steps_before(y - self.upper.y + 1);
            self.draw_run(above..here, slope, 0, y, ink);
            self.draw_run(here..below, slope, 255, y, ink);
            (above, here) = (here, below);
        }
    }

    /// Steps `steps` of a flat line on row `y`; `flip` is 255 for the nearer pixel, whose weight is the rest.
    #[inline]
    fn draw_run(&self, steps: Range<i32>, slope: u64, flip: u32, y: i32, ink: &mut impl Ink) {
        if steps.is_empty() {
            return;
        }
        let (hidden_min, hidden_max) = ink.hidden(y);
        let mut error = steps.start as u64 * slope;
        for step in steps {
            let x = self.upper.x + self.direction * step;
            if x < hidden_min || x > hidden_max {
                ink.soft(x, y, (error >> 24 & 255) as u32 ^ flip);
            }
            error += slope;
        }
    }
}

/// A solid run without its hidden part.
fn solid(ink: &mut impl Ink, x0: i32, x1: i32, y: i32) {
    let (hidden_min, hidden_max) = ink.hidden(y);
    if hidden_min > hidden_max {
        return ink.solid(x0, x1, y);
    }
    if x0 < hidden_min {
        ink.solid(x0, x1.min(hidden_min - 1), y);
    }
    if x1 > hidden_max {
        ink.solid(x0.max(hidden_max + 1), x1, y);
    }
}
