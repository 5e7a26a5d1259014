//! `Batch`: the records of one window as NumPy arrays, the observations still in the engine's memory, and what
//! belongs to the window as a whole.

use crate::arguments::{count, optional_count, text, wrong_value};
use crate::arrays::{hand_over, lend};
use crate::off_policy;
use crate::records::{Fields, Observations, PyMinibatches, PyRecords, each_part};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use reinfors_core::ObservationSpace;
use reinfors_engine::{ActionArray, Batch, Lag, Records, Telemetry};
use std::sync::Arc;

/// The records of one window, and what belongs to the window as a whole.
#[pyclass(name = "Batch", module = "reinfors._reinfors", extends = PyRecords, frozen)]
pub(crate) struct PyBatch {
    /// What has not one row per record, by name.
    whole: Fields,
    /// Of V-trace, the two clips.
    pub(crate) clips: Option<(f64, f64)>,
    #[pyo3(get)]
    telemetry: Py<PyDict>,
    #[pyo3(get)]
    pub(crate) n_slots: usize,
    #[pyo3(get)]
    pub(crate) n_steps: usize,
}

/// A native batch as Python's, its observations of this space.
pub(crate) fn to_python(py: Python<'_>, batch: Batch, space: &ObservationSpace) -> PyResult<Py<PyBatch>> {
    let (len, state_shape) = (batch.len(), batch.state_shape);
    let states = |states: Vec<f32>| {
        let rows = states.len() / state_shape.iter().product::<usize>().max(1);
        Ok::<_, PyErr>(hand_over(py, states, &[&[rows], &state_shape[..]].concat())?.unbind())
    };
    let floats = |numbers: Vec<f32>| PyArray1::from_vec(py, numbers).into_any().unbind();
    let actions = match batch.actions {
        ActionArray::Discrete(indices) => PyArray1::from_vec(py, indices).into_any(),
        ActionArray::Continuous { dimensions, values } => hand_over(py, values, &[len, dimensions])?,
    };
    let mut fields: Fields =
        vec![("obs", lend(py, &batch.obs, space)?.unbind()), ("actions", actions.unbind())];
    let mut whole: Fields = vec![("last_obs", lend(py, &batch.last_obs, space)?.unbind())];
    let has_state = !state_shape.is_empty();
    let (mut next, mut clips) = (None, None);
    let learner = match batch.records {
        Records::Ppo(made) => {
            fields.push(("behavior_log_probs", floats(made.behavior_log_probs)));
            fields.push(("values", floats(made.values)));
            fields.push(("advantages", floats(made.advantages)));
            fields.push(("returns", floats(made.returns)));
            whole.push(("last_values", floats(made.last_values)));
            "Ppo"
        }
        Records::Vtrace(made) => {
            clips = Some((made.rho_clip, made.c_clip));
            fields.push(("behavior_log_probs", floats(made.behavior_log_probs)));
            fields.push(("discounts", floats(made.discounts)));
            let places = PyArray1::from_vec(py, (0..made.final_rows.len() as i64).collect());
            let seen = Observations { seen: made.final_obs, space: space.clone() };
            whole.push(("final_obs", seen.at(places.as_any())?.unbind()));
            whole.push(("final_rows", PyArray1::from_vec(py, made.final_rows).into_any().unbind()));
            if has_state {
                whole.push(("final_states", states(made.final_states)?));
            }
            "Vtrace"
        }
        Records::Transitions(made) => {
            fields.push(("discounts", floats(made.discounts)));
            fields.push(("next_obs", PyArray1::from_vec(py, made.next_rows).into_any().unbind()));
            next = Some(Arc::new(Observations { seen: made.seen, space: space.clone() }));
            if has_state {
                fields.push(("next_states", states(made.next_states)?));
            }
            "Transitions"
        }
    };
    if has_state {
        fields.push(("states", states(batch.states)?));
        whole.push(("last_states", states(batch.last_states)?));
    }
    fields.push(("rewards", floats(batch.rewards)));
    fields.push(("terminated", PyArray1::from_vec(py, batch.terminated).into_any().unbind()));
    fields.push(("truncated", PyArray1::from_vec(py, batch.truncated).into_any().unbind()));
    fields.push(("policy_version", PyArray1::from_vec(py, batch.policy_version).into_any().unbind()));
    fields.push(("slot", PyArray1::from_vec(py, batch.slot).into_any().unbind()));
    fields.push(("step", PyArray1::from_vec(py, batch.step).into_any().unbind()));
    let rest = PyBatch {
        whole,
        clips,
        telemetry: telemetry(py, &batch.telemetry)?.unbind(),
        n_slots: batch.n_slots,
        n_steps: batch.n_steps,
    };
    Py::new(py, PyClassInitializer::from(PyRecords { fields, next, learner, len }).add_subclass(rest))
}

impl PyBatch {
    pub(crate) fn whole(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
        let found = slf.get().whole.iter().find(|(known, _)| *known == name);
        let (_, field) = found.ok_or_else(|| slf.as_super().get().absent(name))?;
        Ok(field.clone_ref(slf.py()))
    }
}

#[pymethods]
impl PyBatch {
    #[getter]
    fn last_obs(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::whole(slf, "last_obs")
    }

    #[getter]
    fn last_values(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::whole(slf, "last_values")
    }

    #[getter]
    fn last_states(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::whole(slf, "last_states")
    }

    #[getter]
    fn final_rows(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::whole(slf, "final_rows")
    }

    #[getter]
    fn final_obs(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::whole(slf, "final_obs")
    }

    #[getter]
    fn final_states(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::whole(slf, "final_states")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.whole.iter().try_for_each(|(_, field)| visit.call(field))?;
        visit.call(&self.telemetry)
    }

    #[pyo3(signature = (target_log_probs, values, last_values, final_values=None))]
    fn vtrace<'py>(
        slf: &Bound<'py, Self>,
        target_log_probs: &Bound<'py, PyAny>,
        values: &Bound<'py, PyAny>,
        last_values: &Bound<'py, PyAny>,
        final_values: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        off_policy::of_batch(slf, target_log_probs, values, last_values, final_values)
    }

    #[pyo3(signature = (name, /))]
    fn time_major<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (batch, records) = (slf.get(), slf.as_super().get());
        let known = records.names();
        let given = text("name", name)?;
        if !known.contains(&given.as_str()) {
            return Err(wrong_value("name", &format!("one of {}", known.join(", ")), name));
        }
        each_part(&records.field(slf.py(), &given)?, |array| {
            let shape: Vec<usize> = array.getattr("shape")?.extract()?;
            let dims = [&[batch.n_steps, batch.n_slots], &shape[1..]].concat();
            array.call_method1("reshape", (PyTuple::new(slf.py(), dims)?,))
        })
    }

    #[pyo3(signature = (size, seed=None))]
    fn minibatches(
        slf: &Bound<'_, Self>,
        size: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyMinibatches> {
        let size = count("size", size, 1..=i64::MAX)?;
        let order = permutation(slf.py(), slf.len()?, seed)?;
        Ok(PyMinibatches::new(slf.as_super(), &order, size))
    }

    #[pyo3(signature = (size, length=None, seed=None))]
    fn sequences(
        slf: &Bound<'_, Self>,
        size: &Bound<'_, PyAny>,
        length: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyMinibatches> {
        let (py, Self { n_steps, n_slots, .. }) = (slf.py(), slf.get());
        let size = count("size", size, 1..=i64::MAX)?;
        let steps = optional_count("length", length, 1..=i64::MAX)?.unwrap_or(*n_steps);
        if let Some(length) = length.filter(|_| !n_steps.is_multiple_of(steps)) {
            return Err(wrong_value("length", &format!("a divisor of the {n_steps} steps"), length));
        }
        let order: Vec<usize> = permutation(py, n_slots * (n_steps / steps), seed)?.extract()?;
        let first = |sequence: usize| sequence / n_slots * steps * n_slots + sequence % n_slots;
        let places: Vec<i64> = order
            .iter()
            .flat_map(|sequence| (0..steps).map(move |step| (first(*sequence) + step * n_slots) as i64))
            .collect();
        let places = hand_over(py, places, &[order.len(), steps])?;
        Ok(PyMinibatches::new(slf.as_super(), &places, size))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let Self { n_steps, n_slots, .. } = slf.get();
        let learner = slf.as_super().get().learner;
        Ok(format!("Batch({} records of {learner}: {n_steps} steps of {n_slots} slots)", slf.len()?))
    }
}

/// NumPy knows how to shuffle, what a seed is, and how to refuse what is none.
fn permutation<'py>(
    py: Python<'py>,
    len: usize,
    seed: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let rng = py.import("numpy")?.getattr("random")?.call_method1("default_rng", (seed,))?;
    rng.call_method1("permutation", (len,))
}

fn telemetry<'py>(py: Python<'py>, telemetry: &Telemetry) -> PyResult<Bound<'py, PyDict>> {
    let episodes = PyList::empty(py);
    for episode in &telemetry.episodes {
        let row = PyDict::new(py);
        row.set_item("return", episode.total_reward)?;
        row.set_item("length", episode.length)?;
        row.set_item("ended", episode.ended)?;
        row.set_item("slot", episode.slot)?;
        row.set_item("seed", episode.seed)?;
        episodes.append(row)?;
    }
    let seconds = PyDict::new(py);
    seconds.set_item("step", telemetry.seconds.step)?;
    seconds.set_item("render", telemetry.seconds.render)?;
    seconds.set_item("infer", telemetry.seconds.infer)?;
    seconds.set_item("wait", telemetry.seconds.wait)?;
    seconds.set_item("total", telemetry.seconds.total)?;
    seconds.set_item("queue", telemetry.seconds.queue)?;
    seconds.set_item("learner_wait", telemetry.seconds.learner_wait)?;
    let dict = PyDict::new(py);
    dict.set_item("window", telemetry.window)?;
    dict.set_item("episodes", episodes)?;
    dict.set_item("seconds", seconds)?;
    dict.set_item("steps_per_second", telemetry.steps_per_second)?;
    dict.set_item("lag", lag(py, &telemetry.lag)?)?;
    dict.set_item("lag_in_updates", lag(py, &telemetry.lag_in_updates)?)?;
    if let Some(epsilon) = telemetry.epsilon {
        dict.set_item("epsilon", epsilon)?;
    }
    dict.set_item("bottleneck", telemetry.bottleneck.name())?;
    dict.set_item("advice", telemetry.advice)?;
    Ok(dict)
}

fn lag<'py>(py: Python<'py>, lag: &Lag) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("min", lag.min)?;
    dict.set_item("mean", lag.mean)?;
    dict.set_item("max", lag.max)?;
    dict.set_item("histogram", lag.histogram.iter().copied().into_py_dict(py)?)?;
    Ok(dict)
}
