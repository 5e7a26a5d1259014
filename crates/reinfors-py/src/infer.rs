//! The caller's `infer`, asked from native threads: the only place where one takes the interpreter.
//!
//! 1. `infer` may refer to its stream, as a method of the agent that keeps it does. So the stream alone holds
//!    the one reference, where the garbage collector sees it, and its thread borrows that for each call.
//! 2. CPython before 3.14 ends a thread that comes back to an interpreter that is gone by unwinding it, which
//!    Rust answers with an abort. Streams are stopped first when the interpreter exits; a thread that is
//!    inside `infer` even then is parked for ever. That takes the `unsafe` of this file.
#![allow(unsafe_code)]

use crate::arguments::{runtime_error, wrong_type};
use crate::arrays::{hand_over, lend};
use crate::output::Output;
use numpy::PyArray1;
use pyo3::exceptions::{PyStopIteration, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit, ffi};
use reinfors_core::ObservationSpace;
use reinfors_engine::{Answer, Infer, InferError, Inference, Memory, ObservationView};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What messages say of outputs.
const DUTY: &str = "infer must return";

/// The one reference to a caller's `infer`.
pub(crate) struct Callable {
    /// Empty once it was let go. Locked for moments, by holders of the interpreter that run no Python
    /// meanwhile.
    object: Mutex<Option<Py<PyAny>>>,
    /// What `_thread.get_ident()` says where it is asked; 0 before.
    thread: AtomicU64,
}

impl Callable {
    fn borrow<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        object.as_ref().map(|object| object.bind(py).clone())
    }

    /// Gives the reference up; a call that has borrowed it goes on.
    pub(crate) fn let_go(&self) {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(object);
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.object.try_lock() {
            Ok(object) => object.as_ref().map_or(Ok(()), |object| visit.call(object)),
            Err(_) => Ok(()),
        }
    }

    fn note_thread(&self, py: Python<'_>) -> PyResult<()> {
        if self.thread.load(Ordering::Relaxed) == 0 {
            // Not `threading`: whoever imports that first passes for the main thread.
            let thread = py.import("_thread")?.call_method0("get_ident")?.extract()?;
            self.thread.store(thread, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Raises `SystemExit` in the thread's Python code, which only the C interface offers.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let ctypes = py.import("ctypes")?;
        let thread = ctypes.call_method1("c_ulong", (self.thread.load(Ordering::Relaxed),))?;
        let exit = ctypes.call_method1("py_object", (py.get_type::<PySystemExit>(),))?;
        ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, exit))?;
        Ok(())
    }
}

/// Asks a Python callable.
pub(crate) struct PythonInfer {
    pub(crate) callable: Arc<Callable>,
    space: ObservationSpace,
    needed: Answer,
    /// Whether values that nobody needs may be returned all the same.
    may_value: bool,
}

impl Infer for PythonInfer {
    fn infer(
        &mut self,
        obs: &ObservationView,
        memory: Memory<'_>,
        out: &mut Inference,
    ) -> Result<(), InferError> {
        let asked = Python::try_attach(|py| {
            self.ask(py, obs, memory, out).map_err(|raised| {
                let raised = not_stop_iteration(py, raised);
                InferError::with_payload(raised.to_string(), Box::new(raised))
            })
        });
        asked.unwrap_or_else(|| Err(InferError::new("the interpreter is shutting down")))
    }
}

impl PythonInfer {
    /// One that must return what is `needed`, and may return values beside it.
    pub(crate) fn new(
        callable: &Bound<'_, PyAny>,
        space: &ObservationSpace,
        needed: Answer,
        may_value: bool,
    ) -> PyResult<Self> {
        if !callable.is_callable() {
            let inputs = if needed.state_shape.is_empty() { "obs" } else { "obs, state, starts" };
            let outputs = needed.outputs().join(", ");
            let allowed = format!("callable: infer({inputs}) -> {outputs}");
            return Err(wrong_type("infer", &allowed, callable));
        }
        let object = Mutex::new(Some(callable.clone().unbind()));
        let callable = Arc::new(Callable { object, thread: AtomicU64::new(0) });
        Ok(Self { callable, space: space.clone(), needed, may_value })
    }

    fn ask(
        &self,
        py: Python<'_>,
        obs: &ObservationView,
        memory: Memory<'_>,
        out: &mut Inference,
    ) -> PyResult<()> {
        py.check_signals()?;
        self.callable.note_thread(py)?;
        let callable =
            self.callable.borrow(py).ok_or_else(|| runtime_error("nobody can take the batch any more"))?;
        let needed = &self.needed;
        let rows = |shape: &[usize]| [&[obs.rows()], shape].concat();
        let mut arguments = vec![lend(py, obs, &self.space)?];
        if !needed.state_shape.is_empty() {
            arguments.push(hand_over(py, memory.state.to_vec(), &rows(&needed.state_shape))?);
            arguments.push(PyArray1::from_slice(py, memory.starts).into_any());
        }
        let answer = call(&callable, arguments)?;
        let mut outputs = self.outputs(&answer)?.into_iter();
        let mut next = || outputs.next().ok_or_else(|| runtime_error("an answer has lost an output"));
        let decision = Output { duty: DUTY, name: needed.decision, is_integer: needed.is_integer };
        decision.read(&next()?, &rows(&needed.decision_shape), &mut out.params, &mut out.params_shape)?;
        if needed.has_values {
            let values = Output { duty: DUTY, name: "values", is_integer: false };
            values.read(&next()?, &rows(&[]), &mut out.values, &mut out.values_shape)?;
        }
        if !needed.state_shape.is_empty() {
            let state = Output { duty: DUTY, name: "state", is_integer: false };
            state.read(&next()?, &rows(&needed.state_shape), &mut out.state, &mut out.state_shape)?;
        }
        Ok(())
    }

    /// The needed outputs of an answer, one by one.
    fn outputs<'py>(&self, answer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let names = self.needed.outputs();
        let is_sequence = answer.is_instance_of::<PyTuple>() || answer.is_instance_of::<PyList>();
        let given = if is_sequence { answer.len()? } else { 1 };
        if is_sequence && self.may_value && given == names.len() + 1 {
            let with_values = answer.try_iter()?.enumerate().filter(|(at, _)| *at != 1);
            return with_values.map(|(_, output)| output).collect();
        }
        match names[..] {
            [_] if !is_sequence => Ok(vec![answer.clone()]),
            [_, _, ..] if is_sequence && given == names.len() => answer.try_iter()?.collect(),
            [name] => Err(wrong_type("what infer returns", &format!("{name} alone"), answer)),
            _ => {
                let kind = if names.len() == 2 { "pair" } else { "triple" };
                let allowed = format!("a {kind} ({})", names.join(", "));
                Err(wrong_type("what infer returns", &allowed, answer))
            }
        }
    }
}

/// Replaces a `StopIteration` of the caller's code, which would end a loop over batches in silence.
fn not_stop_iteration(py: Python<'_>, raised: PyErr) -> PyErr {
    if !raised.is_instance_of::<PyStopIteration>(py) {
        return raised;
    }
    let error = runtime_error("infer raised StopIteration");
    error.set_cause(py, Some(raised));
    error
}

// Declared anew because an unwinding may come through it; `pyo3` declares it as a function that never
// unwinds.
unsafe extern "C-unwind" {
    fn PyObject_CallObject(callable: *mut ffi::PyObject, arguments: *mut ffi::PyObject)
    -> *mut ffi::PyObject;
}

/// Keeps its thread for ever where it is when an unwinding reaches it.
struct ParkedWhenUnwound;

impl Drop for ParkedWhenUnwound {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

/// Calls what may outlive the interpreter.
pub(crate) fn call<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyTuple::new(callable.py(), arguments)?;
    let parked = ParkedWhenUnwound;
    // SAFETY: both objects are alive, the second is a tuple, and this thread holds the interpreter.
    let answer = unsafe { PyObject_CallObject(callable.as_ptr(), arguments.as_ptr()) };
    std::mem::forget(parked);
    // SAFETY: the answer is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), answer) }
}
