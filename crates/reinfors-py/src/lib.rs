//! The Python module `reinfors._reinfors`: a list of what the other files define.

mod arguments;
mod arrays;
mod batch;
mod config;
mod engine;
mod evaluate;
mod foreign;
mod game;
mod infer;
mod off_policy;
mod output;
mod records;
mod replay;
mod step;
mod stream;
mod vec_env;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyString};
use reinfors_games::Level;

/// How this module was built, and the instructions that it uses here.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    info.set_item("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
    info.set_item("cpu_level", cpu_level()?)?;
    Ok(info)
}

/// The level of instructions in use, chosen for this processor when running.
fn cpu_level() -> PyResult<&'static str> {
    let wanted = std::env::var_os("REINFORS_CPU");
    match Level::chosen(wanted.as_deref()) {
        Ok(level) => Ok(level.name()),
        Err((_, known)) => {
            let wanted = wanted.unwrap_or_default();
            Err(PyValueError::new_err(format!(
                "the environment variable REINFORS_CPU must be {known}, got {wanted:?}"
            )))
        }
    }
}

/// Makes NumPy's interface known: `numpy` would look it up at the first array, and panic where an interrupt
/// meets that.
fn load_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    PyArray1::<u8>::zeros(py, 1, false).try_readwrite().map(drop).map_err(Into::into)
}

/// Name and members of a part of the module.
type Part<'py> = (&'static str, Vec<Bound<'py, PyAny>>);

/// The parts of the module, each with its classes and functions, as the stub has them.
fn parts<'py>(module: &Bound<'py, PyModule>) -> PyResult<Vec<Part<'py>>> {
    let py = module.py();
    let function = |function: PyResult<Bound<'py, PyCFunction>>| function.map(Bound::into_any);
    Ok(vec![
        (
            "game",
            vec![
                py.get_type::<game::PyGame>().into_any(),
                function(wrap_pyfunction!(game::registered, module))?,
                function(wrap_pyfunction!(game::describe, module))?,
            ],
        ),
        ("foreign", vec![py.get_type::<foreign::PyForeignGame>().into_any()]),
        ("vec_env", vec![py.get_type::<vec_env::PyVecEnv>().into_any()]),
        (
            "engine",
            vec![
                py.get_type::<engine::PyEngine>().into_any(),
                function(wrap_pyfunction!(engine::engine_from_config, module))?,
            ],
        ),
        ("evaluate", vec![function(wrap_pyfunction!(evaluate::play_episodes, module))?]),
        ("stream", vec![py.get_type::<stream::PyCollectStream>().into_any()]),
        (
            "records",
            vec![
                py.get_type::<records::PyRecords>().into_any(),
                py.get_type::<records::PyMinibatches>().into_any(),
            ],
        ),
        ("batch", vec![py.get_type::<batch::PyBatch>().into_any()]),
        ("replay", vec![py.get_type::<replay::PyReplay>().into_any()]),
        ("off_policy", vec![function(wrap_pyfunction!(off_policy::vtrace, module))?]),
    ])
}

#[pymodule]
fn _reinfors(module: &Bound<'_, PyModule>) -> PyResult<()> {
    cpu_level()?;
    let py = module.py();
    load_numpy(py)?;
    let modules = py.import("sys")?.getattr("modules")?;
    for (name, members) in parts(module)? {
        let name = format!("reinfors._reinfors.{name}");
        let part = PyModule::new(py, &name)?;
        for member in members {
            let name = member.getattr("__name__")?.cast_into::<PyString>()?;
            module.add(name.clone(), &member)?;
            part.add(name, member)?;
        }
        modules.set_item(name, part)?;
    }
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    let stop = wrap_pyfunction!(stream::stop_live_streams, module)?;
    py.import("atexit")?.call_method1("register", (stop,))?;
    Ok(())
}
