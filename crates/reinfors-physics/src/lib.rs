//! Rigid bodies of the plane, exact to Box2D 2.3 as built for x86-64: the same single precision operations in
//! the same order.
//!
//! A game states its bodies and joints as an [`Island`](island::Island) and finds its overlaps with
//! [`collide`]; the solver is written once over lanes, so one island or a pack of them run from the same
//! source to the same bits.

pub mod body;
pub mod collide;
pub mod island;
pub mod joint;
pub mod shape;

/// Box2D's `b2_linearSlop`: the position error, in metres, that the solver leaves alone.
pub const LINEAR_SLOP: f32 = 0.005;

/// Box2D's `b2_angularSlop`: the same for angles, two degrees in radians.
pub const ANGULAR_SLOP: f32 = 2.0 / 180.0 * std::f32::consts::PI;

/// Box2D's `b2_polygonRadius`: the skin around a polygon, in metres.
pub const POLYGON_RADIUS: f32 = 2.0 * LINEAR_SLOP;
