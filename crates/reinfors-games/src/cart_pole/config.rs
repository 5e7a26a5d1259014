//! Options of `CartPole`: name, type, default and one line of documentation, in one declaration.

use super::motion::Integrator;
use super::view::{OBSERVATION, SURFACE};
use crate::frame::{Frame, FrameSize, Layout, MOST_SKIPPED, MOST_STACKED, Observed};
use reinfors_core::{Error, Result};
use std::num::NonZeroU32;

reinfors_core::options! {
    /// Options of `CartPole`.
    pub struct CartPoleOptions {
        /// Pays 0 at every step and -1 at the end, as Sutton and Barto: the same as rf.Reward(alive=0,
        /// fall=-1).
        pub sutton_barto_reward: bool = false;
        /// Order in which speeds and positions are advanced.
        pub integrator: Integrator = Integrator::Euler;
        /// Steps of the simulator after which an episode is truncated; None never truncates.
        pub max_steps: Option<NonZeroU32> = NonZeroU32::new(500);
        /// Height and width of the pixels, scaled from the reference's own surface.
        pub size: FrameSize<{ SURFACE.width }, { SURFACE.height }> =
            FrameSize::new(OBSERVATION).expect("it has pixels");
        /// One channel of luminance rather than three of colour, by the weights of Gymnasium's
        /// GrayscaleObservation.
        pub gray: bool = false;
        /// Last frames of pixels seen at once, oldest first, along the axis of channels.
        pub frame_stack: NonZeroU32 = NonZeroU32::MIN, in NonZeroU32::MIN..=MOST_STACKED;
        /// Steps of the simulator that each action is repeated for; frames between are not drawn, rewards are
        /// summed.
        pub frame_skip: NonZeroU32 = NonZeroU32::MIN, in NonZeroU32::MIN..=MOST_SKIPPED;
        /// Order of the axes of pixels: "chw" is (3, 64, 96), "hwc" is (64, 96, 3).
        pub layout: Layout = Layout::Chw;
        /// What is observed: the "state" as a vector of named numbers, "pixels", or "both" as a dictionary.
        pub obs: Observed = Observed::State;
    }
}

impl CartPoleOptions {
    /// What observed pixels are like.
    pub fn frame(&self) -> Frame {
        Frame { size: self.size.into(), gray: self.gray, layout: self.layout }
    }

    /// Refuses options that contradict each other.
    ///
    /// # Errors
    /// Stacked frames where there are no pixels.
    pub fn check(&self) -> Result<()> {
        if self.frame_stack > NonZeroU32::MIN && self.obs == Observed::State {
            return Err(Error::Contradiction(format!(
                "option frame_stack={} stacks pixels, which obs=\"state\" does not have",
                self.frame_stack
            )));
        }
        Ok(())
    }
}
