//! The engine: a handle that any thread may hold, and the one seat from which its games are driven.
//!
//! Whoever collects takes the games out of the seat and puts them back; finding the seat empty is an error at
//! once, never a wait, also from inside `infer`. Configuration and version are beside the seat and can be
//! read at any time.

use crate::batch::Batch;
use crate::clock::{Clock, Moment};
use crate::config::{
    EngineConfig, MAX_RECORDS, ResolvedConfig, check_agents, check_rows, fresh_seed, thread_count,
};
use crate::head::Head;
use crate::infer::{Answer, Infer};
use crate::learner::Learner;
use crate::policy::{Policy, check_share, state_size};
use crate::pool::PoolError;
use crate::rollout::{Outside, Rollout};
use crate::snapshot::Snapshot;
use crate::stream::{CollectStream, Paced};
use crate::telemetry::HandOver;
use crate::{EngineError, snapshot};
use reinfors_core::{CancelToken, GameSpec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A sampler over many games. Clones are handles to the same one.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    spec: GameSpec,
    answer: Answer,
    learner: Learner,
    n_games: usize,
    n_slots: usize,
    n_threads: usize,
    /// The policy's ε in it is replaced while training goes on, and the seed when an engine without a given
    /// one adopts a snapshot.
    config: Mutex<ResolvedConfig>,
    is_seed_given: bool,
    clock: Clock,
    /// The stream to be told of new versions, if one waits for them.
    paced: Mutex<Weak<Paced>>,
    streams: AtomicU64,
    seat: Mutex<Seat>,
    freed: Condvar,
    process: u32,
}

/// Where the games are.
enum Seat {
    Free(Box<Rollout>),
    Taken(Holder),
}

/// Who has taken the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A call of `collect`, `snapshot` or `restore`.
    Call,
    /// A stream that is in use, by its number.
    Stream(u64),
    /// A stream that was stopped or dropped: its thread ends by itself after the `infer` in progress.
    LeavingStream(ThreadId),
}

impl Engine {
    /// An engine whose games are at the start of their first episodes.
    ///
    /// # Errors
    /// A setting outside what is allowed, reward weights the game refuses, threads the system refuses.
    pub fn new(config: EngineConfig) -> Result<Self, EngineError> {
        check_rows("n_games", config.n_games)?;
        check_agents(config.n_games, config.game.spec())?;
        let n_slots = config.n_games * config.game.spec().n_agents;
        let n_threads = thread_count(config.n_threads, config.n_games, config.game.spec())?;
        config.policy.check()?;
        config.learner.check(&config.policy)?;
        state_size(&config.state_shape, n_slots)?;
        let spec = config.game.spec().clone();
        let head = Head::new(config.policy, &spec.action)?;
        let policy = head.policy();
        let answer = head.answer(config.learner.needs().values, &config.state_shape);
        let weights = config.game.weights(&config.reward)?;
        let is_seed_given = config.seed.is_some();
        let seed = config.seed.clone().map_or_else(fresh_seed, Ok)?;
        let rollout = Rollout::new(&config, head, answer.clone(), &seed, n_threads)?;
        let options = config.game.options().iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let resolved = ResolvedConfig {
            game: spec.id.to_owned(),
            options: options.collect(),
            reward: spec.reward.iter().map(|key| key.name.to_owned()).zip(weights).collect(),
            policy,
            state_shape: config.state_shape,
            learner: config.learner,
            n_games: config.n_games,
            n_threads: config.n_threads,
            seed,
        };
        let shared = Shared {
            spec,
            answer,
            learner: config.learner,
            n_games: config.n_games,
            n_slots,
            n_threads,
            config: Mutex::new(resolved),
            is_seed_given,
            clock: Clock::default(),
            paced: Mutex::default(),
            streams: AtomicU64::new(0),
            seat: Mutex::new(Seat::Free(Box::new(rollout))),
            freed: Condvar::new(),
            process: std::process::id(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Makes a batch of at least `n_records` records on this thread: `ceil(n_records / n_slots)` steps of
    /// every slot, of which there is one for each agent of each game.
    ///
    /// # Errors
    /// An engine in use, a number of records outside 1 to [`MAX_RECORDS`], what `infer` raised or wrongly
    /// returned, a batch that `float32` cannot hold. The games are then where they were before the call.
    pub fn collect(&self, n_records: usize, infer: &mut dyn Infer) -> Result<Batch, EngineError> {
        let begin = Instant::now();
        let n_steps = self.window_steps("n_records", n_records)?;
        let mut games = self.take(Holder::Call)?;
        let batch = self.collect_window(&mut games, n_steps, infer, &CancelToken::default())?;
        Ok(batch.handed_over(&HandOver::at_once(self.now(), begin.elapsed())))
    }

    /// Starts collecting in the background: batches of at least `collect_size` records, `depth` of them
    /// waiting at most. With a `max_lag`, a window begins only when its records will not be more updates old
    /// than that when they are taken, if the learner marks no more between two batches than ever before (and
    /// one at first), or when somebody waits for its batch.
    ///
    /// # Errors
    /// An engine in use, a size outside 1 to [`MAX_RECORDS`], zero depth, a thread the system refuses.
    pub fn collect_stream(
        &self,
        collect_size: usize,
        infer: Box<dyn Infer>,
        depth: usize,
        max_lag: Option<u64>,
    ) -> Result<CollectStream, EngineError> {
        let n_steps = self.window_steps("collect_size", collect_size)?;
        if depth == 0 {
            let allowed = "at least 1".into();
            return Err(EngineError::Setting { name: "depth", allowed, given: "0".into() });
        }
        let number = self.shared.streams.fetch_add(1, Ordering::Relaxed);
        let games = self.take(Holder::Stream(number))?;
        CollectStream::start(self.clone(), number, games, n_steps, infer, depth, max_lag)
    }

    /// Tells a stream of new versions from now on, instead of the one before.
    pub(crate) fn tell_of_versions(&self, stream: Weak<Paced>) {
        *lock(&self.shared.paced) = stream;
    }

    /// Marks a new version of the policy, one higher or the given one, and returns it. Callable from any
    /// thread at any time; records made from the next step on carry it, whichever slot they are of.
    ///
    /// # Errors
    /// A fork of the process that made the engine.
    pub fn weights_updated(&self, version: Option<i64>) -> Result<i64, EngineError> {
        self.check_process()?;
        let version = self.shared.clock.mark(version);
        let paced = lock(&self.shared.paced).upgrade();
        if let Some(stream) = paced {
            stream.wake();
        }
        Ok(version)
    }

    /// The policy's version; 0 before the first update.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.shared.clock.version()
    }

    /// The version and how often one was marked.
    pub(crate) fn now(&self) -> Moment {
        self.shared.clock.now()
    }

    /// Numbers that `infer` must return to decide one action.
    #[must_use]
    pub fn n_params(&self) -> usize {
        self.shared.answer.decision_shape.iter().product()
    }

    /// What `infer` must return.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.shared.answer
    }

    /// Share of the actions that an ε-greedy policy draws uniformly; `None` for another policy.
    #[must_use]
    pub fn epsilon(&self) -> Option<f64> {
        match lock(&self.shared.config).policy {
            Policy::EpsilonGreedy { epsilon } => Some(epsilon),
            Policy::Ppo { .. } | Policy::Direct => None,
        }
    }

    /// Replaces it from the next window on. Callable from any thread at any time.
    ///
    /// # Errors
    /// [`EngineError::Setting`] for another policy, and for what is not from 0 to 1.
    pub fn set_epsilon(&self, epsilon: f64) -> Result<(), EngineError> {
        check_share("epsilon", epsilon)?;
        let policy = &mut lock(&self.shared.config).policy;
        match policy {
            Policy::EpsilonGreedy { epsilon: current } => *current = epsilon,
            Policy::Ppo { .. } | Policy::Direct => {
                return Err(EngineError::Setting {
                    name: "epsilon",
                    allowed: format!("left alone: the policy {} has none", policy.name()),
                    given: format!("{epsilon:?}"),
                });
            }
        }
        Ok(())
    }

    /// What is known of the game.
    #[must_use]
    pub fn spec(&self) -> &GameSpec {
        &self.shared.spec
    }

    /// Games that are played at once.
    #[must_use]
    pub fn n_games(&self) -> usize {
        self.shared.n_games
    }

    /// Threads in use, the collecting one included.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.shared.n_threads
    }

    /// The complete configuration, defaults and the seed included.
    #[must_use]
    pub fn resolved_config(&self) -> ResolvedConfig {
        lock(&self.shared.config).clone()
    }

    /// The state of every game and stream as bytes, from which [`Engine::restore`] continues exactly.
    ///
    /// # Errors
    /// An engine in use.
    pub fn snapshot(&self) -> Result<Vec<u8>, EngineError> {
        self.spec().check_saves()?;
        let games = self.take(Holder::Call)?;
        Ok(snapshot::write(&games, self.resolved_config(), self.version()))
    }

    /// Continues from a snapshot of an equal configuration; the number of threads may differ, and so may a
    /// seed that was not given but drawn.
    ///
    /// # Errors
    /// An engine in use; bytes that are no snapshot; another configuration, by the name of the first setting
    /// that differs. The engine is then unchanged.
    pub fn restore(&self, bytes: &[u8]) -> Result<(), EngineError> {
        self.spec().check_saves()?;
        let mut games = self.take(Holder::Call)?;
        let mut config = self.resolved_config();
        let Snapshot { seed, version, policy } =
            snapshot::read(&mut games, &config, self.shared.is_seed_given, bytes)?;
        config.seed = seed;
        config.policy = policy;
        *lock(&self.shared.config) = config;
        self.shared.clock.set(version);
        Ok(())
    }

    /// Whether nobody drives the games, waiting up to `timeout` for a stopped or dropped stream to let go of
    /// them. Never waits for a stream in use or from inside the `infer` of the stream itself.
    ///
    /// # Errors
    /// A fork of the process that made the engine.
    pub fn wait_until_free(&self, timeout: Duration) -> Result<bool, EngineError> {
        self.check_process()?;
        let deadline = deadline_after(timeout);
        let mut seat = lock(&self.shared.seat);
        loop {
            match *seat {
                Seat::Free(_) => return Ok(true),
                Seat::Taken(Holder::LeavingStream(driver)) if driver != std::thread::current().id() => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(false);
                    }
                    let waited = self.shared.freed.wait_timeout(seat, left);
                    seat = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Seat::Taken(_) => return Ok(false),
            }
        }
    }

    /// Makes one window into a batch.
    pub(crate) fn collect_window(
        &self,
        games: &mut Rollout,
        n_steps: usize,
        infer: &mut dyn Infer,
        token: &CancelToken,
    ) -> Result<Batch, EngineError> {
        let now = || self.now();
        let epsilon = self.epsilon().unwrap_or(0.0);
        let window = games.window(n_steps, &mut Outside { infer, now: &now, epsilon, token })?;
        let batch = Batch::new(window, &self.shared.learner, &self.shared.answer.state_shape);
        if batch.is_err() {
            games.take_back()?;
        }
        games.rest();
        batch
    }

    /// Takes the games out of the seat, waiting only for a stream that is already leaving.
    fn take(&self, holder: Holder) -> Result<Games, EngineError> {
        self.check_process()?;
        let mut seat = lock(&self.shared.seat);
        loop {
            match std::mem::replace(&mut *seat, Seat::Taken(holder)) {
                Seat::Free(rollout) => return Ok(Games { engine: self.clone(), rollout: Some(rollout) }),
                Seat::Taken(Holder::LeavingStream(driver)) if driver != std::thread::current().id() => {
                    *seat = Seat::Taken(Holder::LeavingStream(driver));
                    seat = self.shared.freed.wait(seat).unwrap_or_else(PoisonError::into_inner);
                }
                Seat::Taken(other) => {
                    *seat = Seat::Taken(other);
                    return Err(EngineError::Busy(match other {
                        Holder::Call => {
                            "the engine is collecting: one call at a time, and none from inside infer".into()
                        }
                        Holder::Stream(_) => "the engine is held by a stream: pause or stop it first".into(),
                        Holder::LeavingStream(_) => {
                            "the engine is held by the stream that calls this infer".into()
                        }
                    }));
                }
            }
        }
    }

    /// Says that stream `number`, whose thread is `driver`, is on its way out, unless it has left already.
    pub(crate) fn stream_is_leaving(&self, number: u64, driver: ThreadId) {
        let mut seat = lock(&self.shared.seat);
        if let Seat::Taken(holder) = &mut *seat
            && *holder == Holder::Stream(number)
        {
            *holder = Holder::LeavingStream(driver);
        }
    }

    /// Refuses to go on in a fork, where locks may be held and threads waited for that do not exist.
    pub(crate) fn check_process(&self) -> Result<(), EngineError> {
        let (owner, here) = (self.shared.process, std::process::id());
        if owner == here { Ok(()) } else { Err(PoolError::Forked { owner, here }.into()) }
    }

    fn window_steps(&self, name: &'static str, n_records: usize) -> Result<usize, EngineError> {
        if !(1..=MAX_RECORDS).contains(&n_records) {
            let allowed = format!("from 1 to {MAX_RECORDS}");
            return Err(EngineError::Setting { name, allowed, given: n_records.to_string() });
        }
        Ok(n_records.div_ceil(self.shared.n_slots))
    }
}

/// The games while they are out of the seat; dropping puts them back.
pub(crate) struct Games {
    engine: Engine,
    rollout: Option<Box<Rollout>>,
}

impl std::ops::Deref for Games {
    type Target = Rollout;

    fn deref(&self) -> &Rollout {
        self.rollout.as_ref().expect("the games leave only in drop")
    }
}

impl std::ops::DerefMut for Games {
    fn deref_mut(&mut self) -> &mut Rollout {
        self.rollout.as_mut().expect("the games leave only in drop")
    }
}

impl Drop for Games {
    fn drop(&mut self) {
        if let Some(rollout) = self.rollout.take() {
            *lock(&self.engine.shared.seat) = Seat::Free(rollout);
            self.engine.shared.freed.notify_all();
        }
    }
}

/// The instant `timeout` from now, or one far enough away.
pub(crate) fn deadline_after(timeout: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(1 << 30);
    Instant::now() + timeout.min(FAR)
}

/// A lock whose holders never leave what it guards half changed, so a panic elsewhere does not poison it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
