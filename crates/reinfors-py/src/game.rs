//! `Game`: a registered game with its options settled, and what the registry says of each game.

use crate::arguments::{OrRaise, items, optional_dict, options, text, wrong_type, wrong_value};
use crate::arrays::by_part;
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use reinfors_core::{ActionSpace, ConfiguredGame, GameSpec, ObservationSpace, OptionSpec, OptionValue};
use reinfors_games::registry;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A registered game with its options settled.
#[pyclass(name = "Game", module = "reinfors._reinfors", subclass, frozen)]
pub(crate) struct PyGame {
    pub(crate) game: ConfiguredGame,
}

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(signature = (name, options=None, /))]
    fn new(name: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let registration = registry().get(&text("the name of a game", name)?).or_raise()?;
        let given = optional_dict("options", options)?.map(self::options).transpose()?.unwrap_or_default();
        Ok(Self { game: registration.configure(&given).or_raise()? })
    }

    /// The registry's key.
    #[getter]
    fn id(&self) -> &'static str {
        self.game.spec().id
    }

    /// The public name.
    #[getter]
    fn name(&self) -> &'static str {
        self.game.spec().name
    }

    /// Every option with its value, defaults included.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in self.game.options() {
            dict.set_item(name, option_to_python(py, value)?)?;
        }
        Ok(dict)
    }

    /// How many agents act in one of its worlds.
    #[getter]
    fn n_agents(&self) -> usize {
        self.game.spec().n_agents
    }

    /// Shape of one observation, by part where there are several.
    #[getter]
    fn obs_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        obs_shape(py, &self.game.spec().observation)
    }

    /// Type of the numbers of an observation, by part where there are several.
    #[getter]
    fn obs_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dtype = py.import("numpy")?.getattr("dtype")?;
        by_part(py, &self.game.spec().observation, |_, part| dtype.call1((part.element.name(),)))
    }

    /// What each number of the state vector is, or `None` where none is observed.
    #[getter]
    fn state_names(&self) -> Option<Vec<&'static str>> {
        let parts = &self.game.spec().observation.parts;
        let entries = parts.iter().map(|part| part.entries).find(|entries| !entries.is_empty())?;
        Some(entries.iter().map(|entry| entry.name).collect())
    }

    /// Number of actions, or `None` where actions are vectors.
    #[getter]
    fn n_actions(&self) -> Option<usize> {
        match &self.game.spec().action {
            ActionSpace::Discrete { names } => Some(names.len()),
            ActionSpace::Continuous { .. } => None,
        }
    }

    /// What each action does, or `None` where actions are vectors.
    #[getter]
    fn action_names(&self) -> Option<Vec<String>> {
        match &self.game.spec().action {
            ActionSpace::Discrete { names } => Some(names.clone()),
            ActionSpace::Continuous { .. } => None,
        }
    }

    /// Lower bounds of an action vector, or `None` where actions are numbered.
    #[getter]
    fn action_low<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        match &self.game.spec().action {
            ActionSpace::Continuous { low, .. } => Some(PyArray1::from_slice(py, low)),
            ActionSpace::Discrete { .. } => None,
        }
    }

    /// Upper bounds of an action vector, or `None` where actions are numbered.
    #[getter]
    fn action_high<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        match &self.game.spec().action {
            ActionSpace::Continuous { high, .. } => Some(PyArray1::from_slice(py, high)),
            ActionSpace::Discrete { .. } => None,
        }
    }

    /// Reward keys with their default weights.
    #[getter]
    fn reward_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.game.spec().reward.iter().map(|key| (key.name, key.default)).into_py_dict(py)
    }

    /// Steps of the simulator after which an episode is cut off, or `None`.
    #[getter]
    fn max_steps(&self) -> Option<u32> {
        self.game.spec().pacing.max_steps.map(Into::into)
    }

    /// How an episode can terminate.
    #[getter]
    fn end_reasons(&self) -> Vec<&'static str> {
        self.game.spec().end_reasons.to_vec()
    }

    /// What can be chosen at a reset, with the defaults.
    #[getter]
    fn reset_flags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.game.spec().reset_flags.iter().map(|flag| (flag.name, flag.default)).into_py_dict(py)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyDict>)> {
        Ok((self.id(), self.options(py)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = &other.get().game;
            self.game.spec().id == other.spec().id && self.game.options() == other.options()
        })
    }

    fn __hash__(&self) -> isize {
        let mut hasher = DefaultHasher::new();
        self.game.spec().id.hash(&mut hasher);
        self.game.options().iter().for_each(|(_, value)| hash_option(value, &mut hasher));
        hasher.finish() as isize
    }

    fn __repr__(&self) -> String {
        let options: Vec<String> =
            self.game.options().iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}({})", self.name(), options.join(", "))
    }
}

impl PyGame {
    /// The game that was given as the argument `game`.
    pub(crate) fn from_argument(game: &Bound<'_, PyAny>) -> PyResult<ConfiguredGame> {
        let given =
            game.cast::<Self>().map_err(|_| wrong_type("game", "a game made by reinfors.games", game))?;
        Ok(given.get().game.clone())
    }
}

/// The public names of all games, in the order of registration.
#[pyfunction]
pub(crate) fn registered() -> Vec<&'static str> {
    registry().iter().map(|game| game.name).collect()
}

/// What a game declares: its options, reward keys, ends and documentation.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub(crate) fn describe<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let game = registry().get(&text("the name of a game", name)?).or_raise()?;
    let options = PyList::empty(py);
    for option in (game.options)() {
        let row = PyDict::new(py);
        row.set_item("name", option.name)?;
        row.set_item("default", default_to_python(py, &option)?)?;
        row.set_item("annotation", option.annotation)?;
        row.set_item("allowed", option.allowed)?;
        row.set_item("doc", option.doc)?;
        options.append(row)?;
    }
    let reward = PyList::empty(py);
    for key in game.reward {
        let row = PyDict::new(py);
        row.set_item("name", key.name)?;
        row.set_item("default", key.default)?;
        row.set_item("doc", key.doc)?;
        reward.append(row)?;
    }
    let flags = PyList::empty(py);
    for flag in game.reset_flags {
        let row = PyDict::new(py);
        row.set_item("name", flag.name)?;
        row.set_item("default", flag.default)?;
        row.set_item("doc", flag.doc)?;
        flags.append(row)?;
    }
    let state = PyList::empty(py);
    for entry in game.state {
        let row = PyDict::new(py);
        row.set_item("name", entry.name)?;
        row.set_item("low", entry.low)?;
        row.set_item("high", entry.high)?;
        row.set_item("doc", entry.doc)?;
        state.append(row)?;
    }
    let description = PyDict::new(py);
    description.set_item("id", game.id)?;
    description.set_item("name", game.name)?;
    description.set_item("doc", game.doc)?;
    description.set_item("options", options)?;
    description.set_item("reward", reward)?;
    description.set_item("end_reasons", game.end_reasons.to_vec())?;
    description.set_item("reset_flags", flags)?;
    description.set_item("state", state)?;
    Ok(description)
}

/// Shapes by part.
pub(crate) fn obs_shape<'py>(py: Python<'py>, space: &ObservationSpace) -> PyResult<Bound<'py, PyAny>> {
    by_part(py, space, |_, part| Ok(PyTuple::new(py, &part.shape)?.into_any()))
}

/// The default of an option as its annotation has it: a tuple where that says so.
fn default_to_python<'py>(py: Python<'py>, option: &OptionSpec) -> PyResult<Bound<'py, PyAny>> {
    let default = option_to_python(py, &option.default)?;
    match default.cast::<PyList>() {
        Ok(list) if option.annotation.starts_with("tuple") => Ok(list.to_tuple().into_any()),
        _ => Ok(default),
    }
}

/// The value of an option in Python.
pub(crate) fn option_to_python<'py>(py: Python<'py>, value: &OptionValue) -> PyResult<Bound<'py, PyAny>> {
    match value {
        OptionValue::None => Ok(py.None().into_bound(py)),
        OptionValue::Bool(value) => value.into_bound_py_any(py),
        OptionValue::Int(value) => value.into_bound_py_any(py),
        OptionValue::Float(value) => value.into_bound_py_any(py),
        OptionValue::Text(value) => value.into_bound_py_any(py),
        OptionValue::List(values) => {
            let values: Vec<_> =
                values.iter().map(|value| option_to_python(py, value)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, values)?.into_any())
        }
    }
}

/// Feeds what equal options have in common: a zero has two signs.
fn hash_option(value: &OptionValue, hasher: &mut DefaultHasher) {
    match value {
        OptionValue::Float(value) => (value + 0.0).to_bits().hash(hasher),
        OptionValue::List(values) => values.iter().for_each(|value| hash_option(value, hasher)),
        other => other.to_string().hash(hasher),
    }
}

/// The reset flags and the mask out of the options.
pub(crate) fn reset_options(
    spec: &GameSpec,
    n_envs: usize,
    options: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<bool>, Option<Vec<bool>>)> {
    const MASK: &str = "an array of bool";
    let (mut flags, mut mask) = (spec.default_flags(), None);
    for (key, value) in optional_dict("options", options)?.into_iter().flatten() {
        if key.eq("reset_mask")? {
            let marks = items("reset_mask", &value, n_envs, MASK)?;
            let marks = marks.iter().map(|mark| mark.extract::<bool>());
            mask = Some(marks.collect::<PyResult<_>>().map_err(|_| wrong_type("reset_mask", MASK, &value))?);
            continue;
        }
        let is_named: Vec<bool> =
            spec.reset_flags.iter().map(|flag| key.eq(flag.name)).collect::<PyResult<_>>()?;
        let Some(at) = is_named.iter().position(|is_named| *is_named) else {
            let names: Vec<_> = spec.reset_flags.iter().map(|flag| flag.name).chain(["reset_mask"]).collect();
            return Err(wrong_value("a key of options", &names.join(" or "), &key));
        };
        flags[at] =
            value.extract::<bool>().map_err(|_| wrong_type(spec.reset_flags[at].name, "a bool", &value))?;
    }
    Ok((flags, mask))
}
