//! `vtrace`, of arrays or of a batch: the caller's numbers read in, the native correction, the results in their
//! shape.

use crate::arguments::{OrRaise, number};
use crate::arrays::{converted, hand_over};
use crate::batch::PyBatch;
use crate::output::Output;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use reinfors_engine::config::MAX_RECORDS;
use reinfors_engine::vtrace::{Told, vtrace as correct};

/// Numbers of the argument `name`, whose shape must be one of `shapes`, and that shape.
fn numbers(
    name: &'static str,
    value: &Bound<'_, PyAny>,
    shapes: &[&[usize]],
) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let argument = Output { duty: "vtrace must be given", name, is_integer: false };
    let (mut numbers, mut shape) = (Vec::new(), Vec::new());
    for needed in shapes {
        argument.read(value, needed, &mut numbers, &mut shape)?;
        if shape == *needed {
            return Ok((numbers, shape));
        }
    }
    let allowed: Vec<String> = shapes
        .iter()
        .map(|shape| Ok(PyTuple::new(value.py(), *shape)?.to_string()))
        .collect::<PyResult<_>>()?;
    let given = PyTuple::new(value.py(), shape)?;
    Err(PyValueError::new_err(format!("{name} must have the shape {}, got {given}", allowed.join(" or "))))
}

/// The shape of an array of two dimensions, of no more numbers than a batch can have records.
fn two_dimensions(name: &str, value: &Bound<'_, PyAny>) -> PyResult<[usize; 2]> {
    let shape: Vec<usize> = match value.getattr("shape") {
        Ok(shape) => shape.try_iter()?.map(|size| size?.extract()).collect::<PyResult<_>>()?,
        Err(_) => return Err(PyTypeError::new_err(format!("{name} must be an array of shape (T, N)"))),
    };
    match shape[..] {
        [t, n] if t > 0 && n > 0 && t.saturating_mul(n) <= MAX_RECORDS => Ok([t, n]),
        _ => {
            let given = PyTuple::new(value.py(), shape)?;
            let allowed = format!("the shape (T, N), of 1 to {MAX_RECORDS} numbers");
            Err(PyValueError::new_err(format!("{name} must have {allowed}, got {given}")))
        }
    }
}

/// Flags of this shape; none are set where nothing is given.
fn flags(name: &str, value: Option<&Bound<'_, PyAny>>, shape: &[usize]) -> PyResult<Vec<bool>> {
    let Some(value) = value else { return Ok(vec![false; shape.iter().product()]) };
    let needed = PyTuple::new(value.py(), shape)?;
    let wrong = |given: String| format!("{name} must be a bool array of shape {needed}, got {given}");
    let Ok(array) = value.cast::<PyUntypedArray>() else {
        return Err(PyTypeError::new_err(wrong(crate::arguments::shown(value)?)));
    };
    let kind: char = array.dtype().kind().into();
    if kind != 'b' {
        return Err(PyTypeError::new_err(wrong(format!("dtype {}", array.dtype()))));
    }
    if array.shape() != shape {
        return Err(PyValueError::new_err(wrong(format!(
            "shape {}",
            PyTuple::new(value.py(), array.shape())?
        ))));
    }
    converted::<bool>(array, "bool")
}

/// What V-trace makes of arrays: targets and advantages.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keywords of Python's function")]
#[pyo3(signature = (
    behavior_log_probs, target_log_probs, rewards, discounts, values, last_values, truncated=None,
    final_values=None, rho_clip=None, c_clip=None
), text_signature = "(behavior_log_probs, target_log_probs, rewards, discounts, values, last_values, \
truncated=None, final_values=None, rho_clip=1.0, c_clip=1.0)")]
pub(crate) fn vtrace<'py>(
    py: Python<'py>,
    behavior_log_probs: &Bound<'py, PyAny>,
    target_log_probs: &Bound<'py, PyAny>,
    rewards: &Bound<'py, PyAny>,
    discounts: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    last_values: &Bound<'py, PyAny>,
    truncated: Option<&Bound<'py, PyAny>>,
    final_values: Option<&Bound<'py, PyAny>>,
    rho_clip: Option<&Bound<'py, PyAny>>,
    c_clip: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let shape = two_dimensions("rewards", rewards)?;
    let read = |name, value| numbers(name, value, &[&shape]).map(|(numbers, _)| numbers);
    let truncated = flags("truncated", truncated, &shape)?;
    let final_values = match final_values {
        Some(given) => read("final_values", given)?,
        None if truncated.contains(&true) => {
            return Err(PyTypeError::new_err("final_values are needed where truncated is set, got None"));
        }
        None => vec![0.0; truncated.len()],
    };
    let told = Told {
        behavior_log_probs: &read("behavior_log_probs", behavior_log_probs)?,
        target_log_probs: &read("target_log_probs", target_log_probs)?,
        rewards: &read("rewards", rewards)?,
        discounts: &read("discounts", discounts)?,
        values: &read("values", values)?,
        truncated: &truncated,
        final_values: &final_values,
        last_values: &numbers("last_values", last_values, &[&shape[1..]])?.0,
    };
    let clip = |name, value: Option<&Bound<'py, PyAny>>| value.map_or(Ok(1.0), |value| number(name, value));
    made(py, told, clip("rho_clip", rho_clip)?, clip("c_clip", c_clip)?, &shape)
}

/// What V-trace makes of a batch, in the shape in which the log-densities are given.
pub(crate) fn of_batch<'py>(
    slf: &Bound<'py, PyBatch>,
    target_log_probs: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    last_values: &Bound<'py, PyAny>,
    final_values: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (batch, records) = (slf.get(), slf.as_super().get());
    let (rho_clip, c_clip) = batch.clips.ok_or_else(|| records.absent("vtrace"))?;
    let shapes: [&[usize]; 2] = [&[records.len], &[batch.n_steps, batch.n_slots]];
    let (target_log_probs, shape) = numbers("target_log_probs", target_log_probs, &shapes)?;
    let rows: Vec<i64> = PyBatch::whole(slf, "final_rows")?.bind(slf.py()).extract()?;
    let given = match final_values {
        Some(given) => numbers("final_values", given, &[&[rows.len()]])?.0,
        None if rows.is_empty() => Vec::new(),
        None => {
            return Err(PyTypeError::new_err(format!(
                "final_values must be the values of final_obs, of which the batch has {}, got None",
                rows.len()
            )));
        }
    };
    let (mut truncated, mut final_values) = (vec![false; records.len], vec![0.0; records.len]);
    for (row, value) in rows.into_iter().zip(given) {
        (truncated[row as usize], final_values[row as usize]) = (true, value);
    }
    let own = |name| -> PyResult<Vec<f64>> {
        Ok(numbers(name, &records.field(slf.py(), name)?, &[&[records.len]])?.0)
    };
    let told = Told {
        behavior_log_probs: &own("behavior_log_probs")?,
        target_log_probs: &target_log_probs,
        rewards: &own("rewards")?,
        discounts: &own("discounts")?,
        values: &numbers("values", values, &shapes)?.0,
        truncated: &truncated,
        final_values: &final_values,
        last_values: &numbers("last_values", last_values, &[&[batch.n_slots]])?.0,
    };
    made(slf.py(), told, rho_clip, c_clip, &shape)
}

/// Targets and advantages of this shape.
fn made<'py>(
    py: Python<'py>,
    told: Told<'_>,
    rho_clip: f64,
    c_clip: f64,
    shape: &[usize],
) -> PyResult<Bound<'py, PyTuple>> {
    let (targets, advantages) = py.detach(|| correct(told, rho_clip, c_clip)).or_raise()?;
    PyTuple::new(py, [hand_over(py, targets, shape)?, hand_over(py, advantages, shape)?])
}
