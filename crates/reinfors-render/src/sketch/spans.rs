//! The spans of `pygame.draw.polygon`, edge by edge, so that the rows of an edge are lanes.
//!
//! Most polygons cross each of their rows twice. One that crosses a row more often is taken again, row by
//! row.

use crate::Point;
use std::ops::Range;

/// Where the edges of a polygon cross its rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    /// Crossings of each row so far.
    counts: Vec<i32>,
    /// The first of them, and the last one.
    firsts: Vec<i32>,
    lasts: Vec<i32>,
    /// All of a row.
    crossings: Vec<i32>,
    /// The pixels of each row.
    masks: Vec<u64>,
}

impl Spans {
    /// The pixels of the closed polygon in the rows of `window`, a word of bits to a row, of which the lowest
    /// is pixel `left` and the highest used one is pixel `right`; and the first of the rows.
    ///
    /// Crossings are rounded down and up in turn, in the order of the edges, and an edge owns its last row
    /// only at the polygon's foot (`draw_fillpoly`).
    #[inline(always)]
    pub fn fill(&mut self, points: &[Point], window: &Range<i32>, [left, right]: [i32; 2]) -> (i32, &[u64]) {
        let (mut west, mut east, mut top, mut bottom) = (i32::MAX, i32::MIN, i32::MAX, i32::MIN);
        for point in points {
            (west, east) = (west.min(point.x), east.max(point.x));
            (top, bottom) = (top.min(point.y), bottom.max(point.y));
        }
        let rows = top.max(window.start)..bottom.saturating_add(1).min(window.end);
        let (Some(&corner), false) = (points.last(), rows.is_empty()) else { return (top, &[]) };
        let count = rows.len();
        if self.counts.len() < count {
            self.counts.resize(count, 0);
            self.firsts.resize(count, 0);
            self.lasts.resize(count, 0);
            self.masks.resize(count, 0);
        }
        if top == bottom {
            self.masks[0] = mask(west, east, left, right);
            return (top, &self.masks[..1]);
        }
        self.counts[..count].fill(0);
        let mut previous = corner;
        for &point in points {
            let edge = Edge::new(previous, point, bottom);
            self.cross(&edge, edge.rows.start.max(rows.start)..edge.rows.end.min(rows.end), rows.start);
            previous = point;
        }
        let (counts, firsts) = (&self.counts[..count], &self.firsts[..count]);
        let (lasts, masks) = (&self.lasts[..count], &mut self.masks[..count]);
        let mut are_pairs = true;
        for row in 0..count {
            let (first, last) = (firsts[row], lasts[row]);
            masks[row] = mask(first.min(last), first.max(last), left, right);
            are_pairs &= counts[row] == 2;
        }
        if !are_pairs {
            self.fill_by_row(points, &rows, [left, right]);
        }
        // The crossings miss level edges between top and bottom.
        let mut previous = corner;
        for &point in points {
            if previous.y == point.y && top < point.y && point.y < bottom && rows.contains(&point.y) {
                let (x0, x1) = (previous.x.min(point.x), previous.x.max(point.x));
                self.masks[(point.y - rows.start) as usize] |= mask(x0, x1, left, right);
            }
            previous = point;
        }
        (rows.start, &self.masks[..count])
    }

    /// Fills the rows that are not crossed twice.
    fn fill_by_row(&mut self, points: &[Point], rows: &Range<i32>, [left, right]: [i32; 2]) {
        let Some(&corner) = points.last() else { return };
        let bottom = points.iter().fold(corner.y, |bottom, point| bottom.max(point.y));
        for (row, y) in rows.clone().enumerate().filter(|(row, _)| self.counts[*row] != 2) {
            self.crossings.clear();
            let mut previous = corner;
            for &point in points {
                let edge = Edge::new(previous, point, bottom);
                if edge.rows.contains(&y) {
                    self.crossings.push(edge.crossing(y, self.crossings.len() % 2 == 1));
                }
                previous = point;
            }
            self.crossings.sort_unstable();
            let pairs = self.crossings.chunks_exact(2);
            self.masks[row] = pairs.fold(0, |bits, pair| bits | mask(pair[0], pair[1], left, right));
        }
    }

    /// Adds one edge's crossings in `rows`.
    #[inline(always)]
    fn cross(&mut self, edge: &Edge, rows: Range<i32>, first: i32) {
        if rows.is_empty() {
            return;
        }
        let (start, end) = ((rows.start - first) as usize, (rows.end - first) as usize);
        let counts = &mut self.counts[start..end];
        let firsts = &mut self.firsts[start..end];
        let lasts = &mut self.lasts[start..end];
        for row in 0..end - start {
            let is_second = counts[row] == 1;
            let at = edge.crossing(rows.start + row as i32, is_second);
            firsts[row] = if is_second { firsts[row] } else { at };
            lasts[row] = at;
            counts[row] += 1;
        }
    }
}

/// Pixels `x0..=x1` as far as they are among `left..=right`, which is the lowest bit to at most the highest.
#[inline(always)]
pub(super) fn mask(x0: i32, x1: i32, left: i32, right: i32) -> u64 {
    let (x0, x1) = (x0.max(left), x1.min(right));
    let covered =
        (u64::MAX >> (63_i32.wrapping_sub(x1.wrapping_sub(x0)) & 63)) << (x0.wrapping_sub(left) & 63);
    if x0 <= x1 { covered } else { 0 }
}

/// An edge of a polygon and the rows that it crosses.
struct Edge {
    upper: Point,
    width: i32,
    height: f32,
    rows: Range<i32>,
}

impl Edge {
    /// Between two corners of a polygon whose foot is row `bottom`.
    #[inline(always)]
    fn new(a: Point, b: Point, bottom: i32) -> Self {
        let (upper, lower) = if a.y < b.y { (a, b) } else { (b, a) };
        let end = if lower.y == bottom { lower.y.saturating_add(1) } else { lower.y };
        let end = if upper.y == lower.y { upper.y } else { end };
        let (width, height) = (lower.x.wrapping_sub(upper.x), lower.y.wrapping_sub(upper.y) as f32);
        Self { upper, width, height, rows: upper.y..end }
    }

    /// Where it crosses a row, computed as pygame does: the product in int, the quotient in f32.
    #[inline(always)]
    fn crossing(&self, y: i32, rounds_up: bool) -> i32 {
        let offset = y.wrapping_sub(self.upper.y).wrapping_mul(self.width) as f32 / self.height;
        let whole = offset as i32;
        let up = whole + i32::from((whole as f32) < offset);
        let down = whole - i32::from(whole as f32 > offset);
        self.upper.x.wrapping_add(if rounds_up { up } else { down })
    }
}
