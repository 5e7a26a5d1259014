//! The filter's last steps: the sums across of sixteen rows become one number of each channel.

use super::rows::Lanes;
use super::windows::Windows;

/// Adds sixteen rows, of which the weights say how much each counts, to what the rows of a cell sum up to.
#[inline(always)]
pub(super) fn add_rows<const N: usize>(
    sums: &[Lanes; N],
    columns: &Windows,
    weights: &Lanes,
    totals: &mut [u16; N],
) {
    for (total, sum) in totals.iter_mut().zip(sums) {
        let across = sum.high(Lanes::splat(columns.reciprocal));
        *total = total.wrapping_add(across.times_four().high(*weights).sum());
    }
}

/// What a cell comes out as.
#[inline(always)]
pub(super) fn shrunk<const N: usize>(totals: [u16; N], rows: &Windows) -> [u8; N] {
    let mut shrunk = [0; N];
    for (value, total) in shrunk.iter_mut().zip(totals) {
        *value = ((u32::from(total) * u32::from(rows.reciprocal)) >> 16) as u8;
    }
    shrunk
}
