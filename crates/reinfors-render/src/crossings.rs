//! Where a polygon's edges cross the scanlines, and the spans that follow: the fill rules of SDL_gfx and
//! pygame.
//!
//! Both sort the crossings of a row and fill between pairs, ends included; they differ in how a crossing is
//! rounded. Work goes edge by edge, so that a division becomes a running remainder.

use crate::Point;
use std::ops::Range;

/// How a crossing becomes a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `gfxdraw.filled_polygon`: 16.16 fixed point, a hair inward, then rounded.
    SdlGfx,
    /// `pygame.draw.polygon`: f32, downward for even crossings and upward for odd ones, in edge order.
    Pygame,
}

/// The crossings of one polygon over a range of rows; reused from polygon to polygon.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossings {
    rows: Range<i32>,
    /// Crossings of each row so far.
    counts: Vec<usize>,
    /// Crossings, `stride` slots to a row.
    slots: Vec<i32>,
    stride: usize,
}

/// An edge with its upper end first.
#[derive(Clone, Copy)]
struct Edge {
    x: i32,
    dx: i32,
    top: i32,
    bottom: i32,
}

impl Crossings {
    /// Collects and sorts the crossings of the closed polygon with those of its rows that are in `window`.
    pub fn collect(&mut self, points: &[Point], rule: Rule, window: &Range<i32>) {
        let top = points.iter().map(|p| p.y).min().unwrap_or(0);
        let bottom = points.iter().map(|p| p.y).max().unwrap_or(-1);
        self.rows = top.max(window.start)..(bottom.saturating_add(1)).min(window.end);
        if self.rows.is_empty() {
            self.rows = 0..0;
            return;
        }
        self.stride = points.len();
        let height = self.rows.len();
        self.counts.clear();
        self.counts.resize(height, 0);
        if self.slots.len() < height * self.stride {
            self.slots.resize(height * self.stride, 0);
        }
        let mut previous = points[points.len() - 1];
        for &point in points {
            let (a, b) = if previous.y < point.y { (previous, point) } else { (point, previous) };
            previous = point;
            if a.y != b.y {
                self.add(Edge { x: a.x, dx: b.x.wrapping_sub(a.x), top: a.y, bottom: b.y }, bottom, rule);
            }
        }
        for row in 0..height {
            let crossed = &mut self.slots[row * self.stride..][..self.counts[row]];
            match crossed {
                [a, b] => (*a, *b) = (*a.min(b), *a.max(b)),
                _ => crossed.sort_unstable(),
            }
        }
    }

    /// The rows collected, before any flip.
    pub fn rows(&self) -> Range<i32> {
        self.rows.clone()
    }

    /// The filled spans of row `y`, ends included and in order of their ends.
    #[inline]
    pub fn spans(&self, y: i32, rule: Rule) -> impl Iterator<Item = (i32, i32)> {
        let row = (y - self.rows.start) as usize;
        let crossed = &self.slots[row * self.stride..][..self.counts[row]];
        crossed.chunks_exact(2).map(move |pair| match rule {
            Rule::SdlGfx => {
                let (a, b) = (round(pair[0].wrapping_add(1)), round(pair[1].wrapping_sub(1)));
                (a.min(b), a.max(b))
            }
            Rule::Pygame => (pair[0], pair[1]),
        })
    }

    /// An edge owns its rows but the last, which counts only at the polygon's own bottom.
    #[inline]
    fn add(&mut self, edge: Edge, polygon_bottom: i32, rule: Rule) {
        let end = if edge.bottom == polygon_bottom { edge.bottom.saturating_add(1) } else { edge.bottom };
        let rows = edge.top.max(self.rows.start)..end.min(self.rows.end);
        if rows.is_empty() {
            return;
        }
        match rule {
            Rule::SdlGfx => self.add_fixed(edge, rows),
            Rule::Pygame => self.add_float(edge, rows),
        }
    }

    /// `65536 * (y - top) / (bottom - top) * dx + 65536 * x` in C's wrapping integers.
    fn add_fixed(&mut self, edge: Edge, rows: Range<i32>) {
        const ONE: i32 = 1 << 16;
        let height = edge.bottom - edge.top;
        if height >= ONE / 2 {
            // Taller than 16 bits count: the numerator itself wraps, so no running remainder.
            for y in rows {
                let part = ONE.wrapping_mul(y - edge.top) / height;
                self.push(y, part.wrapping_mul(edge.dx).wrapping_add(ONE.wrapping_mul(edge.x)));
            }
            return;
        }
        let numerator = ONE * (rows.start - edge.top);
        let (mut part, mut rest) = (numerator / height, numerator % height);
        let (step, rest_step) = (ONE / height, ONE % height);
        for y in rows {
            self.push(y, part.wrapping_mul(edge.dx).wrapping_add(ONE.wrapping_mul(edge.x)));
            part += step;
            rest += rest_step;
            if rest >= height {
                rest -= height;
                part += 1;
            }
        }
    }

    /// `(y - top) * dx / (bottom - top)` with the product in int and the quotient in f32.
    fn add_float(&mut self, edge: Edge, rows: Range<i32>) {
        let height = edge.bottom.wrapping_sub(edge.top) as f32;
        for y in rows {
            let offset = y.wrapping_sub(edge.top).wrapping_mul(edge.dx) as f32 / height;
            let whole = offset as i32;
            let is_odd = self.counts[(y - self.rows.start) as usize] % 2 == 1;
            let rounded = if is_odd {
                whole + i32::from((whole as f32) < offset)
            } else {
                whole - i32::from(whole as f32 > offset)
            };
            self.push(y, rounded.wrapping_add(edge.x));
        }
    }

    #[inline]
    fn push(&mut self, y: i32, crossing: i32) {
        let row = (y - self.rows.start) as usize;
        let count = &mut self.counts[row];
        self.slots[row * self.stride + *count] = crossing;
        *count += 1;
    }
}

/// 16.16 fixed point to the nearest column.
#[inline]
fn round(fixed: i32) -> i32 {
    (fixed >> 16) + ((fixed & 0x8000) >> 15)
}
