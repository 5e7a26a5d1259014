//! Worker threads, rollouts and streams over batches of games.
//!
//! [`Engine`] drives any game of the core's contract and asks an [`Infer`] for decisions; nothing here knows
//! a game or Python. Results are a function of configuration, seed and answers, never of threads or timing.

pub mod batch;
pub mod buffer;
mod clock;
pub mod config;
mod easel;
mod engine;
mod errand;
mod error;
pub mod evaluate;
mod exchange;
pub mod gae;
mod gather;
mod group;
pub mod head;
pub mod infer;
mod learner;
pub mod observation;
mod pacing;
mod policy;
pub mod pool;
mod ppo;
pub mod replay;
mod rollout;
pub mod shard;
mod slot;
mod snapshot;
mod stream;
mod telemetry;
mod transitions;
pub mod vec_env;
pub mod vtrace;

pub use batch::{ActionArray, Batch, Records};
pub use buffer::ObservationView;
pub use config::{EngineConfig, ResolvedConfig};
pub use engine::Engine;
pub use error::{EngineError, EngineErrorKind};
pub use gather::Gather;
pub use head::{Head, HeadKind};
pub use infer::{Answer, Infer, InferError, Inference, Memory, Recurrent};
pub use learner::Learner;
pub use policy::Policy;
pub use ppo::PpoRecords;
pub use stream::CollectStream;
pub use telemetry::{Bottleneck, Episode, Lag, Seconds, Telemetry};
pub use transitions::TransitionRecords;
pub use vtrace::VtraceRecords;
