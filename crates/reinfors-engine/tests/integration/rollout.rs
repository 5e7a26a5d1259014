//! Windows: rows belong together, ends are told apart, failures leave no trace.

use crate::network::{answer, collect, config, contents, engine, network, params, ppo, value};
use crate::toy::{Drift, DriftOptions, HIGH, LOW, Seen, drift};
use reinfors_core::rng::Seed;
use reinfors_core::{Action, ActionSpace, Game, OptionValue};
use reinfors_engine::gae::{Records, gae};
use reinfors_engine::head::{Beta, Categorical, Gaussian};
use reinfors_engine::{
    ActionArray, Batch, Engine, EngineConfig, EngineErrorKind, HeadKind, InferError, Inference,
    ObservationView,
};

fn seen(batch: &Batch, row: usize) -> Seen {
    Seen::of(batch.obs.row(0, row))
}

#[test]
fn value_and_log_prob_of_each_row_are_those_of_its_observation() {
    for head in HeadKind::ALL {
        let engine = engine(head, 2);
        for batch in collect(&engine, 4) {
            assert_eq!((batch.len(), batch.n_steps, batch.n_slots), (35, 7, 5));
            for row in 0..batch.len() {
                let seen = seen(&batch, row);
                let params = params(seen, engine.n_params());
                let log_prob = match &batch.actions {
                    ActionArray::Discrete(actions) => {
                        Categorical::new(3).log_prob(&params, actions[row] as usize)
                    }
                    ActionArray::Continuous { values, .. } => {
                        let action = &values[2 * row..2 * row + 2];
                        if head == HeadKind::Gaussian {
                            Gaussian::new(&LOW, &HIGH).log_prob(&params, action)
                        } else {
                            Beta::new(&LOW, &HIGH).unwrap().log_prob(&params, action)
                        }
                    }
                };
                assert_eq!(ppo(&batch).values[row], value(seen) as f32);
                assert_eq!(ppo(&batch).behavior_log_probs[row], log_prob as f32);
                assert_eq!(batch.slot[row], (row % 5) as i32);
                assert_eq!(batch.step[row], seen.steps as i32);
            }
        }
    }
}

/// Plays a slot's records again in a world of its own, with nothing but the reported seed and the recorded
/// actions.
#[test]
fn each_episode_can_be_played_again_from_its_seed_and_its_clipped_actions() {
    for head in [HeadKind::Categorical, HeadKind::Gaussian, HeadKind::Beta] {
        let engine = engine(head, 3);
        let batches = collect(&engine, 6);
        let options = DriftOptions { continuous: head != HeadKind::Categorical, ..DriftOptions::default() };
        let mut replayed = 0;
        for slot in 0..5 {
            let mut episodes = batches
                .iter()
                .flat_map(|batch| &batch.telemetry.episodes)
                .filter(|episode| episode.slot == slot);
            let mut world = Drift::new(&options, &[1.0]).unwrap();
            let (mut episode, mut total) = (None, 0.0);
            let rows =
                batches.iter().flat_map(|batch| (slot..batch.len()).step_by(5).map(move |row| (batch, row)));
            for (batch, row) in rows {
                if batch.step[row] == 0 {
                    let Some(next) = episodes.next() else { break };
                    world.reset(Some(&Seed::from(next.seed)), &[]);
                    (episode, total) = (Some(next), 0.0);
                }
                let mut bytes = [0; Seen::BYTES];
                world.observe(0, &mut (), &mut bytes);
                assert_eq!(bytes, *batch.obs.row(0, row));
                let step = match &batch.actions {
                    ActionArray::Discrete(actions) => world.step(Action::Discrete(actions[row] as usize)),
                    ActionArray::Continuous { values, .. } => {
                        let clipped =
                            [0, 1].map(|at| f64::from(values[2 * row + at].clamp(LOW[at], HIGH[at])));
                        world.step(Action::Continuous(&clipped))
                    }
                };
                total += step.reward;
                assert_eq!(batch.rewards[row], step.reward as f32);
                assert_eq!(batch.terminated[row], step.terminated.is_some());
                if batch.terminated[row] || batch.truncated[row] {
                    let episode = episode.unwrap();
                    assert_eq!((episode.total_reward, episode.length as i32), (total, batch.step[row] + 1));
                    let ended =
                        step.terminated.map_or("max_steps", |reason| Drift::END_REASONS[usize::from(reason)]);
                    assert_eq!(episode.ended, ended);
                    replayed += 1;
                }
            }
        }
        assert!(replayed > 20, "{replayed} episodes");
    }
}

#[test]
fn the_raw_sample_is_recorded_where_it_lies_outside_the_bounds() {
    let engine = engine(HeadKind::Gaussian, 1);
    let mut far_out = |obs: &ObservationView, out: &mut Inference| {
        out.set(&[3.0, 3.0, 0.0, 0.0].repeat(obs.rows()), &vec![0.0; obs.rows()]);
        Ok::<_, InferError>(())
    };
    let batch = engine.collect(500, &mut far_out).unwrap();
    let ActionArray::Continuous { values, dimensions: 2 } = &batch.actions else { panic!("continuous") };
    let outside = values.chunks_exact(2).filter(|action| action[0] > HIGH[0] && action[1] > HIGH[1]).count();
    assert!(outside > 450, "{outside} of 500");
    for (action, log_prob) in values.chunks_exact(2).zip(&ppo(&batch).behavior_log_probs) {
        let squares: f64 = action.iter().map(|x| (f64::from(*x) - 3.0).powi(2)).sum();
        let expected = -0.5 * squares - (std::f64::consts::TAU).ln();
        assert!((f64::from(*log_prob) - expected).abs() < 1e-6);
    }
}

#[test]
fn no_record_belongs_to_a_reset_and_a_cut_off_episode_has_all_its_steps() {
    let game = drift(&[("max_steps", OptionValue::Int(3)), ("mortal", OptionValue::Bool(false))]);
    let engine = Engine::new(EngineConfig { seed: Some(1.into()), ..EngineConfig::new(game, 2) }).unwrap();
    let batch = engine.collect(20, &mut network(3)).unwrap();
    let steps: Vec<i32> = (0..20).step_by(2).map(|row| batch.step[row]).collect();
    assert_eq!(steps, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
    assert!((0..20).all(|row| batch.truncated[row] == (batch.step[row] == 2)));
    assert_eq!(batch.telemetry.episodes.len(), 6);
    assert!(
        batch.telemetry.episodes.iter().all(|episode| episode.length == 3 && episode.ended == "max_steps")
    );
}

#[test]
fn the_window_ends_with_the_observations_that_open_the_next_and_their_values() {
    let engine = engine(HeadKind::Categorical, 2);
    let batches = collect(&engine, 3);
    for pair in batches.windows(2) {
        assert_eq!(pair[0].last_obs.bytes(0), &pair[1].obs.bytes(0)[..5 * Seen::BYTES]);
        for slot in 0..5 {
            assert_eq!(
                ppo(&pair[0]).last_values[slot],
                value(Seen::of(pair[0].last_obs.row(0, slot))) as f32
            );
        }
    }
}

/// Final observations are known from the calls: they are those with fewer rows, or all rows at a step in
/// which no opening was asked for. Here every episode is cut off at its third step, in all slots at once.
#[test]
fn advantages_bootstrap_from_the_final_observation_and_from_each_slots_own_tail() {
    let game = drift(&[("max_steps", OptionValue::Int(3)), ("mortal", OptionValue::Bool(false))]);
    let engine = Engine::new(EngineConfig { seed: Some(1.into()), ..EngineConfig::new(game, 2) }).unwrap();
    let mut calls = Vec::new();
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        calls.push((0..obs.rows()).map(|row| Seen::of(obs.row(0, row))).collect::<Vec<_>>());
        answer(obs, 3, out);
        Ok(())
    };
    let batch = engine.collect(8, &mut infer).unwrap();
    let steps: Vec<u32> = calls.iter().map(|call| call[0].steps).collect();
    assert_eq!(
        steps,
        [0, 1, 2, 3, 0, 1],
        "three steps, the final observations, one step, the opening of the next"
    );

    let mut final_values = vec![0.0; 8];
    for slot in 0..2 {
        final_values[4 + slot] = value(calls[3][slot]);
    }
    let values: Vec<f64> = (0..8).map(|row| value(seen(&batch, row))).collect();
    // The reward is the position after the step, which the next call saw in full precision.
    let rewards: Vec<f64> =
        (0..8).map(|row| [1, 2, 3, 5].map(|call: usize| calls[call][row % 2].position)[row / 2]).collect();
    let last_values: Vec<f64> = calls[5].iter().map(|seen| value(*seen)).collect();
    let expected = gae(
        Records {
            rewards: &rewards,
            values: &values,
            terminated: &[false; 8],
            truncated: &batch.truncated,
            final_values: &final_values,
            last_values: &last_values,
        },
        0.99,
        0.95,
    );
    for row in 0..8 {
        assert_eq!(ppo(&batch).advantages[row], expected[row] as f32);
        assert_eq!(ppo(&batch).returns[row], (expected[row] + values[row]) as f32);
    }
    assert_ne!(last_values[0], last_values[1]);
}

#[test]
fn a_window_of_one_record_is_finite() {
    let game = drift(&[]);
    let engine = Engine::new(EngineConfig { seed: Some(1.into()), ..EngineConfig::new(game, 1) }).unwrap();
    let batch = engine.collect(1, &mut network(3)).unwrap();
    assert_eq!(batch.len(), 1);
    assert!(ppo(&batch).advantages[0].is_finite() && ppo(&batch).returns[0].is_finite());
}

/// Fails at call `at`, counted from 0, and answers otherwise.
fn failing_at(at: usize) -> impl FnMut(&ObservationView, &mut Inference) -> Result<(), InferError> + Send {
    let mut calls = 0;
    move |obs: &ObservationView, out: &mut Inference| {
        if calls == at {
            return Err(InferError::with_payload("boom", Box::new(42_u8)));
        }
        calls += 1;
        answer(obs, 3, out);
        Ok(())
    }
}

#[test]
fn a_failed_window_leaves_no_trace_whichever_call_fails() {
    let undisturbed = collect(&engine(HeadKind::Categorical, 2), 3);
    for at in 0..12 {
        let engine = engine(HeadKind::Categorical, 2);
        let mut batches = collect(&engine, 1);
        match engine.collect(33, &mut failing_at(at)) {
            Err(error) => {
                assert_eq!((error.kind(), error.to_string()), (EngineErrorKind::Infer, "boom".into()));
                let reinfors_engine::EngineError::Infer(error) = error else {
                    panic!("the caller's own error")
                };
                assert_eq!(error.into_payload().unwrap().downcast_ref(), Some(&42_u8));
                batches.extend(collect(&engine, 2));
            }
            Ok(batch) => {
                assert!(at >= 8, "at least eight calls in a window");
                batches.push(batch);
                batches.extend(collect(&engine, 1));
            }
        }
        for (batch, expected) in batches.iter().zip(&undisturbed) {
            assert_eq!(contents(batch), contents(expected), "failed at call {at}");
        }
    }
}

#[test]
fn answers_that_do_not_fit_are_refused_by_output_and_row_before_anything_moves() {
    let undisturbed = collect(&engine(HeadKind::Categorical, 2), 1);
    let engine = engine(HeadKind::Categorical, 2);
    type Spoil = fn(&mut Inference);
    let spoil: [(Spoil, &str); 8] = [
        (
            |out| out.set(&out.params.clone()[..12], &out.values.clone()[..4]),
            "params of shape (4, 3) for 5 rows; needed is (5, 3)",
        ),
        (|out| out.params_shape = vec![15], "params of shape (15,) for 5 rows; needed is (5, 3)"),
        (|out| out.params_shape = vec![3, 5], "params of shape (3, 5) for 5 rows"),
        (|out| out.values_shape = vec![5, 1], "values of shape (5, 1) for 5 rows; needed is (5,)"),
        (|out| out.params_shape = vec![0, 3], "params of shape (0, 3) for 5 rows"),
        (|out| out.params[7] = f64::NAN, "params with NaN in row 2, column 1"),
        (|out| out.values[3] = f64::INFINITY, "values with inf in row 3"),
        (|out| out.values[1] = 1e300, "in row 1; needed are finite numbers that float32 can hold"),
    ];
    for (spoil, expected) in spoil {
        let mut infer = |obs: &ObservationView, out: &mut Inference| {
            answer(obs, 3, out);
            spoil(out);
            Ok::<_, InferError>(())
        };
        let error = engine.collect(33, &mut infer).unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::Value);
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(contents(&collect(&engine, 1)[0]), contents(&undisturbed[0]));
}

#[test]
fn a_batch_that_float32_cannot_hold_is_refused_and_never_was() {
    let undisturbed = collect(&engine(HeadKind::Categorical, 2), 2);
    let engine = engine(HeadKind::Categorical, 2);
    let mut batches = collect(&engine, 1);
    // Each value is one that float32 holds; what one step makes of two of them is not.
    let mut sign = 1.0;
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        answer(obs, 3, out);
        sign = -sign;
        out.values.fill(sign * 3e38);
        Ok::<_, InferError>(())
    };
    let error = engine.collect(33, &mut infer).unwrap_err();
    assert_eq!(error.kind(), EngineErrorKind::Value);
    assert!(error.to_string().starts_with("advantages of row "), "{error}");
    assert!(
        error.to_string().contains("e38, which float32 cannot hold; needed are reward weights"),
        "{error}"
    );
    batches.extend(collect(&engine, 1));
    assert!(batches.iter().map(contents).eq(undisturbed.iter().map(contents)));
}

#[test]
fn rewards_that_add_up_beyond_float32_are_refused() {
    let reward = vec![(Drift::REWARD[0].name.to_owned(), 3e38)];
    let options = [("frame_skip", OptionValue::Int(7)), ("mortal", OptionValue::Bool(false))];
    let engine = Engine::new(EngineConfig { reward, ..EngineConfig::new(drift(&options), 2) }).unwrap();
    let error = (0..50).find_map(|_| engine.collect(2, &mut network(3)).err()).expect("refused");
    assert!(error.to_string().starts_with("rewards of row "), "{error}");
}

#[test]
fn parameters_outside_a_heads_domain_are_refused_by_row() {
    let refuse = |head, params: [f64; 4]| {
        let engine = Engine::new(config(head, 1)).unwrap();
        let mut infer = |obs: &ObservationView, out: &mut Inference| {
            answer(obs, 4, out);
            out.params[8..12].copy_from_slice(&params);
            Ok::<_, InferError>(())
        };
        let error = engine.collect(5, &mut infer).unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::Value);
        error.to_string()
    };
    assert!(
        refuse(HeadKind::Beta, [1.0, 2.0, 0.0, 1.0])
            .contains("row 2: beta is 0 in column 2; needed are positive")
    );
    assert!(
        refuse(HeadKind::Gaussian, [0.0, 0.0, 500.0, 0.0]).contains("row 2: mean 0.0 with log_std 500.0")
    );
    assert!(
        refuse(HeadKind::Gaussian, [0.1, 0.0, -900.0, 0.0])
            .contains("row 2: params [0.1, 0.0, -900.0, 0.0] give")
    );
}

#[test]
fn a_panic_of_a_game_or_of_infer_is_an_error_and_the_engine_goes_on() {
    let options = [("panic_at", OptionValue::Int(2)), ("mortal", OptionValue::Bool(false))];
    let engine =
        Engine::new(EngineConfig { n_threads: Some(2), ..EngineConfig::new(drift(&options), 4) }).unwrap();
    assert_eq!(engine.collect(4, &mut network(3)).unwrap().len(), 4);
    for _ in 0..3 {
        let error = engine.collect(4, &mut network(3)).unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::Internal);
        assert_eq!(error.to_string(), "a game panicked: the drift was told to panic");
    }

    let engine = crate::network::engine(HeadKind::Categorical, 1);
    let mut infer =
        |_: &ObservationView, _: &mut Inference| -> Result<(), InferError> { panic!("no answer") };
    let error = engine.collect(5, &mut infer).unwrap_err();
    assert_eq!(error.to_string(), "collecting panicked: no answer");
    let undisturbed = collect(&crate::network::engine(HeadKind::Categorical, 1), 1);
    assert_eq!(contents(&collect(&engine, 1)[0]), contents(&undisturbed[0]));
}

#[test]
fn views_stay_unchanged_for_as_long_as_they_are_kept() {
    let engine = engine(HeadKind::Categorical, 2);
    let mut kept: Vec<(ObservationView, Vec<u8>)> = Vec::new();
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        kept.push((obs.clone(), obs.bytes(0).to_vec()));
        answer(obs, 3, out);
        Ok::<_, InferError>(())
    };
    for _ in 0..5 {
        engine.collect(33, &mut infer).unwrap();
    }
    drop(engine);
    assert!(kept.len() > 40 && kept.iter().all(|(view, then)| view.bytes(0) == then));
}

#[test]
fn memory_nobody_looks_at_is_used_again() {
    let engine = engine(HeadKind::Categorical, 1);
    let start = |batch: &Batch| batch.obs.bytes(0).as_ptr();
    let first = collect(&engine, 1).remove(0);
    assert_eq!(start(&first) as usize % 64, 0);
    let at = start(&first) as usize;
    drop(first);
    let again = collect(&engine, 1).remove(0);
    assert_eq!(start(&again) as usize, at, "dropped, so used again");
    let other = collect(&engine, 1).remove(0);
    assert_ne!(start(&other) as usize, at, "held, so not used again");
}

#[test]
fn the_version_that_acts_is_on_every_record_and_lag_counts_from_it() {
    let engine = engine(HeadKind::Categorical, 1);
    assert_eq!(engine.version(), 0);
    let handle = engine.clone();
    let mut calls = 0;
    let mut infer = |obs: &ObservationView, out: &mut Inference| {
        calls += 1;
        if calls == 3 {
            handle.weights_updated(None).unwrap();
        }
        answer(obs, 3, out);
        Ok::<_, InferError>(())
    };
    let game_steps = engine.collect(25, &mut infer).unwrap();
    // The call in which the weights change still counts as the old version: it was read before the call.
    assert_eq!(game_steps.policy_version[..15], [0; 15]);
    assert_eq!(game_steps.policy_version[15..], [1; 10]);
    assert_eq!((game_steps.telemetry.lag.min, game_steps.telemetry.lag.max), (0, 1));
    assert_eq!(engine.weights_updated(Some(1000)).unwrap(), 1000);
    assert_eq!(engine.weights_updated(None).unwrap(), 1001);
    assert_eq!(collect(&engine, 1)[0].policy_version, vec![1001; 35]);
}

#[test]
fn the_spaces_of_the_test_game_are_what_the_tests_assume() {
    let continuous = DriftOptions { continuous: true, ..DriftOptions::default() };
    let space = ActionSpace::Continuous { low: LOW.to_vec(), high: HIGH.to_vec() };
    assert_eq!(Drift::action_space(&continuous), space);
}
