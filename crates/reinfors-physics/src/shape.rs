//! Shapes: what a body is made of.

mod polygon;

pub use polygon::{MAX_VERTICES, MassProperties, Polygon};
