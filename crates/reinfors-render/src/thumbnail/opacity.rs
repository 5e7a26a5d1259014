//! How opaque the soft pixels of a line are in each column of a cell, sixteen rows at a time.
//!
//! A step of a line is shared by a near and a far pixel, beside each other. Both opacities are one formula of the
//! *offset*: how far the line lies beyond a pixel, in 1/256 of one. It is 0 to 255 for the near pixel, -256 to
//! -1 for the far one, and beyond for all others, which the line leaves alone.

use super::outline::{Flat, Steep, Turn};
use super::rows::{LANES, Lanes, Places, mask};
use std::ops::Range;

/// The offset of pixels that belong to no step.
const NOWHERE: u16 = 0x4000;

/// 1/256 of a pixel in one.
const PIXEL: i32 = 256;

/// Rows of a cell that are drawn at a time, no more than [`LANES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub first: i32,
    pub count: i32,
}

/// The offsets that are to be taken off from the first of sixteen rows on, forward and back.
static ROWS: [Lanes; 2] = {
    let mut rows = [[0; LANES]; 2];
    let mut lane = 0;
    while lane < LANES {
        (rows[0][lane], rows[1][lane]) = ((PIXEL * lane as i32) as u16, (-PIXEL * lane as i32) as u16);
        lane += 1;
    }
    [Lanes(rows[0]), Lanes(rows[1])]
};

/// The offsets of a line in sixteen rows of a cell, or in its columns, and how those across go on from there. They
/// lie in memory: of vectors that it knows the lanes of, the compiler makes numbers.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    lanes: Vec<u16>,
    /// What each column makes less, where a line is steep.
    step: u16,
    /// What each row makes less, where it is flat.
    rows: Lanes,
}

impl Offsets {
    /// For cells of up to so many columns.
    pub fn new(width: usize) -> Self {
        Self { lanes: vec![0; width.next_multiple_of(LANES)], step: 0, rows: Lanes::ZERO }
    }

    /// Begins with a steep line: the first and the last column, counted from the first of `columns`, in which some
    /// rows of a cell have soft pixels.
    #[inline(always)]
    pub fn begin_steep(
        &mut self,
        line: &Steep,
        turn: Turn,
        rows: Rows,
        columns: Range<i32>,
    ) -> Option<[i16; 2]> {
        let (a, b) = (turn.row(rows.first), turn.row(rows.first + rows.count - 1));
        let [first, last] = line.columns(a.min(b), a.max(b))?;
        let (first, last) = (first.max(columns.start), last.min(columns.end - 1));
        if first > last {
            return None;
        }
        let step = PIXEL * line.direction;
        self.step = step as u16;
        let steps = Places::steps((a - line.y) as i16, turn.sign);
        let offsets = offsets(steps, (step * (line.x - first)) as u16, line.slope.into(), line.rows);
        self.lanes[..LANES].copy_from_slice(&offsets.0);
        Some([(first - columns.start) as i16, (last - columns.start) as i16])
    }

    /// The opacities of a steep line in a column, counted from the first that has any.
    #[inline(always)]
    pub fn steep(&self, column: i16) -> Lanes {
        let aside = (column as u16).wrapping_mul(self.step);
        let (lanes, _) = self.lanes.as_chunks();
        opacity(Lanes(lanes[0]).minus(Lanes::splat(aside)))
    }

    /// Begins with a flat line: the last column that it may reach, counted from the first of `columns`, if it
    /// has soft pixels there in some rows of a cell.
    #[inline(always)]
    pub fn begin_flat(&mut self, line: &Flat, turn: Turn, rows: Rows, columns: Range<i32>) -> Option<i16> {
        let start = (PIXEL * turn.sign * (turn.row(line.y) - rows.first)) as u16;
        self.rows = ROWS[usize::from(turn.sign < 0)];
        let (mut left, mut is_near) = (columns.start, false);
        let (lanes, _) = self.lanes.as_chunks_mut();
        for lanes in &mut lanes[..columns.len().div_ceil(LANES)] {
            let right = (left + LANES as i32).min(columns.end);
            // Where it is farther, its offset might come round.
            if line.reaches(turn, rows, left..right) {
                is_near = true;
                let steps = Places::steps((line.direction * (left - line.x)) as i16, line.direction);
                *lanes = offsets(steps, start, line.slope, line.columns).0;
            } else {
                *lanes = [NOWHERE; LANES];
            }
            left = right;
        }
        let last = if line.direction > 0 { line.x + line.columns } else { line.x } - 1;
        is_near.then_some((last - columns.start) as i16)
    }

    /// The opacities of a flat line in a column, counted from the first.
    #[inline(always)]
    pub fn flat(&self, column: i16) -> Lanes {
        opacity(Lanes::splat(self.lanes[usize::from(column as u16)]).minus(self.rows))
    }
}

impl Flat {
    /// Whether it has soft pixels in some columns and in some rows of a cell.
    #[inline(always)]
    fn reaches(&self, turn: Turn, rows: Rows, columns: Range<i32>) -> bool {
        let (a, b) = (self.direction * (columns.start - self.x), self.direction * (columns.end - 1 - self.x));
        let (first, last) = (a.min(b).max(1), a.max(b).min(self.columns - 1));
        if first > last {
            return false;
        }
        let (a, b) = (turn.row(self.down(first)) - rows.first, turn.row(self.down(last) + 1) - rows.first);
        a.min(b) < rows.count && a.max(b) >= 0
    }
}

/// The offsets at some steps of a line of so many, and of `slope` 1/65536 of a pixel a step.
#[inline(always)]
fn offsets(steps: Places, start: u16, slope: u32, count: i32) -> Lanes {
    // A slope of one has no fraction, and one bit too many.
    let (diagonal, slope, count) = ((slope >> 16) as u16, slope as u16, count as i16);
    let unsigned = Lanes::from_fn(|lane| steps.0[lane] as u16);
    let whole = unsigned.high(Lanes::splat(slope));
    Lanes::from_fn(|lane| {
        let step = unsigned.0[lane];
        let whole = whole.0[lane].wrapping_add(step & diagonal.wrapping_neg());
        let offset = start.wrapping_add(whole << 8).wrapping_add(step.wrapping_mul(slope) >> 8);
        let is_soft = mask(steps.0[lane] > 0) & mask(steps.0[lane] < count);
        offset & is_soft | NOWHERE & !is_soft
    })
}

/// What pixels get of the ink, of 256 parts: 255 of `weight / 256` (`_aalineColor`).
#[inline(always)]
fn opacity(offset: Lanes) -> Lanes {
    Lanes::from_fn(|lane| {
        let offset = offset.0[lane] as i16;
        254_u16.saturating_sub((offset ^ (offset >> 15)) as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::{Lanes, NOWHERE, opacity};

    #[test]
    fn the_near_and_the_far_pixel_share_a_step_and_no_other_gets_any() {
        let at = |offset: i32| opacity(Lanes::splat(offset as u16)).0[5];
        for weight in 0..256 {
            let part = |weight: i32| (255 * weight / 256) as u16;
            assert_eq!(at(weight), part(255 - weight), "near, {weight}");
            assert_eq!(at(weight - 256), part(weight), "far, {weight}");
        }
        for offset in (256..=i32::from(NOWHERE) + 4096).chain(-i32::from(NOWHERE)..-256) {
            assert_eq!(at(offset), 0, "{offset}");
        }
    }
}
