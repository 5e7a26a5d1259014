//! Cells with one shape over one colour. What its spans come to is a formula of each row; a soft pixel is what
//! it makes more or less than the colour below it, wherever the spans do not cover it.
//!
//! A steep line has two soft pixels in each row, which are lanes. A flat one has two in each column, so that
//! columns are lanes and the two or three rows that it crosses are steps.

use super::ink::Inks;
use super::jobs::{Edge, Kind};
use super::outline::{Flat, Soft, SteepRows, Turn};
use super::rows::{BATCH, Batch, LANES, Lanes, Places, mask};
use super::sums::Sums;
use super::windows::{Axes, Window};
use crate::canvas::Canvas;
use crate::filter::high;
use reinfors_math::cpu::{Kernel, Level};

/// Edges of one kind and one number of channels.
pub(super) struct DrawEdges<'a, 'b, const N: usize> {
    pub edges: &'a [Edge],
    pub kind: Kind,
    pub inks: &'a Inks,
    pub axes: Axes<'a>,
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
        let DrawEdges { edges, inks, axes, canvas, .. } = self.0;
        let (columns, rows) = axes;
        let width = columns.windows.len() as u32;
        let (mut sums, mut soft) = (Sums::<N>::ZERO, SoftPixels::<N>::NONE);
        for edges in edges.chunks(BATCH) {
            sums.begin(edges.len());
            for strip in 0..rows.strips {
                for (index, edge) in edges.iter().enumerate() {
                    let (row, column) = ((edge.cell / width) as usize, (edge.cell % width) as usize);
                    let ink = inks.get(edge.ink);
                    let shape = Shape::<N> {
                        window: &columns.windows[column],
                        under: edge.channels.levels(edge.under),
                        over: edge.channels.levels(ink.colour),
                    };
                    let start = rows.windows[row].start + (LANES * strip) as i32;
                    let span = inks.read(ink, start);
                    sums.rows[index] = row;
                    shape.sum(&span, index, &mut sums.across);
                    match inks.lines.get(ink.lines.start.wrapping_add(edge.line as usize)) {
                        Some(Soft::Steep(line)) if KIND == STEEP => {
                            soft.set(index, &line.rows(ink.turn, start, 0), &shape, &span);
                        }
                        Some(Soft::Flat(line)) if KIND == FLAT => {
                            let (weights, place) = (columns.weights(column), (ink.turn, start));
                            shape.add_flat(line, weights, place, &span, index, &mut sums.across);
                        }
                        _ => {}
                    }
                }
                if KIND == STEEP {
                    soft.add(edges.len(), &mut sums.across);
                }
                sums.add(edges.len(), strip, axes);
            }
            for (index, edge) in edges.iter().enumerate() {
                edge.channels.write(sums.shrunk(index, rows), edge.cell as usize, canvas);
            }
        }
    }
}

/// Two soft pixels in each row of some cells: how much each counts where it shows, and its opacity.
struct SoftPixels<const N: usize> {
    near: [Batch; 2],
    far: [Batch; 2],
    under: [Batch; N],
    rises: [Batch; N],
}

impl<const N: usize> SoftPixels<N> {
    const NONE: Self = Self {
        near: [Batch::ZERO; 2],
        far: [Batch::ZERO; 2],
        under: [Batch::ZERO; N],
        rises: [Batch::ZERO; N],
    };

    /// Those of a steep line.
    #[inline(always)]
    fn set(&mut self, index: usize, line: &SteepRows, shape: &Shape<N>, span: &(Places, Places)) {
        self.near[0].set(index, shape.weights(&line.near, span));
        self.near[1].set(index, line.near_opacity);
        self.far[0].set(index, shape.weights(&line.far, span));
        self.far[1].set(index, line.far_opacity);
        for (channel, (&under, &over)) in shape.under.iter().zip(&shape.over).enumerate() {
            self.under[channel].set(index, Lanes::splat(under));
            self.rises[channel].set(index, Lanes::splat(over.wrapping_sub(under)));
        }
    }

    /// Adds what they make more than the colour below them.
    #[inline(always)]
    fn add(&self, count: usize, sums: &mut [Batch; N]) {
        for (sums, (under, rises)) in sums.iter_mut().zip(self.under.iter().zip(&self.rises)) {
            let (sums, under, rises) = (sums.row_mut(count), under.row(count), rises.row(count));
            for [weights, opacities] in [&self.near, &self.far] {
                let (weights, opacities) = (weights.row(count), opacities.row(count));
                for lane in 0..sums.len() {
                    let rise = rises[lane].wrapping_mul(opacities[lane]);
                    let pixel = (under[lane] << 8).wrapping_add(rise) >> 8;
                    let (soft, empty) =
                        (high(pixel << 2, weights[lane]), high(under[lane] << 2, weights[lane]));
                    sums[lane] = sums[lane].wrapping_add(soft.wrapping_sub(empty));
                }
            }
        }
    }
}

/// The columns of a cell, what is under its shape, and the shape's colour.
struct Shape<'a, const N: usize> {
    window: &'a Window,
    under: [u16; N],
    over: [u16; N],
}

impl<const N: usize> Shape<'_, N> {
    /// The sums across of sixteen rows without soft pixels: so many columns of one colour, the rest of the
    /// other.
    #[inline(always)]
    fn sum(&self, (left, right): &(Places, Places), index: usize, sums: &mut [Batch; N]) {
        let &Window { start, end, lead, tail } = self.window;
        let (start, last) = (start as i16, end as i16 - 1);
        let first = start + i16::from(lead > 0);
        let whole = Lanes::from_fn(|lane| {
            let (left, right) = (left.0[lane].max(first), right.0[lane].min(last - 1));
            right.saturating_sub(left).wrapping_add(1).max(0) as u16
        });
        let has = |x: i16| Lanes::from_fn(|lane| mask(left.0[lane] <= x) & mask(x <= right.0[lane]));
        let (has_start, has_last) = (has(start), has(last));
        let width = (last - first) as u16;
        for (sums, (&under, &over)) in sums.iter_mut().zip(self.under.iter().zip(&self.over)) {
            let shared = |level: u16| (high(4 * level, lead), high(4 * level, tail));
            let ((lead, tail), (over_lead, over_tail)) = (shared(under), shared(over));
            let empty = under.wrapping_mul(width).wrapping_add(lead).wrapping_add(tail);
            let rises =
                (over.wrapping_sub(under), over_lead.wrapping_sub(lead), over_tail.wrapping_sub(tail));
            let sum = Lanes::from_fn(|lane| {
                empty
                    .wrapping_add(whole.0[lane].wrapping_mul(rises.0))
                    .wrapping_add(has_start.0[lane] & rises.1)
                    .wrapping_add(has_last.0[lane] & rises.2)
            });
            sums.set(index, sum);
        }
    }

    /// How much pixels count in columns `places`: those in the span do not show.
    #[inline(always)]
    fn weights(&self, places: &Places, (left, right): &(Places, Places)) -> Lanes {
        let &Window { start, end, lead, tail } = self.window;
        let (start, last) = (start as i16, end as i16 - 1);
        let first = start + i16::from(lead > 0);
        Lanes::from_fn(|lane| {
            let x = places.0[lane];
            let whole = mask(first <= x) & mask(x < last) & 0x4000;
            let weight = mask(x == start) & lead | mask(x == last) & tail | whole;
            weight & (mask(x < left.0[lane]) | mask(x > right.0[lane]))
        })
    }

    /// Adds what the soft pixels of a flat line make more: columns are lanes, and the few rows are steps.
    #[inline(always)]
    fn add_flat(
        &self,
        line: &Flat,
        weights: &[Lanes],
        (turn, row): (Turn, i32),
        (left, right): &(Places, Places),
        index: usize,
        sums: &mut [Batch; N],
    ) {
        let mut start = self.window.start;
        for weights in weights {
            let Some([first, last]) = line.strip(turn, row, start..self.window.end.min(start + LANES as i32))
            else {
                start += LANES as i32;
                continue;
            };
            let block = line.block(turn, row, start);
            let x = start as i16;
            // A channel after the other: the compiler takes the vectors of several apart.
            for (sums, (&under, &over)) in sums.iter_mut().zip(self.under.iter().zip(&self.over)) {
                let empty = Lanes::splat(4 * under).high(*weights);
                let near = Lanes::blended(under, over, block.near).times_four().high(*weights).minus(empty);
                let far = Lanes::blended(under, over, block.far).times_four().high(*weights).minus(empty);
                for row in first..=last {
                    let (left, right) = (left.0[row].wrapping_sub(x), right.0[row].wrapping_sub(x));
                    let at = row as i16;
                    let rise = Lanes::from_fn(|lane| {
                        let is_out = mask((lane as i16) < left) | mask(lane as i16 > right);
                        let near = mask(block.near_row.0[lane] == at) & near.0[lane];
                        let far = mask(block.far_row.0[lane] == at) & far.0[lane];
                        (near | far) & is_out
                    });
                    let sum = sums.at(index, row);
                    *sum = sum.wrapping_add(rise.sum());
                }
            }
            start += LANES as i32;
        }
    }
}
