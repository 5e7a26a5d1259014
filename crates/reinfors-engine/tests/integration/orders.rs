//! Random orders of use: whatever is called when, every batch is the window it says it is, and none comes
//! twice.

use crate::network::{answer, collect, config, contents};
use reinfors_core::rng::{Pcg64, Seed};
use reinfors_engine::{
    Batch, CollectStream, Engine, EngineErrorKind, HeadKind, Infer, InferError, Inference, ObservationView,
};

const ROUNDS: u64 = 60;
const CALLS: usize = 25;

/// Holds what arrives against an undisturbed run.
struct Checker<'a> {
    undisturbed: &'a [Vec<u8>],
    next_window: u64,
    /// After a stop, which discards finished windows, a later one may follow.
    may_skip: bool,
    seen: usize,
}

impl Checker<'_> {
    fn check(&mut self, batch: &Batch) {
        let window = batch.telemetry.window;
        let in_order = window == self.next_window || self.may_skip && window > self.next_window;
        assert!(in_order, "window {window} instead of {}", self.next_window);
        assert_eq!(contents(batch), self.undisturbed[window as usize], "window {window}");
        self.next_window = window + 1;
        self.may_skip = false;
        self.seen += 1;
    }
}

/// A network that fails at about one call in `rarity`.
fn unreliable(rng: &mut Pcg64, rarity: u64) -> impl Infer + 'static {
    let mut rng = Pcg64::from(&Seed::from(rng.next_u64()));
    move |obs: &ObservationView, out: &mut Inference| {
        if rng.integers(rarity) == 0 {
            return Err(InferError::new("now and then"));
        }
        answer(obs, 3, out);
        Ok(())
    }
}

/// One call out of those a stream allows; returns the stream if it is still in use.
fn use_stream(stream: CollectStream, call: u64, checker: &mut Checker<'_>) -> Option<CollectStream> {
    match call {
        0 => {
            let batches = stream.pause().or_else(|error| {
                assert_eq!(error.kind(), EngineErrorKind::Infer);
                stream.pause()
            });
            batches.unwrap().iter().for_each(|batch| checker.check(batch));
            None
        }
        1 => {
            stream.stop().unwrap();
            checker.may_skip = true;
            None
        }
        2 => {
            checker.may_skip = true;
            None
        }
        _ => match stream.next() {
            Ok(batch) => {
                checker.check(&batch);
                Some(stream)
            }
            Err(error) => {
                assert_eq!(error.kind(), EngineErrorKind::Infer);
                assert_eq!(stream.next().unwrap_err().kind(), EngineErrorKind::State);
                None
            }
        },
    }
}

#[test]
fn whatever_is_called_when_every_batch_is_the_window_it_says_it_is() {
    let reference = Engine::new(config(HeadKind::Categorical, 1)).unwrap();
    let undisturbed: Vec<_> = collect(&reference, 4 * CALLS + 4).iter().map(contents).collect();
    let mut seen = 0;
    for round in 0..ROUNDS {
        let mut rng = Pcg64::from(&Seed::from(round));
        let mut checker = Checker { undisturbed: &undisturbed, next_window: 0, may_skip: false, seen: 0 };
        let engine = Engine::new(config(HeadKind::Categorical, 1 + (round % 3) as usize)).unwrap();
        let mut stream: Option<CollectStream> = None;
        for _ in 0..CALLS {
            let call = rng.integers(6);
            stream = match stream {
                Some(stream) => use_stream(stream, call, &mut checker),
                None if call < 2 => {
                    let (depth, infer) = (1 + rng.integers(3) as usize, unreliable(&mut rng, 60));
                    Some(engine.collect_stream(33, Box::new(infer), depth, None).unwrap())
                }
                None => {
                    match engine.collect(33, &mut unreliable(&mut rng, 30)) {
                        Ok(batch) => checker.check(&batch),
                        Err(error) => assert_eq!(error.kind(), EngineErrorKind::Infer),
                    }
                    None
                }
            };
        }
        seen += checker.seen;
    }
    assert!(seen > 300, "{seen} batches");
}
