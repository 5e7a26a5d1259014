//! A small deterministic game whose observation tells its whole state: what a test can compute everything
//! from.

use reinfors_core::rng::{Pcg64, Seed};
use reinfors_core::{
    Action, ActionSpace, ConfiguredGame, Error, Game, Inspected, ObservationPart, ObservationSpace,
    OptionValue, Options, Pacing, Picture, PictureSize, Registration, Registry, ResetFlag, Result, RewardKey,
    StateEntry, Step, Turn, decode, encode,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

reinfors_core::options! {
    /// Options of the drift.
    pub struct DriftOptions {
        /// Whether actions are vectors.
        pub continuous: bool = false;
        /// Steps after which an episode is cut off.
        pub max_steps: Option<NonZeroU32> = None;
        /// Whether an episode can end by itself.
        pub mortal: bool = true;
        /// Step of an episode at which the game panics.
        pub panic_at: Option<NonZeroU32> = None;
        /// Whether the state is observed too, as numbers.
        pub told: bool = false;
        /// Frames that are stacked.
        pub frame_stack: NonZeroU32 = NonZeroU32::MIN;
        /// Steps that an action is repeated for.
        pub frame_skip: NonZeroU32 = NonZeroU32::MIN;
    }
}

/// What the state holds.
const STATE: &[StateEntry] = &[
    StateEntry::new("position", "Where it is."),
    StateEntry::new("steps", "How old it is."),
    StateEntry::new("lifetime", "How old it can become."),
];

/// A point that drifts along a line until it is too old or too far out.
#[derive(Clone, Serialize, Deserialize)]
pub struct Drift {
    #[serde(skip)]
    mortal: bool,
    #[serde(skip)]
    panic_at: Option<NonZeroU32>,
    #[serde(skip)]
    weight: f64,
    rng: Pcg64,
    lifetime: u32,
    steps: u32,
    position: f64,
}

/// What an observation says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    pub position: f64,
    pub steps: u32,
    pub lifetime: u32,
}

impl Seen {
    pub const BYTES: usize = 16;

    pub fn of(row: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().unwrap());
        Self {
            position: f64::from_le_bytes(row[..8].try_into().unwrap()),
            steps: word(8),
            lifetime: word(12),
        }
    }
}

pub const LOW: [f32; 2] = [-1.0, 0.0];
pub const HIGH: [f32; 2] = [1.0, 0.5];

impl Game for Drift {
    const ID: &'static str = "drift";
    const NAME: &'static str = "Drift";
    const DOC: &'static str = "A point that drifts.";
    const REWARD: &'static [RewardKey] =
        &[RewardKey { name: "position", default: 1.0, doc: "The position, every step." }];
    const END_REASONS: &'static [&'static str] = &["old", "far"];
    const RESET_FLAGS: &'static [ResetFlag] = &[];
    const PICTURE: PictureSize = PictureSize { width: 32, height: 32 };
    type Options = DriftOptions;
    type Canvas = ();
    type Together = ();

    fn new(options: &DriftOptions, weights: &[f64]) -> Result<Self> {
        Ok(Self {
            mortal: options.mortal,
            panic_at: options.panic_at,
            weight: weights[0],
            rng: Pcg64::from(&Seed::from(0)),
            lifetime: 0,
            steps: 0,
            position: 0.0,
        })
    }

    fn canvas(_: &DriftOptions) {}

    fn observation_space(options: &DriftOptions) -> ObservationSpace {
        let mut parts = vec![ObservationPart::pixels(vec![2, 8], 0)];
        if options.told {
            parts.push(ObservationPart::state(STATE));
        }
        ObservationSpace { parts }
    }

    fn action_space(options: &DriftOptions) -> ActionSpace {
        if options.continuous {
            ActionSpace::Continuous { low: LOW.to_vec(), high: HIGH.to_vec() }
        } else {
            ActionSpace::Discrete { names: ["left", "stay", "right"].map(String::from).to_vec() }
        }
    }

    fn pacing(options: &DriftOptions) -> Pacing {
        let &DriftOptions { max_steps, frame_skip, frame_stack, .. } = options;
        Pacing { max_steps, frame_skip, frame_stack }
    }

    fn reset(&mut self, seed: Option<&Seed>, _: &[bool]) {
        if let Some(seed) = seed {
            self.rng = Pcg64::from(seed);
        }
        self.lifetime = 3 + self.rng.integers(20) as u32;
        self.position = self.rng.uniform(-1.0, 1.0);
        self.steps = 0;
    }

    fn step_all(turn: &mut Turn<'_, Self>, (): &mut (), steps: &mut Vec<Step>) {
        steps.extend(turn.iter_mut().map(|(world, action)| world.step(action)));
    }

    fn observe(&self, part: usize, (): &mut (), out: &mut [u8]) {
        if part == 1 {
            let numbers = [self.position as f32, self.steps as f32, self.lifetime as f32];
            for (bytes, number) in out.chunks_exact_mut(4).zip(numbers) {
                bytes.copy_from_slice(&number.to_ne_bytes());
            }
            return;
        }
        out[..8].copy_from_slice(&self.position.to_le_bytes());
        out[8..12].copy_from_slice(&self.steps.to_le_bytes());
        out[12..].copy_from_slice(&self.lifetime.to_le_bytes());
    }

    fn render(&self, (): &mut (), PictureSize { width, height }: PictureSize) -> Picture {
        Picture { width, height, rgb: vec![0; 3 * width * height] }
    }

    fn info(&self) -> Vec<(&'static str, bool)> {
        Vec::new()
    }

    fn inspect(&self) -> Vec<Inspected> {
        vec![Inspected { name: "position", shape: vec![], values: vec![self.position] }]
    }

    fn save(&self) -> Vec<u8> {
        encode(self)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let saved: Self = decode(bytes)?;
        if !saved.position.is_finite() {
            return Err(Error::SavedState("the position is not finite".into()));
        }
        *self = Self { mortal: self.mortal, panic_at: self.panic_at, weight: self.weight, ..saved };
        Ok(())
    }
}

impl Drift {
    pub fn step(&mut self, action: Action<'_>) -> Step {
        self.steps += 1;
        assert!(self.panic_at.is_none_or(|at| at.get() != self.steps), "the drift was told to panic");
        let push = match action {
            Action::Discrete(index) => index as f64 - 1.0,
            Action::Continuous(values) => values[0] + values[1],
        };
        self.position += 0.5 * push + self.rng.uniform(-0.1, 0.1);
        let terminated = if !self.mortal {
            None
        } else if self.steps >= self.lifetime {
            Some(0)
        } else if self.position.abs() > 3.0 {
            Some(1)
        } else {
            None
        };
        Step { reward: self.weight * self.position, terminated }
    }
}

static GAMES: [Registration; 1] = [Registration::of::<Drift>()];
pub static REGISTRY: Registry = Registry::new(&GAMES);

/// The drift under options given as text, an integer being a count.
pub fn drift(options: &[(&str, OptionValue)]) -> ConfiguredGame {
    let given: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    ConfiguredGame::new::<Drift>(DriftOptions::parse("Drift", &given).unwrap()).unwrap()
}
