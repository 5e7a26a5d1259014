//! Snapshots: continuing equals never having stopped, and what does not fit is refused by name.

use crate::network::{all_contents, collect, config, engine};
use crate::toy::drift;
use reinfors_core::OptionValue;
use reinfors_engine::{Engine, EngineConfig, EngineErrorKind, HeadKind, Learner};

#[test]
fn continuing_from_a_snapshot_equals_never_having_stopped_on_any_number_of_threads() {
    for head in HeadKind::ALL {
        let undisturbed = engine(head, 2);
        collect(&undisturbed, 3);
        undisturbed.weights_updated(Some(7)).unwrap();
        let snapshot = undisturbed.snapshot().unwrap();
        let expected = all_contents(&collect(&undisturbed, 3));
        for n_threads in [1, 2, 5] {
            let other = engine(head, n_threads);
            collect(&other, 1);
            other.restore(&snapshot).unwrap();
            assert_eq!(other.version(), 7);
            assert_eq!(other.snapshot().unwrap().len(), snapshot.len());
            assert_eq!(all_contents(&collect(&other, 3)), expected, "{n_threads} threads");
        }
    }
}

#[test]
fn an_engine_without_a_given_seed_adopts_the_snapshots() {
    let first = engine(HeadKind::Categorical, 1);
    collect(&first, 2);
    let snapshot = first.snapshot().unwrap();
    let second = Engine::new(EngineConfig { seed: None, ..config(HeadKind::Categorical, 1) }).unwrap();
    second.restore(&snapshot).unwrap();
    assert_eq!(second.resolved_config(), first.resolved_config());
    assert_eq!(all_contents(&collect(&second, 2)), all_contents(&collect(&first, 2)));
}

#[test]
fn another_configuration_is_refused_by_the_first_setting_that_differs() {
    let snapshot = engine(HeadKind::Gaussian, 1).snapshot().unwrap();
    let base = || config(HeadKind::Gaussian, 1);
    let learner = |gamma, lam| EngineConfig { learner: Learner::Ppo { gamma, lam }, ..base() };
    let options = [("continuous", OptionValue::Bool(true)), ("max_steps", OptionValue::Int(8))];
    let others = [
        (EngineConfig { game: drift(&options), ..base() }, "its option max_steps is 7, this engine's is 8"),
        (
            EngineConfig { reward: vec![("position".into(), 2.0)], ..base() },
            "its reward position is 1.0, this engine's is 2.0",
        ),
        (config(HeadKind::Beta, 1), "its distribution is \"gaussian\", this engine's is \"beta\""),
        (learner(0.9, 0.95), "its gamma is 0.99, this engine's is 0.9"),
        (learner(0.99, 1.0), "its lam is 0.95, this engine's is 1.0"),
        (EngineConfig { n_games: 6, ..base() }, "its n_games is 5, this engine's is 6"),
        (EngineConfig { seed: Some(1.into()), ..base() }, "its seed is 12345, this engine's is 1"),
    ];
    for (config, expected) in others {
        let error = Engine::new(config).unwrap().restore(&snapshot).unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::Value);
        assert_eq!(error.to_string(), format!("cannot restore the snapshot: {expected}"));
    }
}

#[test]
fn damaged_bytes_are_an_error_and_change_nothing() {
    let undisturbed = engine(HeadKind::Categorical, 1);
    collect(&undisturbed, 1);
    let snapshot = undisturbed.snapshot().unwrap();
    let expected = all_contents(&collect(&undisturbed, 2));

    let engine = engine(HeadKind::Categorical, 1);
    collect(&engine, 1);
    for at in 0..snapshot.len() {
        let mut damaged = snapshot.clone();
        damaged[at] ^= 0x55;
        assert_eq!(engine.restore(&damaged).unwrap_err().kind(), EngineErrorKind::Value, "byte {at}");
        assert!(engine.restore(&snapshot[..at]).is_err(), "length {at}");
    }
    assert_eq!(all_contents(&collect(&engine, 2)), expected);
}
