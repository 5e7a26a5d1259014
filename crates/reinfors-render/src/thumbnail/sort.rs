//! What of a frame is to be drawn: each row of cells from the last shape to the first, until nothing shows
//! through any more.

use super::cells::{Cells, LINES, NONE, Stroke};
use super::fills::{Fills, Paint};
use super::ink::{Ink, Inks};
use super::jobs::{Channels, Contrast, Edges, Jobs, Kind, Mark, NO_LINE};
use super::sets::{HALF, Half, STRETCH, half, take_first};
use super::spans::{Place, Spans};
use super::windows::{Axes, Scale, Window};
use crate::Colour;
use crate::canvas::Canvas;
use reinfors_math::cpu::Kernel;
use std::ops::Range;

/// Cells that are painted at a time.
const PIECE: usize = 32;

/// Cells from the first of a stretch on that pieces may be painted to.
const LINE: usize = STRETCH + PIECE;

/// What is sorted.
#[derive(Clone, Copy)]
pub(super) struct Sight<'a> {
    /// The colour below all shapes.
    pub ground: Colour,
    pub cells: &'a Cells,
    pub inks: &'a Inks,
    pub axes: Axes<'a>,
}

/// Paints the cells that show one colour, and makes jobs of the others.
pub(super) struct Sort<'a, 'b> {
    pub sight: Sight<'a>,
    pub sorter: &'a mut Sorter,
    pub jobs: &'a mut Jobs,
    pub canvas: &'a mut Canvas<'b>,
}

impl Kernel for Sort<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sorter.sort(&self.sight, self.jobs, self.canvas);
    }
}

/// A stretch of a row. Its halves, 0 and 1, are sorted one after the other.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    row: usize,
    /// The first column, its cell, and the number of columns.
    column: usize,
    cell: usize,
    count: usize,
    /// What pixels say of its cells, and what those depend on.
    scale: Scale<'a>,
    window: &'a Window,
    /// The stroke that was drawn last.
    last: u32,
}

/// A stroke that shows in some cells without filling them.
#[derive(Clone, Copy, Debug)]
struct Seen {
    stroke: u32,
    ink: u32,
    cells: Half,
}

/// What of a shape is asked for row after row.
#[derive(Clone, Copy, Debug)]
struct Look {
    paint: Paint,
    /// A colour that it was seen over, and how it differs from that.
    under: Colour,
    channels: &'static Channels,
    is_simple: bool,
    is_plain: bool,
    kinds: [Kind; LINES],
    /// The first of its lines.
    line: u32,
    /// Where its spans lie, or the first of each row.
    place: Place,
}

/// Sorts a stretch after the other; keeps its buffers.
#[derive(Clone, Debug)]
pub(super) struct Sorter {
    /// From the last drawn to the first.
    seen: Vec<Seen>,
    fills: Fills,
    /// That of each shape.
    looks: Vec<Look>,
}

impl Sorter {
    pub fn new() -> Self {
        Self { seen: Vec::with_capacity(HALF), fills: Fills::new(), looks: Vec::new() }
    }

    #[inline(always)]
    fn sort(&mut self, sight: &Sight, jobs: &mut Jobs, canvas: &mut Canvas) {
        jobs.clear();
        self.looks.clear();
        for ink in sight.inks.iter() {
            self.looks.push(sight.look(ink));
        }
        let cells = sight.cells;
        let ground = sight.paint(sight.ground);
        for row in 0..sight.axes.1.end {
            for index in 0..cells.stretches {
                let Range { start: column, end } = cells.stretch(index);
                let stretch = Stretch {
                    row,
                    column,
                    cell: row * cells.width + column,
                    count: end - column,
                    scale: sight.axes.0.scale(index),
                    window: &sight.axes.1.windows[row],
                    last: cells.last(row, index),
                };
                let mut planes = canvas.planes.each_mut().map(|plane| &mut plane[stretch.cell..]);
                if stretch.last == NONE && sight.is_even() {
                    for (plane, shown) in planes.iter_mut().zip(ground.shown) {
                        plane[..stretch.count].fill(shown);
                    }
                    continue;
                }
                self.sort_half::<0>(sight, ground, &stretch, jobs, &mut planes);
                if stretch.count > HALF {
                    self.sort_half::<1>(sight, ground, &stretch, jobs, &mut planes);
                }
            }
        }
    }

    /// Sorts the cells of a half. The planes begin with the stretch.
    #[inline(always)]
    fn sort_half<const H: usize>(
        &mut self,
        sight: &Sight,
        ground: Paint,
        stretch: &Stretch,
        jobs: &mut Jobs,
        planes: &mut [&mut [u8]; 3],
    ) {
        let (single, several) = self.walk::<H>(sight, ground, stretch);
        self.paint::<H>(sight, stretch, planes);
        self.take_single::<H>(single, sight, stretch, jobs);
        self.take_several::<H>(several, sight, stretch, jobs);
    }

    /// Finds what shows of the strokes: where one of them does, and where several do.
    #[inline(always)]
    fn walk<const H: usize>(&mut self, sight: &Sight, ground: Paint, stretch: &Stretch) -> (Half, Half) {
        let Self { seen, fills, looks } = self;
        seen.clear();
        fills.clear();
        let (strokes, spans, looks) = (&sight.cells.strokes[..], &sight.inks.spans, &looks[..]);
        let mut open = Half::MAX >> (HALF - stretch.count::<H>());
        let (mut one, mut several) = (0, 0);
        let mut at = stretch.last;
        while at != NONE && open != 0 {
            let stroke = &strokes[at as usize];
            let mut filled = half::<H>(stroke.covered) & open;
            let mut shown = stroke.reached::<H>() & (open ^ filled);
            if filled | shown != 0 {
                let look = &looks[stroke.ink as usize];
                if shown & one != 0 && look.is_simple {
                    let joined = stretch.joined::<H>(look.place, shown, seen, looks, spans);
                    filled |= joined;
                    shown ^= joined;
                }
                if shown != 0 {
                    several |= one & shown;
                    one |= shown;
                    seen.push(Seen { stroke: at, ink: stroke.ink, cells: shown });
                }
                if filled != 0 {
                    fills.push(filled, look.paint);
                    open ^= filled;
                }
            }
            at = stroke.before;
        }
        fills.push(open, ground);
        (one & !several, several)
    }

    /// Paints the cells with the colours that fill them.
    #[inline(always)]
    fn paint<const H: usize>(&self, sight: &Sight, stretch: &Stretch, planes: &mut [&mut [u8]; 3]) {
        let ([Some(red), Some(green), Some(blue)], true) =
            (planes.each_mut().map(|plane| plane.first_chunk_mut::<LINE>()), sight.is_even())
        else {
            return self.paint_singly::<H>(sight, stretch, planes);
        };
        let mut rest = self.fills.starts;
        let mut next = take_first(&mut rest);
        while let Some(start) = next {
            next = take_first(&mut rest);
            let end = next.unwrap_or(stretch.count::<H>());
            let shown = self.fills.paint(start).shown;
            let mut cell = start;
            // Whole pieces: what is too much belongs to runs, rows or a panel that are painted later.
            loop {
                for (line, shown) in [&mut *red, &mut *green, &mut *blue].into_iter().zip(shown) {
                    line[HALF * H + cell % HALF..][..PIECE].copy_from_slice(&[shown; PIECE]);
                }
                cell += PIECE;
                if cell >= end {
                    break;
                }
            }
        }
    }

    /// The same, cell by cell: each may come out differently, and there may be no room after the last.
    fn paint_singly<const H: usize>(&self, sight: &Sight, stretch: &Stretch, planes: &mut [&mut [u8]; 3]) {
        let mut paint = self.fills.paint(0);
        for cell in 0..stretch.count::<H>() {
            if self.fills.starts >> cell & 1 != 0 {
                paint = self.fills.paint(cell);
            }
            let cell = HALF * H + cell;
            let shown = sight.shown(paint.colour, stretch.row, stretch.column + cell);
            for (plane, shown) in planes.iter_mut().zip(shown) {
                plane[cell] = shown;
            }
        }
    }

    /// Makes jobs of cells that one stroke shows in.
    #[inline(always)]
    fn take_single<const H: usize>(
        &mut self,
        single: Half,
        sight: &Sight,
        stretch: &Stretch,
        jobs: &mut Jobs,
    ) {
        let Self { seen, fills, looks } = self;
        let (strokes, looks) = (&sight.cells.strokes[..], &mut looks[..]);
        for seen in &seen[..] {
            let mut own = seen.cells & single;
            if own == 0 {
                continue;
            }
            let stroke = &strokes[seen.stroke as usize];
            let look = &mut looks[seen.ink as usize];
            let mixes = if look.is_plain { own & stroke.crossed::<H>() } else { own };
            for fill in fills.iter() {
                let cells = own & fill.cells;
                if cells != 0 {
                    look.see_over(fill.colour, sight.inks.get(seen.ink));
                    look.take_edges::<H>(cells & !mixes, stroke, stretch, jobs);
                    look.take_mixes::<H>(cells & mixes, stroke, stretch, jobs);
                    own ^= cells;
                    if own == 0 {
                        break;
                    }
                }
            }
        }
    }

    /// Makes jobs of cells that several strokes show in, one by one.
    #[inline(always)]
    fn take_several<const H: usize>(
        &self,
        mut several: Half,
        sight: &Sight,
        stretch: &Stretch,
        jobs: &mut Jobs,
    ) {
        while let Some(cell) = take_first(&mut several) {
            let own = 1 << cell;
            let (under, first) = (self.fills.under(own), jobs.marks.len());
            for seen in self.seen.iter().rev() {
                if seen.cells & own == 0 {
                    continue;
                }
                let stroke = &sight.cells.strokes[seen.stroke as usize];
                let ink = sight.inks.get(seen.ink);
                // A shape in the colour of all that is there does not show.
                if jobs.marks.len() > first || ink.colour != under || ink.picture.is_some() {
                    jobs.marks.push(stroke.mark::<H>(own));
                }
            }
            jobs.push(stretch.cell + HALF * H + cell, under, first, sight.inks);
        }
    }
}

impl Stretch<'_> {
    /// Columns of a half.
    #[inline(always)]
    fn count<const H: usize>(&self) -> usize {
        (self.count - HALF * H).min(HALF)
    }

    /// Which of some cells a simple shape fills together with one that is drawn later, as two tiles of a road
    /// do where they meet. There it is its colour all over, and nothing below it shows.
    #[inline(always)]
    fn joined<const H: usize>(
        &self,
        place: Place,
        shown: Half,
        seen: &[Seen],
        looks: &[Look],
        spans: &Spans,
    ) -> Half {
        let mut joined = 0;
        for seen in seen {
            let both = seen.cells & shown;
            if both == 0 {
                continue;
            }
            let look = &looks[seen.ink as usize];
            if look.is_simple
                && let Some([left, right]) = spans.common(place, look.place, self.window)
            {
                joined |= half::<H>(self.scale.inside(left, right)) & both;
            }
        }
        joined
    }
}

impl Look {
    /// Looks at the shape over a colour.
    #[inline(always)]
    fn see_over(&mut self, under: Colour, ink: &Ink) {
        if self.under != under {
            self.under = under;
            self.channels = Contrast::of(under).and(ink).channels();
        }
    }

    /// Cells with this shape over that colour, of which one line comes near or none.
    #[inline(always)]
    fn take_edges<const H: usize>(&self, cells: Half, stroke: &Stroke, stretch: &Stretch, jobs: &mut Jobs) {
        let Some(lists) = jobs.edges_in(self.channels) else { return };
        let edges = Edges {
            cells,
            first: (stretch.cell + HALF * H) as u32,
            under: self.under,
            ink: stroke.ink,
            line: NO_LINE,
            channels: self.channels,
        };
        let mut rest = cells;
        for ((kind, near), line) in self.kinds.into_iter().zip(stroke.near::<H>()).zip(self.line..) {
            let cells = cells & near;
            if cells != 0 {
                rest ^= cells;
                lists[kind as usize].push(Edges { cells, line, ..edges });
            }
        }
        if rest != 0 {
            lists[Kind::Hard as usize].push(Edges { cells: rest, ..edges });
        }
    }

    /// Other cells with this shape over that colour.
    #[inline(always)]
    fn take_mixes<const H: usize>(
        &self,
        mut cells: Half,
        stroke: &Stroke,
        stretch: &Stretch,
        jobs: &mut Jobs,
    ) {
        while let Some(cell) = take_first(&mut cells) {
            let first = jobs.marks.len();
            jobs.marks.push(stroke.mark::<H>(1 << cell));
            jobs.push_mix(stretch.cell + HALF * H + cell, self.under, first, self.channels);
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

    #[inline(always)]
    fn look(&self, ink: &Ink) -> Look {
        let lines = &self.inks.lines[ink.lines.clone()];
        let lines = &lines[..lines.len().min(LINES)];
        let mut kinds = [Kind::Hard; LINES];
        for (kind, line) in kinds.iter_mut().zip(lines) {
            *kind = Kind::of(Some(line));
        }
        Look {
            paint: self.paint(ink.colour),
            under: self.ground,
            channels: Contrast::of(self.ground).and(ink).channels(),
            is_simple: ink.is_simple,
            is_plain: ink.is_plain(),
            kinds,
            line: ink.lines.start as u32,
            place: ink.place,
        }
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
    /// Cells that each of its lines comes near.
    #[inline(always)]
    fn near<const H: usize>(&self) -> [Half; LINES] {
        let [a, b, c, d] = &self.lines;
        [half::<H>(*a), half::<H>(*b), half::<H>(*c), half::<H>(*d)]
    }

    /// Cells that the shape touches or fills.
    #[inline(always)]
    fn reached<const H: usize>(&self) -> Half {
        let [a, b, c, d] = self.lines;
        half::<H>(self.touched | a | b | c | d)
    }

    /// Cells that several of its lines come near.
    #[inline(always)]
    fn crossed<const H: usize>(&self) -> Half {
        let [a, b, c, d] = self.near::<H>();
        a & b | c & d | (a | b) & (c | d)
    }

    /// The shape in one cell.
    #[inline(always)]
    fn mark<const H: usize>(&self, cell: Half) -> Mark {
        let mut lines = 0;
        for (number, near) in self.near::<H>().into_iter().enumerate() {
            lines |= u32::from(near & cell != 0) << number;
        }
        Mark { ink: self.ink, lines }
    }
}
