//! The pool: every task once, on any number of threads; panics become errors; nothing is left behind.

use reinfors_engine::pool::{Pool, PoolError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
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
fn each_item_is_lent_its_part_of_the_output() {
    let mut pool = Pool::new(3).unwrap();
    let mut items = [10, 20, 30, 40];
    let mut output = vec![0; 9];
    pool.for_each_with_output(&mut items, &mut output, &[0, 2, 2, 5, 8], |_, item, part| part.fill(*item))
        .unwrap();
    assert_eq!(output, [10, 10, 30, 30, 30, 40, 40, 40, 0]);
}

#[test]
#[should_panic(expected = "ascending bounds inside the output")]
fn bounds_that_overlap_are_refused() {
    let mut pool = Pool::new(2).unwrap();
    let _ = pool.for_each_with_output(&mut [(), ()], &mut [0; 4], &[0, 3, 2], |_, (), _| {});
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

#[test]
fn tasks_run_while_the_calling_thread_is_elsewhere() {
    for n_threads in [1, 2, 5] {
        let mut pool = Pool::new(n_threads).unwrap();
        let mut items = [0; 7];
        for round in 1..=20 {
            let ended = AtomicUsize::new(0);
            let count = |_: usize, item: &mut usize, _: &mut [()]| {
                *item += 1;
                ended.fetch_add(1, Ordering::Release);
            };
            // Elsewhere until all tasks have ended: nobody else could have run them.
            let wait = || {
                let start = Instant::now();
                while ended.load(Ordering::Acquire) < 7 {
                    assert!(start.elapsed().as_secs() < 20, "no task runs meanwhile");
                    std::thread::yield_now();
                }
                round
            };
            let result = pool.for_each_with_output_while(&mut items, &mut [], &[0; 8], count, wait);
            assert_eq!((result, items), (Ok(round), [round; 7]));
        }
        assert_eq!(pool.n_threads(), n_threads);
    }
}

#[test]
fn the_calling_thread_lends_a_hand_and_its_panic_comes_after_the_tasks() {
    let mut pool = Pool::new(2).unwrap();
    let mut items = [0; 64];
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let slow = |_: usize, item: &mut usize, _: &mut [()]| {
            std::thread::sleep(Duration::from_micros(200));
            *item += 1;
        };
        pool.for_each_with_output_while(&mut items, &mut [], &[0; 65], slow, || panic!("elsewhere"))
    }));
    assert!(outcome.is_err());
    assert_eq!(items, [1; 64]);
    assert!(pool.took() >= Duration::from_micros(200 * 64 / 3), "three threads at most");
    assert_eq!(pool.for_each_with_output_while(&mut [(); 0], &mut [(); 0], &[0], |_, _, _| {}, || 5), Ok(5));
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
