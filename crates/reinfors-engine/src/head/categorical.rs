//! One of `n` actions, by logits: the log-probability is the logit minus the logarithm of the summed
//! exponentials.

use reinfors_core::rng::Pcg64;

/// A categorical distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Categorical {
    n_actions: usize,
}

impl Categorical {
    /// Over `n_actions` actions.
    #[must_use]
    pub fn new(n_actions: usize) -> Self {
        Self { n_actions }
    }

    /// One logit per action.
    #[must_use]
    pub fn n_params(&self) -> usize {
        self.n_actions
    }

    /// An action, by inverting the cumulative distribution at one uniform number.
    #[must_use]
    pub fn sample(&self, logits: &[f64], rng: &mut Pcg64) -> usize {
        let max = maximum(logits);
        let threshold = rng.next_f64() * sum_of_exponentials(logits, max);
        let mut sum = 0.0;
        let mut last_possible = 0;
        for (action, logit) in logits.iter().enumerate() {
            let weight = libm::exp(logit - max);
            if weight > 0.0 {
                last_possible = action;
            }
            sum += weight;
            if threshold < sum {
                return action;
            }
        }
        last_possible
    }

    /// The most probable action, the first of equal ones.
    #[must_use]
    pub fn mode(&self, logits: &[f64]) -> usize {
        let max = maximum(logits);
        logits.iter().position(|logit| *logit == max).unwrap_or(0)
    }

    /// Log-probability of `action`.
    #[must_use]
    pub fn log_prob(&self, logits: &[f64], action: usize) -> f64 {
        let max = maximum(logits);
        logits[action] - max - libm::log(sum_of_exponentials(logits, max))
    }
}

fn maximum(logits: &[f64]) -> f64 {
    logits.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The exponentials are taken relative to the largest logit, so that none overflows and one is 1.
fn sum_of_exponentials(logits: &[f64], max: f64) -> f64 {
    logits.iter().map(|logit| libm::exp(logit - max)).sum()
}
