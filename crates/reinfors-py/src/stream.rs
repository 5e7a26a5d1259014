//! `CollectStream`, and the caller's `infer` asked from native threads.
//!
//! 1. `infer` may refer to its stream, as a method of the agent that keeps it does. So the stream alone holds
//!    the one reference, where the garbage collector sees it, and its thread borrows that for each call.
//! 2. CPython before 3.14 ends a thread that comes back to an interpreter that is gone by unwinding it, which
//!    Rust answers with an abort. Streams are stopped first when the interpreter exits; a thread that is
//!    inside `infer` even then is parked for ever. That takes the `unsafe` of this file.
#![allow(unsafe_code)]

use crate::arguments::{OrRaise, runtime_error, wrong_type};
use crate::arrays::{lend, read_output};
use crate::batch::{PyPpoBatch, to_python};
use crate::engine::PyEngine;
use pyo3::exceptions::{PyStopIteration, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit, ffi};
use reinfors_core::ObservationSpace;
use reinfors_engine::{CollectStream, EngineError, Infer, InferError, Inference, ObservationView};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a wait goes on before signals are looked at.
pub(crate) const POLL: Duration = Duration::from_millis(50);
/// How long the interpreter's exit waits for all streams together, and again after interrupting them.
const EXIT_WAIT: Duration = Duration::from_secs(3);

/// Streams that may have to be stopped when the interpreter exits, each with what its thread asks.
static LIVE_STREAMS: Mutex<Vec<(Weak<CollectStream>, Weak<Callable>)>> = Mutex::new(Vec::new());

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
    fn let_go(&self) {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(object);
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
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
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let ctypes = py.import("ctypes")?;
        let thread = ctypes.call_method1("c_ulong", (self.thread.load(Ordering::Relaxed),))?;
        let exit = ctypes.call_method1("py_object", (py.get_type::<PySystemExit>(),))?;
        ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, exit))?;
        Ok(())
    }
}

/// Asks a Python callable; the only place where a native thread takes the interpreter.
pub(crate) struct PythonInfer {
    callable: Arc<Callable>,
    space: ObservationSpace,
    n_params: usize,
}

impl Infer for PythonInfer {
    fn infer(&mut self, obs: &ObservationView, out: &mut Inference) -> Result<(), InferError> {
        let asked = Python::try_attach(|py| {
            self.ask(py, obs, out).map_err(|raised| {
                let raised = not_stop_iteration(py, raised);
                InferError::with_payload(raised.to_string(), Box::new(raised))
            })
        });
        asked.unwrap_or_else(|| Err(InferError::new("the interpreter is shutting down")))
    }
}

impl PythonInfer {
    /// `n_params` is how many columns of `params` the engine takes.
    pub(crate) fn new(
        callable: &Bound<'_, PyAny>,
        space: &ObservationSpace,
        n_params: usize,
    ) -> PyResult<Self> {
        if !callable.is_callable() {
            return Err(wrong_type("infer", "callable: infer(obs) -> (params, values)", callable));
        }
        let object = Mutex::new(Some(callable.clone().unbind()));
        let callable = Arc::new(Callable { object, thread: AtomicU64::new(0) });
        Ok(Self { callable, space: space.clone(), n_params })
    }

    fn ask(&self, py: Python<'_>, obs: &ObservationView, out: &mut Inference) -> PyResult<()> {
        py.check_signals()?;
        self.callable.note_thread(py)?;
        let callable =
            self.callable.borrow(py).ok_or_else(|| runtime_error("nobody can take the batch any more"))?;
        let answer = call(&callable, lend(py, obs, &self.space)?)?;
        let is_pair = answer.is_instance_of::<PyTuple>() || answer.is_instance_of::<PyList>();
        if !is_pair || answer.len()? != 2 {
            return Err(wrong_type("what infer returns", "a pair (params, values)", &answer));
        }
        let (rows, n_params) = (obs.rows(), self.n_params);
        read_output(
            &answer.get_item(0)?,
            "params",
            &[rows, n_params],
            &mut out.params,
            &mut out.params_shape,
        )?;
        read_output(&answer.get_item(1)?, "values", &[rows], &mut out.values, &mut out.values_shape)
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
fn call<'py>(callable: &Bound<'py, PyAny>, argument: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyTuple::new(argument.py(), [argument])?;
    let parked = ParkedWhenUnwound;
    // SAFETY: both objects are alive, the second is a tuple, and this thread holds the interpreter.
    let answer = unsafe { PyObject_CallObject(callable.as_ptr(), arguments.as_ptr()) };
    std::mem::forget(parked);
    // SAFETY: the answer is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), answer) }
}

/// Batches made in the background.
#[pyclass(name = "CollectStream", module = "reinfors._reinfors", frozen, weakref)]
pub(crate) struct PyCollectStream {
    stream: Arc<CollectStream>,
    engine: Py<PyEngine>,
    callable: Arc<Callable>,
}

impl PyCollectStream {
    /// Starts one of an engine that is free.
    pub(crate) fn start(
        engine: &Bound<'_, PyEngine>,
        collect_size: usize,
        infer: PythonInfer,
        depth: usize,
        max_lag: Option<u64>,
    ) -> PyResult<Self> {
        let callable = Arc::clone(&infer.callable);
        let native = &engine.get().engine;
        let start = || native.collect_stream(collect_size, Box::new(infer), depth, max_lag);
        let stream = engine.py().detach(start);
        let stream = Arc::new(stream.or_raise()?);
        let mut live = LIVE_STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|(stream, _)| stream.strong_count() > 0);
        live.push((Arc::downgrade(&stream), Arc::downgrade(&callable)));
        Ok(Self { stream, engine: engine.clone().unbind(), callable })
    }

    /// Calls a waiting function without the interpreter until it has an outcome, looking at signals in
    /// between.
    fn until_done<T: Send>(
        &self,
        py: Python<'_>,
        wait: impl Fn(&CollectStream) -> Result<Option<T>, EngineError> + Sync,
    ) -> PyResult<T> {
        let outcome = loop {
            py.check_signals()?;
            if let Some(outcome) = py.detach(|| wait(&self.stream).transpose()) {
                break outcome;
            }
        };
        if self.stream.is_ended().unwrap_or(false) {
            self.callable.let_go();
        }
        outcome.or_raise()
    }
}

#[pymethods]
impl PyCollectStream {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyPpoBatch>> {
        let batch = self.until_done(py, |stream| stream.next_timeout(POLL))?;
        to_python(py, batch, self.engine.get().space())
    }

    fn pending(&self) -> PyResult<usize> {
        self.stream.pending().or_raise()
    }

    fn pause<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let batches = self.until_done(py, |stream| stream.pause_timeout(POLL))?;
        let batches = batches.into_iter().map(|batch| to_python(py, batch, self.engine.get().space()));
        PyList::new(py, batches.collect::<PyResult<Vec<_>>>()?)
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.until_done(py, |stream| stream.stop_timeout(POLL).map(|is_done| is_done.then_some(())))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.stop(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.engine)?;
        self.callable.traverse(&visit)
    }

    fn __clear__(&self) {
        // Gives the order only. Where that is refused, in a fork or by the collector inside `infer`, dropping
        // goes on.
        let _ = self.stream.stop_timeout(Duration::ZERO);
        self.callable.let_go();
    }
}

impl Drop for PyCollectStream {
    fn drop(&mut self) {
        // Here, with the interpreter, and not by the thread that ends later.
        self.callable.let_go();
    }
}

/// Stops the streams that are left when the interpreter exits: all are told first, then all are waited for at
/// once.
#[pyfunction]
pub(crate) fn stop_live_streams(py: Python<'_>) -> PyResult<()> {
    let live = std::mem::take(&mut *LIVE_STREAMS.lock().unwrap_or_else(PoisonError::into_inner));
    let mut live: Vec<_> =
        live.iter().filter_map(|(stream, callable)| Some((stream.upgrade()?, callable.upgrade()?))).collect();
    // An error is that of a fork, which has no thread to stop.
    live.retain(|(stream, _)| matches!(stream.stop_timeout(Duration::ZERO), Ok(false)));
    let wait = |live: &mut Vec<(Arc<CollectStream>, Arc<Callable>)>| {
        let begin = Instant::now();
        while !live.is_empty() && begin.elapsed() < EXIT_WAIT {
            live.retain(|(stream, _)| !matches!(py.detach(|| stream.stop_timeout(POLL)), Ok(true)));
        }
    };
    wait(&mut live);
    live.iter().try_for_each(|(_, callable)| callable.interrupt(py))?;
    wait(&mut live);
    Ok(())
}
