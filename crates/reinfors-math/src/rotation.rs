//! A rotation as the sine and cosine of its angle, Box2D's `b2Rot`.

use serde::{Deserialize, Serialize};

use crate::lanes::Lanes;
use crate::vec2::{Number, Vec2};

/// A rotation of the plane, counter-clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rotation<T = f32> {
    /// Sine of the angle.
    pub sin: T,
    /// Cosine of the angle.
    pub cos: T,
}

crate::per_lane!(Rotation<L> { sin, cos });

impl Rotation {
    /// The rotation that leaves everything where it is.
    pub const IDENTITY: Self = Self { sin: 0.0, cos: 1.0 };
}

impl<L: Lanes> Rotation<L> {
    /// The rotation by `angle` radians.
    #[inline(always)]
    pub fn by(angle: L) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { sin, cos }
    }
}

impl<T: Number> Rotation<T> {
    /// `vector` turned by this rotation.
    #[inline(always)]
    pub fn rotate(self, vector: Vec2<T>) -> Vec2<T> {
        Vec2::new(self.cos * vector.x - self.sin * vector.y, self.sin * vector.x + self.cos * vector.y)
    }

    /// `vector` turned back by this rotation.
    #[inline(always)]
    pub fn rotate_back(self, vector: Vec2<T>) -> Vec2<T> {
        Vec2::new(self.cos * vector.x + self.sin * vector.y, -self.sin * vector.x + self.cos * vector.y)
    }
}

#[cfg(test)]
mod tests {
    use super::{Rotation, Vec2};

    #[test]
    fn turning_back_undoes_turning() {
        let quarter = Rotation { sin: 1.0_f32, cos: 0.0 };
        assert_eq!(quarter.rotate(Vec2::new(1.0, 0.0)), Vec2::new(0.0, 1.0));
        assert_eq!(quarter.rotate_back(quarter.rotate(Vec2::new(2.0, 3.0))), Vec2::new(2.0, 3.0));
    }
}
