//! What of a frame is to be drawn: each row of cells from the last shape to the first, until nothing shows
//! through any more.

use super::cells::{Cells, LINES, NONE, Stroke};
use super::ink::{Ink, Inks};
use super::jobs::{Channels, Contrast, Edges, Jobs, Kind, Mark, NO_LINE};
use super::outline::Soft;
use super::sets::{STRETCH, Set, between, firsts, last_until, next_after, take_first};
use super::windows::Axes;
use crate::Colour;
use crate::canvas::Canvas;

/// Cells that are painted at a time.
const PIECE: usize = 32;

/// What is sorted.
#[derive(Clone, Copy)]
pub(super) struct Sight<'a> {
    /// The colour below all shapes.
    pub ground: Colour,
    pub cells: &'a Cells,
    pub inks: &'a Inks,
    pub axes: Axes<'a>,
}

/// A stretch of a row.
#[derive(Clone, Copy)]
struct Stretch {
    row: usize,
    /// The first column, the number of columns, and the first cell.
    column: usize,
    count: usize,
    cell: usize,
}

/// A stroke that shows in some cells without filling them.
#[derive(Clone, Copy, Debug)]
struct Seen {
    stroke: u32,
    cells: Set,
}

/// A colour, and what a cell comes out as that shows nothing else, if that is the same in all cells.
#[derive(Clone, Copy, Debug)]
struct Paint {
    colour: Colour,
    shown: [u8; 3],
}

/// Sorts a stretch after the other; keeps its buffers.
#[derive(Clone, Debug)]
pub(super) struct Sorter {
    /// From the last drawn to the first.
    seen: Vec<Seen>,
    /// Runs of cells that are filled with one colour, and at the first of each its paint.
    runs: Set,
    paints: [Paint; STRETCH],
    /// The painted cells of each channel.
    planes: [[u8; STRETCH + PIECE]; 3],
    /// How each shape differs from the colour that it was last seen over.
    contrasts: Vec<(Colour, Channels)>,
}

impl Sorter {
    pub fn new() -> Self {
        Self {
            seen: Vec::with_capacity(STRETCH),
            runs: 0,
            paints: [Paint { colour: Colour::BLACK, shown: [0; 3] }; STRETCH],
            planes: [[0; STRETCH + PIECE]; 3],
            contrasts: Vec::new(),
        }
    }

    /// Paints the cells that show one colour, and makes jobs of the others.
    #[inline(always)]
    pub fn sort(&mut self, sight: &Sight, jobs: &mut Jobs, canvas: &mut Canvas) {
        jobs.clear();
        self.contrasts.clear();
        self.contrasts.extend(sight.inks.iter().map(|ink| (ink.colour, Channels::default())));
        let cells = sight.cells;
        for row in 0..sight.axes.1.end {
            for index in 0..cells.stretches {
                let columns = cells.stretch(index);
                let (column, count) = (columns.start, columns.len());
                let stretch = Stretch { row, column, count, cell: row * cells.width + column };
                let last = cells.last(row, index);
                if last == NONE && sight.is_even() {
                    let shown = sight.shown(sight.ground, row, column);
                    for (plane, shown) in canvas.planes.iter_mut().zip(shown) {
                        plane[stretch.cell..stretch.cell + count].fill(shown);
                    }
                    continue;
                }
                let (single, several) = self.walk(sight, &stretch, last);
                self.paint(sight, &stretch, canvas);
                self.take_single(single, sight, &stretch, jobs);
                self.take_several(several, sight, &stretch, jobs);
            }
        }
    }

    /// Finds what shows of the strokes from `at` back: where one of them does, and where several do.
    #[inline(always)]
    fn walk(&mut self, sight: &Sight, stretch: &Stretch, mut at: u32) -> (Set, Set) {
        self.seen.clear();
        self.runs = 0;
        let mut open = between(0, stretch.count);
        let (mut one, mut several) = (0, 0);
        while at != NONE && open != 0 {
            let stroke = &sight.cells.strokes[at as usize];
            let mut filled = stroke.covered & open;
            let mut shown = stroke.reached() & !filled & open;
            if shown & one != 0 {
                let joined = self.joined(stroke, shown, sight, stretch);
                filled |= joined;
                shown &= !joined;
            }
            if shown != 0 {
                several |= one & shown;
                one |= shown;
                self.seen.push(Seen { stroke: at, cells: shown });
            }
            if filled != 0 {
                self.fill(filled, sight.paint(sight.inks.get(stroke.ink).colour));
                open &= !filled;
            }
            at = stroke.before;
        }
        self.fill(open, sight.paint(sight.ground));
        (one & !several, several)
    }

    /// Which of some cells a stroke fills together with one that is drawn later, as two tiles of a road do
    /// where they meet. There it is its colour all over, and nothing below it shows.
    #[inline(always)]
    fn joined(&self, stroke: &Stroke, shown: Set, sight: &Sight, stretch: &Stretch) -> Set {
        let (columns, rows) = sight.axes;
        let ink = sight.inks.get(stroke.ink);
        let mut joined = 0;
        if !ink.is_simple() {
            return joined;
        }
        for seen in &self.seen {
            if seen.cells & shown == 0 {
                continue;
            }
            let other = sight.inks.get(sight.cells.strokes[seen.stroke as usize].ink);
            if other.is_simple()
                && let Some([left, right]) = sight.inks.common(ink, other, &rows.windows[stretch.row])
            {
                let inside = columns.inside(left, right);
                let place = |cell: usize| cell.saturating_sub(stretch.column).min(stretch.count);
                joined |=
                    between(place(inside.start), place(inside.end.max(inside.start))) & seen.cells & shown;
            }
        }
        joined
    }

    /// Some cells are of one colour below what is seen.
    #[inline(always)]
    fn fill(&mut self, cells: Set, paint: Paint) {
        let mut firsts = firsts(cells);
        self.runs |= firsts;
        while let Some(first) = take_first(&mut firsts) {
            self.paints[first % STRETCH] = paint;
        }
    }

    /// The colour below what is seen of a cell.
    #[inline(always)]
    fn under(&self, cell: usize) -> Colour {
        self.paints[last_until(self.runs, cell) % STRETCH].colour
    }

    /// Paints the cells of a row with the colours that fill them.
    #[inline(always)]
    fn paint(&mut self, sight: &Sight, stretch: &Stretch, canvas: &mut Canvas) {
        let count = stretch.count;
        let mut rest = self.runs;
        while let Some(first) = take_first(&mut rest) {
            let end = if rest == 0 { count } else { rest.trailing_zeros() as usize };
            let paint = self.paints[first % STRETCH];
            if sight.is_even() {
                // Whole pieces: what is too much belongs to the runs after this one.
                for start in (first..end).step_by(PIECE) {
                    for (plane, shown) in self.planes.iter_mut().zip(paint.shown) {
                        plane[start..start + PIECE].fill(shown);
                    }
                }
            } else {
                for cell in first..end {
                    let shown = sight.shown(paint.colour, stretch.row, stretch.column + cell);
                    for (plane, shown) in self.planes.iter_mut().zip(shown) {
                        plane[cell] = shown;
                    }
                }
            }
        }
        for (to, from) in canvas.planes.iter_mut().zip(&self.planes) {
            to[stretch.cell..stretch.cell + count].copy_from_slice(&from[..count]);
        }
    }

    /// Cells that one stroke shows in.
    #[inline(always)]
    fn take_single(&mut self, single: Set, sight: &Sight, stretch: &Stretch, jobs: &mut Jobs) {
        for index in 0..self.seen.len() {
            let seen = self.seen[index];
            let own = seen.cells & single;
            if own == 0 {
                continue;
            }
            let stroke = &sight.cells.strokes[seen.stroke as usize];
            let ink = sight.inks.get(stroke.ink);
            let plain = if ink.is_plain() { own & !stroke.crossed() } else { 0 };
            self.take_edges(plain & !stroke.approached(), (stroke.ink, ink), None, stretch, jobs);
            for (number, line) in sight.inks.lines[ink.lines.clone()].iter().take(LINES).enumerate() {
                let near = plain & stroke.lines[number];
                self.take_edges(near, (stroke.ink, ink), Some((number, line)), stretch, jobs);
            }
            let mut mixed = own & !plain;
            while let Some(cell) = take_first(&mut mixed) {
                let first = jobs.marks.len();
                jobs.marks.push(stroke.mark(cell));
                jobs.push_mix(stretch.cell + cell, self.under(cell), first, sight.inks);
            }
        }
    }

    /// Cells with one shape, of which one line comes near or none.
    #[inline(always)]
    fn take_edges(
        &mut self,
        mut cells: Set,
        (index, ink): (u32, &Ink),
        line: Option<(usize, &Soft)>,
        stretch: &Stretch,
        jobs: &mut Jobs,
    ) {
        let kind = Kind::of(line.map(|(_, line)| line));
        let line = line.map_or(NO_LINE, |(number, _)| number as u32);
        while cells != 0 {
            let first = cells.trailing_zeros() as usize;
            let own = cells & between(first, next_after(self.runs, first));
            cells ^= own;
            let under = self.under(first);
            let known = &mut self.contrasts[index as usize];
            if known.0 != under {
                *known = (under, Contrast::of(under).and(ink).channels());
            }
            let channels = known.1;
            let first = stretch.cell as u32;
            jobs.push_edges(kind, Edges { cells: own, first, under, ink: index, line, channels });
        }
    }

    /// Cells that several strokes show in.
    #[inline(always)]
    fn take_several(&self, mut several: Set, sight: &Sight, stretch: &Stretch, jobs: &mut Jobs) {
        while let Some(cell) = take_first(&mut several) {
            let (under, first) = (self.under(cell), jobs.marks.len());
            let own = between(cell, cell + 1);
            for seen in self.seen.iter().rev() {
                if seen.cells & own == 0 {
                    continue;
                }
                let stroke = &sight.cells.strokes[seen.stroke as usize];
                let ink = sight.inks.get(stroke.ink);
                // A shape in the colour of all that is there does not show.
                if jobs.marks.len() > first || ink.colour != under || ink.picture.is_some() {
                    jobs.marks.push(stroke.mark(cell));
                }
            }
            jobs.push(stretch.cell + cell, under, first, sight.inks);
        }
    }
}

impl Sight<'_> {
    /// Whether a colour all over comes out the same in every cell.
    #[inline(always)]
    const fn is_even(&self) -> bool {
        self.axes.0.is_even() && self.axes.1.is_even()
    }

    #[inline(always)]
    fn paint(&self, colour: Colour) -> Paint {
        Paint { colour, shown: self.shown(colour, 0, 0) }
    }

    /// What a cell comes out as that shows one colour.
    #[inline(always)]
    fn shown(&self, colour: Colour, row: usize, column: usize) -> [u8; 3] {
        let (columns, rows) = self.axes;
        let mut shown = colour.channels();
        for value in &mut shown {
            *value = rows.uniform(row, columns.uniform(column, *value));
        }
        shown
    }
}

impl Stroke {
    /// Cells that one of the shape's lines comes near.
    #[inline(always)]
    fn approached(&self) -> Set {
        let [a, b, c, d] = self.lines;
        a | b | c | d
    }

    /// Cells that the shape touches or fills.
    #[inline(always)]
    fn reached(&self) -> Set {
        self.touched | self.approached()
    }

    /// Cells that several of its lines come near.
    #[inline(always)]
    fn crossed(&self) -> Set {
        let [a, b, c, d] = self.lines;
        a & b | c & d | (a | b) & (c | d)
    }

    /// The shape in one cell.
    #[inline(always)]
    fn mark(&self, cell: usize) -> Mark {
        let mut lines = 0;
        for (number, &near) in self.lines.iter().enumerate() {
            lines |= u32::from(near & between(cell, cell + 1) != 0) << number;
        }
        Mark { ink: self.ink, lines }
    }
}
