//! What can go wrong, in one list. A message says what was given and what is allowed.

use crate::infer::InferError;
use crate::pool::PoolError;
use reinfors_core::{AnyBatch, Failure};

/// The nature of an error, for a caller that maps it to its own language's exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// The value has a type that is not accepted at this place.
    Type,
    /// The type is right and the value is not.
    Value,
    /// The engine is in use elsewhere.
    Busy,
    /// The object cannot do this any more: an ended stream, a fork of the owning process.
    State,
    /// The caller's own code failed: `infer`, or a game that lives there.
    Infer,
    /// A defect of a game or of this library, or a refusal of the operating system.
    Internal,
}

/// A refused input or an interrupted window. Either way the games are where they were before the call.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The game or its contract refused something.
    #[error(transparent)]
    Game(#[from] reinfors_core::Error),
    /// A setting outside what is allowed.
    #[error("{name} must be {allowed}, got {given}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The allowed values.
        allowed: String,
        /// The value that was given.
        given: String,
    },
    /// `infer` returned what the games cannot be stepped with.
    #[error("{0}")]
    Output(String),
    /// A number of the batch is beyond `float32`, or not a number: what it was made of is too large.
    #[error(
        "{field} of row {row} would be {given:?}, which float32 cannot hold; needed are reward weights and \
         values of infer so small that rewards, advantages and returns fit"
    )]
    Overflow {
        /// The field of the batch.
        field: &'static str,
        /// Its row.
        row: usize,
        /// The number.
        given: f64,
    },
    /// `infer` failed.
    #[error("{0}")]
    Infer(InferError),
    /// Worlds that live elsewhere failed. The games begin new episodes, unless those can go back.
    #[error("{0}")]
    Worlds(Failure),
    /// The engine is in use.
    #[error("{0}")]
    Busy(String),
    /// The stream has ended.
    #[error("the stream has ended: {0}")]
    Ended(String),
    /// A replay buffer cannot take or give this.
    #[error("{0}")]
    Replay(String),
    /// A replay buffer has nothing to give yet.
    #[error("the replay buffer is empty: add a batch of transitions first")]
    EmptyReplay,
    /// An environment without an episode cannot be stepped, drawn or saved.
    #[error("environment {env} was never reset: call reset() first")]
    NotReset {
        /// Its index.
        env: usize,
    },
    /// There is no step in the background to wait for.
    #[error("no step is under way: send(actions) starts one")]
    NotSent,
    /// The worker threads could not do it.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The snapshot was taken under another configuration, or is none.
    #[error("cannot restore the snapshot: {0}")]
    Snapshot(String),
    /// The caller's `infer` panicked, or the operating system refused something.
    #[error("{0}")]
    Internal(String),
}

/// Passes on the first failure of worlds that live elsewhere.
pub(crate) fn check_worlds<'a>(
    batches: impl IntoIterator<Item = &'a mut Box<dyn AnyBatch>>,
) -> Result<(), EngineError> {
    let failure = batches.into_iter().find_map(|batch| batch.take_failure());
    failure.map_or(Ok(()), |failure| Err(EngineError::Worlds(failure)))
}

impl EngineError {
    /// Whose fault it was.
    #[must_use]
    pub fn kind(&self) -> EngineErrorKind {
        match self {
            Self::Game(error) => match error.kind() {
                reinfors_core::ErrorKind::Type => EngineErrorKind::Type,
                reinfors_core::ErrorKind::Value => EngineErrorKind::Value,
            },
            Self::Setting { .. }
            | Self::Output(_)
            | Self::Overflow { .. }
            | Self::Snapshot(_)
            | Self::Replay(_) => EngineErrorKind::Value,
            Self::Infer(_) | Self::Worlds(_) => EngineErrorKind::Infer,
            Self::Busy(_) => EngineErrorKind::Busy,
            Self::Ended(_)
            | Self::EmptyReplay
            | Self::NotReset { .. }
            | Self::NotSent
            | Self::Pool(PoolError::Forked { .. }) => EngineErrorKind::State,
            Self::Pool(_) | Self::Internal(_) => EngineErrorKind::Internal,
        }
    }
}
