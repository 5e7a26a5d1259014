//! `CollectStream`: batches made in the background, waited for without the interpreter.

use crate::arguments::OrRaise;
use crate::batch::{PyBatch, to_python};
use crate::engine::PyEngine;
use crate::infer::{Callable, PythonInfer};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use reinfors_engine::{CollectStream, EngineError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a wait goes on before signals are looked at.
pub(crate) const POLL: Duration = Duration::from_millis(50);
/// How long the interpreter's exit waits for all streams together, and again after interrupting them.
const EXIT_WAIT: Duration = Duration::from_secs(3);

/// Streams that may have to be stopped when the interpreter exits, each with what its thread asks.
static LIVE_STREAMS: Mutex<Vec<(Weak<CollectStream>, Weak<Callable>)>> = Mutex::new(Vec::new());

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

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyBatch>> {
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
