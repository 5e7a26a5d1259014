//! The contracts between games and what drives them: spaces, options, rewards, batches, the registry.
//!
//! Nothing here knows a game, a thread or Python. A game implements [`Game`]; drivers hold [`AnyBatch`].

mod batch;
mod cancel;
mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod foreign;
mod frames;
mod game;
mod observation;
mod option;
mod registry;
mod reward;
pub mod rng;
mod space;

pub use batch::{AnyBatch, AnyCanvas, Batch, Outcome, Turn};
pub use cancel::CancelToken;
pub use codec::{decode, encode};
pub use error::{Error, ErrorKind, Result};
pub use foreign::{Failure, ForeignBatch, Worlds};
pub use game::{Action, Errand, Game, Inspected, Pacing, Picture, PictureSize, Ready, ResetFlag, Step};
pub use observation::{Element, ObservationPart, ObservationSpace, StateEntry};
pub use option::{OptionSpec, OptionType, OptionValue, Options};
pub use registry::{ConfiguredGame, GameSpec, Registration, Registry};
pub use reward::{RewardKey, weights};
/// What [`options!`] expands to calls of.
#[doc(hidden)]
pub mod options {
    pub use crate::option::{accept, allowed_in};
}
pub use space::{ActionSpace, Actions};
