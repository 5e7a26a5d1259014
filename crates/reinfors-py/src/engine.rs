//! `Engine` and `CollectStream`: the interpreter is let go for everything but the single pooled call of `infer`.

use crate::arguments::{
    config_from_python, config_to_python, count, integer, learner, optional_count, policy, reward_weights,
    seed, wrong_type,
};
use crate::arrays::PythonInfer;
use crate::batch::{PyPpoBatch, to_python};
use crate::error::OrRaise;
use crate::game::{PyGame, obs_shape};
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use reinfors_core::ObservationSpace;
use reinfors_engine::config::MAX_GAMES;
use reinfors_engine::{CollectStream, Engine, EngineConfig, EngineError};
use reinfors_games::registry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a wait goes on before signals are looked at.
const POLL: Duration = Duration::from_millis(50);
/// How long the interpreter's exit waits for an `infer` in progress, and again after interrupting it.
const EXIT_WAIT: Duration = Duration::from_secs(3);

/// Streams that may have to be stopped when the interpreter exits, with Python's name for the thread of each.
static LIVE_STREAMS: Mutex<Vec<(Weak<CollectStream>, Arc<AtomicU64>)>> = Mutex::new(Vec::new());

/// A sampler over many games.
#[pyclass(name = "Engine", module = "reinfors._reinfors", frozen, weakref)]
pub(crate) struct PyEngine {
    engine: Engine,
}

#[pymethods]
impl PyEngine {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the keywords of Python's constructor")]
    #[pyo3(signature = (game, reward, policy, learner, n_games, n_threads=None, seed=None))]
    fn new(
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        reward: Option<&Bound<'_, PyAny>>,
        policy: &Bound<'_, PyAny>,
        learner: &Bound<'_, PyAny>,
        n_games: &Bound<'_, PyAny>,
        n_threads: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let config = EngineConfig {
            game: PyGame::from_argument(game)?,
            reward: reward_weights(reward)?,
            policy: self::policy(policy)?,
            learner: self::learner(learner)?,
            n_games: count("n_games", n_games, 1..=MAX_GAMES as i64)?,
            n_threads: optional_count("n_threads", n_threads, 1..=i64::MAX)?,
            seed: seed.map(|seed| self::seed("seed", seed)).transpose()?.flatten(),
        };
        Ok(Self { engine: py.detach(|| Engine::new(config)).or_raise()? })
    }

    #[getter]
    fn n_games(&self) -> usize {
        self.engine.n_games()
    }

    #[getter]
    fn n_threads(&self) -> usize {
        self.engine.n_threads()
    }

    #[getter]
    fn n_params(&self) -> usize {
        self.engine.n_params()
    }

    #[getter]
    fn obs_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        obs_shape(py, self.space())
    }

    #[getter]
    fn policy_version(&self) -> i64 {
        self.engine.version()
    }

    fn collect(
        &self,
        py: Python<'_>,
        n_records: &Bound<'_, PyAny>,
        infer: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyPpoBatch>> {
        let n_records = count("n_records", n_records, 1..=i64::MAX)?;
        let mut infer = self.infer(infer)?;
        self.wait_until_free(py)?;
        let batch = py.detach(|| self.engine.collect(n_records, &mut infer)).or_raise()?;
        to_python(py, batch, self.space())
    }

    #[pyo3(signature = (collect_size, infer, depth=None), text_signature = "($self, collect_size, infer, depth=1)")]
    fn collect_stream(
        slf: &Bound<'_, Self>,
        collect_size: &Bound<'_, PyAny>,
        infer: &Bound<'_, PyAny>,
        depth: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCollectStream> {
        let py = slf.py();
        let collect_size = count("collect_size", collect_size, 1..=i64::MAX)?;
        let depth = optional_count("depth", depth, 1..=i64::MAX)?.unwrap_or(1);
        let infer = slf.get().infer(infer)?;
        let thread = Arc::clone(&infer.thread);
        slf.get().wait_until_free(py)?;
        let engine = &slf.get().engine;
        let stream =
            Arc::new(py.detach(|| engine.collect_stream(collect_size, Box::new(infer), depth)).or_raise()?);
        let mut live = LIVE_STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|(stream, _)| stream.strong_count() > 0);
        live.push((Arc::downgrade(&stream), thread));
        Ok(PyCollectStream { stream, engine: slf.clone().unbind() })
    }

    #[pyo3(signature = (version=None))]
    fn weights_updated(&self, version: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
        let version = version.map(|version| integer("version", version, 0..=i64::MAX)).transpose()?;
        Ok(self.engine.weights_updated(version))
    }

    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.wait_until_free(py)?;
        Ok(PyBytes::new(py, &py.detach(|| self.engine.snapshot()).or_raise()?))
    }

    #[pyo3(signature = (data, /))]
    fn restore(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = data.cast::<PyBytes>().map_err(|_| wrong_type("data", "the bytes of snapshot()", data))?;
        let bytes = data.as_bytes();
        self.wait_until_free(py)?;
        py.detach(|| self.engine.restore(bytes)).or_raise()
    }

    fn resolved_config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        config_to_python(py, &self.engine.resolved_config())
    }

    fn __repr__(&self) -> String {
        format!(
            "Engine({}, n_games={}, n_threads={})",
            self.engine.spec().name,
            self.n_games(),
            self.n_threads()
        )
    }
}

impl PyEngine {
    fn infer(&self, callable: &Bound<'_, PyAny>) -> PyResult<PythonInfer> {
        PythonInfer::new(callable, self.space())
    }

    fn space(&self) -> &ObservationSpace {
        &self.engine.spec().observation
    }

    /// Waits for a stream that was let go and is still inside `infer`, which needs the interpreter to end.
    fn wait_until_free(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            py.check_signals()?;
            let begin = Instant::now();
            let is_free = py.detach(|| self.engine.wait_until_free(POLL)).or_raise()?;
            // Sooner than asked: nothing was waited for, and the call itself will say who uses the engine.
            if is_free || begin.elapsed() < POLL {
                return Ok(());
            }
        }
    }
}

/// The engine that `Engine.resolved_config()` describes.
#[pyfunction]
#[pyo3(signature = (config, /))]
pub(crate) fn engine_from_config(py: Python<'_>, config: &Bound<'_, PyAny>) -> PyResult<PyEngine> {
    let config =
        config.cast::<PyDict>().map_err(|_| wrong_type("config", "the dict of resolved_config()", config))?;
    let config = config_from_python(config)?.configure(registry()).or_raise()?;
    Ok(PyEngine { engine: py.detach(|| Engine::new(config)).or_raise()? })
}

/// Batches made in the background.
#[pyclass(name = "CollectStream", module = "reinfors._reinfors", frozen, weakref)]
pub(crate) struct PyCollectStream {
    stream: Arc<CollectStream>,
    engine: Py<PyEngine>,
}

#[pymethods]
impl PyCollectStream {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyPpoBatch>> {
        let batch = until_done(py, || self.stream.next_timeout(POLL).transpose())?;
        to_python(py, batch, self.engine.get().space())
    }

    fn pending(&self) -> PyResult<usize> {
        self.stream.pending().or_raise()
    }

    fn pause<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let batches = until_done(py, || self.stream.pause_timeout(POLL).transpose())?;
        let batches = batches.into_iter().map(|batch| to_python(py, batch, self.engine.get().space()));
        PyList::new(py, batches.collect::<PyResult<Vec<_>>>()?)
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        until_done(py, || self.stream.stop_timeout(POLL).map(|is_done| is_done.then_some(())).transpose())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.stop(py)
    }
}

/// Calls a waiting function without the interpreter until it has an outcome, looking at signals in between.
fn until_done<T: Send>(
    py: Python<'_>,
    wait: impl Fn() -> Option<Result<T, EngineError>> + Sync,
) -> PyResult<T> {
    loop {
        py.check_signals()?;
        if let Some(outcome) = py.detach(&wait) {
            return outcome.or_raise();
        }
    }
}

/// Stops the streams that are left when the interpreter exits: a thread that outlives it and then asks for it is a crash.
#[pyfunction]
pub(crate) fn stop_live_streams(py: Python<'_>) -> PyResult<()> {
    let live = std::mem::take(&mut *LIVE_STREAMS.lock().unwrap_or_else(PoisonError::into_inner));
    for (stream, thread) in live {
        let Some(stream) = stream.upgrade() else { continue };
        let mut patience = [EXIT_WAIT, EXIT_WAIT * 2].into_iter();
        let (begin, mut limit) = (Instant::now(), patience.next());
        // A fork has no thread to stop: that error ends the loop too.
        while let (Some(wait), Ok(false)) = (limit, py.detach(|| stream.stop_timeout(POLL))) {
            if begin.elapsed() > wait {
                interrupt(py, thread.load(Ordering::Relaxed))?;
                limit = patience.next();
            }
        }
    }
    Ok(())
}

/// Raises `SystemExit` in another thread's Python code, which only the C interface offers.
fn interrupt(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let thread = ctypes.call_method1("c_ulong", (thread,))?;
    let exit = ctypes.call_method1("py_object", (py.get_type::<PySystemExit>(),))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, exit))?;
    Ok(())
}
