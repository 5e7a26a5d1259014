//! One source for one world and for several: arithmetic over one `f32` or over a [`Pack`] of them.
//!
//! 1. Every operation is the IEEE one, applied per lane: a lane of a pack gets the bits it would get alone.
//!    Nothing is fused, reassociated or approximated.
//! 2. Branches become masks: compute both sides, then [`Lanes::select`].
//! 3. A pack is a plain array and the loops below are left to the vectoriser: intrinsics would need a second
//!    copy of everything for every width.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use crate::trig;
use crate::vec2::Number;

/// One truth value per lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// The mask whose lane `i` is `value(i)`.
    fn from_fn(value: impl FnMut(usize) -> bool) -> Self;

    /// The truth value of lane `index`.
    fn get(self, index: usize) -> bool;

    /// Whether some lane is true.
    fn any(self) -> bool;

    /// Whether every lane is true.
    fn all(self) -> bool;

    /// The mask with the same value in every lane.
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self::from_fn(|_| value)
    }
}

/// One single precision number per lane.
pub trait Lanes: Number + Div<Output = Self> {
    /// What comparisons give.
    type Mask: Mask;

    /// Number of lanes.
    const COUNT: usize;

    /// The same number in every lane.
    fn splat(value: f32) -> Self;

    /// The number in lane `index`.
    fn get(&self, index: usize) -> f32;

    /// Replaces the number in lane `index`.
    fn set(&mut self, index: usize, value: f32);

    /// Lanes where `self < other`.
    fn lt(self, other: Self) -> Self::Mask;

    /// Lanes where `self <= other`.
    fn le(self, other: Self) -> Self::Mask;

    /// Lanes whose bits differ: zeros of opposite sign do, equal not-a-numbers do not.
    fn differs(self, other: Self) -> Self::Mask;

    /// `yes` where the mask is true, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Square root.
    fn sqrt(self) -> Self;

    /// Magnitude.
    fn abs(self) -> Self;

    /// Sine and cosine, as [`trig::sin_cos`].
    fn sin_cos(self) -> (Self, Self);

    /// Lanes where `self > other`.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }

    /// Lanes where `self >= other`.
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }

    /// `self` where it is less than `other`, else `other` (also when unordered), as x86's `minps` and Box2D's
    /// `b2Min`.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }

    /// `self` where it is greater than `other`, else `other` (also when unordered), as x86's `maxps` and
    /// Box2D's `b2Max`.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(self.gt(other), self, other)
    }

    /// `self` kept between `low` and `high`, as Box2D's `b2Clamp`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        low.max(self.min(high))
    }
}

impl Mask for bool {
    #[inline(always)]
    fn from_fn(mut value: impl FnMut(usize) -> bool) -> Self {
        value(0)
    }

    #[inline(always)]
    fn get(self, _: usize) -> bool {
        self
    }

    #[inline(always)]
    fn any(self) -> bool {
        self
    }

    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

impl Lanes for f32 {
    type Mask = bool;

    const COUNT: usize = 1;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn get(&self, _: usize) -> f32 {
        *self
    }

    #[inline(always)]
    fn set(&mut self, _: usize, value: f32) {
        *self = value;
    }

    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }

    #[inline(always)]
    fn differs(self, other: Self) -> bool {
        self.to_bits() != other.to_bits()
    }

    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        trig::sin_cos(self)
    }
}

/// `N` numbers that are worked on together.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub struct Pack<const N: usize>([f32; N]);

/// `N` truth values; a true lane has all bits set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct PackMask<const N: usize>([u32; N]);

impl<const N: usize> Pack<N> {
    /// The pack whose lane `i` is `values[i]`.
    #[inline(always)]
    pub const fn new(values: [f32; N]) -> Self {
        Self(values)
    }

    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| operation(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn compare(self, other: Self, holds: impl Fn(f32, f32) -> bool) -> PackMask<N> {
        PackMask::from_fn(|i| holds(self.0[i], other.0[i]))
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
        Self(self.0.map(|a| -a))
    }
}

impl<const N: usize> BitAnd for PackMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl<const N: usize> BitOr for PackMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl<const N: usize> Not for PackMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|a| !a))
    }
}

impl<const N: usize> Mask for PackMask<N> {
    #[inline(always)]
    fn from_fn(mut value: impl FnMut(usize) -> bool) -> Self {
        Self(std::array::from_fn(|i| u32::from(value(i)).wrapping_neg()))
    }

    #[inline(always)]
    fn get(self, index: usize) -> bool {
        self.0[index] != 0
    }

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
    fn splat(value: f32) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    fn get(&self, index: usize) -> f32 {
        self.0[index]
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: f32) {
        self.0[index] = value;
    }

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
        Self(std::array::from_fn(|i| {
            f32::from_bits((yes.0[i].to_bits() & mask.0[i]) | (no.0[i].to_bits() & !mask.0[i]))
        }))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f32::abs))
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
    use super::{Lanes, Mask, Pack, PackMask};

    const A: [f32; 4] = [1.5, -0.0, f32::NAN, -200.0];
    const B: [f32; 4] = [2.5, 0.0, 1.0, 3.0];

    fn bits(pack: Pack<4>) -> [u32; 4] {
        pack.0.map(f32::to_bits)
    }

    fn alone(operation: impl Fn(f32, f32) -> f32) -> [u32; 4] {
        std::array::from_fn(|i| operation(A[i], B[i]).to_bits())
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
