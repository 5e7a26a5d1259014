//! Arrays across the border: observations lent to `infer` and in batches without a copy, results handed over,
//! and what the callers of `step` give read in.
//!
//! Its `unsafe` is one line, where NumPy is lent memory that it did not allocate.
#![allow(unsafe_code)]

use crate::arguments::{OrRaise, refused, shown, unless_interrupted};
use numpy::ndarray::{ArrayView, IxDyn};
use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use reinfors_core::{ActionSpace, Actions, Error, ObservationPart, ObservationSpace};
use reinfors_engine::ObservationView;
use reinfors_engine::observation::{Numbers, ObservationArray};

/// Keeps the memory of lent observations alive: the base object of their arrays.
#[pyclass(module = "reinfors._reinfors", frozen)]
struct LentObservations {
    view: ObservationView,
}

/// What `make` makes of the only part of an observation, or a dictionary of what it makes of each.
pub(crate) fn by_part<'py>(
    py: Python<'py>,
    space: &ObservationSpace,
    mut make: impl FnMut(usize, &ObservationPart) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let [part] = &space.parts[..] {
        return make(0, part);
    }
    let dict = PyDict::new(py);
    for (number, part) in space.parts.iter().enumerate() {
        dict.set_item(part.name, make(number, part)?)?;
    }
    Ok(dict.into_any())
}

/// Observations as read-only arrays `(rows, *shape)` over the engine's own memory, by part.
pub(crate) fn lend<'py>(
    py: Python<'py>,
    view: &ObservationView,
    space: &ObservationSpace,
) -> PyResult<Bound<'py, PyAny>> {
    let owner = Bound::new(py, LentObservations { view: view.clone() })?;
    by_part(py, space, |number, part| {
        let dims = with_rows(view.rows(), &part.shape);
        match owner.get().view.numbers(number) {
            Numbers::U8(numbers) => lend_numbers(&owner, numbers, &dims),
            Numbers::F32(numbers) => lend_numbers(&owner, numbers, &dims),
        }
    })
}

/// Numbers of the view that `owner` keeps, as a read-only array.
fn lend_numbers<'py, T: Element>(
    owner: &Bound<'py, LentObservations>,
    numbers: &[T],
    dims: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let array = ArrayView::from_shape(IxDyn(dims), numbers)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the view's bytes stay where they are and unchanged for as long as `owner` lives, and `owner` is
    // the array's base object.
    let lent = unsafe { PyArrayDyn::borrow_from_array(&array, owner.clone().into_any()) };
    lent.readwrite().make_nonwriteable();
    Ok(lent.into_any())
}

/// Observations that are the caller's, by part: arrays `(rows, *shape)`, or `shape` without rows.
pub(crate) fn hand_over_observations<'py>(
    py: Python<'py>,
    observations: Vec<ObservationArray>,
    space: &ObservationSpace,
    rows: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut observations = observations.into_iter();
    by_part(py, space, |_, part| {
        let dims = rows.map_or_else(|| part.shape.clone(), |rows| with_rows(rows, &part.shape));
        match observations.next() {
            Some(ObservationArray::U8(numbers)) => hand_over(py, numbers, &dims),
            Some(ObservationArray::F32(numbers)) => hand_over(py, numbers, &dims),
            None => Ok(py.None().into_bound(py)),
        }
    })
}

fn with_rows(rows: usize, shape: &[usize]) -> Vec<usize> {
    std::iter::once(rows).chain(shape.iter().copied()).collect()
}

/// A list of numbers as an array of this shape, without a copy.
pub(crate) fn hand_over<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyArray1::from_vec(py, values).reshape(IxDyn(shape))?.into_any())
}

/// The same array, or a copy of it that is contiguous and aligned.
pub(crate) fn plain<'py, T: Element>(
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    if array.is_c_contiguous() && array.getattr("flags")?.getattr("aligned")?.is_truthy()? {
        return Ok(array.clone());
    }
    let copy = array.call_method1("copy", ("C",))?;
    // Subclasses of arrays may answer with anything.
    copy.cast_into::<PyArrayDyn<T>>().map_err(|error| {
        let given = shown(&error.into_inner());
        refused::<PyTypeError>(given.map(|given| format!("copy() of an array must be one, got {given}")))
    })
}

/// Whether this is an array some of whose numbers are not meant.
pub(crate) fn is_masked(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    if value.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(false);
    }
    value.is_instance(&py.import("numpy")?.getattr("ma")?.getattr("MaskedArray")?)
}

/// A `TypeError` on top of what NumPy or the object itself raised; an interrupt or an exit passes as it is.
pub(crate) fn caused_by(error: PyErr, py: Python<'_>, message: impl Fn() -> PyResult<String>) -> PyErr {
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let message = message();
    let is_refusal = message.is_ok();
    let raised = refused::<PyTypeError>(message);
    if is_refusal {
        raised.set_cause(py, Some(error));
    }
    raised
}

/// Actions of several environments as the engine takes them.
pub(crate) enum ActionBuffer {
    Discrete(Vec<i64>),
    Continuous(Vec<f64>),
}

impl ActionBuffer {
    /// Reads `(n_envs,)` integers or `(n_envs, dimensions)` numbers; `float32` is widened as it is.
    pub(crate) fn read(actions: &Bound<'_, PyAny>, space: &ActionSpace, n_envs: usize) -> PyResult<Self> {
        let (kinds, wanted, shape) = match space {
            ActionSpace::Discrete { names } => {
                ("iu", format!("integers from 0 to {}", names.len() - 1), vec![n_envs])
            }
            ActionSpace::Continuous { low, .. } => ("fiu", "real numbers".into(), vec![n_envs, low.len()]),
        };
        let py = actions.py();
        let needed = || {
            format!(
                "actions must be an array of {wanted} of shape {}",
                PyTuple::new(py, &shape).map_or_else(|_| String::new(), |shape| shape.to_string())
            )
        };
        if is_masked(actions)? {
            return Err(PyTypeError::new_err(format!("{}, got a masked array: fill it first", needed())));
        }
        // A sequence may be of any length and cost as much memory to become an array.
        if !actions.is_instance_of::<PyUntypedArray>()
            && let Some(len) = unless_interrupted(py, actions.len())?.filter(|len| *len != n_envs)
        {
            return Err(PyValueError::new_err(format!("{}, got {len} items", needed())));
        }
        let array = match actions.cast_exact::<PyUntypedArray>() {
            Ok(array) => array.clone(),
            Err(_) => {
                let array = py.import("numpy")?.call_method1("asarray", (actions,)).map_err(|error| {
                    caused_by(error, py, || Ok(format!("{}, got {}", needed(), shown(actions)?)))
                })?;
                array.cast_into::<PyUntypedArray>().map_err(|_| PyTypeError::new_err(needed()))?
            }
        };
        let kind: char = array.dtype().kind().into();
        if !kinds.contains(kind) || array.dtype().itemsize() > size_of::<f64>() {
            return Err(PyTypeError::new_err(format!("{}, got dtype {}", needed(), array.dtype())));
        }
        if array.shape() != shape {
            let given = PyTuple::new(py, array.shape())?;
            return Err(PyValueError::new_err(format!("{}, got shape {given}", needed())));
        }
        match space {
            ActionSpace::Discrete { names } if kind == 'u' => {
                indices(&converted::<u64>(&array, "uint64")?, names.len()).map(Self::Discrete)
            }
            ActionSpace::Discrete { .. } => Ok(Self::Discrete(converted::<i64>(&array, "int64")?)),
            ActionSpace::Continuous { .. } => Ok(Self::Continuous(converted::<f64>(&array, "float64")?)),
        }
    }

    /// The actions, borrowed.
    pub(crate) fn actions(&self) -> Actions<'_> {
        match self {
            Self::Discrete(indices) => Actions::Discrete(indices),
            Self::Continuous(values) => Actions::Continuous(values),
        }
    }
}

/// The numbers of an array as another type, C order.
pub(crate) fn converted<T: Element + Copy>(
    array: &Bound<'_, PyUntypedArray>,
    dtype: &str,
) -> PyResult<Vec<T>> {
    if let Ok(same) = array.cast::<PyArrayDyn<T>>()
        && same.is_c_contiguous()
        && same.data().is_aligned()
        && let Ok(numbers) = same.try_readonly()
    {
        return Ok(numbers.as_slice()?.to_vec());
    }
    let numpy = array.py().import("numpy")?;
    let array = numpy.call_method1("array", (array, dtype))?.call_method1("ravel", ("C",))?;
    let array = array.cast_into::<PyArray1<T>>().map_err(|error| PyTypeError::new_err(error.to_string()))?;
    Ok(array.readonly().as_slice()?.to_vec())
}

/// Indices below `n`, of which the largest would turn negative.
fn indices(given: &[u64], n: usize) -> PyResult<Vec<i64>> {
    let index = |(row, &index): (usize, &u64)| match i64::try_from(index) {
        Ok(index) => Ok(index),
        Err(_) => {
            Err(Error::ActionValue { row, allowed: format!("from 0 to {}", n - 1), given: index.to_string() })
        }
    };
    given.iter().enumerate().map(index).collect::<Result<_, _>>().or_raise()
}
