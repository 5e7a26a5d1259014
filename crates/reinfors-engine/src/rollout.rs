//! The games and how a window of records is made of them: infer, sample, step, draw, again and again.
//!
//! A window is atomic. Games, streams and counters are remembered when it starts and put back when anything
//! in it fails, so a second attempt makes the very records the first would have made.
//!
//! The answer that closes a window is not carried over to the next one, which begins with the same
//! observations: the weights may change in between, and a record's value must be of the policy that acted.

use crate::EngineError;
use crate::batch::ActionArray;
use crate::buffer::{ObservationStore, ObservationView, ObservationWriter};
use crate::clock::Moment;
use crate::config::{EngineConfig, cores};
use crate::errand::Errands;
use crate::head::Head;
use crate::infer::{Answer, Infer, Inference, Memory};
use crate::learner::Needs;
use crate::observation::ObservationArray;
use crate::policy::state_size;
use crate::pool::{Pool, panic_message};
use crate::shard::{Rules, Shard, shard_ranges};
use crate::telemetry::{Telemetry, Timing};
use reinfors_core::Actions;
use reinfors_core::rng::Seed;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Raw records of `n_steps` steps of `n_games` slots, row `t * n_games + slot`.
pub(crate) struct Window {
    pub n_games: usize,
    pub n_steps: usize,
    /// `n_steps + 1` groups of rows; the last group opens the next window.
    pub observations: ObservationWriter,
    pub actions: ActionArray,
    /// Empty for a policy without densities.
    pub log_probs: Vec<f32>,
    /// Empty where no values are needed, as are `final_values` and `last_values`.
    pub values: Vec<f64>,
    pub rewards: Vec<f64>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
    /// Value of the final observation where an episode was cut off, 0 elsewhere.
    pub final_values: Vec<f64>,
    pub versions: Vec<i64>,
    /// When each step was decided.
    pub moments: Vec<Moment>,
    pub slots: Vec<i32>,
    pub steps: Vec<i32>,
    pub last_values: Vec<f64>,
    /// What was remembered before each step; empty where nothing is.
    pub states: Vec<f32>,
    /// What will be remembered at the next step of every slot.
    pub last_states: Vec<f32>,
    /// What the episodes stopped with; empty where values stand for it.
    pub finals: Finals,
    pub telemetry: Telemetry,
}

/// The final observations of the episodes that stopped in a window.
#[derive(Default)]
pub(crate) struct Finals {
    /// The record that each follows, ascending.
    pub rows: Vec<usize>,
    /// What was remembered there.
    pub states: Vec<f32>,
    /// Those of each step that had any.
    pub observations: Vec<ObservationView>,
}

/// What a window asks of the outside world.
pub(crate) struct Outside<'a> {
    /// The caller's network.
    pub infer: &'a mut dyn Infer,
    /// The policy's version, read once per step, whatever the number of calls that decide it.
    pub now: &'a dyn Fn() -> Moment,
    /// What an ε-greedy policy does in this window.
    pub epsilon: f64,
    /// Whether the window is not wanted any more.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

/// The games of an engine.
pub(crate) struct Rollout {
    pool: Pool,
    pub shards: Vec<Shard>,
    /// For each part of the observation, where each shard's rows start in a group of them, in bytes.
    bounds: Vec<Vec<usize>>,
    store: ObservationStore,
    /// The observations that open the next window, part by part.
    opening: Vec<ObservationArray>,
    n_games: usize,
    head: Head,
    needs: Needs,
    answer: Answer,
    inference: Inference,
    /// Numbers that a slot remembers.
    pub state_size: usize,
    /// What the rows of the next question remember.
    state: Vec<f32>,
    /// Whether they are the first of their episodes.
    starts: Vec<bool>,
    /// What the games are given at the current step.
    controls: Vec<f64>,
    /// Finished windows.
    pub windows: u64,
    idle_since: Option<Instant>,
}

impl Rollout {
    /// The games of `config`, each at the start of its first episode.
    pub fn new(
        config: &EngineConfig,
        head: Head,
        answer: Answer,
        seed: &Seed,
        n_threads: usize,
    ) -> Result<Self, EngineError> {
        let EngineConfig { game, reward, n_games, .. } = config;
        let (n_games, needs) = (*n_games, config.learner.needs());
        let state_size = state_size(&config.state_shape)?;
        let rules = Arc::new(Rules::of(game.spec(), needs.all_ends));
        let errands = Arc::new(Errands::new());
        let ranges = shard_ranges(n_games, n_threads);
        let space = &game.spec().observation;
        let store = ObservationStore::new(space);
        let starts = || ranges.iter().map(|range| range.start).chain([n_games]);
        let bounds = store.row_bytes().map(|bytes| starts().map(|row| row * bytes).collect()).collect();
        let shards = ranges
            .into_iter()
            .map(|rows| Shard::new(game, reward, seed, &rules, &errands, rows, state_size))
            .collect::<Result<_, _>>()?;
        let mut rollout = Self {
            pool: Pool::new(n_threads)?,
            shards,
            bounds,
            store,
            opening: ObservationArray::zeros(space, n_games)?,
            n_games,
            head,
            needs,
            answer,
            inference: Inference::default(),
            state_size,
            state: Vec::with_capacity(n_games * state_size),
            starts: Vec::with_capacity(n_games),
            controls: Vec::new(),
            windows: 0,
            idle_since: None,
        };
        rollout.pool.for_each(&mut rollout.shards, |_, shard| {
            for row in 0..shard.slots.len() {
                shard.reset(row);
            }
        })?;
        rollout.draw_opening()?;
        Ok(rollout)
    }

    /// Draws the observations that open the next window from the states of the games.
    pub fn draw_opening(&mut self) -> Result<(), EngineError> {
        for (part, (opening, bounds)) in self.opening.iter_mut().zip(&self.bounds).enumerate() {
            let draw = |_, shard: &mut Shard, out: &mut [u8]| shard.draw_all(part, out);
            self.pool.for_each_with_output(&mut self.shards, opening.bytes_mut(), bounds, draw)?;
        }
        Ok(())
    }

    /// Makes the next `n_steps` records of every slot, or none.
    pub fn window(&mut self, n_steps: usize, outside: &mut Outside<'_>) -> Result<Window, EngineError> {
        let observations = self.store.take((n_steps + 1) * self.n_games)?;
        let start = Instant::now();
        let mut timing =
            Timing { wait: self.idle_since.map_or(Duration::ZERO, |idle| start - idle), ..Timing::default() };
        self.checkpoint()?;
        self.head.set_epsilon(outside.epsilon);
        let mut window = Window::new(self.n_games, n_steps, observations, &self.head);
        reserve(&mut window.states, n_steps * self.n_games * self.state_size)?;
        let filled = catch_unwind(AssertUnwindSafe(|| self.fill(&mut window, outside, &mut timing)))
            .unwrap_or_else(|panic| {
                Err(EngineError::Internal(format!("collecting panicked: {}", panic_message(&*panic))))
            });
        if let Err(error) = filled {
            self.rollback()?;
            return Err(error);
        }
        timing.total = timing.wait + start.elapsed();
        window.telemetry = self.telemetry(&mut timing, std::mem::take(&mut window.moments));
        self.windows += 1;
        Ok(window)
    }

    /// Notes that the games stand still from now on.
    pub fn rest(&mut self) {
        self.idle_since = Some(Instant::now());
    }

    /// Remembers games and slots, for [`Rollout::rollback`].
    pub fn checkpoint(&mut self) -> Result<(), EngineError> {
        Ok(self.pool.for_each(&mut self.shards, |_, shard| shard.checkpoint())?)
    }

    /// Puts games and slots back to the start of the window.
    pub fn rollback(&mut self) -> Result<(), EngineError> {
        Ok(self.pool.for_each(&mut self.shards, |_, shard| shard.rollback())?)
    }

    /// Takes back the last window, which nobody can use.
    pub fn take_back(&mut self) -> Result<(), EngineError> {
        self.rollback()?;
        self.draw_opening()?;
        self.windows -= 1;
        Ok(())
    }

    fn fill(
        &mut self,
        window: &mut Window,
        outside: &mut Outside<'_>,
        timing: &mut Timing,
    ) -> Result<(), EngineError> {
        let n_games = self.n_games;
        for (part, opening) in self.opening.iter_mut().enumerate() {
            window.observations.unfilled(part, n_games).copy_from_slice(opening.bytes_mut());
        }
        window.observations.seal(n_games);
        for step in 0..window.n_steps {
            if (outside.is_cancelled)() {
                return Err(EngineError::Ended("the window was cancelled".into()));
            }
            let now = (outside.now)();
            window.moments.push(now);
            let rows = step * n_games..(step + 1) * n_games;
            self.recall();
            self.ask(&window.observations.view(rows), outside.infer, timing)?;
            self.act(window, now.version)?;
            self.remember();
            self.step(window, step, timing)?;
            self.part_from_stopped(window, outside.infer, timing)?;
            window.observations.seal(n_games);
        }
        let opening = window.observations.view(window.n_steps * n_games..(window.n_steps + 1) * n_games);
        self.recall();
        window.last_states.extend_from_slice(&self.state);
        if self.needs.values {
            // What this answer remembers is dropped: the next window asks about the same observations.
            self.ask(&opening, outside.infer, timing)?;
            window.last_values.extend_from_slice(&self.inference.values);
        }
        for (part, kept) in self.opening.iter_mut().enumerate() {
            kept.bytes_mut().copy_from_slice(opening.bytes(part));
        }
        Ok(())
    }

    /// Collects what the slots remember, for the next question.
    fn recall(&mut self) {
        self.state.clear();
        self.starts.clear();
        for slot in self.shards.iter().flat_map(|shard| &shard.slots) {
            self.state.extend_from_slice(&slot.state);
            self.starts.push(slot.step == 0);
        }
    }

    /// Leaves what the answer remembers with the slots.
    fn remember(&mut self) {
        let slots = self.shards.iter_mut().flat_map(|shard| &mut shard.slots);
        let mut state = self.inference.state.iter();
        if self.state_size > 0 {
            for number in slots.flat_map(|slot| &mut slot.state) {
                *number = state.next().map_or(0.0, |given| *given as f32);
            }
        }
    }

    /// Calls `infer` and checks its answer.
    fn ask(
        &mut self,
        obs: &ObservationView,
        infer: &mut dyn Infer,
        timing: &mut Timing,
    ) -> Result<(), EngineError> {
        let start = Instant::now();
        let memory = Memory { state: &self.state, starts: &self.starts };
        let answered = infer.infer(obs, memory, &mut self.inference);
        timing.infer += start.elapsed();
        answered.map_err(EngineError::Infer)?;
        self.inference.check(obs.rows(), &self.answer)
    }

    /// Samples every slot's action and records what is known before the step.
    fn act(&mut self, window: &mut Window, version: i64) -> Result<(), EngineError> {
        self.controls.clear();
        let n_params = self.head.n_params();
        let slots = self.shards.iter_mut().flat_map(|shard| &mut shard.slots);
        for (row, (slot, params)) in slots.zip(self.inference.params.chunks_exact(n_params)).enumerate() {
            let sampled =
                self.head.sample(params, &mut slot.actions, &mut window.actions, &mut self.controls);
            let log_prob = sampled.map_err(|why| {
                EngineError::Output(format!("infer returned {} whose row {row}: {why}", self.answer.decision))
            })?;
            window.log_probs.extend(log_prob);
            window.steps.push(i32::try_from(slot.step).unwrap_or(i32::MAX));
            window.slots.push(row as i32);
            window.versions.push(version);
        }
        if self.needs.values {
            window.values.extend_from_slice(&self.inference.values);
        }
        window.states.extend_from_slice(&self.state);
        Ok(())
    }

    /// Steps the games in parallel, each shard drawing the first part of its next observations in the same
    /// go.
    fn step(&mut self, window: &mut Window, step: usize, timing: &mut Timing) -> Result<(), EngineError> {
        let start = Instant::now();
        let actions = match &window.actions {
            ActionArray::Discrete(indices) => Actions::Discrete(&indices[step * self.n_games..]),
            ActionArray::Continuous { .. } => Actions::Continuous(&self.controls),
        };
        for (part, bounds) in self.bounds.iter().enumerate() {
            let next = window.observations.unfilled(part, self.n_games);
            self.pool.for_each_with_output(&mut self.shards, next, bounds, |_, shard, out| {
                if part == 0 {
                    shard.step(actions, step);
                }
                shard.draw(part, false, out);
            })?;
        }
        for outcome in self.shards.iter().flat_map(|shard| &shard.outcomes) {
            window.rewards.push(outcome.reward);
            window.terminated.push(outcome.terminated.is_some());
            window.truncated.push(outcome.truncated);
            window.final_values.push(0.0);
        }
        timing.parallel += start.elapsed();
        Ok(())
    }

    /// Draws the final observations of the episodes that stopped at this step, to be valued or kept, and
    /// starts the next ones.
    fn part_from_stopped(
        &mut self,
        window: &mut Window,
        infer: &mut dyn Infer,
        timing: &mut Timing,
    ) -> Result<(), EngineError> {
        let first = window.rewards.len() - self.n_games;
        let rows: Vec<usize> = self
            .shards
            .iter()
            .flat_map(|shard| shard.stopped().map(|row| first + shard.rows.start + row))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let mut finals = self.store.take_once(rows.len())?;
        for (part, row_bytes) in self.store.row_bytes().enumerate() {
            let mut bounds = vec![0];
            for shard in &self.shards {
                bounds.push(bounds[bounds.len() - 1] + shard.stopped().count() * row_bytes);
            }
            let draw_final = |_, shard: &mut Shard, out: &mut [u8]| shard.draw_final(part, out);
            let out = finals.unfilled(part, rows.len());
            self.pool.for_each_with_output(&mut self.shards, out, &bounds, draw_final)?;
        }
        finals.seal(rows.len());
        self.state.clear();
        for shard in &self.shards {
            shard.stopped().for_each(|row| self.state.extend_from_slice(&shard.slots[row].state));
        }
        self.starts.clear();
        self.starts.resize(rows.len(), false);
        for (part, bounds) in self.bounds.iter().enumerate() {
            let next = window.observations.unfilled(part, self.n_games);
            self.pool.for_each_with_output(&mut self.shards, next, bounds, |_, shard, out| {
                if part == 0 {
                    shard.reset_stopped();
                }
                shard.draw(part, true, out);
            })?;
        }
        timing.parallel += start.elapsed();

        let finals = finals.view(0..rows.len());
        if self.needs.values {
            self.ask(&finals, infer, timing)?;
            for (row, value) in rows.into_iter().zip(&self.inference.values) {
                window.final_values[row] = *value;
            }
        } else {
            window.finals.rows.extend(rows);
            window.finals.states.extend_from_slice(&self.state);
            window.finals.observations.push(finals);
        }
        Ok(())
    }

    fn telemetry(&mut self, timing: &mut Timing, moments: Vec<Moment>) -> Telemetry {
        let mut episodes = Vec::new();
        for shard in &mut self.shards {
            timing.step += shard.step_time;
            timing.render += shard.render_time;
            episodes.append(&mut shard.episodes);
        }
        // Shards are in the order of slots, and the sort is stable.
        episodes.sort_by_key(|(step, _)| *step);
        let seconds = timing.seconds();
        Telemetry {
            window: self.windows,
            episodes: episodes.into_iter().map(|(_, episode)| episode).collect(),
            steps_per_second: (moments.len() * self.n_games) as f64 / seconds.total.max(f64::MIN_POSITIVE),
            seconds,
            epsilon: self.head.epsilon(),
            moments,
            n_games: self.n_games,
            has_idle_cores: self.pool.n_threads() < cores().min(self.n_games),
            ..Telemetry::default()
        }
    }
}

impl Window {
    fn new(n_games: usize, n_steps: usize, observations: ObservationWriter, head: &Head) -> Self {
        let n_records = n_games * n_steps;
        Self {
            n_games,
            n_steps,
            observations,
            actions: head.empty_actions(n_records),
            log_probs: Vec::with_capacity(n_records),
            values: Vec::with_capacity(n_records),
            rewards: Vec::with_capacity(n_records),
            terminated: Vec::with_capacity(n_records),
            truncated: Vec::with_capacity(n_records),
            final_values: Vec::with_capacity(n_records),
            versions: Vec::with_capacity(n_records),
            moments: Vec::with_capacity(n_steps),
            slots: Vec::with_capacity(n_records),
            steps: Vec::with_capacity(n_records),
            last_values: Vec::with_capacity(n_games),
            states: Vec::new(),
            last_states: Vec::new(),
            finals: Finals::default(),
            telemetry: Telemetry::default(),
        }
    }
}

/// Makes room for so many numbers, or says that there is no memory for them.
fn reserve(numbers: &mut Vec<f32>, len: usize) -> Result<(), EngineError> {
    numbers.try_reserve_exact(len).map_err(|_| EngineError::Setting {
        name: "state_shape",
        allowed: "so small that the states of a window fit into memory".into(),
        given: format!("{len} numbers in all"),
    })
}
