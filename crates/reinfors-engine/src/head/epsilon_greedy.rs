//! The action of the highest value, or now and then any: of `n` actions, each has the probability `ε / n`, and
//! the best one `1 - ε` more. Of several that are valued alike, the first is the best.

use reinfors_core::rng::Pcg64;

/// An ε-greedy choice.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsilonGreedy {
    n_actions: usize,
    /// Share of the actions that are drawn uniformly.
    pub epsilon: f64,
}

impl EpsilonGreedy {
    /// Among `n_actions` actions.
    #[must_use]
    pub fn new(n_actions: usize, epsilon: f64) -> Self {
        Self { n_actions, epsilon }
    }

    /// A value per action.
    #[must_use]
    pub fn n_params(&self) -> usize {
        self.n_actions
    }

    /// An action: one uniform number decides whether it is any, which takes another.
    #[must_use]
    pub fn sample(&self, values: &[f64], rng: &mut Pcg64) -> usize {
        if rng.next_f64() < self.epsilon {
            rng.integers(self.n_actions as u64) as usize
        } else {
            best(values)
        }
    }

    /// The first of the actions that are valued highest.
    #[must_use]
    pub fn mode(&self, values: &[f64]) -> usize {
        best(values)
    }

    /// Log-probability of `action`.
    #[must_use]
    pub fn log_prob(&self, values: &[f64], action: usize) -> f64 {
        let any = self.epsilon / self.n_actions as f64;
        libm::log(if action == best(values) { 1.0 - self.epsilon + any } else { any })
    }
}

/// The first of the highest values.
fn best(values: &[f64]) -> usize {
    let mut best = 0;
    for (action, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = action;
        }
    }
    best
}
