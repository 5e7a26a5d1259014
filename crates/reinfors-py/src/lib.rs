//! The Python module: classes that forward to the engine.
