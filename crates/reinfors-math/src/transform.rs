//! A rigid motion: a rotation followed by a translation, Box2D's `b2Transform`.

use serde::{Deserialize, Serialize};

use crate::rotation::Rotation;
use crate::vec2::{Number, Vec2};

/// Where a body's own coordinates lie in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transform<T = f32> {
    /// The body's origin in the world.
    pub position: Vec2<T>,
    /// The body's orientation.
    pub rotation: Rotation<T>,
}

crate::per_lane!(Transform<L> { position, rotation });

impl Transform {
    /// Body and world coordinates agree.
    pub const IDENTITY: Self = Self { position: Vec2::ZERO, rotation: Rotation::IDENTITY };
}

impl<T: Number> Transform<T> {
    /// The world position of `point`, which is given in the body's coordinates.
    #[inline(always)]
    pub fn apply(&self, point: Vec2<T>) -> Vec2<T> {
        self.rotation.rotate(point) + self.position
    }
}

#[cfg(test)]
mod tests {
    use super::{Rotation, Transform, Vec2};

    #[test]
    fn rotates_first_and_then_moves() {
        let motion =
            Transform { position: Vec2::new(10.0_f32, 0.0), rotation: Rotation { sin: 1.0, cos: 0.0 } };
        assert_eq!(motion.apply(Vec2::new(1.0, 0.0)), Vec2::new(10.0, 1.0));
        assert_eq!(Transform::IDENTITY.apply(Vec2::new(3.0, 4.0)), Vec2::new(3.0, 4.0));
    }
}
