//! Edges with a flat line: it has two soft pixels in each column, so that columns are lanes and the two or three
//! rows that it crosses are steps.

use super::edge::{Cell, Fringe, Shape};
use super::outline::{Soft, Turn};
use super::rows::{Interval, LANES, LaneCount, Lanes, Places, anew, mask};
use std::ops::Range;

/// A flat line, as sixteen rows of a job see it.
pub(super) struct FlatRows {
    /// The slope, in all lanes; one has no fraction and one bit too many.
    slope: Lanes,
    diagonal: Lanes,
    /// The steps that are in the first columns.
    steps: Places,
    /// The steps that have soft pixels.
    soft: Interval,
    /// Columns a step and rows a row of its own: 1 or -1.
    direction: i32,
    sign: i16,
    /// The row that it begins in, counted from the first of the sixteen.
    y: i16,
    /// Where it is in column 0 and how far it goes in each, in 1/65536 of a row.
    start: i64,
    step: i64,
}

impl FlatRows {
    /// The rows, before row `end`, in which columns `left..=right` may have soft pixels that show: the line lies in
    /// one of two neighbours, and in both unless it has just left one of them.
    #[inline(always)]
    fn crossed(&self, left: i32, right: i32, end: usize) -> Range<usize> {
        let (from, to) = (self.start + self.step * i64::from(left), self.step * i64::from(right - left));
        let (first, last) = (from.min(from + to) >> 16, from.max(from + to) >> 16);
        first.max(0) as usize..((last + 2).max(0) as usize).min(end)
    }
}

impl<const N: usize> Fringe<N> for FlatRows {
    const NONE: Self = Self {
        slope: Lanes::ZERO,
        diagonal: Lanes::ZERO,
        steps: Places([0; LANES]),
        soft: Interval::new(0, 0),
        direction: 0,
        sign: 0,
        y: 0,
        start: 0,
        step: 0,
    };

    #[inline(always)]
    fn prepare(&mut self, line: Option<&Soft>, turn: Turn, row: i32, _: &Shape<N>, lanes: LaneCount) {
        let Some(Soft::Flat(line)) = line else { unreachable!("a flat line") };
        let (first, direction) = ((line.direction * -line.x) as i16, line.direction as i16);
        self.slope = Lanes::splat(line.slope as u16);
        self.diagonal = Lanes::splat(mask(line.slope > u32::from(u16::MAX)));
        for lane in lanes {
            self.steps.0[lane] = first.wrapping_add(direction.wrapping_mul(lane as i16));
        }
        self.soft = Interval::new(1, line.columns as i16);
        let y = turn.row(line.y) - row;
        (self.direction, self.sign, self.y) = (line.direction, turn.sign as i16, y as i16);
        self.step = i64::from(turn.sign * line.direction) * i64::from(line.slope);
        self.start = (i64::from(y) << 16) - self.step * i64::from(line.x);
    }

    #[inline(always)]
    fn sum(&self, shape: &Shape<N>, cell: &Cell, sums: &mut [Lanes; N], lanes: LaneCount) {
        for lane in lanes {
            for (channel, sums) in sums.iter_mut().enumerate() {
                sums.0[lane] = shape.sum(cell.border, channel, lane, [0; 3]);
            }
        }
        let (mut left, end) = (i32::from(cell.border.start), i32::from(cell.border.last));
        for strip in 0..cell.columns.strips {
            let weights = cell.columns.strip(cell.column, strip);
            let crossed = self.crossed(left, end.min(left + LANES as i32 - 1), cell.rows);
            let (shift, numbers) = ((self.direction * left) as i16, anew(&NUMBERS));
            let xs = Places::from_fn(|lane| numbers.0[lane].wrapping_add(left as i16));
            let steps = Places::from_fn(|lane| self.steps.0[lane].wrapping_add(shift));
            let unsigned = Lanes::from_fn(|lane| steps.0[lane] as u16);
            let whole = unsigned.high(self.slope);
            let parts = Lanes::from_fn(|lane| unsigned.0[lane].wrapping_mul(self.slope.0[lane]) >> 8);
            let is_none = Places::from_fn(|lane| !self.soft.has(steps.0[lane]) as i16);
            let rows = Places::from_fn(|lane| {
                let down = whole.0[lane].wrapping_add(unsigned.0[lane] & self.diagonal.0[lane]) as i16;
                self.y.wrapping_add(self.sign.wrapping_mul(down))
            });
            let near_rows = Places::from_fn(|lane| rows.0[lane] | is_none.0[lane]);
            let far_rows = Places::from_fn(|lane| rows.0[lane].wrapping_add(self.sign) | is_none.0[lane]);
            // A channel after the other: the compiler takes the vectors of several apart.
            for (sums, levels) in sums.iter_mut().zip(&shape.channels) {
                // The opacity of a pixel that gets `part` of 255 parts is `255 * part / 256`.
                let near = Lanes::from_fn(|lane| levels.blended(254_u16.saturating_sub(parts.0[lane]), lane));
                let far = Lanes::from_fn(|lane| levels.blended(parts.0[lane].saturating_sub(1), lane));
                let empty = levels.four_under.high(*weights);
                let near = near.times_four().high(*weights).minus(empty);
                let far = far.times_four().high(*weights).minus(empty);
                for row in crossed.clone() {
                    let inside = shape.inside.get(row % LANES);
                    // Also tells the compiler not to take rows for lanes.
                    let at = *anew(&(row as i16));
                    let more = Lanes::from_fn(|lane| {
                        let near = mask(near_rows.0[lane] == at) & near.0[lane];
                        let far = mask(far_rows.0[lane] == at) & far.0[lane];
                        (near | far) & !inside.has(xs.0[lane])
                    });
                    // In the row's lane, all the same: what is written as a number is slow to be read as a vector.
                    let more = more.sum();
                    for (lane, sum) in sums.0.iter_mut().enumerate() {
                        *sum = sum.wrapping_add(more & mask(lane as i16 == at));
                    }
                }
            }
            left += LANES as i32;
        }
    }
}

/// The number of each lane.
static NUMBERS: Places = {
    let mut numbers = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        numbers[lane] = lane as i16;
        lane += 1;
    }
    Places(numbers)
};
