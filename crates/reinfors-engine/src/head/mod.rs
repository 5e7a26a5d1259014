//! Action heads: distributions over actions, a closed list. Each samples from a slot's own stream and knows
//! the log-density of what it sampled.
//!
//! A sample is rounded to `float32`, as the batch stores it, before its log-density is taken: whoever
//! recomputes the density from the batch meets the same number. Transcendental functions are `libm`'s,
//! compiled from Rust, so that samples do not depend on the machine.

mod beta;
mod categorical;
mod gaussian;

pub use beta::Beta;
pub use categorical::Categorical;
pub use gaussian::Gaussian;

use crate::EngineError;
use crate::ppo::ActionArray;
use reinfors_core::ActionSpace;
use reinfors_core::rng::Pcg64;
use serde::{Deserialize, Serialize};

/// The names of the heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeadKind {
    /// Logits, one per action; discrete actions.
    Categorical,
    /// Means, then logarithms of standard deviations; continuous actions.
    Gaussian,
    /// Alphas, then betas; continuous actions between finite bounds.
    Beta,
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

    /// The head of this name.
    ///
    /// # Errors
    /// [`EngineError::Setting`] with the names there are.
    pub fn parse(name: &str) -> Result<Self, EngineError> {
        Self::ALL.into_iter().find(|head| head.name() == name).ok_or_else(|| EngineError::Setting {
            name: "head",
            allowed: format!("one of {}", Self::ALL.map(|head| format!("{:?}", head.name())).join(", ")),
            given: format!("{name:?}"),
        })
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
}

impl Head {
    /// The head of this kind over `space`; `None` is categorical for discrete actions, Gaussian for
    /// continuous ones.
    ///
    /// # Errors
    /// [`EngineError::Setting`] for a head of the other kind of action, and for Beta over bounds that are not
    /// finite.
    pub fn new(kind: Option<HeadKind>, space: &ActionSpace) -> Result<Self, EngineError> {
        let refuse = |kind: HeadKind, allowed: &str| {
            Err(EngineError::Setting {
                name: "head",
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

    /// Which one it is.
    #[must_use]
    pub fn kind(&self) -> HeadKind {
        match self {
            Self::Categorical(_) => HeadKind::Categorical,
            Self::Gaussian(_) => HeadKind::Gaussian,
            Self::Beta(_) => HeadKind::Beta,
        }
    }

    /// Columns of `params`.
    #[must_use]
    pub fn n_params(&self) -> usize {
        match self {
            Self::Categorical(head) => head.n_params(),
            Self::Gaussian(head) => head.n_params(),
            Self::Beta(head) => head.n_params(),
        }
    }

    /// An empty array of the actions it samples, with room for `rows`.
    pub(crate) fn empty_actions(&self, rows: usize) -> ActionArray {
        match self {
            Self::Categorical(_) => ActionArray::Discrete(Vec::with_capacity(rows)),
            Self::Gaussian(_) | Self::Beta(_) => {
                let dimensions = self.n_params() / 2;
                ActionArray::Continuous { dimensions, values: Vec::with_capacity(rows * dimensions) }
            }
        }
    }

    /// Samples the action of one row from `params`, which are finite, appends it to `actions` and what the
    /// game is to be given (clipped to the bounds) to `controls`, and returns the log-density of the raw
    /// sample.
    ///
    /// # Errors
    /// What is wrong with the parameters, in words.
    pub(crate) fn sample(
        &self,
        params: &[f64],
        rng: &mut Pcg64,
        actions: &mut ActionArray,
        controls: &mut Vec<f64>,
    ) -> Result<f32, String> {
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
            _ => unreachable!("the array was made by `empty_actions` of this head"),
        };
        let rounded = log_prob as f32;
        if rounded.is_finite() {
            Ok(rounded)
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
