//! How far a shape reaches: the cells that its spans, lines and dots touch, and those that it fills.
//!
//! A line's columns are worked out for sixteen rows of cells at once, a fill's from sixteen rows of it.

use super::cells::{Begun, Cells, LINES, Stroke};
use super::extents::Extents;
use super::ink::{Ink, Inks};
use super::outline::{Flat, Soft, Steep, Turn};
use super::rows::{LANES, Lanes, Places, anew, mask};
use super::sets::Set;
use super::spans::{NO_LEFT, Place, Spans};
use super::windows::{Axes, Scale, Window, Windows};
use std::ops::Range;

impl Inks {
    /// Tells the cells what of them a shape touches or fills.
    #[inline(always)]
    pub fn place(&self, index: u32, cells: &mut Cells, extents: &mut Extents, axes: Axes) {
        let ink = self.get(index);
        let (columns, rows) = axes;
        let all = rows.touched(ink.fill.rows.start, ink.fill.rows.end - 1);
        for (stretch, scale) in columns.scales() {
            let mut start = all.start;
            while start < all.end {
                // A count that the compiler knows is worked out anew for each loop over it.
                let count = *anew(&(all.end - start).min(LANES));
                let own = start..start + count;
                let strokes = cells.begin(stretch, own.clone());
                let strokes = self.place_fill(index, strokes, &rows.windows[own.clone()], scale, extents);
                self.place_lines(ink, strokes, own.clone(), (scale, rows));
                for dot in &self.dots[ink.dots.clone()] {
                    for row in meet(rows.touched(dot.row, dot.row), &own) {
                        strokes[row].touched |= scale.touched(dot.x as i16, dot.x as i16);
                    }
                }
                start = own.end;
            }
        }
    }

    /// Writes the strokes of a fill in some rows of cells.
    #[inline(always)]
    fn place_fill<'a>(
        &self,
        index: u32,
        Begun { strokes, lasts, first }: Begun<'a>,
        windows: &[Window],
        scale: Scale,
        extents: &mut Extents,
    ) -> &'a mut [Stroke] {
        let ink = self.get(index);
        let opaque = if ink.picture.is_none() { Set::MAX } else { 0 };
        extents.look(&self.spans.layer(&ink.fill, 0), windows);
        for (((stroke, last), extent), number) in
            strokes.iter_mut().zip(lasts).zip(&extents.found).zip(first..)
        {
            stroke.touched = scale.touched(extent.min_left, extent.max_right);
            stroke.covered = scale.inside(extent.max_left, extent.min_right) & opaque;
            stroke.lines = [0; LINES];
            stroke.ink = index;
            stroke.before = std::mem::replace(last, number);
        }
        for layer in 1..ink.fill.layers {
            extents.look(&self.spans.layer(&ink.fill, layer), windows);
            for (stroke, extent) in strokes.iter_mut().zip(&extents.found) {
                stroke.touched |= scale.touched(extent.min_left, extent.max_right);
                stroke.covered |= scale.inside(extent.max_left, extent.min_right) & opaque;
            }
        }
        strokes
    }

    /// The same of soft lines.
    #[inline(always)]
    fn place_lines(
        &self,
        ink: &Ink,
        strokes: &mut [Stroke],
        own: Range<usize>,
        (scale, rows): (Scale, &Windows),
    ) {
        let turn = ink.turn;
        let ends = turn.rows(rows.ends(own.start));
        for (number, line) in self.lines[ink.lines.clone()].iter().enumerate() {
            let [top, bottom] = match line {
                Soft::Steep(steep) => [steep.y + 1, steep.y + steep.rows - 1],
                Soft::Flat(flat) => [flat.down(1), flat.down(flat.columns - 1) + 1],
            };
            let (top, bottom) = if turn.sign > 0 { (top, bottom) } else { (bottom, top) };
            let Some([top, bottom]) = rows.clip(turn.row(top)..=turn.row(bottom)) else { continue };
            let near = meet(rows.touched(top, bottom), &own);
            if near.is_empty() {
                continue;
            }
            let [lefts, rights] = match line {
                Soft::Steep(steep) => steep.reach(ends),
                Soft::Flat(flat) => flat.reach(ends),
            };
            let (lefts, rights) = (&lefts.0[near.clone()], &rights.0[near.clone()]);
            for ((stroke, &left), &right) in strokes[near].iter_mut().zip(lefts).zip(rights) {
                stroke.lines[number % LINES] |= scale.touched(left, right);
            }
        }
    }
}

/// The part of `rows` that is `own`, counted from its beginning.
#[inline(always)]
fn meet(rows: Range<usize>, own: &Range<usize>) -> Range<usize> {
    let place = |row: usize| row.clamp(own.start, own.end) - own.start;
    place(rows.start)..place(rows.end)
}

impl Turn {
    /// Rows of the output from one to another as a shape's own, in order.
    #[inline(always)]
    fn rows(self, [first, last]: [Places; 2]) -> [Places; 2] {
        let (offset, bits) = (self.offset as i16, (self.sign >> 31) as i16);
        let own = |row: i16| offset.wrapping_add((row ^ bits).wrapping_sub(bits));
        [
            Places::from_fn(|lane| own(first.0[lane]).min(own(last.0[lane]))),
            Places::from_fn(|lane| own(first.0[lane]).max(own(last.0[lane]))),
        ]
    }
}

impl Steep {
    /// The first and last columns of the soft pixels between rows, of which each pair has some.
    #[inline(always)]
    fn reach(&self, [tops, bottoms]: [Places; 2]) -> [Places; 2] {
        let (y, last) = (self.y as i16, (self.rows - 1) as i16);
        let first = Lanes::from_fn(|lane| tops.0[lane].wrapping_sub(y).max(1) as u16);
        let last = Lanes::from_fn(|lane| bottoms.0[lane].wrapping_sub(y).min(last) as u16);
        let slope = Lanes::splat(self.slope);
        aside(self.x, self.direction, first.high(slope), last.high(slope).plus(Lanes::splat(1)))
    }
}

impl Flat {
    /// The first and last columns of the soft pixels between rows, of which each pair has some.
    #[inline(always)]
    fn reach(&self, [tops, bottoms]: [Places; 2]) -> [Places; 2] {
        let (y, last) = (self.y as i16, (self.columns - 1) as u16);
        let above = Places::from_fn(|lane| tops.0[lane].wrapping_sub(y).wrapping_sub(1));
        let below = Places::from_fn(|lane| bottoms.0[lane].wrapping_sub(y).wrapping_add(1));
        let (first, beyond) = (self.first_steps(above), self.first_steps(below));
        aside(
            self.x,
            self.direction,
            Lanes::from_fn(|lane| first.0[lane].max(1)),
            Lanes::from_fn(|lane| beyond.0[lane].wrapping_sub(1).min(last)),
        )
    }

    /// The first steps that are so many rows down, or the first beyond the last.
    #[inline(always)]
    fn first_steps(&self, down: Places) -> Lanes {
        // Rounded up, so that a quotient is the step or the one before it.
        let inverse = u32::MAX / self.slope + 1;
        let (whole, part) = ((inverse >> 16) as u16, inverse as u16);
        let lowest = (self.down(self.columns - 1) - self.y + 1) as i16;
        let down = Lanes::from_fn(|lane| down.0[lane].max(0).min(lowest) as u16);
        let parts = down.high(Lanes::splat(part));
        let steps = Lanes::from_fn(|lane| down.0[lane].wrapping_mul(whole).wrapping_add(parts.0[lane]));
        // A slope of one has no fraction, and one bit too many.
        let diagonal = ((self.slope >> 16) as u16).wrapping_neg();
        let found = steps.high(Lanes::splat(self.slope as u16));
        Lanes::from_fn(|lane| {
            let found = found.0[lane].wrapping_add(steps.0[lane] & diagonal);
            steps.0[lane].wrapping_sub(mask(found < down.0[lane]))
        })
    }
}

/// Columns from one number of steps aside to another, in order.
#[inline(always)]
fn aside(x: i32, direction: i32, first: Lanes, last: Lanes) -> [Places; 2] {
    let (x, bits) = (x as i16, (direction >> 31) as i16);
    let column = |steps: u16| x.wrapping_add((steps as i16 ^ bits).wrapping_sub(bits));
    [
        Places::from_fn(|lane| column(first.0[lane]).min(column(last.0[lane]))),
        Places::from_fn(|lane| column(first.0[lane]).max(column(last.0[lane]))),
    ]
}

impl Spans {
    /// The columns that two layers fill between them in all rows of a window, if there are any.
    #[inline(always)]
    pub fn common(&self, a: Place, b: Place, window: &Window) -> Option<[i16; 2]> {
        let mut columns = [0, i16::MAX];
        let mut row = window.start;
        while row < window.end {
            let (a, b) = (self.at(a, row), self.at(b, row));
            let beyond = Lanes::beyond(window.end.abs_diff(row) as usize);
            let (mut lefts, mut rights) = (Places([0; LANES]), Places([0; LANES]));
            for lane in 0..LANES {
                let (left, right) = (a.0.0[lane].min(b.0.0[lane]), a.1.0[lane].max(b.1.0[lane]));
                let (inner_left, inner_right) = (a.0.0[lane].max(b.0.0[lane]), a.1.0[lane].min(b.1.0[lane]));
                let is_apart = mask(inner_left > inner_right.saturating_add(1)) & mask(inner_left != NO_LEFT);
                let beyond = beyond.0[lane] as i16;
                // Columns are never below 0: what is added makes them the last of all.
                lefts.0[lane] = (left | (is_apart as i16 & i16::MAX)) & !beyond;
                rights.0[lane] = right.max(beyond & i16::MAX);
            }
            columns = [columns[0].max(lefts.max()), columns[1].min(rights.min())];
            row += LANES as i32;
        }
        (columns[0] <= columns[1]).then_some(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::{Flat, LANES, Places};

    #[test]
    fn the_first_step_as_far_down_as_a_row_is_found() {
        for columns in (2..400).chain([999, 4_000, 16_383, 32_766]) {
            for rows in (1..=columns).step_by(columns as usize / 40 + 1).chain([columns]) {
                let slope = ((rows as u32) << 16) / columns as u32;
                let flat = Flat { x: 3, y: -5, direction: 1, columns, slope };
                let (last, lowest) = (columns - 1, flat.down(columns - 1) + 6);
                for start in (-7..=(lowest + 7).min(32_751)).step_by(rows as usize / 60 + 1) {
                    let found = flat.first_steps(Places::from_fn(|lane| start as i16 + lane as i16));
                    for lane in 0..LANES {
                        let (found, down) = (i32::from(found.0[lane]), start + lane as i32);
                        let wanted = down.clamp(0, lowest);
                        let is_down = found > last || flat.down(found) + 5 >= wanted;
                        assert!(is_down, "step {found} of {flat:?} is not {down} rows down");
                        let is_first = found == 0 || flat.down(found.min(columns) - 1) + 5 < wanted;
                        assert!(is_first, "step {found} of {flat:?} for {down} rows down");
                    }
                }
            }
        }
    }
}
