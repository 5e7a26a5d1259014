//! Settings across the border: policies and learners by their classes, and the whole configuration as a
//! dictionary.

use crate::arguments::{
    OrRaise, count, number, optional_count, options, seed, seed_to_python, text, wrong_type, wrong_value,
};
use crate::game::option_to_python;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use reinfors_core::OptionValue;
use reinfors_engine::config::MAX_GAMES;
use reinfors_engine::{Learner, Policy, ResolvedConfig};
use reinfors_games::registry;

/// A policy of `reinfors.policies`, by its attributes, and the shape of what it remembers.
pub(crate) fn policy(value: &Bound<'_, PyAny>) -> PyResult<(Policy, Vec<usize>)> {
    let (name, settings) = declared("policy", value, "policies", &Policy::declared())?;
    Policy::parse(name, &settings).or_raise()
}

/// A learner of `reinfors.learners`, by its attributes.
pub(crate) fn learner(value: &Bound<'_, PyAny>) -> PyResult<Learner> {
    let (name, settings) = declared("learner", value, "learners", &Learner::declared())?;
    Learner::parse(name, &settings).or_raise()
}

/// Which of the `declared` classes of `reinfors.module` a value is an instance of, and its attributes.
fn declared(
    argument: &str,
    value: &Bound<'_, PyAny>,
    module: &str,
    declared: &[(&'static str, Vec<&'static str>)],
) -> PyResult<(&'static str, Vec<(String, OptionValue)>)> {
    let classes = value.py().import(format!("reinfors.{module}"))?;
    for (name, settings) in declared {
        if value.is_instance(&classes.getattr(*name)?)? {
            let table = PyDict::new(value.py());
            for setting in settings {
                table.set_item(setting, value.getattr(*setting)?)?;
            }
            return Ok((name, options(&table)?));
        }
    }
    let names: Vec<_> = declared.iter().map(|(name, _)| format!("reinfors.{module}.{name}")).collect();
    Err(wrong_type(argument, &format!("an instance of {}", names.join(" or ")), value))
}

/// A configuration as a dictionary that JSON can hold.
pub(crate) fn config_to_python<'py>(
    py: Python<'py>,
    config: &ResolvedConfig,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let options = PyDict::new(py);
    for (name, value) in &config.options {
        options.set_item(name, option_to_python(py, value)?)?;
    }
    let named = |name: &str, settings: Vec<(&'static str, OptionValue)>| {
        let table = [("name", name)].into_py_dict(py)?;
        for (name, value) in settings {
            table.set_item(name, option_to_python(py, &value)?)?;
        }
        PyResult::Ok(table)
    };
    dict.set_item("game", &config.game)?;
    dict.set_item("options", options)?;
    dict.set_item("reward", config.reward.clone().into_py_dict(py)?)?;
    dict.set_item("policy", named(config.policy.name(), config.policy.settings(&config.state_shape))?)?;
    dict.set_item("learner", named(config.learner.name(), config.learner.settings())?)?;
    dict.set_item("n_games", config.n_games)?;
    dict.set_item("n_threads", config.n_threads)?;
    dict.set_item("seed", seed_to_python(py, &config.seed)?)?;
    Ok(dict)
}

/// The inverse of [`config_to_python`], as complete as that; whether the values are allowed is the engine's
/// to say.
pub(crate) fn config_from_python(config: &Bound<'_, PyAny>) -> PyResult<ResolvedConfig> {
    const KEYS: [&str; 8] =
        ["game", "options", "reward", "policy", "learner", "n_games", "n_threads", "seed"];
    let config = table("config", config, &KEYS)?;
    let item = |name: &str| config.as_any().get_item(name);
    let part = |name: &str, keys: &[&str]| table(&format!("config[{name:?}]"), &item(name)?, keys);
    let game = text("config[\"game\"]", &item("game")?)?;
    let registration = registry().get(&game).or_raise()?;
    let option_names: Vec<_> = (registration.options)().iter().map(|option| option.name).collect();
    let reward_names: Vec<_> = registration.reward.iter().map(|key| key.name).collect();
    let (policy_name, policy) = named_part(&item("policy")?, "policy", &Policy::declared())?;
    let (policy, state_shape) = Policy::parse(policy_name, &policy).or_raise()?;
    let (learner_name, learner) = named_part(&item("learner")?, "learner", &Learner::declared())?;
    let (n_threads, seed_given) = (item("n_threads")?, item("seed")?);
    Ok(ResolvedConfig {
        game,
        options: options(&part("options", &option_names)?)?,
        reward: weights(&part("reward", &reward_names)?)?,
        policy,
        state_shape,
        learner: Learner::parse(learner_name, &learner).or_raise()?,
        n_games: count("n_games", &item("n_games")?, 1..=MAX_GAMES as i64)?,
        n_threads: optional_count("n_threads", (!n_threads.is_none()).then_some(&n_threads), 1..=i64::MAX)?,
        seed: seed("seed", &seed_given)?
            .ok_or_else(|| wrong_type("seed", "a non-negative integer", &seed_given))?,
    })
}

/// The policy or learner that a dictionary names, and its settings, all of them.
fn named_part(
    value: &Bound<'_, PyAny>,
    argument: &str,
    declared: &[(&'static str, Vec<&'static str>)],
) -> PyResult<(&'static str, Vec<(String, OptionValue)>)> {
    let place = format!("config[{argument:?}]");
    let wrong = || wrong_type(&place, "a dict as in resolved_config()", value);
    let name = value.cast::<PyDict>().map_err(|_| wrong())?.get_item("name")?;
    let name = name.map_or(Ok(String::new()), |name| text(&format!("{place}[\"name\"]"), &name))?;
    let Some((name, settings)) = declared.iter().find(|(known, _)| *known == name) else {
        let names: Vec<_> = declared.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        return Err(PyValueError::new_err(format!(
            "{place} must have as \"name\" one of {names}, got {name:?}"
        )));
    };
    let keys: Vec<_> = std::iter::once("name").chain(settings.iter().copied()).collect();
    let settings = table(&place, value, &keys)?.copy()?;
    settings.del_item("name")?;
    Ok((name, options(&settings)?))
}

/// A dictionary with exactly these keys.
fn table<'py>(name: &str, value: &Bound<'py, PyAny>, keys: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    let table =
        value.cast::<PyDict>().map_err(|_| wrong_type(name, "a dict as in resolved_config()", value))?;
    for key in table.keys() {
        if !keys.contains(&text(&format!("a key of {name}"), &key)?.as_str()) {
            return Err(wrong_value(
                &format!("a key of {name}"),
                &format!("one of {}", keys.join(", ")),
                &key,
            ));
        }
    }
    for key in keys {
        if !table.contains(key)? {
            let keys = keys.join(", ");
            return Err(PyValueError::new_err(format!("{name} has no {key:?}; its keys are {keys}")));
        }
    }
    Ok(table.clone())
}

/// The weights of `reinfors.Reward`, or none for the game's defaults.
pub(crate) fn reward_weights(reward: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, f64)>> {
    let Some(reward) = reward else { return Ok(Vec::new()) };
    let table = instance("reward", reward, ("reward", "Reward"))?.getattr("weights")?;
    weights(table.cast().map_err(|_| wrong_type("the weights of reward", "a dict", &table))?)
}

/// Reward weights by key.
pub(crate) fn weights(table: &Bound<'_, PyDict>) -> PyResult<Vec<(String, f64)>> {
    let read = |(name, weight): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = text("the name of a reward", &name)?;
        let weight = number(&format!("reward {name}"), &weight)?;
        Ok((name, weight))
    };
    table.iter().map(read).collect()
}

/// The value of the argument `name`, if it is an instance of the class `reinfors.module.class`.
fn instance<'a, 'py>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
    (module, class): (&str, &str),
) -> PyResult<&'a Bound<'py, PyAny>> {
    if value.is_instance(&value.py().import(format!("reinfors.{module}"))?.getattr(class)?)? {
        return Ok(value);
    }
    Err(wrong_type(name, &format!("an instance of reinfors.{module}.{class}"), value))
}
