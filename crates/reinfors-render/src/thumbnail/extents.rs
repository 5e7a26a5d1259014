//! How far a fill reaches in the rows of each window: the least and the most of its first and last columns.

use super::rows::{LANES, Lanes, Places, mask};
use super::spans::{Fill, Spans};
use super::windows::Windows;
use std::ops::Range;

/// How far a layer reaches in up to sixteen windows; in one without a span, beyond every axis.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    /// Numbers of which the least are looked for, sixteen to each window: first columns, the same turned, last
    /// columns, the same turned. They lie in memory: from registers the compiler would take them one by one.
    numbers: [[Lanes; LANES]; 4],
    pub min_left: Places,
    /// Beyond every axis if some row has no span.
    pub max_left: Places,
    /// Of the rows that have a span.
    pub min_right: Places,
    pub max_right: Places,
}

impl Extents {
    pub const NONE: Self = Self {
        numbers: [[Lanes::ZERO; LANES]; 4],
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
        for (lane, index) in wanted.enumerate() {
            let mut row = rows.windows[index].start;
            let mut least = [Lanes::splat(u16::MAX); 4];
            for weights in rows.weights(index) {
                let (left, right) = layer.read(row);
                let strip = [left, turned(left), right, turned(right)];
                for (least, strip) in least.iter_mut().zip(strip) {
                    *least = Lanes::from_fn(|lane| {
                        // What weighs nothing is not the window's.
                        let number = strip.0[lane] as u16 | mask(weights.0[lane] == 0);
                        number.min(least.0[lane])
                    });
                }
                row += LANES as i32;
            }
            for (numbers, least) in self.numbers.iter_mut().zip(least) {
                numbers[lane % LANES] = least;
            }
        }
        let [min_left, max_left, min_right, max_right] = &self.numbers;
        least(&mut self.min_left, &min_left[..count]);
        least(&mut self.max_left, &max_left[..count]);
        least(&mut self.min_right, &min_right[..count]);
        least(&mut self.max_right, &max_right[..count]);
        self.max_left = turned(self.max_left);
        self.max_right = turned(self.max_right);
    }
}

/// The least of each sixteen numbers.
#[inline(always)]
fn least(least: &mut Places, numbers: &[Lanes]) {
    for (least, numbers) in least.0.iter_mut().zip(numbers) {
        *least = numbers.min() as i16;
    }
}

/// Numbers in the opposite order, those of rows that have no span still the largest if they are last columns.
#[inline(always)]
fn turned(places: Places) -> Places {
    Places::from_fn(|lane| places.0[lane] ^ i16::MAX)
}
