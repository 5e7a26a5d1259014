//! How cart and pole move: the equations of Barto, Sutton and Anderson in the reference's order of
//! operations.
//!
//! Every operation is in double precision and none is fused, as in NumPy; sine and cosine are `sin_cos_f64`.
//! Source: Gymnasium `cartpole.py` (`__init__`, `step`).

use reinfors_core::rng::Pcg64;
use reinfors_math::trig;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

const GRAVITY: f64 = 9.8;
const MASSCART: f64 = 1.0;
const MASSPOLE: f64 = 0.1;
const TOTAL_MASS: f64 = MASSPOLE + MASSCART;
/// Half the pole's length in metres (`length`).
pub const HALF_LENGTH: f64 = 0.5;
const POLEMASS_LENGTH: f64 = MASSPOLE * HALF_LENGTH;
const FORCE_MAG: f64 = 10.0;
/// Seconds between two states (`tau`).
const TAU: f64 = 0.02;
/// The pole's largest angle in radians (`theta_threshold_radians`).
pub const THETA_THRESHOLD: f64 = 12.0 * 2.0 * PI / 360.0;
/// The cart's farthest position in metres (`x_threshold`).
pub const X_THRESHOLD: f64 = 2.4;
/// Bound of each number of a first state.
const START: f64 = 0.05;

reinfors_core::choice! {
    /// Order in which speeds and positions are advanced (`kinematics_integrator`).
    pub enum Integrator {
        /// Positions by the old speeds.
        Euler = "euler",
        /// Positions by the new speeds.
        SemiImplicitEuler = "semi_implicit_euler",
    }
}

/// Which bound was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fall {
    /// The cart's.
    OffTrack = 0,
    /// The pole's.
    PoleDown = 1,
}

/// Where cart and pole are, and how fast they move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// The cart's place, metres to the right of the middle.
    pub position: f64,
    /// Metres per second.
    pub velocity: f64,
    /// The pole's angle, radians clockwise from upright.
    pub angle: f64,
    /// Radians per second.
    pub angular_velocity: f64,
}

impl Motion {
    /// A first state: four numbers near zero.
    pub fn start(rng: &mut Pcg64) -> Self {
        let [position, velocity, angle, angular_velocity] =
            std::array::from_fn(|_| rng.uniform(-START, START));
        Self { position, velocity, angle, angular_velocity }
    }

    /// The four numbers in the reference's order.
    pub const fn numbers(&self) -> [f64; 4] {
        [self.position, self.velocity, self.angle, self.angular_velocity]
    }

    /// Pushes the cart for one step, to the right or to the left.
    pub fn push(&mut self, to_the_right: bool, integrator: Integrator) {
        let force = if to_the_right { FORCE_MAG } else { -FORCE_MAG };
        let (sin, cos) = trig::sin_cos_f64(self.angle);
        let spin = self.angular_velocity * self.angular_velocity;
        let push = (force + POLEMASS_LENGTH * spin * sin) / TOTAL_MASS;
        let angular_acceleration =
            (GRAVITY * sin - cos * push) / (HALF_LENGTH * (4.0 / 3.0 - MASSPOLE * (cos * cos) / TOTAL_MASS));
        let acceleration = push - POLEMASS_LENGTH * angular_acceleration * cos / TOTAL_MASS;

        let before = *self;
        self.velocity += TAU * acceleration;
        self.angular_velocity += TAU * angular_acceleration;
        let speeds = match integrator {
            Integrator::Euler => before,
            Integrator::SemiImplicitEuler => *self,
        };
        self.position += TAU * speeds.velocity;
        self.angle += TAU * speeds.angular_velocity;
    }

    /// The bound that is passed now, the cart's first.
    pub fn fall(&self) -> Option<Fall> {
        let is_beyond = |value: f64, bound: f64| value < -bound || value > bound;
        if is_beyond(self.position, X_THRESHOLD) {
            Some(Fall::OffTrack)
        } else if is_beyond(self.angle, THETA_THRESHOLD) {
            Some(Fall::PoleDown)
        } else {
            None
        }
    }
}
