//! Plane vectors over any number. Products are written out in Box2D's order, because the order decides the
//! rounding.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// What a coordinate must be able to do: `f32`, `f64` and every pack of lanes can.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
}

impl<T> Number for T where T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Neg<Output = T> {}

/// A point or a direction of the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vec2<T = f32> {
    /// First coordinate.
    pub x: T,
    /// Second coordinate.
    pub y: T,
}

crate::per_lane!(Vec2<L> { x, y });

impl<T> Vec2<T> {
    /// The vector `(x, y)`.
    #[inline(always)]
    pub const fn new(x: T, y: T) -> Self {
        Self { x, y }
    }
}

impl Vec2<f32> {
    /// The origin.
    pub const ZERO: Self = Self::new(0.0, 0.0);
}

impl<T: Number> Vec2<T> {
    /// `x x' + y y'`.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        self.x * other.x + self.y * other.y
    }

    /// The third coordinate of the cross product, `x y' - y x'`.
    #[inline(always)]
    pub fn cross(self, other: Self) -> T {
        self.x * other.y - self.y * other.x
    }

    /// The velocity, at arm `self`, of a body that turns at `rate`: the cross product of a vertical vector
    /// and this one.
    #[inline(always)]
    pub fn swept_by(self, rate: T) -> Self {
        Self::new(-rate * self.y, rate * self.x)
    }

    /// The square of the length.
    #[inline(always)]
    pub fn length_squared(self) -> T {
        self.dot(self)
    }
}

impl<T: Number> Add for Vec2<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl<T: Number> Sub for Vec2<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl<T: Number> AddAssign for Vec2<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: Number> SubAssign for Vec2<T> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<T: Number> Mul<T> for Vec2<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: T) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }
}

impl<T: Number> Neg for Vec2<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::Vec2;

    #[test]
    fn products_have_their_geometric_meaning() {
        let (right, up) = (Vec2::new(1.0_f32, 0.0), Vec2::new(0.0, 1.0));
        assert_eq!(right.dot(up), 0.0);
        assert_eq!(right.cross(up), 1.0);
        assert_eq!(right.swept_by(2.0), up * 2.0);
        assert_eq!((right * 3.0 - up).length_squared(), 10.0);
    }
}
