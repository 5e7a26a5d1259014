//! Options of `CarRacing`: name, type, default and one line of documentation, in one declaration.

use super::view::{OBSERVATION, SURFACE};
use crate::frame::frame_options;
use reinfors_core::{Error, Result};
use std::num::NonZeroU32;

frame_options! {
    /// Options of `CarRacing`.
    pub struct CarRacingOptions {
        /// Steering, gas and brake as three numbers per action, rather than one index into a table.
        pub continuous: bool = false;
        /// Table of (steering, gas, brake) that replaces the five discrete actions: nothing, right, left,
        /// gas, brake.
        pub actions: Option<Vec<[f64; 3]>> = None;
        /// Share of the tiles that must be visited before the first tile ends a lap, as the reference has it.
        pub lap_complete_percent: f64 = 0.95, in 0.0..=1.0;
        /// New colours of the road, the ground and the grass at every reset.
        pub domain_randomize: bool = false;
        /// Steps of the simulator after which an episode is truncated; None never truncates.
        pub max_steps: Option<NonZeroU32> = NonZeroU32::new(1000);
    }
    frames OBSERVATION of SURFACE, observing Pixels
}

/// Bounds of (steering, gas, brake).
pub const LOW: [f32; 3] = [-1.0, 0.0, 0.0];
/// Bounds of (steering, gas, brake).
pub const HIGH: [f32; 3] = [1.0, 1.0, 1.0];

/// The reference's five discrete actions as (steering, gas, brake).
const FIVE: [(&str, [f64; 3]); 5] = [
    ("nothing", [0.0, 0.0, 0.0]),
    ("right", [0.6, 0.0, 0.0]),
    ("left", [-0.6, 0.0, 0.0]),
    ("gas", [0.0, 0.2, 0.0]),
    ("brake", [0.0, 0.0, 0.8]),
];

impl CarRacingOptions {
    /// (steering, gas, brake) of each discrete action; empty for continuous control.
    pub fn action_table(&self) -> Vec<[f64; 3]> {
        match &self.actions {
            _ if self.continuous => Vec::new(),
            Some(actions) => actions.clone(),
            None => FIVE.iter().map(|(_, control)| *control).collect(),
        }
    }

    /// What each discrete action does.
    pub fn action_names(&self) -> Vec<String> {
        match &self.actions {
            Some(actions) => {
                actions.iter().map(|[steer, gas, brake]| format!("({steer}, {gas}, {brake})")).collect()
            }
            None => FIVE.iter().map(|(name, _)| String::from(*name)).collect(),
        }
    }

    /// Refuses options that contradict each other and controls that the car does not have.
    ///
    /// # Errors
    /// `actions` together with `continuous=True`; a control outside the bounds; stacked frames without any.
    pub fn check(&self) -> Result<()> {
        self.check_frames()?;
        let Some(actions) = &self.actions else { return Ok(()) };
        if self.continuous {
            return Err(Error::Contradiction(
                "option actions is a table of discrete actions and cannot be given with continuous=True"
                    .into(),
            ));
        }
        for control in actions {
            let inside = |(value, (low, high)): (&f64, (&f32, &f32))| {
                (f64::from(*low)..=f64::from(*high)).contains(value)
            };
            if !control.iter().zip(LOW.iter().zip(&HIGH)).all(inside) {
                return Err(Error::OptionValue {
                    name: "actions",
                    allowed: "(steering, gas, brake) within [-1, 1] x [0, 1] x [0, 1]".into(),
                    given: format!("{control:?}"),
                });
            }
        }
        Ok(())
    }
}
