//! One source for one world and for several: arithmetic over one `f32` or over a [`Pack`] of them.
//!
//! 1. Every operation is the IEEE one, applied per lane: a lane of a pack gets the bits it would get alone.
//!    Nothing is fused, reassociated or approximated.
//! 2. Branches become masks: compute both sides, then [`Lanes::select`].
//! 3. A pack is a plain array and the loops below are left to the vectoriser: intrinsics would need a second
//!    copy of everything for every width.

use std::ops::{BitAnd, BitOr, Div, Not};

use crate::trig;
use crate::vec2::Number;

mod pack;
mod per_lane;

pub use pack::{Pack, PackMask};
pub use per_lane::PerLane;

/// One truth value per lane.
pub trait Mask:
    PerLane<One = bool> + Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Whether some lane is true.
    fn any(self) -> bool;

    /// Whether every lane is true.
    fn all(self) -> bool;
}

/// One single precision number per lane.
pub trait Lanes: PerLane<One = f32> + Number + Div<Output = Self> {
    /// What comparisons give.
    type Mask: Mask;

    /// Number of lanes.
    const COUNT: usize;

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
