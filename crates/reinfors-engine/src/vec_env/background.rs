//! A [`VecEnv`] whose steps may run in the background: `send` starts one, `recv` waits for what it did.
//!
//! 1. The environments travel: they are here, or with the thread that steps them, never shared. Whatever else
//!    is asked of them meanwhile is refused rather than made to wait.
//! 2. Actions are checked before they are sent, so that what is wrong with them is said at once.
//! 3. The thread is started by the first `send` and lives as long as this.

use super::{VecEnv, VecStep};
use crate::EngineError;
use crate::observation::ObservationArray;
use crate::pool::PoolError;
use reinfors_core::{Actions, CancelToken};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a step did, and what is observed after it.
pub type Stepped = (Vec<ObservationArray>, VecStep);

/// Environments and their thread.
pub struct AsyncVecEnv {
    /// `None` while a step is under way.
    env: Option<VecEnv>,
    worker: Option<Worker>,
    token: CancelToken,
    /// Whether dropping waits for the thread. That of worlds that live elsewhere may need what the dropping
    /// thread holds, an interpreter for instance.
    joins: bool,
    /// The process whose thread steps.
    process: u32,
}

struct Worker {
    orders: Sender<(VecEnv, OwnedActions)>,
    done: Receiver<(VecEnv, Result<Stepped, EngineError>)>,
    thread: JoinHandle<()>,
}

enum OwnedActions {
    Discrete(Vec<i64>),
    Continuous(Vec<f64>),
}

impl AsyncVecEnv {
    /// Steps in the background what `env` has.
    #[must_use]
    pub fn new(env: VecEnv) -> Self {
        let (token, joins) = (env.token().clone(), !env.game().spec().is_foreign);
        Self { env: Some(env), worker: None, token, joins, process: std::process::id() }
    }

    /// The environments, of which no step is under way.
    ///
    /// # Errors
    /// [`EngineError::Busy`] between `send` and `recv`.
    pub fn idle(&mut self) -> Result<&mut VecEnv, EngineError> {
        self.env.as_mut().ok_or_else(under_way)
    }

    /// Starts a step of every environment and returns.
    ///
    /// # Errors
    /// Those of [`VecEnv::step`] that concern the actions, with which nothing is started; a step that is under
    /// way; a fork.
    pub fn send(&mut self, actions: Actions<'_>) -> Result<(), EngineError> {
        self.check_process()?;
        let env = self.env.take().ok_or_else(under_way)?;
        if let Err(refused) = env.check_step(actions) {
            self.env = Some(env);
            return Err(refused);
        }
        let actions = match actions {
            Actions::Discrete(indices) => OwnedActions::Discrete(indices.to_vec()),
            Actions::Continuous(values) => OwnedActions::Continuous(values.to_vec()),
        };
        let worker = match self.worker.take().map_or_else(Worker::start, Ok) {
            Ok(worker) => self.worker.insert(worker),
            Err(refused) => {
                self.env = Some(env);
                return Err(refused);
            }
        };
        worker.orders.send((env, actions)).map_err(|_| EngineError::Internal(GONE.into()))
    }

    /// What the step that was sent did, waiting for it.
    ///
    /// # Errors
    /// [`EngineError::NotSent`] without one; what the step itself failed with; a fork.
    pub fn recv(&mut self) -> Result<Stepped, EngineError> {
        loop {
            if let Some(stepped) = self.recv_timeout(Duration::MAX)? {
                return Ok(stepped);
            }
        }
    }

    /// Like [`AsyncVecEnv::recv`], returning `None` when the step takes longer than `timeout`.
    ///
    /// # Errors
    /// Those of [`AsyncVecEnv::recv`].
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Option<Stepped>, EngineError> {
        if self.env.is_some() {
            return Err(EngineError::NotSent);
        }
        self.check_process()?;
        let worker = self.worker.as_ref().ok_or(EngineError::NotSent)?;
        match worker.done.recv_timeout(timeout) {
            Ok((env, stepped)) => {
                self.env = Some(env);
                stepped.map(Some)
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(EngineError::Internal(GONE.into())),
        }
    }

    /// Ends the environments and waits for their thread. Worlds that live elsewhere need not finish a step
    /// that is under way.
    pub fn close(mut self) {
        self.joins = true;
    }

    /// Refuses to wait for a thread that does not exist in this process.
    fn check_process(&self) -> Result<(), EngineError> {
        let here = std::process::id();
        if self.worker.is_some() && here != self.process {
            return Err(PoolError::Forked { owner: self.process, here }.into());
        }
        Ok(())
    }
}

const GONE: &str = "the thread that steps in the background has ended by an internal error";

fn under_way() -> EngineError {
    EngineError::Busy("a step is under way: recv() waits for what it did".into())
}

impl Worker {
    fn start() -> Result<Self, EngineError> {
        let (orders, ordered) = channel::<(VecEnv, OwnedActions)>();
        let (finished, done) = channel();
        let step_all = move || {
            for (mut env, actions) in ordered {
                let stepped = env.step_into_new(match &actions {
                    OwnedActions::Discrete(indices) => Actions::Discrete(indices),
                    OwnedActions::Continuous(values) => Actions::Continuous(values),
                });
                // Nobody waits any more: the environments end here.
                if finished.send((env, stepped)).is_err() {
                    break;
                }
            }
        };
        let thread = thread::Builder::new()
            .name("reinfors-step".into())
            .spawn(step_all)
            .map_err(|error| EngineError::Internal(format!("cannot start the stepping thread: {error}")))?;
        Ok(Self { orders, done, thread })
    }
}

impl Drop for AsyncVecEnv {
    fn drop(&mut self) {
        let Some(Worker { orders, done, thread }) = self.worker.take() else { return };
        if std::process::id() != self.process {
            // In a fork the thread does not exist, and even detaching it touches memory that is gone.
            std::mem::forget((orders, done, thread));
            return;
        }
        drop((orders, done));
        self.token.cancel();
        if self.joins {
            // The pool catches the panics of games; there is no outcome to look at.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reset, vec_env};
    use super::super::{Autoreset, VecEnv};
    use super::*;
    use crate::error::EngineErrorKind;

    fn started(n_threads: usize) -> VecEnv {
        let mut env = vec_env(5, n_threads, Autoreset::SameStep);
        reset(&mut env, &[Some(3); 5]);
        env
    }

    #[test]
    fn what_is_received_is_what_a_step_returns() {
        let mut plain = started(1);
        let mut background = AsyncVecEnv::new(started(3));
        for step in 0..30 {
            let actions = [step % 10, 9, 0, 1, step % 3];
            background.send(Actions::Discrete(&actions)).unwrap();
            let expected = plain.step_into_new(Actions::Discrete(&actions)).unwrap();
            assert_eq!(background.recv().unwrap(), expected);
        }
        background.send(Actions::Discrete(&[1; 5])).unwrap();
        assert_ne!(background.recv().unwrap(), plain.step_into_new(Actions::Discrete(&[2; 5])).unwrap());
    }

    #[test]
    fn a_step_under_way_refuses_all_else_and_its_result_is_there_once() {
        let mut env = AsyncVecEnv::new(started(2));
        assert!(matches!(env.recv(), Err(EngineError::NotSent)));
        env.send(Actions::Discrete(&[1; 5])).unwrap();
        let twice = env.send(Actions::Discrete(&[1; 5])).unwrap_err();
        assert_eq!(twice.kind(), EngineErrorKind::Busy);
        assert_eq!(twice.to_string(), "a step is under way: recv() waits for what it did");
        assert!(matches!(env.idle(), Err(EngineError::Busy(_))));
        env.recv().unwrap();
        assert!(matches!(env.recv(), Err(EngineError::NotSent)));
        assert!(env.idle().is_ok());
    }

    #[test]
    fn wrong_actions_are_refused_when_sent_and_start_nothing() {
        let mut env = AsyncVecEnv::new(started(1));
        let before = env.idle().unwrap().save(0).unwrap();
        for wrong in
            [Actions::Discrete(&[1; 4]), Actions::Discrete(&[1, 1, 1, 1, 10]), Actions::Continuous(&[0.0; 5])]
        {
            env.send(wrong).unwrap_err();
            assert!(matches!(env.recv(), Err(EngineError::NotSent)));
        }
        assert_eq!(env.idle().unwrap().save(0).unwrap(), before);
        let unready = AsyncVecEnv::new(vec_env(1, 1, Autoreset::Disabled)).send(Actions::Discrete(&[0]));
        assert!(matches!(unready, Err(EngineError::NotReset { env: 0 })));
    }

    #[test]
    fn dropping_and_closing_with_a_step_under_way_wait_for_it() {
        for end in [drop, AsyncVecEnv::close] {
            let mut env = AsyncVecEnv::new(started(2));
            env.send(Actions::Discrete(&[1; 5])).unwrap();
            end(env);
        }
    }

    #[test]
    fn a_fork_is_refused_and_waits_for_nobody() {
        let mut env = AsyncVecEnv::new(started(1));
        env.send(Actions::Discrete(&[1; 5])).unwrap();
        env.process += 1;
        assert!(matches!(env.recv(), Err(EngineError::Pool(PoolError::Forked { .. }))));
        env.process -= 1;
        env.recv().unwrap();
        env.process += 1;
        assert!(matches!(
            env.send(Actions::Discrete(&[1; 5])),
            Err(EngineError::Pool(PoolError::Forked { .. }))
        ));
        env.process -= 1;
    }
}
