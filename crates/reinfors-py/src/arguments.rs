//! Python values as the native types that are taken, and what is refused as Python's exceptions.
//!
//! 1. Truth values are never counts or numbers here: `n_envs=True` is a slip. For seeds they are, as in the
//!    reference.
//! 2. What has the wrong type is a `TypeError`, what has a wrong value a `ValueError`, what comes at the
//!    wrong time a `RuntimeError`; what the caller's own code raised is raised again as itself. Messages of
//!    native errors pass through unchanged.

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyException, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use reinfors_core::rng::Seed;
use reinfors_core::{ErrorKind, OptionValue};
use reinfors_engine::{EngineError, EngineErrorKind};
use std::ops::RangeInclusive;

/// Lists inside lists that an option may have; a list that contains itself ends here.
const MAX_NESTING: usize = 8;
/// Most numbers of an array that is an option.
const MAX_ITEMS: usize = 1 << 16;
/// Characters of a value shown in a message.
const MAX_SHOWN: usize = 80;

/// A value for a message: its text and its type.
///
/// # Errors
/// An interrupt or an exit that its `__repr__` raised; what else that raises leaves the type alone.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let type_name = value.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    Ok(match unless_interrupted(value.py(), value.repr())?.map(|text| text.to_string()) {
        Some(text) if text.chars().count() <= MAX_SHOWN => format!("{text} ({type_name})"),
        Some(text) => format!("{}... ({type_name})", text.chars().take(MAX_SHOWN).collect::<String>()),
        None => format!("a {type_name}"),
    })
}

/// What the caller's code returned, or `None` where it raised something that does not matter here.
///
/// # Errors
/// An interrupt or an exit.
pub(crate) fn unless_interrupted<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(interrupt) => Err(interrupt),
    }
}

/// A `TypeError` saying what `name` must be and what it was.
pub(crate) fn wrong_type(name: &str, allowed: &str, value: &Bound<'_, PyAny>) -> PyErr {
    refused::<PyTypeError>(shown(value).map(|given| format!("{name} must be {allowed}, got {given}")))
}

/// A `ValueError` saying what `name` must be and what it was.
pub(crate) fn wrong_value(name: &str, allowed: &str, value: &Bound<'_, PyAny>) -> PyErr {
    refused::<PyValueError>(shown(value).map(|given| format!("{name} must be {allowed}, got {given}")))
}

/// An exception of this message, or the interrupt that kept it from being written.
pub(crate) fn refused<T: PyTypeInfo>(message: PyResult<String>) -> PyErr {
    message.map_or_else(|interrupt| interrupt, PyErr::new::<T, _>)
}

/// Whether this is Python's or NumPy's truth value.
fn is_bool(value: &Bound<'_, PyAny>) -> bool {
    value.extract::<bool>().is_ok()
}

/// An integer of Python or NumPy inside `allowed`.
pub(crate) fn integer(name: &str, value: &Bound<'_, PyAny>, allowed: RangeInclusive<i64>) -> PyResult<i64> {
    let words = match *allowed.end() {
        i64::MAX => format!("an integer from {} to 2**63 - 1", allowed.start()),
        end => format!("an integer from {} to {end}", allowed.start()),
    };
    if is_bool(value) || value.is_instance_of::<PyString>() {
        return Err(wrong_type(name, &words, value));
    }
    match value.extract::<i64>() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        Ok(_) => Err(wrong_value(name, &words, value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(wrong_value(name, &words, value))
        }
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Err(wrong_type(name, &words, value)),
        Err(error) => Err(error),
    }
}

/// An integer inside `allowed` as a count.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>, allowed: RangeInclusive<i64>) -> PyResult<usize> {
    let number = integer(name, value, allowed)?;
    usize::try_from(number).map_err(|_| wrong_value(name, "a count", value))
}

/// A count, or `None`.
pub(crate) fn optional_count(
    name: &str,
    value: Option<&Bound<'_, PyAny>>,
    allowed: RangeInclusive<i64>,
) -> PyResult<Option<usize>> {
    value.map(|value| count(name, value, allowed)).transpose()
}

/// A number of Python or NumPy; whether it is finite and inside its bounds is the callee's to say.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let is_array = match value.getattr_opt("ndim")? {
        Some(ndim) => unless_interrupted(value.py(), ndim.extract::<usize>())?.is_none_or(|ndim| ndim > 0),
        None => false,
    };
    if is_bool(value) || is_array {
        return Err(wrong_type(name, "a number", value));
    }
    match value.extract::<f64>() {
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(name, "a number", value))
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(wrong_value(name, "a number below 1.8e308", value))
        }
        result => result,
    }
}

/// A text.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract::<String>().map_err(|_| wrong_type(name, "a str", value))
}

/// A dictionary, or `None`.
pub(crate) fn optional_dict<'a, 'py>(
    name: &str,
    value: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<&'a Bound<'py, PyDict>>> {
    let cast = |value: &'a Bound<'py, PyAny>| {
        value.cast::<PyDict>().map_err(|_| wrong_type(name, "a dict with str keys", value))
    };
    value.map(cast).transpose()
}

/// The items of an ordered iterable that has `n`. Of a longer one, maybe an endless one, one more is read.
pub(crate) fn items<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    n: usize,
    allowed: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let abc = value.py().import("collections.abc")?;
    let is_bytes = value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>();
    if is_bytes || value.is_instance(&abc.getattr("Set")?)? || value.is_instance(&abc.getattr("Mapping")?)? {
        return Err(wrong_type(name, allowed, value));
    }
    let items = value.try_iter()?.take(n.saturating_add(1)).collect::<PyResult<Vec<_>>>()?;
    if items.len() == n {
        return Ok(items);
    }
    let given = if items.len() < n { items.len().to_string() } else { "more".into() };
    Err(PyValueError::new_err(format!(
        "{name} must be {allowed}, one per environment: {n} of them, got {given}"
    )))
}

/// A seed: a non-negative integer of any size, or `None`.
pub(crate) fn seed(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Seed>> {
    const ALLOWED: &str = "None or a non-negative integer of any size";
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(Some(Seed::from(u64::from(truth))));
    }
    let index = value.py().import("operator")?.getattr("index")?;
    let integer = match index.call1((value,)) {
        Ok(integer) => integer,
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            return Err(wrong_type(name, ALLOWED, value));
        }
        Err(error) => return Err(error),
    };
    if integer.lt(0)? {
        return Err(wrong_value(name, ALLOWED, value));
    }
    let n_words = integer.call_method0("bit_length")?.extract::<usize>()?.div_ceil(32);
    let bytes: Vec<u8> = integer.call_method1("to_bytes", (n_words * 4, "little"))?.extract()?;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    Ok(Some(Seed::from_words(words)))
}

/// The seed as a Python integer.
pub(crate) fn seed_to_python<'py>(py: Python<'py>, seed: &Seed) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = seed.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    py.get_type::<PyInt>().call_method1("from_bytes", (bytes.as_slice(), "little"))
}

/// The keyword arguments of a game.
pub(crate) fn options(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, OptionValue)>> {
    given
        .iter()
        .map(|(name, value)| {
            let name = text("the name of an option", &name)?;
            let value = option_value(&name, &value, MAX_NESTING)?;
            Ok((name, value))
        })
        .collect()
}

fn option_value(name: &str, value: &Bound<'_, PyAny>, nesting: usize) -> PyResult<OptionValue> {
    const ALLOWED: &str = "None, a bool, an int, a float, a str or a list of these";
    let subject = || format!("option {name}");
    if value.is_none() {
        return Ok(OptionValue::None);
    }
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(OptionValue::Bool(truth));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(OptionValue::Text(text));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let Some(nesting) = nesting.checked_sub(1) else {
            return Err(wrong_value(&subject(), &format!("at most {MAX_NESTING} lists deep"), value));
        };
        let items = value.try_iter()?.map(|item| option_value(name, &item?, nesting));
        return items.collect::<PyResult<_>>().map(OptionValue::List);
    }
    if value.hasattr("__array_interface__")? && value.hasattr("tolist")? {
        if value.getattr("size")?.gt(MAX_ITEMS)? {
            return Err(wrong_value(&subject(), &format!("at most {MAX_ITEMS} numbers"), value));
        }
        // NumPy's scalars and arrays as plain numbers and lists of them.
        let plain = value.call_method0("tolist")?;
        if !plain.hasattr("tolist")? {
            let Some(nesting) = nesting.checked_sub(1) else {
                return Err(wrong_type(&subject(), ALLOWED, value));
            };
            return option_value(name, &plain, nesting);
        }
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(OptionValue::Float(value.extract()?));
    }
    match value.extract::<i64>() {
        Ok(integer) => Ok(OptionValue::Int(integer)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(wrong_value(&subject(), "a number of at most 64 bits", value))
        }
        Err(error) if error.is_instance_of::<PyException>(value.py()) => {
            Err(wrong_type(&subject(), ALLOWED, value))
        }
        Err(interrupt) => Err(interrupt),
    }
}

/// Turns the error of a native call into the exception it is in Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for reinfors_core::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| match error.kind() {
            ErrorKind::Type => PyTypeError::new_err(error.to_string()),
            ErrorKind::Value => PyValueError::new_err(error.to_string()),
        })
    }
}

impl<T> OrRaise<T> for Result<T, EngineError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(exception)
    }
}

/// The exception that an error of the engine is.
fn exception(error: EngineError) -> PyErr {
    let message = error.to_string();
    match (error.kind(), error) {
        (EngineErrorKind::Type, _) => PyTypeError::new_err(message),
        (EngineErrorKind::Value, _) => PyValueError::new_err(message),
        (_, EngineError::Infer(error) | EngineError::Worlds(error)) => error
            .into_payload()
            .and_then(|payload| payload.downcast::<PyErr>().ok())
            .map_or_else(|| runtime_error(message), |raised| *raised),
        _ => runtime_error(message),
    }
}

/// A `RuntimeError`.
pub(crate) fn runtime_error(message: impl Into<String>) -> PyErr {
    PyRuntimeError::new_err(message.into())
}
