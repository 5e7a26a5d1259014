//! Behaviour of the engine over a small deterministic game.

mod combinations;
mod config;
mod determinism;
mod evaluate;
mod foreign;
mod halves;
mod lag;
mod network;
mod observations;
mod orders;
mod pool;
mod replay;
mod rollout;
mod snapshot;
mod stream;
mod toy;
