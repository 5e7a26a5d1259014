//! `Replay`: batches of transitions in, samples of them out; what is kept and drawn is the native buffer's.

use crate::arguments::{OrRaise, count, number, seed, wrong_type, wrong_value};
use crate::arrays::{hand_over, hand_over_observations};
use crate::batch::PyBatch;
use crate::output::Output;
use crate::records::{Fields, PyRecords};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use reinfors_engine::config::fresh_seed;
use reinfors_engine::replay::{MAX_CAPACITY, MAX_SAMPLE, Replay, Transitions};
use reinfors_engine::{ActionArray, EngineError};
use std::sync::{Mutex, PoisonError};

/// The last transitions that were added.
#[pyclass(name = "Replay", module = "reinfors._reinfors", frozen)]
pub(crate) struct PyReplay {
    /// Locked without the interpreter, so that nobody who has it waits for one who wants it.
    replay: Mutex<Replay>,
    #[pyo3(get)]
    capacity: usize,
    #[pyo3(get)]
    alpha: f64,
}

impl PyReplay {
    fn with<T: Send>(&self, py: Python<'_>, f: impl FnOnce(&mut Replay) -> T + Send) -> T {
        py.detach(|| f(&mut self.replay.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The numbers of a field of a batch.
fn numbers<T: Element + Copy>(py: Python<'_>, records: &PyRecords, name: &str) -> PyResult<Vec<T>> {
    let field = records.raw(py, name)?;
    Ok(field.cast::<PyArray1<T>>()?.readonly().as_slice()?.to_vec())
}

/// A vector that the caller gives.
fn vector(value: &Bound<'_, PyAny>, name: &'static str, is_integer: bool) -> PyResult<Vec<f64>> {
    let argument = Output { duty: "update_priorities must be given", name, is_integer };
    let (mut numbers, mut shape) = (Vec::new(), Vec::new());
    argument.read(value, &[], &mut numbers, &mut shape)?;
    let [len @ 0..=MAX_CAPACITY] = shape[..] else {
        let given = PyTuple::new(value.py(), shape)?;
        let allowed = format!("one dimension of at most {MAX_CAPACITY}");
        return Err(PyValueError::new_err(format!("{name} must have {allowed}, got {given}")));
    };
    argument.read(value, &[len], &mut numbers, &mut shape)?;
    Ok(numbers)
}

#[pymethods]
impl PyReplay {
    #[new]
    #[pyo3(signature = (capacity, seed=None, alpha=None), text_signature = "(capacity, seed=None, alpha=0.0)")]
    fn new(
        py: Python<'_>,
        capacity: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        alpha: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let capacity = count("capacity", capacity, 1..=MAX_CAPACITY as i64)?;
        let seed = seed.map(|seed| self::seed("seed", seed)).transpose()?.flatten();
        let alpha = alpha.map_or(Ok(0.0), |alpha| number("alpha", alpha))?;
        let made = py.detach(|| {
            let seed = seed.map_or_else(fresh_seed, Ok)?;
            Replay::new(capacity, &seed, alpha)
        });
        Ok(Self { replay: Mutex::new(made.or_raise()?), capacity, alpha })
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        self.with(py, |replay| replay.bytes())
    }

    #[pyo3(signature = (batch, /))]
    fn add(&self, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        const ALLOWED: &str = "a Batch of the learner Transitions";
        let py = batch.py();
        let given = batch.cast::<PyBatch>().map_err(|_| wrong_type("batch", ALLOWED, batch))?;
        let records = given.as_super().get();
        let Some(observations) = &records.next else {
            return Err(wrong_value("batch", ALLOWED, batch));
        };
        let field = records.raw(py, "actions")?;
        let actions = if let Ok(indices) = field.cast::<PyArray1<i64>>() {
            ActionArray::Discrete(indices.readonly().as_slice()?.to_vec())
        } else {
            let vectors = field.cast::<PyArray2<f32>>()?;
            let values = vectors.readonly().as_slice()?.to_vec();
            ActionArray::Continuous { dimensions: vectors.shape()[1], values }
        };
        let states = |name: &str| -> PyResult<(Vec<f32>, Vec<usize>)> {
            let Ok(field) = records.raw(py, name) else { return Ok((Vec::new(), Vec::new())) };
            let shape: Vec<usize> = field.getattr("shape")?.extract()?;
            let flat = field.call_method1("reshape", (-1,))?;
            Ok((flat.cast::<PyArray1<f32>>()?.readonly().as_slice()?.to_vec(), shape[1..].to_vec()))
        };
        let ((states, state_shape), (next_states, _)) = (states("states")?, states("next_states")?);
        let batch = Transitions {
            space: &observations.space,
            seen: &observations.seen,
            n_slots: given.get().n_slots,
            step: &numbers::<i32>(py, records, "step")?,
            next_rows: &numbers::<i64>(py, records, "next_obs")?,
            actions: &actions,
            rewards: &numbers::<f32>(py, records, "rewards")?,
            discounts: &numbers::<f32>(py, records, "discounts")?,
            terminated: &numbers::<bool>(py, records, "terminated")?,
            truncated: &numbers::<bool>(py, records, "truncated")?,
            policy_version: &numbers::<i64>(py, records, "policy_version")?,
            states: [&states, &next_states],
            state_shape: &state_shape,
        };
        self.with(py, |replay| replay.add(batch)).or_raise()
    }

    #[pyo3(signature = (size, beta=None), text_signature = "($self, size, beta=0.4)")]
    fn sample(
        &self,
        py: Python<'_>,
        size: &Bound<'_, PyAny>,
        beta: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyRecords> {
        let size = count("size", size, 1..=MAX_SAMPLE as i64)?;
        let beta = beta.map_or(Ok(0.4), |beta| number("beta", beta))?;
        let drawn = self.with(py, |replay| {
            let sample = replay.sample(size, beta)?;
            let (space, state_shape) = replay.shapes().ok_or(EngineError::EmptyReplay)?;
            Ok::<_, EngineError>((sample, space.clone(), state_shape.to_vec()))
        });
        let (sample, space, state_shape) = drawn.or_raise()?;
        let actions = match sample.actions {
            ActionArray::Discrete(indices) => PyArray1::from_vec(py, indices).into_any(),
            ActionArray::Continuous { dimensions, values } => hand_over(py, values, &[size, dimensions])?,
        };
        let mut fields: Fields = vec![
            ("obs", hand_over_observations(py, sample.obs, &space, Some(size))?.unbind()),
            ("actions", actions.unbind()),
            ("rewards", PyArray1::from_vec(py, sample.rewards).into_any().unbind()),
            ("discounts", PyArray1::from_vec(py, sample.discounts).into_any().unbind()),
            ("next_obs", hand_over_observations(py, sample.next_obs, &space, Some(size))?.unbind()),
            ("terminated", PyArray1::from_vec(py, sample.terminated).into_any().unbind()),
            ("truncated", PyArray1::from_vec(py, sample.truncated).into_any().unbind()),
            ("policy_version", PyArray1::from_vec(py, sample.policy_version).into_any().unbind()),
            ("indices", PyArray1::from_vec(py, sample.indices).into_any().unbind()),
            ("weights", PyArray1::from_vec(py, sample.weights).into_any().unbind()),
        ];
        if !state_shape.is_empty() {
            let shape = [&[size], &state_shape[..]].concat();
            for (name, states) in ["states", "next_states"].into_iter().zip(sample.states) {
                fields.push((name, hand_over(py, states, &shape)?.unbind()));
            }
        }
        Ok(PyRecords { fields, next: None, learner: "Transitions", len: size })
    }

    #[pyo3(signature = (indices, priorities, /))]
    fn update_priorities(
        &self,
        py: Python<'_>,
        indices: &Bound<'_, PyAny>,
        priorities: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let indices: Vec<i64> =
            vector(indices, "indices", true)?.into_iter().map(|index| index as i64).collect();
        let priorities = vector(priorities, "priorities", false)?;
        self.with(py, |replay| replay.update_priorities(&indices, &priorities)).or_raise()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.with(py, |replay| replay.len())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Replay({} of {} transitions)", self.__len__(py), self.capacity)
    }
}
