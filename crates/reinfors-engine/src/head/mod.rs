//! Action heads: how one row of an answer becomes an action, a closed list. Each samples from a slot's own
//! stream and knows the log-density of what it sampled, where there is one.
//!
//! A sample is rounded to `float32`, as the batch stores it, before its log-density is taken: whoever
//! recomputes the density from the batch meets the same number. Transcendental functions are `libm`'s,
//! compiled from Rust, so that samples do not depend on the machine.

mod beta;
mod categorical;
mod direct;
mod epsilon_greedy;
mod gaussian;

pub use beta::Beta;
pub use categorical::Categorical;
pub use direct::Direct;
pub use epsilon_greedy::EpsilonGreedy;
pub use gaussian::Gaussian;

use crate::EngineError;
use crate::batch::ActionArray;
use crate::infer::Answer;
use crate::policy::Policy;
use reinfors_core::ActionSpace;
use reinfors_core::rng::Pcg64;
use serde::{Deserialize, Serialize};

reinfors_core::choice! {
    /// The names of the distributions.
    #[derive(Serialize, Deserialize)]
    pub enum HeadKind {
        /// Logits, one per action; discrete actions.
        Categorical = "categorical",
        /// Means, then logarithms of standard deviations; continuous actions.
        Gaussian = "gaussian",
        /// Alphas, then betas; continuous actions between finite bounds.
        Beta = "beta",
    }
}

impl HeadKind {
    /// Every head.
    pub const ALL: [Self; 3] = [Self::Categorical, Self::Gaussian, Self::Beta];

    /// `"categorical"`, `"gaussian"` or `"beta"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Categorical => "categorical",
            Self::Gaussian => "gaussian",
            Self::Beta => "beta",
        }
    }
}

/// A head fitted to an action space.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// See [`Categorical`].
    Categorical(Categorical),
    /// See [`Gaussian`].
    Gaussian(Gaussian),
    /// See [`Beta`].
    Beta(Beta),
    /// See [`EpsilonGreedy`].
    EpsilonGreedy(EpsilonGreedy),
    /// See [`Direct`].
    Direct(Direct),
}

impl Head {
    /// The head of a policy over `space`.
    ///
    /// # Errors
    /// [`EngineError::Setting`] for a policy of the other kind of action, and for Beta over bounds that are
    /// not finite.
    pub fn new(policy: Policy, space: &ActionSpace) -> Result<Self, EngineError> {
        match (policy, space) {
            (Policy::Ppo { head }, _) => Self::distribution(head, space),
            (Policy::EpsilonGreedy { epsilon }, ActionSpace::Discrete { names }) => {
                Ok(Self::EpsilonGreedy(EpsilonGreedy::new(names.len(), epsilon)))
            }
            (Policy::EpsilonGreedy { .. }, ActionSpace::Continuous { .. }) => Err(EngineError::Setting {
                name: "policy",
                allowed: "Ppo or Direct for a game of continuous actions".into(),
                given: "EpsilonGreedy".into(),
            }),
            (Policy::Direct, _) => Ok(Self::Direct(Direct::new(space))),
        }
    }

    /// The distribution of this kind; `None` is categorical for discrete actions, Gaussian for continuous
    /// ones.
    fn distribution(kind: Option<HeadKind>, space: &ActionSpace) -> Result<Self, EngineError> {
        let refuse = |kind: HeadKind, allowed: &str| {
            Err(EngineError::Setting {
                name: "distribution",
                allowed: allowed.into(),
                given: format!("{:?}", kind.name()),
            })
        };
        match (space, kind) {
            (ActionSpace::Discrete { names }, None | Some(HeadKind::Categorical)) => {
                Ok(Self::Categorical(Categorical::new(names.len())))
            }
            (ActionSpace::Discrete { .. }, Some(kind)) => {
                refuse(kind, "\"categorical\" for a game of discrete actions")
            }
            (ActionSpace::Continuous { low, high }, None | Some(HeadKind::Gaussian)) => {
                Ok(Self::Gaussian(Gaussian::new(low, high)))
            }
            (ActionSpace::Continuous { low, high }, Some(HeadKind::Beta)) => {
                Ok(Self::Beta(Beta::new(low, high)?))
            }
            (ActionSpace::Continuous { .. }, Some(kind)) => {
                refuse(kind, "\"gaussian\" or \"beta\" for a game of continuous actions")
            }
        }
    }

    /// The policy with its distribution named, as it is now.
    #[must_use]
    pub fn policy(&self) -> Policy {
        match self {
            Self::Categorical(_) => Policy::Ppo { head: Some(HeadKind::Categorical) },
            Self::Gaussian(_) => Policy::Ppo { head: Some(HeadKind::Gaussian) },
            Self::Beta(_) => Policy::Ppo { head: Some(HeadKind::Beta) },
            Self::EpsilonGreedy(head) => Policy::EpsilonGreedy { epsilon: head.epsilon },
            Self::Direct(_) => Policy::Direct,
        }
    }

    /// The share of actions that an ε-greedy head draws uniformly; `None` for another.
    pub(crate) fn epsilon(&self) -> Option<f64> {
        if let Self::EpsilonGreedy(head) = self { Some(head.epsilon) } else { None }
    }

    /// Replaces it.
    pub(crate) fn set_epsilon(&mut self, epsilon: f64) {
        if let Self::EpsilonGreedy(head) = self {
            head.epsilon = epsilon;
        }
    }

    /// Numbers that decide one action.
    #[must_use]
    pub fn n_params(&self) -> usize {
        match self {
            Self::Categorical(head) => head.n_params(),
            Self::Gaussian(head) => head.n_params(),
            Self::Beta(head) => head.n_params(),
            Self::EpsilonGreedy(head) => head.n_params(),
            Self::Direct(head) => head.n_params(),
        }
    }

    /// What is needed of an answer, with values or without, and with a state of this shape.
    #[must_use]
    pub fn answer(&self, has_values: bool, state_shape: &[usize]) -> Answer {
        let (decision, decision_shape, is_integer) = match self {
            Self::Categorical(_) | Self::Gaussian(_) | Self::Beta(_) => {
                ("params", vec![self.n_params()], false)
            }
            Self::EpsilonGreedy(_) => ("q_values", vec![self.n_params()], false),
            Self::Direct(head) if head.is_discrete() => ("actions", vec![], true),
            Self::Direct(_) => ("actions", vec![self.n_params()], false),
        };
        Answer { decision, decision_shape, is_integer, has_values, state_shape: state_shape.to_vec() }
    }

    /// An empty array of the actions it samples, with room for `rows`.
    pub(crate) fn empty_actions(&self, rows: usize) -> ActionArray {
        let dimensions = match self {
            Self::Categorical(_) | Self::EpsilonGreedy(_) => None,
            Self::Gaussian(_) | Self::Beta(_) => Some(self.n_params() / 2),
            Self::Direct(head) => (!head.is_discrete()).then(|| head.n_params()),
        };
        match dimensions {
            None => ActionArray::Discrete(Vec::with_capacity(rows)),
            Some(dimensions) => {
                ActionArray::Continuous { dimensions, values: Vec::with_capacity(rows * dimensions) }
            }
        }
    }

    /// Samples the action of one row from `params`, which are finite, appends it to `actions` and what the
    /// game is to be given (clipped to the bounds) to `controls`, and returns the log-density of the raw
    /// sample, unless the head is none of a density.
    ///
    /// # Errors
    /// What is wrong with the parameters, in words.
    pub(crate) fn sample(
        &self,
        params: &[f64],
        rng: &mut Pcg64,
        actions: &mut ActionArray,
        controls: &mut Vec<f64>,
    ) -> Result<Option<f32>, String> {
        let log_prob = match (self, actions) {
            (Self::Categorical(head), ActionArray::Discrete(indices)) => {
                let action = head.sample(params, rng);
                indices.push(action as i64);
                head.log_prob(params, action)
            }
            (Self::Gaussian(head), ActionArray::Continuous { values, .. }) => {
                let start = values.len();
                head.sample(params, rng, values)?;
                head.clip(&values[start..], controls);
                head.log_prob(params, &values[start..])
            }
            (Self::Beta(head), ActionArray::Continuous { values, .. }) => {
                let start = values.len();
                head.sample(params, rng, values)?;
                controls.extend(values[start..].iter().copied().map(f64::from));
                head.log_prob(params, &values[start..])
            }
            (Self::EpsilonGreedy(head), ActionArray::Discrete(indices)) => {
                let action = head.sample(params, rng);
                indices.push(action as i64);
                head.log_prob(params, action)
            }
            (Self::Direct(head), actions) => {
                head.take(params, actions, controls)?;
                return Ok(None);
            }
            _ => unreachable!("the array was made by `empty_actions` of this head"),
        };
        let rounded = log_prob as f32;
        if rounded.is_finite() {
            Ok(Some(rounded))
        } else {
            Err(format!("params {params:?} give the sampled action a log-density of {log_prob:?}"))
        }
    }

    /// Appends the most probable action of one row to `actions`, and what the game is to be given to
    /// `controls`. Nothing is drawn.
    ///
    /// # Errors
    /// What is wrong with the parameters, in words.
    pub(crate) fn mode(
        &self,
        params: &[f64],
        actions: &mut ActionArray,
        controls: &mut Vec<f64>,
    ) -> Result<(), String> {
        match (self, actions) {
            (Self::Categorical(head), ActionArray::Discrete(indices)) => {
                indices.push(head.mode(params) as i64);
            }
            (Self::Gaussian(head), ActionArray::Continuous { values, .. }) => {
                let start = values.len();
                head.mode(params, values)?;
                head.clip(&values[start..], controls);
            }
            (Self::Beta(head), ActionArray::Continuous { values, .. }) => {
                let start = values.len();
                head.mode(params, values)?;
                controls.extend(values[start..].iter().copied().map(f64::from));
            }
            (Self::EpsilonGreedy(head), ActionArray::Discrete(indices)) => {
                indices.push(head.mode(params) as i64);
            }
            (Self::Direct(head), actions) => head.take(params, actions, controls)?,
            _ => unreachable!("the array was made by `empty_actions` of this head"),
        }
        Ok(())
    }
}

/// A standard normal number, by the transformation of Box and Muller.
fn standard_normal(rng: &mut Pcg64) -> f64 {
    // 1 - u is in (0, 1]: its logarithm is finite.
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.next_f64()));
    radius * libm::cos(std::f64::consts::TAU * rng.next_f64())
}

#[cfg(test)]
mod tests;
