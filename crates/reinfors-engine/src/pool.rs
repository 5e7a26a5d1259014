//! Persistent worker threads that run one closure over disjoint items, the calling thread taking part; in
//! `drawing.rs`, one that makes items ready and one that draws their rows.
//!
//! A dispatch publishes a job, then the number of its tasks. A task is claimed by lowering that number, and
//! only whoever holds a claim looks at the job: the dispatcher waits for every claimed task, so the job is
//! alive. A worker that wakes late finds nothing to claim and delays nobody.
//!
//! While the calling thread is busy with something else, a spare worker takes its part. It is started when it
//! is first needed.
#![allow(unsafe_code)]

mod drawing;

pub use drawing::{Meanwhile, NOTHING, Region};

use std::cell::UnsafeCell;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How long a thread looks for work before it goes to sleep, at least and at most: twice as long as
/// there was none before, so that dispatches close together need no wake-up and others cost no processor time.
const PATIENCE: RangeInclusive<Duration> = Duration::from_micros(50)..=Duration::from_micros(300);

/// A pause longer than this is slept through.
const WORTH_LOOKING: Duration = Duration::from_micros(150);

/// Rounds of looking between two looks at the clock.
const ROUNDS: u32 = 16;

/// Why a dispatch did not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The system refused to start a thread.
    #[error("cannot start worker thread {index}: {reason}")]
    Spawn {
        /// Which worker.
        index: usize,
        /// The system's words.
        reason: String,
    },
    /// A task panicked; the other tasks have run.
    #[error("a game panicked: {0}")]
    Panicked(String),
    /// The pool was made by a process of which this one is a fork: its threads do not exist here.
    #[error(
        "the worker threads belong to process {owner}, this is its fork {here}: threads do not survive a \
         fork, make the object anew in this process"
    )]
    Forked {
        /// The process that made the pool.
        owner: u32,
        /// This process.
        here: u32,
    },
}

/// Worker threads for one owner. Dropping it ends and joins them.
pub struct Pool {
    shared: Arc<Shared>,
    /// One less than there are threads, and behind them the spare one once it has been started.
    workers: Vec<JoinHandle<()>>,
    n_threads: usize,
    process: u32,
    took: Duration,
    cores: usize,
}

/// Given the number of the task and that of the thread, which is 0 for the calling one.
type Job = dyn Fn(usize, usize) + Sync;

/// What the workers see.
struct Shared {
    /// Tasks of the current job that nobody has claimed.
    unclaimed: AtomicU32,
    /// Tasks of the current job that have not finished.
    unfinished: AtomicU32,
    posted: UnsafeCell<Option<Posted>>,
    stop: AtomicBool,
    /// When the last task so far ended.
    ended: Mutex<Instant>,
    /// What the first panicking task said.
    panic: Mutex<Option<String>>,
    /// How long workers look for work, in nanoseconds.
    patience: AtomicU64,
}

/// What the calling thread does before it takes part.
struct Aside<'a> {
    run: &'a mut dyn FnMut(),
    /// Whether it takes so long that the spare worker is to take its part.
    is_long: bool,
}

/// The current job, its lifetime erased.
struct Posted {
    job: *const Job,
    dispatcher: Thread,
}

// SAFETY: `posted` is written only by the dispatcher while no task is claimed, and read only by the holder of
// a claim; the release of `unclaimed` and the acquire of a claim order the two. The job it points to is
// `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it is bound to a thread.
unsafe impl Send for Shared {}

impl Pool {
    /// A pool of `n_threads` threads (at least 1), of which the calling thread is one.
    ///
    /// # Errors
    /// [`PoolError::Spawn`] when the system refuses a thread; those already started are ended.
    pub fn new(n_threads: usize) -> Result<Self, PoolError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            unclaimed: AtomicU32::new(0),
            unfinished: AtomicU32::new(0),
            posted: UnsafeCell::new(None),
            stop: AtomicBool::new(false),
            ended: Mutex::new(Instant::now()),
            panic: Mutex::new(None),
            patience: AtomicU64::new(0),
        });
        let (workers, process) = (Vec::new(), std::process::id());
        let (n_threads, took) = (n_threads.max(1), Duration::ZERO);
        let mut pool = Self { shared, workers, n_threads, process, took, cores };
        for _ in 1..n_threads {
            pool.start_worker()?;
        }
        Ok(pool)
    }

    fn start_worker(&mut self) -> Result<(), PoolError> {
        let (shared, index) = (Arc::clone(&self.shared), self.workers.len() + 1);
        let worker = thread::Builder::new()
            .name(format!("reinfors-worker-{index}"))
            .spawn(move || shared.work(index))
            .map_err(|error| PoolError::Spawn { index, reason: error.to_string() })?;
        self.workers.push(worker);
        Ok(())
    }

    /// Number of threads, the calling one included and the spare one not.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// How many threads a dispatch can be run by: the spare one counts.
    #[must_use]
    pub fn most_threads(&self) -> usize {
        self.n_threads + 1
    }

    /// How long the last dispatch took, up to the end of its last task.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Runs `f(index, item)` for every item, in any order, in parallel, and returns when all have finished.
    ///
    /// # Errors
    /// [`PoolError::Panicked`] after all tasks have ended, [`PoolError::Forked`] before any has begun.
    pub fn for_each<T: Send>(
        &mut self,
        items: &mut [T],
        f: impl Fn(usize, &mut T) + Sync,
    ) -> Result<(), PoolError> {
        let first = Disjoint(items.as_mut_ptr());
        let job = |index, _| {
            // SAFETY: each index below `items.len()` is claimed once per dispatch, so this is the only
            // reference to the item, and `dispatch` returns only after the task has ended.
            let item = unsafe { &mut *first.at(index) };
            f(index, item);
        };
        self.dispatch(items.len(), &job, None)
    }

    fn dispatch(
        &mut self,
        n_tasks: usize,
        job: &(dyn Fn(usize, usize) + Sync),
        aside: Option<Aside<'_>>,
    ) -> Result<(), PoolError> {
        let begin = Instant::now();
        let with_spare = aside.as_ref().is_some_and(|aside| aside.is_long);
        if !with_spare && (self.n_threads == 1 || n_tasks <= 1) {
            if let Some(aside) = aside {
                (aside.run)();
            }
            let begin = Instant::now();
            for index in 0..n_tasks {
                self.shared.run(|| job(index, 0));
            }
            self.took = begin.elapsed();
        } else {
            let here = std::process::id();
            if here != self.process {
                return Err(PoolError::Forked { owner: self.process, here });
            }
            if with_spare && self.workers.len() < self.n_threads {
                // Without it, everything is done by the others.
                let _ = self.start_worker();
            }
            let idle = begin.saturating_duration_since(self.ended());
            let n_running = self.n_threads + usize::from(with_spare);
            // With fewer cores than threads, looking takes the core from the thread that is waited for.
            let can_look = n_running <= self.cores;
            let patience = match can_look && idle <= WORTH_LOOKING {
                true => (2 * idle).clamp(*PATIENCE.start(), *PATIENCE.end()),
                false => Duration::ZERO,
            };
            self.shared.patience.store(patience.as_nanos() as u64, Ordering::Relaxed);
            let n_tasks = u32::try_from(n_tasks).expect("fewer than 2^32 items");
            self.dispatch_to_workers(n_tasks, job, n_running - 1, aside);
            self.wait(if can_look { *PATIENCE.end() } else { Duration::ZERO });
            self.took = self.ended().saturating_duration_since(begin);
        }
        let panic = self.shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        panic.map_or(Ok(()), |message| Err(PoolError::Panicked(message)))
    }

    /// When the last task so far ended.
    fn ended(&self) -> Instant {
        *self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch_to_workers(
        &self,
        n_tasks: u32,
        job: &(dyn Fn(usize, usize) + Sync),
        n_workers: usize,
        aside: Option<Aside<'_>>,
    ) {
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. The pointer is followed by holders of a claim alone, and whoever
        // calls this waits for every claimed task.
        let job =
            unsafe { std::mem::transmute::<*const (dyn Fn(usize, usize) + Sync + '_), *const Job>(job) };
        // SAFETY: every task of the last job has finished, so nobody holds a claim and nobody reads `posted`.
        unsafe { *shared.posted.get() = Some(Posted { job, dispatcher: thread::current() }) };
        shared.unfinished.store(n_tasks, Ordering::Relaxed);
        shared.unclaimed.store(n_tasks, Ordering::Release);
        let n_left = n_tasks as usize - usize::from(aside.is_none());
        for worker in self.workers.iter().take(n_workers.min(n_left)) {
            worker.thread().unpark();
        }
        if let Some(aside) = aside {
            (aside.run)();
        }
        while shared.run_claimed(0) {}
    }

    /// Waits for claimed tasks.
    fn wait(&self, patience: Duration) {
        let is_done = || self.shared.unfinished.load(Ordering::Acquire) == 0;
        let start = Instant::now();
        while !look(is_done) {
            if start.elapsed() >= patience {
                thread::park();
            }
        }
    }
}

/// Whether something is so after a few looks.
fn look(mut is_so: impl FnMut() -> bool) -> bool {
    (0..ROUNDS).any(|_| {
        let is_so = is_so();
        if !is_so {
            std::hint::spin_loop();
        }
        is_so
    })
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // In a fork there is nobody to join, and even detaching touches memory of threads that are gone.
            self.workers.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.stop.store(true, Ordering::Release);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker catches the panics of its tasks, so there is no outcome to look at.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn work(&self, thread: usize) {
        let mut idle_since = Instant::now();
        while !self.stop.load(Ordering::Acquire) {
            if look(|| self.run_claimed(thread)) {
                idle_since = Instant::now();
            } else if idle_since.elapsed() >= Duration::from_nanos(self.patience.load(Ordering::Relaxed)) {
                thread::park();
                idle_since = Instant::now();
            }
        }
    }

    /// Claims a task and runs it; `false` when none is left.
    fn run_claimed(&self, thread: usize) -> bool {
        let claim = |left: u32| left.checked_sub(1);
        let Ok(left) = self.unclaimed.fetch_update(Ordering::AcqRel, Ordering::Relaxed, claim) else {
            return false;
        };
        // SAFETY: a claim is held, so the dispatcher waits and `posted` is not written meanwhile.
        let posted = unsafe { (*self.posted.get()).as_ref() }.expect("a job is posted before its tasks");
        let dispatcher = posted.dispatcher.clone();
        // SAFETY: as above: the job outlives every claim.
        let job = unsafe { &*posted.job };
        self.run(|| job(left as usize - 1, thread));
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            dispatcher.unpark();
        }
        true
    }

    fn run(&self, task: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(task)) {
            let message = panic_message(&*payload);
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
        }
    }
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// The start of a slice of which every task takes its own part.
struct Disjoint<T>(*mut T);

impl<T> Disjoint<T> {
    /// # Safety
    /// `index` is inside the slice or one behind its end.
    unsafe fn at(&self, index: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index) }
    }
}

// SAFETY: tasks make references to disjoint parts only, and the parts may move to another thread.
unsafe impl<T: Send> Sync for Disjoint<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_is_refused_and_joins_nobody() {
        let mut pool = Pool::new(2).unwrap();
        let here = std::process::id();
        pool.process = here + 1;
        let refused = pool.for_each(&mut [(), ()], |_, ()| panic!("nothing may run"));
        assert_eq!(refused, Err(PoolError::Forked { owner: here + 1, here }));
        let shared = Arc::clone(&pool.shared);
        drop(pool);
        assert!(
            !shared.stop.load(Ordering::Acquire),
            "dropping must leave the threads of the other process alone"
        );

        shared.stop.store(true, Ordering::Release);
    }
}
