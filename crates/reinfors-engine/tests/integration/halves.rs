//! Two halves of the games take turns: who is asked about with whom is fixed, stepping goes on meanwhile, and no
//! record shows it.

use crate::network::{all_contents, answer, collect, config, contents, network};
use reinfors_engine::{
    Engine, EngineConfig, EngineErrorKind, HeadKind, InferError, Inference, ObservationView,
};
use std::time::Duration;

const LONG: Duration = Duration::from_millis(1);

fn engine(head: HeadKind, n_games: usize, n_threads: usize) -> Engine {
    Engine::new(EngineConfig { n_games, ..config(head, n_threads) }).unwrap()
}

/// How many rows each call had, of a window of `n_steps` steps in which no episode is cut off.
fn rows_of_calls(n_games: usize, n_steps: usize) -> Vec<usize> {
    let mut calls = Vec::new();
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        calls.push(obs.rows());
        answer(obs, 3, out);
        Ok::<_, InferError>(())
    };
    engine(HeadKind::Categorical, n_games, 2).collect(n_games * n_steps, &mut infer).unwrap();
    calls
}

#[test]
fn from_sixteen_games_on_each_half_has_a_call_of_its_own() {
    assert_eq!(rows_of_calls(15, 2), [15, 15, 15]);
    assert_eq!(rows_of_calls(16, 2), [8, 8, 8, 8, 8, 8]);
    assert_eq!(rows_of_calls(17, 1), [9, 8, 9, 8]);
}

/// Three windows of seven steps of 21 games, each answer taking `long`.
fn three_windows(head: HeadKind, n_threads: usize, long: Duration) -> Vec<Vec<u8>> {
    let engine = engine(head, 21, n_threads);
    let mut answer = network(engine.n_params());
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        std::thread::sleep(long);
        answer(obs, out)
    };
    (0..3).map(|_| contents(&engine.collect(21 * 7, &mut infer).unwrap())).collect()
}

#[test]
fn records_do_not_know_how_long_answers_take_or_who_steps_meanwhile() {
    for head in HeadKind::ALL {
        let expected = three_windows(head, 1, Duration::ZERO);
        for n_threads in [1, 2, 8] {
            assert!(three_windows(head, n_threads, LONG) == expected, "{n_threads} threads");
        }
    }
}

#[test]
fn what_fails_while_the_other_half_is_stepped_takes_the_window_back() {
    let engine = engine(HeadKind::Categorical, 20, 2);
    let expected = all_contents(&collect(&self::engine(HeadKind::Categorical, 20, 1), 1));
    for failing in 1..8 {
        let mut calls = 0;
        let mut infer = |obs: &ObservationView, out: &mut Inference| {
            std::thread::sleep(LONG);
            calls += 1;
            answer(obs, 3, out);
            match calls == failing {
                true if failing % 3 == 0 => panic!("in the network"),
                true if failing % 3 == 1 => out.values[0] = f64::NAN,
                true => return Err(InferError::new("no answer")),
                false => {}
            }
            Ok::<_, InferError>(())
        };
        let kinds = [EngineErrorKind::Internal, EngineErrorKind::Value, EngineErrorKind::Infer];
        assert_eq!(engine.collect(20 * 7, &mut infer).unwrap_err().kind(), kinds[failing % 3]);
    }
    assert!(all_contents(&collect(&engine, 1)) == expected, "the games are not where they were");
}
