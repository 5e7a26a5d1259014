//! The last frames of every row of a batch: what frame stacking shows, oldest first.
//!
//! A row remembers the frames before the current one in a ring, and draws the current one when somebody looks
//! or at the latest before the next step. So each frame is drawn once, an observation is a function of the
//! episode alone, and what has to be saved are the frames before: the current one can be drawn again.

use crate::{Error, ObservationPart, Result};

/// The frames of one part of the observation, for all rows.
pub(crate) struct FrameStack {
    /// Frames that are shown: the current one and those before it.
    depth: usize,
    frame_bytes: usize,
    /// Bytes of a frame that stay together in the stack: all channels of what lies before their axis.
    run_bytes: usize,
    rings: Vec<Ring>,
    /// `depth` frames for each row.
    frames: Vec<u8>,
}

/// Where in its part of the memory a row is.
#[derive(Clone, Copy, Default)]
struct Ring {
    /// Place of the current frame.
    current: usize,
    /// Frames of this episode before it, at most `depth - 1`.
    previous: usize,
    is_drawn: bool,
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
        let len = rows.saturating_mul(depth).saturating_mul(frame_bytes);
        let mut frames = Vec::new();
        frames.try_reserve_exact(len).map_err(|_| Error::OptionValue {
            name: "frame_stack",
            allowed: "so small that the frames fit into memory".into(),
            given: format!("{depth}, of {frame_bytes} bytes each for {rows} games"),
        })?;
        frames.resize(len, 0);
        Ok(Some(Self { depth, frame_bytes, run_bytes, rings: vec![Ring::default(); rows], frames }))
    }

    /// Begins an episode: its first frame will stand for all before it.
    pub fn begin(&mut self, row: usize) {
        self.rings[row] = Ring::default();
    }

    /// Turns the current frame into a previous one, drawing it with `draw` if nobody has looked.
    pub fn advance(&mut self, row: usize, draw: impl FnOnce(&mut [u8])) {
        self.complete(row, draw);
        let Ring { current, previous, .. } = self.rings[row];
        self.rings[row] = Ring {
            current: (current + 1) % self.depth,
            previous: (previous + 1).min(self.depth - 1),
            is_drawn: false,
        };
    }

    /// Writes the stack of a row, drawing the current frame with `draw` unless it has been.
    pub fn show(&mut self, row: usize, out: &mut [u8], draw: impl FnOnce(&mut [u8])) {
        self.complete(row, draw);
        for (place, age) in (0..self.depth).rev().enumerate() {
            let frame = &self.frames[self.bytes_of(row, age)];
            match self.run_bytes {
                run if run == self.frame_bytes => out[place * run..][..run].copy_from_slice(frame),
                1 => interleave::<1>(out, frame, place, self.depth),
                3 => interleave::<3>(out, frame, place, self.depth),
                run => {
                    for (group, bytes) in out.chunks_exact_mut(run * self.depth).zip(frame.chunks_exact(run))
                    {
                        group[place * run..][..run].copy_from_slice(bytes);
                    }
                }
            }
        }
    }

    /// The frames of a row before the current one, oldest first.
    pub fn save(&self, row: usize) -> Vec<u8> {
        let ages = (1..=self.rings[row].previous).rev();
        ages.flat_map(|age| &self.frames[self.bytes_of(row, age)]).copied().collect()
    }

    /// Refuses bytes that [`FrameStack::save`] cannot have written.
    pub fn check(&self, saved: &[u8]) -> Result<()> {
        let most = (self.depth - 1) * self.frame_bytes;
        if saved.len().is_multiple_of(self.frame_bytes) && saved.len() <= most {
            return Ok(());
        }
        Err(Error::SavedState(format!("{} bytes of frames are no frames of this stack", saved.len())))
    }

    /// Takes over what [`FrameStack::check`] has passed.
    pub fn load(&mut self, row: usize, saved: &[u8]) {
        let previous = saved.len() / self.frame_bytes;
        let start = row * self.depth * self.frame_bytes;
        self.frames[start..][..saved.len()].copy_from_slice(saved);
        self.rings[row] = Ring { current: previous, previous, is_drawn: false };
    }

    fn complete(&mut self, row: usize, draw: impl FnOnce(&mut [u8])) {
        if !self.rings[row].is_drawn {
            let bytes = self.bytes_of(row, 0);
            draw(&mut self.frames[bytes]);
            self.rings[row].is_drawn = true;
        }
    }

    /// Where the frame of `age` is: 0 is the current one. What is older than the episode is its first frame.
    fn bytes_of(&self, row: usize, age: usize) -> std::ops::Range<usize> {
        let Ring { current, previous, .. } = self.rings[row];
        let place = (current + self.depth - age.min(previous)) % self.depth;
        let start = (row * self.depth + place) * self.frame_bytes;
        start..start + self.frame_bytes
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
        Self { rings: self.rings.clone(), frames: self.frames.clone(), ..*self }
    }

    /// Copies into the memory that is there.
    fn clone_from(&mut self, source: &Self) {
        let Self { depth, frame_bytes, run_bytes, rings, frames } = source;
        (self.depth, self.frame_bytes, self.run_bytes) = (*depth, *frame_bytes, *run_bytes);
        self.rings.clone_from(rings);
        self.frames.clone_from(frames);
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
