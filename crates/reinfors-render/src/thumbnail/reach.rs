//! How far a shape reaches: the cells that its spans, lines and dots touch, and those that it fills.

use super::cells::{Cells, Strokes};
use super::extents::Extents;
use super::ink::{Ink, Inks};
use super::outline::{Flat, Soft, Steep, Turn};
use super::rows::{LANES, Places, mask};
use super::spans::NO_LEFT;
use super::windows::{Axes, Window};

impl Inks {
    /// Tells the cells what of them a shape touches or fills.
    #[inline(always)]
    pub fn place(&self, index: u32, cells: &mut Cells, extents: &mut Extents, axes: Axes) {
        let ink = self.get(index);
        let (columns, rows) = axes;
        let touched = rows.touched(ink.fill.rows.start, ink.fill.rows.end - 1);
        let mut strokes = cells.begin(index, touched);
        for (number, line) in self.lines[ink.lines.clone()].iter().enumerate() {
            match line {
                Soft::Steep(steep) => steep.place(number, ink.turn, &mut strokes, axes),
                Soft::Flat(flat) => flat.place(number, ink.turn, &mut strokes, axes),
            }
        }
        for dot in &self.dots[ink.dots.clone()] {
            for row in rows.touched(dot.row, dot.row) {
                strokes.touch(row, columns.touched(dot.x, dot.x));
            }
        }
        self.place_fill(ink, &mut strokes, extents, axes);
    }

    #[inline(always)]
    fn place_fill(&self, ink: &Ink, strokes: &mut Strokes, extents: &mut Extents, (columns, rows): Axes) {
        let fill = &ink.fill;
        for layer in 0..fill.layers {
            extents.collect(&self.spans, fill, layer);
            for row in rows.touched(fill.rows.start, fill.rows.end - 1) {
                let extent = extents.of(&rows.windows[row]);
                if extent.min_left > extent.max_right {
                    continue;
                }
                strokes.touch(row, columns.touched(extent.min_left, extent.max_right));
                if extent.max_left <= extent.min_right && ink.picture.is_none() {
                    let inside = columns.inside(extent.max_left, extent.min_right);
                    if inside.start < inside.end {
                        strokes.cover(row, inside);
                    }
                }
            }
        }
    }
}

impl Steep {
    #[inline(always)]
    fn place(&self, number: usize, turn: Turn, strokes: &mut Strokes, (columns, rows): Axes) {
        let (top, bottom) = (turn.row(self.y + 1), turn.row(self.y + self.rows - 1));
        let Some([top, bottom]) = rows.clip(top.min(bottom)..=top.max(bottom)) else { return };
        for row in rows.touched(top, bottom) {
            let window = &rows.windows[row];
            let (first, last) = (window.start.max(top), (window.end - 1).min(bottom));
            let (y0, y1) = (turn.row(first), turn.row(last));
            let Some([left, right]) = self.columns(y0.min(y1), y0.max(y1)) else { continue };
            if let Some([left, right]) = columns.clip(left..=right) {
                strokes.approach(row, columns.touched(left, right), number);
            }
        }
    }
}

impl Flat {
    #[inline(always)]
    fn place(&self, number: usize, turn: Turn, strokes: &mut Strokes, (columns, rows): Axes) {
        let last = self.columns - 1;
        let (top, bottom) = (turn.row(self.down(1)), turn.row(self.down(last) + 1));
        let Some([top, bottom]) = rows.clip(top.min(bottom)..=top.max(bottom)) else { return };
        let inverse = 65536.0 / self.slope as f32;
        for row in rows.touched(top, bottom) {
            let window = &rows.windows[row];
            let (y0, y1) = (turn.row(window.start), turn.row(window.end - 1));
            let first = self.first_step(y0.min(y1) - 1, inverse).max(1);
            let last = (self.first_step(y0.max(y1) + 1, inverse) - 1).min(last);
            let (x0, x1) = (self.x + self.direction * first, self.x + self.direction * last);
            if first <= last
                && let Some([left, right]) = columns.clip(x0.min(x1)..=x0.max(x1))
            {
                strokes.approach(row, columns.touched(left, right), number);
            }
        }
    }

    /// The first step that is as far down as row `y`.
    #[inline(always)]
    fn first_step(&self, y: i32, inverse: f32) -> i32 {
        let down = (y - self.y).clamp(0, self.columns);
        // Within a hundredth of what it stands for, so that it is the step or the one before it.
        let step = (down as f32 * inverse) as i32;
        step + i32::from(self.down(step) < self.y + down)
    }
}

impl Inks {
    /// The columns that two simple shapes fill between them in all rows of a window, if there are any.
    #[inline(always)]
    pub fn common(&self, a: &Ink, b: &Ink, window: &Window) -> Option<[i32; 2]> {
        let mut columns = [0, i32::MAX];
        for row in (window.start..window.end).step_by(LANES) {
            let (a, b) = (self.read(a, row), self.read(b, row));
            let own = (window.end - row) as i16;
            let (mut lefts, mut rights) = (Places([0; LANES]), Places([0; LANES]));
            for lane in 0..LANES {
                let (left, right) = (a.0.0[lane].min(b.0.0[lane]), a.1.0[lane].max(b.1.0[lane]));
                let (inner_left, inner_right) = (a.0.0[lane].max(b.0.0[lane]), a.1.0[lane].min(b.1.0[lane]));
                let is_one =
                    (mask(inner_left == NO_LEFT) | mask(inner_left <= inner_right.saturating_add(1))) as i16;
                let is_beyond = mask(lane as i16 >= own) as i16;
                lefts.0[lane] = !is_beyond & ((left & is_one) | (i16::MAX & !is_one));
                rights.0[lane] = ((right & is_one) & !is_beyond) | (i16::MAX & is_beyond);
            }
            columns = [columns[0].max(lefts.max().into()), columns[1].min(rights.min().into())];
        }
        (columns[0] <= columns[1]).then_some(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::Flat;

    #[test]
    fn the_first_step_as_far_down_as_a_row_is_found() {
        for columns in (1..400).chain([999, 4_000, 16_383]) {
            for rows in (1..=columns).step_by(columns as usize / 40 + 1).chain([columns]) {
                let slope = ((rows as u32) << 16) / columns as u32;
                let flat = Flat { x: 3, y: -5, direction: 1, columns, slope };
                let inverse = 65536.0 / slope as f32;
                for y in (-7..rows - 5).step_by(rows as usize / 60 + 1) {
                    let found = flat.first_step(y, inverse);
                    assert!(flat.down(found) >= y, "step {found} of {flat:?} is above row {y}");
                    assert!(found == 0 || flat.down(found - 1) < y, "step {found} of {flat:?} for row {y}");
                }
            }
        }
    }
}
