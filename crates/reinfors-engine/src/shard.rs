//! A contiguous range of slots that one thread steps at a time. Which slots share a shard never changes a
//! result.
//!
//! A slot is an agent, and the agents of a world are neighbours. They begin and end episodes together, under the
//! seed that the first one draws.

use crate::EngineError;
use crate::easel::Easels;
use crate::errand::{Errands, Pending};
use crate::slot::Slot;
use crate::telemetry::Episode;
use reinfors_core::rng::Seed;
use reinfors_core::{Actions, AnyBatch, ConfiguredGame, Failure, GameSpec, Outcome};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Equal ranges of rows, one for each of `n_threads` threads: games that step several at once fill their packs.
#[must_use]
pub fn shard_ranges(rows: usize, n_threads: usize) -> Vec<Range<usize>> {
    let n_shards = n_threads.clamp(1, rows.max(1));
    (0..n_shards).map(|shard| shard * rows / n_shards..(shard + 1) * rows / n_shards).collect()
}

/// What every shard knows of the game.
pub(crate) struct Rules {
    end_reasons: &'static [&'static str],
    reset_flags: Vec<bool>,
    action_dimensions: usize,
    n_agents: usize,
    /// Which parts are drawn here and there. Their rows are overwritten first: no cache holds them, and bytes that
    /// need not be read are written several times as fast.
    scattered: Vec<bool>,
    /// Whether final observations are wanted of episodes that terminated too.
    all_ends: bool,
}

impl Rules {
    pub fn of(spec: &GameSpec, all_ends: bool) -> Self {
        Self {
            all_ends,
            end_reasons: spec.end_reasons,
            reset_flags: spec.default_flags(),
            action_dimensions: spec.action.dimensions(),
            n_agents: spec.n_agents,
            scattered: spec.observation.parts.iter().map(|part| part.is_scattered).collect(),
        }
    }

    /// Whether somebody wants to see what an episode stopped with.
    fn owes_final_observation(&self, outcome: &Outcome) -> bool {
        outcome.is_end() && (self.all_ends || outcome.terminated.is_none())
    }
}

/// Worlds and slots of a range.
pub(crate) struct Shard {
    rules: Arc<Rules>,
    /// Its rows among all.
    pub rows: Range<usize>,
    pub batch: Box<dyn AnyBatch>,
    pub slots: Vec<Slot>,
    remembered: Vec<Slot>,
    errands: Arc<Errands>,
    /// What is made ahead for the next episode of each world.
    pending: Vec<Option<Pending>>,
    /// Whether the worlds could not go back with their slots and have to begin anew.
    is_lost: bool,
    /// What the last step did, one per row.
    pub outcomes: Vec<Outcome>,
    /// Episodes that ended in this window, each with the window's step.
    pub episodes: Vec<(usize, Episode)>,
    /// Spent stepping and resetting in this window.
    pub step_time: Duration,
}

impl Shard {
    /// Worlds for `rows`, not reset yet, whose policy remembers `state_size` numbers.
    ///
    /// # Errors
    /// Reward weights that the game refuses.
    pub fn new(
        game: &ConfiguredGame,
        reward: &[(String, f64)],
        seed: &Seed,
        rules: &Arc<Rules>,
        errands: &Arc<Errands>,
        rows: Range<usize>,
        state_size: usize,
    ) -> Result<Self, EngineError> {
        let n_worlds = rows.len() / rules.n_agents;
        let slots: Vec<Slot> = rows.clone().map(|slot| Slot::new(seed, slot as u32, state_size)).collect();
        Ok(Self {
            rules: Arc::clone(rules),
            batch: game.batch(reward, n_worlds)?,
            remembered: Vec::with_capacity(slots.len()),
            errands: Arc::clone(errands),
            pending: (0..n_worlds).map(|_| None).collect(),
            is_lost: false,
            outcomes: vec![Outcome::default(); slots.len()],
            slots,
            rows,
            episodes: Vec::new(),
            step_time: Duration::ZERO,
        })
    }

    fn n_worlds(&self) -> usize {
        self.pending.len()
    }

    /// The rows of a world's agents.
    fn agents(&self, world: usize) -> Range<usize> {
        world * self.rules.n_agents..(world + 1) * self.rules.n_agents
    }

    /// The world whose first agent a row is.
    pub fn world_of(&self, row: usize) -> Option<usize> {
        row.is_multiple_of(self.rules.n_agents).then_some(row / self.rules.n_agents)
    }

    /// Starts the next episode of one world, and has the one after it made ready.
    fn reset(&mut self, world: usize) {
        let agents = self.agents(world);
        let Some((first, others)) = self.slots[agents].split_first_mut() else { return };
        let seed = first.next_episode();
        others.iter_mut().for_each(|slot| slot.join(seed));
        let following = first.next_seed();
        if let Some(ready) = self.pending[world].take().and_then(Pending::take) {
            self.batch.keep_ready(world, ready);
        }
        self.batch.reset(world, Some(&Seed::from(seed)), &self.rules.reset_flags);
        let errand = self.batch.errand(world, Some(&following), &self.rules.reset_flags);
        self.pending[world] = errand.and_then(|errand| self.errands.give(errand));
    }

    /// Starts the next episodes of all worlds.
    pub fn reset_all(&mut self) {
        (0..self.n_worlds()).for_each(|world| self.reset(world));
    }

    /// Remembers worlds and slots, and starts the window's counts.
    pub fn checkpoint(&mut self) {
        self.batch.checkpoint();
        self.remembered.clone_from(&self.slots);
        self.episodes.clear();
        self.step_time = Duration::ZERO;
    }

    /// Puts worlds and slots back to the last checkpoint. Worlds that cannot go back are lost until
    /// [`Shard::begin_lost`].
    pub fn rollback(&mut self) {
        self.is_lost = !self.batch.rollback();
        self.slots.clone_from(&self.remembered);
        self.episodes.clear();
    }

    /// Starts new episodes in all rows, if the worlds were lost. Whether they were.
    pub fn begin_lost(&mut self) -> bool {
        if self.is_lost {
            self.reset_all();
        }
        std::mem::take(&mut self.is_lost)
    }

    /// What the worlds have failed at since the last call, which leaves them lost.
    pub fn take_failure(&mut self) -> Option<Failure> {
        let failure = self.batch.take_failure();
        self.is_lost |= failure.is_some();
        failure
    }

    /// Steps every row with its part of `actions`, which are those of the rows from `first` on, notes the
    /// episodes that ended, and resets those rows that owe nobody a final observation.
    pub fn step(&mut self, actions: Actions<'_>, first: usize, window_step: usize) {
        let start = Instant::now();
        let dimensions = self.rules.action_dimensions;
        let actions =
            actions.part((self.rows.start - first) * dimensions..(self.rows.end - first) * dimensions);
        self.batch.step(actions, None, &mut self.outcomes);
        for row in 0..self.slots.len() {
            let outcome = self.outcomes[row];
            let slot = &mut self.slots[row];
            slot.step = slot.step.saturating_add(1);
            slot.total_reward += outcome.reward;
            if !outcome.is_end() {
                continue;
            }
            let episode = Episode {
                total_reward: slot.total_reward,
                length: slot.step,
                ended: outcome.reason(self.rules.end_reasons),
                slot: self.rows.start + row,
                seed: slot.episode_seed,
            };
            self.episodes.push((window_step, episode));
            // With the last agent of a world, all of them have been noted.
            if !self.owes_final_observation(row) && (row + 1).is_multiple_of(self.rules.n_agents) {
                self.reset(row / self.rules.n_agents);
            }
        }
        self.batch.settle();
        self.step_time += start.elapsed();
    }

    /// Whether the observation that the row's episode stopped with is still to be drawn.
    fn owes_final_observation(&self, row: usize) -> bool {
        self.rules.owes_final_observation(&self.outcomes[row])
    }

    /// Rows whose episode ended and that wait for their final observation to be drawn.
    pub fn stopped(&self) -> impl Iterator<Item = usize> {
        (0..self.slots.len()).filter(|&row| self.owes_final_observation(row))
    }

    /// The worlds of these rows.
    pub fn stopped_worlds(&self) -> impl Iterator<Item = usize> {
        self.stopped().step_by(self.rules.n_agents).map(|row| row / self.rules.n_agents)
    }

    /// Draws a part of the final observations of some of the worlds that stopped, counted among those.
    pub fn draw_final(
        &self,
        easels: &Easels,
        thread: usize,
        part: usize,
        among: Range<usize>,
        out: &mut [u8],
    ) {
        let world_bytes = out.len() / among.len();
        let worlds = self.stopped_worlds().skip(among.start).zip(out.chunks_exact_mut(world_bytes));
        easels.draw(thread, &*self.batch, part, worlds);
    }

    /// Starts the next episodes of the rows that stopped.
    pub fn reset_stopped(&mut self) {
        let start = Instant::now();
        for world in 0..self.n_worlds() {
            if self.owes_final_observation(world * self.rules.n_agents) {
                self.reset(world);
            }
        }
        self.batch.settle();
        self.step_time += start.elapsed();
    }

    /// Draws a part of those of `worlds` that stopped (`true`) or have not (`false`) into their places in `out`,
    /// which holds all of `worlds`.
    pub fn draw(
        &self,
        easels: &Easels,
        thread: usize,
        part: usize,
        stopped: bool,
        worlds: Range<usize>,
        out: &mut [u8],
    ) {
        let world_bytes = out.len() / worlds.len();
        let worlds = worlds.zip(out.chunks_exact_mut(world_bytes));
        let is_wanted = |world| self.owes_final_observation(world * self.rules.n_agents) == stopped;
        let wanted = worlds.filter(|(world, _)| is_wanted(*world));
        let is_scattered = self.rules.scattered[part];
        let overwritten = wanted.map(|(world, out)| {
            if is_scattered {
                out.fill(0);
            }
            (world, out)
        });
        easels.draw(thread, &*self.batch, part, overwritten);
    }
}
