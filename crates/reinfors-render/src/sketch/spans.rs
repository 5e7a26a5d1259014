//! The spans of `pygame.draw.polygon`, edge by edge, so that the divisions of an edge run side by side.

use crate::Point;
use std::ops::Range;

/// Where the edges of a polygon cross its rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    /// Crossings of each row so far.
    counts: Vec<usize>,
    /// Crossings, as many places to a row as the polygon has corners.
    crossings: Vec<i32>,
}

impl Spans {
    /// Calls `span(x0, x1, y)`, ends included, for each span of the closed polygon with a row in `window`.
    ///
    /// Crossings are rounded down and up in turn, in the order of the edges, and an edge owns its last row
    /// only at the polygon's foot (`draw_fillpoly`).
    #[inline(always)]
    pub fn each(&mut self, points: &[Point], window: &Range<i32>, mut span: impl FnMut(i32, i32, i32)) {
        let Some(&last) = points.last() else { return };
        let bounds = |part: fn(&Point) -> i32| {
            points.iter().map(part).fold((i32::MAX, i32::MIN), |(low, high), at| (low.min(at), high.max(at)))
        };
        let ((left, right), (top, bottom)) = (bounds(|p| p.x), bounds(|p| p.y));
        let rows = top.max(window.start)..bottom.saturating_add(1).min(window.end);
        if rows.is_empty() {
            return;
        }
        if top == bottom {
            return span(left, right, top);
        }
        self.counts.clear();
        self.counts.resize(rows.len(), 0);
        if self.crossings.len() < rows.len() * points.len() {
            self.crossings.resize(rows.len() * points.len(), 0);
        }
        let mut previous = last;
        for &point in points {
            let (upper, lower) = if previous.y < point.y { (previous, point) } else { (point, previous) };
            let end = if lower.y == bottom { lower.y.saturating_add(1) } else { lower.y };
            if upper.y != lower.y {
                self.cross(
                    points.len(),
                    upper,
                    lower,
                    upper.y.max(rows.start)..end.min(rows.end),
                    rows.start,
                );
            }
            previous = point;
        }
        for (row, y) in rows.clone().enumerate() {
            let crossings = &mut self.crossings[row * points.len()..][..self.counts[row]];
            match crossings {
                [a, b] => span((*a).min(*b), (*a).max(*b), y),
                _ => {
                    crossings.sort_unstable();
                    crossings.chunks_exact(2).for_each(|pair| span(pair[0], pair[1], y));
                }
            }
        }
        // The crossings miss level edges between top and bottom.
        let mut previous = last;
        for &point in points {
            if previous.y == point.y && top < point.y && point.y < bottom && rows.contains(&point.y) {
                span(previous.x.min(point.x), previous.x.max(point.x), point.y);
            }
            previous = point;
        }
    }

    /// Adds one edge's crossings, computed as pygame does: the product in int, the quotient in f32.
    #[inline(always)]
    fn cross(&mut self, places: usize, upper: Point, lower: Point, rows: Range<i32>, first: i32) {
        let (width, height) = (lower.x.wrapping_sub(upper.x), lower.y.wrapping_sub(upper.y) as f32);
        for y in rows {
            let offset = y.wrapping_sub(upper.y).wrapping_mul(width) as f32 / height;
            let row = (y - first) as usize;
            let count = &mut self.counts[row];
            let whole = offset as i32;
            let rounded = if *count % 2 == 1 {
                whole + i32::from((whole as f32) < offset)
            } else {
                whole - i32::from(whole as f32 > offset)
            };
            self.crossings[row * places + *count] = rounded.wrapping_add(upper.x);
            *count += 1;
        }
    }
}
