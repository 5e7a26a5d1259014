//! Settings: what is allowed, what is refused by name, and the configuration as plain data.

use crate::network::{all_contents, collect, config, network};
use crate::toy::{REGISTRY, drift};
use reinfors_core::OptionValue;
use reinfors_engine::config::MAX_GAMES;
use reinfors_engine::{Engine, EngineConfig, EngineErrorKind, HeadKind, Learner, Policy};

fn refused(config: EngineConfig) -> String {
    let error = Engine::new(config).err().expect("refused");
    assert_eq!(error.kind(), EngineErrorKind::Value);
    error.to_string()
}

#[test]
fn settings_outside_what_is_allowed_are_refused_by_name() {
    let base = || config(HeadKind::Categorical, 1);
    for n_games in [0, MAX_GAMES + 1, 1 << 40] {
        let message = refused(EngineConfig { n_games, ..base() });
        assert_eq!(message, format!("n_games must be from 1 to 65536, got {n_games}"));
    }
    let message = refused(EngineConfig { n_threads: Some(0), ..base() });
    assert_eq!(message, "n_threads must be at least 1, or None for all cores, got 0");
    for bad in [1.1, -0.1, f64::NAN, f64::INFINITY] {
        let gamma = refused(EngineConfig { learner: Learner::Ppo { gamma: bad, lam: 0.5 }, ..base() });
        assert_eq!(gamma, format!("gamma must be from 0 to 1, got {bad}"));
        let lam = refused(EngineConfig { learner: Learner::Ppo { gamma: 0.5, lam: bad }, ..base() });
        assert_eq!(lam, format!("lam must be from 0 to 1, got {bad}"));
    }
    let reward = refused(EngineConfig { reward: vec![("speed".into(), 1.0)], ..base() });
    assert_eq!(reward, "unknown reward key \"speed\"; the keys of Drift are position");
    let head = |head| EngineConfig { policy: Policy::Ppo { head: Some(head) }, ..base() };
    let message = "distribution must be \"categorical\" for a game of discrete actions, got \"gaussian\"";
    assert_eq!(refused(head(HeadKind::Gaussian)), message);
    let continuous = EngineConfig { game: drift(&[("continuous", OptionValue::Bool(true))]), ..base() };
    let message =
        "distribution must be \"gaussian\" or \"beta\" for a game of continuous actions, got \"categorical\"";
    assert_eq!(refused(continuous), message);
    let unknown = [("distribution".to_owned(), OptionValue::Text("normal".into()))];
    let message =
        "option distribution must be \"categorical\" or \"gaussian\" or \"beta\", or None, got \"normal\"";
    assert_eq!(Policy::parse("Ppo", &unknown).unwrap_err().to_string(), message);
}

#[test]
fn sizes_of_windows_and_queues_are_refused_by_name() {
    let engine = Engine::new(config(HeadKind::Categorical, 1)).unwrap();
    let records = engine.collect(0, &mut network(3)).unwrap_err().to_string();
    assert_eq!(records, "n_records must be from 1 to 16777216, got 0");
    let size = engine.collect_stream(0, Box::new(network(3)), 1, None).unwrap_err().to_string();
    assert_eq!(size, "collect_size must be from 1 to 16777216, got 0");
    let depth = engine.collect_stream(5, Box::new(network(3)), 0, None).unwrap_err().to_string();
    assert_eq!(depth, "depth must be at least 1, got 0");
    let huge = engine.collect(usize::MAX, &mut network(3)).unwrap_err().to_string();
    assert_eq!(huge, format!("n_records must be from 1 to 16777216, got {}", usize::MAX));
    assert_eq!(collect(&engine, 1).len(), 1, "a refusal leaves the engine free");
}

#[test]
fn unusual_but_legal_settings_work() {
    let base = || config(HeadKind::Categorical, 1);
    let more_threads_than_games = Engine::new(EngineConfig { n_threads: Some(1 << 40), ..base() }).unwrap();
    assert_eq!(more_threads_than_games.n_threads(), 5);
    let many = Engine::new(EngineConfig { n_games: 300, n_threads: Some(3), ..base() }).unwrap();
    assert_eq!(many.collect(1, &mut network(3)).unwrap().len(), 300);
    let all_cores = Engine::new(EngineConfig { n_threads: None, ..base() }).unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!(all_cores.n_threads(), cores.min(5));
    let extremes = EngineConfig { learner: Learner::Ppo { gamma: 0.0, lam: 1.0 }, ..base() };
    assert_eq!(collect(&Engine::new(extremes).unwrap(), 1)[0].len(), 35);
}

#[test]
fn the_resolved_configuration_has_every_default_and_makes_an_equal_engine() {
    let game = drift(&[("max_steps", OptionValue::Int(7))]);
    let engine = Engine::new(EngineConfig { n_threads: Some(2), ..EngineConfig::new(game, 5) }).unwrap();
    let resolved = engine.resolved_config();
    assert_eq!(resolved.policy, Policy::Ppo { head: Some(HeadKind::Categorical) });
    assert_eq!(resolved.learner, Learner::Ppo { gamma: 0.99, lam: 0.95 });
    assert_eq!(resolved.reward, [("position".to_owned(), 1.0)]);
    assert_eq!(resolved.options.len(), 7);
    assert_eq!((resolved.n_games, resolved.n_threads), (5, Some(2)));

    let again = Engine::new(resolved.configure(&REGISTRY).unwrap()).unwrap();
    assert_eq!(again.resolved_config(), resolved);
    assert_eq!(all_contents(&collect(&again, 3)), all_contents(&collect(&engine, 3)));
}
