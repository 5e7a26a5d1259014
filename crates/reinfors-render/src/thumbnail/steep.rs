//! Edges with a steep line: it has two soft pixels in each row, and rows are lanes.

use super::edge::{Cell, Fringe, Shape};
use super::outline::{Soft, Turn};
use super::rows::{Interval, LANES, LaneCount, Lanes, Places, anew, mask};
use crate::filter::high;

/// The two soft pixels of a line in each of sixteen rows.
pub(super) struct SteepRows<const N: usize> {
    slope: Lanes,
    near: Pixels<N>,
    far: Pixels<N>,
}

/// One pixel in each row.
struct Pixels<const N: usize> {
    /// The column, or -1 where there is none, or where the shape's spans hide it.
    column: Places,
    channels: [Change; N],
}

/// How a channel differs from the colour below.
#[derive(Clone, Copy)]
struct Change {
    rise: Lanes,
    /// The bits of four times the levels that differ.
    four_change: Lanes,
}

impl<const N: usize> Pixels<N> {
    const NONE: Self = Self {
        column: Places([-1; LANES]),
        channels: [Change { rise: Lanes::ZERO, four_change: Lanes::ZERO }; N],
    };

    /// Fills in the pixel of a row, unless there is none or the shape's spans hide it.
    #[inline(always)]
    fn set(&mut self, lane: usize, column: i16, opacity: u16, is_none: u16, shape: &Shape<N>) {
        let is_hidden = is_none | shape.inside.get(lane).has(column);
        self.column.0[lane] = column | is_hidden as i16;
        for (change, levels) in self.channels.iter_mut().zip(&shape.channels) {
            let (under, blended) = (levels.under.0[lane], levels.blended(opacity, lane));
            change.rise.0[lane] = blended.wrapping_sub(under);
            change.four_change.0[lane] = (blended ^ under) << 2;
        }
    }
}

impl<const N: usize> Fringe<N> for SteepRows<N> {
    const NONE: Self = Self { slope: Lanes::ZERO, near: Pixels::NONE, far: Pixels::NONE };

    #[inline(always)]
    fn prepare(&mut self, line: Option<&Soft>, turn: Turn, row: i32, shape: &Shape<N>, lanes: LaneCount) {
        let Some(Soft::Steep(line)) = line else { unreachable!("a steep line") };
        let first = (turn.row(row) - line.y) as i16;
        let (x, direction, rows) = (line.x as i16, line.direction as i16, line.rows as i16);
        let soft = Interval::new(1, rows);
        self.slope = Lanes::splat(line.slope);
        let slope = *anew(&self.slope);
        for lane in lanes {
            let step = first.wrapping_add((turn.sign as i16).wrapping_mul(lane as i16));
            let aside = high(step as u16, slope.0[lane]) as i16;
            let weight = (step as u16).wrapping_mul(slope.0[lane]) >> 8;
            let near = x.wrapping_add(direction.wrapping_mul(aside));
            let is_none = !soft.has(step);
            // The opacity of a pixel that gets `weight` of 255 parts is `255 * weight / 256`.
            self.near.set(lane, near, 254_u16.saturating_sub(weight), is_none, shape);
            self.far.set(lane, near.wrapping_add(direction), weight.saturating_sub(1), is_none, shape);
        }
    }

    #[inline(always)]
    fn sum(&self, shape: &Shape<N>, cell: &Cell, sums: &mut [Lanes; N], lanes: LaneCount) {
        let border = cell.border;
        for lane in lanes {
            for (channel, sums) in sums.iter_mut().enumerate() {
                let mut more = [0; 3];
                for pixels in [&self.near, &self.far] {
                    let (x, change) = (pixels.column.0[lane], &pixels.channels[channel]);
                    let (rise, four_change) = (change.rise.0[lane], change.four_change.0[lane]);
                    more[0] ^= mask(x == border.start) & four_change;
                    more[1] ^= mask(x == border.last) & four_change;
                    more[2] = (border.whole.has(x) & rise).wrapping_add(more[2]);
                }
                sums.0[lane] = shape.sum(border, channel, lane, more);
            }
        }
    }
}
