//! The pool: every task once, on any number of threads; panics become errors; nothing is left behind.

use reinfors_engine::pool::{Meanwhile, NOTHING, Pool, PoolError, Region};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn every_item_is_visited_once_per_dispatch_on_any_number_of_threads() {
    for n_threads in [1, 2, 3, 8] {
        let mut pool = Pool::new(n_threads).unwrap();
        assert_eq!(pool.n_threads(), n_threads);
        for n_items in [0, 1, 2, 7, 64] {
            let mut items = vec![0usize; n_items];
            for _ in 0..200 {
                pool.for_each(&mut items, |index, item| *item += index + 1).unwrap();
            }
            let expected: Vec<usize> = (0..n_items).map(|index| 200 * (index + 1)).collect();
            assert_eq!(items, expected, "{n_threads} threads");
        }
    }
}

#[test]
fn every_row_of_a_ready_item_is_drawn_once_into_its_place_of_every_region() {
    // Rows that are claimed one by one, and rows that are claimed together.
    for row_bytes in [[1, 2], [5000, 3]] {
        for n_threads in [1, 2, 3, 8] {
            let mut pool = Pool::new(n_threads).unwrap();
            let (mut items, starts) = ([0u8; 4], [0, 2, 2, 7, 12]);
            let mut bytes = row_bytes.map(|row_bytes| vec![0; 12 * row_bytes]);
            let mut regions: Vec<_> = bytes
                .iter_mut()
                .zip(row_bytes)
                .map(|(bytes, row_bytes)| Region { bytes, row_bytes })
                .collect();
            let prepare = |index: usize, item: &mut u8| *item = 10 * (index as u8 + 1);
            let draw = |thread: usize, item: &u8, part: usize, rows: Range<usize>, out: &mut [u8]| {
                assert!(thread < n_threads, "a thread beyond those of the pool draws");
                for (row, out) in rows.zip(out.chunks_exact_mut(row_bytes[part])) {
                    out.iter_mut().for_each(|byte| *byte += item + row as u8);
                }
            };
            let drawn = pool.prepare_and_draw(&mut items, &starts, &mut regions, prepare, draw, NOTHING);
            assert_eq!(drawn, Ok(None));
            for (bytes, row_bytes) in bytes.iter().zip(row_bytes) {
                let rows = [10, 11, 30, 31, 32, 33, 34, 40, 41, 42, 43, 44];
                assert!(bytes.iter().copied().eq(rows.iter().flat_map(|row| vec![*row; row_bytes])));
            }
        }
    }
}

#[test]
fn rows_of_one_item_are_drawn_by_several_threads_at_once() {
    let mut pool = Pool::new(3).unwrap();
    let is_drawing = AtomicUsize::new(0);
    // Nobody gets on before three are at it.
    let draw = |_: usize, (): &(), _: usize, _: Range<usize>, _: &mut [u8]| {
        is_drawing.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        while is_drawing.load(Ordering::Relaxed) < 3 {
            assert!(start.elapsed().as_secs() < 20, "nobody helps");
            std::thread::yield_now();
        }
    };
    let mut bytes = [0; 5 * 5000];
    let mut regions = [Region { bytes: &mut bytes, row_bytes: 5000 }];
    pool.prepare_and_draw(&mut [()], &[0, 5], &mut regions, |_, ()| (), draw, NOTHING).unwrap();
}

#[test]
#[should_panic(expected = "ascending starts inside the regions")]
fn starts_beyond_a_region_are_refused() {
    let mut pool = Pool::new(2).unwrap();
    let mut regions = [Region { bytes: &mut [0; 4], row_bytes: 2 }];
    let draw = |_: usize, (): &(), _: usize, _: Range<usize>, _: &mut [u8]| ();
    let _ = pool.prepare_and_draw(&mut [()], &[0, 3], &mut regions, |_, ()| (), draw, NOTHING);
}

#[test]
fn an_item_that_panics_is_not_drawn_and_the_others_are() {
    for n_threads in [1, 2, 4] {
        let mut pool = Pool::new(n_threads).unwrap();
        let mut bytes = [0; 4];
        let mut regions = [Region { bytes: &mut bytes, row_bytes: 1 }];
        let prepare = |index: usize, (): &mut ()| assert!(index != 1, "item one");
        let draw = |_: usize, (): &(), _: usize, _: Range<usize>, out: &mut [u8]| out.fill(1);
        let drawn =
            pool.prepare_and_draw(&mut [(); 4], &[0, 1, 2, 3, 4], &mut regions, prepare, draw, NOTHING);
        assert_eq!(drawn, Err(PoolError::Panicked("item one".into())));
        assert_eq!(bytes, [1, 0, 1, 1]);
    }
}

#[test]
fn a_panic_is_an_error_the_other_tasks_run_and_the_pool_goes_on() {
    for n_threads in [1, 2, 8] {
        let mut pool = Pool::new(n_threads).unwrap();
        let runs = AtomicUsize::new(0);
        let error = pool.for_each(&mut [(); 16], |index, ()| {
            runs.fetch_add(1, Ordering::Relaxed);
            assert!(index != 5, "task five");
        });
        assert_eq!(error, Err(PoolError::Panicked("task five".into())));
        assert_eq!(runs.load(Ordering::Relaxed), 16);
        assert_eq!(pool.for_each(&mut [(); 16], |_, ()| {}), Ok(()));
    }
}

#[test]
fn the_calling_thread_takes_part_and_one_thread_starts_none() {
    let caller = std::thread::current().id();
    let mut pool = Pool::new(1).unwrap();
    let mut ids = vec![None; 5];
    pool.for_each(&mut ids, |_, id| *id = Some(std::thread::current().id())).unwrap();
    assert!(ids.iter().all(|id| *id == Some(caller)));
}

fn draws_nothing(_: usize, _: &usize, _: usize, _: Range<usize>, _: &mut [u8]) {}

#[test]
fn tasks_run_while_the_calling_thread_is_elsewhere() {
    // One thread alone is helped by the spare one, and only where it is long away.
    for (n_threads, is_long) in [(1, true), (2, true), (2, false), (5, true), (5, false)] {
        let mut pool = Pool::new(n_threads).unwrap();
        let mut items = [0; 7];
        for round in 1..=20 {
            let ended = AtomicUsize::new(0);
            let count = |_: usize, item: &mut usize| {
                *item += 1;
                ended.fetch_add(1, Ordering::Release);
            };
            // Elsewhere until all tasks have ended: nobody else could have run them.
            let run = || {
                let start = Instant::now();
                while ended.load(Ordering::Acquire) < 7 {
                    assert!(start.elapsed().as_secs() < 20, "no task runs meanwhile");
                    std::thread::yield_now();
                }
                round
            };
            let meanwhile = Some(Meanwhile { run, is_long });
            let result = pool.prepare_and_draw(&mut items, &[0; 8], &mut [], count, draws_nothing, meanwhile);
            assert_eq!((result, items), (Ok(Some(round)), [round; 7]));
        }
        assert_eq!(pool.n_threads(), n_threads);
    }
}

#[test]
fn one_thread_that_is_away_for_a_moment_starts_none_and_steps_after_it() {
    let (mut pool, caller) = (Pool::new(1).unwrap(), std::thread::current().id());
    let was_away = AtomicBool::new(false);
    let step = |_: usize, item: &mut usize| {
        assert_eq!(std::thread::current().id(), caller);
        assert!(was_away.load(Ordering::Relaxed));
        *item += 1;
    };
    let meanwhile = Some(Meanwhile { run: || was_away.store(true, Ordering::Relaxed), is_long: false });
    let mut items = [0; 3];
    let result = pool.prepare_and_draw(&mut items, &[0; 4], &mut [], step, draws_nothing, meanwhile);
    assert_eq!((result, items), (Ok(Some(())), [1; 3]));
}

#[test]
fn the_calling_thread_lends_a_hand_and_its_panic_comes_after_the_tasks() {
    let mut pool = Pool::new(2).unwrap();
    let mut items = [0; 64];
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let slow = |_: usize, item: &mut usize| {
            std::thread::sleep(Duration::from_micros(200));
            *item += 1;
        };
        let meanwhile = Some(Meanwhile { run: || panic!("elsewhere"), is_long: true });
        pool.prepare_and_draw(&mut items, &[0; 65], &mut [], slow, draws_nothing, meanwhile)
    }));
    assert!(outcome.is_err());
    assert_eq!(items, [1; 64]);
    assert!(pool.took() >= Duration::from_micros(200 * 64 / 3), "three threads at most");
    let meanwhile = Some(Meanwhile { run: || 5, is_long: true });
    let none = pool.prepare_and_draw(&mut [0; 0], &[0], &mut [], |_, _| (), draws_nothing, meanwhile);
    assert_eq!(none, Ok(Some(5)));
}

#[cfg(target_os = "linux")]
#[test]
fn dropping_a_pool_joins_its_threads() {
    for _ in 0..50 {
        let mut pool = Pool::new(4).unwrap();
        let mut names = vec![0; 8];
        pool.for_each(&mut names, |_, thread| *thread = thread_number()).unwrap();
        drop(pool);
        let caller = thread_number();
        for thread in names.into_iter().filter(|thread| *thread != caller) {
            // A joined thread can be listed for a moment longer.
            let listed = format!("/proc/self/task/{thread}");
            let start = Instant::now();
            while std::path::Path::new(&listed).exists() {
                assert!(start.elapsed().as_secs() < 20, "thread {thread} lives on");
                std::thread::yield_now();
            }
        }
    }
}

/// The operating system's number of this thread.
#[cfg(target_os = "linux")]
fn thread_number() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}
