//! Cells with one shape over one colour. What its spans come to is a formula of each row; a soft pixel is what
//! it makes more or less than the colour below it, wherever the spans do not cover it.
//!
//! What the cells of a job share is worked out once. What comes out of cells is made one number of each of them
//! for a batch at a time.

use super::flat::FlatRows;
use super::ink::{Ink, Inks};
use super::jobs::{Channels, Edges, Jobs, Kind};
use super::outline::{Soft, Turn};
use super::rows::{BATCH, Interval, Intervals, LANES, LaneCount, Lanes, Places, anew};
use super::sets::HALF;
use super::steep::SteepRows;
use super::sums::{Filter, Totals};
use super::windows::{Axes, Window, Windows};
use crate::canvas::Canvas;
use crate::filter::high;
use reinfors_math::cpu::Kernel;

// A job's cells are drawn in one batch.
const _: () = assert!(HALF <= BATCH);

/// Edges of one number of channels.
pub(super) struct DrawEdges<'a, 'b, const N: usize> {
    pub jobs: &'a Jobs,
    pub inks: &'a Inks,
    pub axes: Axes<'a>,
    pub borders: &'a [Border],
    pub canvas: &'a mut Canvas<'b>,
}

impl<const N: usize> Kernel for DrawEdges<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut totals = Totals::ZERO;
        self.draw::<Hard>(Kind::Hard, &mut totals);
        self.draw::<SteepRows<N>>(Kind::Steep, &mut totals);
        self.draw::<FlatRows>(Kind::Flat, &mut totals);
    }
}

/// The soft pixels of a kind of line in sixteen rows of a job.
pub(super) trait Fringe<const N: usize> {
    /// That of no line, to be filled in.
    const NONE: Self;

    /// Takes the line, in the rows from `row` on.
    fn prepare(&mut self, line: Option<&Soft>, turn: Turn, row: i32, shape: &Shape<N>, lanes: LaneCount);

    /// Sums up the rows of a cell.
    fn sum(&self, shape: &Shape<N>, cell: &Cell, sums: &mut [Lanes; N], lanes: LaneCount);
}

/// A cell of a job.
pub(super) struct Cell<'a> {
    pub border: &'a Border,
    pub columns: &'a Windows,
    pub column: usize,
    /// How many of the sixteen rows are the cell's.
    pub rows: usize,
}

/// No line.
struct Hard;

impl<const N: usize> Fringe<N> for Hard {
    const NONE: Self = Self;

    #[inline(always)]
    fn prepare(&mut self, _: Option<&Soft>, _: Turn, _: i32, _: &Shape<N>, _: LaneCount) {}

    #[inline(always)]
    fn sum(&self, shape: &Shape<N>, cell: &Cell, sums: &mut [Lanes; N], lanes: LaneCount) {
        for lane in lanes {
            for (channel, sums) in sums.iter_mut().enumerate() {
                sums.0[lane] = shape.sum(cell.border, channel, lane, [0; 3]);
            }
        }
    }
}

/// Where a cell that is drawn comes to be shown.
#[derive(Clone, Copy)]
struct Place<'a> {
    cell: u32,
    channels: &'a Channels,
}

impl<const N: usize> DrawEdges<'_, '_, N> {
    /// Draws those of one kind.
    #[inline(always)]
    fn draw<F: Fringe<N>>(&mut self, kind: Kind, totals: &mut Totals<N>) {
        let Self { jobs, inks, axes: (columns, rows), borders, canvas } = self;
        let edges = &jobs.edges[N - 1][kind as usize][..];
        let Some(Edges { channels, .. }) = edges.first() else { return };
        let width = columns.windows.len() as u32;
        let lanes = LaneCount::new();
        let mut places = [Place { cell: 0, channels }; BATCH];
        let mut job = (Shape::new(Filter::new(columns)), F::NONE);
        let mut sums = [Lanes::ZERO; N];
        let mut rest = edges;
        while !rest.is_empty() {
            let mut count = 0;
            while let Some((edges, behind)) = rest.split_first()
                && count + edges.cells.count_ones() as usize <= BATCH
            {
                rest = behind;
                let row = edges.first / width;
                let (row, column) = (row as usize, (edges.first - row * width) as usize);
                let (window, ink) = (&rows.windows[row], inks.get(edges.ink));
                let mut drawn = count;
                for strip in 0..rows.strips {
                    let start = window.start + (LANES * strip) as i32;
                    let (shape, fringe) = &mut job;
                    shape.prepare(edges, ink, inks.read(ink, start), rows.strip(row, strip), lanes);
                    fringe.prepare(inks.line(edges.line), ink.turn, start, shape, lanes);
                    let end = (window.end - start).clamp(0, LANES as i32) as usize;
                    let mut cells = edges.cells;
                    drawn = count;
                    while cells != 0 {
                        let cell = cells.trailing_zeros();
                        cells &= cells - 1;
                        let column = column + cell as usize;
                        let border = &borders[column];
                        let (shape, fringe) = anew(&job);
                        let cell = edges.first + cell;
                        places[drawn % BATCH] = Place { cell, channels: edges.channels };
                        let cell = Cell { border, columns, column, rows: end };
                        fringe.sum(shape, &cell, &mut sums, lanes);
                        for (channel, sums) in sums.iter().enumerate() {
                            totals.add(channel, drawn, strip, shape.filter.levels(*sums, &shape.weights));
                        }
                        drawn += 1;
                    }
                }
                count = drawn;
            }
            totals.finish(count, rows);
            for (index, place) in places[..count].iter().enumerate() {
                place.channels.write(totals.shrunk(index), place.cell as usize, canvas);
            }
        }
    }
}

/// The first and last column of a cell, which it may share, and what they count: in all lanes, as the compiler
/// widens products of vectors that it knows to be single numbers.
#[derive(Clone, Debug)]
pub(super) struct Border {
    pub lead: Lanes,
    pub tail: Lanes,
    pub start: i16,
    /// The first that is not shared.
    first: i16,
    pub last: i16,
    /// Those between, which count whole, and how many they are.
    pub whole: Interval,
    count: u16,
}

impl Border {
    /// Those of all columns of cells.
    pub fn of(columns: &Windows) -> Vec<Self> {
        let border = |window: &Window| {
            let start = window.start as i16;
            let (first, last) = (start + i16::from(window.lead > 0), window.end as i16 - 1);
            Self {
                lead: Lanes::splat(window.lead),
                tail: Lanes::splat(window.tail),
                start,
                first,
                last,
                whole: Interval::new(first, last),
                count: (last - first) as u16,
            }
        };
        columns.windows.iter().map(border).collect()
    }
}

/// Sixteen rows of a shape, what is under it, and how rows count.
pub(super) struct Shape<const N: usize> {
    left: Places,
    /// Beyond the last.
    end: Places,
    pub inside: Intervals,
    pub channels: [Levels; N],
    filter: Filter,
    weights: Lanes,
}

/// One channel of two colours, in all lanes.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    pub under: Lanes,
    rise: Lanes,
    pub four_under: Lanes,
    /// The bits of four times the colours that differ.
    four_change: Lanes,
}

impl Levels {
    #[inline(always)]
    const fn new(under: u16, over: u16) -> Self {
        Self {
            under: Lanes::splat(under),
            rise: Lanes::splat(over.wrapping_sub(under)),
            four_under: Lanes::splat(4 * under),
            four_change: Lanes::splat(4 * (under ^ over)),
        }
    }

    /// The colour below with the other over it at an opacity from 0 to 256.
    #[inline(always)]
    pub fn blended(&self, opacity: u16, lane: usize) -> u16 {
        (self.under.0[lane] << 8).wrapping_add(self.rise.0[lane].wrapping_mul(opacity)) >> 8
    }
}

impl<const N: usize> Shape<N> {
    /// None.
    #[inline(always)]
    fn new(filter: Filter) -> Self {
        Self {
            left: Places([0; LANES]),
            end: Places([0; LANES]),
            inside: Intervals::NONE,
            channels: [Levels::new(0, 0); N],
            filter,
            weights: Lanes::ZERO,
        }
    }

    /// Takes the colours of a job, its shape's spans and the weights of its rows.
    #[inline(always)]
    fn prepare(
        &mut self,
        edges: &Edges,
        ink: &Ink,
        (left, right): (Places, Places),
        weights: &Lanes,
        lanes: LaneCount,
    ) {
        let unders = edges.channels.levels::<N>(edges.under);
        let overs = edges.channels.levels::<N>(ink.colour);
        for (levels, (under, over)) in self.channels.iter_mut().zip(unders.into_iter().zip(overs)) {
            *levels = Levels::new(under, over);
        }
        self.weights = *weights;
        for lane in lanes {
            let (left, end) = (left.0[lane], right.0[lane].saturating_add(1));
            (self.left.0[lane], self.end.0[lane]) = (left, end);
            self.inside.set(lane, Interval::new(left, end));
        }
    }

    /// The sum across a row: so many columns of one colour, the rest of the other. In the first and last column
    /// and all between, soft pixels change so many bits of four times the level, or add so much.
    #[inline(always)]
    pub fn sum(&self, border: &Border, channel: usize, lane: usize, [lead, tail, more]: [u16; 3]) -> u16 {
        let levels = &self.channels[channel];
        let Border { start, first, last, .. } = *border;
        let whole = self.end.0[lane].min(last).saturating_sub(self.left.0[lane].max(first)).max(0) as u16;
        let (under, change) = (levels.four_under.0[lane], levels.four_change.0[lane]);
        let lead = under ^ self.inside.get(lane).has(start) & change ^ lead;
        let tail = under ^ self.inside.get(lane).has(last) & change ^ tail;
        (levels.under.0[lane].wrapping_mul(border.count))
            .wrapping_add(whole.wrapping_mul(levels.rise.0[lane]))
            .wrapping_add(high(lead, border.lead.0[lane]))
            .wrapping_add(high(tail, border.tail.0[lane]))
            .wrapping_add(more)
    }
}

#[cfg(test)]
mod tests {
    use super::Levels;
    use crate::thumbnail::rows::tests::blends_as_sdl_gfx;

    #[test]
    fn blending_is_sdl_gfx_for_every_pair_and_opacity() {
        blends_as_sdl_gfx(|under, over, opacity| Levels::new(under, over).blended(opacity, 5));
    }
}
