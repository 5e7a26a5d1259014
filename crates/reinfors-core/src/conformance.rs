//! The conformance test that every registered game passes. It panics with the promise that was broken.
//!
//! A game's author calls [`check`] once for the whole list; nothing in it knows a game.

mod pacing;

use crate::rng::{Pcg64, Seed};
use crate::{
    ActionSpace, Actions, AnyBatch, ConfiguredGame, Element, Error, GameSpec, ObservationPart, OptionValue,
    Outcome, PictureSize, Registration,
};
use std::collections::HashSet;

const EPISODE_STEPS: usize = 120;

/// Runs what it is given and counts how often that asks the allocator for memory.
pub type CountAllocations = fn(&mut dyn FnMut()) -> u64;

/// Checks everything a driver relies on. `allocations` runs what it is given and counts its calls of the
/// allocator.
///
/// # Panics
/// Where the game breaks a promise of [`crate::Game`] or [`AnyBatch`].
pub fn check(registration: &'static Registration, allocations: CountAllocations) {
    declarations_are_complete(registration);
    hostile_options_are_refused(registration);
    for options in variants(registration) {
        let game = registration.configure(&options).expect("every choice of an option is accepted by itself");
        let check = Check { game, allocations, options };
        check.observations_fill_their_space();
        check.agents_end_together();
        check.episodes_are_functions_of_seed_and_actions();
        check.rows_are_independent();
        check.rows_step_together_as_they_do_alone();
        check.a_seeded_reset_forgets_the_past();
        check.errands_change_nothing();
        check.saved_rows_continue_exactly();
        check.rollback_undoes_everything_since_the_checkpoint();
        check.looking_changes_nothing();
        check.episodes_are_cut_at_max_steps();
        check.stepping_allocates_nothing();
        check.stacks_hold_the_last_frames(registration);
        check.skipping_repeats_the_action(registration);
    }
}

/// The defaults, each value of each option that has only few, with pixels where there are any, and other paces.
fn variants(registration: &Registration) -> Vec<Vec<(String, OptionValue)>> {
    let options = (registration.options)();
    let paced = pacing::options(registration);
    let pixels = ("obs".to_string(), OptionValue::Text("pixels".into()));
    let has_pixels = registration.configure(std::slice::from_ref(&pixels)).is_ok();
    let single = options.into_iter().flat_map(|option| {
        // Choices of how pixels are drawn are of no account where none are observed.
        let beside = (has_pixels && option.name != pixels.0).then(|| pixels.clone());
        let choices = option.choices.into_iter().filter(move |choice| *choice != option.default);
        choices.map(move |choice| {
            std::iter::once((option.name.to_string(), choice)).chain(beside.clone()).collect()
        })
    });
    std::iter::once(Vec::new()).chain(paced).chain(single).collect()
}

fn declarations_are_complete(registration: &Registration) {
    let Registration { id, name, doc, reward, end_reasons, .. } = registration;
    assert!(
        id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
        "{id} is not snake_case"
    );
    assert!(
        name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains('_'),
        "{name} is not CamelCase"
    );
    assert!(doc.len() > 100, "{name}: the documentation says too little");
    assert!(!reward.is_empty(), "{name} pays for nothing");
    let options = (registration.options)();
    let keys: Vec<&str> = reward.iter().map(|key| key.name).collect();
    for names in [keys, end_reasons.to_vec(), options.iter().map(|option| option.name).collect()] {
        assert_eq!(
            names.iter().collect::<HashSet<_>>().len(),
            names.len(),
            "{name}: one of {names:?} comes twice"
        );
    }
    for option in options {
        assert!(!option.doc.is_empty(), "{name}: option {} has no documentation", option.name);
    }
    let entries: HashSet<_> = registration.state.iter().map(|entry| entry.name).collect();
    assert_eq!(entries.len(), registration.state.len(), "{name}: an entry of the state comes twice");
    for entry in registration.state {
        assert!(entry.doc.ends_with('.'), "{name}: {} of the state is documented in no sentence", entry.name);
    }
}

fn hostile_options_are_refused(registration: &Registration) {
    let hostile = [
        OptionValue::List(vec![OptionValue::None]),
        OptionValue::Text("\u{0}nonsense".into()),
        OptionValue::Float(f64::NAN),
        OptionValue::Float(f64::INFINITY),
        OptionValue::Int(i64::MIN),
        OptionValue::List(vec![OptionValue::List(vec![OptionValue::Float(f64::NAN)])]),
    ];
    for option in (registration.options)() {
        for value in &hostile {
            let error = match registration.configure(&[(option.name.into(), value.clone())]) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{}: option {} accepts {value}", registration.name, option.name),
            };
            assert!(error.contains(option.name), "{error:?} does not name the option {}", option.name);
        }
        let unknown = format!("{}_", option.name);
        let error = registration.configure(&[(unknown, option.default)]).err().map(|error| error.to_string());
        assert!(
            error.is_some_and(|error| error.contains(option.name)),
            "an unknown option is not refused by names"
        );
    }
}

/// One configuration under test.
struct Check {
    game: ConfiguredGame,
    allocations: CountAllocations,
    options: Vec<(String, OptionValue)>,
}

/// What an episode looked like from outside.
#[derive(PartialEq, Debug, Clone)]
struct Trace {
    outcomes: Vec<Outcome>,
    observations: Vec<u32>,
}

impl Check {
    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }

    fn batch(&self, rows: usize) -> Box<dyn AnyBatch> {
        self.game.batch(&[], rows).expect("the default weights are accepted")
    }

    fn seeded(&self, rows: usize, seed: u64) -> Box<dyn AnyBatch> {
        let mut batch = self.batch(rows);
        for row in 0..rows {
            batch.reset(row, Some(&Seed::from(seed + row as u64)), &self.spec().default_flags());
        }
        batch
    }

    fn n_agents(&self) -> usize {
        self.spec().n_agents
    }

    /// Room for what a step does to the agents of `rows` rows.
    fn outcomes(&self, rows: usize) -> Vec<Outcome> {
        vec![Outcome::default(); rows * self.n_agents()]
    }

    /// An action for every agent of `rows` rows.
    fn actions(&self, rng: &mut Pcg64, rows: usize) -> RandomActions {
        RandomActions::draw(rng, &self.spec().action, rows * self.n_agents())
    }

    /// Steps one row alone with actions drawn from `seed`.
    fn play(&self, batch: &mut dyn AnyBatch, row: usize, seed: u64, steps: usize) -> Trace {
        let mut rng = Pcg64::from_entropy(Seed::from(seed).words(), &[]);
        let mut trace = Trace { outcomes: Vec::new(), observations: vec![self.observed(batch, row)] };
        let mut active = vec![false; batch.len()];
        active[row] = true;
        let (mut outcomes, n_agents) = (self.outcomes(batch.len()), self.n_agents());
        for _ in 0..steps {
            let actions = self.actions(&mut rng, 1).repeated(batch.len());
            batch.step(actions.view(), Some(&active), &mut outcomes);
            trace.outcomes.extend(&outcomes[row * n_agents..][..n_agents]);
            trace.observations.push(self.observed(batch, row));
        }
        trace
    }

    fn parts(&self) -> &[ObservationPart] {
        &self.spec().observation.parts
    }

    /// One part of what a row shows its agents.
    fn shown(&self, batch: &mut dyn AnyBatch, row: usize, part: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.n_agents() * self.parts()[part].size()];
        batch.observe(part, row..row + 1, &mut bytes);
        bytes
    }

    fn observed(&self, batch: &mut dyn AnyBatch, row: usize) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for part in 0..self.parts().len() {
            hasher.update(&self.shown(batch, row, part));
        }
        hasher.finalize()
    }

    fn observations_fill_their_space(&self) {
        let mut batch = self.seeded(2, 1);
        assert!(!self.parts().is_empty(), "nothing is observed");
        for (number, part) in self.parts().iter().enumerate() {
            let (name, size) = (part.name, part.size());
            assert!(size > 0, "{name} is empty");
            let named = part.entries.is_empty() || part.shape == [part.entries.len()];
            assert!(named, "{name} has another number of entries than of names");
            let len = 2 * self.n_agents() * size;
            let (mut zeros, mut ones) = (vec![0u8; len], vec![255u8; len]);
            batch.observe(number, 0..2, &mut zeros);
            batch.observe(number, 0..2, &mut ones);
            assert_eq!(zeros, ones, "{name} leaves bytes unwritten, or is not a function of the state");
            if part.element == Element::F32 {
                let (numbers, _) = zeros.as_chunks();
                let is_finite = |bytes: &[u8; 4]| f32::from_ne_bytes(*bytes).is_finite();
                assert!(numbers.iter().all(is_finite), "{name} holds a number that is not finite");
            }
        }
    }

    fn agents_end_together(&self) {
        let n_agents = self.n_agents();
        assert!(n_agents > 0, "nobody acts");
        for outcomes in self.play(&mut *self.seeded(1, 2), 0, 3, EPISODE_STEPS).outcomes.chunks(n_agents) {
            let end = |outcome: &Outcome| (outcome.terminated, outcome.truncated);
            assert!(outcomes.iter().all(|outcome| end(outcome) == end(&outcomes[0])), "one agent is left");
        }
    }

    fn episodes_are_functions_of_seed_and_actions(&self) {
        let trace = |seed, actions| self.play(&mut *self.seeded(1, seed), 0, actions, EPISODE_STEPS);
        assert_eq!(trace(3, 4), trace(3, 4), "the same seed and actions gave another episode");
        assert_ne!(trace(3, 4), trace(5, 4), "another seed gave the same episode");
        assert_ne!(trace(3, 4), trace(3, 6), "other actions gave the same episode");
        for outcome in trace(3, 4).outcomes {
            assert!(outcome.reward.is_finite(), "a reward is not finite");
            let reasons = self.spec().end_reasons.len();
            assert!(
                outcome.terminated.is_none_or(|reason| usize::from(reason) < reasons),
                "an undeclared end"
            );
        }
    }

    fn rows_are_independent(&self) {
        let mut together = self.seeded(3, 10);
        let second = self.play(&mut *together, 1, 7, EPISODE_STEPS);
        let alone = self.play(&mut *self.seeded(1, 11), 0, 7, 0);
        assert_eq!(
            alone.observations[0], second.observations[0],
            "a row's seed means another episode elsewhere"
        );
        let third = self.play(&mut *together, 2, 8, 5);
        assert_eq!(third, self.play(&mut *self.seeded(3, 10), 2, 8, 5), "stepping one row changed another");
    }

    fn rows_step_together_as_they_do_alone(&self) {
        const ROWS: usize = 9;
        let mut together = self.seeded(ROWS, 70);
        let mut alone: Vec<_> = (0..ROWS).map(|row| self.seeded(1, 70 + row as u64)).collect();
        let mut rng = Pcg64::from_entropy(&[3], &[]);
        let (mut outcomes, n_agents) = (self.outcomes(ROWS), self.n_agents());
        for step in 0..EPISODE_STEPS {
            let actions = self.actions(&mut rng, ROWS);
            let active: [bool; ROWS] = std::array::from_fn(|row| (row + step) % 5 != 0);
            together.step(actions.view(), Some(&active), &mut outcomes);
            for row in (0..ROWS).filter(|&row| active[row]) {
                let mut outcome = self.outcomes(1);
                alone[row].step(actions.row(row, ROWS), None, &mut outcome);
                assert_eq!(
                    outcomes[row * n_agents..][..n_agents],
                    outcome,
                    "row {row} is paid differently in company"
                );
                assert_eq!(together.save(row), alone[row].save(0), "row {row} goes another way in company");
            }
        }
    }

    fn a_seeded_reset_forgets_the_past(&self) {
        let fresh = self.play(&mut *self.seeded(1, 0), 0, 9, EPISODE_STEPS);
        let mut used = self.seeded(1, 5);
        self.play(&mut *used, 0, 2, EPISODE_STEPS);
        used.reset(0, Some(&Seed::from(0)), &self.spec().default_flags());
        assert_eq!(
            self.play(&mut *used, 0, 9, EPISODE_STEPS),
            fresh,
            "a seeded reset depends on what was before"
        );

        let continued = || {
            let mut batch = self.seeded(1, 0);
            batch.reset(0, None, &self.spec().default_flags());
            self.play(&mut *batch, 0, 9, EPISODE_STEPS)
        };
        assert_eq!(continued(), continued(), "an unseeded reset is not a function of the last seed");
        assert_ne!(continued(), fresh, "an unseeded reset repeats the last episode");
    }

    fn errands_change_nothing(&self) {
        let flags = self.spec().default_flags();
        let (coming, other) = (Some(Seed::from(8)), Some(Seed::from(9)));
        for (seed, foreseen) in [(&coming, &coming), (&None, &None), (&coming, &other), (&None, &coming)] {
            let (mut plain, mut ahead) = (self.seeded(1, 0), self.seeded(1, 0));
            let errand = ahead.errand(0, foreseen.as_ref(), &flags);
            let made = errand.map(|errand| std::thread::spawn(errand).join().expect("an errand panicked"));
            if let Some(ready) = made {
                ahead.keep_ready(0, ready);
            }
            for _ in 0..2 {
                assert_eq!(ahead.save(0), plain.save(0), "what was made ahead shows");
                let played = [&mut plain, &mut ahead].map(|batch| {
                    batch.reset(0, seed.as_ref(), &flags);
                    self.play(&mut **batch, 0, 3, EPISODE_STEPS / 4)
                });
                assert_eq!(played[0], played[1], "a reset is another one with what was made ahead");
            }
        }
    }

    fn saved_rows_continue_exactly(&self) {
        let mut original = self.seeded(2, 20);
        self.play(&mut *original, 1, 3, EPISODE_STEPS / 2);
        let bytes = original.save(1);
        let expected = self.play(&mut *original, 1, 4, EPISODE_STEPS);
        let mut copy = self.batch(1);
        copy.load(0, &bytes).expect("a saved row is loaded by a fresh batch");
        assert_eq!(copy.save(0), bytes, "saving what was loaded gives other bytes");
        assert_eq!(
            self.play(&mut *copy, 0, 4, EPISODE_STEPS),
            expected,
            "a loaded row continues differently"
        );
        original.reset(1, None, &self.spec().default_flags());
        copy.reset(0, None, &self.spec().default_flags());
        assert_eq!(
            self.observed(&mut *original, 1),
            self.observed(&mut *copy, 0),
            "the stream was not saved"
        );

        let before = self.observed(&mut *copy, 0);
        for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            assert!(
                matches!(copy.load(0, &bytes[..end]), Err(Error::SavedState(_))),
                "truncated bytes are believed"
            );
        }
        assert_eq!(self.observed(&mut *copy, 0), before, "a refused load changed the row");
    }

    fn rollback_undoes_everything_since_the_checkpoint(&self) {
        let mut batch = self.seeded(2, 30);
        batch.checkpoint();
        let first = self.play(&mut *batch, 0, 1, EPISODE_STEPS);
        batch.reset(1, None, &self.spec().default_flags());
        assert!(batch.rollback(), "a native batch can always go back");
        assert_eq!(
            self.play(&mut *batch, 0, 1, EPISODE_STEPS),
            first,
            "a rolled back row continues differently"
        );
        let untouched = self.observed(&mut *self.seeded(2, 30), 1);
        assert_eq!(self.observed(&mut *batch, 1), untouched, "a reset was not rolled back");
    }

    fn looking_changes_nothing(&self) {
        let mut looked_at = self.seeded(1, 40);
        let picture = looked_at.render(0, None).expect("the game's own size can be drawn");
        assert_eq!(
            picture.rgb.len(),
            picture.width * picture.height * 3,
            "the picture has another size than it says"
        );
        let size = PictureSize { width: picture.width, height: picture.height };
        let larger = PictureSize { width: 2 * size.width - 1, height: size.height + 7 };
        let large = looked_at.render(0, Some(larger)).expect("a size that is allowed");
        assert_eq!((large.width, large.height), (larger.width, larger.height), "a size is not kept");
        assert_eq!(looked_at.render(0, Some(size)), Ok(picture), "rendering twice gives two pictures");
        let refused = looked_at.render(0, Some(PictureSize { width: 0, ..size }));
        assert!(matches!(refused, Err(Error::PictureSize { .. })), "a picture without pixels is drawn");
        for inspected in looked_at.inspect(0) {
            let size: usize = inspected.shape.iter().product();
            assert_eq!(inspected.values.len(), size, "{} has another size than its shape", inspected.name);
        }
        looked_at.info(0);
        let trace = self.play(&mut *looked_at, 0, 1, EPISODE_STEPS);
        assert_eq!(
            trace,
            self.play(&mut *self.seeded(1, 40), 0, 1, EPISODE_STEPS),
            "looking changed the episode"
        );
    }

    fn episodes_are_cut_at_max_steps(&self) {
        let pacing = self.spec().pacing;
        let Some(max_steps) = pacing.max_steps else { return };
        let decisions = max_steps.get().div_ceil(pacing.frame_skip.get()) as usize;
        let mut batch = self.seeded(1, 50);
        for episode in 0..2 {
            let outcomes = self.play_blind(&mut *batch, decisions + 1);
            let cut = outcomes.iter().position(|outcome| outcome.truncated);
            // Where an episode ends by itself, the rest of that decision is not played and the limit comes
            // later.
            if outcomes[..decisions].iter().all(|outcome| outcome.terminated.is_none()) {
                assert_eq!(cut, Some(decisions - 1), "episode {episode} is not cut at max_steps");
                assert!(outcomes[decisions].truncated, "stepping on after the limit is no longer truncated");
            }
            batch.reset(0, None, &self.spec().default_flags());
        }
    }

    /// Steps one row without looking, which is much faster.
    fn play_blind(&self, batch: &mut dyn AnyBatch, steps: usize) -> Vec<Outcome> {
        let mut rng = Pcg64::from_entropy(&[1], &[]);
        let mut outcomes = self.outcomes(1);
        let step = |_| {
            let actions = self.actions(&mut rng, 1);
            batch.step(actions.view(), None, &mut outcomes);
            outcomes[0]
        };
        (0..steps).map(step).collect()
    }

    fn stepping_allocates_nothing(&self) {
        let mut batch = self.seeded(2, 60);
        let mut rng = Pcg64::from_entropy(&[2], &[]);
        let actions: Vec<RandomActions> = (0..EPISODE_STEPS).map(|_| self.actions(&mut rng, 2)).collect();
        let mut outcomes = self.outcomes(2);
        let bytes = |part: &ObservationPart| vec![0; 2 * self.n_agents() * part.size()];
        let mut parts: Vec<_> = self.parts().iter().map(bytes).collect();
        let mut run = |batch: &mut dyn AnyBatch| {
            for actions in &actions {
                batch.step(actions.view(), None, &mut outcomes);
                for (part, bytes) in parts.iter_mut().enumerate() {
                    batch.observe(part, 0..2, bytes);
                }
            }
        };
        // The first steps may grow what is kept for the ones after them.
        run(&mut *batch);
        let made = (self.allocations)(&mut || run(&mut *batch));
        assert_eq!(
            made, 0,
            "{EPISODE_STEPS} steps made {made} allocations with the options {:?}",
            self.options
        );
    }
}

/// Actions that a step can borrow.
enum RandomActions {
    Discrete(Vec<i64>),
    Continuous(Vec<f64>),
}

impl RandomActions {
    #[expect(clippy::cast_possible_wrap, reason = "an index below the number of actions")]
    fn draw(rng: &mut Pcg64, space: &ActionSpace, rows: usize) -> Self {
        match space {
            ActionSpace::Discrete { names } => {
                Self::Discrete((0..rows).map(|_| rng.integers(names.len() as u64) as i64).collect())
            }
            ActionSpace::Continuous { low, high } => {
                let mut values = Vec::with_capacity(rows * low.len());
                for _ in 0..rows {
                    for (low, high) in low.iter().zip(high) {
                        values.push(rng.uniform(f64::from(*low), f64::from(*high)));
                    }
                }
                Self::Continuous(values)
            }
        }
    }

    fn repeated(self, rows: usize) -> Self {
        match self {
            Self::Discrete(indices) => Self::Discrete(indices.repeat(rows)),
            Self::Continuous(values) => Self::Continuous(values.repeat(rows)),
        }
    }

    /// The actions of one of `rows` rows.
    fn row(&self, row: usize, rows: usize) -> Actions<'_> {
        let numbers = match self {
            Self::Discrete(indices) => indices.len() / rows,
            Self::Continuous(values) => values.len() / rows,
        };
        self.view().part(row * numbers..(row + 1) * numbers)
    }

    fn view(&self) -> Actions<'_> {
        match self {
            Self::Discrete(indices) => Actions::Discrete(indices),
            Self::Continuous(values) => Actions::Continuous(values),
        }
    }
}
