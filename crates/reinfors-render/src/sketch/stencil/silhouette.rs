//! Polygons of one colour that lie where they lay before: a car that the view turns with is drawn once for
//! many frames.
//!
//! Only the polygons that end a run are looked at, where nothing covers them.

use super::super::spans::{Spans, mask};
use crate::Point;
use crate::scene::{Item, Scene, Shape};
use std::ops::Range;

/// The outline of a few polygons together, with the corners it was drawn from.
#[derive(Clone, Debug, Default)]
pub(super) struct Silhouette {
    points: Vec<Point>,
    /// Corners of each polygon.
    counts: Vec<usize>,
    left: i32,
    top: i32,
    /// Bits of the rows from `top` on, from pixel `left` on; rows as the polygons name them.
    rows: Vec<u64>,
    /// The same from another pixel on.
    shifted: Vec<u64>,
}

impl Silhouette {
    /// How many items at the end of a run are polygons of one colour.
    #[inline(always)]
    pub fn count(run: &[Item]) -> usize {
        let Some(last) = run.last() else { return 0 };
        let belongs =
            |item: &&Item| item.colour == last.colour && matches!(item.shape, Shape::Polygon { .. });
        run.iter().rev().take_while(belongs).count()
    }

    /// Makes this the silhouette of polygons. False if they are too wide for it.
    #[inline(always)]
    pub fn update(&mut self, scene: &Scene, polygons: &[Item], spans: &mut Spans) -> bool {
        let corners = || {
            polygons.iter().map(|item| match &item.shape {
                Shape::Polygon { points } => scene.points(points),
                _ => &[],
            })
        };
        let is_same = self.counts.iter().copied().eq(corners().map(<[Point]>::len))
            && corners().flatten().eq(&self.points);
        if is_same {
            return true;
        }
        let bounds = |part: fn(&Point) -> i32| {
            corners()
                .flatten()
                .map(part)
                .fold((i32::MAX, i32::MIN), |(low, high), at| (low.min(at), high.max(at)))
        };
        let ((left, right), (top, bottom)) = (bounds(|point| point.x), bounds(|point| point.y));
        let (width, height) = (i64::from(right) - i64::from(left), i64::from(bottom) - i64::from(top));
        if width >= i64::from(u64::BITS) || height > MOST_ROWS {
            return false;
        }
        self.counts.clear();
        self.points.clear();
        self.rows.clear();
        self.rows.resize(height as usize + 1, 0);
        (self.left, self.top) = (left, top);
        for corners in corners() {
            self.counts.push(corners.len());
            self.points.extend_from_slice(corners);
            let (first, masks) = spans.fill(corners, &(top..bottom + 1), [left, right]);
            for (row, mask) in self.rows[(first - top) as usize..].iter_mut().zip(masks) {
                *row |= mask;
            }
        }
        true
    }

    /// The bits of the rows that are in `window`, counted from pixel `left` on and up to pixel `right`; and the
    /// first of the rows.
    #[inline(always)]
    pub fn seen(&mut self, left: i32, right: i32, window: &Range<i32>) -> (i32, &[u64]) {
        let first = self.top.max(window.start);
        let end = (self.top + self.rows.len() as i32).min(window.end);
        if end <= first {
            return (first, &[]);
        }
        let rows = &self.rows[(first - self.top) as usize..(end - self.top) as usize];
        let (shift, inside) = (self.left - left, mask(left, right, left, right));
        self.shifted.clear();
        self.shifted.extend_from_slice(rows);
        for row in &mut self.shifted {
            *row = inside
                & if shift >= 0 {
                    row.checked_shl(shift as u32).unwrap_or(0)
                } else {
                    row.checked_shr(shift.unsigned_abs()).unwrap_or(0)
                };
        }
        (first, &self.shifted)
    }
}

/// Rows of the largest silhouette.
const MOST_ROWS: i64 = 1000;
