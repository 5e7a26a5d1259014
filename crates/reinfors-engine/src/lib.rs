//! Worker threads, rollouts and streams over batches of games.
//!
//! [`Engine`] drives any game of the core's contract and asks an [`Infer`] for decisions; nothing here knows
//! a game or Python. Results are a function of configuration, seed and answers, never of threads or timing.

pub mod buffer;
mod clock;
pub mod config;
mod engine;
mod error;
pub mod evaluate;
pub mod gae;
pub mod head;
pub mod infer;
pub mod observation;
mod pacing;
pub mod pool;
mod ppo;
mod rollout;
pub mod shard;
mod slot;
mod snapshot;
mod stream;
mod telemetry;
pub mod vec_env;

pub use buffer::ObservationView;
pub use config::{EngineConfig, Learner, Policy, ResolvedConfig};
pub use engine::Engine;
pub use error::{EngineError, EngineErrorKind};
pub use head::{Head, HeadKind};
pub use infer::{Infer, InferError, Inference};
pub use ppo::{ActionArray, PpoBatch};
pub use stream::CollectStream;
pub use telemetry::{Bottleneck, Episode, Lag, Seconds, Telemetry};
