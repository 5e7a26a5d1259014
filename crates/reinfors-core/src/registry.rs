//! The list of games by name, and a game with its options settled: what drivers are handed.

use crate::{
    ActionSpace, AnyBatch, Batch, Error, ForeignBatch, Game, ObservationSpace, OptionSpec, OptionValue,
    Options, Pacing, ResetFlag, Result, RewardKey, StateEntry, Worlds, weights,
};
use std::sync::Arc;

/// What a driver needs to know of a configured game.
#[derive(Clone, Debug)]
pub struct GameSpec {
    /// Registry key.
    pub id: &'static str,
    /// Public name.
    pub name: &'static str,
    /// How many agents act in a world.
    pub n_agents: usize,
    /// What one agent observes, stacked frames included.
    pub observation: ObservationSpace,
    /// What one agent can do.
    pub action: ActionSpace,
    /// How it is paced.
    pub pacing: Pacing,
    /// What is paid for.
    pub reward: &'static [RewardKey],
    /// How an episode can terminate.
    pub end_reasons: &'static [&'static str],
    /// What can be chosen at a reset.
    pub reset_flags: &'static [ResetFlag],
    /// Whether its worlds live elsewhere, as [`crate::Worlds`]: one batch holds all rows, and they can be
    /// neither saved nor loaded.
    pub is_foreign: bool,
}

impl GameSpec {
    /// Refuses to save or load what lives elsewhere.
    ///
    /// # Errors
    /// [`Error::NotSaved`].
    pub fn check_saves(&self) -> Result<()> {
        if self.is_foreign { Err(Error::NotSaved { game: self.name }) } else { Ok(()) }
    }

    /// Refuses a game of several agents; `what` is for games of one.
    ///
    /// # Errors
    /// [`Error::SeveralAgents`].
    pub fn check_single(&self, what: &'static str) -> Result<()> {
        match self.n_agents {
            1 => Ok(()),
            n_agents => Err(Error::SeveralAgents { game: self.name, n_agents, what }),
        }
    }

    /// The reset flags when the caller says nothing.
    #[must_use]
    pub fn default_flags(&self) -> Vec<bool> {
        self.reset_flags.iter().map(|flag| flag.default).collect()
    }
}

/// Makes so many worlds under these weights.
type MakeBatch = dyn Fn(&[f64], usize) -> Result<Box<dyn AnyBatch>> + Send + Sync;

/// A game with its options settled, of which batches can be made on any thread.
#[derive(Clone)]
pub struct ConfiguredGame {
    spec: GameSpec,
    options: Vec<(&'static str, OptionValue)>,
    make_batch: Arc<MakeBatch>,
}

impl ConfiguredGame {
    /// `G` under these options.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn new<G: Game>(options: G::Options) -> Result<Self> {
        let defaults: Vec<f64> = G::REWARD.iter().map(|key| key.default).collect();
        G::new(&options, &defaults)?;
        let pacing = G::pacing(&options);
        let spec = GameSpec {
            id: G::ID,
            name: G::NAME,
            n_agents: G::n_agents(&options),
            observation: G::observation_space(&options).stacked(pacing.frame_stack.get() as usize),
            action: G::action_space(&options),
            pacing,
            reward: G::REWARD,
            end_reasons: G::END_REASONS,
            reset_flags: G::RESET_FLAGS,
            is_foreign: false,
        };
        let values = options.values();
        let make_batch = move |weights: &[f64], len| -> Result<Box<dyn AnyBatch>> {
            Ok(Box::new(Batch::<G>::new(&options, weights, len)?))
        };
        Ok(Self { spec, options: values, make_batch: Arc::new(make_batch) })
    }

    /// A game whose worlds live elsewhere; `make` reaches so many of them. It is in no registry.
    #[must_use]
    pub fn foreign<W: Worlds + 'static>(
        spec: GameSpec,
        options: Vec<(&'static str, OptionValue)>,
        make: impl Fn(usize) -> W + Send + Sync + 'static,
    ) -> Self {
        let spec = GameSpec { is_foreign: true, n_agents: 1, ..spec };
        let space = spec.observation.clone();
        let make_batch = move |_: &[f64], len| -> Result<Box<dyn AnyBatch>> {
            Ok(Box::new(ForeignBatch::new(make(len), &space, len)))
        };
        Self { spec, options, make_batch: Arc::new(make_batch) }
    }

    /// What a driver needs to know.
    #[must_use]
    pub fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// Every option with its value, defaults included, in the order of declaration.
    #[must_use]
    pub fn options(&self) -> &[(&'static str, OptionValue)] {
        &self.options
    }

    /// `len` worlds paid by `reward`: pairs of key and weight over the defaults.
    ///
    /// # Errors
    /// An unknown key or a weight that `float32` cannot hold.
    pub fn batch(&self, reward: &[(String, f64)], len: usize) -> Result<Box<dyn AnyBatch>> {
        let weights = self.weights(reward)?;
        (self.make_batch)(&weights, len)
    }

    /// The weights of `reward` over the defaults, in the order of the game's keys.
    ///
    /// # Errors
    /// An unknown key or a weight that `float32` cannot hold.
    pub fn weights(&self, reward: &[(String, f64)]) -> Result<Vec<f64>> {
        weights(self.spec.name, self.spec.reward, reward)
    }
}

/// One game in the list.
pub struct Registration {
    /// Registry key.
    pub id: &'static str,
    /// Public name.
    pub name: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// What is paid for.
    pub reward: &'static [RewardKey],
    /// How an episode can terminate.
    pub end_reasons: &'static [&'static str],
    /// What can be chosen at a reset.
    pub reset_flags: &'static [ResetFlag],
    /// What its state vector holds.
    pub state: &'static [StateEntry],
    /// Declared options.
    pub options: fn() -> Vec<OptionSpec>,
    configure: fn(&[(String, OptionValue)]) -> Result<ConfiguredGame>,
}

impl Registration {
    /// The entry of `G`.
    #[must_use]
    pub const fn of<G: Game>() -> Self {
        Self {
            id: G::ID,
            name: G::NAME,
            doc: G::DOC,
            reward: G::REWARD,
            end_reasons: G::END_REASONS,
            reset_flags: G::RESET_FLAGS,
            state: G::STATE,
            options: G::Options::specs,
            configure: |given| ConfiguredGame::new::<G>(G::Options::parse(G::NAME, given)?),
        }
    }

    /// The game under `options`, defaults where nothing is given.
    ///
    /// # Errors
    /// An unknown name, a value of the wrong type or outside the allowed ones, a contradiction.
    pub fn configure(&self, options: &[(String, OptionValue)]) -> Result<ConfiguredGame> {
        (self.configure)(options)
    }
}

/// All games.
pub struct Registry {
    games: &'static [Registration],
}

impl Registry {
    /// A registry of these games.
    #[must_use]
    pub const fn new(games: &'static [Registration]) -> Self {
        Self { games }
    }

    /// The games in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &'static Registration> {
        self.games.iter()
    }

    /// The game whose id or public name this is.
    ///
    /// # Errors
    /// [`Error::UnknownGame`] with the names there are.
    pub fn get(&self, name: &str) -> Result<&'static Registration> {
        self.games.iter().find(|game| game.id == name || game.name == name).ok_or_else(|| {
            Error::UnknownGame {
                name: name.into(),
                known: self.games.iter().map(|game| game.name).collect::<Vec<_>>().join(", "),
            }
        })
    }
}
