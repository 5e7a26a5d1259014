//! Frames that are stacked and steps that are skipped, against the same game without either.

use super::Check;
use crate::rng::Pcg64;
use crate::{AnyBatch, ObservationPart, OptionValue, Registration};

/// Decisions after which stacked and skipped episodes have been compared enough.
const DECISIONS: usize = 30;
/// What paces a game is named alike in every game, and tried with these values.
const FRAME_STACK: (&str, i64) = ("frame_stack", 3);
const FRAME_SKIP: (&str, i64) = ("frame_skip", 4);

/// Both at once, as far as the game takes them with its other defaults: what is not a picture need not be
/// stacked. `None` where it takes neither.
pub(super) fn options(registration: &Registration) -> Option<Vec<(String, OptionValue)>> {
    let given = [FRAME_STACK, FRAME_SKIP].map(|(name, value)| (String::from(name), OptionValue::Int(value)));
    let is_taken =
        |option: &(String, OptionValue)| registration.configure(std::slice::from_ref(option)).is_ok();
    let options: Vec<_> = given.into_iter().filter(is_taken).collect();
    (!options.is_empty()).then_some(options)
}

fn is_declared(registration: &Registration, name: &str) -> bool {
    (registration.options)().iter().any(|option| option.name == name)
}

impl Check {
    /// The same game with one option more or other.
    fn with(&self, registration: &Registration, (name, value): (&str, i64)) -> Self {
        let mut options = self.options.clone();
        options.retain(|(other, _)| other != name);
        options.push((name.to_string(), OptionValue::Int(value)));
        let game = registration.configure(&options).expect("this value is accepted in every configuration");
        Self { game, allocations: self.allocations, options }
    }

    /// A stacked episode shows, oldest first, what the last observations of the plain one were.
    pub(super) fn stacks_hold_the_last_frames(&self, registration: &Registration) {
        let stackable: Vec<usize> =
            (0..self.parts().len()).filter(|&part| self.parts()[part].stack_axis.is_some()).collect();
        if stackable.is_empty() || !is_declared(registration, FRAME_STACK.0) {
            return;
        }
        let (plain, stacked) =
            (self.with(registration, (FRAME_STACK.0, 1)), self.with(registration, FRAME_STACK));
        let (mut one, mut other) = (plain.seeded(1, 70), stacked.seeded(1, 70));
        let depth = FRAME_STACK.1 as usize;
        for episode in 0..2 {
            let mut seen: Vec<Vec<Vec<u8>>> = vec![Vec::new(); plain.parts().len()];
            for decision in 0..DECISIONS {
                for &part in &stackable {
                    seen[part].push(plain.shown(&mut *one, 0, part));
                    // Not looking at some of them makes no difference.
                    if decision % 4 == 1 {
                        continue;
                    }
                    let frame = plain.parts()[part].clone().of_agents(self.n_agents());
                    let frames = unstacked(&stacked.shown(&mut *other, 0, part), &frame, depth);
                    for (place, frame) in frames.iter().enumerate() {
                        let expected = &seen[part][(decision + 1 + place).saturating_sub(depth)];
                        assert_eq!(
                            frame, expected,
                            "frame {place} of a stack of {depth}, episode {episode}, decision {decision}"
                        );
                    }
                }
                let (mut plainly, mut stacking) = (self.outcomes(1), self.outcomes(1));
                let mut rng = Pcg64::from_entropy(&[decision as u32], &[]);
                let actions = self.actions(&mut rng, 1);
                one.step(actions.view(), None, &mut plainly);
                other.step(actions.view(), None, &mut stacking);
                assert_eq!(plainly, stacking, "stacking changed the episode");
            }
            one.reset(0, None, &self.spec().default_flags());
            other.reset(0, None, &self.spec().default_flags());
        }
    }

    /// A skipping episode is the plain one with each action repeated, until it ends.
    pub(super) fn skipping_repeats_the_action(&self, registration: &Registration) {
        if !is_declared(registration, FRAME_SKIP.0) {
            return;
        }
        let (plain, skipping) =
            (self.with(registration, (FRAME_SKIP.0, 1)), self.with(registration, FRAME_SKIP));
        let (mut one, mut other) = (plain.seeded(1, 80), skipping.seeded(1, 80));
        let mut rng = Pcg64::from_entropy(&[3], &[]);
        for decision in 0..DECISIONS {
            let actions = self.actions(&mut rng, 1);
            let (mut expected, mut outcomes) = (self.outcomes(1), self.outcomes(1));
            let mut rewards = vec![0.0; self.n_agents()];
            for _ in 0..FRAME_SKIP.1 {
                one.step(actions.view(), None, &mut expected);
                rewards.iter_mut().zip(&expected).for_each(|(sum, outcome)| *sum += outcome.reward);
                if expected[0].is_end() {
                    break;
                }
            }
            expected.iter_mut().zip(rewards).for_each(|(outcome, sum)| outcome.reward = sum);
            other.step(actions.view(), None, &mut outcomes);
            assert_eq!(outcomes, expected, "decision {decision} does not repeat its action");
            assert_eq!(other.info(0), one.info(0), "info is not that of the last step");
            for part in 0..self.parts().len() {
                let (shown, expected) = (skipping.newest(&mut *other, part), plain.newest(&mut *one, part));
                assert_eq!(shown, expected, "decision {decision} shows another frame than its last");
            }
        }
    }

    /// The newest frame of a part of what the only row shows.
    fn newest(&self, batch: &mut dyn AnyBatch, part: usize) -> Vec<u8> {
        let depth = self.spec().pacing.frame_stack.get() as usize;
        let mut frame = self.parts()[part].clone().of_agents(self.n_agents());
        if let Some(axis) = frame.stack_axis {
            frame.shape[axis] /= depth;
        }
        unstacked(&self.shown(batch, 0, part), &frame, depth).pop().unwrap_or_default()
    }
}

/// The frames of a stack, oldest first, by the definition: whole blocks before the stack axis hold them side
/// by side.
fn unstacked(stack: &[u8], frame: &ObservationPart, depth: usize) -> Vec<Vec<u8>> {
    let Some(axis) = frame.stack_axis else { return vec![stack.to_vec()] };
    let run = frame.element.size() * frame.shape[axis..].iter().product::<usize>();
    let frames = (0..depth).map(|place| {
        let runs = stack.chunks_exact(run * depth).map(|block| &block[place * run..][..run]);
        runs.flatten().copied().collect()
    });
    frames.collect()
}
