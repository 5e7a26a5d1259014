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
use crate::config::EngineConfig;
use crate::easel::Easels;
use crate::errand::Errands;
use crate::exchange::Exchange;
use crate::group::Group;
use crate::head::Head;
use crate::infer::{Answer, Infer};
use crate::learner::Needs;
use crate::policy::state_size;
use crate::pool::{Meanwhile, NOTHING, Pool, Region, panic_message};
use crate::shard::{Rules, Shard};
use crate::telemetry::{Limit, Telemetry, Timing};
use reinfors_core::rng::Seed;
use reinfors_core::{Actions, CancelToken};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A call of `infer` shorter than this is not worth waking the spare worker for.
const WORTH_A_SPARE: Duration = Duration::from_micros(100);

/// Raw records of `n_steps` steps of `n_slots` slots, one for each agent of each game: row `t * n_slots + slot`.
pub(crate) struct Window {
    pub n_slots: usize,
    pub n_steps: usize,
    /// `n_steps + 1` groups of rows, the first of them there from the start; the last one opens the next window.
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
    easels: Easels,
    store: ObservationStore,
    /// The observations that open the next window, of every slot.
    opening: ObservationView,
    pub n_slots: usize,
    /// Slots of a game.
    n_agents: usize,
    head: Head,
    needs: Needs,
    exchange: Exchange,
    /// Numbers that a slot remembers.
    pub state_size: usize,
    /// What the games of the group that was decided last are given.
    controls: Vec<f64>,
    limit: Limit,
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
        let (n_slots, needs) = (n_games * game.spec().n_agents, config.learner.needs());
        let state_size = state_size(&config.state_shape, n_slots)?;
        let rules = Arc::new(Rules::of(game.spec(), needs.all_ends));
        let errands = Arc::new(Errands::new());
        let space = &game.spec().observation;
        let store = ObservationStore::new(space);
        let (groups, ranges) = Group::all(*n_games, game.spec(), n_threads);
        let shards = ranges
            .into_iter()
            .map(|rows| Shard::new(game, reward, seed, &rules, &errands, rows, state_size))
            .collect::<Result<_, _>>()?;
        let pool = Pool::new(n_threads)?;
        let opening = store.take_once(0)?.view(0..0);
        let mut rollout = Self {
            easels: Easels::new(pool.most_threads()),
            pool,
            shards,
            groups,
            store,
            opening,
            n_slots,
            n_agents: game.spec().n_agents,
            head,
            needs,
            exchange: Exchange::new(answer, n_slots, state_size),
            state_size,
            controls: Vec::new(),
            limit: Limit::of(n_threads, *n_games, game.spec().is_foreign),
            windows: 0,
            idle_since: None,
        };
        rollout.pool.for_each(&mut rollout.shards, |_, shard| shard.reset_all())?;
        rollout.draw_opening()?;
        Ok(rollout)
    }

    /// Draws the observations that open the next window from the states of the games.
    pub fn draw_opening(&mut self) -> Result<(), EngineError> {
        let Self { pool, shards, groups, easels, store, n_slots, n_agents, .. } = self;
        let mut drawn = store.take_once(*n_slots)?;
        for Group { rows, shards: own, starts } in &*groups {
            let mut regions = by_game(drawn.unfilled(rows.len()), *n_agents);
            let settle = |_, shard: &mut Shard| shard.batch.settle();
            let draw = |thread, shard: &Shard, part, rows, out: &mut [u8]| {
                easels.draw_all(thread, &*shard.batch, part, rows, out);
            };
            pool.prepare_and_draw(&mut shards[own.clone()], starts, &mut regions, settle, draw, NOTHING)?;
            drawn.seal(rows.len());
        }
        self.opening = drawn.view(0..*n_slots);
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
        let start = Instant::now();
        for shard in &mut self.shards {
            shard.batch.heed(outside.token);
        }
        self.begin_lost()?;
        let mut timing =
            Timing { wait: self.idle_since.map_or(Duration::ZERO, |idle| start - idle), ..Timing::default() };
        let observations = self.store.take_after(&mut self.opening, (n_steps + 1) * self.n_slots)?;
        self.checkpoint()?;
        self.head.set_epsilon(outside.epsilon);
        let mut window = Window::new(self.n_slots, n_steps, observations, &self.head);
        reserve(&mut window.states, n_steps * self.n_slots * self.state_size)?;
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
        self.easels.take_spent();
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
        let n_slots = self.n_slots;
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
            let first = turn.step * n_slots;
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
        self.opening = window.observations.view(window.n_steps * n_slots..(window.n_steps + 1) * n_slots);
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
        let is_long = self.exchange.took >= WORTH_A_SPARE;
        let Self { pool, shards, groups, easels, exchange, n_slots, n_agents, controls, .. } = self;
        let easels = &*easels;
        let Group { rows, shards: own, starts } = &groups[turn.group];
        let actions = match &window.actions {
            ActionArray::Discrete(indices) => {
                Actions::Discrete(&indices[turn.step * *n_slots + rows.start..][..rows.len()])
            }
            ActionArray::Continuous { .. } => Actions::Continuous(controls),
        };
        let mut next = by_game(window.observations.unfilled(rows.len()), *n_agents);
        let step = |_, shard: &mut Shard| shard.step(actions, rows.start, turn.step);
        let draw = |thread, shard: &Shard, part, rows, out: &mut [u8]| {
            shard.draw(easels, thread, part, false, rows, out);
        };
        let ask = question.map(|Question { obs, infer }| Meanwhile {
            run: move || (exchange.ask(&obs, infer), exchange.took),
            is_long,
        });
        let asked = pool.prepare_and_draw(&mut shards[own.clone()], starts, &mut next, step, draw, ask)?;
        timing.parallel += pool.took();
        if let Some((answered, took)) = asked {
            timing.infer += took;
            answered?;
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
        let Self { pool, shards, groups, easels, exchange, store, n_slots, n_agents, .. } = self;
        let easels = &*easels;
        let Group { rows: group_rows, shards: own, starts } = &groups[turn.group];
        let shards = &mut shards[own.clone()];
        let first = turn.step * *n_slots;
        let rows: Vec<usize> = shards
            .iter()
            .flat_map(|shard| shard.stopped().map(|row| first + shard.rows.start + row))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let mut finals = store.take_once(rows.len())?;
        let mut final_starts = vec![0];
        for shard in &*shards {
            final_starts.push(final_starts[final_starts.len() - 1] + shard.stopped_worlds().count());
        }
        let draw_final = |thread, shard: &Shard, part, among, out: &mut [u8]| {
            shard.draw_final(easels, thread, part, among, out);
        };
        let mut regions = by_game(finals.unfilled(rows.len()), *n_agents);
        pool.prepare_and_draw(shards, &final_starts, &mut regions, |_, _| (), draw_final, NOTHING)?;
        finals.seal(rows.len());
        exchange.state.clear();
        for shard in &*shards {
            shard.stopped().for_each(|row| exchange.state.extend_from_slice(&shard.slots[row].state));
        }
        exchange.starts.clear();
        exchange.starts.resize(rows.len(), false);
        let mut next = by_game(window.observations.unfilled(group_rows.len()), *n_agents);
        let reset = |_, shard: &mut Shard| shard.reset_stopped();
        let draw = |thread, shard: &Shard, part, rows, out: &mut [u8]| {
            shard.draw(easels, thread, part, true, rows, out);
        };
        pool.prepare_and_draw(shards, starts, &mut next, reset, draw, NOTHING)?;
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
        timing.render += self.easels.take_spent();
        for shard in &mut self.shards {
            timing.step += shard.step_time;
            episodes.append(&mut shard.episodes);
        }
        // Shards are in the order of slots, and the sort is stable.
        episodes.sort_by_key(|(step, _)| *step);
        let seconds = timing.seconds();
        Telemetry {
            window: self.windows,
            episodes: episodes.into_iter().map(|(_, episode)| episode).collect(),
            steps_per_second: (moments.len() * self.n_slots) as f64 / seconds.total.max(f64::MIN_POSITIVE),
            seconds,
            epsilon: self.head.epsilon(),
            moments,
            n_slots: self.n_slots,
            limit: self.limit,
            ..Telemetry::default()
        }
    }
}

impl Window {
    fn new(n_slots: usize, n_steps: usize, observations: ObservationWriter, head: &Head) -> Self {
        let n_records = n_slots * n_steps;
        Self {
            n_slots,
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
            last_values: Vec::with_capacity(n_slots),
            states: Vec::new(),
            last_states: Vec::new(),
            finals: Finals::default(),
            telemetry: Telemetry::default(),
        }
    }
}

/// The same memory, a row being what all agents of a game see: games are drawn whole.
fn by_game(regions: Vec<Region<'_>>, n_agents: usize) -> Vec<Region<'_>> {
    let of_all = |Region { bytes, row_bytes }| Region { bytes, row_bytes: n_agents * row_bytes };
    regions.into_iter().map(of_all).collect()
}

/// Makes room for so many numbers, or says that there is no memory for them.
fn reserve(numbers: &mut Vec<f32>, len: usize) -> Result<(), EngineError> {
    numbers.try_reserve_exact(len).map_err(|_| EngineError::Setting {
        name: "state_shape",
        allowed: "so small that the states of a window fit into memory".into(),
        given: format!("{len} numbers in all"),
    })
}
