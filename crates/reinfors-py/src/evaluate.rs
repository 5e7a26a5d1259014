//! Whole episodes of given seeds; `reinfors.evaluation` makes statistics of them.

use crate::arguments::{OrRaise, optional_count, seed, seed_to_python, wrong_type};
use crate::config::reward_weights;
use crate::game::PyGame;
use crate::infer::PythonInfer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use reinfors_engine::InferError;
use reinfors_engine::config::MAX_GAMES;
use reinfors_engine::evaluate::{Evaluation, evaluate};

/// Plays one episode per seed and returns what each came to.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keywords of Python's function")]
#[pyo3(signature = (game, infer, seeds, policy, reward, deterministic, n_games, n_threads, on_end))]
pub(crate) fn play_episodes<'py>(
    py: Python<'py>,
    game: &Bound<'py, PyAny>,
    infer: &Bound<'py, PyAny>,
    seeds: &Bound<'py, PyList>,
    policy: &Bound<'py, PyAny>,
    reward: Option<&Bound<'py, PyAny>>,
    deterministic: &Bound<'py, PyAny>,
    n_games: Option<&Bound<'py, PyAny>>,
    n_threads: Option<&Bound<'py, PyAny>>,
    on_end: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let read = |(at, value): (usize, Bound<'py, PyAny>)| {
        let name = format!("seeds[{at}]");
        seed(&name, &value)?.ok_or_else(|| wrong_type(&name, "a non-negative integer", &value))
    };
    let game = PyGame::from_argument(game)?;
    let reward = reward_weights(reward)?;
    let (policy, state_shape) = crate::config::policy(policy)?;
    let evaluation = Evaluation {
        game,
        reward,
        policy,
        state_shape,
        seeds: seeds.iter().enumerate().map(read).collect::<PyResult<_>>()?,
        deterministic: deterministic
            .extract()
            .map_err(|_| wrong_type("deterministic", "a bool", deterministic))?,
        n_games: optional_count("n_games", n_games, 1..=MAX_GAMES as i64)?,
        n_threads: optional_count("n_threads", n_threads, 1..=i64::MAX)?,
    };
    if let Some(on_end) = on_end.as_ref().filter(|on_end| !on_end.is_callable()) {
        return Err(wrong_type("progress", "callable: progress(done, total)", on_end));
    }
    let total = seeds.len();
    let on_end = on_end.map(Bound::unbind);
    let mut on_end = |done: usize| {
        let Some(on_end) = &on_end else { return Ok(()) };
        let told = Python::attach(|py| on_end.call1(py, (done, total)).map(drop));
        told.map_err(|raised| InferError::with_payload(raised.to_string(), Box::new(raised)))
    };
    let needed = evaluation.answer().or_raise()?;
    let mut infer = PythonInfer::new(infer, &evaluation.game.spec().observation, needed, true)?;
    let played = py.detach(|| evaluate(&evaluation, &mut infer, &mut on_end)).or_raise()?;
    let episodes = PyList::empty(py);
    for (episode, seed) in played.iter().zip(&evaluation.seeds) {
        let row = PyDict::new(py);
        row.set_item("return", episode.total_reward)?;
        row.set_item("length", episode.length)?;
        row.set_item("ended", episode.ended)?;
        row.set_item("seed", seed_to_python(py, seed)?)?;
        episodes.append(row)?;
    }
    Ok(episodes)
}
