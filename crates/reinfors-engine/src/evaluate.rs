//! Whole episodes of given seeds, each played once from its start to its end.
//!
//! A seat takes the next seed when its episode has ended, and every episode that was begun is finished: a
//! rate of episodes per second, which would count short ones more often, decides nothing. Each episode samples
//! from a stream of its own seed, so that neither seats nor threads nor the order of the seeds change it.

use crate::EngineError;
use crate::batch::ActionArray;
use crate::buffer::ObservationStore;
use crate::config::{check_rows, thread_count};
use crate::easel::Easels;
use crate::error::check_worlds;
use crate::head::Head;
use crate::infer::{Answer, Infer, InferError, Inference, Memory};
use crate::policy::{Policy, state_size};
use crate::pool::{NOTHING, Pool};
use crate::shard::shard_ranges;
use reinfors_core::rng::{Pcg64, Seed};
use reinfors_core::{Actions, AnyBatch, ConfiguredGame, Outcome};
use std::collections::HashMap;
use std::ops::Range;

/// Most episodes of one evaluation.
pub const MAX_EPISODES: usize = 1 << 20;

/// Games played at once where the caller does not say.
const USUAL_GAMES: usize = 64;

/// Spawn key of the stream that actions are sampled from, beside the seed's own words: no other stream of the
/// seed has it.
const ACTIONS: u32 = 0x6576_616c;

/// What is to be evaluated.
#[derive(Clone)]
pub struct Evaluation {
    /// The game, its options settled.
    pub game: ConfiguredGame,
    /// Reward weights over the game's defaults.
    pub reward: Vec<(String, f64)>,
    /// How actions are chosen.
    pub policy: Policy,
    /// Shape of what the policy remembers of an episode; empty for nothing.
    pub state_shape: Vec<usize>,
    /// One episode each: `reset(seed)` starts it.
    pub seeds: Vec<Seed>,
    /// The most probable action instead of a sample.
    pub deterministic: bool,
    /// Games played at once; `None` is up to 64.
    pub n_games: Option<usize>,
    /// Threads that play them; `None` is as many as there are cores.
    pub n_threads: Option<usize>,
}

/// What an episode came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluatedEpisode {
    /// Sum of its rewards, undiscounted.
    pub total_reward: f64,
    /// Its number of decisions.
    pub length: u64,
    /// One of the game's end reasons, or `"max_steps"`; the end reason where both apply.
    pub ended: &'static str,
}

/// Plays every episode and returns them in the order of their seeds. `infer` is asked for the rows that are
/// still playing; `on_end` is told how many have ended, whenever some have.
///
/// # Errors
/// A setting outside what is allowed, what `infer` raised or wrongly returned, what `on_end` raised.
pub fn evaluate(
    evaluation: &Evaluation,
    infer: &mut dyn Infer,
    on_end: &mut dyn FnMut(usize) -> Result<(), InferError>,
) -> Result<Vec<EvaluatedEpisode>, EngineError> {
    let mut table = Table::new(evaluation)?;
    let mut finished = 0;
    while table.n_playing() > 0 {
        table.ask(infer)?;
        table.choose(evaluation.deterministic)?;
        let ended = table.step()?;
        if ended > 0 {
            finished += ended;
            on_end(finished).map_err(EngineError::Infer)?;
        }
    }
    Ok(table.episodes)
}

/// Seats, the games in them, and what has come of the episodes so far.
struct Table<'a> {
    seeds: &'a [Seed],
    /// How many equal seeds stand before each in the list.
    repetitions: Vec<u32>,
    episodes: Vec<EvaluatedEpisode>,
    /// The next episode that nobody has begun.
    next: usize,
    shards: Vec<Shard>,
    pool: Pool,
    easels: Easels,
    store: ObservationStore,
    head: Head,
    end_reasons: &'static [&'static str],
    reset_flags: Vec<bool>,
    dimensions: usize,
    answer: Answer,
    inference: Inference,
    state_size: usize,
    /// What the rows of the next question remember.
    state: Vec<f32>,
    actions: ActionArray,
    controls: Vec<f64>,
}

/// Some seats, played by one thread at a time.
struct Shard {
    rows: Range<usize>,
    batch: Box<dyn AnyBatch>,
    seats: Vec<Option<Seat>>,
    outcomes: Vec<Outcome>,
}

/// Who sits in a seat.
struct Seat {
    episode: usize,
    rng: Pcg64,
    is_new: bool,
    state: Vec<f32>,
}

impl Evaluation {
    /// What `infer` must return; values are nobody's.
    ///
    /// # Errors
    /// A policy that does not fit the game's actions.
    pub fn answer(&self) -> Result<Answer, EngineError> {
        Ok(self.head()?.answer(false, &self.state_shape))
    }

    fn head(&self) -> Result<Head, EngineError> {
        self.policy.check()?;
        Head::new(self.policy, &self.game.spec().action)
    }
}

impl Shard {
    fn n_playing(&self) -> usize {
        self.seats.iter().flatten().count()
    }

    /// Starts the new episodes.
    fn begin(&mut self, seeds: &[Seed], flags: &[bool]) {
        for (row, seat) in self.seats.iter_mut().enumerate() {
            if let Some(seat) = seat
                && std::mem::take(&mut seat.is_new)
            {
                self.batch.reset(row, Some(&seeds[seat.episode]), flags);
            }
        }
        self.batch.settle();
    }

    /// Draws a part of some of the rows that are playing, counted among those, one behind the other.
    fn draw(&self, easels: &Easels, thread: usize, part: usize, among: Range<usize>, out: &mut [u8]) {
        let row_bytes = out.len() / among.len();
        let playing = self.seats.iter().enumerate().filter(|(_, seat)| seat.is_some()).map(|(row, _)| row);
        let rows = playing.skip(among.start).zip(out.chunks_exact_mut(row_bytes));
        easels.draw(thread, &*self.batch, part, rows);
    }

    fn step(&mut self, actions: Actions<'_>, dimensions: usize) {
        let rows = self.rows.clone();
        let actions = match actions {
            Actions::Discrete(indices) => Actions::Discrete(&indices[rows]),
            Actions::Continuous(values) => {
                Actions::Continuous(&values[rows.start * dimensions..rows.end * dimensions])
            }
        };
        let playing: Vec<bool> = self.seats.iter().map(Option::is_some).collect();
        if playing.contains(&true) {
            self.batch.step(actions, Some(&playing), &mut self.outcomes);
        }
    }
}

impl<'a> Table<'a> {
    fn new(evaluation: &'a Evaluation) -> Result<Self, EngineError> {
        let Evaluation { game, reward, seeds, .. } = evaluation;
        if !(1..=MAX_EPISODES).contains(&seeds.len()) {
            return Err(EngineError::Setting {
                name: "episodes",
                allowed: format!("from 1 to {MAX_EPISODES}"),
                given: seeds.len().to_string(),
            });
        }
        game.spec().check_single("an evaluation")?;
        let n_games = evaluation.n_games.unwrap_or(USUAL_GAMES);
        check_rows("n_games", n_games)?;
        let n_games = n_games.min(seeds.len());
        let n_threads = thread_count(evaluation.n_threads, n_games, game.spec())?;
        let spec = game.spec();
        let head = evaluation.head()?;
        let state_size = state_size(&evaluation.state_shape, n_games)?;
        let mut seen: HashMap<&[u32], u32> = HashMap::new();
        let repetitions = seeds.iter().map(|seed| {
            let repetition = seen.entry(seed.words()).or_default();
            *repetition += 1;
            *repetition - 1
        });
        let shard = |rows: Range<usize>| {
            Ok(Shard {
                batch: game.batch(reward, rows.len())?,
                seats: rows.clone().map(|_| None).collect(),
                outcomes: vec![Outcome::default(); rows.len()],
                rows,
            })
        };
        let pool = Pool::new(n_threads)?;
        let mut table = Self {
            repetitions: repetitions.collect(),
            episodes: vec![EvaluatedEpisode::default(); seeds.len()],
            next: 0,
            shards: shard_ranges(n_games, n_threads)
                .into_iter()
                .map(shard)
                .collect::<Result<_, EngineError>>()?,
            easels: Easels::new(pool.most_threads()),
            pool,
            store: ObservationStore::new(&spec.observation),
            end_reasons: spec.end_reasons,
            reset_flags: spec.default_flags(),
            dimensions: spec.action.dimensions(),
            answer: evaluation.answer()?,
            inference: Inference::default(),
            state_size,
            state: Vec::new(),
            actions: head.empty_actions(n_games),
            controls: Vec::new(),
            seeds,
            head,
        };
        table.fill_seats();
        Ok(table)
    }

    fn n_playing(&self) -> usize {
        self.shards.iter().map(Shard::n_playing).sum()
    }

    /// Gives free seats to the next episodes, in the order of both.
    fn fill_seats(&mut self) {
        for seat in self.shards.iter_mut().flat_map(|shard| &mut shard.seats).filter(|seat| seat.is_none()) {
            if self.next == self.seeds.len() {
                return;
            }
            let spawn_key = [ACTIONS, self.repetitions[self.next]];
            let rng = Pcg64::from_entropy(self.seeds[self.next].words(), &spawn_key);
            let state = vec![0.0; self.state_size];
            *seat = Some(Seat { episode: self.next, rng, is_new: true, state });
            self.next += 1;
        }
    }

    /// Draws what is seen from the seats that are taken, and asks for decisions.
    fn ask(&mut self, infer: &mut dyn Infer) -> Result<(), EngineError> {
        let mut starts = vec![0];
        for shard in &self.shards {
            starts.push(starts[starts.len() - 1] + shard.n_playing());
        }
        let rows = starts[self.shards.len()];
        let mut observations = self.store.take(rows)?;
        let seats = || self.shards.iter().flat_map(|shard| shard.seats.iter().flatten());
        let starts_anew: Vec<bool> = seats().map(|seat| seat.is_new).collect();
        self.state = seats().flat_map(|seat| &seat.state).copied().collect();
        let (seeds, flags) = (self.seeds, &self.reset_flags);
        let begin = |_, shard: &mut Shard| shard.begin(seeds, flags);
        let draw = |thread, shard: &Shard, part, among, out: &mut [u8]| {
            shard.draw(&self.easels, thread, part, among, out);
        };
        let mut regions = observations.unfilled(rows);
        self.pool.prepare_and_draw(&mut self.shards, &starts, &mut regions, begin, draw, NOTHING)?;
        self.check()?;
        observations.seal(rows);
        let memory = Memory { state: &self.state, starts: &starts_anew };
        infer.infer(&observations.view(0..rows), memory, &mut self.inference).map_err(EngineError::Infer)?;
        self.inference.check(rows, &self.answer)?;
        if self.state_size > 0 {
            let seats = self.shards.iter_mut().flat_map(|shard| shard.seats.iter_mut().flatten());
            for (seat, state) in seats.zip(self.inference.state.chunks_exact(self.state_size)) {
                seat.state.clear();
                seat.state.extend(state.iter().map(|number| *number as f32));
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), EngineError> {
        check_worlds(self.shards.iter_mut().map(|shard| &mut shard.batch))
    }

    /// Chooses an action for every seat; nobody looks at those of empty ones.
    fn choose(&mut self, deterministic: bool) -> Result<(), EngineError> {
        self.actions.clear();
        self.controls.clear();
        let mut answers = self.inference.params.chunks_exact(self.head.n_params()).enumerate();
        for seat in self.shards.iter_mut().flat_map(|shard| &mut shard.seats) {
            let Some(seat) = seat else {
                self.actions.push_blank();
                self.controls.resize(self.controls.len() + self.dimensions, 0.0);
                continue;
            };
            let (row, params) = answers.next().expect("an answer for every row was checked");
            let chosen = if deterministic {
                self.head.mode(params, &mut self.actions, &mut self.controls)
            } else {
                let sampled = self.head.sample(params, &mut seat.rng, &mut self.actions, &mut self.controls);
                sampled.map(drop)
            };
            chosen.map_err(|why| {
                EngineError::Output(format!("infer returned {} whose row {row}: {why}", self.answer.decision))
            })?;
        }
        Ok(())
    }

    /// Steps every game that is playing; returns how many episodes ended.
    fn step(&mut self) -> Result<usize, EngineError> {
        let actions = match &self.actions {
            ActionArray::Discrete(indices) => Actions::Discrete(indices),
            ActionArray::Continuous { .. } => Actions::Continuous(&self.controls),
        };
        let dimensions = self.dimensions;
        self.pool.for_each(&mut self.shards, |_, shard| shard.step(actions, dimensions))?;
        self.check()?;
        let mut ended = 0;
        for (seat, outcome) in
            self.shards.iter_mut().flat_map(|shard| shard.seats.iter_mut().zip(&shard.outcomes))
        {
            let Some(Seat { episode, .. }) = seat else { continue };
            let episode = &mut self.episodes[*episode];
            episode.total_reward += outcome.reward;
            episode.length += 1;
            if outcome.is_end() {
                episode.ended = outcome.reason(self.end_reasons);
                *seat = None;
                ended += 1;
            }
        }
        if ended > 0 {
            self.fill_seats();
        }
        Ok(ended)
    }
}
