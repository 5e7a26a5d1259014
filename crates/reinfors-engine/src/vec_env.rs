//! The caller-driven face of the worlds: reset and step a row of environments, one observation, reward and
//! end for each agent of each.
//!
//! Agents are rows: agent `a` of environment `i` is row `i * n_agents + a` of actions, observations, rewards and
//! ends. Resets, seeds, masks, what a game reports and saved states are of environments.
//!
//! Environments are spread over the pool's threads and never see each other, so that no result depends on the number
//! of threads. Everything is checked before anything moves: a refused call leaves every environment where it
//! was.

use crate::EngineError;
use crate::config::{check_agents, check_rows, thread_count};
use crate::easel::Easels;
use crate::errand::{Errands, Pending};
use crate::error::check_worlds;
use crate::observation::ObservationArray;
use crate::pool::{NOTHING, Pool, Region};
use crate::shard::shard_ranges;
use reinfors_core::rng::Seed;
use reinfors_core::{
    Actions, AnyBatch, CancelToken, ConfiguredGame, GameSpec, Inspected, ObservationSpace, Outcome, Picture,
    PictureSize, decode, encode,
};
use std::ops::Range;

mod background;

pub use background::{AsyncVecEnv, Stepped};

/// What happens to an environment whose episode is over: the three modes of Gymnasium's vector environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autoreset {
    /// The next step resets it instead of stepping; its action is ignored, its reward 0.
    NextStep,
    /// The same step resets it; what was last seen is in [`VecStep::finals`].
    SameStep,
    /// Nothing: the caller resets. Until then stepping goes on simulating.
    Disabled,
}

/// What the game reports of each environment under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InfoColumn {
    /// The game's name for it.
    pub name: &'static str,
    /// One value per environment; `false` where the environment reports none.
    pub values: Vec<bool>,
    /// Which environments report it.
    pub present: Vec<bool>,
}

/// What one step of all environments did: rewards and ends of every row, the rest by environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VecStep {
    /// Rewards under the caller's weights.
    pub rewards: Vec<f64>,
    /// Whether the episode ended by the game's rules.
    pub terminated: Vec<bool>,
    /// Whether the episode was cut off at its last allowed step.
    pub truncated: Vec<bool>,
    /// What the game reports.
    pub infos: Vec<InfoColumn>,
    /// Row and last observation of the agents of the environments that [`Autoreset::SameStep`] reset.
    pub finals: Vec<(usize, Vec<ObservationArray>)>,
    /// What the game reported of those before their reset.
    pub final_infos: Vec<InfoColumn>,
}

/// Environments of one game, stepped together.
pub struct VecEnv {
    game: ConfiguredGame,
    autoreset: Autoreset,
    seed: Seed,
    rows: Vec<Row>,
    shards: Vec<Shard>,
    /// Where the rows of each shard start, and their end.
    starts: Vec<usize>,
    pool: Pool,
    easels: Easels,
    errands: Errands,
    /// Cancelled when nobody waits any more for what the worlds are at.
    token: CancelToken,
}

/// What is known of one environment beside its world.
#[derive(Clone, Default)]
struct Row {
    /// The seed of its random stream; `None` until it is first reset.
    seed: Option<Seed>,
    is_over: bool,
}

/// Worlds that one thread steps at a time.
struct Shard {
    batch: Box<dyn AnyBatch>,
    /// Its environments among all.
    rows: Range<usize>,
    n_agents: usize,
    /// What is made ahead for the next reset of each row.
    pending: Vec<Option<Pending>>,
}

impl Shard {
    /// Resets a row, and has the reset that continues its random stream made ready.
    fn reset(&mut self, row: usize, seed: Option<&Seed>, flags: &[bool], errands: &Errands) {
        if let Some(ready) = self.pending[row].take().and_then(Pending::take) {
            self.batch.keep_ready(row, ready);
        }
        self.batch.reset(row, seed, flags);
        self.pending[row] = self.batch.errand(row, None, flags).and_then(|errand| errands.give(errand));
    }

    /// The rows of its environments' agents among all.
    fn agents(&self) -> Range<usize> {
        self.rows.start * self.n_agents..self.rows.end * self.n_agents
    }
}

/// An environment as [`VecEnv::save`] writes it.
type SavedEnv = (bool, Option<Seed>, Vec<u8>);

impl VecEnv {
    /// `n_envs` environments of `game`, not reset yet. The first reset of environment `i`, where it is given
    /// no seed of its own, takes `seed + i`. `n_threads` of `None` uses all cores.
    ///
    /// # Errors
    /// A reward key the game does not have, a number of environments or threads outside what is allowed.
    pub fn new(
        game: &ConfiguredGame,
        reward: &[(String, f64)],
        n_envs: usize,
        n_threads: Option<usize>,
        seed: Seed,
        autoreset: Autoreset,
    ) -> Result<Self, EngineError> {
        check_rows("n_envs", n_envs)?;
        check_agents(n_envs, game.spec())?;
        let n_shards = thread_count(n_threads, n_envs, game.spec())?;
        let pool = Pool::new(n_shards)?;
        let ranges = shard_ranges(n_envs, n_shards);
        let starts = ranges.iter().map(|range| range.start).chain([n_envs]).collect();
        let token = CancelToken::default();
        let shard = |rows: Range<usize>| {
            let pending = rows.clone().map(|_| None).collect();
            let mut batch = game.batch(reward, rows.len())?;
            batch.heed(&token);
            Ok(Shard { batch, rows, n_agents: game.spec().n_agents, pending })
        };
        let shards = ranges.into_iter().map(shard).collect::<Result<_, EngineError>>()?;
        let easels = Easels::new(pool.most_threads());
        let (game, rows, errands) = (game.clone(), vec![Row::default(); n_envs], Errands::new());
        Ok(Self { game, autoreset, seed, rows, shards, starts, pool, easels, errands, token })
    }

    /// What ends worlds that live elsewhere while a step is under way, by making it fail.
    pub(crate) fn token(&self) -> &CancelToken {
        &self.token
    }

    /// The game that is played.
    #[must_use]
    pub fn game(&self) -> &ConfiguredGame {
        &self.game
    }

    /// Number of environments.
    #[must_use]
    pub fn n_envs(&self) -> usize {
        self.rows.len()
    }

    /// Number of rows: of agents of all environments.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.len() * self.game.spec().n_agents
    }

    /// Number of threads that step them.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.shards.len()
    }

    /// Memory for all observations: an array for each part.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when the memory cannot be had.
    pub fn blank_observations(&self) -> Result<Vec<ObservationArray>, EngineError> {
        ObservationArray::zeros(&self.game.spec().observation, self.n_rows())
    }

    /// The seed each environment's random stream began with; `None` before its first reset.
    pub fn seeds(&self) -> impl Iterator<Item = Option<&Seed>> {
        self.rows.iter().map(|row| row.seed.as_ref())
    }

    /// Starts new episodes, in all environments or in those that `mask` marks, and draws all observations
    /// into `observations`. An environment with no seed of its own continues its random stream. `flags` are
    /// in the order of the game's reset flags.
    ///
    /// # Errors
    /// Lists of another length than the number of environments, a mask that marks none, an environment
    /// outside the mask that was never reset.
    pub fn reset(
        &mut self,
        seeds: &[Option<Seed>],
        flags: &[bool],
        mask: Option<&[bool]>,
        observations: &mut [ObservationArray],
    ) -> Result<Vec<InfoColumn>, EngineError> {
        self.check_reset(seeds, mask)?;
        let is_chosen = |env: usize| mask.is_none_or(|mask| mask[env]);
        let mut new_seeds = vec![None; self.n_envs()];
        for (env, row) in self.rows.iter_mut().enumerate().filter(|&(env, _)| is_chosen(env)) {
            let fallback = || row.seed.is_none().then(|| offset(&self.seed, env));
            new_seeds[env] = seeds[env].clone().or_else(fallback);
            if new_seeds[env].is_some() {
                row.seed.clone_from(&new_seeds[env]);
            }
            row.is_over = false;
        }
        let errands = &self.errands;
        let reset = |_, shard: &mut Shard| {
            for (row, env) in shard.rows.clone().enumerate().filter(|&(_, env)| is_chosen(env)) {
                shard.reset(row, new_seeds[env].as_ref(), flags, errands);
            }
            shard.batch.settle();
        };
        let draw = |thread, shard: &Shard, part, rows, out: &mut [u8]| {
            self.easels.draw_all(thread, &*shard.batch, part, rows, out);
        };
        let mut regions = regions(observations, self.game.spec());
        self.pool.prepare_and_draw(&mut self.shards, &self.starts, &mut regions, reset, draw, NOTHING)?;
        self.check()?;
        Ok(self.infos(is_chosen))
    }

    fn check_reset(&self, seeds: &[Option<Seed>], mask: Option<&[bool]>) -> Result<(), EngineError> {
        let n_envs = self.n_envs();
        if seeds.len() != n_envs {
            return Err(wrong_length("seed", seeds.len(), n_envs));
        }
        let Some(mask) = mask else { return Ok(()) };
        if mask.len() != n_envs {
            return Err(wrong_length("reset_mask", mask.len(), n_envs));
        }
        if !mask.contains(&true) {
            return Err(EngineError::Setting {
                name: "reset_mask",
                allowed: "true for at least one environment".into(),
                given: "false for all".into(),
            });
        }
        match self.rows.iter().zip(mask).position(|(row, chosen)| row.seed.is_none() && !chosen) {
            Some(env) => Err(EngineError::NotReset { env }),
            None => Ok(()),
        }
    }

    /// Steps every environment once and draws all observations into `observations`.
    ///
    /// # Errors
    /// Actions outside the action space (named by [`reinfors_core::ActionSpace::check`]) or an environment
    /// that was never reset; no environment has moved then.
    pub fn step(
        &mut self,
        actions: Actions<'_>,
        observations: &mut [ObservationArray],
    ) -> Result<VecStep, EngineError> {
        self.check_step(actions)?;
        let spec = self.game.spec();
        let flags = spec.default_flags();
        let dimensions = spec.action.dimensions();
        let (autoreset, rows, errands) = (self.autoreset, &self.rows, &self.errands);
        let job = |shard| StepJob::new(shard, actions, dimensions, rows);
        let mut jobs: Vec<StepJob<'_>> = self.shards.iter_mut().map(job).collect();
        let run = |_, job: &mut StepJob<'_>| job.run(autoreset, &flags, &spec.observation, errands);
        let draw = |thread, job: &StepJob<'_>, part, rows, out: &mut [u8]| {
            self.easels.draw_all(thread, &*job.shard.batch, part, rows, out);
        };
        let mut regions = regions(observations, spec);
        self.pool.prepare_and_draw(&mut jobs, &self.starts, &mut regions, run, draw, NOTHING)?;
        let mut step = VecStep::default();
        let mut final_infos = Vec::new();
        for job in jobs {
            step.rewards.extend(job.outcomes.iter().map(|outcome| outcome.reward));
            step.terminated.extend(job.outcomes.iter().map(|outcome| outcome.terminated.is_some()));
            step.truncated.extend(job.outcomes.iter().map(|outcome| outcome.truncated));
            step.finals.extend(job.finals);
            final_infos.extend(job.final_infos);
        }
        self.check()?;
        // The agents of an environment end together.
        let ends = step.terminated.iter().zip(&step.truncated).step_by(self.game.spec().n_agents);
        for (row, (terminated, truncated)) in self.rows.iter_mut().zip(ends) {
            row.is_over = self.autoreset != Autoreset::SameStep && (*terminated || *truncated);
        }
        step.final_infos = columns(self.n_envs(), final_infos);
        step.infos = self.infos(|_| true);
        Ok(step)
    }

    /// Steps every environment once; the observations are new memory.
    ///
    /// # Errors
    /// Those of [`VecEnv::step`]; no memory for the observations.
    pub fn step_into_new(&mut self, actions: Actions<'_>) -> Result<Stepped, EngineError> {
        let mut observations = self.blank_observations()?;
        self.step(actions, &mut observations).map(|step| (observations, step))
    }

    /// Refuses actions that no step can be made with, and steps before the first reset.
    fn check_step(&self, actions: Actions<'_>) -> Result<(), EngineError> {
        self.game.spec().action.check(actions, self.n_rows())?;
        match self.rows.iter().position(|row| row.seed.is_none()) {
            Some(env) => Err(EngineError::NotReset { env }),
            None => Ok(()),
        }
    }

    /// Draws all observations into `observations`, in parallel.
    ///
    /// # Errors
    /// An environment that was never reset.
    pub fn observe(&mut self, observations: &mut [ObservationArray]) -> Result<(), EngineError> {
        if let Some(env) = self.rows.iter().position(|row| row.seed.is_none()) {
            return Err(EngineError::NotReset { env });
        }
        let settle = |_, shard: &mut Shard| shard.batch.settle();
        let draw = |thread, shard: &Shard, part, rows, out: &mut [u8]| {
            self.easels.draw_all(thread, &*shard.batch, part, rows, out);
        };
        let mut regions = regions(observations, self.game.spec());
        self.pool.prepare_and_draw(&mut self.shards, &self.starts, &mut regions, settle, draw, NOTHING)?;
        self.check()
    }

    /// The picture for people of one environment, in the game's own size where none is named.
    ///
    /// # Errors
    /// No such environment, one that was never reset, a size that cannot be drawn.
    pub fn render(&mut self, env: usize, size: Option<PictureSize>) -> Result<Picture, EngineError> {
        let (shard, row) = self.locate(env)?;
        let picture = self.shards[shard].batch.render(row, size)?;
        self.check().map(|()| picture)
    }

    /// Inner state of one environment.
    ///
    /// # Errors
    /// No such environment, or one that was never reset.
    pub fn inspect(&self, env: usize) -> Result<Vec<Inspected>, EngineError> {
        let (shard, row) = self.locate(env)?;
        Ok(self.shards[shard].batch.inspect(row))
    }

    /// One environment as bytes, from which [`VecEnv::load`] continues exactly, a pending reset included.
    ///
    /// # Errors
    /// No such environment, or one that was never reset.
    pub fn save(&self, env: usize) -> Result<Vec<u8>, EngineError> {
        self.game.spec().check_saves()?;
        let (shard, row) = self.locate(env)?;
        let saved: SavedEnv =
            (self.rows[env].is_over, self.rows[env].seed.clone(), self.shards[shard].batch.save(row));
        Ok(encode(&saved))
    }

    /// Continues one environment from what [`VecEnv::save`] wrote, here or elsewhere. It need not have been
    /// reset.
    ///
    /// # Errors
    /// No such environment; bytes of another game, of other options (named) or damaged ones. Nothing has
    /// changed then.
    pub fn load(&mut self, env: usize, bytes: &[u8]) -> Result<(), EngineError> {
        self.game.spec().check_saves()?;
        let (shard, row) = self.place(env)?;
        let (is_over, seed, world): SavedEnv = decode(bytes)?;
        self.shards[shard].batch.load(row, &world)?;
        self.rows[env] = Row { seed, is_over };
        Ok(())
    }

    /// Passes on what worlds have failed at. Nobody knows where they stand then, and they have to be reset.
    fn check(&mut self) -> Result<(), EngineError> {
        let checked = check_worlds(self.shards.iter_mut().map(|shard| &mut shard.batch));
        if checked.is_err() {
            self.rows.iter_mut().for_each(|row| row.seed = None);
        }
        checked
    }

    /// Shard and row of an environment.
    fn place(&self, env: usize) -> Result<(usize, usize), EngineError> {
        let shard = self.shards.iter().position(|shard| shard.rows.contains(&env));
        let shard = shard.ok_or_else(|| EngineError::Setting {
            name: "env",
            allowed: format!("an index below {}", self.n_envs()),
            given: env.to_string(),
        })?;
        Ok((shard, env - self.shards[shard].rows.start))
    }

    /// Shard and row of an environment that has been reset.
    fn locate(&self, env: usize) -> Result<(usize, usize), EngineError> {
        let place = self.place(env)?;
        if self.rows[env].seed.is_none() { Err(EngineError::NotReset { env }) } else { Ok(place) }
    }

    fn infos(&self, is_chosen: impl Fn(usize) -> bool) -> Vec<InfoColumn> {
        let reported = self
            .shards
            .iter()
            .flat_map(|shard| shard.rows.clone().enumerate().map(|(row, env)| (env, shard.batch.info(row))));
        columns(self.n_envs(), reported.filter(|(env, _)| is_chosen(*env)))
    }
}

/// One thread's part of a step.
struct StepJob<'a> {
    shard: &'a mut Shard,
    actions: Actions<'a>,
    was_over: Vec<bool>,
    outcomes: Vec<Outcome>,
    finals: Vec<(usize, Vec<ObservationArray>)>,
    final_infos: Vec<(usize, Vec<(&'static str, bool)>)>,
}

impl<'a> StepJob<'a> {
    fn new(shard: &'a mut Shard, actions: Actions<'a>, dimensions: usize, rows: &[Row]) -> Self {
        Self {
            actions: actions.part(shard.agents().start * dimensions..shard.agents().end * dimensions),
            was_over: rows[shard.rows.clone()].iter().map(|row| row.is_over).collect(),
            outcomes: vec![Outcome::default(); shard.agents().len()],
            shard,
            finals: Vec::new(),
            final_infos: Vec::new(),
        }
    }

    fn run(&mut self, autoreset: Autoreset, flags: &[bool], space: &ObservationSpace, errands: &Errands) {
        let (batch, n_agents) = (&mut self.shard.batch, self.shard.n_agents);
        if autoreset == Autoreset::NextStep && self.was_over.contains(&true) {
            let active: Vec<bool> = self.was_over.iter().map(|was_over| !was_over).collect();
            batch.step(self.actions, Some(&active), &mut self.outcomes);
            for row in (0..active.len()).filter(|&row| !active[row]) {
                self.shard.reset(row, None, flags, errands);
            }
        } else {
            batch.step(self.actions, None, &mut self.outcomes);
        }
        if autoreset == Autoreset::SameStep {
            let ended: Vec<usize> =
                (0..self.shard.rows.len()).filter(|row| self.outcomes[row * n_agents].is_end()).collect();
            ended.iter().for_each(|&row| self.hand_out(row, space));
            ended.iter().for_each(|&row| self.shard.reset(row, None, flags, errands));
        }
        self.shard.batch.settle();
    }

    /// Draws what is last seen of an environment for the finals of its agents.
    fn hand_out(&mut self, row: usize, space: &ObservationSpace) {
        let Shard { batch, rows, n_agents, .. } = &mut *self.shard;
        let env = rows.start + row;
        self.final_infos.push((env, batch.info(row)));
        let mut last = vec![Vec::with_capacity(space.parts.len()); *n_agents];
        for (number, part) in space.parts.iter().enumerate() {
            let mut observations = vec![0; *n_agents * part.size()];
            batch.observe(number, row..row + 1, &mut observations);
            for (last, observation) in last.iter_mut().zip(observations.chunks_exact(part.size())) {
                last.push(ObservationArray::from_bytes(part.element, observation));
            }
        }
        let first = env * *n_agents;
        self.finals.extend(last.into_iter().enumerate().map(|(agent, last)| (first + agent, last)));
    }
}

fn wrong_length(name: &'static str, given: usize, n_envs: usize) -> EngineError {
    let allowed = format!("one per environment ({n_envs})");
    EngineError::Setting { name, allowed, given: format!("{given} of them") }
}

/// The memory of each part of the observations, a row being what all agents of an environment see.
fn regions<'a>(observations: &'a mut [ObservationArray], spec: &GameSpec) -> Vec<Region<'a>> {
    let parts = observations.iter_mut().zip(&spec.observation.parts);
    parts
        .map(|(array, part)| Region { bytes: array.bytes_mut(), row_bytes: spec.n_agents * part.size() })
        .collect()
}

/// What single environments report, by name.
fn columns(
    n_envs: usize,
    reported: impl IntoIterator<Item = (usize, Vec<(&'static str, bool)>)>,
) -> Vec<InfoColumn> {
    let mut columns: Vec<InfoColumn> = Vec::new();
    for (env, (name, value)) in
        reported.into_iter().flat_map(|(env, info)| info.into_iter().map(move |pair| (env, pair)))
    {
        let at = columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            columns.push(InfoColumn { name, values: vec![false; n_envs], present: vec![false; n_envs] });
            columns.len() - 1
        });
        columns[at].values[env] = value;
        columns[at].present[env] = true;
    }
    columns
}

/// The seeds `first`, `first + 1` and so on: what a single integer means to `n_envs` environments.
#[must_use]
pub fn consecutive_seeds(first: &Seed, n_envs: usize) -> Vec<Option<Seed>> {
    (0..n_envs).map(|env| Some(offset(first, env))).collect()
}

/// The integer `seed + offset`.
fn offset(seed: &Seed, offset: usize) -> Seed {
    let mut carry = offset as u64;
    let mut words = Vec::with_capacity(seed.words().len() + 1);
    for &word in seed.words() {
        let sum = u64::from(word) + (carry & 0xFFFF_FFFF);
        words.push(sum as u32);
        carry = (carry >> 32) + (sum >> 32);
    }
    words.extend([carry as u32, (carry >> 32) as u32]);
    Seed::from_words(words)
}

#[cfg(test)]
mod tests;
