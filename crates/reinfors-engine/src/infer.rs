//! Where decisions come from: the caller's network, asked about many rows at once.
//!
//! An implementation only fills in what it was given; whether that fits is checked here, before any game is
//! stepped by it.

use crate::EngineError;
use crate::buffer::ObservationView;
use reinfors_core::Failure;

/// What kept the caller from answering.
pub type InferError = Failure;

/// The caller's policy and value function.
///
/// A window of `T` steps asks `T` times about every game, in slot order: in one call before each step, or from
/// 16 games on in two, of one half of the games each, of which the first is stepped while the second is asked
/// about. Where the learner needs values, there is one more question about the observations that open the next
/// window, and one after each step that cut episodes off, with their final observations alone.
pub trait Infer: Send {
    /// Evaluates every row of `obs` and leaves the result in `out`, which may hold an earlier one.
    ///
    /// # Errors
    /// Whatever keeps the caller from answering; it reaches the caller of `collect` or `next` unchanged.
    fn infer(
        &mut self,
        obs: &ObservationView,
        memory: Memory<'_>,
        out: &mut Inference,
    ) -> Result<(), InferError>;
}

impl<F> Infer for F
where
    F: FnMut(&ObservationView, &mut Inference) -> Result<(), InferError> + Send,
{
    fn infer(&mut self, obs: &ObservationView, _: Memory<'_>, out: &mut Inference) -> Result<(), InferError> {
        self(obs, out)
    }
}

/// A closure that asks for the memory too.
#[derive(Clone, Copy, Debug)]
pub struct Recurrent<F>(pub F);

impl<F> Infer for Recurrent<F>
where
    F: FnMut(&ObservationView, Memory<'_>, &mut Inference) -> Result<(), InferError> + Send,
{
    fn infer(
        &mut self,
        obs: &ObservationView,
        memory: Memory<'_>,
        out: &mut Inference,
    ) -> Result<(), InferError> {
        self.0(obs, memory, out)
    }
}

/// What the rows of a call carry along.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// What the call before returned for each row, one behind the other; zeros where an episode starts, and
    /// nothing where the policy has no state.
    pub state: &'a [f32],
    /// Whether each row is the first of its episode.
    pub starts: &'a [bool],
}

/// What is needed of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the numbers that decide the actions are called.
    pub decision: &'static str,
    /// Their shape for one row.
    pub decision_shape: Vec<usize>,
    /// Whether they must be integers.
    pub is_integer: bool,
    /// Whether there must be values.
    pub has_values: bool,
    /// Shape of the next state of one row; empty where there is none.
    pub state_shape: Vec<usize>,
}

impl Answer {
    /// What the outputs are called, in their order.
    #[must_use]
    pub fn outputs(&self) -> Vec<&'static str> {
        let values = self.has_values.then_some("values");
        let state = (!self.state_shape.is_empty()).then_some("state");
        std::iter::once(self.decision).chain(values).chain(state).collect()
    }
}

/// What a call returned: numbers widened exactly to `f64`, in C order, with the shapes that were returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inference {
    /// What decides the actions; needed: `(rows, *decision_shape)`.
    pub params: Vec<f64>,
    /// Shape of `params`.
    pub params_shape: Vec<usize>,
    /// Estimated returns; needed: `(rows,)`, or nothing.
    pub values: Vec<f64>,
    /// Shape of `values`.
    pub values_shape: Vec<usize>,
    /// What is remembered; needed: `(rows, *state_shape)`, or nothing.
    pub state: Vec<f64>,
    /// Shape of `state`.
    pub state_shape: Vec<usize>,
}

impl Inference {
    /// Replaces the result by `params` of shape `(rows, n_params)` and `values` of shape `(rows,)`.
    pub fn set(&mut self, params: &[f64], values: &[f64]) {
        let n_params = params.len().checked_div(values.len()).unwrap_or(0);
        self.set_params(params, &[values.len(), n_params]);
        self.values.clear();
        self.values.extend_from_slice(values);
        self.values_shape.clear();
        self.values_shape.push(values.len());
    }

    /// Replaces what decides the actions.
    pub fn set_params(&mut self, params: &[f64], shape: &[usize]) {
        self.params.clear();
        self.params.extend_from_slice(params);
        self.params_shape.clear();
        self.params_shape.extend_from_slice(shape);
    }

    /// Replaces what is remembered.
    pub fn set_state(&mut self, state: &[f64], shape: &[usize]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.state_shape.clear();
        self.state_shape.extend_from_slice(shape);
    }

    /// Refuses what does not answer `rows` rows.
    ///
    /// # Errors
    /// [`EngineError::Output`] for other shapes, for a number that decides and is not finite, for a value or
    /// a state that `float32` cannot hold.
    pub fn check(&self, rows: usize, needed: &Answer) -> Result<(), EngineError> {
        let decision = Output { name: needed.decision, shape: &self.params_shape, numbers: &self.params };
        decision.check(rows, &needed.decision_shape, |number| number.is_finite(), "finite numbers")?;
        let is_single = |number: f64| (number as f32).is_finite();
        const SINGLE: &str = "finite numbers that float32 can hold";
        if needed.has_values {
            let values = Output { name: "values", shape: &self.values_shape, numbers: &self.values };
            values.check(rows, &[], is_single, SINGLE)?;
        }
        if !needed.state_shape.is_empty() {
            let state = Output { name: "state", shape: &self.state_shape, numbers: &self.state };
            state.check(rows, &needed.state_shape, is_single, SINGLE)?;
        }
        Ok(())
    }
}

/// One of the arrays that were returned.
struct Output<'a> {
    name: &'static str,
    shape: &'a [usize],
    numbers: &'a [f64],
}

impl Output<'_> {
    fn check(
        &self,
        rows: usize,
        row_shape: &[usize],
        is_allowed: impl Fn(f64) -> bool,
        allowed: &str,
    ) -> Result<(), EngineError> {
        let Self { name, shape, numbers } = *self;
        let needed: Vec<usize> = std::iter::once(rows).chain(row_shape.iter().copied()).collect();
        let row_len: usize = row_shape.iter().product();
        if shape != needed || numbers.len() != rows * row_len {
            return Err(EngineError::Output(format!(
                "infer returned {name} of shape {} for {rows} rows; needed is {}",
                tuple(shape),
                tuple(&needed)
            )));
        }
        let Some(at) = numbers.iter().position(|number| !is_allowed(*number)) else { return Ok(()) };
        let column = if row_shape.is_empty() { String::new() } else { format!(", column {}", at % row_len) };
        Err(EngineError::Output(format!(
            "infer returned {name} with {:?} in row {}{column}; needed are {allowed}",
            numbers[at],
            at / row_len
        )))
    }
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
