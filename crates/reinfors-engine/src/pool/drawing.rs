//! Items that one thread each makes ready and whose rows are then drawn by whoever is free.
//!
//! Rows take very different times to draw, so that threads which keep to their own items wait for each other.
//! A thread that has made an item ready claims its rows from there on, a few at a time, and after them those of
//! any other item that is ready. Who draws a row changes nothing of it.

use super::{Aside, Disjoint, Pool, PoolError};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Fewest bytes worth a claim: one picture, or many short rows.
const CLAIM_BYTES: usize = 4096;

/// What the calling thread does while others begin.
pub struct Meanwhile<F> {
    /// The thing.
    pub run: F,
    /// Whether it takes so long that a spare worker is worth waking, to take the calling thread's part.
    pub is_long: bool,
}

/// For a calling thread that draws from the start.
pub const NOTHING: Option<Meanwhile<fn()>> = None;

/// Memory for one part of all rows, one behind the other.
pub struct Region<'a> {
    /// The memory.
    pub bytes: &'a mut [u8],
    /// Bytes of a row.
    pub row_bytes: usize,
}

/// The progress of an item.
#[derive(Default)]
struct Stage {
    is_ready: AtomicBool,
    /// The first row that nobody has claimed.
    next: AtomicUsize,
}

impl Pool {
    /// Runs `prepare(index, item)` for every item, in parallel, and `draw(thread, item, part, rows, out)` for
    /// the rows of every item that is ready, each once. Item `i` has the rows `starts[i]..starts[i + 1]` of the
    /// regions; it is told its own from 0 on, and `out` is their part of a region. `thread` is below
    /// [`Pool::most_threads`] and tells threads that draw at the same time apart. The calling thread is at
    /// `meanwhile` first, if that is given, and lends a hand after it.
    ///
    /// # Errors
    /// Those of [`Pool::for_each`]; but for a fork, `meanwhile` has been run.
    ///
    /// # Panics
    /// When `starts` is not one longer than `items`, not in ascending order or reaches beyond a region; with
    /// what `meanwhile` panics, when all tasks have ended.
    pub fn prepare_and_draw<T: Send + Sync, R>(
        &mut self,
        items: &mut [T],
        starts: &[usize],
        regions: &mut [Region<'_>],
        prepare: impl Fn(usize, &mut T) + Sync,
        draw: impl Fn(usize, &T, usize, Range<usize>, &mut [u8]) + Sync,
        meanwhile: Option<Meanwhile<impl FnOnce() -> R>>,
    ) -> Result<Option<R>, PoolError> {
        let n_items = items.len();
        assert_eq!(starts.len(), n_items + 1, "one start more than items");
        let fits =
            |region: &Region<'_>| starts[n_items].saturating_mul(region.row_bytes) <= region.bytes.len();
        assert!(starts.is_sorted() && regions.iter().all(fits), "ascending starts inside the regions");
        let row_bytes: usize = regions.iter().map(|region| region.row_bytes).sum();
        let at_once = CLAIM_BYTES.div_ceil(row_bytes.max(1));
        let regions: Vec<_> = regions
            .iter_mut()
            .map(|region| (Disjoint(region.bytes.as_mut_ptr()), region.row_bytes))
            .collect();
        let stages: Vec<Stage> = items.iter().map(|_| Stage::default()).collect();
        let items = Disjoint(items.as_mut_ptr());
        let draw_rows = |index: usize, thread: usize| {
            let (first, len) = (starts[index], starts[index + 1] - starts[index]);
            // SAFETY: the item is ready, so that whoever prepared it has let go of it, and only shared
            // references to it are made until `dispatch` returns.
            let item = unsafe { &*items.at(index) };
            loop {
                let row = stages[index].next.fetch_add(at_once, Ordering::Relaxed);
                if row >= len {
                    return;
                }
                let rows = row..(row + at_once).min(len);
                for (part, (region, row_bytes)) in regions.iter().enumerate() {
                    let (start, bytes) = ((first + rows.start) * row_bytes, rows.len() * row_bytes);
                    // SAFETY: inside the region, and every row is claimed once per dispatch.
                    let out = unsafe { std::slice::from_raw_parts_mut(region.at(start), bytes) };
                    draw(thread, item, part, rows.clone(), out);
                }
            }
        };
        // Tasks are claimed from the last one on: items first, then help with what is left.
        let n_helpers = match self.n_threads + usize::from(meanwhile.as_ref().is_some_and(|it| it.is_long)) {
            1 => 0,
            n_running => n_running,
        };
        let job = |task: usize, thread: usize| match task.checked_sub(n_helpers) {
            Some(index) => {
                // SAFETY: each index is claimed once per dispatch, and nobody looks at the item before it is
                // ready.
                prepare(index, unsafe { &mut *items.at(index) });
                stages[index].is_ready.store(true, Ordering::Release);
                draw_rows(index, thread);
            }
            None => {
                for index in (0..n_items).filter(|&index| stages[index].is_ready.load(Ordering::Acquire)) {
                    draw_rows(index, thread);
                }
            }
        };
        let Some(meanwhile) = meanwhile else {
            self.dispatch(n_items + n_helpers, &job, None)?;
            return Ok(None);
        };
        let Meanwhile { run, is_long } = meanwhile;
        let (mut run, mut result) = (Some(run), None);
        let mut run = || result = run.take().map(|run| catch_unwind(AssertUnwindSafe(run)));
        self.dispatch(n_items + n_helpers, &job, Some(Aside { run: &mut run, is_long }))?;
        result.transpose().map_or_else(|payload| resume_unwind(payload), Ok)
    }
}
