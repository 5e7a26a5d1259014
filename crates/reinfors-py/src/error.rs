//! Native errors as Python exceptions: the one mapping.
//!
//! What has the wrong type is a `TypeError`, what has a wrong value a `ValueError`, what comes at the wrong time a
//! `RuntimeError`. The messages are written where the error is found and pass through unchanged.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use reinfors_core::ErrorKind;

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
