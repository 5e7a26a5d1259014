//! Observations of several parts, with stacked frames and skipped steps: what belongs to one row stays
//! together.

use crate::network::{contents, network};
use crate::toy::{Seen, drift};
use reinfors_core::OptionValue;
use reinfors_engine::observation::Numbers;
use reinfors_engine::{Engine, EngineConfig, InferError, Inference, ObservationView};

const MAX_STEPS: u32 = 10;
const SKIP: u32 = 4;

/// Five games that show two frames and tell their state, four steps a decision and ten an episode.
fn engine(n_threads: usize) -> Engine {
    let game = drift(&[
        ("told", OptionValue::Bool(true)),
        ("frame_stack", OptionValue::Int(2)),
        ("frame_skip", OptionValue::Int(SKIP.into())),
        ("max_steps", OptionValue::Int(MAX_STEPS.into())),
    ]);
    Engine::new(EngineConfig {
        n_threads: Some(n_threads),
        seed: Some(5.into()),
        ..EngineConfig::new(game, 5)
    })
    .unwrap()
}

/// The older and the newer frame of each row; its state is checked to be that of the newer.
fn frames(obs: &ObservationView) -> Vec<[Seen; 2]> {
    let Numbers::F32(numbers) = obs.numbers(1) else { panic!("the state is of floats") };
    assert_eq!(numbers.len(), 3 * obs.rows());
    let row = |(row, told): (usize, &[f32])| {
        let (older, newer) = obs.row(0, row).split_at(Seen::BYTES);
        let [older, newer] = [older, newer].map(Seen::of);
        assert_eq!(told, [newer.position as f32, newer.steps as f32, newer.lifetime as f32]);
        [older, newer]
    };
    numbers.chunks_exact(3).enumerate().map(row).collect()
}

#[test]
fn each_row_has_its_own_state_and_its_own_frames() {
    for n_threads in [1, 2, 5] {
        let engine = engine(n_threads);
        let mut asked = Vec::new();
        let mut answer = network(engine.n_params());
        let mut infer = |obs: &ObservationView, out: &mut Inference| {
            asked.push(frames(obs));
            answer(obs, out)
        };
        let batch = engine.collect(60, &mut infer).unwrap();
        let recorded = frames(&batch.obs);
        for (row, [older, newer]) in recorded.iter().enumerate() {
            let decision = batch.step[row] as u32;
            assert_eq!(newer.steps, decision * SKIP);
            assert_eq!(older.steps, decision.saturating_sub(1) * SKIP);
            if decision == 0 {
                assert_eq!(older, newer, "the first frame fills the stack");
            } else {
                assert_eq!(*older, recorded[row - batch.n_slots][1]);
            }
        }
        let finals = asked.iter().flatten().filter(|[_, newer]| newer.steps == MAX_STEPS);
        let cut_off = batch.truncated.iter().zip(&batch.terminated).filter(|(cut, ended)| **cut && !**ended);
        assert_eq!(finals.clone().count(), cut_off.count());
        assert!(finals.clone().count() > 0, "no episode was cut off");
        assert!(
            finals.clone().all(|[older, _]| older.steps == 2 * SKIP),
            "two decisions and a half are an episode"
        );
    }
}

#[test]
fn threads_and_a_failed_attempt_change_nothing() {
    let expected: Vec<_> = {
        let engine = engine(1);
        (0..3).map(|_| contents(&engine.collect(33, &mut network(3)).unwrap())).collect()
    };
    for n_threads in [1, 3] {
        let engine = engine(n_threads);
        for expected in &expected {
            let mut calls = 0;
            let mut failing = |obs: &ObservationView, out: &mut Inference| {
                calls += 1;
                if calls == 5 { Err(InferError::new("boom")) } else { network(3)(obs, out) }
            };
            engine.collect(33, &mut failing).unwrap_err();
            let batch = engine.collect(33, &mut network(3)).unwrap();
            assert_eq!(&contents(&batch), expected);
            assert_eq!(frames(&batch.last_obs).len(), 5);
        }
    }
}
