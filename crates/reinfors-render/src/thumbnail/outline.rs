//! The soft part of an anti-aliased line: two pixels in each row of a steep line, two in each column of a flat
//! one.

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
