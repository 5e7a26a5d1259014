//! A replay buffer: the last transitions that were added, sampled uniformly or by priority (Schaul et al.,
//! 2016).
//!
//! 1. A frame is stored once, whatever stacks and next observations it is part of: an observation is the number
//!    of its newest frame, from which the others are found by going back through the episode.
//! 2. A batch goes on where the one before it ended: if the observation that opens it is the one that closed
//!    the other, its frames are there already. Where it is not, it is stored anew; nothing is assumed.
//! 3. Transitions are counted for ever, and known by that number: a priority that comes too late, for one that
//!    has gone, changes nothing.

mod frames;
mod sum_tree;

use crate::EngineError;
use crate::batch::ActionArray;
use crate::gather::Gather;
use crate::observation::ObservationArray;
use crate::policy::check_share;
use frames::Frames;
use reinfors_core::ObservationSpace;
use reinfors_core::rng::{Pcg64, Seed};
use std::collections::VecDeque;
use sum_tree::SumTree;

/// Most transitions that a buffer can be made for.
pub const MAX_CAPACITY: usize = 1 << 26;

/// Most transitions that can be sampled at once.
pub const MAX_SAMPLE: usize = 1 << 20;

/// Added to a priority, so that none is never drawn.
const LEAST_PRIORITY: f64 = 1e-6;

/// Transitions of one batch, as [`crate::TransitionRecords`] has them.
#[derive(Clone, Copy, Debug)]
pub struct Transitions<'a> {
    /// How observations look.
    pub space: &'a ObservationSpace,
    /// The observations of the window, those that open the next, and the final ones.
    pub seen: &'a Gather,
    /// Slots of the window.
    pub n_games: usize,
    /// Which step of its episode each record is.
    pub step: &'a [i32],
    /// The row in `seen` of each record's next observation.
    pub next_rows: &'a [i64],
    /// Actions.
    pub actions: &'a ActionArray,
    /// Rewards.
    pub rewards: &'a [f32],
    /// Discounts.
    pub discounts: &'a [f32],
    /// Whether the episode terminated.
    pub terminated: &'a [bool],
    /// Whether it was cut off.
    pub truncated: &'a [bool],
    /// Versions that acted.
    pub policy_version: &'a [i64],
    /// States and next states, each of `state_shape`; empty without.
    pub states: [&'a [f32]; 2],
    /// Shape of a state.
    pub state_shape: &'a [usize],
}

/// Transitions that were drawn, row by row.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Numbers by which priorities are updated.
    pub indices: Vec<i64>,
    /// Importance weights, the largest 1.
    pub weights: Vec<f32>,
    /// What was seen, part by part.
    pub obs: Vec<ObservationArray>,
    /// What was done.
    pub actions: ActionArray,
    /// Rewards.
    pub rewards: Vec<f32>,
    /// Discounts.
    pub discounts: Vec<f32>,
    /// What was seen next, part by part.
    pub next_obs: Vec<ObservationArray>,
    /// Whether the episode terminated.
    pub terminated: Vec<bool>,
    /// Whether it was cut off.
    pub truncated: Vec<bool>,
    /// Versions that acted.
    pub policy_version: Vec<i64>,
    /// States and next states; empty without.
    pub states: [Vec<f32>; 2],
}

/// A transition, but for its action and states.
struct Transition {
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
struct Contents {
    space: ObservationSpace,
    state_shape: Vec<usize>,
    frames: Frames,
    transitions: VecDeque<Transition>,
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

/// The buffer.
pub struct Replay {
    capacity: usize,
    rng: Pcg64,
    alpha: f64,
    /// The priority of each place, `number % capacity`; none where draws are uniform.
    tree: Option<SumTree>,
    /// The largest priority so far, which new transitions have.
    largest: f64,
    /// Transitions that have gone: the number of the oldest that is there.
    gone: u64,
    contents: Option<Contents>,
}

impl Replay {
    /// An empty buffer for `capacity` transitions. With `alpha` above 0 they are drawn by their priority to
    /// the power of `alpha`.
    ///
    /// # Errors
    /// [`EngineError::Setting`] for a capacity outside 1 to [`MAX_CAPACITY`] and an `alpha` outside 0 to 1.
    pub fn new(capacity: usize, seed: &Seed, alpha: f64) -> Result<Self, EngineError> {
        within("capacity", capacity, MAX_CAPACITY)?;
        check_share("alpha", alpha)?;
        let tree = (alpha > 0.0).then(|| SumTree::new(capacity)).transpose()?;
        Ok(Self { capacity, rng: Pcg64::from(seed), alpha, tree, largest: 1.0, gone: 0, contents: None })
    }

    /// Transitions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.as_ref().map_or(0, |contents| contents.transitions.len())
    }

    /// Whether nothing was added yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most transitions there can be.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How observations look, and the shape of a state, once something was added.
    #[must_use]
    pub fn shapes(&self) -> Option<(&ObservationSpace, &[usize])> {
        self.contents.as_ref().map(|contents| (&contents.space, &contents.state_shape[..]))
    }

    /// Bytes that are held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tree.as_ref().map_or(0, SumTree::bytes) + self.contents.as_ref().map_or(0, Contents::bytes)
    }

    /// Adds a batch; the oldest transitions beyond the capacity go.
    ///
    /// # Errors
    /// [`EngineError::Replay`] for transitions of another kind than those that are there, and where there is
    /// no memory.
    pub fn add(&mut self, batch: Transitions<'_>) -> Result<(), EngineError> {
        let contents = self.contents.get_or_insert_with(|| Contents::like(&batch));
        contents.check(&batch)?;
        let numbers = contents.store_frames(&batch)?;
        contents.push(&batch, &numbers);
        let added = batch.rewards.len();
        let excess = contents.transitions.len().saturating_sub(self.capacity);
        contents.drop_oldest(excess);
        self.gone += excess as u64;
        if let Some(tree) = &mut self.tree {
            let end = self.gone + contents.transitions.len() as u64;
            let (capacity, priority) = (self.capacity as u64, self.largest.powf(self.alpha));
            for number in end - (added as u64).min(capacity)..end {
                tree.set((number % capacity) as usize, priority);
            }
        }
        Ok(())
    }

    /// Draws `size` transitions, with replacement: by priority in as many equal shares of the sum, one from
    /// each. Weights are `(len * P)^-beta` over the largest of them.
    ///
    /// # Errors
    /// An empty buffer, a size outside 1 to [`MAX_SAMPLE`], a `beta` outside 0 to 1.
    pub fn sample(&mut self, size: usize, beta: f64) -> Result<Sample, EngineError> {
        within("size", size, MAX_SAMPLE)?;
        check_share("beta", beta)?;
        let Some(contents) = &self.contents else { return Err(EngineError::EmptyReplay) };
        let len = contents.transitions.len();
        let places: Vec<usize> = match &self.tree {
            None => (0..size).map(|_| self.rng.integers(len as u64) as usize).collect(),
            Some(tree) => {
                let share = tree.total() / size as f64;
                let mut draw = |at: usize| {
                    let leaf = tree.find((at as f64 + self.rng.next_f64()) * share) as u64;
                    // The transition whose number has this remainder.
                    ((leaf + self.capacity as u64 - self.gone % self.capacity as u64) % self.capacity as u64)
                        as usize
                };
                (0..size).map(&mut draw).collect()
            }
        };
        let weights = match &self.tree {
            None => vec![1.0; size],
            Some(tree) => {
                let weight = |place: &usize| {
                    let leaf = (self.gone + *place as u64) % self.capacity as u64;
                    (len as f64 * tree.get(leaf as usize) / tree.total()).powf(-beta)
                };
                let weights: Vec<f64> = places.iter().map(weight).collect();
                let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                weights.into_iter().map(|weight| (weight / largest) as f32).collect()
            }
        };
        let indices = places.iter().map(|place| (self.gone + *place as u64) as i64).collect();
        contents.picked(&places, indices, weights)
    }

    /// Replaces priorities, of transitions by their numbers; those that have gone are passed over.
    ///
    /// # Errors
    /// A buffer without priorities, lists of different lengths, a number that was never drawn, a priority that
    /// is negative or not finite. Nothing has changed then.
    pub fn update_priorities(&mut self, indices: &[i64], priorities: &[f64]) -> Result<(), EngineError> {
        let (len, gone) = (self.len() as u64, self.gone);
        let Some(tree) = &mut self.tree else {
            return Err(EngineError::Replay("the replay buffer has no priorities: its alpha is 0".into()));
        };
        if indices.len() != priorities.len() {
            let (indices, priorities) = (indices.len(), priorities.len());
            return Err(EngineError::Replay(format!(
                "there are {priorities} priorities for {indices} indices"
            )));
        }
        if let Some(index) = indices.iter().find(|index| !(0..(gone + len) as i64).contains(index)) {
            return Err(EngineError::Replay(format!("{index} is no index that was sampled here")));
        }
        if let Some(priority) =
            priorities.iter().find(|priority| !(priority.is_finite() && **priority >= 0.0))
        {
            return Err(EngineError::Replay(format!(
                "priorities must be finite and not negative, got {priority:?}"
            )));
        }
        for (index, priority) in indices.iter().zip(priorities) {
            let number = *index as u64;
            if number >= gone {
                let priority = priority + LEAST_PRIORITY;
                self.largest = self.largest.max(priority);
                tree.set((number % self.capacity as u64) as usize, priority.powf(self.alpha));
            }
        }
        Ok(())
    }
}

impl Contents {
    fn like(batch: &Transitions<'_>) -> Self {
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

    /// Refuses transitions of another kind.
    fn check(&self, batch: &Transitions<'_>) -> Result<(), EngineError> {
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
    fn store_frames(&mut self, batch: &Transitions<'_>) -> Result<Vec<u64>, EngineError> {
        let (seen, n_games, n_records) = (batch.seen, batch.n_games, batch.step.len());
        let in_window = n_records + n_games;
        let frames = &mut self.frames;
        let mut numbers = Vec::with_capacity(seen.rows());
        for row in 0..in_window {
            let observation = |part: usize| seen.row(part, row);
            let number = if row < n_games {
                match self.tails.get(row).filter(|_| self.tails.len() == n_games) {
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
                    batch.next_rows[row - n_games] as usize >= in_window
                };
                frames.push(observation, 0, (!begins).then(|| numbers[row - n_games]))?
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

    fn push(&mut self, batch: &Transitions<'_>, numbers: &[u64]) {
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

    fn drop_oldest(&mut self, excess: usize) {
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

    fn picked(&self, places: &[usize], indices: Vec<i64>, weights: Vec<f32>) -> Result<Sample, EngineError> {
        let at = |place: &usize| &self.transitions[*place];
        let drawn = |newest: fn(&Transition) -> u64| {
            let mut arrays = ObservationArray::zeros(&self.space, places.len())?;
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

    fn bytes(&self) -> usize {
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

/// Refuses what is not from 1 to `most`.
fn within(name: &'static str, given: usize, most: usize) -> Result<(), EngineError> {
    if (1..=most).contains(&given) {
        return Ok(());
    }
    Err(EngineError::Setting { name, allowed: format!("from 1 to {most}"), given: given.to_string() })
}
