//! `VecEnv`: environments stepped by the caller, for adapters and evaluation. Forwards to the engine crate's.

use crate::arguments::{
    OrRaise, count, items, optional_count, runtime_error, seed, seed_to_python, text, wrong_type, wrong_value,
};
use crate::arrays::{ActionBuffer, hand_over, hand_over_observations};
use crate::config::reward_weights;
use crate::game::{PyGame, reset_options};
use crate::output::picture_size;
use crate::step::{self, info_dict};
use crate::stream::POLL;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use reinfors_core::ConfiguredGame;
use reinfors_core::rng::Seed;
use reinfors_engine::EngineError;
use reinfors_engine::config::{MAX_GAMES, fresh_seed};
use reinfors_engine::observation::ObservationArray;
use reinfors_engine::vec_env::{AsyncVecEnv, Autoreset, VecEnv, consecutive_seeds};
use std::sync::{Mutex, MutexGuard, TryLockError};

const AUTORESET: [(&str, Autoreset); 3] = [
    ("next_step", Autoreset::NextStep),
    ("same_step", Autoreset::SameStep),
    ("disabled", Autoreset::Disabled),
];

/// Environments of one game, stepped together by the caller.
#[pyclass(name = "VecEnv", module = "reinfors._reinfors", frozen)]
pub(crate) struct PyVecEnv {
    /// Empty once closed.
    env: Mutex<Option<AsyncVecEnv>>,
    #[pyo3(get)]
    game: Py<PyAny>,
    configured: ConfiguredGame,
    #[pyo3(get)]
    n_envs: usize,
    #[pyo3(get)]
    n_threads: usize,
    seed: Seed,
    #[pyo3(get)]
    autoreset: &'static str,
}

#[pymethods]
impl PyVecEnv {
    #[new]
    #[pyo3(signature = (game, n_envs, n_threads=None, seed=None, reward=None, autoreset=None),
           text_signature = "(game, n_envs, n_threads=None, seed=None, reward=None, autoreset='next_step')")]
    fn new(
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        n_envs: &Bound<'_, PyAny>,
        n_threads: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        reward: Option<&Bound<'_, PyAny>>,
        autoreset: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let configured = PyGame::from_argument(game)?;
        let reward = reward_weights(reward)?;
        let n_envs = count("n_envs", n_envs, 1..=MAX_GAMES as i64)?;
        let n_threads = optional_count("n_threads", n_threads, 1..=i64::MAX)?;
        let seed = match seed.map(|value| self::seed("seed", value)).transpose()?.flatten() {
            Some(seed) => seed,
            None => fresh_seed().or_raise()?,
        };
        let (autoreset, mode) = autoreset_mode(autoreset)?;
        let env = py
            .detach(|| VecEnv::new(&configured, &reward, n_envs, n_threads, seed.clone(), mode))
            .or_raise()?;
        let (n_threads, game) = (env.n_threads(), game.clone().unbind());
        let env = Mutex::new(Some(AsyncVecEnv::new(env)));
        Ok(Self { env, game, configured, n_envs, n_threads, seed, autoreset })
    }

    /// The seed of construction, given or drawn.
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        seed_to_python(py, &self.seed)
    }

    /// The seed each environment's random stream began with.
    #[getter]
    fn seeds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let seeds = self.run(py, |env| Ok(env.seeds().map(|seed| seed.cloned()).collect::<Vec<_>>()))?;
        let seeds = seeds.iter().map(|seed| seed.as_ref().map(|seed| seed_to_python(py, seed)).transpose());
        PyList::new(py, seeds.collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_none())
    }

    #[pyo3(signature = (seed=None, options=None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
        let seeds = self.reset_seeds(seed)?;
        let (flags, mask) = reset_options(self.configured.spec(), self.n_envs, options)?;
        let (observations, infos) = self.run(py, |env| {
            let mut observations = env.blank_observations()?;
            let infos = env.reset(&seeds, &flags, mask.as_deref(), &mut observations)?;
            Ok((observations, infos))
        })?;
        Ok((self.observations(py, observations)?, info_dict(py, infos)?))
    }

    #[pyo3(signature = (actions, /))]
    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let actions = self.actions(actions)?;
        let stepped = self.run(py, |env| env.step_into_new(actions.actions()))?;
        step::to_python(py, stepped, self.configured.spec())
    }

    #[pyo3(signature = (actions, /))]
    fn send(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let actions = self.actions(actions)?;
        self.run_any(py, |env| env.send(actions.actions()))
    }

    fn recv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let stepped = loop {
            py.check_signals()?;
            if let Some(stepped) = self.run_any(py, |env| env.recv_timeout(POLL))? {
                break stepped;
            }
        };
        step::to_python(py, stepped, self.configured.spec())
    }

    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let observations = self.run(py, |env| {
            let mut observations = env.blank_observations()?;
            env.observe(&mut observations).map(|()| observations)
        })?;
        self.observations(py, observations)
    }

    #[pyo3(signature = (i, /, size=None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        i: &Bound<'py, PyAny>,
        size: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (i, size) = (self.index(i)?, size.map(picture_size).transpose()?);
        let picture = self.run(py, |env| env.render(i, size))?;
        hand_over(py, picture.rgb, &[picture.height, picture.width, 3])
    }

    #[pyo3(signature = (i, /))]
    fn inspect<'py>(&self, py: Python<'py>, i: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let i = self.index(i)?;
        let inspected = self.run(py, |env| env.inspect(i))?;
        let dict = PyDict::new(py);
        for quantity in inspected {
            dict.set_item(quantity.name, hand_over(py, quantity.values, &quantity.shape)?)?;
        }
        Ok(dict)
    }

    #[pyo3(signature = (i, /))]
    fn save<'py>(&self, py: Python<'py>, i: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let i = self.index(i)?;
        Ok(PyBytes::new(py, &self.run(py, |env| env.save(i))?))
    }

    #[pyo3(signature = (i, data, /))]
    fn load(&self, py: Python<'_>, i: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let i = self.index(i)?;
        let data =
            data.cast::<PyBytes>().map_err(|_| wrong_type("data", "the bytes that save() returned", data))?;
        let data = data.as_bytes();
        self.run(py, |env| env.load(i, data))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let env = self.lock()?.take();
        py.detach(|| env.map(AsyncVecEnv::close));
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __len__(&self) -> usize {
        self.n_envs
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.game)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let game = self.game.bind(py).repr()?;
        Ok(format!(
            "VecEnv({game}, n_envs={}, n_threads={}, autoreset={:?})",
            self.n_envs, self.n_threads, self.autoreset
        ))
    }
}

impl PyVecEnv {
    /// What `f` makes of the environments, of which no step may be under way.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut VecEnv) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        self.run_any(py, |env| env.idle().and_then(f))
    }

    /// What `f` makes of the environments. The interpreter is let go meanwhile, and the lock before it is
    /// taken back.
    fn run_any<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut AsyncVecEnv) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        let mut guard = self.lock()?;
        let env = guard.as_mut().ok_or_else(|| runtime_error("this VecEnv is closed"))?;
        py.detach(|| f(env)).or_raise()
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Option<AsyncVecEnv>>> {
        match self.env.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(runtime_error("this VecEnv is in use by another thread")),
            // A panic inside is a defect; the worlds may be anywhere.
            Err(TryLockError::Poisoned(_)) => {
                Err(runtime_error("this VecEnv is broken by an earlier internal error"))
            }
        }
    }

    fn index(&self, i: &Bound<'_, PyAny>) -> PyResult<usize> {
        count("i", i, 0..=self.n_envs as i64 - 1)
    }

    fn actions(&self, actions: &Bound<'_, PyAny>) -> PyResult<ActionBuffer> {
        let spec = self.configured.spec();
        ActionBuffer::read(actions, &spec.action, self.n_envs * spec.n_agents)
    }

    fn observations<'py>(
        &self,
        py: Python<'py>,
        observations: Vec<ObservationArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let spec = self.configured.spec();
        hand_over_observations(py, observations, &spec.observation, Some(self.n_envs * spec.n_agents))
    }

    /// One seed per environment: an integer `s` means `s + i`.
    fn reset_seeds(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Option<Seed>>> {
        let Some(given) = given else { return Ok(vec![None; self.n_envs]) };
        let is_one = given.is_instance_of::<PyString>()
            || given.is_instance_of::<PyInt>()
            || match given.try_iter() {
                Ok(_) => false,
                Err(error) if error.is_instance_of::<PyTypeError>(given.py()) => true,
                Err(error) => return Err(error),
            };
        if is_one {
            let first = seed("seed", given)?;
            return Ok(
                first.map_or_else(|| vec![None; self.n_envs], |first| consecutive_seeds(&first, self.n_envs))
            );
        }
        let seeds = items("seed", given, self.n_envs, "None, an integer or a list of these")?;
        seeds.iter().enumerate().map(|(env, item)| seed(&format!("seed[{env}]"), item)).collect()
    }
}

fn autoreset_mode(given: Option<&Bound<'_, PyAny>>) -> PyResult<(&'static str, Autoreset)> {
    let Some(given) = given else { return Ok(AUTORESET[0]) };
    // Gymnasium's own constant says the same word, louder.
    let is_constant = given.is_instance(&given.py().import("enum")?.getattr("Enum")?)?;
    let word = if is_constant { given.getattr("name")? } else { given.clone() };
    let given_mode = text("autoreset", &word)?;
    let mode = if is_constant { given_mode.to_lowercase() } else { given_mode };
    let allowed = || AUTORESET.map(|(name, _)| format!("{name:?}")).join(" or ");
    AUTORESET
        .into_iter()
        .find(|(name, _)| *name == mode)
        .ok_or_else(|| wrong_value("autoreset", &allowed(), given))
}
