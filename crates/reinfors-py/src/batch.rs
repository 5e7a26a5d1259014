//! `PpoBatch`: the records of one window as NumPy arrays, the observations still in the engine's memory.

use crate::arguments::{count, text, wrong_value};
use crate::arrays::{hand_over, lend};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use reinfors_core::ObservationSpace;
use reinfors_engine::{ActionArray, Lag, PpoBatch, Telemetry};

/// Fields with one row per record.
const FIELDS: [&str; 12] = [
    "obs",
    "actions",
    "behavior_log_probs",
    "values",
    "rewards",
    "advantages",
    "returns",
    "terminated",
    "truncated",
    "policy_version",
    "slot",
    "step",
];

/// Records of PPO: the fields that have one row per record.
#[pyclass(name = "PpoRecords", module = "reinfors._reinfors", subclass, frozen)]
pub(crate) struct PyPpoRecords {
    /// In the order of [`FIELDS`].
    fields: [Py<PyAny>; FIELDS.len()],
    len: usize,
}

/// One getter per field, by its place in [`FIELDS`].
macro_rules! field_getters {
    ($($place:literal $name:ident,)*) => {
        #[pymethods]
        impl PyPpoRecords {
            $(
                #[getter]
                fn $name(&self, py: Python<'_>) -> Py<PyAny> {
                    self.fields[$place].clone_ref(py)
                }
            )*

            fn __len__(&self) -> usize {
                self.len
            }

            fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
                self.fields.iter().try_for_each(|field| visit.call(field))
            }
        }
    };
}

field_getters! {
    0 obs, 1 actions, 2 behavior_log_probs, 3 values, 4 rewards, 5 advantages, 6 returns, 7 terminated,
    8 truncated, 9 policy_version, 10 slot, 11 step,
}

/// What PPO trains on: the records of one window, and what opens the next.
#[pyclass(name = "PpoBatch", module = "reinfors._reinfors", extends = PyPpoRecords, frozen, get_all)]
pub(crate) struct PyPpoBatch {
    last_obs: Py<PyAny>,
    last_values: Py<PyAny>,
    telemetry: Py<PyDict>,
    n_games: usize,
    n_steps: usize,
}

/// A native batch as Python's, its observations of this space.
pub(crate) fn to_python(
    py: Python<'_>,
    batch: PpoBatch,
    space: &ObservationSpace,
) -> PyResult<Py<PyPpoBatch>> {
    let len = batch.len();
    let actions = match batch.actions {
        ActionArray::Discrete(indices) => PyArray1::from_vec(py, indices).into_any(),
        ActionArray::Continuous { dimensions, values } => hand_over(py, values, &[len, dimensions])?,
    };
    let fields = [
        lend(py, &batch.obs, space)?,
        actions,
        PyArray1::from_vec(py, batch.behavior_log_probs).into_any(),
        PyArray1::from_vec(py, batch.values).into_any(),
        PyArray1::from_vec(py, batch.rewards).into_any(),
        PyArray1::from_vec(py, batch.advantages).into_any(),
        PyArray1::from_vec(py, batch.returns).into_any(),
        PyArray1::from_vec(py, batch.terminated).into_any(),
        PyArray1::from_vec(py, batch.truncated).into_any(),
        PyArray1::from_vec(py, batch.policy_version).into_any(),
        PyArray1::from_vec(py, batch.slot).into_any(),
        PyArray1::from_vec(py, batch.step).into_any(),
    ];
    let records = PyPpoRecords { fields: fields.map(Bound::unbind), len };
    let rest = PyPpoBatch {
        last_obs: lend(py, &batch.last_obs, space)?.unbind(),
        last_values: PyArray1::from_vec(py, batch.last_values).into_any().unbind(),
        telemetry: telemetry(py, &batch.telemetry)?.unbind(),
        n_games: batch.n_games,
        n_steps: batch.n_steps,
    };
    Py::new(py, PyClassInitializer::from(records).add_subclass(rest))
}

#[pymethods]
impl PyPpoBatch {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.last_obs)?;
        visit.call(&self.telemetry)
    }

    #[pyo3(signature = (name, /))]
    fn time_major<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !FIELDS.contains(&text("name", name)?.as_str()) {
            return Err(wrong_value("name", &format!("one of {}", FIELDS.join(", ")), name));
        }
        let batch = slf.get();
        each_part(&slf.getattr(name.cast()?)?, |array| {
            let shape: Vec<usize> = array.getattr("shape")?.extract()?;
            let dims: Vec<usize> =
                [batch.n_steps, batch.n_games].into_iter().chain(shape.into_iter().skip(1)).collect();
            array.call_method1("reshape", (PyTuple::new(slf.py(), dims)?,))
        })
    }

    #[pyo3(signature = (size, seed=None))]
    fn minibatches(
        slf: &Bound<'_, Self>,
        size: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyMinibatches> {
        let len = slf.len()?;
        let size = count("size", size, 1..=i64::MAX)?;
        // NumPy knows how to shuffle, what a seed is, and how to refuse what is none.
        let numpy = slf.py().import("numpy")?;
        let rng = numpy.getattr("random")?.call_method1("default_rng", (seed,))?;
        let order = rng.call_method1("permutation", (len,))?;
        Ok(PyMinibatches { records: slf.clone().into_super().unbind(), order: order.unbind(), size, at: 0 })
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!(
            "PpoBatch({} records: {} steps of {} games)",
            slf.len()?,
            slf.get().n_steps,
            slf.get().n_games
        ))
    }
}

/// What `f` makes of a field, or of each part of one that is a dictionary.
fn each_part<'py>(
    field: &Bound<'py, PyAny>,
    f: impl Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Ok(parts) = field.cast::<PyDict>() else { return f(field) };
    let made = PyDict::new(field.py());
    for (name, part) in parts {
        made.set_item(name, f(&part)?)?;
    }
    Ok(made.into_any())
}

/// Every record once, in random order, some at a time.
#[pyclass(name = "Minibatches", module = "reinfors._reinfors")]
pub(crate) struct PyMinibatches {
    records: Py<PyPpoRecords>,
    order: Py<PyAny>,
    size: usize,
    at: usize,
}

#[pymethods]
impl PyMinibatches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<PyPpoRecords>> {
        let records = self.records.get();
        if self.at >= records.len {
            return Ok(None);
        }
        let end = self.at.saturating_add(self.size).min(records.len);
        let rows =
            self.order.bind(py).get_item(pyo3::types::PySlice::new(py, self.at as isize, end as isize, 1))?;
        let taken = records.fields.iter().map(|field| {
            let taken = each_part(field.bind(py), |array| array.get_item(&rows))?;
            Ok(taken.unbind())
        });
        let fields: Vec<Py<PyAny>> = taken.collect::<PyResult<_>>()?;
        let len = end - self.at;
        self.at = end;
        Ok(fields.try_into().ok().map(|fields| PyPpoRecords { fields, len }))
    }
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
