//! The network of the tests: answers that are functions of the observation alone, so that any misalignment
//! shows.

use crate::toy::{Seen, drift};
use reinfors_core::OptionValue;
use reinfors_engine::{
    ActionArray, Engine, EngineConfig, HeadKind, InferError, Inference, ObservationView, Policy, PpoBatch,
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

/// Every byte of a batch that must not depend on threads, machine or streaming: all but times and lag.
pub fn contents(batch: &PpoBatch) -> Vec<u8> {
    let mut bytes = [batch.obs.bytes(0), batch.last_obs.bytes(0)].concat();
    match &batch.actions {
        ActionArray::Discrete(indices) => bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes())),
        ActionArray::Continuous { values, .. } => {
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()))
        }
    }
    let floats = [
        &batch.behavior_log_probs,
        &batch.values,
        &batch.rewards,
        &batch.advantages,
        &batch.returns,
        &batch.last_values,
    ];
    bytes.extend(floats.into_iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes.extend(batch.terminated.iter().chain(&batch.truncated).map(|flag| u8::from(*flag)));
    bytes.extend(batch.policy_version.iter().flat_map(|version| version.to_le_bytes()));
    bytes.extend(batch.slot.iter().chain(&batch.step).flat_map(|number| number.to_le_bytes()));
    bytes.extend(batch.telemetry.window.to_le_bytes());
    for episode in &batch.telemetry.episodes {
        bytes.extend(episode.total_reward.to_le_bytes());
        bytes.extend(episode.seed.to_le_bytes());
        bytes.extend(format!("{} {} {}", episode.length, episode.ended, episode.slot).into_bytes());
    }
    bytes
}

/// [`contents`] of several batches.
pub fn all_contents(batches: &[PpoBatch]) -> Vec<Vec<u8>> {
    batches.iter().map(contents).collect()
}

/// The next `n` batches of 33 records.
pub fn collect(engine: &Engine, n: usize) -> Vec<PpoBatch> {
    let mut infer = network(engine.n_params());
    (0..n).map(|_| engine.collect(33, &mut infer).unwrap()).collect()
}
