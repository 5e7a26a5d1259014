//! What a replay buffer holds: transitions, oldest first, each knowing its observations by their newest frames.

use super::frames::Frames;
use super::{Sample, Transitions};
use crate::EngineError;
use crate::batch::ActionArray;
use crate::observation::ObservationArray;
use reinfors_core::ObservationSpace;
use std::collections::VecDeque;

/// A transition, but for its action and states.
pub(super) struct Transition {
    obs: u64,
    next_obs: u64,
    /// The oldest frame that it shows.
    needed: u64,
    policy_version: i64,
    reward: f32,
    discount: f32,
    terminated: bool,
    truncated: bool,
}

/// What the first batch has settled.
pub(super) struct Contents {
    pub space: ObservationSpace,
    pub state_shape: Vec<usize>,
    frames: Frames,
    pub transitions: VecDeque<Transition>,
    actions: Stored,
    /// State and next state of each transition, one behind the other.
    states: VecDeque<f32>,
    /// For each slot of the last batch, the frame that closed it.
    tails: Vec<u64>,
}

enum Stored {
    Discrete(VecDeque<i64>),
    Continuous { dimensions: usize, values: VecDeque<f32> },
}

impl Contents {
    pub fn like(batch: &Transitions<'_>) -> Self {
        Self {
            space: batch.space.clone(),
            state_shape: batch.state_shape.to_vec(),
            frames: Frames::new(batch.space),
            transitions: VecDeque::new(),
            actions: match batch.actions {
                ActionArray::Discrete(_) => Stored::Discrete(VecDeque::new()),
                ActionArray::Continuous { dimensions, .. } => {
                    Stored::Continuous { dimensions: *dimensions, values: VecDeque::new() }
                }
            },
            states: VecDeque::new(),
            tails: Vec::new(),
        }
    }

    /// Refuses transitions of another kind, and steps that are none.
    pub fn check(&self, batch: &Transitions<'_>) -> Result<(), EngineError> {
        let refuse = |what: &str| {
            Err(EngineError::Replay(format!(
                "the batch has other {what} than those that the replay buffer holds"
            )))
        };
        if *batch.space != self.space {
            return refuse("observations");
        }
        if batch.state_shape != self.state_shape {
            return refuse("states");
        }
        // Whoever has the batch may have written into it.
        if let Some((row, step)) = batch.step.iter().enumerate().find(|(_, step)| **step < 0) {
            return Err(EngineError::Replay(format!("the batch has {step} as step of row {row}, below 0")));
        }
        match (&self.actions, batch.actions) {
            (Stored::Discrete(_), ActionArray::Discrete(_)) => Ok(()),
            (Stored::Continuous { dimensions, .. }, ActionArray::Continuous { dimensions: given, .. })
                if dimensions == given =>
            {
                Ok(())
            }
            _ => refuse("actions"),
        }
    }

    /// Stores what is new of the observations; returns the newest frame of each row that was seen.
    pub fn store_frames(&mut self, batch: &Transitions<'_>) -> Result<Vec<u64>, EngineError> {
        let (seen, n_slots, n_records) = (batch.seen, batch.n_slots, batch.step.len());
        let in_window = n_records + n_slots;
        let frames = &mut self.frames;
        let mut numbers = Vec::with_capacity(seen.rows());
        for row in 0..in_window {
            let observation = |part: usize| seen.row(part, row);
            let number = if row < n_slots {
                match self.tails.get(row).filter(|_| self.tails.len() == n_slots) {
                    Some(tail) if frames.is_shown(*tail, observation) => *tail,
                    _ => {
                        let mut before = None;
                        for age in (1..=frames.depth.min(batch.step[row] as usize + 1) - 1).rev() {
                            before = Some(frames.push(observation, age, before)?);
                        }
                        frames.push(observation, 0, before)?
                    }
                }
            } else {
                // The observations that open the next window begin an episode where the last record ended one.
                let begins = if row < n_records {
                    batch.step[row] == 0
                } else {
                    batch.next_rows[row - n_slots] as usize >= in_window
                };
                frames.push(observation, 0, (!begins).then(|| numbers[row - n_slots]))?
            };
            numbers.push(number);
        }
        // The last record with a final observation as its next is the one that it follows.
        let mut before = vec![None; seen.rows() - in_window];
        for (row, next) in batch.next_rows.iter().enumerate() {
            if let Some(before) = (*next as usize).checked_sub(in_window).map(|at| &mut before[at]) {
                *before = Some(numbers[row]);
            }
        }
        for (row, before) in (in_window..).zip(before) {
            numbers.push(frames.push(|part| seen.row(part, row), 0, before)?);
        }
        self.tails = numbers[n_records..in_window].to_vec();
        Ok(numbers)
    }

    pub fn push(&mut self, batch: &Transitions<'_>, numbers: &[u64]) {
        let size: usize = if self.state_shape.is_empty() { 0 } else { self.state_shape.iter().product() };
        for (row, next) in batch.next_rows.iter().enumerate() {
            let obs = numbers[row];
            self.transitions.push_back(Transition {
                obs,
                next_obs: numbers[*next as usize],
                needed: self.frames.oldest_shown(obs),
                policy_version: batch.policy_version[row],
                reward: batch.rewards[row],
                discount: batch.discounts[row],
                terminated: batch.terminated[row],
                truncated: batch.truncated[row],
            });
            for states in batch.states {
                self.states.extend(&states[row * size..][..size]);
            }
        }
        match (&mut self.actions, batch.actions) {
            (Stored::Discrete(stored), ActionArray::Discrete(indices)) => stored.extend(indices),
            (Stored::Continuous { values: stored, .. }, ActionArray::Continuous { values, .. }) => {
                stored.extend(values);
            }
            _ => unreachable!("checked before"),
        }
    }

    pub fn drop_oldest(&mut self, excess: usize) {
        if excess == 0 {
            return;
        }
        let states = self.states.len() / self.transitions.len().max(1);
        self.transitions.drain(..excess);
        self.states.drain(..excess * states);
        match &mut self.actions {
            Stored::Discrete(indices) => drop(indices.drain(..excess)),
            Stored::Continuous { dimensions, values } => drop(values.drain(..excess * *dimensions)),
        }
        let of_tails = self.tails.iter().map(|tail| self.frames.oldest_shown(*tail));
        let needed = self.transitions.iter().map(|transition| transition.needed).chain(of_tails).min();
        self.frames.release_before(needed.unwrap_or(0));
    }

    pub fn picked(
        &self,
        places: &[usize],
        indices: Vec<i64>,
        weights: Vec<f32>,
    ) -> Result<Sample, EngineError> {
        let at = |place: &usize| &self.transitions[*place];
        let drawn = |newest: fn(&Transition) -> u64| {
            let zeros = ObservationArray::zeros(&self.space, places.len());
            let mut arrays = zeros.map_err(|_| EngineError::Setting {
                name: "size",
                allowed: "so small that the sample fits into memory".into(),
                given: places.len().to_string(),
            })?;
            for (part, array) in arrays.iter_mut().enumerate() {
                let rows = array.bytes_mut().chunks_exact_mut(self.space.parts[part].size());
                for (place, out) in places.iter().zip(rows) {
                    self.frames.show(newest(at(place)), part, out);
                }
            }
            Ok::<_, EngineError>(arrays)
        };
        let size = self.states.len() / 2 / self.transitions.len().max(1);
        let states = |which: usize| {
            let of = |place: &usize| self.states.range((2 * place + which) * size..).take(size).copied();
            places.iter().flat_map(of).collect()
        };
        Ok(Sample {
            obs: drawn(|transition| transition.obs)?,
            next_obs: drawn(|transition| transition.next_obs)?,
            actions: match &self.actions {
                Stored::Discrete(stored) => {
                    ActionArray::Discrete(places.iter().map(|place| stored[*place]).collect())
                }
                Stored::Continuous { dimensions, values } => {
                    let of = |place: &usize| values.range(place * dimensions..).take(*dimensions).copied();
                    let values = places.iter().flat_map(of).collect();
                    ActionArray::Continuous { dimensions: *dimensions, values }
                }
            },
            rewards: places.iter().map(|place| at(place).reward).collect(),
            discounts: places.iter().map(|place| at(place).discount).collect(),
            terminated: places.iter().map(|place| at(place).terminated).collect(),
            truncated: places.iter().map(|place| at(place).truncated).collect(),
            policy_version: places.iter().map(|place| at(place).policy_version).collect(),
            states: [states(0), states(1)],
            indices,
            weights,
        })
    }

    pub fn bytes(&self) -> usize {
        let actions = match &self.actions {
            Stored::Discrete(indices) => indices.len() * size_of::<i64>(),
            Stored::Continuous { values, .. } => values.len() * size_of::<f32>(),
        };
        self.frames.bytes()
            + self.transitions.len() * size_of::<Transition>()
            + actions
            + self.states.len() * size_of::<f32>()
    }
}
