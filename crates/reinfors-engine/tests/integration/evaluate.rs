//! Evaluation: exactly the episodes of the list, the same ones whatever they are played beside.

use crate::network::{answer, params};
use crate::toy::{Seen, drift};
use reinfors_core::rng::Seed;
use reinfors_core::{Actions, ConfiguredGame, OptionValue};
use reinfors_engine::evaluate::{EvaluatedEpisode, Evaluation, evaluate};
use reinfors_engine::vec_env::{Autoreset, VecEnv};
use reinfors_engine::{EngineErrorKind, HeadKind, InferError, Inference, ObservationView, Policy};

fn game(head: HeadKind) -> ConfiguredGame {
    let continuous = OptionValue::Bool(head != HeadKind::Categorical);
    drift(&[("continuous", continuous), ("max_steps", OptionValue::Int(9))])
}

fn evaluation(head: HeadKind, seeds: &[u64]) -> Evaluation {
    Evaluation {
        game: game(head),
        reward: Vec::new(),
        policy: Policy::Ppo { head: Some(head) },
        state_shape: Vec::new(),
        seeds: seeds.iter().map(|seed| Seed::from(*seed)).collect(),
        deterministic: true,
        n_games: Some(4),
        n_threads: Some(2),
    }
}

fn n_params(head: HeadKind) -> usize {
    if head == HeadKind::Gaussian || head == HeadKind::Beta { 4 } else { 3 }
}

fn run(head: HeadKind, evaluation: &Evaluation) -> Vec<EvaluatedEpisode> {
    let mut infer = move |obs: &ObservationView, out: &mut Inference| -> Result<(), InferError> {
        answer(obs, n_params(head), out);
        Ok(())
    };
    evaluate(evaluation, &mut infer, &mut |_| Ok(())).unwrap()
}

const SEEDS: [u64; 11] = [3, 1, 4, 15, 9, 2, 6, 53, 58, 97, 93];

#[test]
fn an_episode_is_the_same_in_any_company_order_and_number_of_threads() {
    for (head, deterministic) in HeadKind::ALL.into_iter().flat_map(|head| [(head, true), (head, false)]) {
        let base = || Evaluation { deterministic, ..evaluation(head, &SEEDS) };
        let expected = run(head, &base());
        for (n_games, n_threads) in
            [(Some(1), Some(1)), (Some(3), Some(3)), (Some(300), Some(8)), (None, None)]
        {
            assert_eq!(run(head, &Evaluation { n_games, n_threads, ..base() }), expected);
        }
        let mut backwards = SEEDS;
        backwards.reverse();
        let mut again = run(head, &Evaluation { deterministic, ..evaluation(head, &backwards) });
        again.reverse();
        assert_eq!(again, expected);
        for (seed, episode) in SEEDS.iter().zip(&expected) {
            let alone = Evaluation { deterministic, ..evaluation(head, &[*seed]) };
            assert_eq!(run(head, &alone), std::slice::from_ref(episode));
        }
        let lengths: Vec<u64> = expected.iter().map(|episode| episode.length).collect();
        assert!(lengths.iter().min() < lengths.iter().max(), "episodes of several lengths: {lengths:?}");
    }
}

/// Steps a single environment with the most probable action until its end.
fn played_by_hand(seed: u64) -> EvaluatedEpisode {
    let game = game(HeadKind::Categorical);
    let mut env = VecEnv::new(&game, &[], 1, Some(1), Seed::from(0), Autoreset::Disabled).unwrap();
    let mut observations = env.blank_observations().unwrap();
    env.reset(&[Some(Seed::from(seed))], &game.spec().default_flags(), None, &mut observations).unwrap();
    let mut episode = EvaluatedEpisode::default();
    loop {
        let logits = params(Seen::of(observations[0].bytes_mut()), 3);
        let best = (0..3).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
        let step = env.step(Actions::Discrete(&[best as i64]), &mut observations).unwrap();
        episode.total_reward += step.rewards[0];
        episode.length += 1;
        if step.terminated[0] || step.truncated[0] {
            episode.ended = if step.terminated[0] { "some reason" } else { "max_steps" };
            return episode;
        }
    }
}

#[test]
fn it_plays_what_a_loop_over_one_environment_plays() {
    let episodes = run(HeadKind::Categorical, &evaluation(HeadKind::Categorical, &SEEDS));
    for (seed, episode) in SEEDS.into_iter().zip(&episodes) {
        let expected = played_by_hand(seed);
        assert_eq!((episode.total_reward, episode.length), (expected.total_reward, expected.length));
        assert_eq!(episode.ended == "max_steps", expected.ended == "max_steps");
    }
    assert!(episodes.iter().any(|episode| episode.ended != "max_steps"));
}

#[test]
fn only_games_that_are_playing_are_asked_about() {
    let (mut asked, mut most, mut told) = (0, 0, Vec::new());
    let mut infer = |obs: &ObservationView, out: &mut Inference| -> Result<(), InferError> {
        asked += obs.rows() as u64;
        most = most.max(obs.rows());
        answer(obs, 3, out);
        Ok(())
    };
    let on_end = &mut |ended| {
        told.push(ended);
        Ok(())
    };
    let episodes = evaluate(&evaluation(HeadKind::Categorical, &SEEDS), &mut infer, on_end).unwrap();
    assert_eq!(asked, episodes.iter().map(|episode| episode.length).sum::<u64>());
    assert_eq!(most, 4);
    assert!(told.is_sorted() && told.last() == Some(&SEEDS.len()), "{told:?}");
}

#[test]
fn a_repeated_seed_is_the_same_episode_with_other_samples() {
    let seeds = [7; 6];
    let fixed = run(HeadKind::Gaussian, &evaluation(HeadKind::Gaussian, &seeds));
    assert!(fixed.iter().all(|episode| *episode == fixed[0]));
    let sampled = Evaluation { deterministic: false, ..evaluation(HeadKind::Gaussian, &seeds) };
    let sampled = run(HeadKind::Gaussian, &sampled);
    assert!(sampled[1..].iter().all(|episode| episode.total_reward != sampled[0].total_reward));
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    let refused = |evaluation: Evaluation| {
        let mut infer = |_: &ObservationView, _: &mut Inference| Err(InferError::new("never asked"));
        evaluate(&evaluation, &mut infer, &mut |_| Ok(())).unwrap_err()
    };
    let base = || evaluation(HeadKind::Categorical, &SEEDS);
    let message = refused(Evaluation { seeds: Vec::new(), ..base() }).to_string();
    assert_eq!(message, "episodes must be from 1 to 1048576, got 0");
    let message = refused(Evaluation { n_games: Some(0), ..base() }).to_string();
    assert_eq!(message, "n_games must be from 1 to 65536, got 0");
    assert_eq!(refused(base()).kind(), EngineErrorKind::Infer);
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        out.set(&vec![0.0; 2 * obs.rows()], &vec![0.0; obs.rows()]);
        Ok(())
    };
    let error = evaluate(&base(), &mut infer, &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("needed is (4, 3)"), "{error}");
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        answer(obs, 3, out);
        Ok(())
    };
    let error = evaluate(&base(), &mut infer, &mut |_| Err(InferError::new("no more"))).unwrap_err();
    assert_eq!(error.to_string(), "no more");
}
