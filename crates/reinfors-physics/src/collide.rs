//! Whether shapes touch. One question per file: the exact distance, and the overlap that is decided cheaply
//! where it is clear.

mod distance;
mod overlap;

pub use distance::overlaps_by_distance;
pub use overlap::{Convex, Placed, signed_gap};
