//! Every policy with every learner that it allows, without a state and with one: what the engine promises
//! holds for all of them.

use crate::network::{
    all_contents, collect, combinations, combinations_of, combined, contents, mix, name, ppo,
};
use crate::toy::{REGISTRY, Seen, drift};
use reinfors_core::OptionValue;
use reinfors_engine::{
    ActionArray, Batch, Engine, EngineConfig, EngineErrorKind, Infer, InferError, Inference, Learner, Memory,
    ObservationView, Policy, Records, Recurrent,
};

/// Few games, and enough that two halves of them take turns.
fn of_both_sizes() -> impl Iterator<Item = EngineConfig> {
    [5, 18].into_iter().flat_map(combinations_of)
}

fn engine_of(config: &EngineConfig) -> Engine {
    Engine::new(config.clone()).unwrap()
}

fn on_threads(config: &EngineConfig, n_threads: usize) -> Engine {
    engine_of(&EngineConfig { n_threads: Some(n_threads), ..config.clone() })
}

#[test]
fn what_fits_together_is_allowed_and_the_rest_refused_with_what_would() {
    let pairs: std::collections::BTreeSet<_> =
        combinations().iter().map(|config| (config.policy.name(), config.learner.name())).collect();
    let allowed = [
        ("Direct", "Transitions"),
        ("EpsilonGreedy", "Transitions"),
        ("EpsilonGreedy", "Vtrace"),
        ("Ppo", "Ppo"),
        ("Ppo", "Transitions"),
        ("Ppo", "Vtrace"),
    ];
    assert_eq!(pairs.into_iter().collect::<Vec<_>>(), allowed);
    assert_eq!(combinations().len(), 2 * (9 + 2 + 2));

    let refused = |policy, learner, continuous| {
        let game = drift(&[("continuous", OptionValue::Bool(continuous))]);
        let error =
            Engine::new(EngineConfig { policy, learner, ..EngineConfig::new(game, 2) }).err().unwrap();
        assert_eq!(error.kind(), EngineErrorKind::Value);
        error.to_string()
    };
    let (greedy, vtrace) =
        (Policy::EpsilonGreedy { epsilon: 0.5 }, Learner::Vtrace { gamma: 0.9, rho_clip: 1.0, c_clip: 1.0 });
    assert_eq!(
        refused(greedy, Learner::default(), false),
        "learner must be Transitions or Vtrace for the policy EpsilonGreedy, which has no density to improve, \
         got Ppo"
    );
    assert_eq!(
        refused(Policy::Direct, vtrace, true),
        "learner must be Transitions for the policy Direct, whose actions have no density, got Vtrace"
    );
    let transitions = Learner::Transitions { n_step: 1, gamma: 0.9 };
    assert_eq!(
        refused(greedy, transitions, true),
        "policy must be Ppo or Direct for a game of continuous actions, got EpsilonGreedy"
    );
    let bad = Policy::EpsilonGreedy { epsilon: 1.5 };
    assert_eq!(refused(bad, transitions, false), "epsilon must be from 0 to 1, got 1.5");
    let none = Learner::Transitions { n_step: 0, gamma: 0.9 };
    assert_eq!(refused(greedy, none, false), "n_step must be at least 1, got 0");
    let clip = Learner::Vtrace { gamma: 0.9, rho_clip: 1.0, c_clip: 0.0 };
    assert_eq!(refused(greedy, clip, false), "c_clip must be a finite number above 0, got 0.0");
}

#[test]
fn the_same_bytes_on_any_number_of_threads_collected_or_streamed() {
    for config in of_both_sizes() {
        let expected = all_contents(&collect(&engine_of(&config), 3));
        for n_threads in [2, 3] {
            assert_eq!(
                all_contents(&collect(&on_threads(&config, n_threads), 3)),
                expected,
                "{}",
                name(&config)
            );
        }
        let engine = on_threads(&config, 2);
        let stream = engine
            .collect_stream(7 * config.n_games - 2, Box::new(combined(engine.answer())), 1, None)
            .unwrap();
        let streamed: Vec<_> = (0..3).map(|_| contents(&stream.next().unwrap())).collect();
        assert_eq!(streamed, expected, "{}", name(&config));
    }
}

#[test]
fn continuing_from_a_snapshot_equals_never_having_stopped() {
    for config in of_both_sizes() {
        let undisturbed = engine_of(&config);
        collect(&undisturbed, 2);
        let snapshot = undisturbed.snapshot().unwrap();
        let expected = all_contents(&collect(&undisturbed, 2));
        let other = on_threads(&config, 3);
        collect(&other, 1);
        other.restore(&snapshot).unwrap();
        assert_eq!(all_contents(&collect(&other, 2)), expected, "{}", name(&config));
    }
}

#[test]
fn a_failed_window_leaves_no_trace_whichever_call_fails() {
    for config in of_both_sizes() {
        let undisturbed = all_contents(&collect(&engine_of(&config), 2));
        for at in [0, 3, 7] {
            let engine = engine_of(&config);
            let mut calls = 0;
            let mut good = combined(engine.answer());
            let mut failing = Recurrent(|obs: &ObservationView, memory: Memory<'_>, out: &mut Inference| {
                calls += 1;
                if calls > at { Err(InferError::new("boom")) } else { good.infer(obs, memory, out) }
            });
            assert_eq!(engine.collect(14 * config.n_games, &mut failing).unwrap_err().to_string(), "boom");
            assert_eq!(all_contents(&collect(&engine, 2)), undisturbed, "{} at {at}", name(&config));
        }
    }
}

#[test]
fn an_engine_made_from_the_resolved_configuration_is_the_same() {
    for config in combinations() {
        let engine = engine_of(&config);
        let resolved = engine.resolved_config();
        let again = Engine::new(resolved.configure(&REGISTRY).unwrap()).unwrap();
        assert_eq!(again.resolved_config(), resolved);
        assert_eq!(
            all_contents(&collect(&again, 2)),
            all_contents(&collect(&engine, 2)),
            "{}",
            name(&config)
        );

        let given = |settings: Vec<(&'static str, OptionValue)>| -> Vec<_> {
            settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let policy = given(resolved.policy.settings(&resolved.state_shape));
        let parsed = Policy::parse(resolved.policy.name(), &policy).unwrap();
        assert_eq!(parsed, (resolved.policy, resolved.state_shape));
        let learner = given(resolved.learner.settings());
        assert_eq!(Learner::parse(resolved.learner.name(), &learner).unwrap(), resolved.learner);
    }
}

#[test]
fn a_snapshot_of_another_policy_learner_or_state_is_refused_by_name() {
    let configs = combinations();
    for (at, config) in configs.iter().enumerate() {
        let snapshot = engine_of(config).snapshot().unwrap();
        for other in configs.iter().skip(at + 1) {
            let message = engine_of(other).restore(&snapshot).unwrap_err().to_string();
            let names = ["policy", "distribution", "state_shape", "learner", "option continuous"];
            assert!(
                names.iter().any(|name| message.contains(&format!(": its {name} is "))),
                "{message} for {} in {}",
                name(config),
                name(other)
            );
        }
    }
}

/// The rows of a slot, window after window.
fn rows_of(batches: &[Batch], slot: usize) -> impl Iterator<Item = (&Batch, usize)> {
    batches
        .iter()
        .flat_map(move |batch| (slot..batch.len()).step_by(batch.n_slots).map(move |row| (batch, row)))
}

#[test]
fn the_state_of_a_row_is_what_its_own_episode_left() {
    for config in of_both_sizes().filter(|config| !config.state_shape.is_empty()) {
        let batches = collect(&engine_of(&config), 4);
        let mut starts = 0;
        for slot in 0..config.n_games {
            let (mut count, mut mixed) = (0, 0.0);
            for (batch, row) in rows_of(&batches, slot) {
                let seen = Seen::of(batch.obs.row(0, row));
                if batch.step[row] == 0 {
                    (count, mixed) = (0, 0.0);
                    starts += 1;
                }
                assert_eq!(batch.states[2 * row..][..2], [count as f32, mixed], "{}", name(&config));
                (count, mixed) = (count + 1, mix(mixed, seen));
            }
        }
        assert!(starts > 10, "{starts} starts");
        for pair in batches.windows(2) {
            assert_eq!(pair[0].last_states, pair[1].states[..2 * config.n_games]);
        }
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused_before_anything_moves() {
    let config = combinations().into_iter().find(|config| !config.state_shape.is_empty()).unwrap();
    let undisturbed = all_contents(&collect(&engine_of(&config), 1));
    let engine = engine_of(&config);
    type Spoil = fn(&mut Inference);
    let spoil: [(Spoil, &str); 4] = [
        (|out| out.state_shape = vec![5, 1, 2], "state of shape (5, 1, 2) for 5 rows; needed is (5, 2)"),
        (|out| out.set_state(&[0.0; 8], &[4, 2]), "state of shape (4, 2) for 5 rows; needed is (5, 2)"),
        (|out| out.state[5] = f64::NAN, "state with NaN in row 2, column 1; needed are finite numbers"),
        (|out| out.state[5] = 1e39, "state with 1e39 in row 2, column 1"),
    ];
    for (spoil, expected) in spoil {
        let mut good = combined(engine.answer());
        let mut infer = Recurrent(|obs: &ObservationView, memory: Memory<'_>, out: &mut Inference| {
            good.infer(obs, memory, out)?;
            spoil(out);
            Ok(())
        });
        let error = engine.collect(33, &mut infer).unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::Value);
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(all_contents(&collect(&engine, 1)), undisturbed);
    for state_shape in [vec![0], vec![3, 0], vec![1 << 21], vec![usize::MAX, 2]] {
        let error = Engine::new(EngineConfig { state_shape, ..config.clone() }).err().unwrap().to_string();
        assert!(error.starts_with("state_shape must be sizes of at least 1 whose product"), "{error}");
    }
}

/// A twin under PPO has the single rewards and the ends.
#[test]
fn transitions_are_those_of_a_plain_loop() {
    for n_step in [1, 3, 100] {
        let base = combinations().into_iter().find(|config| config.learner.name() == "Transitions").unwrap();
        let config = EngineConfig { learner: Learner::Transitions { n_step, gamma: 0.5 }, ..base };
        let twin = EngineConfig { learner: Learner::default(), ..config.clone() };
        let (batches, singles) = (collect(&engine_of(&config), 4), collect(&engine_of(&twin), 4));
        let (mut ends, mut cut_off) = (0, 0);
        for (batch, single) in batches.iter().zip(&singles) {
            assert_eq!((batch.obs.bytes(0), &batch.step), (single.obs.bytes(0), &single.step));
            let Records::Transitions(made) = &batch.records else { panic!("transitions") };
            let places = 0..batch.len() as i64;
            let mut next = vec![0; batch.len() * Seen::BYTES];
            made.seen.copy_to(0, &made.next_rows, &mut next);
            for row in places {
                let row = row as usize;
                let (mut reward, mut covered, mut last) = (0.0, 0, row);
                for at in (row..batch.len()).step_by(5).take(n_step as usize) {
                    reward += 0.5_f64.powi(covered) * f64::from(single.rewards[at]);
                    covered += 1;
                    last = at;
                    if single.terminated[at] || single.truncated[at] {
                        break;
                    }
                }
                assert!((f64::from(batch.rewards[row]) - reward).abs() < 1e-6);
                assert_eq!(batch.terminated[row], single.terminated[last]);
                assert_eq!(batch.truncated[row], single.truncated[last]);
                let discount = if single.terminated[last] { 0.0 } else { 0.5_f32.powi(covered) };
                assert_eq!(made.discounts[row], discount);
                let (before, after) =
                    (Seen::of(batch.obs.row(0, row)), Seen::of(&next[row * Seen::BYTES..][..Seen::BYTES]));
                assert_eq!(after.steps, before.steps + covered as u32);
                assert_eq!(after.lifetime, before.lifetime, "of the same episode");
                // The reward is the position after the step: the last one's is what is seen next.
                assert_eq!(single.rewards[last], after.position as f32);
                ends += usize::from(batch.terminated[row]);
                cut_off += usize::from(batch.truncated[row] && !batch.terminated[row]);
            }
        }
        assert!(ends > 5 && cut_off > 5, "{ends} ends, {cut_off} cut off");
    }
}

#[test]
fn next_states_belong_to_the_next_observations() {
    let config = combinations()
        .into_iter()
        .find(|config| config.learner.name() == "Transitions" && !config.state_shape.is_empty())
        .unwrap();
    for batch in collect(&engine_of(&config), 4) {
        let Records::Transitions(made) = &batch.records else { panic!("transitions") };
        let mut next = vec![0; batch.len() * Seen::BYTES];
        made.seen.copy_to(0, &made.next_rows, &mut next);
        for row in 0..batch.len() {
            let seen = Seen::of(&next[row * Seen::BYTES..][..Seen::BYTES]);
            assert_eq!(made.next_states[2 * row], seen.steps as f32);
        }
    }
}

#[test]
fn vtrace_records_have_the_final_observations_of_what_was_cut_off() {
    for config in of_both_sizes().filter(|config| config.learner.name() == "Vtrace") {
        let mut finals = 0;
        for batch in collect(&engine_of(&config), 4) {
            let Records::Vtrace(made) = &batch.records else { panic!("of V-trace") };
            let cut_off: Vec<i64> = (0..batch.len())
                .filter(|&row| batch.truncated[row] && !batch.terminated[row])
                .map(|row| row as i64)
                .collect();
            assert_eq!(made.final_rows, cut_off);
            let final_obs = &made.final_obs;
            let seen: Vec<Seen> = (0..final_obs.rows()).map(|row| Seen::of(final_obs.row(0, row))).collect();
            assert_eq!(seen.len(), cut_off.len());
            for (at, (row, seen)) in cut_off.iter().zip(&seen).enumerate() {
                assert_eq!((seen.steps, seen.position as f32), (7, batch.rewards[*row as usize]));
                if !config.state_shape.is_empty() {
                    assert_eq!(made.final_states[2 * at], 7.0);
                }
            }
            for row in 0..batch.len() {
                assert_eq!(made.discounts[row], if batch.terminated[row] { 0.0 } else { 0.9 });
            }
            assert_eq!(made.behavior_log_probs.len(), batch.len());
            finals += seen.len();
        }
        assert!(finals > 5, "{finals} final observations");
    }
}

/// The final observation is valued with the state that its own episode left, and what that call remembers is
/// nobody's: the network of the tests panics where either is not so, and values depend on the state.
#[test]
fn advantages_of_a_recurrent_policy_bootstrap_with_its_state() {
    let find = |is_recurrent: bool| {
        let fits = |config: &EngineConfig| {
            config.learner.name() == "Ppo" && config.state_shape.is_empty() != is_recurrent
        };
        combinations().into_iter().find(fits).unwrap()
    };
    let batch = &collect(&engine_of(&find(true)), 1)[0];
    let mut differing = 0;
    for row in 0..batch.len() {
        let seen = Seen::of(batch.obs.row(0, row));
        let expected = crate::network::value(seen) + f64::from(mix(batch.states[2 * row + 1], seen));
        assert_eq!(ppo(batch).values[row], expected as f32);
        differing += usize::from(expected as f32 != crate::network::value(seen) as f32);
    }
    assert!(differing > 20, "{differing}");
}

#[test]
fn epsilon_can_be_changed_and_is_that_of_the_whole_window() {
    let base = combinations().into_iter().find(|config| config.policy.name() == "EpsilonGreedy").unwrap();
    let config = EngineConfig { policy: Policy::EpsilonGreedy { epsilon: 0.0 }, ..base };
    let engine = engine_of(&config);
    let explored = |batch: &Batch| {
        let ActionArray::Discrete(actions) = &batch.actions else { panic!("numbered actions") };
        let greedy = (0..batch.len()).filter(|&row| {
            let params = crate::network::params(Seen::of(batch.obs.row(0, row)), 3);
            params.iter().all(|other| *other <= params[actions[row] as usize])
        });
        batch.len() - greedy.count()
    };
    let batch = collect(&engine, 1).remove(0);
    assert_eq!((explored(&batch), batch.telemetry.epsilon), (0, Some(0.0)));
    engine.set_epsilon(1.0).unwrap();
    let batch = collect(&engine, 1).remove(0);
    assert!(explored(&batch) > 10, "{} of {}", explored(&batch), batch.len());
    assert_eq!(batch.telemetry.epsilon, Some(1.0));
    assert_eq!(engine.resolved_config().policy, Policy::EpsilonGreedy { epsilon: 1.0 });

    let other = engine_of(&config);
    other.restore(&engine.snapshot().unwrap()).unwrap();
    assert_eq!(other.epsilon(), Some(1.0));
    assert_eq!(all_contents(&collect(&other, 1)), all_contents(&collect(&engine, 1)));

    assert_eq!(engine.set_epsilon(f64::NAN).unwrap_err().to_string(), "epsilon must be from 0 to 1, got NaN");
    let ppo = engine_of(&EngineConfig { policy: Policy::default(), ..config });
    let message = "epsilon must be left alone: the policy Ppo has none, got 0.5";
    assert_eq!(ppo.set_epsilon(0.5).unwrap_err().to_string(), message);
    assert_eq!(ppo.epsilon(), None);
}

#[test]
fn direct_actions_are_driven_as_they_are_and_refused_by_row() {
    let config = |continuous: bool| {
        let game =
            drift(&[("continuous", OptionValue::Bool(continuous)), ("mortal", OptionValue::Bool(false))]);
        let learner = Learner::Transitions { n_step: 1, gamma: 1.0 };
        EngineConfig { policy: Policy::Direct, learner, seed: Some(1.into()), ..EngineConfig::new(game, 3) }
    };
    let says = |continuous: bool, actions: &[f64]| {
        let (actions, shape) = (actions.to_vec(), if continuous { vec![3, 2] } else { vec![3] });
        let mut infer = move |_: &ObservationView, out: &mut Inference| {
            out.set_params(&actions, &shape);
            Ok::<_, InferError>(())
        };
        Engine::new(config(continuous)).unwrap().collect(9, &mut infer)
    };
    let batch = says(false, &[2.0, 0.0, 1.0]).unwrap();
    assert_eq!(batch.actions, ActionArray::Discrete([2, 0, 1].repeat(3)));
    // Each step pushes by half the action, and by at most 0.1 at random.
    for row in 0..6 {
        let move_by = batch.rewards[row + 3] - batch.rewards[row];
        let pushed = [0.5, -0.5, 0.0][row % 3];
        assert!((move_by - pushed).abs() <= 0.1001, "{move_by}");
    }
    let batch = says(true, &[0.1, 5.0, -7.0, 0.25, 0.0, 0.0]).unwrap();
    let recorded = [0.1, 5.0, -7.0, 0.25, 0.0, 0.0].repeat(3);
    assert_eq!(batch.actions, ActionArray::Continuous { dimensions: 2, values: recorded });
    for row in 0..6 {
        let move_by = batch.rewards[row + 3] - batch.rewards[row];
        let pushed = [0.5 * (0.1 + 0.5), 0.5 * (-1.0 + 0.25), 0.0][row % 3];
        assert!((move_by - pushed).abs() <= 0.1001, "{move_by}");
    }
    for (actions, message) in [
        ([0.0, 3.0, 0.0], "actions whose row 1: 3 is no action; needed are integers from 0 to 2"),
        ([0.0, 0.0, -1.0], "actions whose row 2: -1 is no action"),
        ([0.5, 0.0, 0.0], "actions whose row 0: 0.5 is no action"),
        ([f64::NAN, 0.0, 0.0], "actions with NaN in row 0; needed are finite numbers"),
    ] {
        let error = says(false, &actions).unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::Value);
        assert!(error.to_string().contains(message), "{error}");
    }
    let error = says(true, &[0.0, 0.0, 0.0, 0.0, 1e39, 0.0]).unwrap_err().to_string();
    assert!(error.contains("actions whose row 2: 1e39 is more than float32 can hold"), "{error}");
}
