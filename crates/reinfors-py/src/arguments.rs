//! Python values as the native types that constructors and methods take, refused by name where they do not fit.
//!
//! Truth values are never counts or numbers here: `n_envs=True` is a slip. For seeds they are, as in the reference.

use crate::error::OrRaise;
use crate::game::option_to_python;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use reinfors_core::OptionValue;
use reinfors_core::rng::Seed;
use reinfors_engine::config::MAX_GAMES;
use reinfors_engine::{HeadKind, Learner, Policy, ResolvedConfig};
use std::ops::RangeInclusive;

/// Lists inside lists that an option may have; a list that contains itself ends here.
const MAX_NESTING: usize = 8;
/// Characters of a value shown in a message.
const MAX_SHOWN: usize = 80;

/// A value for a message: its text and its type.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let type_name = value.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    match value.repr().map(|text| text.to_string()) {
        Ok(text) if text.chars().count() <= MAX_SHOWN => format!("{text} ({type_name})"),
        Ok(text) => format!("{}... ({type_name})", text.chars().take(MAX_SHOWN).collect::<String>()),
        Err(_) => format!("a {type_name}"),
    }
}

/// A `TypeError` saying what `name` must be and what it was.
pub(crate) fn wrong_type(name: &str, allowed: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("{name} must be {allowed}, got {}", shown(value)))
}

/// A `ValueError` saying what `name` must be and what it was.
pub(crate) fn wrong_value(name: &str, allowed: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("{name} must be {allowed}, got {}", shown(value)))
}

/// Whether this is Python's or NumPy's truth value.
fn is_bool(value: &Bound<'_, PyAny>) -> bool {
    value.extract::<bool>().is_ok()
}

/// An integer of Python or NumPy inside `allowed`.
pub(crate) fn integer(name: &str, value: &Bound<'_, PyAny>, allowed: RangeInclusive<i64>) -> PyResult<i64> {
    let words = if *allowed.end() == i64::MAX {
        format!("an integer of at least {}", allowed.start())
    } else {
        format!("an integer from {} to {}", allowed.start(), allowed.end())
    };
    if is_bool(value) || value.is_instance_of::<PyString>() {
        return Err(wrong_type(name, &words, value));
    }
    match value.extract::<i64>() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        Ok(_) => Err(wrong_value(name, &words, value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(wrong_value(name, &words, value))
        }
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Err(wrong_type(name, &words, value)),
        Err(error) => Err(error),
    }
}

/// An integer inside `allowed` as a count.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>, allowed: RangeInclusive<i64>) -> PyResult<usize> {
    let number = integer(name, value, allowed)?;
    usize::try_from(number).map_err(|_| wrong_value(name, "a count", value))
}

/// A count, or `None`.
pub(crate) fn optional_count(
    name: &str,
    value: Option<&Bound<'_, PyAny>>,
    allowed: RangeInclusive<i64>,
) -> PyResult<Option<usize>> {
    value.map(|value| count(name, value, allowed)).transpose()
}

/// A number of Python or NumPy; whether it is finite and inside its bounds is the callee's to say.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let is_array =
        value.getattr("ndim").is_ok_and(|ndim| ndim.extract::<usize>().map_or(true, |ndim| ndim > 0));
    if is_bool(value) || is_array {
        return Err(wrong_type(name, "a number", value));
    }
    match value.extract::<f64>() {
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(name, "a number", value))
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(wrong_value(name, "a number below 1.8e308", value))
        }
        result => result,
    }
}

/// A text.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract::<String>().map_err(|_| wrong_type(name, "a str", value))
}

/// A seed: a non-negative integer of any size, or `None`.
pub(crate) fn seed(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Seed>> {
    const ALLOWED: &str = "None or a non-negative integer of any size";
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(Some(Seed::from(u64::from(truth))));
    }
    let index = value.py().import("operator")?.getattr("index")?;
    let integer = match index.call1((value,)) {
        Ok(integer) => integer,
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            return Err(wrong_type(name, ALLOWED, value));
        }
        Err(error) => return Err(error),
    };
    if integer.lt(0)? {
        return Err(wrong_value(name, ALLOWED, value));
    }
    let n_words = integer.call_method0("bit_length")?.extract::<usize>()?.div_ceil(32);
    let bytes: Vec<u8> = integer.call_method1("to_bytes", (n_words * 4, "little"))?.extract()?;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    Ok(Some(Seed::from_words(words)))
}

/// The seed as a Python integer.
pub(crate) fn seed_to_python<'py>(py: Python<'py>, seed: &Seed) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = seed.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    py.get_type::<PyInt>().call_method1("from_bytes", (bytes.as_slice(), "little"))
}

/// The keyword arguments of a game.
pub(crate) fn options(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, OptionValue)>> {
    given
        .iter()
        .map(|(name, value)| {
            let name = text("the name of an option", &name)?;
            let value = option_value(&name, &value, MAX_NESTING)?;
            Ok((name, value))
        })
        .collect()
}

fn option_value(name: &str, value: &Bound<'_, PyAny>, nesting: usize) -> PyResult<OptionValue> {
    const ALLOWED: &str = "None, a bool, an int, a float, a str or a list of these";
    let subject = || format!("option {name}");
    if value.is_none() {
        return Ok(OptionValue::None);
    }
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(OptionValue::Bool(truth));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(OptionValue::Text(text));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let Some(nesting) = nesting.checked_sub(1) else {
            return Err(wrong_value(&subject(), &format!("at most {MAX_NESTING} lists deep"), value));
        };
        let items = value.try_iter()?.map(|item| option_value(name, &item?, nesting));
        return items.collect::<PyResult<_>>().map(OptionValue::List);
    }
    if value.hasattr("__array_interface__")? && value.hasattr("tolist")? {
        // NumPy's scalars and arrays as plain numbers and lists of them.
        let plain = value.call_method0("tolist")?;
        if !plain.hasattr("tolist")? {
            let Some(nesting) = nesting.checked_sub(1) else {
                return Err(wrong_type(&subject(), ALLOWED, value));
            };
            return option_value(name, &plain, nesting);
        }
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(OptionValue::Float(value.extract()?));
    }
    match value.extract::<i64>() {
        Ok(integer) => Ok(OptionValue::Int(integer)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(wrong_value(&subject(), "a number of at most 64 bits", value))
        }
        Err(_) => Err(wrong_type(&subject(), ALLOWED, value)),
    }
}

/// The weights of `reinfors.Reward`, or none for the game's defaults.
pub(crate) fn reward_weights(reward: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, f64)>> {
    let Some(reward) = reward else { return Ok(Vec::new()) };
    let table = reward.getattr("weights").ok().and_then(|weights| weights.cast_into::<PyDict>().ok());
    weights(&table.ok_or_else(|| wrong_type("reward", "None or a reinfors.Reward", reward))?)
}

fn weights(table: &Bound<'_, PyDict>) -> PyResult<Vec<(String, f64)>> {
    let read = |(name, weight): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = text("the name of a reward", &name)?;
        let weight = number(&format!("reward {name}"), &weight)?;
        Ok((name, weight))
    };
    table.iter().map(read).collect()
}

/// `reinfors.policies.Ppo`, by its attribute.
pub(crate) fn policy(value: &Bound<'_, PyAny>) -> PyResult<Policy> {
    let wrong = || wrong_type("policy", "a reinfors.policies.Ppo", value);
    let distribution = value.getattr("distribution").map_err(|_| wrong())?;
    let name: Option<String> = distribution.extract().map_err(|_| wrong())?;
    Ok(Policy::Ppo { head: name.map(|name| HeadKind::parse(&name)).transpose().or_raise()? })
}

/// `reinfors.learners.Ppo`, by its attributes.
pub(crate) fn learner(value: &Bound<'_, PyAny>) -> PyResult<Learner> {
    let attribute =
        |name| value.getattr(name).map_err(|_| wrong_type("learner", "a reinfors.learners.Ppo", value));
    Ok(Learner::Ppo {
        gamma: number("gamma", &attribute("gamma")?)?,
        lam: number("lam", &attribute("lam")?)?,
    })
}

/// A configuration as a dictionary that JSON can hold.
pub(crate) fn config_to_python<'py>(
    py: Python<'py>,
    config: &ResolvedConfig,
) -> PyResult<Bound<'py, PyDict>> {
    let Policy::Ppo { head } = config.policy;
    let Learner::Ppo { gamma, lam } = config.learner;
    let dict = PyDict::new(py);
    let options = PyDict::new(py);
    for (name, value) in &config.options {
        options.set_item(name, option_to_python(py, value)?)?;
    }
    dict.set_item("game", &config.game)?;
    dict.set_item("options", options)?;
    dict.set_item("reward", config.reward.clone().into_py_dict(py)?)?;
    dict.set_item("policy", [("distribution", head.map(HeadKind::name))].into_py_dict(py)?)?;
    dict.set_item("learner", [("gamma", gamma), ("lam", lam)].into_py_dict(py)?)?;
    dict.set_item("n_games", config.n_games)?;
    dict.set_item("n_threads", config.n_threads)?;
    dict.set_item("seed", seed_to_python(py, &config.seed)?)?;
    Ok(dict)
}

/// The inverse of [`config_to_python`]; whether the values are allowed is the engine's to say.
pub(crate) fn config_from_python(config: &Bound<'_, PyDict>) -> PyResult<ResolvedConfig> {
    const KEYS: [&str; 8] =
        ["game", "options", "reward", "policy", "learner", "n_games", "n_threads", "seed"];
    let unknown = config.keys().iter().find(|key| !KEYS.iter().any(|known| key.eq(known).unwrap_or(false)));
    if let Some(unknown) = unknown {
        return Err(wrong_value("a key of config", &format!("one of {}", KEYS.join(", ")), &unknown));
    }
    let item = |name: &str| {
        let missing =
            || PyValueError::new_err(format!("config has no {name:?}; its keys are {}", KEYS.join(", ")));
        config.get_item(name)?.ok_or_else(missing)
    };
    let table = |name: &str| {
        let value = item(name)?;
        value
            .cast_into::<PyDict>()
            .map_err(|error| wrong_type(&format!("config[{name:?}]"), "a dict", &error.into_inner()))
    };
    let entry = |name: &str, key: &str| {
        let missing = || PyValueError::new_err(format!("config[{name:?}] has no {key:?}"));
        table(name)?.get_item(key)?.ok_or_else(missing)
    };
    let head: Option<String> = entry("policy", "distribution")?.extract()?;
    let n_threads = item("n_threads")?;
    let seed_given = item("seed")?;
    Ok(ResolvedConfig {
        game: text("config[\"game\"]", &item("game")?)?,
        options: options(&table("options")?)?,
        reward: weights(&table("reward")?)?,
        policy: Policy::Ppo { head: head.map(|name| HeadKind::parse(&name)).transpose().or_raise()? },
        learner: Learner::Ppo {
            gamma: number("gamma", &entry("learner", "gamma")?)?,
            lam: number("lam", &entry("learner", "lam")?)?,
        },
        n_games: count("n_games", &item("n_games")?, 1..=MAX_GAMES as i64)?,
        n_threads: optional_count("n_threads", (!n_threads.is_none()).then_some(&n_threads), 1..=i64::MAX)?,
        seed: seed("seed", &seed_given)?
            .ok_or_else(|| wrong_type("seed", "a non-negative integer", &seed_given))?,
    })
}
