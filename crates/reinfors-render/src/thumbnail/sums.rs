//! The filter's last steps: the sums across of a cell's rows become one number of each channel.

use super::rows::{BATCH, Batch, Lanes};
use super::windows::Windows;
use crate::filter::high;

/// Makes levels of sums across.
pub(super) struct Filter {
    reciprocal: Lanes,
    /// The number, where the compiler cannot see it: it joins two shifts, and then widens the product between.
    four: Lanes,
}

impl Filter {
    #[inline(always)]
    pub fn new(columns: &Windows) -> Self {
        Self { reciprocal: Lanes::splat(columns.reciprocal), four: Lanes::splat(4) }
    }

    /// What the sums across sixteen rows come to, each as far as its row counts. Read the filter
    /// [`anew`](super::rows::anew).
    #[inline(always)]
    pub fn levels(&self, across: Lanes, weights: &Lanes) -> Lanes {
        across.high(self.reciprocal).times(self.four).high(*weights)
    }
}

/// What the rows of cells come to, sixteen sums of each cell that are yet to become one.
pub(super) struct Totals<const N: usize> {
    rows: [Batch; N],
    /// What each cell comes out as.
    shrunk: [[u64; BATCH]; N],
}

impl<const N: usize> Totals<N> {
    pub const ZERO: Self = Self { rows: [Batch::ZERO; N], shrunk: [[0; BATCH]; N] };

    /// Takes the levels of a strip of a cell, each as far as its row counts.
    #[inline(always)]
    pub fn add(&mut self, channel: usize, index: usize, strip: usize, levels: Lanes) {
        let rows = &mut self.rows[channel];
        rows.set(index, if strip == 0 { levels } else { rows.get(index).plus(levels) });
    }

    /// All rows are in: what is left is one number a cell.
    #[inline(always)]
    pub fn finish(&mut self, count: usize, rows: &Windows) {
        for (totals, shrunk) in self.rows.iter().zip(&mut self.shrunk) {
            // They are few enough for a total to fit, so that four of them are added side by side.
            for (index, shrunk) in shrunk[..count].iter_mut().enumerate() {
                let mut sum = 0;
                for &[a, b, c, d] in totals.get(index).0.as_chunks::<4>().0 {
                    sum += u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48;
                }
                *shrunk = sum;
            }
            for shrunk in &mut shrunk[..count] {
                let half = *shrunk + (*shrunk >> 32);
                let sum = (half + (half >> 16)) as u16;
                *shrunk = high(sum, rows.reciprocal).into();
            }
        }
    }

    /// What a cell comes out as.
    #[inline(always)]
    pub fn shrunk(&self, index: usize) -> [u8; N] {
        let mut shrunk = [0; N];
        for (value, cells) in shrunk.iter_mut().zip(&self.shrunk) {
            *value = cells[index % BATCH] as u8;
        }
        shrunk
    }
}
