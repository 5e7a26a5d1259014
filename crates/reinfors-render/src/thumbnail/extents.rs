//! How far a fill reaches in the rows of each window: the least and the most of its first and last columns.

use super::rows::{LANES, Lanes, Places};
use super::spans::{Fill, Spans};
use super::windows::Windows;
use std::ops::Range;

/// How far a layer reaches in up to sixteen windows; in one without a span, beyond every axis.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    /// Numbers of which the least are looked for, sixteen to each window: first columns, the same turned, last
    /// columns, the same turned. They lie in memory: from registers the compiler would take them one by one.
    numbers: [[Lanes; 4]; LANES],
    pub min_left: Places,
    /// Beyond every axis if some row has no span.
    pub max_left: Places,
    /// Of the rows that have a span.
    pub min_right: Places,
    pub max_right: Places,
}

impl Extents {
    pub const NONE: Self = Self {
        numbers: [[Lanes::ZERO; 4]; LANES],
        min_left: Places([0; LANES]),
        max_left: Places([0; LANES]),
        min_right: Places([0; LANES]),
        max_right: Places([0; LANES]),
    };

    /// Looks at a layer in `wanted`, sixteen windows at most.
    #[inline(always)]
    pub fn look(&mut self, spans: &Spans, fill: &Fill, layer: usize, rows: &Windows, wanted: Range<usize>) {
        let layer = spans.layer(fill, layer);
        let count = wanted.len().min(LANES);
        for (own, window) in self.numbers.iter_mut().zip(&rows.windows[wanted]) {
            let mut least = [Lanes::splat(u16::MAX); 4];
            let mut row = window.start;
            while row < window.end {
                let (left, right) = layer.read(row);
                let beyond = Lanes::beyond(window.end.abs_diff(row) as usize);
                let strip = [left, turned(left), right, turned(right)];
                for (least, strip) in least.iter_mut().zip(strip) {
                    *least =
                        Lanes::from_fn(|lane| (strip.0[lane] as u16 | beyond.0[lane]).min(least.0[lane]));
                }
                row += LANES as i32;
            }
            *own = least;
        }
        let numbers = &self.numbers[..count];
        least::<0>(&mut self.min_left, numbers);
        least::<1>(&mut self.max_left, numbers);
        least::<2>(&mut self.min_right, numbers);
        least::<3>(&mut self.max_right, numbers);
        self.max_left = turned(self.max_left);
        self.max_right = turned(self.max_right);
    }
}

/// The least of each window's numbers of one kind. For each kind alone, or the compiler takes vectors apart.
#[inline(always)]
fn least<const KIND: usize>(least: &mut Places, numbers: &[[Lanes; 4]]) {
    for (least, numbers) in least.0.iter_mut().zip(numbers) {
        *least = numbers[KIND].min() as i16;
    }
}

/// Numbers in the opposite order, those of rows that have no span still the largest if they are last columns.
#[inline(always)]
fn turned(places: Places) -> Places {
    Places::from_fn(|lane| places.0[lane] ^ i16::MAX)
}
