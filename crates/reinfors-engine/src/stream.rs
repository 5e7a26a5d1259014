//! Collecting in the background: one thread that owns the games, a queue of finished batches, one lock over
//! both.
//!
//! 1. The next window starts only when the queue has room for its batch. So at most `depth` batches are ever
//!    ahead of the learner, and none waits in a hand: a batch's policy is as fresh as the depth allows.
//!    (Starting earlier and blocking on a full queue would make every batch one window older for nothing.)
//! 2. Queue, orders and end are one state under one mutex, with one condition that every change signals.
//!    Nothing is decided outside it, so there is no order of events in which a wake-up or a batch is lost.
//! 3. With a `max_lag` the [`Pacer`] too has to agree. New versions reach the thread through the same lock
//!    and condition.
//! 4. The thread puts the games back into the engine before it declares its end: who sees the end finds the
//!    engine free.

use crate::EngineError;
use crate::batch::Batch;
use crate::engine::{Engine, Games, deadline_after, lock};
use crate::infer::Infer;
use crate::pacing::Pacer;
use crate::telemetry::HandOver;
use reinfors_core::CancelToken;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

/// A running collection. All methods take `&self` and may be called from any thread. Dropping it stops it
/// without waiting: its thread ends by itself after the `infer` in progress.
pub struct CollectStream {
    engine: Engine,
    number: u64,
    shared: Arc<Paced>,
    driver: Mutex<Option<JoinHandle<()>>>,
    driver_id: ThreadId,
}

/// A batch and how it is handed over, if there was one in time.
type Taken = Result<Option<(Batch, HandOver)>, EngineError>;

/// What the stream's thread and its users share.
pub(crate) struct Paced {
    state: Mutex<State>,
    changed: Condvar,
    /// `Order::Stop`, readable without the lock between steps and by worlds that live elsewhere.
    stopped: CancelToken,
    depth: usize,
}

struct State {
    /// Finished batches, each with when it was.
    queue: VecDeque<(Instant, Batch)>,
    pacer: Option<Pacer>,
    /// Calls that wait for a batch.
    takers: usize,
    /// How long they have waited for the next one, in calls that came back without it.
    waited: Duration,
    order: Order,
    /// Why the thread has ended, once it has.
    ended: Option<String>,
    /// What ended it, until somebody has been told.
    error: Option<EngineError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Run,
    Pause,
    Stop,
}

impl Paced {
    /// Makes the stream's thread look again at what it waits for.
    pub fn wake(&self) {
        // Whoever has looked before the lock is taken waits by the time it is.
        drop(lock(&self.state));
        self.changed.notify_all();
    }
}

impl CollectStream {
    pub(crate) fn start(
        engine: Engine,
        number: u64,
        games: Games,
        n_steps: usize,
        infer: Box<dyn Infer>,
        depth: usize,
        max_lag: Option<u64>,
    ) -> Result<Self, EngineError> {
        let state = State {
            queue: VecDeque::new(),
            pacer: max_lag.map(|max_lag| Pacer::new(max_lag, engine.now().updates)),
            takers: 0,
            waited: Duration::ZERO,
            order: Order::Run,
            ended: None,
            error: None,
        };
        let shared = Arc::new(Paced {
            state: Mutex::new(state),
            changed: Condvar::new(),
            stopped: CancelToken::default(),
            depth,
        });
        engine.tell_of_versions(if max_lag.is_some() { Arc::downgrade(&shared) } else { Weak::new() });
        let (driver_engine, driver_shared) = (engine.clone(), Arc::clone(&shared));
        let driver = thread::Builder::new()
            .name("reinfors-stream".into())
            .spawn(move || drive(&driver_engine, &driver_shared, games, n_steps, infer))
            .map_err(|error| EngineError::Internal(format!("cannot start the stream's thread: {error}")))?;
        let driver_id = driver.thread().id();
        Ok(Self { engine, number, shared, driver: Mutex::new(Some(driver)), driver_id })
    }

    /// The next batch, waiting for it as long as it takes.
    ///
    /// # Errors
    /// What ended the stream, once, after the batches finished before it; then [`EngineError::Ended`].
    pub fn next(&self) -> Result<Batch, EngineError> {
        loop {
            if let Some(batch) = self.next_timeout(Duration::MAX)? {
                return Ok(batch);
            }
        }
    }

    /// The next batch, or `None` when none is finished within `timeout`.
    ///
    /// # Errors
    /// Those of [`CollectStream::next`].
    pub fn next_timeout(&self, timeout: Duration) -> Result<Option<Batch>, EngineError> {
        self.check_caller()?;
        let begin = Instant::now();
        let deadline = deadline_after(timeout);
        let mut state = lock(&self.shared.state);
        state.takers += 1;
        if state.pacer.is_some() {
            self.shared.changed.notify_all();
        }
        let (mut state, taken) = self.take(state, begin, deadline);
        state.takers -= 1;
        let has_ended = state.ended.is_some();
        drop(state);
        match taken {
            Ok(Some((batch, how))) => {
                self.shared.changed.notify_all();
                Ok(Some(batch.handed_over(&how)))
            }
            Ok(None) => Ok(None),
            Err(error) => {
                if has_ended {
                    self.join();
                }
                Err(error)
            }
        }
    }

    /// The next batch and how it is handed over, or `None` at the deadline.
    fn take<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        begin: Instant,
        deadline: Instant,
    ) -> (MutexGuard<'a, State>, Taken) {
        loop {
            if let Some((finished, batch)) = state.queue.pop_front() {
                let now = self.engine.now();
                if let Some(pacer) = &mut state.pacer {
                    pacer.taken(now.updates);
                }
                let learner_wait = std::mem::take(&mut state.waited) + begin.elapsed();
                let how = HandOver { now, queue: finished.elapsed(), learner_wait, is_streamed: true };
                return (state, Ok(Some((batch, how))));
            }
            if state.order == Order::Stop {
                return (state, Err(EngineError::Ended("it was stopped".into())));
            }
            if let Some(why) = &state.ended {
                let ended = EngineError::Ended(why.clone());
                let error = state.error.take().unwrap_or(ended);
                return (state, Err(error));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.waited += begin.elapsed();
                return (state, Ok(None));
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Finished batches that nobody has taken.
    ///
    /// # Errors
    /// A fork of the process that started the stream.
    pub fn pending(&self) -> Result<usize, EngineError> {
        self.engine.check_process()?;
        Ok(lock(&self.shared.state).queue.len())
    }

    /// Whether the stream's thread has ended; batches may still be pending.
    ///
    /// # Errors
    /// A fork of the process that started the stream.
    pub fn is_ended(&self) -> Result<bool, EngineError> {
        self.engine.check_process()?;
        Ok(lock(&self.shared.state).ended.is_some())
    }

    /// Ends the stream without losing anything: finishes the window in progress and returns every batch that
    /// nobody has taken, oldest first. The engine is then free and continues exactly behind the last of them.
    ///
    /// # Errors
    /// What made the window in progress fail, with the finished batches still there for
    /// [`CollectStream::next`].
    pub fn pause(&self) -> Result<Vec<Batch>, EngineError> {
        loop {
            if let Some(batches) = self.pause_timeout(Duration::MAX)? {
                return Ok(batches);
            }
        }
    }

    /// Like [`CollectStream::pause`], returning `None` when the window in progress takes longer than
    /// `timeout`. The order stands: no further window is started, and a second call goes on waiting.
    ///
    /// # Errors
    /// Those of [`CollectStream::pause`].
    pub fn pause_timeout(&self, timeout: Duration) -> Result<Option<Vec<Batch>>, EngineError> {
        self.check_caller()?;
        self.give(Order::Pause);
        if !self.wait_for_end(timeout) {
            return Ok(None);
        }
        let mut state = lock(&self.shared.state);
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        let batches: Vec<(Instant, Batch)> = state.queue.drain(..).collect();
        drop(state);
        let (now, learner_wait, is_streamed) = (self.engine.now(), Duration::ZERO, true);
        let hand_over = |(finished, batch): (Instant, Batch)| {
            batch.handed_over(&HandOver { now, queue: finished.elapsed(), learner_wait, is_streamed })
        };
        Ok(Some(batches.into_iter().map(hand_over).collect()))
    }

    /// Ends the stream and discards what nobody has taken, the window in progress included. The engine is
    /// then free and continues behind the last finished window, taken or not. A second call does nothing.
    ///
    /// # Errors
    /// A call from inside `infer`; a fork.
    pub fn stop(&self) -> Result<(), EngineError> {
        while !self.stop_timeout(Duration::MAX)? {}
        Ok(())
    }

    /// Like [`CollectStream::stop`], returning `false` when the `infer` in progress takes longer than
    /// `timeout`. The order stands, and a second call goes on waiting.
    ///
    /// # Errors
    /// Those of [`CollectStream::stop`].
    pub fn stop_timeout(&self, timeout: Duration) -> Result<bool, EngineError> {
        self.check_caller()?;
        self.give(Order::Stop);
        Ok(self.wait_for_end(timeout))
    }

    fn give(&self, order: Order) {
        let discarded = {
            let mut state = lock(&self.shared.state);
            // Stopping is final; pausing does not take it back.
            if state.order != Order::Stop {
                state.order = order;
            }
            if order == Order::Stop { std::mem::take(&mut state.queue) } else { VecDeque::new() }
        };
        if order == Order::Stop {
            self.shared.stopped.cancel();
            self.engine.stream_is_leaving(self.number, self.driver_id);
        }
        self.shared.changed.notify_all();
        drop(discarded);
    }

    fn wait_for_end(&self, timeout: Duration) -> bool {
        let deadline = deadline_after(timeout);
        let mut state = lock(&self.shared.state);
        while state.ended.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        self.join();
        true
    }

    /// Joins a thread that has declared its end: it has nothing left to do.
    fn join(&self) {
        let driver = lock(&self.driver).take();
        if let Some(driver) = driver {
            // Whatever it had to say is in the state.
            let _ = driver.join();
        }
    }

    /// Refuses forks, and the stream's own thread, which would wait for itself.
    fn check_caller(&self) -> Result<(), EngineError> {
        self.engine.check_process()?;
        if thread::current().id() == self.driver_id {
            return Err(EngineError::Busy("the stream cannot be used from inside its own infer".into()));
        }
        Ok(())
    }
}

impl Drop for CollectStream {
    fn drop(&mut self) {
        if self.engine.check_process().is_ok() {
            self.give(Order::Stop);
        } else {
            // In a fork the thread does not exist, and even detaching it touches memory that is gone.
            std::mem::forget(self.driver.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

impl std::fmt::Debug for CollectStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollectStream").field("depth", &self.shared.depth).finish_non_exhaustive()
    }
}

/// The life of the stream's thread.
fn drive(engine: &Engine, shared: &Paced, mut games: Games, n_steps: usize, mut infer: Box<dyn Infer>) {
    let error = loop {
        if !wait_for_room(engine, shared) {
            break None;
        }
        match engine.collect_window(&mut games, n_steps, &mut *infer, &shared.stopped) {
            Ok(batch) => {
                let mut state = lock(&shared.state);
                if state.order != Order::Stop {
                    state.queue.push_back((Instant::now(), batch));
                }
                drop(state);
                shared.changed.notify_all();
            }
            Err(error) => break Some(error),
        }
    };
    drop(infer);
    drop(games);
    let mut state = lock(&shared.state);
    state.ended = Some(match (&error, state.order) {
        (_, Order::Stop) => "it was stopped".into(),
        (Some(error), _) => format!("an error ended it: {error}"),
        (None, _) => "it was paused".into(),
    });
    state.error = if state.order == Order::Stop { None } else { error };
    drop(state);
    shared.changed.notify_all();
}

/// Waits until a further window may begin; `false` when none is wanted any more.
fn wait_for_room(engine: &Engine, shared: &Paced) -> bool {
    let mut state = lock(&shared.state);
    while state.order == Order::Run && !may_begin(engine, shared, &state) {
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.order == Order::Run
}

fn may_begin(engine: &Engine, shared: &Paced, state: &State) -> bool {
    let pending = state.queue.len();
    let is_in_time = |pacer: &Pacer| pacer.may_begin(engine.now().updates, pending, state.takers > pending);
    pending < shared.depth && state.pacer.as_ref().is_none_or(is_in_time)
}
