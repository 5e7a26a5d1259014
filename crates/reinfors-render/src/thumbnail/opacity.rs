//! How opaque the soft pixels of a line are in a tile of a cell: sixteen columns by sixteen rows.
//!
//! A step of a line is shared by a near and a far pixel, beside each other. Both opacities are one formula of the
//! *offset*: how far the line lies beyond a pixel, in 1/256 of one. It is 0 to 255 for the near pixel, -256 to
//! -1 for the far one, and beyond for all others, which the line leaves alone. Along a row of a steep line, and
//! along a column of a flat one, it changes by one pixel a pixel: it is a number of the column less one of the row.

use super::outline::{Flat, Steep, Turn};
use super::rows::{LANES, Lanes, mask};

/// The offset of pixels that belong to no step.
const NOWHERE: u16 = 0x4000;

/// 1/256 of a pixel in one.
const PIXEL: i32 = 256;

/// Rows, or pixels, that a line may be away for its offsets not to come round.
const NEAR: i32 = 64;

/// Where a tile lies: up to sixteen columns and rows, at least one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub column: i32,
    pub columns: i32,
    pub row: i32,
    pub rows: i32,
}

/// So many pixels, forward and back.
static PIXELS: [Lanes; 2] = {
    let mut pixels = [[0; LANES]; 2];
    let mut lane = 0;
    while lane < LANES {
        (pixels[0][lane], pixels[1][lane]) = ((PIXEL * lane as i32) as u16, (-PIXEL * lane as i32) as u16);
        lane += 1;
    }
    [Lanes(pixels[0]), Lanes(pixels[1])]
};

/// The offsets of a line in a tile. They lie in memory: of vectors that it knows the lanes of, the compiler makes
/// numbers.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    columns: Lanes,
    /// What is to be taken off in each row.
    rows: Lanes,
}

impl Offsets {
    pub const ZERO: Self = Self { columns: Lanes::ZERO, rows: Lanes::ZERO };

    /// Those of a steep line: the first column of the tile in which some rows have soft pixels, and the one after
    /// the last.
    #[inline(always)]
    pub fn set_steep(&mut self, line: &Steep, turn: Turn, place: Place) -> Option<[u16; 2]> {
        let (a, b) = (turn.row(place.row), turn.row(place.row + place.rows - 1));
        let [first, last] = line.columns(a.min(b), a.max(b))?;
        let (first, last) = ((first - place.column).max(0), (last - place.column).min(place.columns - 1));
        if first > last {
            return None;
        }
        self.columns = PIXELS[usize::from(line.direction > 0)];
        let start = PIXEL * line.direction * (line.x - place.column);
        let offsets = offsets(a - line.y, turn.sign, start as u16, line.slope.into(), line.rows);
        self.rows = Lanes::ZERO.minus(offsets);
        Some([first as u16, last as u16 + 1])
    }

    /// The same of a flat line; it may come out as having some where it only comes near.
    #[inline(always)]
    pub fn set_flat(&mut self, line: &Flat, turn: Turn, place: Place) -> Option<[u16; 2]> {
        let ends = [line.x + line.direction, line.x + line.direction * (line.columns - 1)];
        let first = (ends[0].min(ends[1]) - place.column).max(0);
        let last = (ends[0].max(ends[1]) - place.column).min(place.columns - 1);
        if first > last {
            return None;
        }
        let step = line.direction * (place.column - line.x);
        let start = turn.sign * (turn.row(line.y) - place.row);
        let least = (step + line.direction * if line.direction > 0 { first } else { last }) as u32;
        if !(-NEAR..NEAR).contains(&(start + ((least * line.slope) >> 16) as i32)) {
            return None;
        }
        self.columns = offsets(step, line.direction, (PIXEL * start) as u16, line.slope, line.columns);
        self.rows = PIXELS[usize::from(turn.sign < 0)];
        Some([first as u16, last as u16 + 1])
    }

    /// The opacities in a column of the tile.
    #[inline(always)]
    pub fn opacity(&self, column: usize) -> Lanes {
        opacity(Lanes::splat(self.columns.0[column % LANES]).minus(self.rows))
    }
}

/// The offsets of a line of so many steps, of `slope` 1/65536 of a pixel each, in sixteen columns or rows: at steps
/// from `first` on, forward or, if `direction` is -1, back. Step after step through memory, else the compiler takes
/// the vectors apart.
#[inline(always)]
fn offsets(first: i32, direction: i32, start: u16, slope: u32, count: i32) -> Lanes {
    let steps = Lanes::steps(first as u16, direction).settled();
    let factor = Lanes::splat(slope as u16).settled();
    // A slope of one has no fraction, and one bit too many.
    let diagonal = ((slope >> 16) as u16).wrapping_neg();
    let whole = steps.high(factor).settled();
    let count = count as i16;
    Lanes::from_fn(|lane| {
        let step = steps.0[lane];
        let whole = whole.0[lane].wrapping_add(step & diagonal);
        let offset = start.wrapping_add(whole << 8).wrapping_add(step.wrapping_mul(factor.0[lane]) >> 8);
        let is_soft = mask(step as i16 > 0) & mask((step as i16) < count);
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
