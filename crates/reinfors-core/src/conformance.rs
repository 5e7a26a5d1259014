//! The conformance test that every registered game passes.
