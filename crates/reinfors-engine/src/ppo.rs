//! What PPO trains on: values, advantages by GAE(λ) and the returns they imply.

use crate::EngineError;
use crate::batch::rounded;
use crate::gae::{Records, gae};
use crate::rollout::Window;

/// What a PPO batch has beside the records.
#[derive(Clone, Debug, PartialEq)]
pub struct PpoRecords {
    /// Log-density of the raw sample under the policy that acted.
    pub behavior_log_probs: Vec<f32>,
    /// Value estimates that `infer` returned.
    pub values: Vec<f32>,
    /// GAE(λ), not normalised; computed in float64 and rounded once.
    pub advantages: Vec<f32>,
    /// Advantage plus value, summed in float64 and rounded once.
    pub returns: Vec<f32>,
    /// Values of the observations that open the next window, `n_games` of them.
    pub last_values: Vec<f32>,
}

impl PpoRecords {
    /// Those of a window under discount `gamma` and decay `lam`.
    ///
    /// # Errors
    /// [`EngineError::Overflow`] for advantages or returns that `float32` cannot hold.
    pub(crate) fn new(window: &mut Window, gamma: f64, lam: f64) -> Result<Self, EngineError> {
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
            advantages: rounded("advantages", &advantages)?,
            returns: rounded("returns", &returns)?,
            values: rounded("values", &window.values)?,
            last_values: rounded("last_values", &window.last_values)?,
            behavior_log_probs: std::mem::take(&mut window.log_probs),
        })
    }
}
