//! `Records`: a table of named fields with one row per record, and the minibatches that are taken of it.
//!
//! Which fields there are is the learner's and the policy's to say, so the class is one for all. What was seen
//! next is in the batch already for the most part: it is put together when somebody asks for it.

use crate::arguments::OrRaise;
use crate::arrays::{by_part, hand_over};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use reinfors_core::ObservationSpace;
use reinfors_engine::observation::ObservationArray;
use reinfors_engine::{EngineError, Gather};
use std::sync::Arc;

/// Arrays by name.
pub(crate) type Fields = Vec<(&'static str, Py<PyAny>)>;

/// The fields that have one row per record.
#[pyclass(name = "Records", module = "reinfors._reinfors", subclass, frozen)]
pub(crate) struct PyRecords {
    /// Arrays by name; of the next observations, their places.
    pub(crate) fields: Fields,
    pub(crate) next: Option<Arc<Observations>>,
    pub(crate) learner: &'static str,
    pub(crate) len: usize,
}

/// Observations that are put together when somebody asks for them.
pub(crate) struct Observations {
    /// Where from.
    pub(crate) seen: Gather,
    /// How they look.
    pub(crate) space: ObservationSpace,
}

impl PyRecords {
    pub(crate) fn absent(&self, name: &str) -> PyErr {
        let fields = self.names().join(", ");
        let learner = self.learner;
        PyAttributeError::new_err(format!("a batch of {learner} has no {name}; its fields are {fields}"))
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.fields.iter().map(|(name, _)| *name).collect()
    }

    /// A field as it is stored.
    pub(crate) fn raw<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map(|(_, field)| field.bind(py).clone()).ok_or_else(|| self.absent(name))
    }

    pub(crate) fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let field = self.raw(py, name)?;
        match &self.next {
            Some(next) if name == "next_obs" => next.at(&field),
            _ => Ok(field),
        }
    }

    /// The records at `rows`, an array of any shape.
    fn taken(&self, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let take = |(name, field): &(&'static str, Py<PyAny>)| {
            let taken = each_part(field.bind(rows.py()), |array| array.get_item(rows))?;
            Ok((*name, taken.unbind()))
        };
        Ok(Self {
            fields: self.fields.iter().map(take).collect::<PyResult<_>>()?,
            next: self.next.clone(),
            learner: self.learner,
            len: rows.getattr("size")?.extract()?,
        })
    }
}

impl Observations {
    /// The observations at these places, shaped as they are.
    pub(crate) fn at<'py>(&self, places: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = places.py();
        let places = places.cast::<PyArrayDyn<i64>>()?;
        let (shape, places) = (places.shape().to_vec(), places.to_vec()?);
        by_part(py, &self.space, |number, part| {
            let made = py.detach(|| {
                let one = ObservationSpace::of(part.clone());
                let mut made = ObservationArray::zeros(&one, places.len())?;
                self.seen.copy_to(number, &places, made[0].bytes_mut());
                Ok::<_, EngineError>(made)
            });
            let dims = [&shape[..], &part.shape].concat();
            match made.or_raise()?.pop() {
                Some(ObservationArray::U8(numbers)) => hand_over(py, numbers, &dims),
                Some(ObservationArray::F32(numbers)) => hand_over(py, numbers, &dims),
                None => Ok(py.None().into_bound(py)),
            }
        })
    }
}

/// One getter per field there can be.
macro_rules! field_getters {
    ($($name:ident)*) => {
        #[pymethods]
        impl PyRecords {
            $(
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.field(py, stringify!($name))
                }
            )*

            #[getter]
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                PyTuple::new(py, self.names())
            }

            /// Needs torch, and imports it.
            #[pyo3(signature = (device=None))]
            fn torch<'py>(
                slf: &Bound<'py, Self>,
                device: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let tensors = slf.py().import("reinfors.recipes.tensors")?;
                tensors.getattr("Tensors")?.call1((slf, device))
            }

            fn __len__(&self) -> usize {
                self.len
            }

            fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
                self.fields.iter().try_for_each(|(_, field)| visit.call(field))
            }
        }
    };
}

field_getters! {
    obs actions behavior_log_probs values rewards advantages returns discounts next_obs terminated truncated
    policy_version slot step states next_states indices weights
}

/// What `f` makes of a field, or of each part of one that is a dictionary.
pub(crate) fn each_part<'py>(
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

/// Records some at a time, each once, in random order: rows of `order`, which hold the places of one record or
/// of one sequence.
#[pyclass(name = "Minibatches", module = "reinfors._reinfors")]
pub(crate) struct PyMinibatches {
    records: Py<PyRecords>,
    order: Py<PyAny>,
    size: usize,
    at: usize,
}

impl PyMinibatches {
    pub(crate) fn new(records: &Bound<'_, PyRecords>, order: &Bound<'_, PyAny>, size: usize) -> Self {
        Self { records: records.clone().unbind(), order: order.clone().unbind(), size, at: 0 }
    }
}

#[pymethods]
impl PyMinibatches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<PyRecords>> {
        let order = self.order.bind(py);
        let len = order.len()?;
        if self.at >= len {
            return Ok(None);
        }
        let end = self.at.saturating_add(self.size).min(len);
        let rows = order.get_item(pyo3::types::PySlice::new(py, self.at as isize, end as isize, 1))?;
        self.at = end;
        // The places of a sequence lie along the first axis: a single place has no other.
        self.records.get().taken(&rows.getattr("T")?).map(Some)
    }
}
