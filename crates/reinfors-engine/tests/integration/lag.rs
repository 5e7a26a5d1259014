//! Versions and lag: marked at any time, effective between two steps of all slots, bounded where a bound was
//! asked for. A learner here takes batches and marks versions; that it is slow is that it waits for the
//! stream to get ahead as far as it may.

use crate::network::{all_contents, collect, engine, network};
use reinfors_engine::{Batch, CollectStream, Engine, HeadKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WATCHDOG: Duration = Duration::from_secs(20);

fn start(engine: &Engine, depth: usize, max_lag: Option<u64>) -> CollectStream {
    engine.collect_stream(33, Box::new(network(engine.n_params())), depth, max_lag).unwrap()
}

fn next(stream: &CollectStream) -> Batch {
    stream.next_timeout(WATCHDOG).unwrap().expect("a batch in time")
}

/// Gives the stream every chance to get ahead: until nothing more has happened for a while.
fn settle(stream: &CollectStream) -> usize {
    let (mut pending, mut since) = (stream.pending().unwrap(), Instant::now());
    while since.elapsed() < Duration::from_millis(30) {
        std::thread::sleep(Duration::from_millis(2));
        let now = stream.pending().unwrap();
        if now != pending {
            (pending, since) = (now, Instant::now());
        }
    }
    pending
}

#[test]
fn a_version_takes_effect_between_two_steps_of_all_slots() {
    let engine = engine(HeadKind::Categorical, 3);
    let is_over = AtomicBool::new(false);
    let mut seen = std::collections::BTreeSet::new();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    engine.weights_updated(None).unwrap();
                    std::thread::yield_now();
                }
            });
        }
        let (mut last, begin) = (0, Instant::now());
        while seen.len() < 100 {
            assert!(begin.elapsed() < WATCHDOG, "versions seen: {}", seen.len());
            let batch = collect(&engine, 1).remove(0);
            for step in batch.policy_version.chunks(batch.n_slots) {
                assert!(step.iter().all(|version| *version == step[0]), "{step:?}");
                assert!(step[0] >= last);
                last = step[0];
                seen.insert(last);
            }
            let lag = &batch.telemetry.lag_in_updates;
            assert_eq!(lag.histogram.iter().map(|(_, records)| records).sum::<usize>(), batch.len());
            assert_eq!(*lag, batch.telemetry.lag, "every version is one higher than the one before");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_slow_learner_gets_no_record_that_is_older_than_the_bound() {
    for max_lag in [0, 1, 2, 5] {
        for depth in [1, 4] {
            let engine = engine(HeadKind::Categorical, 2);
            let stream = start(&engine, depth, Some(max_lag));
            let mut batches = Vec::new();
            let mut oldest = 0;
            for _ in 0..8 {
                let ahead = settle(&stream);
                assert!(ahead <= depth);
                batches.push(next(&stream));
                settle(&stream);
                engine.weights_updated(None).unwrap();
                let lag = &batches[batches.len() - 1].telemetry.lag_in_updates;
                assert!(lag.max as u64 <= max_lag, "max_lag {max_lag}, depth {depth}: {lag:?}");
                oldest = oldest.max(lag.max as u64);
            }
            assert_eq!(oldest, max_lag.min(depth as u64), "the bound is used");
            let undisturbed = collect(&self::engine(HeadKind::Categorical, 1), 8);
            let obs = |batches: &[Batch]| -> Vec<Vec<u8>> {
                batches.iter().map(|batch| batch.obs.bytes(0).to_vec()).collect()
            };
            assert_eq!(obs(&batches), obs(&undisturbed), "it waits, and discards nothing");
        }
    }
}

#[test]
fn without_a_bound_the_depth_alone_decides() {
    let engine = engine(HeadKind::Categorical, 2);
    let stream = start(&engine, 4, None);
    for taken in 0..6 {
        settle(&stream);
        let lag = next(&stream).telemetry.lag_in_updates;
        assert_eq!(lag.max, taken.min(4));
        settle(&stream);
        engine.weights_updated(None).unwrap();
    }
}

#[test]
fn several_updates_per_batch_are_within_the_bound_once_they_have_been_seen() {
    for (max_lag, updates) in [(0, 3), (1, 3), (2, 3), (3, 3), (7, 3), (4, 2)] {
        let engine = engine(HeadKind::Categorical, 2);
        let stream = start(&engine, 8, Some(max_lag));
        let mut oldest = 0;
        for taken in 0..10 {
            let lag = next(&stream).telemetry.lag_in_updates.max as u64;
            for _ in 0..updates {
                settle(&stream);
                engine.weights_updated(None).unwrap();
            }
            // Windows that began before the rhythm was known are taken first.
            if taken > max_lag + 1 {
                assert!(lag <= max_lag, "max_lag {max_lag}, {updates} updates per batch: {lag}");
                oldest = oldest.max(lag);
            }
        }
        assert!(oldest > 0 || max_lag == 0, "max_lag {max_lag}: something is collected meanwhile");
    }
}

#[test]
fn a_learner_that_never_marks_a_version_waits_for_nothing_but_its_batch() {
    for max_lag in [0, 1, 3] {
        let engine = engine(HeadKind::Categorical, 2);
        let stream = start(&engine, 2, Some(max_lag));
        let batches: Vec<Batch> = (0..6).map(|_| next(&stream)).collect();
        let undisturbed = collect(&self::engine(HeadKind::Categorical, 1), 6);
        assert_eq!(all_contents(&batches), all_contents(&undisturbed));
    }
}

#[test]
fn a_version_wakes_the_stream_that_waits_for_it() {
    let engine = engine(HeadKind::Categorical, 1);
    let stream = start(&engine, 1, Some(0));
    assert_eq!(settle(&stream), 0, "nothing is asked for, and an update may come");
    next(&stream);
    for _ in 0..20 {
        assert_eq!(settle(&stream), 0);
        engine.weights_updated(None).unwrap();
        let begin = Instant::now();
        while stream.pending().unwrap() == 0 {
            assert!(begin.elapsed() < WATCHDOG, "the update of this batch has come: the next may begin");
            std::thread::yield_now();
        }
        assert_eq!(next(&stream).telemetry.lag_in_updates.max, 0);
    }
}

#[test]
fn a_stream_that_waits_for_its_bound_can_be_paused_stopped_and_dropped() {
    let engine = engine(HeadKind::Categorical, 2);
    let stream = start(&engine, 3, Some(0));
    assert!(stream.pause_timeout(WATCHDOG).unwrap().expect("an end in time").is_empty());
    let stream = start(&engine, 3, Some(0));
    assert!(stream.stop_timeout(WATCHDOG).unwrap());
    drop(start(&engine, 3, Some(0)));
    assert!(engine.wait_until_free(WATCHDOG).unwrap());
    engine.weights_updated(None).unwrap();
    assert_eq!(collect(&engine, 1).len(), 1);
}

#[test]
fn seconds_tell_who_waited_for_whom() {
    let engine = engine(HeadKind::Categorical, 1);
    let stream = start(&engine, 1, None);
    settle(&stream);
    let batch = next(&stream);
    let seconds = batch.telemetry.seconds;
    assert!(seconds.queue > 0.02 && seconds.learner_wait < seconds.queue, "{seconds:?}");
    settle(&stream);
    next(&stream);
    assert!(next(&stream).telemetry.seconds.wait > 0.02, "the games stood still");
    drop(stream);
    engine.wait_until_free(WATCHDOG).unwrap();
    let seconds = collect(&engine, 1)[0].telemetry.seconds;
    assert!(seconds.queue == 0.0 && seconds.learner_wait > 0.0, "{seconds:?}");
}
