//! The canvases of the threads that draw, and how long they drew.
//!
//! One for each thread, not for each batch: a thread draws rows of any batch of its game.

use crate::engine::lock;
use reinfors_core::{AnyBatch, AnyCanvas};
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A place to draw for each thread of a pool.
pub(crate) struct Easels(Vec<Mutex<Easel>>);

#[derive(Default)]
struct Easel {
    /// Made when the thread first draws.
    canvas: Option<AnyCanvas>,
    spent: Duration,
}

impl Easels {
    /// For so many threads.
    pub fn new(n_threads: usize) -> Self {
        Self((0..n_threads).map(|_| Mutex::default()).collect())
    }

    /// Draws a part of some rows, each into its own memory. Nobody but `thread` may use its number meanwhile, or
    /// they wait for each other.
    pub fn draw<'a>(
        &self,
        thread: usize,
        batch: &dyn AnyBatch,
        part: usize,
        rows: impl Iterator<Item = (usize, &'a mut [u8])>,
    ) {
        let start = Instant::now();
        let mut easel = lock(&self.0[thread]);
        let Easel { canvas, spent } = &mut *easel;
        let canvas = canvas.get_or_insert_with(|| batch.canvas());
        for (row, out) in rows {
            batch.draw(part, row, canvas, out);
        }
        *spent += start.elapsed();
    }

    /// Draws a part of all of `rows`, one behind the other.
    pub fn draw_all(
        &self,
        thread: usize,
        batch: &dyn AnyBatch,
        part: usize,
        rows: Range<usize>,
        out: &mut [u8],
    ) {
        let row_bytes = out.len() / rows.len();
        self.draw(thread, batch, part, rows.zip(out.chunks_exact_mut(row_bytes)));
    }

    /// How long all threads have drawn since this was last asked, together.
    pub fn take_spent(&mut self) -> Duration {
        let easels = self.0.iter_mut().map(|easel| easel.get_mut());
        easels
            .map(|easel| std::mem::take(&mut easel.unwrap_or_else(|broken| broken.into_inner()).spent))
            .sum()
    }
}
