//! Fixed work for `make bench-check`, which counts the instructions of [`measured`] under callgrind.
//!
//! `instructions WORKLOAD` does the work; without a name it prints the names, which walk the registry.

use reinfors_core::rng::{Pcg64, Seed};
use reinfors_core::{ActionSpace, Actions, AnyBatch, ConfiguredGame, OptionValue, Outcome, Registration};
use reinfors_games::registry;
use std::hint::black_box;

/// Worlds side by side: a full pack of lanes.
const WORLDS: usize = 8;

/// Steps before anything is counted: past the opening, in which views change more than later.
const OPENING: usize = 55;

/// Steps that are counted.
const STEPS: usize = 10;

/// Steps that an action is held for.
const HOLD: usize = 5;

/// What is counted of a game, with the options it takes.
const KINDS: [(&str, &[(&str, &str)]); 4] = [
    ("exact", &[("obs", "pixels"), ("frames", "exact")]),
    ("fast", &[("obs", "pixels"), ("frames", "fast")]),
    ("state", STATE),
    ("reset", STATE),
];
const STATE: &[(&str, &str)] = &[("obs", "state")];

/// The game under these options, if it has them; one without a choice observes its state.
fn configured(registration: &Registration, options: &[(&str, &str)]) -> Option<ConfiguredGame> {
    let has_choice = (registration.options)().iter().any(|option| option.name == "obs");
    let options = if has_choice || options != STATE { options } else { &[] };
    let options: Vec<_> =
        options.iter().map(|(name, value)| ((*name).into(), OptionValue::Text((*value).into()))).collect();
    registration.configure(&options).ok()
}

/// Everything that a step needs.
struct Course {
    batch: Box<dyn AnyBatch>,
    rng: Pcg64,
    n_actions: u64,
    actions: Vec<i64>,
    outcomes: Vec<Outcome>,
    observations: Vec<u8>,
}

impl Course {
    fn new(game: &ConfiguredGame) -> Self {
        let spec = game.spec();
        let ActionSpace::Discrete { names } = &spec.action else { panic!("discrete is the default") };
        let mut batch = game.batch(&[], WORLDS).expect("default weights");
        for row in 0..WORLDS {
            batch.reset(row, Some(&Seed::from(row as u64)), &spec.default_flags());
        }
        Self {
            batch,
            rng: Pcg64::from(&Seed::from(7)),
            n_actions: names.len() as u64,
            actions: vec![0; WORLDS * spec.n_agents],
            outcomes: vec![Outcome::default(); WORLDS * spec.n_agents],
            observations: vec![0; WORLDS * spec.n_agents * spec.observation.parts[0].size()],
        }
    }

    fn step(&mut self, index: usize) {
        if index.is_multiple_of(HOLD) {
            self.actions.fill_with(|| self.rng.integers(self.n_actions) as i64);
        }
        self.batch.step(Actions::Discrete(&self.actions), None, &mut self.outcomes);
    }

    fn observe(&mut self) {
        self.batch.observe(0, 0..WORLDS, &mut self.observations);
        black_box(&self.observations);
    }
}

/// Steps and draws, or resets, so many times: the only function whose instructions are counted.
#[inline(never)]
fn measured(course: &mut Course, kind: &str, flags: &[bool]) {
    for index in 0..STEPS {
        if kind == "reset" {
            for row in 0..WORLDS {
                course.batch.reset(row, Some(&Seed::from((WORLDS * index + row) as u64)), flags);
            }
        } else {
            course.step(index);
            course.observe();
        }
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    for registration in registry().iter() {
        for (kind, options) in KINDS {
            let Some(game) = configured(registration, options) else { continue };
            let name = format!("{}.{kind}", game.spec().id);
            if wanted.is_none() {
                println!("{name}");
            }
            if wanted.as_ref() == Some(&name) {
                let mut course = Course::new(&game);
                (0..OPENING).for_each(|index| course.step(index));
                course.observe();
                measured(black_box(&mut course), black_box(kind), &game.spec().default_flags());
            }
        }
    }
}
