//! States and rewards recorded from Gymnasium 1.4.0 with NumPy 2.4 and glibc 2.36, bit for bit.

use super::config::CartPoleOptions;
use super::motion::{Integrator, Motion};
use super::{CartPole, view};
use crate::frame::{Frames, Layout, Observed};
use reinfors_core::rng::Seed;
use reinfors_core::{Action, Game, Step};

const SEED: u64 = 7;

/// Steps of the balancing policy below, and the state after so many under Euler's method.
const BALANCED: [(usize, [u64; 4]); 5] = [
    (0, [0x3F899E9AEE5B1DD0, 0x3FA4565C58EFD47C, 0x3F9C3AEF596E6ACC, 0xBF9C238754DDD58D]),
    (1, [0x3F8B3F1D32E92ED0, 0x3FCE020B0D1C3679, 0x3F9BAADD485FBD91, 0xBFD3ECF6BB3239EB]),
    (20, [0x3FAA376850301F1A, 0x3FA3E94160D083EC, 0xBF74F50657C75ADB, 0xBF82A64FEB740B80]),
    (250, [0x3FC5453D11543575, 0x3FA438AD0F863848, 0xBF4F78319A1FA408, 0xBF9703408B634D20]),
    (500, [0x3FD0A837C8768F41, 0x3FA495D88FF56DA4, 0x3F4FE21864C39258, 0xBFA3890B24FB9A30]),
];
/// After 500 steps of the semi-implicit method.
const BALANCED_SEMI_IMPLICIT: [u64; 4] =
    [0x3FD0A45DFF06DA49, 0x3FA4857A3322BB9C, 0x3F764CF298B13A80, 0xBFA22C53FBBD6F80];
/// After 120 steps to the right, the pole having turned all the way round.
const PUSHED: [u64; 4] = [0x403A14031918FF91, 0x4035766E29441BA0, 0xC0235236CDA52405, 0xC0216B77469B626D];
/// Of those, the step with which the episode ends.
const LAST_STEP: usize = 9;
/// The first state of the episode after, without a seed.
const SECOND_EPISODE: [u64; 4] =
    [0xBF9476855C60B6AD, 0x3FA3203D5E41CBA0, 0xBFA954962B6ADFAC, 0x3FA07267B64CCA00];

fn started(options: &CartPoleOptions, weights: &[f64]) -> CartPole {
    let mut game = CartPole::new(options, weights).unwrap();
    game.reset(Some(&Seed::from(SEED)), &[]);
    game
}

fn bits(game: &CartPole) -> [u64; 4] {
    game.state.motion.numbers().map(f64::to_bits)
}

/// Pushes against the fall, with a view to the middle.
fn balance(game: &mut CartPole) -> Step {
    let Motion { position, velocity, angle, angular_velocity } = game.state.motion;
    let is_right = angle + 0.5 * angular_velocity + 0.05 * position + 0.1 * velocity > 0.0;
    game.step(Action::Discrete(usize::from(is_right)))
}

#[test]
fn a_balanced_episode_is_the_reference_s_in_every_bit() {
    let mut game = started(&CartPoleOptions::default(), &[1.0, 0.0]);
    let mut steps = 0;
    for (step, expected) in BALANCED {
        while steps < step {
            assert_eq!(balance(&mut game), Step { reward: 1.0, terminated: None });
            steps += 1;
        }
        assert_eq!(bits(&game), expected, "after {step} steps");
    }
    game.reset(None, &[]);
    assert_eq!(bits(&game), SECOND_EPISODE);
}

#[test]
fn the_semi_implicit_method_advances_by_the_new_speeds() {
    let options = CartPoleOptions { integrator: Integrator::SemiImplicitEuler, ..Default::default() };
    let mut game = started(&options, &[1.0, 0.0]);
    (0..500).for_each(|_| assert_eq!(balance(&mut game).terminated, None));
    assert_eq!(bits(&game), BALANCED_SEMI_IMPLICIT);
}

/// Rewards of steps to the right, and the reasons for which the first and the last terminated.
fn pushed(game: &mut CartPole) -> (Vec<f64>, Vec<Option<u8>>) {
    let steps: Vec<Step> = (0..120).map(|_| game.step(Action::Discrete(1))).collect();
    (steps.iter().map(|step| step.reward).collect(), steps.iter().map(|step| step.terminated).collect())
}

#[test]
fn steps_after_the_end_go_on_and_pay_for_the_fall_alone() {
    let mut game = started(&CartPoleOptions::default(), &[1.0, -5.0]);
    let (rewards, reasons) = pushed(&mut game);
    assert_eq!(bits(&game), PUSHED);
    let expected: Vec<f64> = (0..120)
        .map(|step| if step < LAST_STEP { 1.0 } else { [-4.0, -5.0][usize::from(step > LAST_STEP)] })
        .collect();
    assert_eq!(rewards, expected);
    assert_eq!(reasons.iter().position(Option::is_some), Some(LAST_STEP));
    assert_eq!(
        reasons[LAST_STEP].map(|reason| CartPole::END_REASONS[usize::from(reason)]),
        Some("pole_down")
    );
    assert_eq!(reasons[119].map(|reason| CartPole::END_REASONS[usize::from(reason)]), Some("off_track"));
}

#[test]
fn sutton_and_barto_s_reward_is_one_of_its_own() {
    let options = CartPoleOptions { sutton_barto_reward: true, ..Default::default() };
    let (rewards, _) = pushed(&mut started(&options, &[1.0, 0.0]));
    assert_eq!(rewards, pushed(&mut started(&CartPoleOptions::default(), &[0.0, -1.0])).0);
    assert_eq!(rewards.iter().sum::<f64>(), -111.0);
    let refused = CartPole::new(&options, &[1.0, -5.0]).err().unwrap().to_string();
    assert!(refused.contains("sutton_barto_reward") && refused.contains("fall=-5"), "{refused}");
}

#[test]
fn a_state_that_is_not_finite_is_not_loaded() {
    let mut game = started(&CartPoleOptions::default(), &[1.0, 0.0]);
    let before = bits(&game);
    let mut broken = game.clone();
    broken.state.motion.velocity = f64::NAN;
    assert!(game.load(&broken.save()).is_err());
    assert_eq!(bits(&game), before);
}

/// The tolerance of `frames="fast"`, over an episode of the pole swinging all the way round.
#[test]
fn fast_frames_stay_within_the_tolerance() {
    const MOST_MEAN: f64 = 0.06;
    const MOST_OFF: f64 = 0.01;
    let game =
        |frames| CartPoleOptions { obs: Observed::Pixels, frames, layout: Layout::Hwc, ..Default::default() };
    let [exact, fast] = [Frames::Exact, Frames::Fast].map(game);
    let (mut want, mut got) = (CartPole::canvas(&exact), CartPole::canvas(&fast));
    let mut world = started(&exact, &[1.0, 0.0]);
    let mut pictures = [(); 2].map(|()| vec![0; 3 * view::OBSERVATION.area()]);
    let (mut levels, mut off, mut pixels) = (0.0, 0.0, 0.0);
    for step in 0..120 {
        world.observe(0, &mut want, &mut pictures[0]);
        world.observe(0, &mut got, &mut pictures[1]);
        for (want, got) in pictures[0].chunks_exact(3).zip(pictures[1].chunks_exact(3)) {
            let differences = want.iter().zip(got).map(|(want, got)| want.abs_diff(*got));
            levels += differences.clone().map(f64::from).sum::<f64>() / 3.0;
            off += f64::from(u8::from(differences.max() > Some(2)));
            pixels += 1.0;
        }
        world.step(Action::Discrete(usize::from(step % 7 < 4)));
    }
    let (mean, off) = (levels / pixels, off / pixels);
    println!("mean {mean:.4}, off {:.3} %", 100.0 * off);
    assert!(mean > 0.0 && mean <= MOST_MEAN && off <= MOST_OFF, "mean {mean}, off {off}");
}
