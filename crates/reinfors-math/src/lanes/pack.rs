//! A pack of lanes: an array of numbers, each operation a loop over it that the compiler turns into vector
//! instructions of whatever width there is. Loops, not `std::array::from_fn`: its closures are not always
//! inlined, and then miss the instructions of the [`Level`](crate::cpu::Level) that the caller runs at.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{Lanes, Mask, PerLane};
use crate::trig;

/// `N` numbers that are worked on together. Aligned to a vector of 256 bits, so that none straddles two lines
/// of the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Pack<const N: usize>([f32; N]);

/// `N` truth values; a true lane has all bits set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct PackMask<const N: usize>([u32; N]);

impl<const N: usize> Pack<N> {
    /// The pack whose lane `i` is `values[i]`.
    #[inline(always)]
    pub const fn new(values: [f32; N]) -> Self {
        Self(values)
    }

    #[inline(always)]
    fn map(mut self, operation: impl Fn(f32) -> f32) -> Self {
        for i in 0..N {
            self.0[i] = operation(self.0[i]);
        }
        self
    }

    #[inline(always)]
    fn zip(mut self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        for i in 0..N {
            self.0[i] = operation(self.0[i], other.0[i]);
        }
        self
    }

    #[inline(always)]
    fn compare(self, other: Self, holds: impl Fn(f32, f32) -> bool) -> PackMask<N> {
        let mut mask = [0; N];
        for (i, lane) in mask.iter_mut().enumerate() {
            *lane = u32::from(holds(self.0[i], other.0[i])).wrapping_neg();
        }
        PackMask(mask)
    }
}

macro_rules! lanewise {
    ($($trait:ident $method:ident $operator:tt),*) => {$(
        impl<const N: usize> $trait for Pack<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a $operator b)
            }
        }
    )*};
}
lanewise!(Add add +, Sub sub -, Mul mul *, Div div /);

impl<const N: usize> Neg for Pack<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

impl<const N: usize> PackMask<N> {
    #[inline(always)]
    fn zip(mut self, other: Self, operation: impl Fn(u32, u32) -> u32) -> Self {
        for i in 0..N {
            self.0[i] = operation(self.0[i], other.0[i]);
        }
        self
    }
}

impl<const N: usize> BitAnd for PackMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl<const N: usize> BitOr for PackMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl<const N: usize> Not for PackMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(mut self) -> Self {
        for lane in &mut self.0 {
            *lane = !*lane;
        }
        self
    }
}

impl<const N: usize> PerLane for Pack<N> {
    type One = f32;

    #[inline(always)]
    fn splat(one: f32) -> Self {
        Self([one; N])
    }

    #[inline(always)]
    fn get(&self, index: usize) -> f32 {
        self.0[index]
    }

    #[inline(always)]
    fn set(&mut self, index: usize, one: f32) {
        self.0[index] = one;
    }
}

impl<const N: usize> PerLane for PackMask<N> {
    type One = bool;

    #[inline(always)]
    fn splat(one: bool) -> Self {
        Self([u32::from(one).wrapping_neg(); N])
    }

    #[inline(always)]
    fn get(&self, index: usize) -> bool {
        self.0[index] != 0
    }

    #[inline(always)]
    fn set(&mut self, index: usize, one: bool) {
        self.0[index] = u32::from(one).wrapping_neg();
    }
}

impl<const N: usize> Mask for PackMask<N> {
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |bits, lane| bits | lane) != 0
    }

    #[inline(always)]
    fn all(self) -> bool {
        self.0.iter().fold(u32::MAX, |bits, lane| bits & lane) == u32::MAX
    }
}

impl<const N: usize> Lanes for Pack<N> {
    type Mask = PackMask<N>;

    const COUNT: usize = N;

    #[inline(always)]
    fn lt(self, other: Self) -> PackMask<N> {
        self.compare(other, |a, b| a < b)
    }

    #[inline(always)]
    fn le(self, other: Self) -> PackMask<N> {
        self.compare(other, |a, b| a <= b)
    }

    #[inline(always)]
    fn differs(self, other: Self) -> PackMask<N> {
        self.compare(other, |a, b| a.to_bits() != b.to_bits())
    }

    #[inline(always)]
    fn select(mask: PackMask<N>, yes: Self, no: Self) -> Self {
        let mut chosen = no;
        for i in 0..N {
            chosen.0[i] = f32::from_bits((yes.0[i].to_bits() & mask.0[i]) | (no.0[i].to_bits() & !mask.0[i]));
        }
        chosen
    }

    // One comparison and choice per lane is one instruction; through a mask it would be three.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (mut sin, mut cos) = ([0.0; N], [0.0; N]);
        trig::sin_cos_each(&self.0, &mut sin, &mut cos);
        (Self(sin), Self(cos))
    }
}

#[cfg(test)]
mod tests {
    use super::{Lanes, Mask, Pack, PackMask, PerLane};

    const A: [f32; 4] = [1.5, -0.0, f32::NAN, -200.0];
    const B: [f32; 4] = [2.5, 0.0, 1.0, 3.0];

    /// All not-a-numbers are one: their bits depend on whether the compiler or the processor makes them.
    fn bits(pack: Pack<4>) -> [u32; 4] {
        pack.0.map(|number| if number.is_nan() { f32::NAN.to_bits() } else { number.to_bits() })
    }

    fn alone(operation: impl Fn(f32, f32) -> f32) -> [u32; 4] {
        bits(Pack(std::array::from_fn(|i| operation(A[i], B[i]))))
    }

    #[test]
    fn a_lane_gets_the_bits_it_would_get_alone() {
        let (a, b) = (Pack::new(A), Pack::new(B));
        assert_eq!(bits(a + b), alone(|a, b| a + b));
        assert_eq!(bits(a - b), alone(|a, b| a - b));
        assert_eq!(bits(a * b), alone(|a, b| a * b));
        assert_eq!(bits(a / b), alone(|a, b| a / b));
        assert_eq!(bits(Lanes::min(a, b)), alone(Lanes::min));
        assert_eq!(bits(Lanes::max(a, b)), alone(Lanes::max));
        assert_eq!(bits(b.sqrt()), alone(|_, b| Lanes::sqrt(b)));
        assert_eq!(bits(a.sin_cos().0), alone(|a, _| Lanes::sin_cos(a).0));
        assert_eq!(bits(b.sin_cos().1), alone(|_, b| Lanes::sin_cos(b).1));
    }

    #[test]
    fn the_second_operand_wins_ties_and_unordered_pairs() {
        assert_eq!(Lanes::min(-0.0_f32, 0.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!(Lanes::max(0.0_f32, -0.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(Lanes::min(f32::NAN, 1.0), 1.0);
        assert!(Lanes::max(1.0, f32::NAN).is_nan());
    }

    #[test]
    fn comparisons_are_made_per_lane() {
        let (a, b) = (Pack::new(A), Pack::new(B));
        let lanes = |mask: PackMask<4>| std::array::from_fn(|i| mask.get(i));
        assert_eq!(lanes(a.lt(b)), [true, false, false, true]);
        assert_eq!(lanes(a.le(b)), [true, true, false, true]);
        assert_eq!(lanes(a.differs(b)), [true; 4]);
        assert_eq!(lanes(a.differs(a)), [false; 4]);
        assert_eq!(Pack::select(a.lt(b), b, Pack::splat(7.0)).0, [2.5, 7.0, 7.0, 3.0]);
        assert!(a.lt(b).any() && !a.lt(b).all() && PackMask::<4>::splat(true).all());
    }
}
