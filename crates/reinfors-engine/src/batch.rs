//! A batch: the records of one window, row `t * n_slots + slot` in every field, and beside them the record
//! kind that the learner asked for.

use crate::EngineError;
use crate::buffer::ObservationView;
use crate::learner::Learner;
use crate::ppo::PpoRecords;
use crate::rollout::Window;
use crate::telemetry::{HandOver, Telemetry};
use crate::transitions::TransitionRecords;
use crate::vtrace::VtraceRecords;

/// Actions as they were chosen, one per record.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionArray {
    /// Indices, shape `(M,)`.
    Discrete(Vec<i64>),
    /// Vectors before they are clipped to the bounds, shape `(M, dimensions)`.
    Continuous {
        /// Numbers per action.
        dimensions: usize,
        /// `M * dimensions` numbers, C order.
        values: Vec<f32>,
    },
}

impl ActionArray {
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Discrete(indices) => indices.clear(),
            Self::Continuous { values, .. } => values.clear(),
        }
    }

    /// Appends an action that no game is given.
    pub(crate) fn push_blank(&mut self) {
        match self {
            Self::Discrete(indices) => indices.push(0),
            Self::Continuous { dimensions, values } => values.resize(values.len() + *dimensions, 0.0),
        }
    }
}

/// Records of `n_steps` steps of `n_slots` slots; `M = n_steps * n_slots`.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Slots.
    pub n_slots: usize,
    /// Steps of every slot.
    pub n_steps: usize,
    /// What the policy saw, `M` rows.
    pub obs: ObservationView,
    /// What it did: the raw sample.
    pub actions: ActionArray,
    /// Rewards; of transitions, the discounted sum over the steps of each.
    pub rewards: Vec<f32>,
    /// Whether the step (of transitions, the last one) ended the episode.
    pub terminated: Vec<bool>,
    /// Whether that step was the episode's last allowed one.
    pub truncated: Vec<bool>,
    /// Version of the policy that acted.
    pub policy_version: Vec<i64>,
    /// Which game.
    pub slot: Vec<i32>,
    /// Which step of its episode, from 0.
    pub step: Vec<i32>,
    /// What was remembered before the step, `M` times `state_shape`; empty where nothing is.
    pub states: Vec<f32>,
    /// Shape of one state; empty where nothing is remembered.
    pub state_shape: Vec<usize>,
    /// What the learner adds to the records.
    pub records: Records,
    /// The observations that open the next window, `n_slots` rows.
    pub last_obs: ObservationView,
    /// What is remembered there, `n_slots` times `state_shape`.
    pub last_states: Vec<f32>,
    /// Episodes, times, lag, advice.
    pub telemetry: Telemetry,
}

/// What each learner adds.
#[derive(Clone, Debug)]
pub enum Records {
    /// See [`PpoRecords`].
    Ppo(PpoRecords),
    /// See [`VtraceRecords`].
    Vtrace(VtraceRecords),
    /// See [`TransitionRecords`].
    Transitions(TransitionRecords),
}

impl Batch {
    /// The batch that `learner` wants of a window.
    ///
    /// # Errors
    /// [`EngineError::Overflow`] for numbers that `float32` cannot hold.
    pub(crate) fn new(
        mut window: Window,
        learner: &Learner,
        state_shape: &[usize],
    ) -> Result<Self, EngineError> {
        let n_records = window.n_steps * window.n_slots;
        let mut rewards = rounded("rewards", &window.rewards)?;
        let records = match *learner {
            Learner::Ppo { gamma, lam } => Records::Ppo(PpoRecords::new(&mut window, gamma, lam)?),
            Learner::Vtrace { gamma, rho_clip, c_clip } => {
                Records::Vtrace(VtraceRecords::new(&mut window, gamma, rho_clip, c_clip))
            }
            Learner::Transitions { n_step, gamma } => {
                let records = TransitionRecords::new(&mut window, n_step, gamma);
                rewards = rounded("rewards", &window.rewards)?;
                Records::Transitions(records)
            }
        };
        Ok(Self {
            n_slots: window.n_slots,
            n_steps: window.n_steps,
            obs: window.observations.view(0..n_records),
            last_obs: window.observations.view(n_records..n_records + window.n_slots),
            rewards,
            records,
            actions: window.actions,
            terminated: window.terminated,
            truncated: window.truncated,
            policy_version: window.versions,
            slot: window.slots,
            step: window.steps,
            states: window.states,
            state_shape: state_shape.to_vec(),
            last_states: window.last_states,
            telemetry: window.telemetry,
        })
    }

    /// Number of records `M`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether there are no records; never so for a batch an engine made.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// Adds to the telemetry what is known when the batch is handed over.
    pub(crate) fn handed_over(mut self, how: &HandOver) -> Self {
        self.telemetry.hand_over(how);
        self
    }
}

/// The numbers of a field as `float32`, all of them finite.
pub(crate) fn rounded(field: &'static str, numbers: &[f64]) -> Result<Vec<f32>, EngineError> {
    let rounded: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
    match rounded.iter().position(|number| !number.is_finite()) {
        None => Ok(rounded),
        Some(row) => Err(EngineError::Overflow { field, row, given: numbers[row] }),
    }
}
