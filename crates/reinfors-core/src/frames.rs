//! The last frames of every row of a batch: what frame stacking shows, oldest first.
//!
//! A row remembers the frames before the current one in a ring, and draws the current one when somebody looks
//! or at the latest before the next step. So each frame is drawn once, an observation is a function of the
//! episode alone, and what has to be saved are the frames before: the current one can be drawn again.
//!
//! Each row is behind a lock of its own, which nobody ever waits for, so that threads can look at different rows
//! at once.

use crate::{Error, ObservationPart, Result};
use std::sync::{Mutex, PoisonError};

/// The frames of one part of the observation, for all rows.
pub(crate) struct FrameStack {
    shape: Shape,
    rows: Vec<Mutex<Row>>,
}

/// What is the same for all rows.
#[derive(Clone, Copy)]
struct Shape {
    /// Frames that are shown: the current one and those before it.
    depth: usize,
    frame_bytes: usize,
    /// Bytes of a frame that stay together in the stack: all channels of what lies before their axis.
    run_bytes: usize,
}

/// The ring of one row's frames.
#[derive(Default)]
struct Row {
    /// Place of the current frame.
    current: usize,
    /// Frames of this episode before it, at most `depth - 1`.
    previous: usize,
    is_drawn: bool,
    /// `depth` frames.
    frames: Vec<u8>,
}

impl FrameStack {
    /// Stacks of `depth` frames of this part for `rows` rows, or `None` where there is nothing to stack.
    ///
    /// # Errors
    /// More frames than there is memory.
    pub fn new(part: &ObservationPart, depth: usize, rows: usize) -> Result<Option<Self>> {
        let Some(axis) = part.stack_axis.filter(|_| depth > 1) else { return Ok(None) };
        let run_bytes = part.element.size() * part.shape[axis..].iter().product::<usize>();
        let frame_bytes = part.size();
        let row_bytes = depth.saturating_mul(frame_bytes);
        let reserved = Vec::<u8>::new().try_reserve_exact(rows.saturating_mul(row_bytes));
        reserved.map_err(|_| Error::OptionValue {
            name: "frame_stack",
            allowed: "so small that the frames fit into memory".into(),
            given: format!("{depth}, of {frame_bytes} bytes each for {rows} games"),
        })?;
        let row = |_| Mutex::new(Row { frames: vec![0; row_bytes], ..Row::default() });
        let rows = (0..rows).map(row).collect();
        Ok(Some(Self { shape: Shape { depth, frame_bytes, run_bytes }, rows }))
    }

    /// Begins an episode: its first frame will stand for all before it.
    pub fn begin(&mut self, row: usize) {
        let row = unlocked(&mut self.rows[row]);
        (row.current, row.previous, row.is_drawn) = (0, 0, false);
    }

    /// Turns the current frame into a previous one, drawing it with `draw` if nobody has looked.
    pub fn advance(&mut self, row: usize, draw: impl FnOnce(&mut [u8])) {
        let (shape, row) = (self.shape, unlocked(&mut self.rows[row]));
        row.complete(shape, draw);
        row.current = (row.current + 1) % shape.depth;
        row.previous = (row.previous + 1).min(shape.depth - 1);
        row.is_drawn = false;
    }

    /// Writes the stack of a row, drawing the current frame with `draw` unless it has been.
    pub fn show(&self, row: usize, out: &mut [u8], draw: impl FnOnce(&mut [u8])) {
        let Shape { depth, frame_bytes, run_bytes } = self.shape;
        let mut row = self.rows[row].lock().unwrap_or_else(PoisonError::into_inner);
        row.complete(self.shape, draw);
        for (place, age) in (0..depth).rev().enumerate() {
            let frame = row.frame(self.shape, age);
            match run_bytes {
                run if run == frame_bytes => out[place * run..][..run].copy_from_slice(frame),
                1 => interleave::<1>(out, frame, place, depth),
                3 => interleave::<3>(out, frame, place, depth),
                run => {
                    for (group, bytes) in out.chunks_exact_mut(run * depth).zip(frame.chunks_exact(run)) {
                        group[place * run..][..run].copy_from_slice(bytes);
                    }
                }
            }
        }
    }

    /// The frames of a row before the current one, oldest first.
    pub fn save(&self, row: usize) -> Vec<u8> {
        let row = self.rows[row].lock().unwrap_or_else(PoisonError::into_inner);
        (1..=row.previous).rev().flat_map(|age| row.frame(self.shape, age)).copied().collect()
    }

    /// Refuses bytes that [`FrameStack::save`] cannot have written.
    pub fn check(&self, saved: &[u8]) -> Result<()> {
        let Shape { depth, frame_bytes, .. } = self.shape;
        if saved.len().is_multiple_of(frame_bytes) && saved.len() <= (depth - 1) * frame_bytes {
            return Ok(());
        }
        Err(Error::SavedState(format!("{} bytes of frames are no frames of this stack", saved.len())))
    }

    /// Takes over what [`FrameStack::check`] has passed.
    pub fn load(&mut self, row: usize, saved: &[u8]) {
        let previous = saved.len() / self.shape.frame_bytes;
        let row = unlocked(&mut self.rows[row]);
        row.frames[..saved.len()].copy_from_slice(saved);
        (row.current, row.previous, row.is_drawn) = (previous, previous, false);
    }
}

fn unlocked(row: &mut Mutex<Row>) -> &mut Row {
    row.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Row {
    fn complete(&mut self, shape: Shape, draw: impl FnOnce(&mut [u8])) {
        if !self.is_drawn {
            let place = self.current * shape.frame_bytes;
            draw(&mut self.frames[place..][..shape.frame_bytes]);
            self.is_drawn = true;
        }
    }

    /// The frame of `age`: 0 is the current one. What is older than the episode is its first frame.
    fn frame(&self, Shape { depth, frame_bytes, .. }: Shape, age: usize) -> &[u8] {
        let place = (self.current + depth - age.min(self.previous)) % depth;
        &self.frames[place * frame_bytes..][..frame_bytes]
    }

    fn copy_from(&mut self, source: &Self) {
        let Self { current, previous, is_drawn, frames } = source;
        (self.current, self.previous, self.is_drawn) = (*current, *previous, *is_drawn);
        self.frames.clone_from(frames);
    }
}

/// Puts a frame into its place among the channels of each pixel; `RUN` is known so that pixels are moved
/// without calls.
fn interleave<const RUN: usize>(out: &mut [u8], frame: &[u8], place: usize, depth: usize) {
    let (pixels, _) = frame.as_chunks::<RUN>();
    for (group, pixel) in out.chunks_exact_mut(RUN * depth).zip(pixels) {
        group[place * RUN..][..RUN].copy_from_slice(pixel);
    }
}

impl Clone for FrameStack {
    fn clone(&self) -> Self {
        let mut copy = Self { shape: self.shape, rows: Vec::new() };
        copy.clone_from(self);
        copy
    }

    /// Copies into the memory that is there.
    fn clone_from(&mut self, source: &Self) {
        self.shape = source.shape;
        self.rows.resize_with(source.rows.len(), Mutex::default);
        for (row, source) in self.rows.iter_mut().zip(&source.rows) {
            unlocked(row).copy_from(&source.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack of three frames of two pixels with two channels.
    fn stack(shape: [usize; 2], channels: usize) -> FrameStack {
        FrameStack::new(&ObservationPart::pixels(shape.to_vec(), channels), 3, 2).unwrap().unwrap()
    }

    fn shown(stack: &mut FrameStack, frame: u8) -> Vec<u8> {
        let mut out = vec![0; 12];
        stack.show(1, &mut out, |out| out.copy_from_slice(&[frame, frame + 1, frame + 2, frame + 3]));
        out
    }

    #[test]
    fn the_first_frame_fills_the_stack_and_others_push_it_out() {
        let mut stack = stack([2, 2], 0);
        assert_eq!(shown(&mut stack, 0), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
        stack.advance(1, |_| panic!("drawn twice"));
        assert_eq!(shown(&mut stack, 10), [0, 1, 2, 3, 0, 1, 2, 3, 10, 11, 12, 13]);
        stack.advance(1, |_| panic!("drawn twice"));
        // Nobody looks at this one.
        stack.advance(1, |out| out.fill(20));
        assert_eq!(shown(&mut stack, 30), [10, 11, 12, 13, 20, 20, 20, 20, 30, 31, 32, 33]);
        stack.begin(1);
        assert_eq!(shown(&mut stack, 40)[..8], [40, 41, 42, 43, 40, 41, 42, 43]);
    }

    #[test]
    fn channels_behind_the_pixels_are_stacked_pixel_by_pixel() {
        let mut stack = stack([2, 2], 1);
        shown(&mut stack, 0);
        stack.advance(1, |_| panic!("drawn twice"));
        assert_eq!(shown(&mut stack, 10), [0, 1, 0, 1, 10, 11, 2, 3, 2, 3, 12, 13]);
        let part = ObservationPart::pixels(vec![2, 1], 1);
        let (mut one, mut out) = (FrameStack::new(&part, 2, 1).unwrap().unwrap(), [0; 4]);
        one.advance(0, |out| out.copy_from_slice(&[1, 2]));
        one.show(0, &mut out, |out| out.copy_from_slice(&[3, 4]));
        assert_eq!(out, [1, 3, 2, 4]);
    }

    #[test]
    fn what_is_saved_continues_and_damage_is_refused() {
        let mut stack = stack([2, 2], 0);
        for steps in 0..5 {
            let saved = stack.save(1);
            assert_eq!(saved.len(), 4 * steps.min(2), "the current frame is not saved");
            let expected = shown(&mut stack, 10 * steps as u8);
            assert_eq!(stack.save(1), saved, "looking changes nothing");
            let mut copy = tests::stack([2, 2], 0);
            copy.check(&saved).unwrap();
            copy.load(1, &saved);
            assert_eq!(shown(&mut copy, 10 * steps as u8), expected);
            stack.advance(1, |_| panic!("drawn twice"));
        }
        assert!(stack.check(&[0; 5]).is_err());
        assert!(stack.check(&[0; 12]).is_err());
    }

    #[test]
    fn one_frame_or_no_axis_is_no_stack() {
        let pixels = ObservationPart::pixels(vec![2, 2], 0);
        assert!(FrameStack::new(&pixels, 1, 2).unwrap().is_none());
        assert!(FrameStack::new(&ObservationPart::state(&[]), 4, 2).unwrap().is_none());
        let error = FrameStack::new(&pixels, 4, usize::MAX / 16).err().unwrap().to_string();
        assert!(error.starts_with("option frame_stack must be so small"), "{error}");
    }
}
