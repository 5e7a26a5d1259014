//! Sixteen 16-bit lanes: the pixels of one column in sixteen rows, or a number for each of them. Plain loops
//! that become one or two vector instructions at every level.

use std::hint::black_box;
use std::ops::Range;

/// Lanes of a vector.
pub(super) const LANES: usize = 16;

/// Sixteen unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub(super) struct Lanes(pub [u16; LANES]);

/// Sixteen coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub(super) struct Places(pub [i16; LANES]);

impl Lanes {
    pub const ZERO: Self = Self([0; LANES]);

    /// A loop of its own: `std::array::from_fn` is not inlined into kernels.
    #[inline(always)]
    pub fn from_fn(mut lane: impl FnMut(usize) -> u16) -> Self {
        let mut lanes = [0; LANES];
        for (index, value) in lanes.iter_mut().enumerate() {
            *value = lane(index);
        }
        Self(lanes)
    }

    #[inline(always)]
    pub const fn splat(value: u16) -> Self {
        Self([value; LANES])
    }

    /// Numbers from `first` on, one more or, if `direction` is -1, one less in each lane.
    #[inline(always)]
    pub fn steps(first: u16, direction: i32) -> Self {
        /// Those from the one after 0 on, forward and back. None is the same both ways: of vectors that it knows a
        /// lane of, the compiler makes numbers.
        static STEPS: [Lanes; 2] = {
            let mut steps = [[0; LANES]; 2];
            let mut lane = 0;
            while lane < LANES {
                (steps[0][lane], steps[1][lane]) = (lane as u16 + 1, (-1 - lane as i32) as u16);
                lane += 1;
            }
            [Lanes(steps[0]), Lanes(steps[1])]
        };
        Self::splat(first.wrapping_sub(direction as u16)).plus(STEPS[usize::from(direction < 0)])
    }

    /// All bits in lanes from `first` on.
    #[inline(always)]
    pub fn beyond(first: usize) -> Self {
        static MASKS: [u16; 2 * LANES] = {
            let mut masks = [0; 2 * LANES];
            let mut lane = LANES;
            while lane < 2 * LANES {
                masks[lane] = u16::MAX;
                lane += 1;
            }
            masks
        };
        let start = LANES - first.min(LANES);
        Self(MASKS[start..][..LANES].try_into().expect("sixteen lanes"))
    }

    /// The same, through memory: the compiler takes long chains of vectors apart.
    #[inline(always)]
    pub fn settled(self) -> Self {
        black_box(self)
    }

    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self::from_fn(|lane| self.0[lane].wrapping_add(other.0[lane]))
    }

    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        Self::from_fn(|lane| self.0[lane].wrapping_sub(other.0[lane]))
    }

    /// The upper half of each product: SSE2's `mulhi_epu16`.
    #[inline(always)]
    pub fn high(self, factor: Self) -> Self {
        Self::from_fn(|lane| ((u32::from(self.0[lane]) * u32::from(factor.0[lane])) >> 16) as u16)
    }

    /// The lower half of each product.
    #[inline(always)]
    pub fn times(self, factor: Self) -> Self {
        Self::from_fn(|lane| self.0[lane].wrapping_mul(factor.0[lane]))
    }

    /// The same bits, with a sign.
    #[inline(always)]
    pub fn signed(self) -> Places {
        Places::from_fn(|lane| self.0[lane] as i16)
    }

    #[inline(always)]
    pub fn times_four(self) -> Self {
        Self::from_fn(|lane| self.0[lane] << 2)
    }

    #[inline(always)]
    pub fn min(self) -> u16 {
        folded(self.0, u16::min)
    }

    #[inline(always)]
    pub fn sum(self) -> u16 {
        folded(self.0, |a, b| a.wrapping_add(b))
    }

    /// These pixels under `over` at opacities from 0 to 256: `d + ((s - d) * alpha >> 8)` with a flooring shift
    /// (SDL_gfx `_putPixelAlpha`, 32 bits per pixel). `d * (256 - alpha) + s * alpha` is the same number times
    /// 256 and never negative.
    #[inline(always)]
    pub fn under(self, over: u16, opacity: Self) -> Self {
        Self::from_fn(|lane| {
            let alpha = opacity.0[lane];
            self.0[lane].wrapping_mul(256 - alpha).wrapping_add(over.wrapping_mul(alpha)) >> 8
        })
    }

    /// `other` where `left <= x <= right`.
    #[inline(always)]
    pub fn replaced(self, other: u16, left: &Places, right: &Places, x: &Places) -> Self {
        Self::from_fn(|lane| {
            let is_out = mask(left.0[lane] > x.0[lane]) | mask(x.0[lane] > right.0[lane]);
            self.0[lane] & is_out | other & !is_out
        })
    }
}

impl Places {
    /// So many less, as far as there are numbers.
    #[inline(always)]
    pub fn back(self, by: i16) -> Self {
        Self::from_fn(|lane| self.0[lane].saturating_sub(by))
    }

    #[inline(always)]
    pub fn from_fn(mut lane: impl FnMut(usize) -> i16) -> Self {
        let mut lanes = [0; LANES];
        for (index, value) in lanes.iter_mut().enumerate() {
            *value = lane(index);
        }
        Self(lanes)
    }

    #[inline(always)]
    pub fn min(self) -> i16 {
        let mut least = self.0[0];
        for &place in &self.0 {
            least = place.min(least);
        }
        least
    }

    #[inline(always)]
    pub fn max(self) -> i16 {
        let mut most = self.0[0];
        for &place in &self.0 {
            most = place.max(most);
        }
        most
    }
}

/// An interval of coordinates. One comparison tells what lies in it: counted from the first, all else is too
/// large, and what is unsigned is compared as if it were not once the highest bit is turned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    from: i16,
    length: i16,
}

impl Interval {
    /// From `first` on, until before `end`.
    #[inline(always)]
    pub const fn new(first: i16, end: i16) -> Self {
        let length = mask(first < end) as i16 & end.wrapping_sub(first);
        Self { from: first.wrapping_add(i16::MIN), length: length.wrapping_add(i16::MIN) }
    }

    /// Whether `x` lies in it: all bits or none.
    #[inline(always)]
    pub const fn has(self, x: i16) -> u16 {
        mask(x.wrapping_sub(self.from) < self.length)
    }
}

/// Sixteen intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intervals {
    from: Places,
    length: Places,
}

impl Intervals {
    pub const NONE: Self = Self { from: Places([0; LANES]), length: Places([i16::MIN; LANES]) };

    /// The interval of a lane.
    #[inline(always)]
    pub const fn get(&self, lane: usize) -> Interval {
        Interval { from: self.from.0[lane], length: self.length.0[lane] }
    }

    #[inline(always)]
    pub fn set(&mut self, lane: usize, interval: Interval) {
        (self.from.0[lane], self.length.0[lane]) = (interval.from, interval.length);
    }
}

/// Vectors that a step is done for before the next step: as one long row, so that the step is one loop. What
/// is handed on from step to step lies in memory: across steps the compiler takes vectors apart.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Batch([u16; LANES * BATCH]);

/// Vectors in a [`Batch`].
pub(super) const BATCH: usize = 64;

impl Batch {
    pub const ZERO: Self = Self([0; LANES * BATCH]);

    /// Vector `index`, below [`BATCH`]: the remainder spares a check.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Lanes {
        Lanes(self.0.as_chunks().0[index % BATCH])
    }

    #[inline(always)]
    pub fn set(&mut self, index: usize, lanes: Lanes) {
        self.0.as_chunks_mut().0[index % BATCH] = lanes.0;
    }
}

/// What is to be read where it is used. Vectors that a loop does not change are else widened before it, for
/// products of twice the bits that then take thrice the instructions.
#[inline(always)]
pub(super) fn anew<T>(known: &T) -> &T {
    black_box(known)
}

/// The number of lanes, which the compiler does not know: it makes vectors of a loop over so many, but may take
/// them apart once it has written out the rounds of a loop.
#[derive(Clone, Copy)]
pub(super) struct LaneCount(usize);

impl LaneCount {
    #[inline(always)]
    pub fn new() -> Self {
        Self(black_box(1))
    }
}

impl IntoIterator for LaneCount {
    type Item = usize;
    type IntoIter = Range<usize>;

    #[inline(always)]
    fn into_iter(self) -> Range<usize> {
        // Sixteen or none, so that nothing is left after a vector.
        0..LANES * self.0.min(1)
    }
}

/// All bits or none.
#[inline(always)]
pub(super) const fn mask(condition: bool) -> u16 {
    (condition as u16).wrapping_neg()
}

/// Sixteen numbers made one, half with half: an order that vectorises.
#[inline(always)]
fn folded<T: Copy>(mut numbers: [T; LANES], join: impl Fn(T, T) -> T) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            numbers[lane] = join(numbers[lane], numbers[lane + width]);
        }
        width /= 2;
    }
    numbers[0]
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Interval, Intervals, LANES, Lanes, Places, mask};

    /// Holds a way to blend one level over another, at an opacity of 256, to `_putPixelAlpha`.
    pub fn blends_as_sdl_gfx(blended: impl Fn(u16, u16, u16) -> u16) {
        for opacity in 0..=256 {
            for under in 0..=255 {
                for over in [0, 1, 77, 127, 128, 204, 254, 255] {
                    let [d, s, alpha] = [under, over, opacity].map(i32::from);
                    let wanted = d + (((s - d) * alpha) >> 8);
                    let got = i32::from(blended(under, over, opacity));
                    assert_eq!(got, wanted, "{under} under {over} at {opacity}");
                }
            }
        }
    }

    #[test]
    fn blending_is_sdl_gfx_for_every_pair_and_opacity() {
        blends_as_sdl_gfx(|under, over, opacity| {
            let Lanes(blended) = Lanes::splat(under).under(over, Lanes::splat(opacity));
            assert_eq!(blended, [blended[0]; LANES]);
            blended[0]
        });
    }

    #[test]
    fn the_least_and_the_largest_are_found_wherever_they_are() {
        for at in 0..16 {
            for (other, extreme) in [(0, i16::MAX), (-7, -6), (i16::MIN, -1), (0, i16::MIN), (5, 4)] {
                let places = Places::from_fn(|lane| if lane == at { extreme } else { other });
                assert_eq!((places.min(), places.max()), (other.min(extreme), other.max(extreme)));
            }
        }
    }

    #[test]
    fn an_interval_has_what_lies_in_it() {
        let ends = [i16::MIN, -300, -1, 0, 1, 2, 990, i16::MAX];
        for (first, end) in ends.iter().flat_map(|&first| ends.map(|end| (first, end))) {
            let interval = Interval::new(first, end);
            for x in ends.iter().flat_map(|&x| [x.saturating_sub(1), x, x.saturating_add(1)]) {
                assert_eq!(interval.has(x), mask((first..end).contains(&x)), "{x} in {first}..{end}");
            }
            let mut intervals = Intervals::NONE;
            intervals.set(3, interval);
            assert_eq!(intervals.get(3).has(first), interval.has(first));
            assert_eq!(intervals.get(4).has(first), 0);
        }
    }
}
