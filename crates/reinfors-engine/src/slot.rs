//! What a slot remembers beside its world: its own streams of random numbers and how far its episode is.
//!
//! Streams are NumPy's `SeedSequence(seed, spawn_key=(slot, purpose))`, so one slot's do not depend on how
//! many there are. Every episode gets a seed of its own from the first stream: with it alone, the episode can
//! be played again.

use reinfors_core::rng::{Pcg64, Seed};
use serde::{Deserialize, Serialize};

/// Last word of the spawn key of the stream that episode seeds are drawn from.
const EPISODE_SEEDS: u32 = 0;
/// Last word of the spawn key of the stream that actions are sampled from.
const ACTIONS: u32 = 1;

/// State of one slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slot {
    seeds: Pcg64,
    /// Samples the actions.
    pub actions: Pcg64,
    /// Seed of the running episode.
    pub episode_seed: u64,
    /// Steps of the running episode.
    pub step: u32,
    /// Sum of the rewards of the running episode.
    pub total_reward: f64,
    /// What the policy remembers of the running episode: zeros at its start.
    pub state: Vec<f32>,
}

impl Slot {
    /// Slot number `slot` of an engine seeded with `seed`, before its first episode, that remembers
    /// `state_size` numbers.
    pub fn new(seed: &Seed, slot: u32, state_size: usize) -> Self {
        let stream = |purpose| Pcg64::from_entropy(seed.words(), &[slot, purpose]);
        Self {
            seeds: stream(EPISODE_SEEDS),
            actions: stream(ACTIONS),
            episode_seed: 0,
            step: 0,
            total_reward: 0.0,
            state: vec![0.0; state_size],
        }
    }

    /// The seed that the next episode will have.
    pub fn next_seed(&self) -> Seed {
        Seed::from(self.seeds.clone().next_u64() >> 1)
    }

    /// Starts the next episode and returns its seed: 63 bits, so that any signed 64-bit integer holds it.
    pub fn next_episode(&mut self) -> u64 {
        let seed = self.seeds.next_u64() >> 1;
        self.join(seed);
        seed
    }

    /// Starts the episode of this seed, which another agent's slot has drawn.
    pub fn join(&mut self, seed: u64) {
        self.episode_seed = seed;
        self.step = 0;
        self.total_reward = 0.0;
        self.state.fill(0.0);
    }
}
