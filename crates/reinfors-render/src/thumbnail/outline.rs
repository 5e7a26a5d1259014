//! The soft pixels of an anti-aliased line as formulas of the row or of the column.
//!
//! A steep line has two pixels in each of its rows: sixteen rows are one computation. A flat one has two in
//! each of its columns.

use super::rows::{LANES, Lanes, Places, anew, mask};
use crate::fringe::{FringeLine, Run};

/// How a shape's rows become the output's: `row = offset + sign * y`, and the same back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub offset: i32,
    pub sign: i32,
}

impl Turn {
    #[inline(always)]
    pub const fn row(self, y: i32) -> i32 {
        self.offset + self.sign * y
    }
}

/// The opacity of a pixel that gets `weight` of 255 parts of the ink: `255 * weight / 256`.
#[inline(always)]
const fn opacity(weight: u16) -> u16 {
    weight.saturating_sub(1)
}

/// The two soft pixels in each of sixteen rows of a steep line: columns and opacities.
#[derive(Clone, Copy, Debug)]
pub(super) struct SteepRows {
    pub near: Places,
    pub near_opacity: Lanes,
    pub far: Places,
    pub far_opacity: Lanes,
}

/// A steep line: `rows` steps from its upper end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steep {
    pub x: i32,
    pub y: i32,
    pub direction: i32,
    pub rows: i32,
    /// Columns a row, in 1/65536.
    pub slope: u16,
}

impl Steep {
    /// Columns of the soft pixels in rows `y0..=y1`, of which those between the line's ends have some.
    #[inline(always)]
    pub fn columns(&self, y0: i32, y1: i32) -> Option<[i32; 2]> {
        let (first, last) = ((y0 - self.y).max(1), (y1 - self.y).min(self.rows - 1));
        if first > last {
            return None;
        }
        let aside = |step: i32| ((step as u32 * u32::from(self.slope)) >> 16) as i32;
        let (start, end) = (aside(first), aside(last) + 1);
        Some(if self.direction > 0 { [self.x + start, self.x + end] } else { [self.x - end, self.x - start] })
    }

    /// The pixels in sixteen output rows from `row` on.
    #[inline(always)]
    pub fn rows(&self, turn: Turn, row: i32) -> SteepRows {
        let step = turn.row(row) - self.y;
        let rows = self.rows as i16;
        let (x, direction) = (self.x as i16, self.direction as i16);
        let steps = Places::steps(step as i16, turn.sign);
        let unsigned = Lanes::from_fn(|lane| steps.0[lane] as u16);
        let aside = unsigned.high(*anew(&Lanes::splat(self.slope)));
        let weights = Lanes::from_fn(|lane| (steps.0[lane] as u16).wrapping_mul(self.slope) >> 8);
        let near = Places::from_fn(|lane| x.wrapping_add(direction.wrapping_mul(aside.0[lane] as i16)));
        let far = Places::from_fn(|lane| near.0[lane].wrapping_add(direction));
        let is_soft = |lane: usize| mask(steps.0[lane] > 0) & mask(steps.0[lane] < rows);
        SteepRows {
            near: near.settled(),
            near_opacity: Lanes::from_fn(|lane| opacity(255 - weights.0[lane]) & is_soft(lane)).settled(),
            far: far.settled(),
            far_opacity: Lanes::from_fn(|lane| opacity(weights.0[lane]) & is_soft(lane)).settled(),
        }
    }
}

/// A line that is not steep: `columns` steps aside from its upper end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat {
    pub x: i32,
    pub y: i32,
    pub direction: i32,
    pub columns: i32,
    /// Rows a column, in 1/65536.
    pub slope: u32,
}

impl Flat {
    /// The row of the upper soft pixel at a step.
    #[inline(always)]
    pub const fn down(&self, step: i32) -> i32 {
        self.y + ((step as u32 * self.slope) >> 16) as i32
    }

    /// The line for sixteen output rows from `row` on.
    #[inline(always)]
    pub fn rows(&self, turn: Turn, row: i32) -> FlatRows {
        FlatRows {
            direction: self.direction,
            steps: Places::steps((self.direction * -self.x) as i16, self.direction),
            columns: Places([self.columns as i16; LANES]),
            slope: Lanes::splat(self.slope as u16),
            diagonal: Lanes::splat(mask(self.slope > u32::from(u16::MAX))),
            y: Places([(turn.row(self.y) - row) as i16; LANES]),
            sign: Places([turn.sign as i16; LANES]),
        }
    }
}

/// A flat line for sixteen output rows: what is the same in all columns, in all lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatRows {
    direction: i32,
    /// The steps that are in the first columns.
    steps: Places,
    columns: Places,
    slope: Lanes,
    /// Whether the slope is one, which has no fraction and one bit too many.
    diagonal: Lanes,
    y: Places,
    pub sign: Places,
}

impl FlatRows {
    /// The pixels in sixteen columns from `left` on.
    #[inline(always)]
    pub fn block(&self, left: i32) -> FlatBlock {
        let shift = (self.direction * left) as i16;
        let steps =
            Places::from_fn(|lane| self.steps.0[lane].wrapping_add(shift).max(0).min(self.columns.0[lane]));
        let unsigned = Lanes::from_fn(|lane| steps.0[lane] as u16);
        let down = unsigned.high(self.slope);
        let weights = Lanes::from_fn(|lane| unsigned.0[lane].wrapping_mul(self.slope.0[lane]) >> 8);
        let is_soft = |lane: usize| mask(steps.0[lane] > 0) & mask(steps.0[lane] < self.columns.0[lane]);
        let near_row = Places::from_fn(|lane| {
            let down = down.0[lane].wrapping_add(unsigned.0[lane] & self.diagonal.0[lane]) as i16;
            self.y.0[lane].wrapping_add(self.sign.0[lane].wrapping_mul(down))
        });
        FlatBlock {
            near: Lanes::from_fn(|lane| opacity(255 - weights.0[lane]) & is_soft(lane)),
            far: Lanes::from_fn(|lane| opacity(weights.0[lane]) & is_soft(lane)),
            near_row,
            far_row: Places::from_fn(|lane| near_row.0[lane].wrapping_add(self.sign.0[lane])),
        }
    }
}

/// Sixteen columns: rows, relative to the strip, and opacities of the two soft pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatBlock {
    pub near: Lanes,
    pub far: Lanes,
    pub near_row: Places,
    pub far_row: Places,
}

/// The soft part of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Soft {
    Steep(Steep),
    Flat(Flat),
}

impl Soft {
    /// The soft part of `line`, if it has one.
    #[inline(always)]
    pub fn of(line: &FringeLine) -> Option<Self> {
        let (x, y, direction) = (line.upper.x, line.upper.y, line.direction);
        match line.run {
            Run::Steep { rows, slope } => {
                Some(Self::Steep(Steep { x, y, direction, rows, slope: slope as u16 }))
            }
            // The first step is not drawn, nor is the end.
            Run::Flat { columns: 1, .. } => None,
            Run::Flat { columns, slope } => Some(Self::Flat(Flat { x, y, direction, columns, slope })),
            Run::Vertical { .. } | Run::Horizontal { .. } => None,
        }
    }
}
