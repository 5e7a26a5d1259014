//! Where the edges of a simple polygon cross the rows, eight rows at a time: the two crossings of each row.
//!
//! The rules are those of [`Crossings`](crate::crossings::Crossings), which takes the polygons that cross a
//! row more than twice.

use crate::Point;
use crate::crossings::Rule;
use std::ops::Range;

const LANES: usize = 8;

type Numbers = [i32; LANES];

/// What of a row is known: how many crossings, and the first two.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Block {
    count: Numbers,
    first: Numbers,
    second: Numbers,
}

/// The crossings of one polygon; reused from polygon to polygon.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    rows: Range<i32>,
    blocks: Vec<Block>,
}

/// An edge with its upper end first.
#[derive(Clone, Copy)]
struct Edge {
    x: i32,
    dx: i32,
    top: i32,
    height: i32,
}

/// The tallest edge and the farthest column that are computed here: beyond, C's integers wrap.
const FAR: i32 = 1 << 14;

#[inline(always)]
fn each(mut number: impl FnMut(usize) -> i32) -> Numbers {
    let mut numbers = [0; LANES];
    for (lane, value) in numbers.iter_mut().enumerate() {
        *value = number(lane);
    }
    numbers
}

/// `a` where the mask is set, else `b`.
#[inline(always)]
fn chosen(mask: &Numbers, a: &Numbers, b: &Numbers) -> Numbers {
    each(|lane| (mask[lane] & a[lane]) | (!mask[lane] & b[lane]))
}

impl Pairs {
    /// Collects the crossings of the closed polygon with those of its rows that are in `window`; false if a
    /// row has more than two, or a coordinate is far outside.
    #[inline(always)]
    pub fn collect(&mut self, points: &[Point], rule: Rule, window: &Range<i32>) -> bool {
        let (mut top, mut bottom, mut far) = (i32::MAX, i32::MIN, 0);
        for point in points {
            (top, bottom) = (top.min(point.y), bottom.max(point.y));
            far |= point.x.unsigned_abs() | point.y.unsigned_abs();
        }
        if far >= FAR as u32 {
            return false;
        }
        self.rows = top.max(window.start)..(bottom + 1).min(window.end);
        self.blocks.clear();
        if self.rows.is_empty() {
            return true;
        }
        let empty = Block { count: [0; LANES], first: [0; LANES], second: [0; LANES] };
        self.blocks.resize(self.rows.len().div_ceil(LANES), empty);
        let mut previous = points[points.len() - 1];
        let mut most = [0; LANES];
        for &point in points {
            let (a, b) = if previous.y < point.y { (previous, point) } else { (point, previous) };
            previous = point;
            if a.y != b.y {
                let end = if b.y == bottom { b.y + 1 } else { b.y };
                let rows = a.y.max(self.rows.start)..end.min(self.rows.end);
                let edge = Edge { x: a.x, dx: b.x - a.x, top: a.y, height: b.y - a.y };
                match rule {
                    Rule::SdlGfx => self.add(rows, &mut most, |steps| edge.fixed(steps)),
                    Rule::Pygame => self.add(rows, &mut most, |steps| edge.float(steps)),
                }
            }
        }
        most.iter().all(|&count| count <= 2)
    }

    /// Adds an edge's crossings in `rows`: rounded one way as the first of a row, another way as the second.
    #[inline(always)]
    fn add(&mut self, rows: Range<i32>, most: &mut Numbers, crossing: impl Fn(i32) -> [Numbers; 2]) {
        if rows.is_empty() {
            return;
        }
        let (start, end) = (rows.start - self.rows.start, rows.end - self.rows.start);
        let blocks = start as usize / LANES..(end - 1) as usize / LANES + 1;
        for (index, block) in blocks.clone().zip(&mut self.blocks[blocks]) {
            let row = (index * LANES) as i32;
            let [first, second] = crossing(self.rows.start + row);
            // Masks instead of branches: all lanes at once.
            let own = each(|lane| {
                let place = row + lane as i32;
                -i32::from(place >= start && place < end)
            });
            let is_first = each(|lane| own[lane] & -i32::from(block.count[lane] == 0));
            let is_second = each(|lane| own[lane] & -i32::from(block.count[lane] == 1));
            block.first = chosen(&is_first, &first, &block.first);
            block.second = chosen(&is_second, &second, &block.second);
            block.count = each(|lane| block.count[lane] - own[lane]);
            *most = each(|lane| most[lane].max(block.count[lane]));
        }
    }

    /// Blocks of eight rows.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The spans of a block, cut to columns `0..=far`: the first row, first and last columns. A row without a
    /// span has a first column above the last.
    #[inline(always)]
    pub fn spans(&self, index: usize, rule: Rule, far: i32) -> (i32, Numbers, Numbers) {
        let Block { count, first, second } = &self.blocks[index];
        let mut left = each(|lane| first[lane].min(second[lane]));
        let mut right = each(|lane| first[lane].max(second[lane]));
        if rule == Rule::SdlGfx {
            let a = each(|lane| round(left[lane].wrapping_add(1)));
            let b = each(|lane| round(right[lane].wrapping_sub(1)));
            left = each(|lane| a[lane].min(b[lane]));
            right = each(|lane| a[lane].max(b[lane]));
        }
        let is_span = each(|lane| -i32::from((count[lane] == 2) & (left[lane] <= far) & (right[lane] >= 0)));
        let (no_left, no_right) = ([i32::from(i16::MAX); LANES], [i32::from(i16::MIN); LANES]);
        let left = chosen(&is_span, &each(|lane| left[lane].max(0)), &no_left);
        let right = chosen(&is_span, &each(|lane| right[lane].min(far)), &no_right);
        (self.rows.start + (index * LANES) as i32, left, right)
    }
}

impl Edge {
    /// `65536 * (y - top) / height * dx + 65536 * x`, for eight rows from `row` on.
    #[inline(always)]
    fn fixed(&self, row: i32) -> [Numbers; 2] {
        let ratio = 65536.0 / self.height as f32;
        let steps = each(|lane| row + lane as i32 - self.top);
        let near = each(|lane| nearest(steps[lane] as f32 * ratio));
        // One too many or too few at most: the rest tells.
        let rest = each(|lane| (steps[lane] << 16).wrapping_sub(near[lane].wrapping_mul(self.height)));
        let crossing = each(|lane| {
            let part = near[lane] - i32::from(rest[lane] < 0) + i32::from(rest[lane] >= self.height);
            part.wrapping_mul(self.dx).wrapping_add(self.x << 16)
        });
        [crossing, crossing]
    }

    /// `(y - top) * dx / height` with the quotient in f32, downward and upward.
    #[inline(always)]
    fn float(&self, row: i32) -> [Numbers; 2] {
        let height = self.height as f32;
        let products = each(|lane| (row + lane as i32 - self.top).wrapping_mul(self.dx));
        let mut offsets = [0.0; LANES];
        for lane in 0..LANES {
            offsets[lane] = products[lane] as f32 / height;
        }
        let near = each(|lane| nearest(offsets[lane]));
        let mut back = [0.0; LANES];
        for lane in 0..LANES {
            back[lane] = near[lane] as f32;
        }
        let above = each(|lane| i32::from(back[lane] > offsets[lane]));
        let below = each(|lane| i32::from(back[lane] < offsets[lane]));
        let down = each(|lane| near[lane].wrapping_sub(above[lane]).wrapping_add(self.x));
        let up = each(|lane| near[lane].wrapping_add(below[lane]).wrapping_add(self.x));
        [down, up]
    }
}

/// The nearest integer of a number below 2^22; of others anything, which rows that are not the edge's may
/// have. Unlike Rust's saturating conversion this vectorises.
#[inline(always)]
fn nearest(value: f32) -> i32 {
    const SHIFT: f32 = 12_582_912.0;
    (value + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as i32
}

/// 16.16 fixed point to the nearest column.
#[inline(always)]
fn round(fixed: i32) -> i32 {
    (fixed >> 16) + ((fixed & 0x8000) >> 15)
}
