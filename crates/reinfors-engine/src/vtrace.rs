//! V-trace (Espeholt et al., 2018, section 4.1), in float64: what the returns of a behaviour policy say of the
//! values of another, by importance weights that are clipped twice.
//!
//! With `ρ_t = min(ρ̄, π/μ)` and `c_t = min(c̄, π/μ)`, the targets are `v_t = V_t + δ_t + γ_t c_t (v_{t+1} -
//! V_{t+1})` with `δ_t = ρ_t (r_t + γ_t V_{t+1} - V_t)`, and the advantage of the policy gradient is `ρ_t (r_t
//! + γ_t v_{t+1} - V_t)`. An episode that was cut off goes on beyond its last record: there `V_{t+1}` and
//! `v_{t+1}` are the value of its final observation. So they are at the window's end, slot by slot.

use crate::EngineError;
use crate::gather::Gather;
use crate::learner::check_clip;
use crate::rollout::Window;

/// What a V-trace batch has beside the records.
#[derive(Clone, Debug)]
pub struct VtraceRecords {
    /// Log-density of the raw sample under the policy that acted.
    pub behavior_log_probs: Vec<f32>,
    /// What the value of what follows is multiplied with: `gamma`, or 0 where the episode terminated.
    pub discounts: Vec<f32>,
    /// The records whose episodes were cut off, ascending.
    pub final_rows: Vec<i64>,
    /// The observations those episodes stopped with, in the same order.
    pub final_obs: Gather,
    /// What was remembered there.
    pub final_states: Vec<f32>,
    /// Largest weight of a temporal difference.
    pub rho_clip: f64,
    /// Largest weight of a correction passed on.
    pub c_clip: f64,
}

impl VtraceRecords {
    pub(crate) fn new(window: &mut Window, gamma: f64, rho_clip: f64, c_clip: f64) -> Self {
        let finals = std::mem::take(&mut window.finals);
        let discount = |terminated: &bool| if *terminated { 0.0 } else { gamma as f32 };
        Self {
            behavior_log_probs: std::mem::take(&mut window.log_probs),
            discounts: window.terminated.iter().map(discount).collect(),
            final_rows: finals.rows.into_iter().map(|row| row as i64).collect(),
            final_obs: Gather::new(finals.observations),
            final_states: finals.states,
            rho_clip,
            c_clip,
        }
    }
}

/// What V-trace is told: every slice but the last holds row `t * n_slots + slot`.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Log-density of each action under the policy that acted.
    pub behavior_log_probs: &'a [f64],
    /// Log-density of each action under the policy that learns.
    pub target_log_probs: &'a [f64],
    /// Rewards.
    pub rewards: &'a [f64],
    /// What the value of what follows is multiplied with, 0 where nothing does.
    pub discounts: &'a [f64],
    /// Value of the observation that was acted on.
    pub values: &'a [f64],
    /// Whether the episode was cut off.
    pub truncated: &'a [bool],
    /// Value of the final observation, read where an episode was cut off.
    pub final_values: &'a [f64],
    /// Value of what follows the last record, one per slot.
    pub last_values: &'a [f64],
}

/// Targets of the values and advantages of the policy gradient, each as long as the records, rounded once.
///
/// # Errors
/// [`EngineError::Setting`] for a clip that is not finite or not above 0, [`EngineError::Output`] for a result
/// that `float32` cannot hold.
///
/// # Panics
/// When the slices do not belong together.
pub fn vtrace(told: Told<'_>, rho_clip: f64, c_clip: f64) -> Result<(Vec<f32>, Vec<f32>), EngineError> {
    check_clip("rho_clip", rho_clip)?;
    check_clip("c_clip", c_clip)?;
    let (targets, advantages) = corrected(told, rho_clip, c_clip);
    Ok((fitting("targets", &targets)?, fitting("advantages", &advantages)?))
}

fn corrected(told: Told<'_>, rho_clip: f64, c_clip: f64) -> (Vec<f64>, Vec<f64>) {
    let (n_slots, n_records) = (told.last_values.len(), told.rewards.len());
    let (mut targets, mut advantages) = (vec![0.0; n_records], vec![0.0; n_records]);
    for slot in 0..n_slots {
        let mut next_value = told.last_values[slot];
        let mut next_target = next_value;
        for row in (slot..n_records).step_by(n_slots).rev() {
            if told.truncated[row] {
                next_value = told.final_values[row];
                next_target = next_value;
            }
            let ratio = libm::exp(told.target_log_probs[row] - told.behavior_log_probs[row]);
            let (rho, c) = (clipped(ratio, rho_clip), clipped(ratio, c_clip));
            let (reward, value) = (told.rewards[row], told.values[row]);
            // What nothing follows is not multiplied: a value may be of another episode.
            let discounted =
                |of: f64| if told.discounts[row] == 0.0 { 0.0 } else { told.discounts[row] * of };
            let difference = rho * (reward + discounted(next_value) - value);
            targets[row] = value + difference + c * discounted(next_target - next_value);
            advantages[row] = rho * (reward + discounted(next_target) - value);
            (next_value, next_target) = (value, targets[row]);
        }
    }
    (targets, advantages)
}

/// The smaller one, and no number where the ratio is none: `f64::min` would hide a policy that has come to nothing.
fn clipped(ratio: f64, clip: f64) -> f64 {
    if ratio > clip { clip } else { ratio }
}

/// Results as `float32`, all of them finite.
fn fitting(name: &str, results: &[f64]) -> Result<Vec<f32>, EngineError> {
    let rounded: Vec<f32> = results.iter().map(|result| *result as f32).collect();
    match rounded.iter().position(|result| !result.is_finite()) {
        None => Ok(rounded),
        Some(row) => Err(EngineError::Output(format!(
            "{name} of row {row} would be {:?}, which float32 cannot hold; needed are finite log-densities, \
             rewards, discounts and values that are small enough",
            results[row]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reinfors_core::rng::{Pcg64, Seed};

    /// Random records of `n_slots` slots over `n_steps` steps.
    struct Sample {
        numbers: [Vec<f64>; 6],
        truncated: Vec<bool>,
        last_values: Vec<f64>,
    }

    impl Sample {
        fn new(rng: &mut Pcg64, n_steps: usize, n_slots: usize) -> Self {
            let n_records = n_steps * n_slots;
            let mut numbers = |n: usize| (0..n).map(|_| rng.uniform(-2.0, 2.0)).collect::<Vec<_>>();
            let mut columns = [(); 6].map(|()| numbers(n_records));
            let last_values = numbers(n_slots);
            let ends = |rng: &mut Pcg64| rng.next_f64() < 0.15;
            columns[3] = (0..n_records).map(|_| if ends(rng) { 0.0 } else { rng.next_f64() }).collect();
            let truncated = (0..n_records).map(|_| ends(rng)).collect();
            Self { numbers: columns, truncated, last_values }
        }

        fn told(&self) -> Told<'_> {
            let [behavior_log_probs, target_log_probs, rewards, discounts, values, final_values] =
                &self.numbers;
            Told {
                behavior_log_probs,
                target_log_probs,
                rewards,
                discounts,
                values,
                truncated: &self.truncated,
                final_values,
                last_values: &self.last_values,
            }
        }
    }

    fn assert_close(given: &[f64], expected: &[f64]) {
        assert_eq!(given.len(), expected.len());
        for (given, expected) in given.iter().zip(expected) {
            assert!((given - expected).abs() < 1e-9, "{given} instead of {expected}");
        }
    }

    /// The published sum: `v_s = V_s + Σ γ^{t-s} (Π c_i) δ_t`, up to the end of the episode or window.
    fn published(told: Told<'_>, rho_clip: f64, c_clip: f64) -> (Vec<f64>, Vec<f64>) {
        let (n_slots, n_records) = (told.last_values.len(), told.rewards.len());
        let following = |row: usize, of: &[f64]| {
            if told.truncated[row] {
                told.final_values[row]
            } else if row + n_slots < n_records {
                of[row + n_slots]
            } else {
                told.last_values[row % n_slots]
            }
        };
        let ratio = |row: usize| (told.target_log_probs[row] - told.behavior_log_probs[row]).exp();
        let delta = |row: usize| {
            let target = told.rewards[row] + told.discounts[row] * following(row, told.values);
            ratio(row).min(rho_clip) * (target - told.values[row])
        };
        let target = |first: usize| {
            let (mut sum, mut weight) = (told.values[first], 1.0);
            for row in (first..n_records).step_by(n_slots) {
                sum += weight * delta(row);
                weight *= told.discounts[row] * ratio(row).min(c_clip);
                if told.truncated[row] {
                    break;
                }
            }
            sum
        };
        let targets: Vec<f64> = (0..n_records).map(target).collect();
        let advantage = |row: usize| {
            let target = told.rewards[row] + told.discounts[row] * following(row, &targets);
            ratio(row).min(rho_clip) * (target - told.values[row])
        };
        let advantages = (0..n_records).map(advantage).collect();
        (targets, advantages)
    }

    #[test]
    fn random_windows_agree_with_the_published_sum() {
        let mut rng = Pcg64::from(&Seed::from(5));
        for _ in 0..300 {
            let (n_steps, n_slots) = (1 + rng.integers(12) as usize, 1 + rng.integers(4) as usize);
            let sample = Sample::new(&mut rng, n_steps, n_slots);
            let (rho_clip, c_clip) = (rng.uniform(0.1, 3.0), rng.uniform(0.1, 3.0));
            let (targets, advantages) = corrected(sample.told(), rho_clip, c_clip);
            let expected = published(sample.told(), rho_clip, c_clip);
            assert_close(&targets, &expected.0);
            assert_close(&advantages, &expected.1);
        }
    }

    #[test]
    fn on_policy_targets_are_the_returns_to_the_end_of_the_window() {
        let mut rng = Pcg64::from(&Seed::from(6));
        let sample = Sample::new(&mut rng, 9, 2);
        let told = Told { target_log_probs: &sample.numbers[0], ..sample.told() };
        let (targets, _) = corrected(told, 1.0, 1.0);
        let mut returns = vec![0.0; 18];
        for slot in 0..2 {
            let mut next = told.last_values[slot];
            for row in (slot..18).step_by(2).rev() {
                next = if told.truncated[row] { told.final_values[row] } else { next };
                next = told.rewards[row] + told.discounts[row] * next;
                returns[row] = next;
            }
        }
        assert_close(&targets, &returns);
    }

    #[test]
    fn what_is_behind_an_end_does_not_count() {
        let told = Told {
            behavior_log_probs: &[0.0; 2],
            target_log_probs: &[0.0; 2],
            rewards: &[1.0, 2.0],
            discounts: &[0.0, 0.5],
            values: &[0.25, 0.5],
            truncated: &[false, true],
            final_values: &[f64::NAN, 4.0],
            last_values: &[f64::INFINITY],
        };
        let (targets, advantages) = vtrace(told, 1.0, 1.0).unwrap();
        assert_eq!((targets, advantages), (vec![1.0, 4.0], vec![0.75, 3.5]));
        let error = vtrace(Told { rewards: &[f64::NAN, 2.0], ..told }, 1.0, 1.0).unwrap_err().to_string();
        assert!(error.starts_with("targets of row 0 would be NaN, which float32 cannot hold"), "{error}");
        for none in [[f64::NAN, 0.0], [0.0, f64::NAN]] {
            for told in [Told { target_log_probs: &none, ..told }, Told { behavior_log_probs: &none, ..told }]
            {
                let error = vtrace(told, 1.0, 1.0).unwrap_err().to_string();
                assert!(error.contains("would be NaN"), "{error}");
            }
        }
        let impossible = [f64::NEG_INFINITY; 2];
        let (targets, advantages) = vtrace(Told { target_log_probs: &impossible, ..told }, 1.0, 1.0).unwrap();
        assert_eq!((targets, advantages), (vec![0.25, 0.5], vec![0.0, 0.0]), "what it would never do");
        for clip in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = vtrace(told, clip, 1.0).unwrap_err().to_string();
            assert!(error.starts_with("rho_clip must be a finite number above 0"), "{error}");
        }
    }
}
