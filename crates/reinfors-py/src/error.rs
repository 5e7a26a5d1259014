//! Native errors as Python exceptions: the one mapping.
//!
//! What has the wrong type is a `TypeError`, what has a wrong value a `ValueError`, what comes at the wrong time a
//! `RuntimeError`; what the caller's own code raised is raised again as itself. Messages pass through unchanged.

use pyo3::exceptions::{PyRuntimeError, PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use reinfors_core::ErrorKind;
use reinfors_engine::{EngineError, EngineErrorKind};

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
    match error.kind() {
        EngineErrorKind::Type => PyTypeError::new_err(message),
        EngineErrorKind::Value => PyValueError::new_err(message),
        EngineErrorKind::Busy | EngineErrorKind::State | EngineErrorKind::Internal => runtime_error(message),
        EngineErrorKind::Infer => {
            let EngineError::Infer(error) = error else { return runtime_error(message) };
            error
                .into_payload()
                .and_then(|payload| payload.downcast::<PyErr>().ok())
                .map_or_else(|| runtime_error(message), |raised| *raised)
        }
    }
}

/// Replaces a `StopIteration` of the caller's code, which would end a loop over batches in silence.
pub(crate) fn not_stop_iteration(py: Python<'_>, raised: PyErr) -> PyErr {
    if !raised.is_instance_of::<PyStopIteration>(py) {
        return raised;
    }
    let error = runtime_error("infer raised StopIteration");
    error.set_cause(py, Some(raised));
    error
}

/// A `RuntimeError`.
pub(crate) fn runtime_error(message: impl Into<String>) -> PyErr {
    PyRuntimeError::new_err(message.into())
}
