//! What the next episodes will need, made ahead of time by a thread of its own: a row that ends finds the
//! costly part of its next world ready.
//!
//! Nothing but time depends on whether it is: what an errand has not made, the reset makes itself, and nobody
//! waits for an errand. The thread starts with the first one, so that a game without any has none.

use crate::engine::lock;
use reinfors_core::{Errand, Ready};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Runs errands in the order in which they were given. Dropping it forgets those that wait and joins the
/// thread.
pub(crate) struct Errands {
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
    process: u32,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Errand, Arc<Mutex<Progress>>)>,
    is_ended: bool,
}

/// How far an errand is.
enum Progress {
    Waiting,
    Running,
    Done(Ready),
    Dropped,
}

/// An errand that was given.
pub(crate) struct Pending(Arc<Mutex<Progress>>);

impl Errands {
    pub fn new() -> Self {
        Self { queue: Arc::default(), thread: Mutex::new(None), process: std::process::id() }
    }

    /// Has an errand run at some time; `None` where there is no thread to run it, in a fork for instance.
    pub fn give(&self, errand: Errand) -> Option<Pending> {
        if self.process != std::process::id() {
            return None;
        }
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let queue = Arc::clone(&self.queue);
            let started = thread::Builder::new().name("reinfors-errands".into()).spawn(move || queue.run());
            *thread = Some(started.ok()?);
        }
        drop(thread);
        let progress = Arc::new(Mutex::new(Progress::Waiting));
        lock(&self.queue.state).waiting.push_back((errand, Arc::clone(&progress)));
        self.queue.changed.notify_one();
        Some(Pending(progress))
    }
}

impl Drop for Errands {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if self.process != std::process::id() {
            // In a fork there is nobody to join, and even detaching touches memory of a thread that is gone.
            std::mem::forget(thread);
            return;
        }
        let forgotten = {
            let mut state = lock(&self.queue.state);
            state.is_ended = true;
            std::mem::take(&mut state.waiting)
        };
        drop(forgotten);
        self.queue.changed.notify_all();
        if let Some(thread) = thread {
            // It catches the panics of errands, so there is no outcome to look at.
            let _ = thread.join();
        }
    }
}

impl Queue {
    /// The life of the thread.
    fn run(&self) {
        while let Some((errand, progress)) = self.next() {
            let is_wanted = {
                let mut progress = lock(&progress);
                let is_wanted = matches!(*progress, Progress::Waiting);
                if is_wanted {
                    *progress = Progress::Running;
                }
                is_wanted
            };
            if is_wanted {
                // A panic is left to the reset, which will meet it again.
                let made = catch_unwind(AssertUnwindSafe(errand));
                *lock(&progress) = made.map_or(Progress::Dropped, Progress::Done);
            }
        }
    }

    fn next(&self) -> Option<(Errand, Arc<Mutex<Progress>>)> {
        let mut state = lock(&self.state);
        loop {
            if state.is_ended {
                return None;
            }
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pending {
    /// What came of it, if it is done. One that is not will not be asked for again.
    pub fn take(self) -> Option<Ready> {
        // Never waits: in a fork the lock may be held by a thread that does not exist there.
        let mut progress = self.0.try_lock().ok()?;
        match std::mem::replace(&mut *progress, Progress::Dropped) {
            Progress::Done(ready) => Some(ready),
            Progress::Waiting | Progress::Running | Progress::Dropped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// An errand that waits for its sender and makes a number.
    fn gated(number: u32) -> (Errand, std::sync::mpsc::Sender<()>) {
        let (open, gate) = channel();
        let errand = move || -> Ready {
            let _ = gate.recv();
            Box::new(number)
        };
        (Box::new(errand), open)
    }

    fn number(ready: Option<Ready>) -> Option<u32> {
        ready.map(|ready| *ready.downcast().unwrap())
    }

    #[test]
    fn what_is_done_is_there_and_what_is_not_is_nobodys() {
        let errands = Errands::new();
        let (first, open_first) = gated(1);
        let (second, open_second) = gated(2);
        let (first, second) = (errands.give(first).unwrap(), errands.give(second).unwrap());
        let third = errands.give(Box::new(|| Box::new(3_u32))).unwrap();
        assert_eq!(number(second.take()), None, "the first is still running");
        open_first.send(()).unwrap();
        // The second is not run, so that its gate stays shut without holding the third up.
        let done = |pending: &Pending| matches!(*lock(&pending.0), Progress::Done(_));
        while !done(&first) || !done(&third) {
            thread::yield_now();
        }
        assert_eq!((number(first.take()), number(third.take())), (Some(1), Some(3)));
        drop(open_second);
    }

    #[test]
    fn a_panic_is_nothing_made_and_others_are_run() {
        let errands = Errands::new();
        let broken = errands.give(Box::new(|| panic!("broken"))).unwrap();
        let whole = errands.give(Box::new(|| Box::new(4_u32))).unwrap();
        while !matches!(*lock(&whole.0), Progress::Done(_)) {
            thread::yield_now();
        }
        assert_eq!((number(broken.take()), number(whole.take())), (None, Some(4)));
    }

    #[test]
    fn those_that_wait_are_forgotten_with_their_owner() {
        let errands = Errands::new();
        let (running, open) = gated(1);
        let (waiting, _shut) = gated(2);
        let (running, waiting) = (errands.give(running).unwrap(), errands.give(waiting).unwrap());
        while !matches!(*lock(&running.0), Progress::Running) {
            thread::yield_now();
        }
        // Not before the owner is going: the second would be run, and its gate stays shut.
        let queue = Arc::clone(&errands.queue);
        let opener = thread::spawn(move || {
            while !lock(&queue.state).is_ended {
                thread::yield_now();
            }
            drop(open);
        });
        drop(errands);
        opener.join().unwrap();
        assert_eq!((number(running.take()), number(waiting.take())), (Some(1), None));
    }

    #[test]
    fn a_fork_runs_none_and_joins_nobody() {
        let mut errands = Errands::new();
        let (running, open) = gated(1);
        errands.give(running).unwrap();
        errands.process += 1;
        assert!(errands.give(Box::new(|| Box::new(()))).is_none());
        drop(errands);
        drop(open);
    }
}
