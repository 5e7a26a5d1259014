//! What a step of several environments returned, as Gymnasium has it.

use crate::arrays::hand_over_observations;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use reinfors_core::GameSpec;
use reinfors_engine::vec_env::{InfoColumn, Stepped};

/// Observations, rewards, terminated, truncated and infos, one row per agent of each environment.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    (observations, step): Stepped,
    spec: &GameSpec,
) -> PyResult<Bound<'py, PyTuple>> {
    let (n_rows, space) = (step.rewards.len(), &spec.observation);
    let infos = info_dict(py, step.infos)?;
    if !step.finals.is_empty() {
        let numpy = py.import("numpy")?;
        let finals = numpy.call_method1("full", (n_rows, py.None(), "object"))?;
        let mut present = vec![false; n_rows];
        for (row, observation) in step.finals {
            present[row] = true;
            finals.set_item(row, hand_over_observations(py, observation, space, None)?)?;
        }
        infos.set_item("final_obs", finals)?;
        infos.set_item("final_info", info_dict(py, step.final_infos)?)?;
        let by_env = present.iter().copied().step_by(spec.n_agents);
        infos.set_item("_final_info", PyArray1::from_iter(py, by_env))?;
        infos.set_item("_final_obs", PyArray1::from_vec(py, present))?;
    }
    let observations = hand_over_observations(py, observations, space, Some(n_rows))?;
    let rewards = PyArray1::from_vec(py, step.rewards).into_any();
    let terminated = PyArray1::from_vec(py, step.terminated).into_any();
    let truncated = PyArray1::from_vec(py, step.truncated).into_any();
    PyTuple::new(py, [observations, rewards, terminated, truncated, infos.into_any()])
}

/// Gymnasium's dictionary of arrays, `_name` marking the environments that report `name`.
pub(crate) fn info_dict(py: Python<'_>, infos: Vec<InfoColumn>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for column in infos {
        dict.set_item(column.name, PyArray1::from_vec(py, column.values))?;
        dict.set_item(format!("_{}", column.name), PyArray1::from_vec(py, column.present))?;
    }
    Ok(dict)
}
