//! The Python module `reinfors._reinfors`: a list of what the other files define.

mod arguments;
mod arrays;
mod batch;
mod engine;
mod error;
mod game;
mod vec_env;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How this module was built: version, profile, target and the instruction sets compiled in.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    info.set_item("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
    info.set_item("cpu_features", cpu_features())?;
    Ok(info)
}

/// Instruction sets the compiler was allowed to use, of those that matter for speed.
fn cpu_features() -> Vec<&'static str> {
    let compiled = [
        ("sse2", cfg!(target_feature = "sse2")),
        ("avx", cfg!(target_feature = "avx")),
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("avx512f", cfg!(target_feature = "avx512f")),
        ("neon", cfg!(target_feature = "neon")),
    ];
    compiled.into_iter().filter_map(|(name, has)| has.then_some(name)).collect()
}

#[pymodule]
fn _reinfors(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<game::PyGame>()?;
    module.add_class::<vec_env::PyVecEnv>()?;
    module.add_class::<engine::PyEngine>()?;
    module.add_class::<engine::PyCollectStream>()?;
    module.add_class::<batch::PyPpoRecords>()?;
    module.add_class::<batch::PyPpoBatch>()?;
    module.add_class::<batch::PyMinibatches>()?;
    module.add_function(wrap_pyfunction!(game::registered, module)?)?;
    module.add_function(wrap_pyfunction!(game::describe, module)?)?;
    module.add_function(wrap_pyfunction!(engine::engine_from_config, module)?)?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    let stop = wrap_pyfunction!(engine::stop_live_streams, module)?;
    module.py().import("atexit")?.call_method1("register", (stop,))?;
    Ok(())
}
