//! Tests of the drawing crate from outside: what a game's view can ask for.

mod circle;
mod scene_fuzz;
mod sketch;
