//! The policy's version and how often it was marked: changed from any thread at any time, read once per step,
//! so that every change takes effect at a boundary between two steps that is the same for all slots.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What the clock shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The policy's version, whose numbers are the caller's.
    pub version: i64,
    /// How often a new version was marked.
    pub updates: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Clock {
    now: Mutex<Moment>,
    /// The version again, for those who must not wait: in a fork the lock may be held by nobody.
    version: AtomicI64,
}

impl Clock {
    /// Version and updates, which belong together.
    pub fn now(&self) -> Moment {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn version(&self) -> i64 {
        self.version.load(Ordering::Acquire)
    }

    /// Marks a new version, one higher or the given one, and returns it.
    pub fn mark(&self, version: Option<i64>) -> i64 {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.version = version.unwrap_or(now.version.saturating_add(1));
        now.updates += 1;
        self.version.store(now.version, Ordering::Release);
        now.version
    }

    /// Sets the version without marking a new one.
    pub fn set(&self, version: i64) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.version = version;
        self.version.store(version, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_whatever_the_version_is_set_to() {
        let clock = Clock::default();
        assert_eq!(clock.now(), Moment { version: 0, updates: 0 });
        assert_eq!(
            [clock.mark(None), clock.mark(Some(40)), clock.mark(Some(5)), clock.mark(None)],
            [1, 40, 5, 6]
        );
        assert_eq!(clock.now(), Moment { version: 6, updates: 4 });
        clock.set(100);
        assert_eq!(clock.now(), Moment { version: 100, updates: 4 });
        assert_eq!(clock.version(), 100);
        clock.set(i64::MAX);
        assert_eq!(clock.mark(None), i64::MAX);
    }
}
