//! Cells with two shapes that are nothing but spans there: what these come to is a formula of each row.

use super::jobs::Channels;
use super::rows::{LaneCount, Lanes, Places, mask};
use super::windows::Window;
use crate::Colour;
use crate::filter::high;

/// Two spans in each of sixteen rows, and how much of a cell they fill.
pub(super) struct Pair {
    lanes: LaneCount,
    /// Columns of the cell, but for those that it may share, that show the lower shape and the upper one.
    lower: Lanes,
    upper: Lanes,
    /// Whether the first and the last column show them.
    lower_ends: [Lanes; 2],
    upper_ends: [Lanes; 2],
}

impl Pair {
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            lanes: LaneCount::new(),
            lower: Lanes::ZERO,
            upper: Lanes::ZERO,
            lower_ends: [Lanes::ZERO; 2],
            upper_ends: [Lanes::ZERO; 2],
        }
    }

    /// Takes the spans of the lower shape and of the upper one.
    #[inline(always)]
    pub fn set(&mut self, window: &Window, lower: (Places, Places), upper: (Places, Places)) {
        let (start, last) = (window.start as i16, window.end as i16 - 1);
        let first = start + i16::from(window.lead > 0);
        for lane in self.lanes {
            let (left, right) = (lower.0.0[lane], lower.1.0[lane]);
            let (upper_left, upper_right) = (upper.0.0[lane], upper.1.0[lane]);
            let (from, to) = (left.max(first), right.wrapping_add(1).min(last));
            let (upper_from, upper_to) = (upper_left.max(first), upper_right.wrapping_add(1).min(last));
            let both = to.min(upper_to).saturating_sub(from.max(upper_from)).max(0);
            self.lower.0[lane] = (to.saturating_sub(from).max(0) - both) as u16;
            self.upper.0[lane] = upper_to.saturating_sub(upper_from).max(0) as u16;
            for (end, x) in [start, last].into_iter().enumerate() {
                let is_upper = mask(upper_left <= x) & mask(x <= upper_right);
                self.upper_ends[end].0[lane] = is_upper;
                self.lower_ends[end].0[lane] = mask(left <= x) & mask(x <= right) & !is_upper;
            }
        }
    }

    /// Fills in the sums across, of the lower colour and the upper one over a third, which comes first.
    #[inline(always)]
    pub fn sum<const N: usize>(
        &self,
        window: &Window,
        channels: &Channels,
        colours: [Colour; 3],
        sums: &mut [Lanes; N],
    ) {
        let [under, lower, upper] = colours.map(|colour| channels.levels::<N>(colour));
        let (lead, tail) = (Lanes::splat(window.lead).settled(), Lanes::splat(window.tail).settled());
        let whole = window.end - 1 - window.start - i32::from(window.lead > 0);
        for (channel, sums) in sums.iter_mut().enumerate() {
            let (under, lower, upper) = (under[channel], lower[channel], upper[channel]);
            let shown = |lane: usize, end: usize| {
                under
                    ^ (under ^ lower) & self.lower_ends[end].0[lane]
                    ^ (under ^ upper) & self.upper_ends[end].0[lane]
            };
            for lane in self.lanes {
                let ends = [high(shown(lane, 0) << 2, lead.0[lane]), high(shown(lane, 1) << 2, tail.0[lane])];
                sums.0[lane] = (under.wrapping_mul(whole as u16))
                    .wrapping_add(lower.wrapping_sub(under).wrapping_mul(self.lower.0[lane]))
                    .wrapping_add(upper.wrapping_sub(under).wrapping_mul(self.upper.0[lane]))
                    .wrapping_add(ends[0])
                    .wrapping_add(ends[1]);
            }
        }
    }
}
