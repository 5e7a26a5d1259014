//! Generalised advantage estimation (Schulman et al., 2016) over time-major records, in float64.
//!
//! A truncated episode goes on beyond its last record, so its last record bootstraps from the value of the
//! final observation; so does the window's end, slot by slot, from `last_values`. A terminated episode is
//! worth nothing more.

/// The records of a window: every slice but the last holds row `t * n_games + slot`.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    /// Rewards.
    pub rewards: &'a [f64],
    /// Estimated value of the observation that was acted on.
    pub values: &'a [f64],
    /// Whether the step ended the episode.
    pub terminated: &'a [bool],
    /// Whether the step was the episode's last allowed one.
    pub truncated: &'a [bool],
    /// Value of the final observation, read where an episode was truncated and not terminated.
    pub final_values: &'a [f64],
    /// Value of the observation that opens the next window, one per slot.
    pub last_values: &'a [f64],
}

/// The advantages of `records` under discount `gamma` and decay `lam`, not normalised.
///
/// # Panics
/// When the slices do not belong together.
#[must_use]
pub fn gae(records: Records<'_>, gamma: f64, lam: f64) -> Vec<f64> {
    let n_games = records.last_values.len();
    let n_records = records.rewards.len();
    let mut advantages = vec![0.0; n_records];
    for slot in 0..n_games {
        let mut next_value = records.last_values[slot];
        let mut tail = 0.0;
        for row in (slot..n_records).step_by(n_games).rev() {
            if records.terminated[row] {
                (next_value, tail) = (0.0, 0.0);
            } else if records.truncated[row] {
                (next_value, tail) = (records.final_values[row], 0.0);
            }
            let delta = records.rewards[row] + gamma * next_value - records.values[row];
            tail = delta + gamma * lam * tail;
            advantages[row] = tail;
            next_value = records.values[row];
        }
    }
    advantages
}

#[cfg(test)]
mod tests {
    use super::*;
    use reinfors_core::rng::{Pcg64, Seed};

    fn assert_close(given: &[f64], expected: &[f64]) {
        assert_eq!(given.len(), expected.len());
        for (given, expected) in given.iter().zip(expected) {
            assert!((given - expected).abs() < 1e-10, "{given} instead of {expected}");
        }
    }

    #[test]
    fn d44_a_termination_cuts_at_its_own_step() {
        let records = Records {
            rewards: &[1.0, 2.0, 3.0, 4.0, 5.0],
            values: &[0.5, 1.0, 1.5, 2.0, 2.5],
            terminated: &[false, false, true, false, false],
            truncated: &[false; 5],
            final_values: &[f64::NAN; 5],
            last_values: &[3.0],
        };
        assert_close(&gae(records, 0.9, 0.8), &[3.8696, 3.43, 1.5, 7.994, 5.2]);
    }

    #[test]
    fn a_truncation_bootstraps_from_the_final_value_and_cuts() {
        let records = Records {
            rewards: &[1.0, 1.0, 1.0],
            values: &[2.0, 3.0, 5.0],
            terminated: &[false; 3],
            truncated: &[false, true, false],
            final_values: &[f64::NAN, 10.0, f64::NAN],
            last_values: &[7.0],
        };
        // deltas: 1 + 0.5*3 - 2, 1 + 0.5*10 - 3, 1 + 0.5*7 - 5; the first gets half of the second's half.
        assert_close(&gae(records, 0.5, 0.5), &[0.5 + 0.25 * 3.0, 3.0, -0.5]);
    }

    #[test]
    fn an_episode_that_terminates_at_its_last_allowed_step_does_not_bootstrap() {
        let records = Records {
            rewards: &[1.0],
            values: &[0.25],
            terminated: &[true],
            truncated: &[true],
            final_values: &[f64::NAN],
            last_values: &[f64::NAN],
        };
        assert_close(&gae(records, 0.9, 0.9), &[0.75]);
    }

    /// The definition, term by term: a sum of discounted deltas up to the end of the episode or window.
    fn slow(records: Records<'_>, gamma: f64, lam: f64) -> Vec<f64> {
        let n_games = records.last_values.len();
        let next_value = |row: usize| {
            if records.terminated[row] {
                0.0
            } else if records.truncated[row] {
                records.final_values[row]
            } else if row + n_games < records.values.len() {
                records.values[row + n_games]
            } else {
                records.last_values[row % n_games]
            }
        };
        let delta = |row: usize| records.rewards[row] + gamma * next_value(row) - records.values[row];
        let advantage = |first: usize| {
            let mut sum = 0.0;
            for (power, row) in (first..records.rewards.len()).step_by(n_games).enumerate() {
                sum += (gamma * lam).powi(power as i32) * delta(row);
                if records.terminated[row] || records.truncated[row] {
                    break;
                }
            }
            sum
        };
        (0..records.rewards.len()).map(advantage).collect()
    }

    #[test]
    fn random_windows_agree_with_the_definition() {
        let mut rng = Pcg64::from(&Seed::from(5));
        for _ in 0..300 {
            let (n_games, n_steps) = (1 + rng.integers(5) as usize, 1 + rng.integers(20) as usize);
            let n_records = n_games * n_steps;
            let mut numbers = |n: usize| (0..n).map(|_| rng.uniform(-5.0, 5.0)).collect::<Vec<_>>();
            let (rewards, values, final_values) =
                (numbers(n_records), numbers(n_records), numbers(n_records));
            let last_values = numbers(n_games);
            let mut flags = || (0..n_records).map(|_| rng.next_f64() < 0.15).collect::<Vec<_>>();
            let (terminated, truncated) = (flags(), flags());
            let records = Records {
                rewards: &rewards,
                values: &values,
                terminated: &terminated,
                truncated: &truncated,
                final_values: &final_values,
                last_values: &last_values,
            };
            let (gamma, lam) = (rng.next_f64(), rng.next_f64());
            assert_close(&gae(records, gamma, lam), &slow(records, gamma, lam));
        }
    }
}
