//! Transitions over up to `n` steps: what was seen and done, the discounted rewards of the steps it covers,
//! what was seen after them, and how much that still counts.
//!
//! A transition covers fewer steps where its episode or its window ends before. Its discount says how many:
//! `gamma` to their number, or 0 where the episode terminated. So each is right by itself, whatever follows.

use crate::gather::Gather;
use crate::rollout::Window;

/// What a batch of transitions has beside the records.
#[derive(Clone, Debug)]
pub struct TransitionRecords {
    /// What the value of what was seen next is multiplied with.
    pub discounts: Vec<f32>,
    /// What was seen next, by its row in `seen`.
    pub next_rows: Vec<i64>,
    /// The observations of the window, those that open the next, and what the episodes stopped with: the most
    /// part of what was seen next is there already, and is not copied before somebody asks.
    pub seen: Gather,
    /// What was remembered there, as many numbers as the states have.
    pub next_states: Vec<f32>,
}

impl TransitionRecords {
    /// Those of a window, whose rewards, `terminated` and `truncated` become those of the transitions.
    pub(crate) fn new(window: &mut Window, n_step: u32, gamma: f64) -> Self {
        let (n_slots, n_records) = (window.n_slots, window.n_slots * window.n_steps);
        let finals = std::mem::take(&mut window.finals);
        let mut final_of = vec![None; n_records];
        for (place, row) in finals.rows.iter().enumerate() {
            final_of[*row] = Some(n_records + n_slots + place);
        }
        let mut next = Vec::with_capacity(n_records);
        let mut discounts = Vec::with_capacity(n_records);
        // Later rows are read while earlier ones are replaced, so ascending order is right.
        for row in 0..n_records {
            let (mut reward, mut discount, mut last) = (0.0, 1.0, row);
            for at in (row..n_records).step_by(n_slots).take(n_step as usize) {
                reward += discount * window.rewards[at];
                discount *= gamma;
                last = at;
                if final_of[at].is_some() {
                    break;
                }
            }
            next.push(final_of[last].unwrap_or(last + n_slots) as i64);
            discounts.push(if window.terminated[last] { 0.0 } else { discount as f32 });
            window.rewards[row] = reward;
            window.terminated[row] = window.terminated[last];
            window.truncated[row] = window.truncated[last];
        }
        let state_size = window.last_states.len() / n_slots;
        let states = [&window.states[..], &window.last_states, &finals.states].concat();
        let next_states =
            next.iter().flat_map(|place| &states[*place as usize * state_size..][..state_size]).copied();
        let window_and_opening = window.observations.view(0..n_records + n_slots);
        Self {
            discounts,
            next_states: next_states.collect(),
            next_rows: next,
            seen: Gather::new([vec![window_and_opening], finals.observations].concat()),
        }
    }
}
