//! Generalised advantage estimation (Schulman et al., 2016) over time-major records, in float64.
//!
//! A truncated episode goes on beyond its last record, so its last record bootstraps from the value of the final
//! observation; so does the window's end, slot by slot, from `last_values`. A terminated episode is worth nothing more.

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
        for row in (slot..n_records).step_by(n_games).collect::<Vec<_>>().into_iter().rev() {
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
