//! The soft pixels of an anti-aliased line as formulas of the row or of the column.
//!
//! A steep line has two pixels in each of its rows: sixteen rows are one computation. A flat one has two in
//! each of its columns.

use super::rows::{LANES, Lanes, Places};
use crate::fringe::{FringeLine, Run};
use std::ops::{Range, RangeInclusive};

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

/// The opacity of a pixel that gets `weight` of 255 parts of the ink.
#[inline(always)]
const fn opacity(weight: u16) -> u16 {
    (255 * weight) >> 8
}

/// The soft pixels of sixteen rows of a cell.
pub(super) trait Opacities {
    /// The opacities in column `x`, relative to the window.
    fn opacities(&self, x: i16) -> Lanes;

    /// The columns of so many that may have some.
    fn columns(&self, len: usize) -> Range<usize>;
}

/// No soft pixels.
pub(super) struct Hard;

impl Opacities for Hard {
    #[inline(always)]
    fn opacities(&self, _: i16) -> Lanes {
        Lanes::ZERO
    }

    #[inline(always)]
    fn columns(&self, _: usize) -> Range<usize> {
        0..0
    }
}

/// The soft pixels of a steep line in sixteen rows: columns, relative to the window, and opacities.
#[derive(Clone, Copy, Debug)]
pub(super) struct SteepRows {
    near: Places,
    near_opacity: Lanes,
    far: Places,
    far_opacity: Lanes,
    /// The columns that may have one.
    columns: [i32; 2],
}

impl Opacities for SteepRows {
    #[inline(always)]
    fn opacities(&self, x: i16) -> Lanes {
        Lanes::from_fn(|lane| {
            let near = if self.near.0[lane] == x { self.near_opacity.0[lane] } else { 0 };
            let far = if self.far.0[lane] == x { self.far_opacity.0[lane] } else { 0 };
            near | far
        })
    }

    #[inline(always)]
    fn columns(&self, len: usize) -> Range<usize> {
        let [first, last] = self.columns;
        let start = first.clamp(0, len as i32) as usize;
        start..((last + 1).clamp(0, len as i32) as usize).max(start)
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

    /// The pixels in sixteen output rows from `row` on.
    #[inline(always)]
    pub fn rows(&self, turn: Turn, row: i32, left: i32) -> SteepRows {
        let step = turn.row(row) - self.y;
        let columns = if turn.sign > 0 {
            self.columns(step + self.y, step + self.y + LANES as i32 - 1)
        } else {
            self.columns(step + self.y - (LANES as i32 - 1), step + self.y)
        };
        let (step, sign, rows) = (step as i16, turn.sign as i16, self.rows as i16);
        let (x, direction) = ((self.x - left) as i16, self.direction as i16);
        let steps = Places::from_fn(|lane| step.wrapping_add(sign.wrapping_mul(lane as i16)));
        let aside =
            Lanes::from_fn(|lane| ((u32::from(steps.0[lane] as u16) * u32::from(self.slope)) >> 16) as u16);
        let weights = Lanes::from_fn(|lane| (steps.0[lane] as u16).wrapping_mul(self.slope) >> 8);
        let near = Places::from_fn(|lane| x.wrapping_add(direction.wrapping_mul(aside.0[lane] as i16)));
        let far = Places::from_fn(|lane| near.0[lane].wrapping_add(direction));
        let soft = |lane: usize, weight: u16| {
            if steps.0[lane] > 0 && steps.0[lane] < rows { opacity(weight) } else { 0 }
        };
        SteepRows {
            near,
            near_opacity: Lanes::from_fn(|lane| soft(lane, 255 - weights.0[lane])),
            far,
            far_opacity: Lanes::from_fn(|lane| soft(lane, weights.0[lane])),
            columns: columns.map_or([0, -1], |columns| columns.map(|x| x - left)),
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
    /// The steps that are in columns `x0..=x1`.
    #[inline(always)]
    pub fn steps(&self, x0: i32, x1: i32) -> RangeInclusive<i32> {
        let (first, last) =
            if self.direction > 0 { (x0 - self.x, x1 - self.x) } else { (self.x - x1, self.x - x0) };
        first.max(1)..=last.min(self.columns - 1)
    }

    /// The rows of the soft pixels in columns `x0..=x1`, before any flip.
    #[inline(always)]
    pub fn rows(&self, x0: i32, x1: i32) -> Option<[i32; 2]> {
        let steps = self.steps(x0, x1);
        (!steps.is_empty()).then(|| [self.down(*steps.start()), self.down(*steps.end()) + 1])
    }

    #[inline(always)]
    const fn down(&self, step: i32) -> i32 {
        self.y + ((step as u32 * self.slope) >> 16) as i32
    }

    /// Works out the columns `left..left + len` for sixteen output rows from `row` on.
    #[inline(always)]
    pub fn columns(&self, turn: Turn, row: i32, left: i32, len: usize, columns: &mut FlatColumns) {
        columns.blocks.clear();
        let slope = self.slope;
        for start in (0..len).step_by(LANES) {
            let first = self.direction * (left + start as i32 - self.x);
            let mut block = FlatBlock::NONE;
            for lane in 0..LANES {
                let step = first + self.direction * lane as i32;
                let down = (step as u32).wrapping_mul(slope);
                let y = self.y.wrapping_add((down >> 16) as i32);
                let is_soft = if step > 0 && step < self.columns { u16::MAX } else { 0 };
                let weight = down as u16 >> 8;
                block.near[lane] = opacity(255 - weight) & is_soft;
                block.far[lane] = opacity(weight) & is_soft;
                block.near_row[lane] = turn.row(y).wrapping_sub(row) as i16;
                block.far_row[lane] = turn.row(y.wrapping_add(1)).wrapping_sub(row) as i16;
            }
            columns.blocks.push(block);
        }
    }
}

/// The soft pixels of a flat line in the columns of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct FlatColumns {
    blocks: Vec<FlatBlock>,
}

/// Sixteen columns: rows, relative to the strip, and opacities of the two soft pixels.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct FlatBlock {
    near: [u16; LANES],
    far: [u16; LANES],
    near_row: [i16; LANES],
    far_row: [i16; LANES],
}

impl FlatBlock {
    const NONE: Self = Self { near: [0; LANES], far: [0; LANES], near_row: [0; LANES], far_row: [0; LANES] };
}

impl Opacities for FlatColumns {
    #[inline(always)]
    fn opacities(&self, x: i16) -> Lanes {
        let column = usize::from(x as u16);
        let block = &self.blocks[column / LANES];
        let column = column % LANES;
        let (near, far) = (block.near[column], block.far[column]);
        let (near_row, far_row) = (block.near_row[column], block.far_row[column]);
        Lanes::from_fn(|lane| {
            let near = if lane as i16 == near_row { near } else { 0 };
            let far = if lane as i16 == far_row { far } else { 0 };
            near | far
        })
    }

    #[inline(always)]
    fn columns(&self, len: usize) -> Range<usize> {
        0..len
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
            Run::Flat { columns, slope } => Some(Self::Flat(Flat { x, y, direction, columns, slope })),
            Run::Vertical { .. } | Run::Horizontal { .. } => None,
        }
    }
}
