//! The Python module `reinfors._reinfors`: a list of what the other files define.

mod arguments;
mod arrays;
mod batch;
mod engine;
mod game;
mod stream;
mod vec_env;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
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

#[pymodule]
fn _reinfors(module: &Bound<'_, PyModule>) -> PyResult<()> {
    cpu_level()?;
    load_numpy(module.py())?;
    module.add_class::<game::PyGame>()?;
    module.add_class::<vec_env::PyVecEnv>()?;
    module.add_class::<engine::PyEngine>()?;
    module.add_class::<stream::PyCollectStream>()?;
    module.add_class::<batch::PyPpoRecords>()?;
    module.add_class::<batch::PyPpoBatch>()?;
    module.add_class::<batch::PyMinibatches>()?;
    module.add_function(wrap_pyfunction!(game::registered, module)?)?;
    module.add_function(wrap_pyfunction!(game::describe, module)?)?;
    module.add_function(wrap_pyfunction!(engine::engine_from_config, module)?)?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    let stop = wrap_pyfunction!(stream::stop_live_streams, module)?;
    module.py().import("atexit")?.call_method1("register", (stop,))?;
    Ok(())
}
