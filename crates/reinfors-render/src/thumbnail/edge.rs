//! Cells with one shape over one colour. What its spans come to is a formula of each row; a soft pixel is what
//! it makes more or less than the colour below it, wherever the spans do not cover it.
//!
//! A steep line has two soft pixels in each row, which are lanes. A flat one has two in each column, so that
//! columns are lanes and the two or three rows that it crosses are steps.

use super::ink::{Ink, Inks};
use super::jobs::{Edges, Kind};
use super::outline::{FlatRows, Soft, SteepRows};
use super::rows::{LANES, LaneCount, Lanes, Places, anew, mask};
use super::sets::{STRETCH, take_first};
use super::windows::{Axes, Window, Windows};
use crate::canvas::Canvas;
use crate::filter::high;
use reinfors_math::cpu::{Kernel, Level};

/// Edges of one kind and one number of channels.
pub(super) struct DrawEdges<'a, 'b, const N: usize> {
    pub edges: &'a [Edges],
    pub kind: Kind,
    pub inks: &'a Inks,
    pub axes: Axes<'a>,
    pub borders: &'a [Border],
    pub canvas: &'a mut Canvas<'b>,
}

const STEEP: u8 = Kind::Steep as u8;
const FLAT: u8 = Kind::Flat as u8;

impl<const N: usize> DrawEdges<'_, '_, N> {
    /// Draws them with the instructions of a level.
    pub fn run_at(self, level: Level) {
        match self.kind {
            Kind::Hard => level.run(DrawKind::<N, { Kind::Hard as u8 }>(self)),
            Kind::Steep => level.run(DrawKind::<N, STEEP>(self)),
            Kind::Flat => level.run(DrawKind::<N, FLAT>(self)),
        }
    }
}

/// The same, of a kind that the compiler knows.
struct DrawKind<'a, 'b, const N: usize, const KIND: u8>(pub DrawEdges<'a, 'b, N>);

impl<const N: usize, const KIND: u8> Kernel for DrawKind<'_, '_, N, KIND> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let DrawEdges { edges, inks, axes, borders, canvas, .. } = self.0;
        let (columns, rows) = axes;
        let width = columns.windows.len() as u32;
        let lanes = LaneCount::new();
        let (mut totals, mut across) = ([[Lanes::ZERO; N]; STRETCH], [Lanes::ZERO; N]);
        let mut weights = [Lanes::ZERO; 2];
        for edges in edges {
            let (row, column) = ((edges.first / width) as usize, (edges.first % width) as usize);
            let (window, borders) = (&rows.windows[row], &borders[column..]);
            let ink = inks.get(edges.ink);
            let line = ink.line(inks, edges.line);
            for strip in 0..rows.strips {
                let start = window.start + (LANES * strip) as i32;
                let shape =
                    Shape::<N>::new(edges, ink, inks.read(ink, start), rows.strip(row, strip), columns);
                let mut cells = edges.cells;
                match line {
                    Some(Soft::Steep(line)) if KIND == STEEP => {
                        let soft = line.rows(ink.turn, start);
                        while let Some(cell) = take_first(&mut cells) {
                            let (shape, soft, border) = (anew(&shape), anew(&soft), &borders[cell]);
                            soft.weigh(shape, border, &mut weights, lanes);
                            shape.each(&mut across, lanes, |channel, lane| {
                                let sum = shape.sum(border, channel, lane);
                                sum.wrapping_add(soft.rise(shape, &weights, channel, lane))
                            });
                            finish(edges, cell, shape, &across, &mut totals, (strip, rows), canvas);
                        }
                    }
                    Some(Soft::Flat(line)) if KIND == FLAT => {
                        let (soft, rows_left) = (line.rows(ink.turn, start), window.end - start);
                        while let Some(cell) = take_first(&mut cells) {
                            let (shape, soft, border) = (anew(&shape), anew(&soft), &borders[cell]);
                            shape.each(&mut across, lanes, |channel, lane| shape.sum(border, channel, lane));
                            shape.add_flat(soft, columns, column + cell, rows_left, &mut across);
                            finish(edges, cell, shape, &across, &mut totals, (strip, rows), canvas);
                        }
                    }
                    _ => {
                        while let Some(cell) = take_first(&mut cells) {
                            let (shape, border) = (anew(&shape), &borders[cell]);
                            shape.each(&mut across, lanes, |channel, lane| shape.sum(border, channel, lane));
                            finish(edges, cell, shape, &across, &mut totals, (strip, rows), canvas);
                        }
                    }
                }
            }
        }
    }
}

/// Takes the sums across of sixteen rows of a cell; once it has all of them, the cell is written.
#[inline(always)]
fn finish<const N: usize>(
    edges: &Edges,
    cell: usize,
    shape: &Shape<N>,
    across: &[Lanes; N],
    totals: &mut [[Lanes; N]; STRETCH],
    (strip, rows): (usize, &Windows),
    canvas: &mut Canvas,
) {
    let totals = &mut totals[cell % STRETCH];
    for (total, across) in totals.iter_mut().zip(across) {
        let level = across.high(shape.reciprocal).settled().times_four().high(shape.weights);
        *total = if strip == 0 { level } else { total.plus(level) };
    }
    if strip + 1 == rows.strips {
        let mut shrunk = [0; N];
        for (value, total) in shrunk.iter_mut().zip(&*totals) {
            *value = high(total.settled().short_sum(), rows.reciprocal) as u8;
        }
        edges.channels.write(shrunk, edges.first as usize + cell, canvas);
    }
}

/// The first and last column of a cell, which it may share, and what they count: in all lanes, as the compiler
/// takes vectors apart that it knows to be single numbers.
#[derive(Clone, Debug)]
pub(super) struct Border {
    start: Places,
    /// The first that is not shared.
    first: Places,
    last: Places,
    lead: Lanes,
    tail: Lanes,
}

impl Border {
    /// Those of all columns of cells.
    pub fn of(columns: &Windows) -> Vec<Self> {
        let border = |window: &Window| {
            let start = window.start as i16;
            Self {
                start: Places([start; LANES]),
                first: Places([start + i16::from(window.lead > 0); LANES]),
                last: Places([window.end as i16 - 1; LANES]),
                lead: Lanes::splat(window.lead),
                tail: Lanes::splat(window.tail),
            }
        };
        columns.windows.iter().map(border).collect()
    }

    /// How much a pixel counts in column `x`.
    #[inline(always)]
    fn weight(&self, x: i16, lane: usize) -> u16 {
        let (start, first, last) = (self.start.0[lane], self.first.0[lane], self.last.0[lane]);
        let whole = mask(first <= x) & mask(x < last) & 0x4000;
        mask(x == start) & self.lead.0[lane] | mask(x == last) & self.tail.0[lane] | whole
    }
}

/// Sixteen rows of a shape, what is under it, and how rows count.
struct Shape<const N: usize> {
    left: Places,
    right: Places,
    channels: [Levels; N],
    weights: Lanes,
    reciprocal: Lanes,
}

/// One channel of two colours, in all lanes.
#[derive(Clone, Copy)]
struct Levels {
    under: Lanes,
    rise: Lanes,
    four_under: Lanes,
    /// The bits of four times the colours that differ.
    four_change: Lanes,
}

impl Levels {
    #[inline(always)]
    fn new(under: u16, over: u16) -> Self {
        Self {
            under: Lanes::splat(under),
            rise: Lanes::splat(over.wrapping_sub(under)),
            four_under: Lanes::splat(4 * under),
            four_change: Lanes::splat(4 * (under ^ over)),
        }
    }

    /// Four times the colour below with the other over it at an opacity from 0 to 256.
    #[inline(always)]
    fn blended(&self, opacity: u16, lane: usize) -> u16 {
        (self.under.0[lane] << 8).wrapping_add(self.rise.0[lane].wrapping_mul(opacity)) >> 8 << 2
    }
}

impl<const N: usize> Shape<N> {
    #[inline(always)]
    fn new(
        edges: &Edges,
        ink: &Ink,
        (left, right): (Places, Places),
        weights: &Lanes,
        columns: &Windows,
    ) -> Self {
        let unders = edges.channels.levels::<N>(edges.under);
        let overs = edges.channels.levels::<N>(ink.colour);
        let mut channels = [Levels::new(0, 0); N];
        for (levels, (under, over)) in channels.iter_mut().zip(unders.into_iter().zip(overs)) {
            *levels = Levels::new(under, over);
        }
        Self { left, right, channels, weights: *weights, reciprocal: Lanes::splat(columns.reciprocal) }
    }

    /// Fills in a number of each channel and lane.
    #[inline(always)]
    fn each(&self, numbers: &mut [Lanes; N], lanes: LaneCount, number: impl Fn(usize, usize) -> u16) {
        for (channel, numbers) in numbers.iter_mut().enumerate() {
            for lane in lanes {
                numbers.0[lane] = number(channel, lane);
            }
        }
    }

    /// The sum across a row without soft pixels: so many columns of one colour, the rest of the other.
    #[inline(always)]
    fn sum(&self, border: &Border, channel: usize, lane: usize) -> u16 {
        let levels = &self.channels[channel];
        let (start, first, last) = (border.start.0[lane], border.first.0[lane], border.last.0[lane]);
        let (left, right) = (self.left.0[lane], self.right.0[lane]);
        let whole = right.wrapping_add(1).min(last).saturating_sub(left.max(first)).max(0) as u16;
        let (under, change) = (levels.four_under.0[lane], levels.four_change.0[lane]);
        let lead = under ^ mask(left <= start) & mask(start <= right) & change;
        let tail = under ^ mask(left <= last) & mask(last <= right) & change;
        (levels.under.0[lane].wrapping_mul(last.wrapping_sub(first) as u16))
            .wrapping_add(whole.wrapping_mul(levels.rise.0[lane]))
            .wrapping_add(high(lead, border.lead.0[lane]))
            .wrapping_add(high(tail, border.tail.0[lane]))
    }

    /// Whether the span does not hide column `x`.
    #[inline(always)]
    fn shows(&self, x: i16, lane: usize) -> u16 {
        mask(x < self.left.0[lane]) | mask(x > self.right.0[lane])
    }

    /// Adds what the soft pixels of a flat line make more: columns are lanes, and the few rows are steps.
    #[inline(always)]
    fn add_flat(&self, soft: &FlatRows, columns: &Windows, column: usize, rows: i32, sums: &mut [Lanes; N]) {
        let window = &columns.windows[column];
        let mut left = window.start;
        for strip in 0..columns.strips {
            let weights = columns.strip(column, strip);
            let last = ((window.end - left - 1) as usize).min(LANES - 1);
            let block = soft.block(left);
            let (near_row, sign) = (block.near_row.settled(), soft.sign.0[0]);
            let (a, b) = (near_row.0[0], near_row.0[last]);
            let first = (a.min(b) + sign.min(0)).max(0) as usize;
            let end = (a.max(b) + sign.max(0) + 1).clamp(0, rows.min(LANES as i32) as i16) as usize;
            let xs = Places::from_fn(|lane| (left as i16).wrapping_add(lane as i16));
            // A channel after the other: the compiler takes the vectors of several apart.
            for (sums, levels) in sums.iter_mut().zip(&self.channels) {
                let empty = levels.four_under.high(*weights);
                let near = Lanes::from_fn(|lane| levels.blended(block.near.0[lane], lane));
                let far = Lanes::from_fn(|lane| levels.blended(block.far.0[lane], lane));
                let (near, far) = (near.high(*weights).minus(empty), far.high(*weights).minus(empty));
                for row in first..end {
                    let (left, right) = (self.left.0[row % LANES], self.right.0[row % LANES]);
                    // Also tells the compiler not to take rows for lanes.
                    let at = *anew(&(row as i16));
                    let rise = Lanes::from_fn(|lane| {
                        let is_out = mask(xs.0[lane] < left) | mask(xs.0[lane] > right);
                        let near = mask(near_row.0[lane] == at) & near.0[lane];
                        let far = mask(block.far_row.0[lane] == at) & far.0[lane];
                        (near | far) & is_out
                    });
                    // In the row's lane, all the same: what is written as a number is slow to be read as a vector.
                    let rise = rise.sum();
                    for (lane, sum) in sums.0.iter_mut().enumerate() {
                        *sum = sum.wrapping_add(rise & mask(lane as i16 == at));
                    }
                }
            }
            left += LANES as i32;
        }
    }
}

impl SteepRows {
    /// How much they count in a cell, where the span does not hide them.
    #[inline(always)]
    fn weigh<const N: usize>(
        &self,
        shape: &Shape<N>,
        border: &Border,
        [near, far]: &mut [Lanes; 2],
        lanes: LaneCount,
    ) {
        for lane in lanes {
            let x = self.near.0[lane];
            near.0[lane] = border.weight(x, lane) & shape.shows(x, lane);
            let x = self.far.0[lane];
            far.0[lane] = border.weight(x, lane) & shape.shows(x, lane);
        }
    }

    /// What they make more in a row than the colour below them.
    #[inline(always)]
    fn rise<const N: usize>(
        &self,
        shape: &Shape<N>,
        [near, far]: &[Lanes; 2],
        channel: usize,
        lane: usize,
    ) -> u16 {
        let levels = &shape.channels[channel];
        let (under, near, far) = (levels.four_under.0[lane], near.0[lane], far.0[lane]);
        high(levels.blended(self.near_opacity.0[lane], lane), near)
            .wrapping_add(high(levels.blended(self.far_opacity.0[lane], lane), far))
            .wrapping_sub(high(under, near))
            .wrapping_sub(high(under, far))
    }
}

#[cfg(test)]
mod tests {
    use super::Levels;
    use crate::thumbnail::rows::tests::blends_as_sdl_gfx;

    #[test]
    fn blending_is_sdl_gfx_for_every_pair_and_opacity() {
        blends_as_sdl_gfx(|under, over, opacity| {
            let four_times = Levels::new(under, over).blended(opacity, 5);
            assert_eq!(four_times % 4, 0);
            four_times / 4
        });
    }
}
