//! States and rewards recorded from MPE2 1.1.1 with NumPy 2.4 and glibc 2.36, bit for bit.

use super::SimpleSpread;
use super::config::SimpleSpreadOptions;
use reinfors_core::rng::Seed;
use reinfors_core::{Actions, Game, Step};

const SEED: u64 = 7;
const WEIGHTS: [f64; 2] = [-0.5, -0.5];

/// Steps into the middle, places and speeds of the agents after so many, and what the last one paid.
const CROWDED: [(usize, [u64; 12], [u64; 3]); 5] = [
    (
        0,
        [
            0x3FD0_0320_D4F8_F2A4,
            0x3FE9_6BF3_6F2B_C99A,
            0x0000_0000_0000_0000,
            0x0000_0000_0000_0000,
            0x3FE1_A4D5_97E5_02BE,
            0xBFE1_9634_950A_A578,
            0x0000_0000_0000_0000,
            0x0000_0000_0000_0000,
            0xBFD9_9426_B378_E458,
            0x3FE7_E84C_B5D2_3E88,
            0x0000_0000_0000_0000,
            0x0000_0000_0000_0000,
        ],
        [0x8000_0000_0000_0000, 0x8000_0000_0000_0000, 0x8000_0000_0000_0000],
    ),
    (
        1,
        [
            0x3FD0_0320_D4F8_F2A4,
            0x3FE9_6BF3_6F2B_C99A,
            0x1FD1_85AA_00F4_1BE6,
            0xBFE0_0000_0000_0000,
            0x3FE1_A4D5_97E5_02BE,
            0xBFE1_9634_950A_A578,
            0xBFE0_0000_0000_0000,
            0x0000_0000_0000_0000,
            0xBFD9_9426_B378_E458,
            0x3FE7_E84C_B5D2_3E88,
            0x9FD1_85AA_00F4_1BE6,
            0xBFE0_0000_0000_0000,
        ],
        [0xBFF0_4D10_CDAC_5CAE, 0xBFF0_4D10_CDAC_5CAE, 0xBFF0_4D10_CDAC_5CAE],
    ),
    (
        12,
        [
            0x3FC4_9D5D_1A99_5A1D,
            0xBFEA_4145_A732_C858,
            0xBFC3_8DDC_7948_FF2A,
            0xBFE2_C8E5_0B69_3870,
            0xBFDA_D88F_8552_AEF2,
            0x3FE5_EBAE_01F6_688F,
            0xBFF3_2818_4E41_846E,
            0x3FE1_353D_4D73_7E26,
            0x3FD0_74A6_161C_E277,
            0xBFBF_1727_F01B_8615,
            0x3FEB_74FF_FAD5_48A6,
            0x3FE5_7BFC_3DF5_BA4A,
        ],
        [0xBFE9_5A52_28BA_A4F2, 0xBFE9_5A52_28BA_A4F2, 0xBFE9_5A52_28BA_A4F2],
    ),
    (
        25,
        [
            0x3FC3_8A72_E594_B508,
            0x3FDD_A903_58B0_7DBE,
            0x3FED_40C4_55EC_372C,
            0x3FF0_86D4_4FDA_C542,
            0xBFAF_BA89_7B16_991C,
            0xBF91_3BCD_9F33_E9A8,
            0xBFD6_401A_5166_41BE,
            0xC004_FD42_AF8F_1056,
            0x3F96_E10C_ECA7_36C0,
            0xBF98_3EEB_39D8_1552,
            0x3FF2_7D90_10D2_846F,
            0xBFDF_265D_6F00_FFA1,
        ],
        [0xBFF2_030D_98D0_F75F, 0xBFFA_030D_98D0_F75F, 0xBFFA_030D_98D0_F75F],
    ),
    (
        60,
        [
            0x3FC7_13A3_D912_C343,
            0xBFE9_9F3E_FA51_6F52,
            0x3F8A_77F1_FF5F_83AE,
            0x3FFC_1C1C_37DC_4792,
            0x3FD8_C554_8D9F_7C34,
            0x3FE3_28FB_8256_D473,
            0xBFD4_CDFE_B16E_EF2E,
            0xBFF7_CD8B_266D_B893,
            0xBFCD_7749_1CD1_848E,
            0x3FDA_C7CA_2033_5C8C,
            0x3FDE_5717_9F4C_DFAE,
            0xBFF5_4A0C_9BA5_2BF3,
        ],
        [0xBFF1_4CE1_56CD_1B62, 0xBFF1_4CE1_56CD_1B62, 0xBFF1_4CE1_56CD_1B62],
    ),
];
/// Of the episode after, without a seed: where the first agent is, and the height of the last landmark.
const SECOND_EPISODE: [u64; 3] = [0xBFDF_606E_F023_E864, 0xBFBC_1EF5_5C04_E280, 0xBFED_300D_DC38_A88A];

fn started(options: &SimpleSpreadOptions) -> SimpleSpread {
    let mut game = SimpleSpread::new(options, &WEIGHTS).unwrap();
    game.reset(Some(&Seed::from(SEED)), &[]);
    game
}

fn step(game: &mut SimpleSpread, actions: Actions<'_>) -> Vec<Step> {
    let (mut pushes, mut steps) = (Vec::new(), Vec::new());
    game.step(actions, &mut pushes, &mut steps);
    steps
}

/// Every agent along the axis on which it is farther from the middle.
fn crowd(game: &mut SimpleSpread) -> Vec<Step> {
    let inwards = |[x, y]: [f64; 2]| match y.abs() > x.abs() {
        false => 1 + i64::from(x < 0.0),
        true => 3 + i64::from(y < 0.0),
    };
    let actions: Vec<i64> = game.state.field.agents.iter().map(|agent| inwards(agent.position)).collect();
    step(game, Actions::Discrete(&actions))
}

#[test]
fn a_crowded_episode_is_the_reference_s_in_every_bit() {
    let mut game = started(&SimpleSpreadOptions::default());
    let (mut steps, mut paid) = (0, vec![0x8000_0000_0000_0000; 3]);
    for (step, state, rewards) in CROWDED {
        while steps < step {
            paid = crowd(&mut game).iter().map(|step| step.reward.to_bits()).collect();
            steps += 1;
        }
        let agents = game.state.field.agents.iter();
        let numbers: Vec<u64> = agents
            .flat_map(|agent| [agent.position, agent.velocity].into_iter().flatten())
            .map(f64::to_bits)
            .collect();
        assert_eq!(numbers, state, "after {step} steps");
        assert_eq!(paid, rewards, "of step {step}");
    }
    game.reset(None, &[]);
    let super::Field { agents, landmarks } = &game.state.field;
    let [x, y] = agents[0].position;
    assert_eq!([x, y, landmarks[2][1]].map(f64::to_bits), SECOND_EPISODE);
}

#[test]
fn vectors_are_taken_in_single_precision_within_their_bounds() {
    let options = SimpleSpreadOptions { continuous: true, ..Default::default() };
    let moved = |one: [f64; 5]| {
        let mut game = started(&options);
        step(&mut game, Actions::Continuous(&[one, [0.0; 5], [0.0; 5]].concat()));
        game.state.field.agents[0].velocity
    };
    assert_eq!(moved([9.0, -1.0, 3.0, 0.25, 0.5]), moved([0.0, 0.0, 1.0, 0.25, 0.5]));
    assert_eq!(
        moved([0.0, 0.1, 0.7, 0.0, 0.0]),
        moved([0.0, f64::from(0.1_f32), f64::from(0.7_f32), 0.0, 0.0])
    );
    assert_ne!(moved([0.0, 0.1, 0.7, 0.0, 0.0]), moved([0.0, 0.1, 0.8, 0.0, 0.0]));
}

#[test]
fn success_ends_an_episode_but_at_its_last_step() {
    let options = SimpleSpreadOptions { terminate_on_success: true, ..Default::default() };
    for (steps, ends) in [(0, true), (23, true), (24, false)] {
        let mut game = started(&options);
        let places: Vec<[f64; 2]> = game.state.field.landmarks.clone();
        game.state.field.agents.iter_mut().zip(places).for_each(|(agent, place)| agent.position = place);
        game.state.steps = steps;
        let terminated =
            step(&mut game, Actions::Discrete(&[0; 3])).iter().all(|step| step.terminated == Some(0));
        assert_eq!(terminated, ends, "after {steps} steps");
    }
    let mut game = started(&SimpleSpreadOptions::default());
    game.state.field.agents.fill(Default::default());
    game.state.field.landmarks.fill([0.01; 2]);
    game.state.field.agents[1].position = [0.3; 2];
    assert!(game.state.field.is_covered());
    assert!(step(&mut game, Actions::Discrete(&[0; 3])).iter().all(|step| step.terminated.is_none()));
}

#[test]
fn a_state_of_another_size_or_that_is_not_finite_is_not_loaded() {
    let mut game = started(&SimpleSpreadOptions::default());
    let before = game.state.field.clone();
    let mut broken = game.clone();
    broken.state.field.agents[1].velocity[0] = f64::NAN;
    assert!(game.load(&broken.save()).is_err());
    broken.state.field = super::Field::new(2);
    assert!(game.load(&broken.save()).is_err());
    assert_eq!(game.state.field, before);
}
