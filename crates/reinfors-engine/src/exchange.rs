//! A question to the caller's network and what it answered.

use crate::EngineError;
use crate::buffer::ObservationView;
use crate::infer::{Answer, Infer, Inference, Memory};
use crate::slot::Slot;
use std::time::Duration;
use std::time::Instant;

/// What is told beside the observations, and the last answer.
pub(crate) struct Exchange {
    /// What an answer must be.
    pub answer: Answer,
    /// What the rows of the question remember.
    pub state: Vec<f32>,
    /// Whether they are the first of their episodes.
    pub starts: Vec<bool>,
    /// The last answer.
    pub inference: Inference,
    /// How long it took.
    pub took: Duration,
}

impl Exchange {
    /// Nothing asked yet.
    pub fn new(answer: Answer, n_slots: usize, state_size: usize) -> Self {
        Self {
            answer,
            state: Vec::with_capacity(n_slots * state_size),
            starts: Vec::with_capacity(n_slots),
            inference: Inference::default(),
            took: Duration::ZERO,
        }
    }

    /// Collects what the slots remember, for the next question.
    pub fn recall<'a>(&mut self, slots: impl Iterator<Item = &'a Slot>) {
        self.state.clear();
        self.starts.clear();
        for slot in slots {
            self.state.extend_from_slice(&slot.state);
            self.starts.push(slot.step == 0);
        }
    }

    /// Leaves what the answer remembers with the slots.
    pub fn remember<'a>(&self, slots: impl Iterator<Item = &'a mut Slot>) {
        let mut state = self.inference.state.iter();
        for number in slots.flat_map(|slot| &mut slot.state) {
            *number = state.next().map_or(0.0, |given| *given as f32);
        }
    }

    /// Calls `infer` and checks its answer.
    pub fn ask(&mut self, obs: &ObservationView, infer: &mut dyn Infer) -> Result<(), EngineError> {
        let start = Instant::now();
        let memory = Memory { state: &self.state, starts: &self.starts };
        let answered = infer.infer(obs, memory, &mut self.inference);
        self.took = start.elapsed();
        answered.map_err(EngineError::Infer)?;
        self.inference.check(obs.rows(), &self.answer)
    }
}
