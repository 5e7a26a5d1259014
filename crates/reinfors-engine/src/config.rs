//! What an engine is made of: the settings as given, checked, and as plain data with every default filled in.

use crate::EngineError;
use crate::learner::Learner;
use crate::policy::Policy;
use reinfors_core::rng::Seed;
use reinfors_core::{ConfiguredGame, GameSpec, OptionValue, Registry};
use serde::{Deserialize, Serialize};

/// Most games of one engine; a slot is an `int32` and its memory is real.
pub const MAX_GAMES: usize = 65_536;

/// Most records that a window can be asked for, so that what is kept of them beside observations fits into
/// memory.
pub const MAX_RECORDS: usize = 1 << 24;

/// What a caller asks for.
#[derive(Clone)]
pub struct EngineConfig {
    /// The game, its options settled.
    pub game: ConfiguredGame,
    /// Reward weights over the game's defaults.
    pub reward: Vec<(String, f64)>,
    /// How actions are chosen.
    pub policy: Policy,
    /// Shape of what the policy remembers of each slot's episode; empty for nothing.
    pub state_shape: Vec<usize>,
    /// What is made of the records.
    pub learner: Learner,
    /// Parallel episode slots, 1 to [`MAX_GAMES`].
    pub n_games: usize,
    /// Threads that step games, the collecting one included; `None` is as many as there are cores. Never more
    /// are used than there are games. Results do not depend on it.
    pub n_threads: Option<usize>,
    /// Seed of every stream of random numbers; `None` draws one from the operating system.
    pub seed: Option<Seed>,
}

impl EngineConfig {
    /// One game under the defaults.
    #[must_use]
    pub fn new(game: ConfiguredGame, n_games: usize) -> Self {
        Self {
            game,
            reward: Vec::new(),
            policy: Policy::default(),
            state_shape: Vec::new(),
            learner: Learner::default(),
            n_games,
            n_threads: None,
            seed: None,
        }
    }
}

/// The threads to use for `rows` rows of a game: at most one per row, and one alone for worlds that live
/// elsewhere; `None` asks for every core of this process.
///
/// # Errors
/// [`EngineError::Setting`] for zero threads.
pub fn thread_count(n_threads: Option<usize>, rows: usize, game: &GameSpec) -> Result<usize, EngineError> {
    let wanted = match n_threads {
        Some(0) => {
            return Err(EngineError::Setting {
                name: "n_threads",
                allowed: "at least 1, or None for all cores".into(),
                given: "0".into(),
            });
        }
        Some(n_threads) => n_threads,
        None => cores(),
    };
    let most = if game.is_foreign { 1 } else { rows };
    Ok(wanted.min(most).max(1))
}

/// The cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Refuses a number of rows outside 1 to [`MAX_GAMES`]; `name` is what the caller calls it.
///
/// # Errors
/// [`EngineError::Setting`].
pub fn check_rows(name: &'static str, rows: usize) -> Result<(), EngineError> {
    if (1..=MAX_GAMES).contains(&rows) {
        return Ok(());
    }
    Err(EngineError::Setting { name, allowed: format!("from 1 to {MAX_GAMES}"), given: rows.to_string() })
}

/// Refuses worlds whose agents together are more than [`MAX_GAMES`].
///
/// # Errors
/// [`EngineError::Setting`].
pub fn check_agents(worlds: usize, game: &GameSpec) -> Result<(), EngineError> {
    let rows = worlds.saturating_mul(game.n_agents);
    if rows <= MAX_GAMES {
        return Ok(());
    }
    Err(EngineError::Setting {
        name: "the number of agents of all games together",
        allowed: format!("at most {MAX_GAMES}"),
        given: format!("{worlds} games of {} agents", game.n_agents),
    })
}

/// 128 bits from the operating system, as NumPy seeds what is given no seed.
///
/// # Errors
/// [`EngineError::Internal`] when the operating system has none.
pub fn fresh_seed() -> Result<Seed, EngineError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        EngineError::Internal(format!("the operating system gives no random seed: {error}"))
    })?;
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok(Seed::from_words([word(0), word(4), word(8), word(12)]))
}

/// The complete configuration of an engine as plain data: what [`ResolvedConfig::configure`] turns back into
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedConfig {
    /// Registry key of the game.
    pub game: String,
    /// Every option of the game.
    pub options: Vec<(String, OptionValue)>,
    /// Every reward weight.
    pub reward: Vec<(String, f64)>,
    /// The policy, its distribution named.
    pub policy: Policy,
    /// Shape of what it remembers; empty for nothing.
    pub state_shape: Vec<usize>,
    /// The learner.
    pub learner: Learner,
    /// Parallel episode slots.
    pub n_games: usize,
    /// Threads as asked for: `None` is every core, wherever the engine is made.
    pub n_threads: Option<usize>,
    /// The seed that was given or drawn.
    pub seed: Seed,
}

impl ResolvedConfig {
    /// The configuration of an engine that is equal to the one this was read from.
    ///
    /// # Errors
    /// An unknown game, options the game refuses.
    pub fn configure(&self, registry: &Registry) -> Result<EngineConfig, EngineError> {
        Ok(EngineConfig {
            game: registry.get(&self.game)?.configure(&self.options)?,
            reward: self.reward.clone(),
            policy: self.policy,
            state_shape: self.state_shape.clone(),
            learner: self.learner,
            n_games: self.n_games,
            n_threads: self.n_threads,
            seed: Some(self.seed.clone()),
        })
    }

    /// The first setting in which `other` differs, with both values; threads do not count.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let (here, there) = (self.settings(), other.settings());
        let value = |settings: &[(String, String)], name: &str| {
            let found = settings.iter().find(|(key, _)| key == name);
            found.map_or_else(|| "missing".to_owned(), |(_, value)| value.clone())
        };
        let mut names = here.iter().chain(&there).map(|(name, _)| name);
        let name = names.find(|name| value(&here, name) != value(&there, name))?;
        Some(format!("its {name} is {}, this engine's is {}", value(&there, name), value(&here, name)))
    }

    /// Every setting that a record depends on, by name, in words.
    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = vec![("game".to_owned(), self.game.clone())];
        settings
            .extend(self.options.iter().map(|(name, value)| (format!("option {name}"), value.to_string())));
        settings.extend(
            self.reward.iter().map(|(name, weight)| (format!("reward {name}"), format!("{weight:?}"))),
        );
        let words = |(name, value): (&str, OptionValue)| (name.to_owned(), value.to_string());
        settings.push(("policy".to_owned(), self.policy.name().to_owned()));
        // An engine adopts the ε of a snapshot as it does the version.
        let policy =
            self.policy.settings(&self.state_shape).into_iter().filter(|(name, _)| *name != "epsilon");
        settings.extend(policy.map(words));
        settings.push(("learner".to_owned(), self.learner.name().to_owned()));
        settings.extend(self.learner.settings().into_iter().map(words));
        settings.push(("n_games".to_owned(), self.n_games.to_string()));
        settings.push(("seed".to_owned(), self.seed.to_string()));
        settings
    }
}
