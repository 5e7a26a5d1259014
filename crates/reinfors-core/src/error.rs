//! What can be refused, in one list. A message says what was given and what is allowed.

/// Result of anything in this crate that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// The nature of an error, for a caller that maps it to its own language's exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The value has a type that is not accepted at this place.
    Type,
    /// The type is right and the value is not.
    Value,
}

/// A refused input. Nothing has moved when one of these is returned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// No game of this name is registered.
    #[error("unknown game {name:?}; registered are {known}")]
    UnknownGame {
        /// The name that was asked for.
        name: String,
        /// The registered names, comma separated.
        known: String,
    },
    /// The game declares no option of this name.
    #[error("{game} has no option {name:?}; its options are {allowed}")]
    UnknownOption {
        /// The game's public name.
        game: &'static str,
        /// The name that was given.
        name: String,
        /// The declared names, comma separated.
        allowed: String,
    },
    /// An option's value has the wrong type.
    #[error("option {name} must be {expected}, got {given}")]
    OptionType {
        /// The option.
        name: &'static str,
        /// The accepted types.
        expected: String,
        /// The value that was given.
        given: String,
    },
    /// An option's value is outside what is allowed.
    #[error("option {name} must be {allowed}, got {given}")]
    OptionValue {
        /// The option.
        name: &'static str,
        /// The allowed values.
        allowed: String,
        /// The value that was given.
        given: String,
    },
    /// A picture of a size that cannot be drawn.
    #[error("size must be {allowed}, got {given}")]
    PictureSize {
        /// The allowed sizes.
        allowed: String,
        /// The size that was given.
        given: String,
    },
    /// Two options contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// The game declares no reward key of this name.
    #[error("unknown reward key {name:?}; the keys of {game} are {allowed}")]
    UnknownReward {
        /// The game's public name.
        game: &'static str,
        /// The key that was given.
        name: String,
        /// The declared keys, comma separated.
        allowed: String,
    },
    /// A reward weight is NaN, infinite or beyond `float32`.
    #[error(
        "reward weight {name} must be a finite number that float32 can hold, got {given:?}; \
         the keys of {game} are {allowed}"
    )]
    RewardWeight {
        /// The game's public name.
        game: &'static str,
        /// The key.
        name: String,
        /// The weight that was given.
        given: f64,
        /// The declared keys, comma separated.
        allowed: String,
    },
    /// Actions of another kind than the action space's.
    #[error("actions must be {expected}, got {given}")]
    ActionType {
        /// What the space asks for.
        expected: String,
        /// What was given.
        given: String,
    },
    /// Another number of actions than rows, or of another width.
    #[error("actions must have shape {expected}, got {given}")]
    ActionShape {
        /// What the space asks for.
        expected: String,
        /// What was given.
        given: String,
    },
    /// An action outside the space.
    #[error("action {given} of row {row} must be {allowed}")]
    ActionValue {
        /// Row of the offending action.
        row: usize,
        /// The allowed values.
        allowed: String,
        /// The value that was given.
        given: String,
    },
    /// A game whose worlds live elsewhere was to be saved or loaded.
    #[error(
        "{game} cannot be saved, loaded, snapshot or restored: its worlds live outside reinfors, which sees \
         their observations only"
    )]
    NotSaved {
        /// The game's public name.
        game: &'static str,
    },
    /// A game of several agents where only one can act.
    #[error(
        "{game} has {n_agents} agents, and {what} is of games of one: step it as reinfors.VecEnv or \
         reinfors.pettingzoo.ParallelEnv"
    )]
    SeveralAgents {
        /// The game's public name.
        game: &'static str,
        /// How many there are.
        n_agents: usize,
        /// What is of games of one.
        what: &'static str,
    },
    /// A saved state that cannot be loaded here.
    #[error("cannot load the saved state: {0}")]
    SavedState(String),
}

impl Error {
    /// Whether the type or the value was at fault.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::OptionType { .. } | Self::ActionType { .. } => ErrorKind::Type,
            _ => ErrorKind::Value,
        }
    }
}
