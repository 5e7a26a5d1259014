//! `Engine` and its configuration: the interpreter is let go for everything but the single pooled call of
//! `infer`.

use crate::arguments::{OrRaise, count, integer, number, optional_count, seed, wrong_type};
use crate::batch::{PyBatch, to_python};
use crate::config::{config_from_python, config_to_python, reward_weights};
use crate::game::{PyGame, obs_shape};
use crate::infer::PythonInfer;
use crate::stream::{POLL, PyCollectStream};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use reinfors_core::ObservationSpace;
use reinfors_engine::config::{MAX_GAMES, MAX_RECORDS};
use reinfors_engine::{Engine, EngineConfig};
use reinfors_games::registry;
use std::time::Instant;

/// A sampler over many games.
#[pyclass(name = "Engine", module = "reinfors._reinfors", frozen, weakref)]
pub(crate) struct PyEngine {
    pub(crate) engine: Engine,
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
        let game = PyGame::from_argument(game)?;
        let reward = reward_weights(reward)?;
        let (policy, state_shape) = crate::config::policy(policy)?;
        let config = EngineConfig {
            game,
            reward,
            policy,
            state_shape,
            learner: crate::config::learner(learner)?,
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
    fn epsilon(&self) -> Option<f64> {
        self.engine.epsilon()
    }

    #[setter]
    fn set_epsilon(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.engine.set_epsilon(number("epsilon", value)?).or_raise()
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
    ) -> PyResult<Py<PyBatch>> {
        let n_records = count("n_records", n_records, 1..=MAX_RECORDS as i64)?;
        let mut infer = self.infer(infer)?;
        self.wait_until_free(py)?;
        let batch = py.detach(|| self.engine.collect(n_records, &mut infer)).or_raise()?;
        to_python(py, batch, self.space())
    }

    #[pyo3(
        signature = (collect_size, infer, depth=None, max_lag=None),
        text_signature = "($self, collect_size, infer, depth=1, max_lag=None)"
    )]
    fn collect_stream(
        slf: &Bound<'_, Self>,
        collect_size: &Bound<'_, PyAny>,
        infer: &Bound<'_, PyAny>,
        depth: Option<&Bound<'_, PyAny>>,
        max_lag: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCollectStream> {
        let py = slf.py();
        let collect_size = count("collect_size", collect_size, 1..=MAX_RECORDS as i64)?;
        let depth = optional_count("depth", depth, 1..=i64::MAX)?.unwrap_or(1);
        let max_lag = optional_count("max_lag", max_lag, 0..=i64::MAX)?.map(|max_lag| max_lag as u64);
        let infer = slf.get().infer(infer)?;
        slf.get().wait_until_free(py)?;
        PyCollectStream::start(slf, collect_size, infer, depth, max_lag)
    }

    #[pyo3(signature = (version=None))]
    fn weights_updated(&self, version: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
        let version = version.map(|version| integer("version", version, 0..=i64::MAX)).transpose()?;
        self.engine.weights_updated(version).or_raise()
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
        PythonInfer::new(callable, self.space(), self.engine.answer().clone(), false)
    }

    pub(crate) fn space(&self) -> &ObservationSpace {
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
    let config = config_from_python(config)?.configure(registry()).or_raise()?;
    Ok(PyEngine { engine: py.detach(|| Engine::new(config)).or_raise()? })
}
