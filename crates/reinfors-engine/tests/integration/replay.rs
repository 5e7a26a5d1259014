//! The replay buffer against a plain list of every transition that was added.

use crate::network::{collect, combinations};
use crate::toy::drift;
use reinfors_core::OptionValue;
use reinfors_core::rng::Seed;
use reinfors_engine::observation::ObservationArray;
use reinfors_engine::replay::{Replay, Sample, Transitions};
use reinfors_engine::{ActionArray, Batch, Engine, EngineConfig, EngineErrorKind, Learner, Policy, Records};

/// Adds a batch; `space` is its engine's.
fn add(replay: &mut Replay, engine: &Engine, batch: &Batch) {
    try_add(replay, engine, batch).unwrap();
}

fn try_add(replay: &mut Replay, engine: &Engine, batch: &Batch) -> Result<(), reinfors_engine::EngineError> {
    let Records::Transitions(made) = &batch.records else { panic!("transitions") };
    replay.add(Transitions {
        space: &engine.spec().observation,
        seen: &made.seen,
        n_slots: batch.n_slots,
        step: &batch.step,
        next_rows: &made.next_rows,
        actions: &batch.actions,
        rewards: &batch.rewards,
        discounts: &made.discounts,
        terminated: &batch.terminated,
        truncated: &batch.truncated,
        policy_version: &batch.policy_version,
        states: [&batch.states, &made.next_states],
        state_shape: &batch.state_shape,
    })
}

fn row_bytes(arrays: &mut [ObservationArray], rows: usize, row: usize) -> Vec<u8> {
    let of = |array: &mut ObservationArray| {
        let bytes = array.bytes_mut();
        let len = bytes.len() / rows;
        bytes[row * len..][..len].to_vec()
    };
    arrays.iter_mut().flat_map(of).collect()
}

fn action_bytes(actions: &ActionArray, row: usize) -> Vec<u8> {
    match actions {
        ActionArray::Discrete(indices) => indices[row].to_le_bytes().to_vec(),
        ActionArray::Continuous { dimensions, values } => {
            values[row * dimensions..][..*dimensions].iter().flat_map(|value| value.to_le_bytes()).collect()
        }
    }
}

/// Every byte of each row of a batch.
fn listed(engine: &Engine, batch: &Batch) -> Vec<Vec<u8>> {
    let Records::Transitions(made) = &batch.records else { panic!("transitions") };
    let parts = engine.spec().observation.parts.len();
    let size = made.next_states.len() / batch.len();
    let row = |row: usize| {
        let next = made.next_rows[row] as usize;
        let mut bytes: Vec<u8> = (0..parts).flat_map(|part| batch.obs.row(part, row).to_vec()).collect();
        bytes.extend((0..parts).flat_map(|part| made.seen.row(part, next).to_vec()));
        bytes.extend(action_bytes(&batch.actions, row));
        bytes.extend([batch.rewards[row], made.discounts[row]].into_iter().flat_map(f32::to_le_bytes));
        bytes.extend([u8::from(batch.terminated[row]), u8::from(batch.truncated[row])]);
        bytes.extend(batch.policy_version[row].to_le_bytes());
        let states = batch.states[row * size..][..size].iter().chain(&made.next_states[row * size..][..size]);
        bytes.extend(states.flat_map(|number| number.to_le_bytes()));
        bytes
    };
    (0..batch.len()).map(row).collect()
}

/// The same of a sample.
fn sampled(sample: &mut Sample) -> Vec<Vec<u8>> {
    let rows = sample.rewards.len();
    let size = sample.states[0].len() / rows;
    let row = |row: usize| {
        let mut bytes = row_bytes(&mut sample.obs, rows, row);
        bytes.extend(row_bytes(&mut sample.next_obs, rows, row));
        bytes.extend(action_bytes(&sample.actions, row));
        bytes.extend([sample.rewards[row], sample.discounts[row]].into_iter().flat_map(f32::to_le_bytes));
        bytes.extend([u8::from(sample.terminated[row]), u8::from(sample.truncated[row])]);
        bytes.extend(sample.policy_version[row].to_le_bytes());
        let states = sample.states.iter().flat_map(|states| &states[row * size..][..size]);
        bytes.extend(states.flat_map(|number| number.to_le_bytes()));
        bytes
    };
    (0..rows).map(row).collect()
}

/// Engines of transitions: stacked frames, a second part, states, vectors, one step and several.
fn engines() -> Vec<Engine> {
    let base = || combinations().into_iter().filter(|config| config.learner.name() == "Transitions");
    let mut engines: Vec<_> = base().map(|config| Engine::new(config).unwrap()).collect();
    for (stack, told, n_step) in [(4, false, 1), (3, true, 3), (2, false, 100), (1, true, 1)] {
        let options = [
            ("frame_stack", OptionValue::Int(stack)),
            ("told", OptionValue::Bool(told)),
            ("max_steps", OptionValue::Int(9)),
        ];
        let config = EngineConfig {
            policy: Policy::Ppo { head: None },
            learner: Learner::Transitions { n_step, gamma: 0.9 },
            seed: Some(7.into()),
            n_threads: Some(1),
            ..EngineConfig::new(drift(&options), 5)
        };
        engines.push(Engine::new(config).unwrap());
    }
    engines
}

/// The next batches; the network of the tests reads the first frame of a stack, which will do where nothing is
/// stacked only.
fn batches(engine: &Engine, n: usize) -> Vec<Batch> {
    if engine.spec().observation.parts[0].frames == 1 {
        return collect(engine, n);
    }
    let mut infer = |obs: &reinfors_engine::ObservationView, out: &mut reinfors_engine::Inference| {
        let logits: Vec<f64> = (0..obs.rows())
            .flat_map(|row| {
                let sum: u32 = obs.row(0, row).iter().map(|byte| u32::from(*byte)).sum();
                [f64::from(sum % 7) / 4.0, 0.0, f64::from(sum % 5) / 4.0]
            })
            .collect();
        out.set_params(&logits, &[obs.rows(), 3]);
        Ok::<_, reinfors_engine::InferError>(())
    };
    (0..n).map(|_| engine.collect(33, &mut infer).unwrap()).collect()
}

#[test]
fn what_is_sampled_is_what_was_added_whatever_has_gone_or_was_left_out() {
    for (alpha, capacity) in [(0.0, 1000), (0.0, 60), (0.7, 60), (0.7, 7)] {
        for engine in engines() {
            let mut replay = Replay::new(capacity, &Seed::from(3), alpha).unwrap();
            let mut list = Vec::new();
            let mut seen = std::collections::BTreeSet::new();
            for (at, batch) in batches(&engine, 8).iter().enumerate() {
                // One that is left out: the next does not go on where the last ended.
                if at == 3 {
                    continue;
                }
                add(&mut replay, &engine, batch);
                list.extend(listed(&engine, batch));
                assert_eq!(replay.len(), list.len().min(capacity));
                let mut sample = replay.sample(200, 0.5).unwrap();
                for (index, row) in sample.indices.clone().iter().zip(sampled(&mut sample)) {
                    assert!(*index as usize >= list.len() - replay.len(), "{index} has gone");
                    assert!(row == list[*index as usize], "{index} of {}", list.len());
                    seen.insert(*index);
                }
            }
            assert!(seen.len() > 3 * replay.len() / 4, "{} of {}", seen.len(), replay.len());
        }
    }
}

#[test]
fn each_frame_is_stored_once() {
    let options = [("frame_stack", OptionValue::Int(4)), ("mortal", OptionValue::Bool(false))];
    let learner = Learner::Transitions { n_step: 3, gamma: 0.9 };
    let config = EngineConfig { learner, seed: Some(1.into()), ..EngineConfig::new(drift(&options), 2) };
    let engine = Engine::new(config).unwrap();
    let mut replay = Replay::new(1 << 20, &Seed::from(0), 0.0).unwrap();
    let mut steps = 0;
    for batch in batches(&engine, 400) {
        add(&mut replay, &engine, &batch);
        steps += batch.len();
    }
    // 16 bytes a frame; 4 a link; 48 a transition and 8 its action; a chunk of frames may be begun.
    let (most, held) = (steps * (16 + 4 + 48 + 8) + (1 << 20) + 100, replay.bytes());
    assert!(held <= most, "{held} bytes for {steps} transitions, {most} at most");
    assert!(steps * 16 * 4 > (1 << 19), "stacks would show");
}

#[test]
fn what_is_not_needed_any_more_is_let_go() {
    let options = [("frame_stack", OptionValue::Int(4)), ("max_steps", OptionValue::Int(3))];
    let learner = Learner::Transitions { n_step: 1, gamma: 0.9 };
    let config = EngineConfig { learner, seed: Some(1.into()), ..EngineConfig::new(drift(&options), 20) };
    let engine = Engine::new(config).unwrap();
    let mut replay = Replay::new(100, &Seed::from(0), 0.0).unwrap();
    let mut held = Vec::new();
    for batch in batches(&engine, 9000) {
        add(&mut replay, &engine, &batch);
        held.push(replay.bytes());
    }
    let (early, late) = (held[..4500].iter().max().unwrap(), held[4500..].iter().max().unwrap());
    assert!(*late <= early + early / 100, "{late} bytes after {early}");
    assert!(*late < 3 << 20, "{late} bytes");
}

#[test]
fn priorities_decide_how_often_and_weights_make_up_for_it() {
    let engine = &engines()[0];
    let batch = &batches(engine, 1)[0];
    let mut replay = Replay::new(1000, &Seed::from(5), 0.5).unwrap();
    add(&mut replay, engine, batch);
    let priorities: Vec<f64> = (0..35).map(|at| f64::from(at % 5) * 2.0).collect();
    replay.update_priorities(&(0..35).collect::<Vec<_>>(), &priorities).unwrap();
    let powers: Vec<f64> = priorities.iter().map(|priority| (priority + 1e-6).sqrt()).collect();
    let total: f64 = powers.iter().sum();
    let mut counts = vec![0.0; 35];
    for _ in 0..400 {
        let sample = replay.sample(100, 0.6).unwrap();
        let weights: Vec<f64> =
            sample.indices.iter().map(|index| (35.0 * powers[*index as usize] / total).powf(-0.6)).collect();
        let largest = weights.iter().copied().fold(0.0, f64::max);
        for ((index, weight), given) in sample.indices.iter().zip(weights).zip(&sample.weights) {
            assert!((f64::from(*given) - weight / largest).abs() < 1e-6);
            counts[*index as usize] += 1.0 / 40_000.0;
        }
    }
    for (count, power) in counts.iter().zip(&powers) {
        assert!((count - power / total).abs() < 0.005, "{count} instead of {}", power / total);
    }
}

#[test]
fn new_transitions_have_the_largest_priority_so_far_and_old_numbers_change_nothing() {
    let engine = &engines()[0];
    let batches = batches(engine, 3);
    let mut replay = Replay::new(35, &Seed::from(5), 1.0).unwrap();
    add(&mut replay, engine, &batches[0]);
    replay.update_priorities(&[0], &[9.0]).unwrap();
    add(&mut replay, engine, &batches[1]);
    // All that is there is new and equal; the first batch has gone.
    replay.update_priorities(&(0..35).collect::<Vec<_>>(), &[1e9; 35]).unwrap();
    let sample = replay.sample(70, 1.0).unwrap();
    assert!(sample.indices.iter().all(|index| (35..70).contains(index)));
    assert!(sample.weights.iter().all(|weight| *weight == 1.0));
    let mut indices = sample.indices;
    indices.sort_unstable();
    indices.dedup();
    assert_eq!(indices.len(), 35, "equal shares hit each");
}

#[test]
fn a_seed_decides_what_is_sampled() {
    let engine = &engines()[0];
    let batches = batches(engine, 2);
    let draw = |seed: u64, alpha| {
        let mut replay = Replay::new(50, &Seed::from(seed), alpha).unwrap();
        batches.iter().for_each(|batch| add(&mut replay, engine, batch));
        [replay.sample(20, 0.4).unwrap().indices, replay.sample(20, 0.4).unwrap().indices]
    };
    for alpha in [0.0, 0.5] {
        assert_eq!(draw(1, alpha), draw(1, alpha));
        assert_ne!(draw(1, alpha), draw(2, alpha));
        let [first, second] = draw(1, alpha);
        assert_ne!(first, second);
    }
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let error = |result: Result<(), reinfors_engine::EngineError>| {
        let error = result.unwrap_err();
        (error.kind(), error.to_string())
    };
    for (capacity, alpha, message) in [
        (0, 0.0, "capacity must be from 1 to 67108864, got 0"),
        (1 << 40, 0.0, "capacity must be from 1 to 67108864, got 1099511627776"),
        (5, 1.5, "alpha must be from 0 to 1, got 1.5"),
        (5, f64::NAN, "alpha must be from 0 to 1, got NaN"),
    ] {
        let made = Replay::new(capacity, &Seed::from(0), alpha).map(drop);
        assert_eq!(error(made), (EngineErrorKind::Value, message.to_owned()));
    }
    let engines = engines();
    let mut replay = Replay::new(50, &Seed::from(0), 0.5).unwrap();
    let empty = error(replay.sample(5, 0.4).map(drop));
    let message = "the replay buffer is empty: add a batch of transitions first".to_owned();
    assert_eq!(empty, (EngineErrorKind::State, message));
    assert!(replay.is_empty());
    let batch = &batches(&engines[0], 1)[0];
    add(&mut replay, &engines[0], batch);
    for (size, beta) in [(0, 0.5), (1 << 40, 0.5), (5, -0.1), (5, f64::NAN)] {
        assert_eq!(error(replay.sample(size, beta).map(drop)).0, EngineErrorKind::Value);
    }
    for (indices, priorities) in [
        (vec![0, 1], vec![1.0]),
        (vec![35], vec![1.0]),
        (vec![-1], vec![1.0]),
        (vec![0], vec![-1.0]),
        (vec![0], vec![f64::NAN]),
        (vec![0], vec![f64::INFINITY]),
    ] {
        assert_eq!(error(replay.update_priorities(&indices, &priorities)).0, EngineErrorKind::Value);
    }
    let mut uniform = Replay::new(50, &Seed::from(0), 0.0).unwrap();
    add(&mut uniform, &engines[0], batch);
    assert!(error(uniform.update_priorities(&[0], &[1.0])).1.contains("has no priorities: its alpha is 0"));
    let mut kinds = std::collections::BTreeSet::new();
    for engine in &engines[1..] {
        let other = &batches(engine, 1)[0];
        match try_add(&mut replay, engine, other) {
            Ok(()) => assert_eq!(engine.spec().observation, engines[0].spec().observation),
            Err(error) => {
                assert_eq!(error.kind(), EngineErrorKind::Value);
                kinds.insert(error.to_string());
            }
        }
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert!(replay.sample(5, 0.4).is_ok());
}
