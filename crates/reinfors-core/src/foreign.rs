//! Games that live elsewhere: in another process, in another language. A batch over a small trait that whoever
//! reaches them implements.
//!
//! 1. All rows are stepped by one call. Resets are gathered and made in one call, before anybody looks.
//! 2. Such worlds can fail, which native ones cannot. The batch then goes on with what it last saw, and the
//!    driver asks for the failure after each section of work, so that no other batch pays for a `Result`.
//! 3. They need not be able to go back. A rollback says whether it did; where not, the driver begins anew.

use crate::rng::Seed;
use crate::{
    Actions, AnyBatch, AnyCanvas, CancelToken, Error, Inspected, ObservationPart, ObservationSpace, Outcome,
    Picture, PictureSize, Result,
};
use std::any::Any;
use std::fmt;
use std::ops::Range;

/// An error of the caller's own code, carried through without being looked at.
pub struct Failure {
    message: String,
    payload: Option<Box<dyn Any + Send + Sync>>,
}

impl Failure {
    /// An error that is its message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), payload: None }
    }

    /// An error that gives `payload` back on the other side, an exception for instance.
    #[must_use]
    pub fn with_payload(message: impl Into<String>, payload: Box<dyn Any + Send + Sync>) -> Self {
        Self { message: message.into(), payload: Some(payload) }
    }

    /// The payload, if there is one.
    #[must_use]
    pub fn into_payload(self) -> Option<Box<dyn Any + Send + Sync>> {
        self.payload
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure").field("message", &self.message).finish_non_exhaustive()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Worlds somewhere else, all rows of a batch together. After a failure they are asked for a rollback or for
/// resets before anything else.
pub trait Worlds: Send + Sync {
    /// Starts episodes in some rows, each named once; `None` continues the row's own random stream. `shown`
    /// holds all rows of each part of the observation, of which those rows are written.
    ///
    /// # Errors
    /// What keeps the worlds from it.
    fn reset(
        &mut self,
        rows: &[(usize, Option<Seed>)],
        shown: &mut [Vec<u8>],
    ) -> std::result::Result<(), Failure>;

    /// Steps the rows that are active and writes what it did to them and what they show. Other rows may be
    /// left alone or stepped: they are reset before anybody looks at them.
    ///
    /// # Errors
    /// What keeps the worlds from it.
    fn step(
        &mut self,
        actions: Actions<'_>,
        active: &[bool],
        outcomes: &mut [Outcome],
        shown: &mut [Vec<u8>],
    ) -> std::result::Result<(), Failure>;

    /// The picture for people of one row.
    ///
    /// # Errors
    /// What keeps the worlds from it.
    fn render(&mut self, row: usize) -> std::result::Result<Picture, Failure>;

    /// Remembers the state of every row, if it can.
    ///
    /// # Errors
    /// What keeps the worlds from it.
    fn checkpoint(&mut self) -> std::result::Result<(), Failure>;

    /// Puts every row back to the last checkpoint, or says that it cannot.
    ///
    /// # Errors
    /// What keeps the worlds from it.
    fn rollback(&mut self) -> std::result::Result<bool, Failure>;

    /// What is asked from now on is wanted until the token is cancelled. Worlds that can fail then instead of
    /// making anybody wait look at it.
    fn heed(&mut self, _token: &CancelToken) {}
}

/// The batch over such worlds.
pub struct ForeignBatch<W> {
    worlds: W,
    len: usize,
    parts: Vec<ObservationPart>,
    /// What every row shows, part by part.
    shown: Vec<Vec<u8>>,
    remembered: Vec<Vec<u8>>,
    /// Resets that are owed, in the order of asking.
    owed: Vec<(usize, Option<Seed>)>,
    failure: Option<Failure>,
}

impl<W: Worlds> ForeignBatch<W> {
    /// `len` rows over `worlds`, not reset yet.
    #[must_use]
    pub fn new(worlds: W, space: &ObservationSpace, len: usize) -> Self {
        let parts = space.parts.clone();
        let shown: Vec<_> = parts.iter().map(|part| vec![0; len * part.size()]).collect();
        Self { worlds, len, parts, remembered: shown.clone(), shown, owed: Vec::new(), failure: None }
    }

    /// Makes the resets that are owed. Whether the worlds can be asked for more.
    fn reset_owed(&mut self) -> bool {
        if self.failure.is_none() && !self.owed.is_empty() {
            let owed = std::mem::take(&mut self.owed);
            self.failure = self.worlds.reset(&owed, &mut self.shown).err();
        }
        self.failure.is_none()
    }
}

impl<W: Worlds> AnyBatch for ForeignBatch<W> {
    fn len(&self) -> usize {
        self.len
    }

    fn reset(&mut self, row: usize, seed: Option<&Seed>, _flags: &[bool]) {
        self.owed.retain(|(owed, _)| *owed != row);
        self.owed.push((row, seed.cloned()));
    }

    fn step(&mut self, actions: Actions<'_>, active: Option<&[bool]>, outcomes: &mut [Outcome]) {
        if !self.reset_owed() {
            return;
        }
        let all = vec![true; self.len];
        let active = active.unwrap_or(&all);
        self.failure = self.worlds.step(actions, active, outcomes, &mut self.shown).err();
    }

    fn observe(&mut self, part: usize, rows: Range<usize>, out: &mut [u8]) {
        self.reset_owed();
        let size = self.parts[part].size();
        out.copy_from_slice(&self.shown[part][rows.start * size..rows.end * size]);
    }

    fn canvas(&self) -> AnyCanvas {
        Box::new(())
    }

    fn settle(&mut self) {
        self.reset_owed();
    }

    fn draw(&self, part: usize, row: usize, _canvas: &mut AnyCanvas, out: &mut [u8]) {
        let size = self.parts[part].size();
        out.copy_from_slice(&self.shown[part][row * size..][..size]);
    }

    fn render(&mut self, row: usize, size: Option<PictureSize>) -> Result<Picture> {
        if let Some(PictureSize { width, height }) = size {
            return Err(Error::PictureSize {
                allowed: "None: these worlds draw themselves, at a size of their own".into(),
                given: format!("({height}, {width})"),
            });
        }
        let picture = if self.reset_owed() { self.worlds.render(row) } else { Ok(Picture::default()) };
        Ok(picture.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            Picture::default()
        }))
    }

    fn info(&self, _row: usize) -> Vec<(&'static str, bool)> {
        Vec::new()
    }

    fn inspect(&self, _row: usize) -> Vec<Inspected> {
        Vec::new()
    }

    /// Nothing: drivers refuse to save such a game, see [`crate::GameSpec::check_saves`].
    fn save(&self, _row: usize) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _row: usize, _bytes: &[u8]) -> Result<()> {
        Err(Error::SavedState("the worlds of this game live elsewhere".into()))
    }

    fn checkpoint(&mut self) {
        if self.reset_owed() {
            self.remembered.clone_from(&self.shown);
            self.failure = self.worlds.checkpoint().err();
        }
    }

    fn rollback(&mut self) -> bool {
        self.owed.clear();
        self.failure = None;
        // What keeps it from going back will be told by the resets that follow.
        let is_back = self.worlds.rollback().unwrap_or(false);
        if is_back {
            self.shown.clone_from(&self.remembered);
        }
        is_back
    }

    fn heed(&mut self, token: &CancelToken) {
        self.worlds.heed(token);
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }
}

#[cfg(test)]
mod tests;
