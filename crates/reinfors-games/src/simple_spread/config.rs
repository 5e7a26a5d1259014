//! Options of `SimpleSpread`: name, type, default and one line of documentation, in one declaration.

use std::num::NonZeroU32;

/// The most agents of a world: forces are between all pairs of them.
const MOST_AGENTS: NonZeroU32 = NonZeroU32::new(64).unwrap();

reinfors_core::options! {
    /// Options of `SimpleSpread`.
    pub struct SimpleSpreadOptions {
        /// Agents, and as many landmarks.
        pub n_agents: NonZeroU32 = NonZeroU32::new(3).unwrap(), in NonZeroU32::MIN..=MOST_AGENTS;
        /// Five numbers from 0 to 1 per agent in place of five numbered actions.
        pub continuous: bool = false;
        /// Ends an episode when each landmark has an agent within 0.1 of it, but at its last step.
        pub terminate_on_success: bool = false;
        /// Steps of the simulator after which an episode is truncated; None never truncates.
        pub max_steps: Option<NonZeroU32> = NonZeroU32::new(25);
    }
}
