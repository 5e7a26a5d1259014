//! A replay buffer: the last transitions that were added, sampled uniformly or by priority (Schaul et al.,
//! 2016).
//!
//! 1. A frame is stored once, whatever stacks and next observations it is part of: an observation is the number
//!    of its newest frame, from which the others are found by going back through the episode.
//! 2. A batch goes on where the one before it ended: if the observation that opens it is the one that closed
//!    the other, its frames are there already. Where it is not, it is stored anew; nothing is assumed.
//! 3. Transitions are counted for ever, and known by that number: a priority that comes too late, for one that
//!    has gone, changes nothing.

mod contents;
mod frames;
mod sum_tree;

use crate::EngineError;
use crate::batch::ActionArray;
use crate::gather::Gather;
use crate::observation::ObservationArray;
use crate::policy::check_share;
use contents::Contents;
use reinfors_core::ObservationSpace;
use reinfors_core::rng::{Pcg64, Seed};
use sum_tree::SumTree;

/// Most transitions that a buffer can be made for.
pub const MAX_CAPACITY: usize = 1 << 26;

/// Most transitions that can be sampled at once.
pub const MAX_SAMPLE: usize = 1 << 20;

/// Most that a priority may be, so that no sum of them is infinite.
const MOST_PRIORITY: f64 = f32::MAX as f64;

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
    pub n_slots: usize,
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
    /// [`EngineError::Replay`] for transitions of another kind than those that are there, for a step below 0,
    /// and where there is no memory.
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
    /// is negative or more than `f32` can hold. Nothing has changed then.
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
        if let Some(priority) = priorities.iter().find(|priority| !(0.0..=MOST_PRIORITY).contains(*priority))
        {
            return Err(EngineError::Replay(format!(
                "priorities must be finite, not negative and what float32 can hold, got {priority:?}"
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

/// Refuses what is not from 1 to `most`.
fn within(name: &'static str, given: usize, most: usize) -> Result<(), EngineError> {
    if (1..=most).contains(&given) {
        return Ok(());
    }
    Err(EngineError::Setting { name, allowed: format!("from 1 to {most}"), given: given.to_string() })
}
