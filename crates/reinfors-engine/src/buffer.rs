//! Memory of observations: rows filled one group after the other, never rewritten, recycled when nobody looks
//! any more.
//!
//! A buffer holds one region for each part of the observation, in which that part of all rows lies one behind
//! the other. Rows below the filled mark are shared and read-only, rows from it on belong to the one
//! [`ObservationWriter`]: that is all the safety there is to argue, and why views can be kept for as long as
//! the caller likes.
#![allow(unsafe_code)]

use crate::EngineError;
use crate::observation::Numbers;
use crate::pool::Region;
use reinfors_core::{Element, ObservationSpace};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Start of a region: a cache line, and what the widest vector registers load at once.
pub const ALIGNMENT: usize = 64;

/// Idle buffers kept: a stream of depth 1 has one being filled, one waiting and one with the learner.
const MAX_IDLE: usize = 2;

/// Bytes at a fixed, aligned address, zero at first.
///
/// Aligned by hand: an allocator that is asked for more than its own alignment writes the zeros itself, and
/// with them touches every page of a window of gigabytes before anything is observed.
struct Memory {
    allocation: NonNull<u8>,
    layout: Layout,
    /// Where the aligned bytes start.
    start: NonNull<u8>,
    len: usize,
}

impl Memory {
    fn new(len: usize) -> Option<Self> {
        let layout = Layout::array::<u8>(len.checked_add(ALIGNMENT)?).ok()?;
        // SAFETY: the layout is not empty.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let padding = allocation.align_offset(ALIGNMENT);
        // SAFETY: the padding is less than the alignment, so that `len` bytes of the allocation follow it.
        let start = unsafe { allocation.add(padding) };
        prefer_large_pages(start, len);
        Some(Self { allocation, layout, start, len })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) }
    }
}

// SAFETY: plain bytes; who may touch which is argued at the top of the file.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Asks the system for large pages where whole ones fit: a batch is larger than what the processor remembers of small
/// ones.
fn prefer_large_pages(start: NonNull<u8>, len: usize) {
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 2 << 20;
        let before = start.align_offset(LARGE);
        let len = len.saturating_sub(before) / LARGE * LARGE;
        if len > 0 {
            // SAFETY: inside the allocation; the advice changes nothing that can be seen in it. A system that has no
            // large pages refuses, and small ones do as well.
            unsafe { libc::madvise(start.add(before).as_ptr().cast(), len, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

/// Buffers that nobody looks at any more.
#[derive(Default)]
struct Idle(Mutex<Vec<Memory>>);

/// What a region holds.
#[derive(Clone, Copy)]
struct Part {
    element: Element,
    row_bytes: usize,
}

/// Where buffers come from and go back to.
#[derive(Clone)]
pub struct ObservationStore {
    parts: Arc<[Part]>,
    idle: Arc<Idle>,
}

impl ObservationStore {
    /// A store of observations of this space.
    #[must_use]
    pub fn new(space: &ObservationSpace) -> Self {
        let parts = space.parts.iter().map(|part| Part { element: part.element, row_bytes: part.size() });
        Self { parts: parts.collect(), idle: Arc::default() }
    }

    /// Bytes of each part of one row.
    pub fn row_bytes(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.row_bytes)
    }

    /// An unfilled buffer that comes back here once its writer and all its views are gone.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when the memory cannot be had.
    pub fn take(&self, rows: usize) -> Result<ObservationWriter, EngineError> {
        let starts = self.starts(rows)?;
        let len = starts[self.parts.len()];
        let idle = {
            let mut idle = self.idle.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = idle.iter().position(|memory| memory.len == len);
            at.map(|at| idle.swap_remove(at))
        };
        match idle {
            Some(memory) => Ok(self.writer(memory, rows, starts, Arc::downgrade(&self.idle))),
            None => self.allocate(rows, starts, Arc::downgrade(&self.idle)),
        }
    }

    /// A buffer whose first rows are those of `opening`, which becomes a view of them: the one that `opening` is of,
    /// if nobody else looks at that.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when the memory cannot be had; `opening` is then what it was.
    pub fn take_after(
        &self,
        opening: &mut ObservationView,
        rows: usize,
    ) -> Result<ObservationWriter, EngineError> {
        let filled = opening.rows();
        let is_of_this_size = opening.buffer.starts == self.starts(rows)?;
        if is_of_this_size && let Some(buffer) = Arc::get_mut(&mut opening.buffer) {
            for part in 0..buffer.parts.len() {
                let ((from, len), (to, _)) =
                    (buffer.span(part, &opening.rows), buffer.span(part, &(0..filled)));
                buffer.bytes_mut().copy_within(from..from + len, to);
            }
            opening.rows = 0..filled;
            return Ok(ObservationWriter { buffer: Arc::clone(&opening.buffer), rows, filled });
        }
        let mut writer = self.take(rows)?;
        for (part, region) in writer.unfilled(filled).into_iter().enumerate() {
            region.bytes.copy_from_slice(opening.bytes(part));
        }
        writer.seal(filled);
        *opening = writer.view(0..filled);
        Ok(writer)
    }

    /// An unfilled buffer that is freed once its writer and all its views are gone.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when the memory cannot be had.
    pub fn take_once(&self, rows: usize) -> Result<ObservationWriter, EngineError> {
        self.allocate(rows, self.starts(rows)?, Weak::new())
    }

    /// Where each region starts, and the end.
    fn starts(&self, rows: usize) -> Result<Vec<usize>, EngineError> {
        let mut starts = vec![0_usize];
        for (part, row_bytes) in self.row_bytes().enumerate() {
            let len = rows.checked_mul(row_bytes).and_then(|len| len.checked_next_multiple_of(ALIGNMENT));
            let end = len.and_then(|len| starts[part].checked_add(len));
            starts.push(end.ok_or_else(|| self.too_large(rows))?);
        }
        Ok(starts)
    }

    fn allocate(
        &self,
        rows: usize,
        starts: Vec<usize>,
        home: Weak<Idle>,
    ) -> Result<ObservationWriter, EngineError> {
        let memory = Memory::new(starts[self.parts.len()]).ok_or_else(|| self.too_large(rows))?;
        Ok(self.writer(memory, rows, starts, home))
    }

    fn writer(&self, memory: Memory, rows: usize, starts: Vec<usize>, home: Weak<Idle>) -> ObservationWriter {
        let buffer = Arc::new(Buffer { memory: Some(memory), parts: Arc::clone(&self.parts), starts, home });
        ObservationWriter { buffer, rows, filled: 0 }
    }

    fn too_large(&self, rows: usize) -> EngineError {
        EngineError::Setting {
            name: "n_records",
            allowed: "so small that its observations fit into memory".into(),
            given: format!("{rows} rows of {} bytes", self.row_bytes().sum::<usize>()),
        }
    }
}

/// Shared ownership of the memory.
struct Buffer {
    memory: Option<Memory>,
    parts: Arc<[Part]>,
    /// Where each region starts, and the end of the last.
    starts: Vec<usize>,
    home: Weak<Idle>,
}

impl Buffer {
    fn start(&self) -> *mut u8 {
        self.memory.as_ref().expect("memory leaves only in drop").start.as_ptr()
    }

    /// All bytes, for whoever has the buffer to himself.
    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.starts[self.parts.len()];
        // SAFETY: the whole allocation, which no view and no writer shares while the buffer is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start(), len) }
    }

    /// Offset and length of rows in the region of a part, in bytes.
    fn span(&self, part: usize, rows: &Range<usize>) -> (usize, usize) {
        let row_bytes = self.parts[part].row_bytes;
        (self.starts[part] + rows.start * row_bytes, rows.len() * row_bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(home) = self.home.upgrade() else { return };
        // Never waits: in a fork the lock may be held by a thread that does not exist there.
        let Ok(mut idle) = home.0.try_lock() else { return };
        if idle.len() == MAX_IDLE {
            idle.remove(0);
        }
        idle.extend(self.memory.take());
    }
}

/// The right to fill the rows of a buffer, in order.
pub struct ObservationWriter {
    buffer: Arc<Buffer>,
    rows: usize,
    filled: usize,
}

impl ObservationWriter {
    /// The next `rows` unfilled rows, part by part; [`ObservationWriter::seal`] makes them readable.
    ///
    /// # Panics
    /// When fewer than that are left.
    pub fn unfilled(&mut self, rows: usize) -> Vec<Region<'_>> {
        assert!(rows <= self.rows - self.filled, "{rows} rows asked for, {} left", self.rows - self.filled);
        let start = self.buffer.start();
        let region = |(number, part): (usize, &Part)| {
            let (offset, len) = self.buffer.span(number, &(self.filled..self.filled + rows));
            // SAFETY: inside the allocation, and parts do not overlap; views end at the filled mark, there is
            // one writer, and it is borrowed.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start.add(offset), len) };
            Region { bytes, row_bytes: part.row_bytes }
        };
        self.buffer.parts.iter().enumerate().map(region).collect()
    }

    /// Declares the next `rows` rows filled: readable from now on, and never written again.
    ///
    /// # Panics
    /// When fewer than that are left.
    pub fn seal(&mut self, rows: usize) {
        assert!(rows <= self.rows - self.filled, "{rows} rows sealed, {} left", self.rows - self.filled);
        self.filled += rows;
    }

    /// A view of filled rows.
    ///
    /// # Panics
    /// When not all of them are filled.
    #[must_use]
    pub fn view(&self, rows: Range<usize>) -> ObservationView {
        assert!(
            rows.start <= rows.end && rows.end <= self.filled,
            "rows {rows:?} of {} filled ones",
            self.filled
        );
        ObservationView { buffer: Arc::clone(&self.buffer), rows }
    }
}

/// Consecutive rows, read-only; whoever holds one keeps the memory alive and unchanged.
#[derive(Clone)]
pub struct ObservationView {
    buffer: Arc<Buffer>,
    rows: Range<usize>,
}

impl ObservationView {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// A part of all rows, one behind the other.
    ///
    /// # Panics
    /// When there is no such part.
    #[must_use]
    pub fn bytes(&self, part: usize) -> &[u8] {
        let (offset, len) = self.buffer.span(part, &self.rows);
        // SAFETY: inside the allocation, filled before the view was made, and never written while it is held.
        unsafe { std::slice::from_raw_parts(self.buffer.start().add(offset), len) }
    }

    /// The same as numbers of the part's type.
    ///
    /// # Panics
    /// When there is no such part.
    #[must_use]
    pub fn numbers(&self, part: usize) -> Numbers<'_> {
        Numbers::of(self.buffer.parts[part].element, self.bytes(part))
    }

    /// A part of one row.
    ///
    /// # Panics
    /// When there is no such row or part.
    #[must_use]
    pub fn row(&self, part: usize, row: usize) -> &[u8] {
        let row_bytes = self.buffer.parts[part].row_bytes;
        &self.bytes(part)[row * row_bytes..][..row_bytes]
    }
}

impl std::fmt::Debug for ObservationView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObservationView({} rows)", self.rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reinfors_core::{ObservationPart, StateEntry};

    fn store(row_bytes: usize) -> ObservationStore {
        ObservationStore::new(&ObservationSpace::of(ObservationPart::pixels(vec![row_bytes], 0)))
    }

    #[test]
    fn rows_are_readable_once_sealed_and_where_they_were_written() {
        let mut writer = store(3).take(4).unwrap();
        writer.unfilled(2)[0].bytes.copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        writer.seal(2);
        let first = writer.view(0..2);
        writer.unfilled(2)[0].bytes.fill(9);
        writer.seal(2);
        assert_eq!(first.bytes(0), [1, 2, 3, 4, 5, 6]);
        assert_eq!(writer.view(1..3).bytes(0), [4, 5, 6, 9, 9, 9]);
        assert_eq!(first.row(0, 1), [4, 5, 6]);
        assert_eq!(first.bytes(0).as_ptr() as usize % ALIGNMENT, 0);
    }

    #[test]
    fn every_part_has_a_region_of_its_own_that_its_numbers_fit() {
        const ENTRIES: &[StateEntry] = &[StateEntry::new("x", "X."); 3];
        let parts = vec![ObservationPart::pixels(vec![5], 0), ObservationPart::state(ENTRIES)];
        let mut writer = ObservationStore::new(&ObservationSpace { parts }).take(3).unwrap();
        for row in 0..3_u8 {
            writer.unfilled(1)[0].bytes.fill(row);
            writer.unfilled(1)[1].bytes.copy_from_slice(bytemuck::bytes_of(&[f32::from(row); 3]));
            writer.seal(1);
        }
        let view = writer.view(1..3);
        assert_eq!(view.bytes(0), [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
        assert!(matches!(view.numbers(1), Numbers::F32([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])));
        assert_eq!(view.row(1, 1), bytemuck::bytes_of(&[2.0_f32; 3]));
    }

    #[test]
    #[should_panic(expected = "rows 0..2 of 1 filled ones")]
    fn rows_that_are_not_sealed_cannot_be_seen() {
        let mut writer = store(3).take(4).unwrap();
        writer.seal(1);
        let _ = writer.view(0..2);
    }

    #[test]
    #[should_panic(expected = "2 rows asked for, 1 left")]
    fn sealed_rows_cannot_be_written() {
        let mut writer = store(3).take(4).unwrap();
        writer.seal(3);
        writer.unfilled(2);
    }

    #[test]
    fn memory_comes_back_with_the_last_view_and_only_to_its_own_size() {
        let store = store(8);
        let idle = || store.idle.0.lock().unwrap().len();
        let mut writer = store.take(16).unwrap();
        writer.seal(16);
        let (view, copy) = (writer.view(0..1), writer.view(3..4));
        drop(writer);
        drop(view);
        assert_eq!(idle(), 0, "a view is left");
        let start = copy.buffer.start();
        drop(copy);
        assert_eq!(idle(), 1);
        let other = store.take(8).unwrap();
        assert_eq!(idle(), 1);
        let again = store.take(16).unwrap();
        assert_eq!((idle(), again.buffer.start()), (0, start));
        let many: Vec<_> = (0..5).map(|_| store.take(16).unwrap()).collect();
        drop((many, other, again));
        assert_eq!(idle(), MAX_IDLE);
        drop(store.take_once(16).unwrap());
        assert_eq!(idle(), MAX_IDLE);
    }

    #[test]
    fn a_buffer_begins_with_the_rows_that_open_it_and_is_the_same_one_if_nobody_looks() {
        const ENTRIES: &[StateEntry] = &[StateEntry::new("x", "X.")];
        let parts = vec![ObservationPart::pixels(vec![3], 0), ObservationPart::state(ENTRIES)];
        let store = ObservationStore::new(&ObservationSpace { parts });
        let fill = |writer: &mut ObservationWriter, rows: Range<u8>| {
            for row in rows {
                writer.unfilled(1)[0].bytes.fill(row);
                writer.unfilled(1)[1].bytes.copy_from_slice(&f32::from(row).to_ne_bytes());
                writer.seal(1);
            }
        };
        // Rows are written behind those that open the buffer, which are then looked at.
        let opens =
            |writer: &mut ObservationWriter, opening: &ObservationView, row: u8, behind: Range<u8>| {
                fill(writer, behind);
                let (pixels, states) = ([row, row + 1, row + 2], [row, row + 1, row + 2].map(f32::from));
                for view in [&writer.view(0..3), opening] {
                    assert!(view.bytes(0).chunks(3).eq(pixels.iter().map(|pixel| [*pixel; 3])));
                    assert!(matches!(view.numbers(1), Numbers::F32(numbers) if numbers == states));
                }
                assert_eq!(opening.buffer.start(), writer.buffer.start());
                writer.buffer.start()
            };
        let mut writer = store.take(6).unwrap();
        fill(&mut writer, 0..6);
        let (mut opening, kept) = (writer.view(3..6), writer.view(0..1));
        drop(writer);
        let mut other = store.take_after(&mut opening, 6).unwrap();
        let second = opens(&mut other, &opening, 3, 6..9);
        assert_ne!(second, kept.buffer.start(), "somebody looks at the first one");
        assert_eq!(kept.bytes(0), [0, 0, 0]);
        opening = other.view(3..6);
        drop((other, kept));
        let mut again = store.take_after(&mut opening, 6).unwrap();
        assert_eq!(opens(&mut again, &opening, 6, 9..12), second);
        opening = again.view(3..6);
        drop(again);
        let mut larger = store.take_after(&mut opening, 60).unwrap();
        assert_ne!(opens(&mut larger, &opening, 9, 12..13), second);
        assert!(store.take_after(&mut opening, usize::MAX).is_err());
        opens(&mut larger, &opening, 9, 13..14);
    }

    /// Bytes of this process that are in memory.
    #[cfg(target_os = "linux")]
    fn resident_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        1024 * line.trim().trim_end_matches("kB").trim().parse::<usize>().unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn rows_that_are_not_filled_yet_cost_nothing() {
        let before = resident_bytes();
        let writer = store(1 << 20).take(1 << 8).unwrap();
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 64 << 20, "a buffer of 256 MiB has touched {} MiB", grown >> 20);
        drop(writer);
    }

    #[test]
    fn views_outlive_their_store() {
        let store = store(2);
        let mut writer = store.take(1).unwrap();
        writer.unfilled(1)[0].bytes.fill(7);
        writer.seal(1);
        let view = writer.view(0..1);
        drop((store, writer));
        assert_eq!(view.bytes(0), [7, 7]);
    }

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        for rows in [usize::MAX, usize::MAX / 8, (isize::MAX / 8) as usize] {
            let error = store(8).take(rows).err().expect("refused");
            assert!(error.to_string().starts_with("n_records must be so small"), "{error}");
        }
    }
}
