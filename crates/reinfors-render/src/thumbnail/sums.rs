//! The filter's last steps: the sums across of a cell's rows become one number of each channel.

use super::rows::{BATCH, Batch};
use super::windows::{Axes, Windows};
use crate::filter::high;

/// Cells on their way through the filter, step after step for all of them.
pub(super) struct Sums<const N: usize> {
    /// What sixteen rows of each cell sum up to.
    pub across: [Batch; N],
    /// What the rows so far sum up to, each as far as it counts: sixteen sums that are yet to become one.
    totals: [Batch; N],
    /// The row of the picture that each cell lies in.
    pub rows: [usize; BATCH],
}

impl<const N: usize> Sums<N> {
    pub const ZERO: Self = Self { across: [Batch::ZERO; N], totals: [Batch::ZERO; N], rows: [0; BATCH] };

    /// So many cells begin.
    #[inline(always)]
    pub fn begin(&mut self, count: usize) {
        for totals in &mut self.totals {
            totals.row_mut(count).fill(0);
        }
    }

    /// Takes what was summed across, in a strip of each cell.
    #[inline(always)]
    pub fn add(&mut self, count: usize, strip: usize, (columns, rows): Axes) {
        for (across, totals) in self.across.iter_mut().zip(&mut self.totals) {
            for sum in across.row_mut(count) {
                *sum = high(*sum, columns.reciprocal);
            }
            for (index, &row) in self.rows[..count].iter().enumerate() {
                let level = across.get(index).times_four().high(*rows.strip(row, strip));
                totals.set(index, totals.get(index).plus(level));
            }
        }
    }

    /// What a cell comes out as.
    #[inline(always)]
    pub fn shrunk(&self, index: usize, rows: &Windows) -> [u8; N] {
        let mut shrunk = [0; N];
        for (value, totals) in shrunk.iter_mut().zip(&self.totals) {
            *value = high(totals.get(index).short_sum(), rows.reciprocal) as u8;
        }
        shrunk
    }
}
