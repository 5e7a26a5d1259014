//! How far a shape reaches: the cells that its spans, lines and dots touch, and those that it fills.

use super::cells::{Cells, Strokes};
use super::ink::{Ink, Inks};
use super::outline::{Flat, Soft, Steep, Turn};
use super::rows::{LANES, Places};
use super::spans::{Fill, Spans};
use super::windows::{Axes, Window};

/// How far a fill reaches in some rows.
#[derive(Clone, Copy, Debug)]
struct Extent {
    min_left: i32,
    max_left: i32,
    min_right: i32,
    max_right: i32,
}

impl Inks {
    /// Tells the cells what of them a shape touches or fills.
    #[inline(always)]
    pub fn place(&self, index: u32, cells: &mut Cells, axes: Axes) {
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
        self.place_fill(ink, &mut strokes, axes);
    }

    #[inline(always)]
    fn place_fill(&self, ink: &Ink, strokes: &mut Strokes, (columns, rows): Axes) {
        let fill = &ink.fill;
        for layer in 0..fill.layers {
            for row in rows.touched(fill.rows.start, fill.rows.end - 1) {
                let extent = self.spans.extent(fill, layer, &rows.windows[row]);
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
        let (start, end) = (self.x + self.direction, self.x + self.direction * (self.columns - 1));
        let Some([left, right]) = columns.clip(start.min(end)..=start.max(end)) else { return };
        for column in columns.touched(left, right) {
            let window = &columns.windows[column];
            let Some([y0, y1]) = self.rows(window.start, window.end - 1) else { continue };
            let (y0, y1) = (turn.row(y0), turn.row(y1));
            if let Some([top, bottom]) = rows.clip(y0.min(y1)..=y0.max(y1)) {
                for row in rows.touched(top, bottom) {
                    strokes.approach(row, column..column + 1, number);
                }
            }
        }
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
                let is_one = mask(inner_left == i16::MAX) | mask(inner_left <= inner_right.saturating_add(1));
                let is_beyond = mask(lane as i16 >= own);
                lefts.0[lane] = !is_beyond & ((left & is_one) | (i16::MAX & !is_one));
                rights.0[lane] = ((right & is_one) & !is_beyond) | (i16::MAX & is_beyond);
            }
            columns = [columns[0].max(lefts.max().into()), columns[1].min(rights.min().into())];
        }
        (columns[0] <= columns[1]).then_some(columns)
    }
}

impl Spans {
    /// How far a layer reaches in the rows of a window, of which some are the fill's. A row without a span
    /// is one that reaches nowhere.
    #[inline(always)]
    fn extent(&self, fill: &Fill, layer: usize, window: &Window) -> Extent {
        let (Places([no_left, ..]), Places([no_right, ..])) = Self::NONE;
        let mut extent = [no_left, no_right, no_left, no_right];
        for start in (window.start..window.end).step_by(LANES) {
            if start >= fill.rows.end || start + LANES as i32 <= fill.rows.start {
                (extent[1], extent[2]) = (no_left, no_right);
                continue;
            }
            let (left, right) = self.read(fill, layer, start);
            // A row beyond the window counts for nothing.
            let own = (window.end - start) as i16;
            let known = |places: Places, other: i16| {
                Places::from_fn(|lane| if (lane as i16) < own { places.0[lane] } else { other })
            };
            extent[0] = extent[0].min(known(left, no_left).min());
            extent[1] = extent[1].max(known(left, no_right).max());
            extent[2] = extent[2].min(known(right, no_left).min());
            extent[3] = extent[3].max(known(right, no_right).max());
        }
        let [min_left, max_left, min_right, max_right] = extent.map(i32::from);
        Extent { min_left, max_left, min_right, max_right }
    }
}

/// All bits or none.
#[inline(always)]
const fn mask(condition: bool) -> i16 {
    -(condition as i16)
}
