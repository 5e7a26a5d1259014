//! How actions are chosen from what `infer` returns: a closed list, each with its settings declared once.
//!
//! A policy names a [`Head`](crate::Head); that it remembers something from step to step (`state_shape`) is a
//! setting beside the list, as every policy may.

use crate::EngineError;
use crate::head::HeadKind;
use reinfors_core::{OptionValue, Options};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Most numbers that a row can remember.
pub const MAX_STATE: usize = 1 << 20;

/// Most numbers that all slots may remember together: a gibibyte.
pub const MAX_STATES: usize = 1 << 28;

/// How actions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Policy {
    /// Sampled from the distribution whose parameters `infer` returns, the log-density recorded.
    Ppo {
        /// The distribution; `None` is categorical for discrete actions and Gaussian for continuous ones.
        head: Option<HeadKind>,
    },
    /// The action that `infer` values highest, or now and then any.
    EpsilonGreedy {
        /// Share of the actions that are drawn uniformly, in `[0, 1]`; the engine can be told another one.
        epsilon: f64,
    },
    /// `infer` returns the actions themselves.
    Direct,
}

reinfors_core::options! {
    /// Settings of [`Policy::Ppo`].
    struct PpoSettings {
        /// The distribution.
        pub distribution: Option<HeadKind> = None;
        /// Shape of what a row remembers.
        pub state_shape: Option<Vec<NonZeroU32>> = None;
    }
}

reinfors_core::options! {
    /// Settings of [`Policy::EpsilonGreedy`].
    struct EpsilonGreedySettings {
        /// Share of the actions that are drawn uniformly.
        pub epsilon: f64 = 0.05, in 0.0..=1.0;
        /// Shape of what a row remembers.
        pub state_shape: Option<Vec<NonZeroU32>> = None;
    }
}

reinfors_core::options! {
    /// Settings of [`Policy::Direct`].
    struct DirectSettings {
        /// Shape of what a row remembers.
        pub state_shape: Option<Vec<NonZeroU32>> = None;
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::Ppo { head: None }
    }
}

impl Policy {
    /// Every policy by its public name, with the names of its settings.
    #[must_use]
    pub fn declared() -> [(&'static str, Vec<&'static str>); 3] {
        fn names<T: Options>() -> Vec<&'static str> {
            T::specs().iter().map(|setting| setting.name).collect()
        }
        [
            ("Ppo", names::<PpoSettings>()),
            ("EpsilonGreedy", names::<EpsilonGreedySettings>()),
            ("Direct", names::<DirectSettings>()),
        ]
    }

    /// Its public name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ppo { .. } => "Ppo",
            Self::EpsilonGreedy { .. } => "EpsilonGreedy",
            Self::Direct => "Direct",
        }
    }

    /// The policy of this name, and the shape of what it remembers (empty: nothing).
    ///
    /// # Errors
    /// An unknown name or setting, a value of the wrong type or one that is not allowed.
    pub fn parse(name: &str, given: &[(String, OptionValue)]) -> Result<(Self, Vec<usize>), EngineError> {
        let (policy, state_shape) = match name {
            "Ppo" => {
                let PpoSettings { distribution, state_shape } = PpoSettings::parse("Ppo", given)?;
                (Self::Ppo { head: distribution }, state_shape)
            }
            "EpsilonGreedy" => {
                let settings = EpsilonGreedySettings::parse("EpsilonGreedy", given)?;
                (Self::EpsilonGreedy { epsilon: settings.epsilon }, settings.state_shape)
            }
            "Direct" => (Self::Direct, DirectSettings::parse("Direct", given)?.state_shape),
            _ => {
                let names = Self::declared().map(|(name, _)| name).join(", ");
                let allowed = format!("one of {names}");
                return Err(EngineError::Setting { name: "policy", allowed, given: format!("{name:?}") });
            }
        };
        let sizes = state_shape.unwrap_or_default();
        Ok((policy, sizes.into_iter().map(|size| size.get() as usize).collect()))
    }

    /// The settings: the inverse of [`Policy::parse`].
    #[must_use]
    pub fn settings(&self, state_shape: &[usize]) -> Vec<(&'static str, OptionValue)> {
        let sizes = state_shape.iter().map(|size| OptionValue::Int(*size as i64)).collect();
        let state_shape = if state_shape.is_empty() { OptionValue::None } else { OptionValue::List(sizes) };
        let mut settings = match *self {
            Self::Ppo { head } => PpoSettings { distribution: head, ..PpoSettings::default() }.values(),
            Self::EpsilonGreedy { epsilon } => {
                EpsilonGreedySettings { epsilon, ..EpsilonGreedySettings::default() }.values()
            }
            Self::Direct => DirectSettings::default().values(),
        };
        settings.retain(|(name, _)| *name != "state_shape");
        settings.push(("state_shape", state_shape));
        settings
    }

    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match self {
            Self::EpsilonGreedy { epsilon } => check_share("epsilon", *epsilon),
            Self::Ppo { .. } | Self::Direct => Ok(()),
        }
    }
}

/// Refuses what is no number from 0 to 1.
pub(crate) fn check_share(name: &'static str, given: f64) -> Result<(), EngineError> {
    if (0.0..=1.0).contains(&given) {
        return Ok(());
    }
    Err(EngineError::Setting { name, allowed: "from 0 to 1".into(), given: format!("{given:?}") })
}

/// The numbers of a state of this shape, which each of `n_games` remembers; none for no state.
///
/// # Errors
/// [`EngineError::Setting`] for a size of 0, for more than [`MAX_STATE`] numbers, and for more than
/// [`MAX_STATES`] of all games.
pub(crate) fn state_size(shape: &[usize], n_games: usize) -> Result<usize, EngineError> {
    let size = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    match size {
        _ if shape.is_empty() => Ok(0),
        Some(size) if (1..=MAX_STATE).contains(&size) => {
            let all = size.saturating_mul(n_games);
            if all <= MAX_STATES {
                return Ok(size);
            }
            Err(EngineError::Setting {
                name: "state_shape",
                allowed: format!("so small that all games remember at most {MAX_STATES} numbers"),
                given: format!("{shape:?} of {n_games} games, {all} numbers"),
            })
        }
        _ => Err(EngineError::Setting {
            name: "state_shape",
            allowed: format!("sizes of at least 1 whose product is at most {MAX_STATE}"),
            given: format!("{shape:?}"),
        }),
    }
}
