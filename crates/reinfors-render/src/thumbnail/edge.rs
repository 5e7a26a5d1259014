//! Cells with one shape over one colour: a column of the surface at a time, in registers.

use super::ink::Inks;
use super::jobs::{Edge, Kind};
use super::outline::{FlatColumns, Hard, Opacities, Soft};
use super::rows::{LANES, Lanes, Places};
use super::sums::{add_rows, shrunk};
use super::windows::{Axes, Window};
use crate::canvas::Canvas;
use reinfors_math::cpu::{Kernel, Level};
use std::ops::Range;

/// Edges of one kind and one number of channels.
pub(super) struct DrawEdges<'a, 'b, const N: usize> {
    pub edges: &'a [Edge],
    pub kind: Kind,
    pub inks: &'a Inks,
    pub axes: Axes<'a>,
    pub flat: &'a mut FlatColumns,
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
        let DrawEdges { edges, inks, axes, flat, canvas, .. } = self.0;
        let (columns, rows) = axes;
        let width = columns.windows.len();
        for edge in edges {
            let cell = edge.cell as usize;
            let (row, column) = (cell / width, cell % width);
            let window = &columns.windows[column];
            let ink = inks.get(edge.ink);
            let (under, over) =
                (edge.channels.levels::<N>(edge.under), edge.channels.levels::<N>(ink.colour));
            let mut start = rows.windows[row].start;
            let mut totals = [0; N];
            for weights in rows.weights(row) {
                let span = inks.read(ink, start);
                let shape = Shape { under, over, left: &span.0, right: &span.1, start: window.start as i16 };
                let sums = match ink.line(inks, edge.line) {
                    Some(Soft::Steep(line)) if KIND == STEEP => {
                        shape.sums(window, &line.rows(ink.turn, start, window.start))
                    }
                    Some(Soft::Flat(line)) if KIND == FLAT => {
                        line.columns(ink.turn, start, window.start, window.len(), flat);
                        shape.sums(window, &*flat)
                    }
                    _ => shape.sums(window, &Hard),
                };
                add_rows(&sums, columns, weights, &mut totals);
                start += LANES as i32;
            }
            edge.channels.write(shrunk(totals, rows), cell, canvas);
        }
    }
}

/// The shape of a cell in sixteen rows: its spans, and what is under it.
struct Shape<'a, const N: usize> {
    under: [u16; N],
    over: [u16; N],
    left: &'a Places,
    right: &'a Places,
    /// The first column.
    start: i16,
}

impl<const N: usize> Shape<'_, N> {
    /// The sums across.
    #[inline(always)]
    fn sums(&self, window: &Window, line: &impl Opacities) -> [Lanes; N] {
        let last = window.len() - 1;
        let mut sums = self.soft(last, line);
        for sum in &mut sums {
            *sum = sum.times_four().high(Lanes::splat(window.tail));
        }
        let first = usize::from(window.lead > 0);
        if first > 0 {
            for (sum, pixel) in sums.iter_mut().zip(self.soft(0, line)) {
                *sum = sum.plus(pixel.times_four().high(Lanes::splat(window.lead)));
            }
        }
        let soft = line.columns(last);
        let soft = soft.start.max(first)..soft.end.max(first);
        self.add_hard(first..soft.start, &mut sums);
        for x in soft.clone() {
            for (sum, pixel) in sums.iter_mut().zip(self.soft(x, line)) {
                *sum = sum.plus(pixel);
            }
        }
        self.add_hard(soft.end..last, &mut sums);
        sums
    }

    /// Column `x`, where the line may have soft pixels.
    #[inline(always)]
    fn soft(&self, x: usize, line: &impl Opacities) -> [Lanes; N] {
        let opacities = line.opacities(x as i16);
        let mut pixels = [Lanes::ZERO; N];
        for (pixel, (&under, &over)) in pixels.iter_mut().zip(self.under.iter().zip(&self.over)) {
            let blended = Lanes::blended(under, over, opacities);
            *pixel = blended.replaced(over, self.left, self.right, self.start + x as i16);
        }
        pixels
    }

    /// Adds columns without soft pixels: so many of one colour, the rest of the other.
    #[inline(always)]
    fn add_hard(&self, columns: Range<usize>, sums: &mut [Lanes; N]) {
        if columns.is_empty() {
            return;
        }
        let (start, end) = (self.start + columns.start as i16, self.start + columns.end as i16 - 1);
        let covered = Lanes::from_fn(|lane| {
            let (left, right) = (self.left.0[lane].max(start), self.right.0[lane].min(end));
            let count = right.wrapping_sub(left).wrapping_add(1) as u16;
            if left <= right { count } else { 0 }
        });
        let width = columns.len() as u16;
        for (sum, (&under, &over)) in sums.iter_mut().zip(self.under.iter().zip(&self.over)) {
            *sum = sum.plus(covered.filled(under.wrapping_mul(width), over.wrapping_sub(under)));
        }
    }
}
