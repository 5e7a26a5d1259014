//! Streams: nothing lost, nothing hangs, and the engine always comes back. Gates in `infer` stand for slow
//! networks.

use crate::network::{all_contents, answer, collect, contents, engine, network};
use reinfors_engine::{
    CollectStream, Engine, EngineError, EngineErrorKind, HeadKind, Infer, InferError, Inference, Memory,
    ObservationView,
};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Longer than anything here takes; reached only by a failure.
const WATCHDOG: Duration = Duration::from_secs(20);

fn start(engine: &Engine, depth: usize) -> CollectStream {
    engine.collect_stream(33, Box::new(network(engine.n_params())), depth, None).unwrap()
}

fn next(stream: &CollectStream) -> reinfors_engine::Batch {
    stream.next_timeout(WATCHDOG).unwrap().expect("a batch in time")
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < WATCHDOG, "never came true: {what}");
        std::thread::yield_now();
    }
}

/// A network that reports each call and waits to be let through it.
struct Gated {
    arrived: Sender<usize>,
    release: Receiver<()>,
    calls: usize,
}

impl Infer for Gated {
    fn infer(&mut self, obs: &ObservationView, _: Memory<'_>, out: &mut Inference) -> Result<(), InferError> {
        self.arrived.send(self.calls).unwrap();
        self.calls += 1;
        // A dropped sender opens the gate for good.
        let _ = self.release.recv();
        answer(obs, 3, out);
        Ok(())
    }
}

/// A stream whose network waits at its first call; the gate opens for good when the sender is dropped.
fn gated(engine: &Engine, depth: usize) -> (CollectStream, Receiver<usize>, Sender<()>) {
    let ((arrived, arrivals), (open, release)) = (channel(), channel());
    let stream =
        engine.collect_stream(33, Box::new(Gated { arrived, release, calls: 0 }), depth, None).unwrap();
    assert_eq!(arrivals.recv(), Ok(0));
    (stream, arrivals, open)
}

fn expected(n: usize) -> Vec<Vec<u8>> {
    all_contents(&collect(&engine(HeadKind::Categorical, 1), n))
}

fn kind<T>(result: Result<T, EngineError>) -> EngineErrorKind {
    result.err().expect("an error").kind()
}

#[test]
fn at_most_depth_batches_are_ahead() {
    for depth in [1, 2, 4] {
        let engine = engine(HeadKind::Categorical, 2);
        let stream = start(&engine, depth);
        wait_until("full", || stream.pending().unwrap() == depth);
        let batches = stream.pause().unwrap();
        assert_eq!(all_contents(&batches), expected(depth), "none beyond the queue");
    }
}

#[test]
fn a_pause_in_the_middle_of_a_window_loses_nothing() {
    let engine = engine(HeadKind::Categorical, 2);
    let (stream, _arrivals, open) = gated(&engine, 3);
    assert!(stream.pause_timeout(Duration::ZERO).unwrap().is_none(), "infer has not answered yet");
    assert_eq!(kind(engine.collect(33, &mut network(3))), EngineErrorKind::Busy);
    drop(open);
    let paused = stream.pause().unwrap();
    assert_eq!(all_contents(&paused), expected(1), "the window in progress and no further one");
    assert_eq!(kind(stream.next()), EngineErrorKind::State);
    assert!(stream.pause().unwrap().is_empty());

    let mut batches = paused;
    batches.extend(collect(&engine, 2));
    let stream = start(&engine, 1);
    batches.push(next(&stream));
    batches.extend(stream.pause().unwrap());
    batches.extend(collect(&engine, 1));
    assert_eq!(all_contents(&batches), expected(batches.len()), "as if there had been no pause");
}

#[test]
fn after_a_stop_the_engine_continues_behind_the_last_finished_window() {
    let expected = expected(4);
    // In the middle of window 1: it is put back to its start.
    let engine = engine(HeadKind::Categorical, 2);
    let (stream, arrivals, open) = gated(&engine, 1);
    let call_of_window_1 = 9;
    for _ in 0..call_of_window_1 {
        open.send(()).unwrap();
    }
    assert_eq!(contents(&next(&stream)), expected[0]);
    wait_until("inside window 1", || arrivals.try_recv() == Ok(call_of_window_1));
    assert!(!stream.stop_timeout(Duration::ZERO).unwrap(), "infer has not answered yet");
    assert_eq!(kind(stream.next()), EngineErrorKind::State);
    drop(open);
    stream.stop().unwrap();
    stream.stop().unwrap();
    assert_eq!(all_contents(&collect(&engine, 1)), expected[1..2]);

    // With a full queue: what waits in it is discarded and stays collected.
    let stream = start(&engine, 1);
    wait_until("full", || stream.pending().unwrap() == 1);
    stream.stop().unwrap();
    assert_eq!(stream.pending().unwrap(), 0);
    assert_eq!(all_contents(&collect(&engine, 1)), expected[3..]);
}

#[test]
fn an_error_comes_once_after_the_batches_before_it_and_frees_the_engine() {
    let engine = engine(HeadKind::Categorical, 2);
    let mut calls = 0;
    let infer = move |obs: &ObservationView, out: &mut Inference| {
        calls += 1;
        if calls == 25 {
            return Err(InferError::with_payload("boom", Box::new("the caller's own")));
        }
        answer(obs, 3, out);
        Ok(())
    };
    let stream = engine.collect_stream(33, Box::new(infer), 2, None).unwrap();
    let mut batches = Vec::new();
    let error = loop {
        match stream.next() {
            Ok(batch) => batches.push(batch),
            Err(error) => break error,
        }
    };
    assert!(!batches.is_empty());
    let EngineError::Infer(error) = error else { panic!("the caller's own error, not {error}") };
    assert_eq!(error.into_payload().unwrap().downcast_ref(), Some(&"the caller's own"));
    let again = stream.next().unwrap_err();
    assert_eq!(again.kind(), EngineErrorKind::State);
    assert_eq!(again.to_string(), "the stream has ended: an error ended it: boom");
    assert_eq!(kind(stream.next()), EngineErrorKind::State);
    batches.extend(collect(&engine, 1));
    assert_eq!(all_contents(&batches), expected(batches.len()));
}

#[test]
fn a_pause_reports_the_error_and_keeps_the_batches_before_it() {
    let engine = engine(HeadKind::Categorical, 1);
    let failure = Arc::new(OnceLock::new());
    let (asked, infer_failure) = (failure.clone(), network(3));
    let mut infer_ok = infer_failure;
    let infer = move |obs: &ObservationView, out: &mut Inference| {
        if asked.get().is_some() { Err(InferError::new("boom")) } else { infer_ok(obs, out) }
    };
    let stream = engine.collect_stream(33, Box::new(infer), 2, None).unwrap();
    wait_until("full", || stream.pending().unwrap() == 2);
    failure.set(()).unwrap();
    let first = next(&stream);
    wait_until("ended", || stream.is_ended().unwrap());
    assert_eq!(stream.pause().unwrap_err().to_string(), "boom");
    let batches = [vec![first], stream.pause().unwrap()].concat();
    assert_eq!(all_contents(&batches), expected(2));
}

#[test]
fn a_dropped_stream_lets_go_of_network_and_engine() {
    let engine = engine(HeadKind::Categorical, 2);
    let witness = Arc::new(());
    let mut taken = 0;
    for round in 0..20 {
        let held = Arc::clone(&witness);
        let mut network = network(3);
        let infer = move |obs: &ObservationView, out: &mut Inference| {
            let _ = &held;
            network(obs, out)
        };
        let stream = engine.collect_stream(33, Box::new(infer), 1, None).unwrap();
        for _ in 0..round % 3 {
            next(&stream);
            taken += 1;
        }
        drop(stream);
        assert!(engine.wait_until_free(WATCHDOG).unwrap());
        assert_eq!(Arc::strong_count(&witness), 1);
    }
    let next_window = collect(&engine, 1)[0].telemetry.window;
    assert!(next_window >= taken);
}

#[test]
fn dropping_does_not_wait_for_infer_and_the_next_call_does() {
    let engine = engine(HeadKind::Categorical, 2);
    let (stream, _arrivals, open) = gated(&engine, 1);
    drop(stream);
    assert!(!engine.wait_until_free(Duration::ZERO).unwrap());
    let collecting = std::thread::spawn({
        let engine = engine.clone();
        move || collect(&engine, 1)
    });
    drop(open);
    assert_eq!(all_contents(&collecting.join().unwrap()), expected(1));
}

#[test]
fn a_held_engine_refuses_every_second_use_and_answers_questions() {
    let engine = engine(HeadKind::Categorical, 2);
    let stream = start(&engine, 1);
    assert_eq!(kind(engine.collect(33, &mut network(3))), EngineErrorKind::Busy);
    assert_eq!(kind(engine.collect_stream(33, Box::new(network(3)), 1, None)), EngineErrorKind::Busy);
    assert_eq!(kind(engine.snapshot()), EngineErrorKind::Busy);
    assert_eq!(kind(engine.restore(&[])), EngineErrorKind::Busy);
    assert!(!engine.wait_until_free(WATCHDOG).unwrap(), "a stream in use is not waited for");
    assert_eq!((engine.n_params(), engine.n_games(), engine.version()), (3, 5, 0));
    assert_eq!(engine.resolved_config().game, "drift");
    assert_eq!(contents(&next(&stream)), expected(1)[0]);
}

#[test]
fn an_ended_stream_cannot_disturb_the_next_one() {
    let engine = engine(HeadKind::Categorical, 2);
    let first = start(&engine, 1);
    next(&first);
    first.pause().unwrap();
    let second = start(&engine, 1);
    first.stop().unwrap();
    drop(first);
    next(&second);
    next(&second);
    assert_eq!(kind(engine.collect(33, &mut network(3))), EngineErrorKind::Busy);
    assert!(!engine.wait_until_free(Duration::ZERO).unwrap());
}

#[test]
fn use_from_inside_infer_is_an_error_at_once() {
    let engine = engine(HeadKind::Categorical, 1);
    let itself: Arc<OnceLock<CollectStream>> = Arc::default();
    let (report, reports) = channel();
    let infer = {
        let (engine, itself) = (engine.clone(), Arc::clone(&itself));
        move |obs: &ObservationView, out: &mut Inference| {
            if let Some(stream) = itself.get() {
                let kinds = [
                    kind(engine.collect(33, &mut network(3))),
                    kind(engine.snapshot()),
                    kind(stream.next()),
                    kind(stream.pause()),
                    kind(stream.stop()),
                ];
                report.send((kinds, engine.version(), stream.pending().unwrap())).unwrap();
            }
            answer(obs, 3, out);
            Ok(())
        }
    };
    itself.set(engine.collect_stream(33, Box::new(infer), 1, None).unwrap()).ok().unwrap();
    let stream = itself.get().unwrap();
    next(stream);
    let (kinds, version, _) = reports.recv_timeout(WATCHDOG).unwrap();
    assert_eq!((kinds, version), ([EngineErrorKind::Busy; 5], 0));
    stream.stop().unwrap();

    let mut nested = {
        let engine = engine.clone();
        move |_: &ObservationView, _: &mut Inference| -> Result<(), InferError> {
            assert_eq!(kind(engine.collect(33, &mut network(3))), EngineErrorKind::Busy);
            assert_eq!(kind(engine.collect_stream(33, Box::new(network(3)), 1, None)), EngineErrorKind::Busy);
            Err(InferError::new("asked enough"))
        }
    };
    assert_eq!(engine.collect(33, &mut nested).unwrap_err().to_string(), "asked enough");
}

#[test]
fn several_takers_share_the_batches_between_them() {
    let engine = engine(HeadKind::Categorical, 2);
    let stream = start(&engine, 2);
    let mut batches: Vec<_> = std::thread::scope(|scope| {
        let takers: Vec<_> =
            (0..3).map(|_| scope.spawn(|| (0..10).map(|_| next(&stream)).collect::<Vec<_>>())).collect();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
    });
    batches.sort_by_key(|batch| batch.telemetry.window);
    assert_eq!(all_contents(&batches), expected(30));
}

#[test]
fn the_version_may_change_under_way_and_lag_is_measured_when_a_batch_is_taken() {
    let engine = engine(HeadKind::Categorical, 2);
    let stream = start(&engine, 1);
    wait_until("full", || stream.pending().unwrap() == 1);
    engine.weights_updated(None).unwrap();
    engine.weights_updated(None).unwrap();
    let lag = next(&stream).telemetry.lag;
    assert_eq!((lag.min, lag.mean, lag.max), (2, 2.0, 2));
    wait_until("full", || stream.pending().unwrap() == 1);
    let fresh = next(&stream);
    assert_eq!((fresh.policy_version, fresh.telemetry.lag.max), (vec![2; 35], 0));
}

#[test]
fn a_panic_in_a_streams_infer_is_an_error_of_the_stream() {
    let engine = engine(HeadKind::Categorical, 1);
    let infer = |_: &ObservationView, _: &mut Inference| -> Result<(), InferError> { panic!("no answer") };
    let stream = engine.collect_stream(33, Box::new(infer), 1, None).unwrap();
    assert_eq!(stream.next().unwrap_err().to_string(), "collecting panicked: no answer");
    assert_eq!(all_contents(&collect(&engine, 1)), expected(1));
}
