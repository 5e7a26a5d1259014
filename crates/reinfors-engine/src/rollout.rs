//! The games and how a window of records is made of them: infer, sample, step, draw, again and again.
//!
//! A window is atomic. Games, streams and counters are remembered when it starts and put back when anything
//! in it fails, so a second attempt makes the very records the first would have made. Worlds that live
//! elsewhere may be unable to go back; they begin new episodes, the first of which the next window shows.
//!
//! With enough games, one half of them is stepped while `infer` is asked about the other one. Who is asked about
//! with whom is fixed; whether the two things happen at once or one after the other changes no result.
//!
//! The answer that closes a window is not carried over to the next one, which begins with the same
//! observations: the weights may change in between, and a record's value must be of the policy that acted.

use crate::EngineError;
use crate::batch::ActionArray;
use crate::buffer::{ObservationStore, ObservationView, ObservationWriter};
use crate::clock::Moment;
use crate::config::{EngineConfig, cores};
use crate::errand::Errands;
use crate::exchange::Exchange;
use crate::group::Group;
use crate::head::Head;
use crate::infer::{Answer, Infer};
use crate::learner::Needs;
use crate::observation::ObservationArray;
use crate::policy::state_size;
use crate::pool::{Pool, panic_message};
use crate::shard::{Rules, Shard};
use crate::telemetry::{Telemetry, Timing};
use reinfors_core::rng::Seed;
use reinfors_core::{Actions, CancelToken};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A call of `infer` shorter than this is not worth waking another thread for.
const WORTH_OVERLAPPING: Duration = Duration::from_micros(100);

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
    /// Cancelled when the window is not wanted any more.
    pub token: &'a CancelToken,
}

/// The games of an engine.
pub(crate) struct Rollout {
    pool: Pool,
    pub shards: Vec<Shard>,
    groups: Vec<Group>,
    store: ObservationStore,
    /// The observations that open the next window, part by part.
    opening: Vec<ObservationArray>,
    n_games: usize,
    head: Head,
    needs: Needs,
    exchange: Exchange,
    /// Numbers that a slot remembers.
    pub state_size: usize,
    /// What the games of the group that was decided last are given.
    controls: Vec<f64>,
    /// Finished windows.
    pub windows: u64,
    idle_since: Option<Instant>,
}

/// A group at a step of the window.
#[derive(Clone, Copy)]
struct Turn {
    step: usize,
    group: usize,
}

/// What `infer` is asked.
struct Question<'a> {
    obs: ObservationView,
    infer: &'a mut dyn Infer,
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
        let state_size = state_size(&config.state_shape, n_games)?;
        let rules = Arc::new(Rules::of(game.spec(), needs.all_ends));
        let errands = Arc::new(Errands::new());
        let space = &game.spec().observation;
        let store = ObservationStore::new(space);
        let row_bytes: Vec<usize> = store.row_bytes().collect();
        let (groups, ranges) = Group::all(n_games, n_threads, game.spec().is_foreign, &row_bytes);
        let shards = ranges
            .into_iter()
            .map(|rows| Shard::new(game, reward, seed, &rules, &errands, rows, state_size))
            .collect::<Result<_, _>>()?;
        let mut rollout = Self {
            pool: Pool::new(n_threads)?,
            shards,
            groups,
            store,
            opening: ObservationArray::zeros(space, n_games)?,
            n_games,
            head,
            needs,
            exchange: Exchange::new(answer, n_games, state_size),
            state_size,
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
        let row_bytes = self.store.row_bytes();
        for (part, (opening, row_bytes)) in self.opening.iter_mut().zip(row_bytes).enumerate() {
            let draw = |_, shard: &mut Shard, out: &mut [u8]| shard.draw_all(part, out);
            for Group { rows, shards, bounds } in &self.groups {
                let out = &mut opening.bytes_mut()[rows.start * row_bytes..rows.end * row_bytes];
                let shards = &mut self.shards[shards.clone()];
                self.pool.for_each_with_output(shards, out, &bounds[part], draw)?;
            }
        }
        self.check()
    }

    /// Passes on what worlds have failed at.
    fn check(&mut self) -> Result<(), EngineError> {
        match self.shards.iter_mut().find_map(Shard::take_failure) {
            Some(failure) => Err(EngineError::Worlds(failure)),
            None => Ok(()),
        }
    }

    /// Starts new episodes where worlds could not go back when a window failed.
    fn begin_lost(&mut self) -> Result<(), EngineError> {
        let lost = self.shards.iter_mut().filter_map(|shard| shard.begin_lost().then_some(())).count();
        if lost > 0 { self.draw_opening() } else { Ok(()) }
    }

    /// Makes the next `n_steps` records of every slot, or none.
    pub fn window(&mut self, n_steps: usize, outside: &mut Outside<'_>) -> Result<Window, EngineError> {
        let observations = self.store.take((n_steps + 1) * self.n_games)?;
        let start = Instant::now();
        for shard in &mut self.shards {
            shard.batch.heed(outside.token);
        }
        self.begin_lost()?;
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
        self.pool.for_each(&mut self.shards, |_, shard| shard.checkpoint())?;
        self.check()
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
        let mut decided: Option<Turn> = None;
        let turns = (0..=window.n_steps)
            .flat_map(|step| (0..self.groups.len()).map(move |group| Turn { step, group }))
            .collect::<Vec<_>>();
        let mut version = 0;
        for turn in turns {
            if outside.token.is_cancelled() {
                return Err(EngineError::Ended("the window was cancelled".into()));
            }
            let is_closing = turn.step == window.n_steps;
            if turn.group == 0 && !is_closing {
                let now = (outside.now)();
                version = now.version;
                window.moments.push(now);
            }
            // A group that is alone is asked about what its own step has led to.
            if let Some(before) = decided.take_if(|decided| decided.group == turn.group) {
                self.step(window, before, None, timing)?;
                self.settle(window, before, outside.infer, timing)?;
            }
            let Group { rows, shards, .. } = &self.groups[turn.group];
            let first = turn.step * n_games;
            let obs = window.observations.view(first + rows.start..first + rows.end);
            self.exchange.recall(self.shards[shards.clone()].iter().flat_map(|shard| &shard.slots));
            if is_closing {
                window.last_states.extend_from_slice(&self.exchange.state);
            }
            // What an answer at the end remembers is dropped: the next window asks about the same observations.
            let question = (!is_closing || self.needs.values).then(|| Question { obs, infer: outside.infer });
            match (decided, question) {
                (Some(before), question) => self.step(window, before, question, timing)?,
                (None, Some(question)) => self.ask(question, timing)?,
                (None, None) => {}
            }
            if !is_closing {
                self.act(window, turn, version)?;
            } else if self.needs.values {
                window.last_values.extend_from_slice(&self.exchange.inference.values);
            }
            if let Some(before) = decided.take() {
                self.settle(window, before, outside.infer, timing)?;
            }
            decided = (!is_closing).then_some(turn);
        }
        let opening = window.observations.view(window.n_steps * n_games..(window.n_steps + 1) * n_games);
        for (part, kept) in self.opening.iter_mut().enumerate() {
            kept.bytes_mut().copy_from_slice(opening.bytes(part));
        }
        Ok(())
    }

    /// Calls `infer` and checks its answer.
    fn ask(&mut self, question: Question<'_>, timing: &mut Timing) -> Result<(), EngineError> {
        let answered = self.exchange.ask(&question.obs, question.infer);
        timing.infer += self.exchange.took;
        answered
    }

    /// Samples the actions of a group, which has been asked about, and records what is known before the step.
    fn act(&mut self, window: &mut Window, turn: Turn, version: i64) -> Result<(), EngineError> {
        self.controls.clear();
        let Exchange { inference, answer, .. } = &self.exchange;
        let n_params = self.head.n_params();
        let Group { rows, shards, .. } = &self.groups[turn.group];
        let slots = self.shards[shards.clone()].iter_mut().flat_map(|shard| &mut shard.slots);
        for (row, (slot, params)) in slots.zip(inference.params.chunks_exact(n_params)).enumerate() {
            let sampled =
                self.head.sample(params, &mut slot.actions, &mut window.actions, &mut self.controls);
            let log_prob = sampled.map_err(|why| {
                EngineError::Output(format!("infer returned {} whose row {row}: {why}", answer.decision))
            })?;
            window.log_probs.extend(log_prob);
            window.steps.push(i32::try_from(slot.step).unwrap_or(i32::MAX));
            window.slots.push((rows.start + row) as i32);
            window.versions.push(version);
        }
        if self.needs.values {
            window.values.extend_from_slice(&inference.values);
        }
        window.states.extend_from_slice(&self.exchange.state);
        if self.state_size > 0 {
            let slots = self.shards[shards.clone()].iter_mut().flat_map(|shard| &mut shard.slots);
            self.exchange.remember(slots);
        }
        Ok(())
    }

    /// Steps the games of a group in parallel, each shard drawing the first part of its next observations in
    /// the same go, while `question` is asked about another group, if it takes long.
    fn step(
        &mut self,
        window: &mut Window,
        turn: Turn,
        question: Option<Question<'_>>,
        timing: &mut Timing,
    ) -> Result<(), EngineError> {
        let mut question = question;
        if self.exchange.took < WORTH_OVERLAPPING
            && let Some(question) = question.take()
        {
            self.ask(question, timing)?;
        }
        let Self { pool, shards, groups, exchange, n_games, controls, .. } = self;
        let Group { rows, shards: own, bounds } = &groups[turn.group];
        let shards = &mut shards[own.clone()];
        let actions = match &window.actions {
            ActionArray::Discrete(indices) => {
                Actions::Discrete(&indices[turn.step * *n_games + rows.start..][..rows.len()])
            }
            ActionArray::Continuous { .. } => Actions::Continuous(controls),
        };
        for (part, bounds) in bounds.iter().enumerate() {
            let next = window.observations.unfilled(part, rows.len());
            let work = |_, shard: &mut Shard, out: &mut [u8]| {
                if part == 0 {
                    shard.step(actions, rows.start, turn.step);
                }
                shard.draw(part, false, out);
            };
            match question.take() {
                Some(Question { obs, infer }) => {
                    let ask = || exchange.ask(&obs, infer);
                    let answered = pool.for_each_with_output_while(shards, next, bounds, work, ask)?;
                    timing.infer += exchange.took;
                    answered?;
                }
                None => pool.for_each_with_output(shards, next, bounds, work)?,
            }
            timing.parallel += pool.took();
        }
        self.check()
    }

    /// Records what a step did to a group, and declares its next observations filled.
    fn settle(
        &mut self,
        window: &mut Window,
        turn: Turn,
        infer: &mut dyn Infer,
        timing: &mut Timing,
    ) -> Result<(), EngineError> {
        let Group { rows, shards, .. } = &self.groups[turn.group];
        for outcome in self.shards[shards.clone()].iter().flat_map(|shard| &shard.outcomes) {
            window.rewards.push(outcome.reward);
            window.terminated.push(outcome.terminated.is_some());
            window.truncated.push(outcome.truncated);
            window.final_values.push(0.0);
        }
        let n_rows = rows.len();
        self.part_from_stopped(window, turn, infer, timing)?;
        window.observations.seal(n_rows);
        Ok(())
    }

    /// Draws the final observations of the episodes that stopped at this step, to be valued or kept, and
    /// starts the next ones.
    fn part_from_stopped(
        &mut self,
        window: &mut Window,
        turn: Turn,
        infer: &mut dyn Infer,
        timing: &mut Timing,
    ) -> Result<(), EngineError> {
        let Self { pool, shards, groups, exchange, store, n_games, .. } = self;
        let Group { rows: group_rows, shards: own, bounds } = &groups[turn.group];
        let shards = &mut shards[own.clone()];
        let first = turn.step * *n_games;
        let rows: Vec<usize> = shards
            .iter()
            .flat_map(|shard| shard.stopped().map(|row| first + shard.rows.start + row))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let mut finals = store.take_once(rows.len())?;
        for (part, row_bytes) in store.row_bytes().enumerate() {
            let mut bounds = vec![0];
            for shard in &*shards {
                bounds.push(bounds[bounds.len() - 1] + shard.stopped().count() * row_bytes);
            }
            let draw_final = |_, shard: &mut Shard, out: &mut [u8]| shard.draw_final(part, out);
            pool.for_each_with_output(shards, finals.unfilled(part, rows.len()), &bounds, draw_final)?;
        }
        finals.seal(rows.len());
        exchange.state.clear();
        for shard in &*shards {
            shard.stopped().for_each(|row| exchange.state.extend_from_slice(&shard.slots[row].state));
        }
        exchange.starts.clear();
        exchange.starts.resize(rows.len(), false);
        for (part, bounds) in bounds.iter().enumerate() {
            let next = window.observations.unfilled(part, group_rows.len());
            pool.for_each_with_output(shards, next, bounds, |_, shard, out| {
                if part == 0 {
                    shard.reset_stopped();
                }
                shard.draw(part, true, out);
            })?;
        }
        self.check()?;
        timing.parallel += start.elapsed();

        let finals = finals.view(0..rows.len());
        if self.needs.values {
            self.ask(Question { obs: finals, infer }, timing)?;
            for (row, value) in rows.into_iter().zip(&self.exchange.inference.values) {
                window.final_values[row] = *value;
            }
        } else {
            window.finals.rows.extend(rows);
            window.finals.states.extend_from_slice(&self.exchange.state);
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
