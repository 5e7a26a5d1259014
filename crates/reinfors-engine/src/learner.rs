//! What is made of the records of a window: a closed list of record kinds, each with its settings declared
//! once, and what each asks of policy and window.

use crate::EngineError;
use crate::policy::{Policy, check_share};
use reinfors_core::{OptionValue, Options};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// What is made of the records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Learner {
    /// Advantages by GAE(λ) and the returns they imply.
    Ppo {
        /// Discount per step, in `[0, 1]`.
        gamma: f64,
        /// Decay λ of the advantage estimator, in `[0, 1]`.
        lam: f64,
    },
    /// What V-trace corrects with the learner's own log-densities and values.
    Vtrace {
        /// Discount per step, in `[0, 1]`.
        gamma: f64,
        /// Largest ratio ρ̄ that a temporal difference is weighted with, above 0.
        rho_clip: f64,
        /// Largest ratio c̄ that a correction is passed on with, above 0.
        c_clip: f64,
    },
    /// Transitions over several steps, for value learning and replay.
    Transitions {
        /// Steps that a transition covers, at least 1.
        n_step: u32,
        /// Discount per step, in `[0, 1]`.
        gamma: f64,
    },
}

reinfors_core::options! {
    /// Settings of [`Learner::Ppo`].
    struct PpoSettings {
        /// Discount per step.
        pub gamma: f64 = 0.99, in 0.0..=1.0;
        /// Decay of the advantage estimator.
        pub lam: f64 = 0.95, in 0.0..=1.0;
    }
}

reinfors_core::options! {
    /// Settings of [`Learner::Vtrace`].
    struct VtraceSettings {
        /// Discount per step.
        pub gamma: f64 = 0.99, in 0.0..=1.0;
        /// Largest weight of a temporal difference.
        pub rho_clip: f64 = 1.0;
        /// Largest weight of a correction passed on.
        pub c_clip: f64 = 1.0;
    }
}

reinfors_core::options! {
    /// Settings of [`Learner::Transitions`].
    struct TransitionsSettings {
        /// Steps that a transition covers.
        pub n_step: NonZeroU32 = NonZeroU32::MIN;
        /// Discount per step.
        pub gamma: f64 = 0.99, in 0.0..=1.0;
    }
}

/// What a learner asks of a window beside the records themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Values of what was seen, from `infer`; without them the learner gets final observations instead.
    pub values: bool,
    /// Final observations of episodes that terminated too, not only of those that were cut off.
    pub all_ends: bool,
}

impl Default for Learner {
    fn default() -> Self {
        Self::Ppo { gamma: 0.99, lam: 0.95 }
    }
}

impl Learner {
    /// Every learner by its public name, with the names of its settings.
    #[must_use]
    pub fn declared() -> [(&'static str, Vec<&'static str>); 3] {
        fn names<T: Options>() -> Vec<&'static str> {
            T::specs().iter().map(|setting| setting.name).collect()
        }
        [
            ("Ppo", names::<PpoSettings>()),
            ("Vtrace", names::<VtraceSettings>()),
            ("Transitions", names::<TransitionsSettings>()),
        ]
    }

    /// Its public name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ppo { .. } => "Ppo",
            Self::Vtrace { .. } => "Vtrace",
            Self::Transitions { .. } => "Transitions",
        }
    }

    /// The learner of this name.
    ///
    /// # Errors
    /// An unknown name or setting, a value of the wrong type or one that is not allowed.
    pub fn parse(name: &str, given: &[(String, OptionValue)]) -> Result<Self, EngineError> {
        match name {
            "Ppo" => {
                let PpoSettings { gamma, lam } = PpoSettings::parse("Ppo", given)?;
                Ok(Self::Ppo { gamma, lam })
            }
            "Vtrace" => {
                let VtraceSettings { gamma, rho_clip, c_clip } = VtraceSettings::parse("Vtrace", given)?;
                Ok(Self::Vtrace { gamma, rho_clip, c_clip })
            }
            "Transitions" => {
                let TransitionsSettings { n_step, gamma } = TransitionsSettings::parse("Transitions", given)?;
                Ok(Self::Transitions { n_step: n_step.get(), gamma })
            }
            _ => {
                let names = Self::declared().map(|(name, _)| name).join(", ");
                let allowed = format!("one of {names}");
                Err(EngineError::Setting { name: "learner", allowed, given: format!("{name:?}") })
            }
        }
    }

    /// The settings: the inverse of [`Learner::parse`].
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, OptionValue)> {
        match *self {
            Self::Ppo { gamma, lam } => PpoSettings { gamma, lam }.values(),
            Self::Vtrace { gamma, rho_clip, c_clip } => VtraceSettings { gamma, rho_clip, c_clip }.values(),
            Self::Transitions { n_step, gamma } => {
                let n_step = NonZeroU32::new(n_step).unwrap_or(NonZeroU32::MIN);
                TransitionsSettings { n_step, gamma }.values()
            }
        }
    }

    /// Refuses settings outside what is allowed, and a policy whose records this learner cannot use.
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), EngineError> {
        match *self {
            Self::Ppo { gamma, lam } => {
                check_share("gamma", gamma)?;
                check_share("lam", lam)?;
            }
            Self::Vtrace { gamma, rho_clip, c_clip } => {
                check_share("gamma", gamma)?;
                check_clip("rho_clip", rho_clip)?;
                check_clip("c_clip", c_clip)?;
            }
            Self::Transitions { n_step, gamma } => {
                check_share("gamma", gamma)?;
                if n_step == 0 {
                    let allowed = "at least 1".into();
                    return Err(EngineError::Setting { name: "n_step", allowed, given: "0".into() });
                }
            }
        }
        let allowed = match (policy, self) {
            (Policy::Ppo { .. }, _)
            | (Policy::EpsilonGreedy { .. }, Self::Vtrace { .. })
            | (_, Self::Transitions { .. }) => return Ok(()),
            (Policy::EpsilonGreedy { .. }, Self::Ppo { .. }) => {
                "Transitions or Vtrace for the policy EpsilonGreedy, which has no density to improve"
            }
            (Policy::Direct, _) => "Transitions for the policy Direct, whose actions have no density",
        };
        Err(EngineError::Setting { name: "learner", allowed: allowed.into(), given: self.name().into() })
    }

    pub(crate) fn needs(&self) -> Needs {
        Needs { values: matches!(self, Self::Ppo { .. }), all_ends: matches!(self, Self::Transitions { .. }) }
    }
}

/// Refuses what no ratio can be clipped to.
pub(crate) fn check_clip(name: &'static str, given: f64) -> Result<(), EngineError> {
    if given.is_finite() && given > 0.0 {
        return Ok(());
    }
    let allowed = "a finite number above 0".into();
    Err(EngineError::Setting { name, allowed, given: format!("{given:?}") })
}
