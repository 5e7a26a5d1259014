//! Where decisions come from: the caller's network, asked once for all rows.
//!
//! An implementation only fills in what it was given; whether that fits is checked here, before any game is
//! stepped.

use crate::EngineError;
use crate::buffer::ObservationView;
use std::any::Any;
use std::fmt;

/// The caller's policy and value function.
///
/// A window of `T` steps makes `T + 1` calls with one row per game, in slot order: one before each step, one
/// with the observations that open the next window. Each step that cut episodes off makes one more, with
/// their final observations alone, in slot order.
pub trait Infer: Send {
    /// Evaluates every row of `obs` and leaves the result in `out`, which may hold an earlier one.
    ///
    /// # Errors
    /// Whatever keeps the caller from answering; it reaches the caller of `collect` or `next` unchanged.
    fn infer(&mut self, obs: &ObservationView, out: &mut Inference) -> Result<(), InferError>;
}

impl<F> Infer for F
where
    F: FnMut(&ObservationView, &mut Inference) -> Result<(), InferError> + Send,
{
    fn infer(&mut self, obs: &ObservationView, out: &mut Inference) -> Result<(), InferError> {
        self(obs, out)
    }
}

/// What a call returned: numbers widened exactly to `f64`, in C order, with the shapes that were returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inference {
    /// Parameters of the action distribution; needed: `(rows, n_params)`.
    pub params: Vec<f64>,
    /// Shape of `params`.
    pub params_shape: Vec<usize>,
    /// Estimated returns; needed: `(rows,)`.
    pub values: Vec<f64>,
    /// Shape of `values`.
    pub values_shape: Vec<usize>,
}

impl Inference {
    /// Replaces the result by `params` of shape `(rows, n_params)` and `values` of shape `(rows,)`.
    pub fn set(&mut self, params: &[f64], values: &[f64]) {
        self.params.clear();
        self.params.extend_from_slice(params);
        self.values.clear();
        self.values.extend_from_slice(values);
        self.values_shape.clear();
        self.values_shape.push(values.len());
        self.params_shape.clear();
        self.params_shape.extend([values.len(), params.len().checked_div(values.len()).unwrap_or(0)]);
    }

    /// Refuses what does not answer `rows` rows.
    ///
    /// # Errors
    /// [`EngineError::Output`] for other shapes, for a parameter that is not finite, for a value that
    /// `float32` cannot hold.
    pub fn check(&self, rows: usize, n_params: usize) -> Result<(), EngineError> {
        check_shape("params", &self.params_shape, self.params.len(), &[rows, n_params])?;
        check_shape("values", &self.values_shape, self.values.len(), &[rows])?;
        if let Some(at) = self.params.iter().position(|param| !param.is_finite()) {
            return Err(EngineError::Output(format!(
                "infer returned params with {:?} in row {}, column {}; needed are finite numbers",
                self.params[at],
                at / n_params,
                at % n_params
            )));
        }
        match self.values.iter().position(|value| !(*value as f32).is_finite()) {
            None => Ok(()),
            Some(row) => Err(EngineError::Output(format!(
                "infer returned values with {:?} in row {row}; needed are finite numbers that float32 can \
                 hold",
                self.values[row]
            ))),
        }
    }
}

fn check_shape(output: &str, given: &[usize], len: usize, needed: &[usize]) -> Result<(), EngineError> {
    if given == needed && len == needed.iter().product() {
        return Ok(());
    }
    Err(EngineError::Output(format!(
        "infer returned {output} of shape {} for {} rows; needed is {}",
        tuple(given),
        needed[0],
        tuple(needed)
    )))
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// An error of the caller's own code, carried through the engine without being looked at.
pub struct InferError {
    message: String,
    payload: Option<Box<dyn Any + Send>>,
}

impl InferError {
    /// An error that is its message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), payload: None }
    }

    /// An error that gives `payload` back on the other side, an exception for instance.
    #[must_use]
    pub fn with_payload(message: impl Into<String>, payload: Box<dyn Any + Send>) -> Self {
        Self { message: message.into(), payload: Some(payload) }
    }

    /// The payload, if there is one.
    #[must_use]
    pub fn into_payload(self) -> Option<Box<dyn Any + Send>> {
        self.payload
    }
}

impl fmt::Debug for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InferError").field("message", &self.message).finish_non_exhaustive()
    }
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InferError {}
