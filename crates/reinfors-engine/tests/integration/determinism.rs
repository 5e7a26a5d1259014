//! A batch is a function of configuration, seed and answers: not of threads, slots beside it, or streaming.

use crate::network::{all_contents, collect, config, contents, engine, network, ppo};
use reinfors_engine::{Engine, EngineConfig, HeadKind};

#[test]
fn the_same_bytes_on_any_number_of_threads_collected_or_streamed() {
    for head in HeadKind::ALL {
        let expected = all_contents(&collect(&engine(head, 1), 5));
        for n_threads in [2, 3, 8] {
            assert_eq!(all_contents(&collect(&engine(head, n_threads), 5)), expected, "{n_threads} threads");
        }
        for depth in [1, 3] {
            let engine = engine(head, 2);
            let stream =
                engine.collect_stream(33, Box::new(network(engine.n_params())), depth, None).unwrap();
            let streamed: Vec<_> = (0..5).map(|_| contents(&stream.next().unwrap())).collect();
            assert_eq!(streamed, expected, "depth {depth}");
        }
    }
}

#[test]
fn another_seed_gives_other_records() {
    let other =
        Engine::new(EngineConfig { seed: Some(12_346.into()), ..config(HeadKind::Categorical, 1) }).unwrap();
    assert_ne!(
        all_contents(&collect(&other, 1)),
        all_contents(&collect(&engine(HeadKind::Categorical, 1), 1))
    );
    let unseeded = || Engine::new(EngineConfig { seed: None, ..config(HeadKind::Categorical, 1) }).unwrap();
    assert_ne!(all_contents(&collect(&unseeded(), 1)), all_contents(&collect(&unseeded(), 1)));
}

#[test]
fn more_slots_do_not_change_the_first_ones() {
    let many = Engine::new(EngineConfig { n_games: 40, ..config(HeadKind::Gaussian, 2) }).unwrap();
    let few = collect(&engine(HeadKind::Gaussian, 2), 1).remove(0);
    let many = many.collect(40 * 7, &mut network(4)).unwrap();
    for row in 0..few.len() {
        let other = row / 5 * 40 + row % 5;
        assert_eq!(few.obs.row(0, row), many.obs.row(0, other));
        assert_eq!(ppo(&few).behavior_log_probs[row], ppo(&many).behavior_log_probs[other]);
        assert_eq!(ppo(&few).advantages[row], ppo(&many).advantages[other]);
    }
}

/// Changes when anything that decides a record changes: streams of random numbers, heads, seeds, advantages.
/// The same constant holds in debug and release builds and on every machine.
#[test]
fn the_records_of_a_seed_are_those_they_have_always_been() {
    let digests = HeadKind::ALL.map(|head| {
        let bytes: Vec<u8> = all_contents(&collect(&engine(head, 2), 5)).concat();
        format!("{:016x}", fnv1a(&bytes))
    });
    assert_eq!(digests, ["eda8d6f966de7f87", "ff633f475514acf0", "517498de63159fea"]);
}

/// The 64-bit hash of Fowler, Noll and Vo.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
