//! `ForeignGame`: a game whose worlds are Python's. Called from whichever thread drives the engine, which takes
//! the interpreter for the call.
//!
//! What is called is `reinfors.foreign.batch.Checked`, which has made the caller's arrays into flat ones of the
//! right type; here their lengths are looked at, because memory depends on them.

use crate::arguments::{options, runtime_error, seed_to_python};
use crate::game::PyGame;
use crate::infer::call;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyList, PyTuple};
use reinfors_core::rng::Seed;
use reinfors_core::{
    ActionSpace, Actions, CancelToken, ConfiguredGame, Element, Failure, GameSpec, ObservationPart,
    ObservationSpace, Outcome, Pacing, Picture, Worlds,
};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A game whose worlds are Python's.
#[pyclass(name = "ForeignGame", module = "reinfors._reinfors", extends = PyGame, subclass, frozen)]
pub(crate) struct PyForeignGame;

#[pymethods]
impl PyForeignGame {
    #[new]
    #[pyo3(signature = (name, options, parts, actions, make, /))]
    fn new(
        name: &str,
        options: &Bound<'_, PyDict>,
        parts: Vec<(String, Vec<usize>, String)>,
        actions: &Bound<'_, PyAny>,
        make: Py<PyAny>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let name = interned(name);
        let spec = GameSpec {
            id: name,
            name,
            n_agents: 1,
            observation: ObservationSpace { parts: parts.into_iter().map(part).collect::<PyResult<_>>()? },
            action: action_space(actions)?,
            pacing: Pacing::default(),
            reward: &[],
            end_reasons: &["terminated"],
            reset_flags: &[],
            is_foreign: true,
        };
        let options = self::options(options)?;
        let options = options.into_iter().map(|(name, value)| (interned(&name), value)).collect();
        let (make, dimensions) = (Arc::new(make), spec.action.dimensions());
        let make =
            move |rows| PythonWorlds { make: Arc::clone(&make), made: None, token: None, rows, dimensions };
        let game = PyGame { game: ConfiguredGame::foreign(spec, options, make) };
        Ok(PyClassInitializer::from(game).add_subclass(Self))
    }
}

/// A text that stays, once for each that there ever was.
fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(kept) = texts.get(text) {
        return kept;
    }
    let kept: &'static str = Box::leak(text.into());
    texts.insert(kept);
    kept
}

fn part((name, shape, dtype): (String, Vec<usize>, String)) -> PyResult<ObservationPart> {
    let element = [Element::U8, Element::F32].into_iter().find(|element| element.name() == dtype);
    let element = element.ok_or_else(|| runtime_error(format!("no observation has numbers of {dtype}")))?;
    Ok(ObservationPart {
        name: interned(&name),
        shape,
        element,
        stack_axis: None,
        frames: 1,
        is_scattered: false,
        entries: &[],
    })
}

/// A list of names, or a pair of bounds.
fn action_space(actions: &Bound<'_, PyAny>) -> PyResult<ActionSpace> {
    if actions.is_instance_of::<PyList>() {
        return Ok(ActionSpace::Discrete { names: actions.extract()? });
    }
    let (low, high) = actions.extract()?;
    Ok(ActionSpace::Continuous { low, high })
}

/// Worlds of one batch, made at their first reset.
struct PythonWorlds {
    make: Arc<Py<PyAny>>,
    made: Option<Py<PyAny>>,
    /// One that the worlds have not been told of yet.
    token: Option<CancelToken>,
    rows: usize,
    dimensions: usize,
}

impl PythonWorlds {
    /// What `f` makes of the worlds, with the interpreter; an exception is the failure's payload.
    fn with<T>(&mut self, f: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Failure> {
        let done = Python::try_attach(|py| {
            let made = match &self.made {
                Some(made) => made.bind(py).clone(),
                None => call(self.make.bind(py), vec![self.rows.into_pyobject(py)?.into_any()])?,
            };
            self.made = Some(made.clone().unbind());
            if let Some(token) = self.token.take() {
                let is_cancelled =
                    move |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| token.is_cancelled();
                let is_cancelled = PyCFunction::new_closure(py, None, None, is_cancelled)?.into_any();
                ask(&made, "heed", vec![is_cancelled])?;
            }
            f(&made)
        });
        done.unwrap_or_else(|| Err(runtime_error("the interpreter is shutting down"))).map_err(|raised| {
            let words = Python::try_attach(|py| raised.value(py).to_string()).unwrap_or_default();
            Failure::with_payload(words, Box::new(raised))
        })
    }
}

/// Calls a method with these arguments.
fn ask<'py>(
    worlds: &Bound<'py, PyAny>,
    method: &str,
    arguments: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    call(&worlds.getattr(method)?, arguments)
}

/// An array of so many numbers.
fn array<'py, T: numpy::Element>(
    value: &Bound<'py, PyAny>,
    len: usize,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    let array = value.cast::<PyArray1<T>>().map_err(|_| runtime_error("no array of the right type"))?;
    let array = array.try_readonly()?;
    if array.as_slice()?.len() == len {
        return Ok(array);
    }
    Err(runtime_error(format!("an array of {} numbers where {len} are needed", array.as_slice()?.len())))
}

/// An array for each of so many parts.
fn parts_of<'py>(answer: &Bound<'py, PyAny>, n_parts: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let parts: Vec<Bound<'py, PyAny>> = answer.extract()?;
    if parts.len() == n_parts { Ok(parts) } else { Err(runtime_error(format!("{} parts", parts.len()))) }
}

impl Worlds for PythonWorlds {
    fn reset(&mut self, rows: &[(usize, Option<Seed>)], shown: &mut [Vec<u8>]) -> Result<(), Failure> {
        let n_rows = self.rows;
        self.with(|worlds| {
            let py = worlds.py();
            let numbers = PyArray1::from_iter(py, rows.iter().map(|(row, _)| *row as i64)).into_any();
            let seeds =
                rows.iter().map(|(_, seed)| seed.as_ref().map(|seed| seed_to_python(py, seed)).transpose());
            let seeds = PyList::new(py, seeds.collect::<PyResult<Vec<_>>>()?)?.into_any();
            let parts = ask(worlds, "reset", vec![numbers, seeds])?;
            for (part, shown) in parts_of(&parts, shown.len())?.iter().zip(shown) {
                let size = shown.len() / n_rows;
                let given = array::<u8>(part, rows.len() * size)?;
                for ((row, _), given) in rows.iter().zip(given.as_slice()?.chunks_exact(size)) {
                    shown[row * size..][..size].copy_from_slice(given);
                }
            }
            Ok(())
        })
    }

    fn step(
        &mut self,
        actions: Actions<'_>,
        active: &[bool],
        outcomes: &mut [Outcome],
        shown: &mut [Vec<u8>],
    ) -> Result<(), Failure> {
        let (rows, dimensions) = (self.rows, self.dimensions);
        self.with(|worlds| {
            let py = worlds.py();
            let actions = match actions {
                Actions::Discrete(indices) => PyArray1::from_slice(py, &indices[..rows]).into_any(),
                Actions::Continuous(values) => PyArray1::from_slice(py, &values[..rows * dimensions])
                    .reshape([rows, dimensions])?
                    .into_any(),
            };
            let marks = PyArray1::from_slice(py, active).into_any();
            let answer = ask(worlds, "step", vec![actions, marks])?;
            let (parts, rewards, terminated, truncated): (Bound<'_, PyAny>, _, _, _) = answer.extract()?;
            for (part, shown) in parts_of(&parts, shown.len())?.iter().zip(shown) {
                let given = array::<u8>(part, shown.len())?;
                shown.copy_from_slice(given.as_slice()?);
            }
            let rewards = array::<f64>(&rewards, rows)?;
            let (terminated, truncated) =
                (array::<bool>(&terminated, rows)?, array::<bool>(&truncated, rows)?);
            let ends = terminated.as_slice()?.iter().zip(truncated.as_slice()?);
            let happened = rewards.as_slice()?.iter().zip(ends).zip(active);
            for (outcome, ((reward, (terminated, truncated)), is_active)) in outcomes.iter_mut().zip(happened)
            {
                if *is_active {
                    *outcome = Outcome {
                        reward: *reward,
                        terminated: terminated.then_some(0),
                        truncated: *truncated,
                    };
                }
            }
            Ok(())
        })
    }

    fn render(&mut self, row: usize) -> Result<Picture, Failure> {
        self.with(|worlds| {
            let row = row.into_pyobject(worlds.py())?.into_any();
            let (height, width, rgb): (usize, usize, Bound<'_, PyAny>) =
                ask(worlds, "render", vec![row])?.extract()?;
            let rgb = array::<u8>(&rgb, height * width * 3)?.as_slice()?.to_vec();
            Ok(Picture { width, height, rgb })
        })
    }

    fn checkpoint(&mut self) -> Result<(), Failure> {
        self.with(|worlds| ask(worlds, "checkpoint", vec![]).map(drop))
    }

    fn rollback(&mut self) -> Result<bool, Failure> {
        self.with(|worlds| ask(worlds, "rollback", vec![])?.extract())
    }

    fn heed(&mut self, token: &CancelToken) {
        self.token = Some(token.clone());
    }
}

impl Drop for PythonWorlds {
    fn drop(&mut self) {
        let Some(made) = self.made.take() else { return };
        Python::try_attach(|py| {
            // An exception may be on its way, whose frames let go of these worlds.
            let raised = PyErr::take(py);
            if let Err(error) = made.call_method0(py, "close") {
                error.write_unraisable(py, Some(made.bind(py)));
            }
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}
