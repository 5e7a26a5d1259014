//! The pool: every task once, on any number of threads; panics become errors; nothing is left behind.

use reinfors_engine::pool::{Pool, PoolError};
use std::sync::atomic::{AtomicUsize, Ordering};

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
            let start = std::time::Instant::now();
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
