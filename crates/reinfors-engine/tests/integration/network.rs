//! The network of the tests: answers that are functions of the observation alone, so that any misalignment
//! shows.

use crate::toy::{Seen, drift};
use reinfors_core::OptionValue;
use reinfors_engine::{
    ActionArray, Answer, Batch, Engine, EngineConfig, Gather, HeadKind, Infer, InferError, Inference,
    Learner, Memory, ObservationView, Policy, PpoRecords, Records, Recurrent,
};

/// The value of an observation.
pub fn value(seen: Seen) -> f64 {
    10.0 * seen.position + f64::from(seen.steps) / 8.0 + f64::from(seen.lifetime) / 1024.0
}

/// Parameters of any head for an observation; all positive, as Beta asks for.
pub fn params(seen: Seen, n_params: usize) -> Vec<f64> {
    (0..n_params).map(|column| 1.5 + 0.9 * libm::sin(3.0 * seen.position + column as f64)).collect()
}

/// What a call answers.
pub fn answer(obs: &ObservationView, n_params: usize, out: &mut Inference) {
    let seen: Vec<Seen> = (0..obs.rows()).map(|row| Seen::of(obs.row(0, row))).collect();
    let params: Vec<f64> = seen.iter().flat_map(|seen| params(*seen, n_params)).collect();
    let values: Vec<f64> = seen.iter().map(|seen| value(*seen)).collect();
    out.set(&params, &values);
}

/// The whole network.
pub fn network(
    n_params: usize,
) -> impl FnMut(&ObservationView, &mut Inference) -> Result<(), InferError> + Send + Clone {
    move |obs: &ObservationView, out: &mut Inference| {
        answer(obs, n_params, out);
        Ok(())
    }
}

/// Five games of the drift, cut off after 7 steps, on `n_threads` threads, seeded.
pub fn config(head: HeadKind, n_threads: usize) -> EngineConfig {
    let continuous = OptionValue::Bool(head != HeadKind::Categorical);
    let game = drift(&[("continuous", continuous), ("max_steps", OptionValue::Int(7))]);
    EngineConfig {
        policy: Policy::Ppo { head: Some(head) },
        n_threads: Some(n_threads),
        seed: Some(12_345.into()),
        ..EngineConfig::new(game, 5)
    }
}

/// An engine of [`config`].
pub fn engine(head: HeadKind, n_threads: usize) -> Engine {
    Engine::new(config(head, n_threads)).unwrap()
}

/// What a PPO batch has beside the records.
pub fn ppo(batch: &Batch) -> &PpoRecords {
    let Records::Ppo(records) = &batch.records else { panic!("not of PPO") };
    records
}

/// Every byte of a batch that must not depend on threads, machine or streaming: all but times and lag.
pub fn contents(batch: &Batch) -> Vec<u8> {
    let mut bytes = [batch.obs.bytes(0), batch.last_obs.bytes(0)].concat();
    match &batch.actions {
        ActionArray::Discrete(indices) => bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes())),
        ActionArray::Continuous { values, .. } => {
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()))
        }
    }
    let empty = Vec::new();
    let (floats, indices, finals): ([&Vec<f32>; 6], &[i64], Option<&Gather>) = match &batch.records {
        Records::Ppo(PpoRecords { behavior_log_probs, values, advantages, returns, last_values }) => {
            ([behavior_log_probs, values, &batch.rewards, advantages, returns, last_values], &[], None)
        }
        Records::Vtrace(made) => (
            [&made.behavior_log_probs, &made.discounts, &batch.rewards, &made.final_states, &empty, &empty],
            &made.final_rows,
            Some(&made.final_obs),
        ),
        Records::Transitions(made) => (
            [&made.discounts, &made.next_states, &batch.rewards, &empty, &empty, &empty],
            &made.next_rows,
            Some(&made.seen),
        ),
    };
    bytes.extend(floats.into_iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
    bytes.extend(finals.iter().flat_map(|seen| (0..seen.rows()).flat_map(|row| seen.row(0, row))));
    bytes.extend(batch.states.iter().chain(&batch.last_states).flat_map(|number| number.to_le_bytes()));
    bytes.extend(batch.terminated.iter().chain(&batch.truncated).map(|flag| u8::from(*flag)));
    bytes.extend(batch.policy_version.iter().flat_map(|version| version.to_le_bytes()));
    bytes.extend(batch.slot.iter().chain(&batch.step).flat_map(|number| number.to_le_bytes()));
    bytes.extend(batch.telemetry.window.to_le_bytes());
    bytes.extend(batch.telemetry.epsilon.into_iter().flat_map(f64::to_le_bytes));
    for episode in &batch.telemetry.episodes {
        bytes.extend(episode.total_reward.to_le_bytes());
        bytes.extend(episode.seed.to_le_bytes());
        bytes.extend(format!("{} {} {}", episode.length, episode.ended, episode.slot).into_bytes());
    }
    bytes
}

/// [`contents`] of several batches.
pub fn all_contents(batches: &[Batch]) -> Vec<Vec<u8>> {
    batches.iter().map(contents).collect()
}

/// The next `n` batches of seven steps, 33 records being asked for of five games.
pub fn collect(engine: &Engine, n: usize) -> Vec<Batch> {
    let mut infer = combined(engine.answer());
    (0..n).map(|_| engine.collect(7 * engine.n_games() - 2, &mut infer).unwrap()).collect()
}

/// Every policy with every learner that it allows, without a state and with one.
pub fn combinations() -> Vec<EngineConfig> {
    combinations_of(5)
}

/// The same of so many games.
pub fn combinations_of(n_games: usize) -> Vec<EngineConfig> {
    let mut configs = Vec::new();
    for continuous in [false, true] {
        let distributions = HeadKind::ALL.map(|head| Policy::Ppo { head: Some(head) });
        for policy in [&distributions[..], &[Policy::EpsilonGreedy { epsilon: 0.3 }, Policy::Direct]].concat()
        {
            for learner in [
                Learner::default(),
                Learner::Vtrace { gamma: 0.9, rho_clip: 1.0, c_clip: 1.0 },
                Learner::Transitions { n_step: 3, gamma: 0.9 },
            ] {
                for state_shape in [vec![], vec![2]] {
                    let options =
                        [("continuous", OptionValue::Bool(continuous)), ("max_steps", OptionValue::Int(7))];
                    let seed = Some(12_345.into());
                    let game = EngineConfig::new(drift(&options), n_games);
                    configs.push(EngineConfig {
                        policy,
                        learner,
                        state_shape,
                        seed,
                        n_threads: Some(1),
                        ..game
                    });
                }
            }
        }
    }
    configs.retain(|config| Engine::new(config.clone()).is_ok());
    configs
}

/// What a combination is called in messages.
pub fn name(config: &EngineConfig) -> String {
    let EngineConfig { policy, learner, state_shape, .. } = config;
    format!("{policy:?} {learner:?} {state_shape:?}")
}

/// A network for any combination. Where there is a state it counts the steps of the episode and mixes what it
/// has seen, and everything that is answered depends on it: who is given another's state answers otherwise, and
/// who is given none at a start, or one, panics.
pub fn combined(needed: &Answer) -> impl Infer + Clone + use<> {
    let needed = needed.clone();
    Recurrent(move |obs: &ObservationView, memory: Memory<'_>, out: &mut Inference| {
        let seen: Vec<Seen> = (0..obs.rows()).map(|row| Seen::of(obs.row(0, row))).collect();
        let n_params = needed.decision_shape.iter().product();
        let (mut decisions, mut values, mut states) = (Vec::new(), Vec::new(), Vec::new());
        for (row, seen) in seen.into_iter().enumerate() {
            assert_eq!(memory.starts[row], seen.steps == 0, "row {row} of {seen:?}");
            let mut mixed = 0.0;
            if !needed.state_shape.is_empty() {
                let [count, before] = [memory.state[2 * row], memory.state[2 * row + 1]];
                assert_eq!(count, seen.steps as f32, "row {row} of {seen:?}");
                assert!(seen.steps > 0 || before == 0.0, "a start remembers {before}");
                mixed = f64::from(mix(before, seen));
                states.extend([f64::from(count) + 1.0, mixed]);
            }
            let of_row = params(Seen { position: seen.position + mixed, ..seen }, n_params);
            decisions
                .extend(of_row.iter().map(|param| if needed.is_integer { param.floor() } else { *param }));
            values.push(value(seen) + mixed);
        }
        out.set(&decisions, &values);
        out.set_params(&decisions, &[&[obs.rows()], &needed.decision_shape[..]].concat());
        out.set_state(&states, &[&[obs.rows()], &needed.state_shape[..]].concat());
        Ok::<_, InferError>(())
    })
}

/// What the second number of a state becomes.
pub fn mix(before: f32, seen: Seen) -> f32 {
    (0.5 * f64::from(before) + 0.1 * seen.position) as f32
}
