//! Vectors, rotations, rigid motions, exact trigonometry and exponentials, lanes.
//!
//! Everything is generic over the number, so that the same source runs on one `f32` or on a [`lanes::Pack`]
//! of them.

pub mod cpu;
pub mod exponential;
pub mod lanes;
mod rotation;
mod transform;
pub mod trig;
mod vec2;

pub use rotation::Rotation;
pub use transform::Transform;
pub use vec2::{Number, Vec2};
