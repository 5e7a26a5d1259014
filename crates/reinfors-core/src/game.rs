//! The contract of a game: one world that is stepped in place and draws into buffers it is lent.

use crate::rng::Seed;
use crate::{ActionSpace, Error, ObservationSpace, Options, Result, RewardKey, StateEntry, Turn};
use std::any::Any;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// A yes-or-no choice that a caller can make at each reset, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetFlag {
    /// Key in `reset(options={...})`.
    pub name: &'static str,
    /// Value when the caller says nothing.
    pub default: bool,
    /// One sentence: what it does.
    pub doc: &'static str,
}

/// How many steps of the simulator a decision and an episode take, and how many frames are seen at once.
/// Batches keep it; games only declare it, by convention as options of these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Steps of the simulator after which an episode is cut off; `None` never cuts.
    pub max_steps: Option<NonZeroU32>,
    /// Steps of the simulator that an action is repeated for. Rewards are summed, and the frames between are
    /// not drawn.
    pub frame_skip: NonZeroU32,
    /// Last frames that are stacked, oldest first, in the parts of the observation that have a stack axis.
    pub frame_stack: NonZeroU32,
}

impl Default for Pacing {
    fn default() -> Self {
        Self { max_steps: None, frame_skip: NonZeroU32::MIN, frame_stack: NonZeroU32::MIN }
    }
}

/// The action of one row, already checked against the action space.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Index below the number of actions.
    Discrete(usize),
    /// Finite numbers, one per dimension; possibly outside the bounds.
    Continuous(&'a [f64]),
}

/// What one step did to one agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Reward under the caller's weights.
    pub reward: f64,
    /// Index into [`Game::END_REASONS`] when the episode has ended, as opposed to having been cut off; the same
    /// for all agents of a world.
    pub terminated: Option<u8>,
}

/// A picture for people: rows from the top, three bytes per pixel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// `height * width * 3` bytes, red green blue.
    pub rgb: Vec<u8>,
}

/// Width and height of a picture for people, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl PictureSize {
    /// What either side can be: the largest are those of 4K films.
    pub const SIDES: RangeInclusive<usize> = 32..=4096;

    /// Refuses a size that cannot be drawn.
    ///
    /// # Errors
    /// [`Error::PictureSize`] where a side is outside [`PictureSize::SIDES`].
    pub fn check(self) -> Result<()> {
        if Self::SIDES.contains(&self.width) && Self::SIDES.contains(&self.height) {
            return Ok(());
        }
        let (least, most) = (Self::SIDES.start(), Self::SIDES.end());
        Err(Error::PictureSize {
            allowed: format!("(height, width) from ({least}, {least}) to ({most}, {most})"),
            given: format!("({}, {})", self.height, self.width),
        })
    }
}

/// A named array of a game's inner state, for tests, plots and debugging.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspected {
    /// Name of the quantity.
    pub name: &'static str,
    /// Shape, C order; empty for a scalar.
    pub shape: Vec<usize>,
    /// As many values as the shape holds; `f32` and integers widened exactly.
    pub values: Vec<f64>,
}

/// The costly part of a coming reset, to be made ahead of time on any thread.
pub type Errand = Box<dyn FnOnce() -> Ready + Send>;

/// What an errand has made; only the game that gave it knows what that is.
pub type Ready = Box<dyn Any + Send>;

/// One world of a game.
///
/// A world is a deterministic function of its options, its seed and its actions: no clock, no thread, no
/// global. Steps allocate nothing. `Clone` is what rolls a world back, so share what does not change behind
/// an `Arc`.
pub trait Game: Clone + Send + Sync + 'static {
    /// Folder, module and registry key: `snake_case`.
    const ID: &'static str;
    /// Public name: `CamelCase`.
    const NAME: &'static str;
    /// Several sentences for the documentation: what is controlled, seen, paid, and how it ends.
    const DOC: &'static str;
    /// What is paid for.
    const REWARD: &'static [RewardKey];
    /// How an episode can terminate; [`Step::terminated`] is an index into it.
    const END_REASONS: &'static [&'static str];
    /// What can be chosen at a reset.
    const RESET_FLAGS: &'static [ResetFlag];
    /// What a state vector holds, for the documentation; empty for a game that has none.
    const STATE: &'static [StateEntry] = &[];
    /// The size of pictures for which the caller names none.
    const PICTURE: PictureSize;
    /// Options, declared once with [`crate::options!`].
    type Options: Options;
    /// Memory for drawing, one per thread that draws rather than per world.
    type Canvas: Send + 'static;
    /// Memory for stepping many worlds together, one per batch; `()` for a game that has no use for it.
    type Together: Default + Send + Sync + 'static;

    /// A world that has not been reset yet. `weights` are in the order of [`Game::REWARD`].
    ///
    /// # Errors
    /// Options that contradict each other.
    fn new(options: &Self::Options, weights: &[f64]) -> Result<Self>;

    /// A canvas.
    fn canvas(options: &Self::Options) -> Self::Canvas;

    /// How many agents act in a world, at least one.
    fn n_agents(_options: &Self::Options) -> usize {
        1
    }

    /// What one agent observes: one frame of each part, as [`Game::observe`] draws it.
    fn observation_space(options: &Self::Options) -> ObservationSpace;

    /// What one agent can do.
    fn action_space(options: &Self::Options) -> ActionSpace;

    /// How the game is paced.
    fn pacing(_options: &Self::Options) -> Pacing {
        Pacing::default()
    }

    /// Starts an episode. `None` continues the random stream of the last seeded reset; the first reset is
    /// seeded. `flags` are in the order of [`Game::RESET_FLAGS`].
    fn reset(&mut self, seed: Option<&Seed>, flags: &[bool]);

    /// The costly part of the next reset, if it is going to be this one; `None` where nothing is costly. Nothing
    /// but time may depend on whether it is run.
    fn errand(&self, _seed: Option<&Seed>, _flags: &[bool]) -> Option<Errand> {
        None
    }

    /// Keeps what an errand has made for the next reset, which makes for itself what does not fit it.
    fn keep_ready(&mut self, _ready: Ready) {}

    /// Advances all worlds of `turn` by one step and adds what it did to each of their agents to `steps`, in
    /// their order. No bit depends on which worlds are stepped together. Stepping on after the end is allowed
    /// and keeps simulating.
    fn step_all(turn: &mut Turn<'_, Self>, together: &mut Self::Together, steps: &mut Vec<Step>);

    /// Draws one part of the observation of the current state, by its number in the observation space: a pure
    /// function of the state. `out` holds one frame of the part for each agent, one behind the other; every
    /// byte of it is written.
    fn observe(&self, part: usize, canvas: &mut Self::Canvas, out: &mut [u8]);

    /// Draws the picture for people of the current state, in a size that passed [`PictureSize::check`]. A
    /// larger one shows more detail.
    fn render(&self, canvas: &mut Self::Canvas, size: PictureSize) -> Picture;

    /// What the reference environment reports in `info` after the last step.
    fn info(&self) -> Vec<(&'static str, bool)>;

    /// Inner state, for tests, plots and debugging.
    fn inspect(&self) -> Vec<Inspected>;

    /// The state as bytes, options and weights left out.
    fn save(&self) -> Vec<u8>;

    /// Continues exactly from what [`Game::save`] wrote under the same options.
    ///
    /// # Errors
    /// [`crate::Error::SavedState`] for bytes that are not such a state; the world is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<()>;
}
