//! The batch PPO trains on: the records of one window with their advantages, row `t * n_games + slot` in
//! every field.

use crate::EngineError;
use crate::buffer::ObservationView;
use crate::gae::{Records, gae};
use crate::rollout::Window;
use crate::telemetry::{HandOver, Telemetry};

/// Raw samples, one per record.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionArray {
    /// Indices, shape `(M,)`.
    Discrete(Vec<i64>),
    /// Vectors before they are clipped to the bounds, shape `(M, dimensions)`.
    Continuous {
        /// Numbers per action.
        dimensions: usize,
        /// `M * dimensions` numbers, C order.
        values: Vec<f32>,
    },
}

impl ActionArray {
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Discrete(indices) => indices.clear(),
            Self::Continuous { values, .. } => values.clear(),
        }
    }

    /// Appends an action that no game is given.
    pub(crate) fn push_blank(&mut self) {
        match self {
            Self::Discrete(indices) => indices.push(0),
            Self::Continuous { dimensions, values } => values.resize(values.len() + *dimensions, 0.0),
        }
    }
}

/// Records of `n_steps` steps of `n_games` slots; `M = n_steps * n_games`.
#[derive(Clone, Debug)]
pub struct PpoBatch {
    /// Slots.
    pub n_games: usize,
    /// Steps of every slot.
    pub n_steps: usize,
    /// What the policy saw, `M` rows.
    pub obs: ObservationView,
    /// What it did: the raw sample.
    pub actions: ActionArray,
    /// Log-density of the raw sample under the policy that acted.
    pub behavior_log_probs: Vec<f32>,
    /// Value estimates that `infer` returned.
    pub values: Vec<f32>,
    /// Rewards.
    pub rewards: Vec<f32>,
    /// GAE(λ), not normalised; computed in float64 and rounded once.
    pub advantages: Vec<f32>,
    /// Advantage plus value, summed in float64 and rounded once.
    pub returns: Vec<f32>,
    /// Whether the step ended the episode.
    pub terminated: Vec<bool>,
    /// Whether the step was the episode's last allowed one.
    pub truncated: Vec<bool>,
    /// Version of the policy that acted.
    pub policy_version: Vec<i64>,
    /// Which game.
    pub slot: Vec<i32>,
    /// Which step of its episode, from 0.
    pub step: Vec<i32>,
    /// The observations that open the next window, `n_games` rows.
    pub last_obs: ObservationView,
    /// Their values.
    pub last_values: Vec<f32>,
    /// Episodes, times, lag, advice.
    pub telemetry: Telemetry,
}

impl PpoBatch {
    /// The batch of a window under discount `gamma` and decay `lam`.
    ///
    /// # Errors
    /// [`EngineError::Overflow`] for rewards, advantages or returns that `float32` cannot hold.
    pub(crate) fn new(window: Window, gamma: f64, lam: f64) -> Result<Self, EngineError> {
        let n_records = window.n_steps * window.n_games;
        let records = Records {
            rewards: &window.rewards,
            values: &window.values,
            terminated: &window.terminated,
            truncated: &window.truncated,
            final_values: &window.final_values,
            last_values: &window.last_values,
        };
        let advantages = gae(records, gamma, lam);
        let returns: Vec<f64> =
            advantages.iter().zip(&window.values).map(|(advantage, value)| advantage + value).collect();
        Ok(Self {
            n_games: window.n_games,
            n_steps: window.n_steps,
            obs: window.observations.view(0..n_records),
            last_obs: window.observations.view(n_records..n_records + window.n_games),
            rewards: rounded("rewards", &window.rewards)?,
            advantages: rounded("advantages", &advantages)?,
            returns: rounded("returns", &returns)?,
            values: rounded("values", &window.values)?,
            last_values: rounded("last_values", &window.last_values)?,
            actions: window.actions,
            behavior_log_probs: window.log_probs,
            terminated: window.terminated,
            truncated: window.truncated,
            policy_version: window.versions,
            slot: window.slots,
            step: window.steps,
            telemetry: window.telemetry,
        })
    }

    /// Number of records `M`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether there are no records; never so for a batch an engine made.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// Adds to the telemetry what is known when the batch is handed over.
    pub(crate) fn handed_over(mut self, how: &HandOver) -> Self {
        self.telemetry.hand_over(how);
        self
    }
}

/// The numbers of a field as `float32`, all of them finite.
fn rounded(field: &'static str, numbers: &[f64]) -> Result<Vec<f32>, EngineError> {
    let rounded: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
    match rounded.iter().position(|number| !number.is_finite()) {
        None => Ok(rounded),
        Some(row) => Err(EngineError::Overflow { field, row, given: numbers[row] }),
    }
}
