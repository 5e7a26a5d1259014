//! Fixed work for `make bench-check`, which counts the instructions of [`measured`] under callgrind: what the
//! engine itself takes for its records, beside a game that costs next to nothing.
//!
//! `instructions WORKLOAD` does the work; without a name it prints the names.

#[path = "../tests/integration/toy.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod toy;

use reinfors_engine::{Engine, EngineConfig, InferError, Inference, ObservationView};
use std::hint::black_box;

const GAMES: usize = 64;
const RECORDS: usize = 4096;
const WORKLOAD: &str = "engine.collect";

/// Collects a batch: the only function whose instructions are counted.
#[inline(never)]
fn measured(engine: &Engine) {
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        out.set(&[0.0; 3].repeat(obs.rows()), &vec![0.0; obs.rows()]);
        Ok::<_, InferError>(())
    };
    black_box(engine.collect(RECORDS, &mut infer).expect("a batch"));
}

fn main() {
    let Some(wanted) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        return println!("{WORKLOAD}");
    };
    if wanted == WORKLOAD {
        let config = EngineConfig {
            n_threads: Some(1),
            seed: Some(1.into()),
            ..EngineConfig::new(toy::drift(&[]), GAMES)
        };
        measured(&Engine::new(config).expect("an engine"));
    }
}
