//! Options of `CartPole`: name, type, default and one line of documentation, in one declaration.

use super::motion::Integrator;
use super::view::{OBSERVATION, SURFACE};
use crate::frame::frame_options;
use std::num::NonZeroU32;

frame_options! {
    /// Options of `CartPole`.
    pub struct CartPoleOptions {
        /// Pays 0 at every step and -1 at the end, as Sutton and Barto: the same as rf.Reward(alive=0,
        /// fall=-1).
        pub sutton_barto_reward: bool = false;
        /// Order in which speeds and positions are advanced.
        pub integrator: Integrator = Integrator::Euler;
        /// Steps of the simulator after which an episode is truncated; None never truncates.
        pub max_steps: Option<NonZeroU32> = NonZeroU32::new(500);
    }
    frames OBSERVATION of SURFACE, observing State
}
