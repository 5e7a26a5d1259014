//! A random walk that ends beyond 20 or after six steps, watched through every mode of automatic reset.

use super::*;
use crate::error::EngineErrorKind;
use reinfors_core::rng::Pcg64;
use reinfors_core::{
    Action, ActionSpace, Game, ObservationPart, OptionValue, Options, Pacing, ResetFlag, RewardKey, Step,
    Turn,
};
use std::num::NonZeroU32;

reinfors_core::options! {
    /// Options of the walk.
    struct WalkOptions {
        /// Length of a stride.
        pub stride: f64 = 1.0;
    }
}

#[derive(Clone)]
struct Walk {
    stride: f64,
    reward: f64,
    rng: Pcg64,
    at: u8,
}

impl Game for Walk {
    const ID: &'static str = "walk";
    const NAME: &'static str = "Walk";
    const DOC: &'static str = "A walk.";
    const REWARD: &'static [RewardKey] = &[RewardKey { name: "step", default: 1.0, doc: "A step." }];
    const END_REASONS: &'static [&'static str] = &["far"];
    const RESET_FLAGS: &'static [ResetFlag] =
        &[ResetFlag { name: "random", default: true, doc: "Where it starts." }];
    const PICTURE: PictureSize = PictureSize { width: 32, height: 32 };
    type Options = WalkOptions;
    type Canvas = ();
    type Together = ();

    fn new(options: &WalkOptions, weights: &[f64]) -> reinfors_core::Result<Self> {
        Ok(Self { stride: options.stride, reward: weights[0], rng: Pcg64::from(&Seed::from(0)), at: 0 })
    }
    fn canvas(_: &WalkOptions) {}
    fn observation_space(_: &WalkOptions) -> ObservationSpace {
        ObservationSpace::of(ObservationPart::pixels(vec![2], 0))
    }
    fn action_space(_: &WalkOptions) -> ActionSpace {
        ActionSpace::Discrete { names: (0..10).map(|stride| stride.to_string()).collect() }
    }
    fn pacing(_: &WalkOptions) -> Pacing {
        Pacing { max_steps: NonZeroU32::new(6), ..Pacing::default() }
    }
    fn reset(&mut self, seed: Option<&Seed>, flags: &[bool]) {
        if let Some(seed) = seed {
            self.rng = Pcg64::from(seed);
        }
        self.at = if flags[0] { self.rng.integers(10) as u8 } else { 0 };
    }
    fn step_all(turn: &mut Turn<'_, Self>, (): &mut (), steps: &mut Vec<Step>) {
        steps.extend(turn.iter_mut().map(|(world, action)| world.step(action)));
    }
    fn observe(&self, _: usize, (): &mut (), out: &mut [u8]) {
        out.copy_from_slice(&[self.at, !self.at]);
    }
    fn render(&self, (): &mut (), PictureSize { width, height }: PictureSize) -> Picture {
        Picture { width, height, rgb: vec![self.at; 3 * width * height] }
    }
    fn info(&self) -> Vec<(&'static str, bool)> {
        if self.at > 20 { vec![("far", true)] } else { Vec::new() }
    }
    fn inspect(&self) -> Vec<Inspected> {
        vec![Inspected { name: "at", shape: Vec::new(), values: vec![f64::from(self.at)] }]
    }
    fn save(&self) -> Vec<u8> {
        encode(&(&self.rng, self.at))
    }
    fn load(&mut self, bytes: &[u8]) -> reinfors_core::Result<()> {
        (self.rng, self.at) = decode(bytes)?;
        Ok(())
    }
}

impl Walk {
    fn step(&mut self, action: Action<'_>) -> Step {
        let Action::Discrete(stride) = action else { unreachable!("checked against the action space") };
        self.at = self.at.saturating_add((stride as f64 * self.stride) as u8);
        Step { reward: self.reward * f64::from(self.at), terminated: (self.at > 20).then_some(0) }
    }
}

fn walk(stride: f64) -> ConfiguredGame {
    ConfiguredGame::new::<Walk>(WalkOptions { stride }).unwrap()
}

pub(super) fn vec_env(n_envs: usize, n_threads: usize, autoreset: Autoreset) -> VecEnv {
    VecEnv::new(&walk(1.0), &[], n_envs, Some(n_threads), Seed::from(7), autoreset).unwrap()
}

pub(super) fn reset(env: &mut VecEnv, seeds: &[Option<u64>]) -> Vec<u8> {
    let seeds: Vec<Option<Seed>> = seeds.iter().map(|seed| seed.map(Seed::from)).collect();
    let mut observations = env.blank_observations().unwrap();
    env.reset(&seeds, &[true], None, &mut observations).unwrap();
    bytes(&observations).to_vec()
}

fn step(env: &mut VecEnv, actions: &[i64]) -> (Vec<u8>, VecStep) {
    let (observations, step) = env.step_into_new(Actions::Discrete(actions)).unwrap();
    (bytes(&observations).to_vec(), step)
}

/// The only part there is.
fn bytes(observations: &[ObservationArray]) -> &[u8] {
    let [ObservationArray::U8(bytes)] = observations else { panic!("one part of bytes: {observations:?}") };
    bytes
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for autoreset in [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled] {
        let history = |n_threads| {
            let mut env = vec_env(7, n_threads, autoreset);
            let first = reset(&mut env, &[None; 7]);
            let steps: Vec<_> = (0..40).map(|at| step(&mut env, &[at % 7, 1, 0, 3, 9, 2, at % 3])).collect();
            (first, steps)
        };
        let one = history(1);
        assert_eq!(one, history(3));
        assert_eq!(one, history(64));
        assert_ne!(
            one.0,
            reset(&mut vec_env(7, 1, autoreset), &[Some(1); 7]),
            "another seed starts elsewhere"
        );
    }
}

#[test]
fn an_unseeded_first_reset_takes_the_seed_of_construction_and_later_ones_continue() {
    let mut env = vec_env(2, 2, Autoreset::Disabled);
    let first = reset(&mut env, &[None, None]);
    let second = reset(&mut env, &[None, None]);
    let mut seeded = vec_env(2, 1, Autoreset::Disabled);
    assert_eq!(first, reset(&mut seeded, &[Some(7), Some(8)]));
    assert_eq!(second, reset(&mut seeded, &[None, None]));
    assert_eq!(seeded.seeds().flatten().cloned().collect::<Vec<_>>(), [Seed::from(7), Seed::from(8)]);
}

#[test]
fn next_step_shows_the_last_observation_and_resets_one_step_later() {
    let mut env = vec_env(1, 1, Autoreset::NextStep);
    reset(&mut env, &[Some(3)]);
    let (last, end) = (0..3).map(|_| step(&mut env, &[9])).find(|(_, step)| step.terminated[0]).unwrap();
    assert!(last[0] > 20 && end.rewards[0] == f64::from(last[0]));
    assert_eq!(end.infos, [InfoColumn { name: "far", values: vec![true], present: vec![true] }]);
    let (first, begin) = step(&mut env, &[9]);
    assert!(first[0] < 10 && begin.rewards == [0.0] && !begin.terminated[0] && begin.infos.is_empty());
    let (second, _) = step(&mut env, &[9]);
    assert_eq!(second[0], first[0] + 9);
}

#[test]
fn same_step_shows_the_first_observation_and_hands_out_the_last() {
    let mut env = vec_env(2, 2, Autoreset::SameStep);
    reset(&mut env, &[Some(3), Some(4)]);
    let (observations, end) =
        (0..3).map(|_| step(&mut env, &[9, 0])).find(|(_, step)| step.terminated[0]).unwrap();
    assert!(observations[0] < 10);
    let [(0, last)] = &end.finals[..] else { panic!("one environment is over, got {:?}", end.finals) };
    let last = bytes(last)[0];
    assert!(last > 20 && end.rewards[0] == f64::from(last));
    assert_eq!(
        end.final_infos,
        [InfoColumn { name: "far", values: vec![true, false], present: vec![true, false] }]
    );
    assert!(end.infos.is_empty());
}

#[test]
fn disabled_goes_on_until_a_mask_resets() {
    let mut env = vec_env(2, 2, Autoreset::Disabled);
    reset(&mut env, &[Some(3), Some(4)]);
    for at in 1..9 {
        assert_eq!(step(&mut env, &[0, 0]).1.truncated, [at >= 6; 2]);
    }
    let mut observations = env.blank_observations().unwrap();
    env.reset(&[None, None], &[false], Some(&[true, false]), &mut observations).unwrap();
    assert_eq!(bytes(&observations)[0], 0);
    assert_eq!(step(&mut env, &[0, 0]).1.truncated, [false, true]);
}

#[test]
fn a_reset_by_hand_clears_a_pending_one() {
    let mut env = vec_env(1, 1, Autoreset::NextStep);
    reset(&mut env, &[Some(3)]);
    while !step(&mut env, &[9]).1.terminated[0] {}
    let first = reset(&mut env, &[None]);
    assert_eq!(step(&mut env, &[1]).0[0], first[0] + 1);
}

#[test]
fn a_loaded_environment_continues_exactly_a_pending_reset_included() {
    let mut env = vec_env(1, 1, Autoreset::NextStep);
    reset(&mut env, &[Some(3)]);
    while !step(&mut env, &[9]).1.terminated[0] {}
    let saved = env.save(0).unwrap();
    let mut twin = vec_env(3, 2, Autoreset::NextStep);
    reset(&mut twin, &[Some(1), Some(2), Some(3)]);
    twin.load(2, &saved).unwrap();
    for action in [5, 4, 3, 9, 9, 9, 9] {
        let (observations, moved) = step(&mut env, &[action]);
        let (twins, twin_moved) = step(&mut twin, &[0, 0, action]);
        assert_eq!(observations, twins[4..]);
        assert_eq!(
            (moved.rewards[0], moved.terminated[0]),
            (twin_moved.rewards[2], twin_moved.terminated[2])
        );
    }
}

#[test]
fn refusals_say_what_is_allowed_and_move_nothing() {
    let mut env = vec_env(2, 1, Autoreset::Disabled);
    let mut observations = env.blank_observations().unwrap();
    let unready = env.step(Actions::Discrete(&[0, 0]), &mut observations).unwrap_err();
    assert_eq!(unready.kind(), EngineErrorKind::State);
    assert_eq!(unready.to_string(), "environment 0 was never reset: call reset() first");
    reset(&mut env, &[Some(3), Some(4)]);
    let before = env.save(1).unwrap();
    for actions in [Actions::Discrete(&[0, 10]), Actions::Discrete(&[0]), Actions::Continuous(&[0.0, 0.0])] {
        env.step(actions, &mut observations).unwrap_err();
    }
    env.reset(&[None], &[true], None, &mut observations).unwrap_err();
    env.reset(&[None, None], &[true], Some(&[false, false]), &mut observations).unwrap_err();
    assert!(env.render(2, None).is_err() && env.inspect(2).is_err() && env.save(2).is_err());
    let mut longer = VecEnv::new(&walk(2.0), &[], 1, None, Seed::from(0), Autoreset::Disabled).unwrap();
    let other_options = longer.load(0, &before).unwrap_err().to_string();
    assert_eq!(other_options, "cannot load the saved state: its option stride is 1.0, here it is 2.0");
    assert!(env.load(1, &before[1..]).is_err());
    assert_eq!(env.save(1).unwrap(), before);
}

#[test]
fn counts_outside_the_allowed_ones_are_refused_by_name() {
    let refusal = |n_envs, n_threads| {
        let env = VecEnv::new(&walk(1.0), &[], n_envs, Some(n_threads), Seed::from(0), Autoreset::Disabled);
        env.err().expect("a refusal").to_string()
    };
    assert_eq!(refusal(0, 1), "n_envs must be from 1 to 65536, got 0");
    assert_eq!(refusal(1, 0), "n_threads must be at least 1, or None for all cores, got 0");
    assert!(refusal(1 << 40, 1).starts_with("n_envs must be from 1 to 65536"));
}

#[test]
fn options_of_a_walk_are_declared() {
    assert_eq!(walk(1.5).options(), [("stride", OptionValue::Float(1.5))]);
    assert_eq!(WalkOptions::specs().len(), 1);
}

#[test]
fn seeds_are_offset_with_a_carry() {
    assert_eq!(offset(&Seed::from(u64::MAX), 1), Seed::from_words([0, 0, 1]));
    assert_eq!(offset(&Seed::from(5), 3), Seed::from(8));
    assert_eq!(offset(&Seed::from_words([u32::MAX]), 65_535), Seed::from((1 << 32) + 65_534));
}
