//! Joints: what ties two bodies. Each kind is prepared once a step, then warm started and solved.

pub mod revolute;
