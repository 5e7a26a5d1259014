//! The anti-aliased outline of SDL_gfx (`_aalineColor`, no end point): what it comes to after clipping.
//!
//! Along its longer direction a line advances one pixel a step; the error's top eight bits share the ink
//! between the two pixels nearest across. The error is a multiple of the slope, so that any stretch can be
//! computed on its own.

use crate::clip::clip_segment;
use crate::{Point, Size};

/// A clipped line, its upper end first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FringeLine {
    /// The pixel drawn solid first: the clipped line's own start.
    pub start: Point,
    pub upper: Point,
    /// +1 or -1: where x goes as y grows.
    pub direction: i32,
    pub run: Run,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    /// Solid down to `bottom`, included.
    Vertical { bottom: i32 },
    /// Solid to `end`, included.
    Horizontal { end: i32 },
    /// `rows` steps down; x advances by `slope / 65536` a step. The first step is not drawn.
    Steep { rows: i32, slope: u32 },
    /// `columns` steps aside; y advances by `slope / 65536` a step. The first step is not drawn.
    Flat { columns: i32, slope: u32 },
}

impl FringeLine {
    /// The line from `a` to `b` as far as it lies on the surface.
    #[inline(always)]
    pub fn new(a: Point, b: Point, surface: Size) -> Option<Self> {
        let is_inside = |point: Point| {
            (0..surface.width as i32).contains(&point.x) && (0..surface.height as i32).contains(&point.y)
        };
        let (start, end) = if is_inside(a) && is_inside(b) { (a, b) } else { clip_segment(a, b, surface)? };
        Some(Self::inside(start, end))
    }

    /// The line between points of the surface.
    #[inline(always)]
    pub fn inside(start: Point, end: Point) -> Self {
        let (upper, lower) = if start.y > end.y { (end, start) } else { (start, end) };
        let (dx, rows) = (lower.x - upper.x, lower.y - upper.y);
        let direction = if dx >= 0 { 1 } else { -1 };
        let columns = dx.abs();
        let slope = |minor: i32, major: i32| ((minor as u32) << 16) / major as u32;
        let run = if columns == 0 {
            Run::Vertical { bottom: lower.y }
        } else if rows == 0 {
            Run::Horizontal { end: lower.x }
        } else if rows > columns {
            Run::Steep { rows, slope: slope(columns, rows) }
        } else {
            Run::Flat { columns, slope: slope(rows, columns) }
        };
        Self { start, upper, direction, run }
    }
}
