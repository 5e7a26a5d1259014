//! Frames, each stored once and linked to the one before it in its episode: stacks are put together by going
//! back. What no transition needs any more is let go, oldest first.

use crate::EngineError;
use reinfors_core::{ObservationPart, ObservationSpace};
use std::collections::VecDeque;
use std::ops::Range;

/// Bytes of a chunk of frames, about: the grain in which memory is taken and let go.
const CHUNK_BYTES: usize = 1 << 20;

/// How a part of an observation lies in its frames.
struct Part {
    /// Where in a frame.
    bytes: Range<usize>,
    /// Frames in an observation.
    depth: usize,
    /// Bytes of a frame that stay together in an observation.
    run_bytes: usize,
}

impl Part {
    fn new(part: &ObservationPart, start: usize) -> Self {
        let frame_bytes = part.size() / part.frames;
        let behind_axis = part
            .stack_axis
            .map_or(part.size(), |axis| part.element.size() * part.shape[axis..].iter().product::<usize>());
        Self { bytes: start..start + frame_bytes, depth: part.frames, run_bytes: behind_axis / part.frames }
    }

    /// The frame of this age out of an observation: 0 is the newest.
    fn take(&self, observation: &[u8], age: usize, frame: &mut [u8]) {
        let place = self.depth - 1 - age.min(self.depth - 1);
        let groups = observation.chunks_exact(self.run_bytes * self.depth);
        for (group, run) in groups.zip(frame.chunks_exact_mut(self.run_bytes)) {
            run.copy_from_slice(&group[place * self.run_bytes..][..self.run_bytes]);
        }
    }

    /// The inverse of [`Part::take`].
    fn put(&self, observation: &mut [u8], age: usize, frame: &[u8]) {
        let place = self.depth - 1 - age;
        let groups = observation.chunks_exact_mut(self.run_bytes * self.depth);
        for (group, run) in groups.zip(frame.chunks_exact(self.run_bytes)) {
            group[place * self.run_bytes..][..self.run_bytes].copy_from_slice(run);
        }
    }
}

/// Frames by number, which rises by one with each.
pub(super) struct Frames {
    parts: Vec<Part>,
    frame_bytes: usize,
    per_chunk: usize,
    chunks: VecDeque<Vec<u8>>,
    /// How far behind each frame the one before it in its episode is; 0 where there is none.
    links: VecDeque<u32>,
    /// Number of the first frame of the first chunk.
    first: u64,
    /// The longest stack.
    pub depth: usize,
}

impl Frames {
    pub fn new(space: &ObservationSpace) -> Self {
        let mut frame_bytes = 0;
        let parts: Vec<Part> = space
            .parts
            .iter()
            .map(|part| {
                let part = Part::new(part, frame_bytes);
                frame_bytes = part.bytes.end;
                part
            })
            .collect();
        Self {
            depth: parts.iter().map(|part| part.depth).max().unwrap_or(1),
            parts,
            frame_bytes,
            per_chunk: (CHUNK_BYTES / frame_bytes.max(1)).max(1),
            chunks: VecDeque::new(),
            links: VecDeque::new(),
            first: 0,
        }
    }

    /// Number of the next frame.
    pub fn next(&self) -> u64 {
        self.first + self.links.len() as u64
    }

    /// Stores the frame of this age of an observation, given part by part, behind `before` in its episode.
    ///
    /// # Errors
    /// No memory.
    pub fn push<'a>(
        &mut self,
        observation: impl Fn(usize) -> &'a [u8],
        age: usize,
        before: Option<u64>,
    ) -> Result<u64, EngineError> {
        let number = self.next();
        let at = self.links.len();
        if at == self.chunks.len() * self.per_chunk {
            let chunk = bytemuck::allocation::try_zeroed_vec(self.per_chunk * self.frame_bytes);
            let chunk = chunk
                .map_err(|()| EngineError::Replay(format!("there is no memory for more than {at} frames")))?;
            self.chunks.push_back(chunk);
        }
        let frame = &mut self.chunks[at / self.per_chunk][at % self.per_chunk * self.frame_bytes..]
            [..self.frame_bytes];
        for (number, part) in self.parts.iter().enumerate() {
            part.take(observation(number), age, &mut frame[part.bytes.clone()]);
        }
        let back = before.and_then(|before| u32::try_from(number - before).ok()).unwrap_or(0);
        self.links.push_back(back);
        Ok(number)
    }

    /// The frame before this one in its episode, or itself where it is the first.
    fn before(&self, number: u64) -> u64 {
        number - u64::from(self.links[(number - self.first) as usize])
    }

    /// The oldest frame that the observation of this newest one shows.
    pub fn oldest_shown(&self, newest: u64) -> u64 {
        (1..self.depth).fold(newest, |number, _| self.before(number))
    }

    /// A part of the observation whose newest frame this is.
    pub fn show(&self, newest: u64, part: usize, out: &mut [u8]) {
        let part = &self.parts[part];
        let mut number = newest;
        for age in 0..part.depth {
            let at = (number - self.first) as usize;
            let frame = &self.chunks[at / self.per_chunk][at % self.per_chunk * self.frame_bytes..];
            part.put(out, age, &frame[part.bytes.clone()]);
            number = self.before(number);
        }
    }

    /// Whether this frame is there and is the newest of exactly this observation.
    pub fn is_shown<'a>(&self, newest: u64, observation: impl Fn(usize) -> &'a [u8]) -> bool {
        let mut shown = Vec::new();
        newest >= self.first
            && (0..self.parts.len()).all(|part| {
                let observation = observation(part);
                shown.clear();
                shown.resize(observation.len(), 0);
                self.show(newest, part, &mut shown);
                shown == observation
            })
    }

    /// Lets go of chunks whose frames are all older than `needed`.
    pub fn release_before(&mut self, needed: u64) {
        let per_chunk = self.per_chunk as u64;
        while !self.chunks.is_empty()
            && self.first + per_chunk <= needed
            && self.links.len() >= self.per_chunk
        {
            self.chunks.pop_front();
            self.links.drain(..self.per_chunk);
            self.first += per_chunk;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * self.per_chunk * self.frame_bytes + self.links.len() * size_of::<u32>()
    }
}
