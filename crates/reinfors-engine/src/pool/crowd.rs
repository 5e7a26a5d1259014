//! Whether others want the cores too: told by threads that took much longer than they computed.
//!
//! A thread that looks for work uses up the share of a core that the system gives it, and is then stopped where all
//! others wait for it: in the middle of a task. One that slept is let in when it is woken, for it is owed time.
#![allow(unsafe_code)]

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A stop as long as this is no interrupt: another process had the core.
const A_STOP: Duration = Duration::from_micros(500);

/// Shorter spells are not looked into: asking the system what was computed costs as much as a small task.
const A_SPELL: Duration = Duration::from_millis(1);

/// How long after a stop others are taken to be near.
const NEAR: Duration = Duration::from_millis(50);

/// When a thread was last stopped for somebody else.
#[derive(Default)]
pub(super) struct Crowd(Mutex<Option<Instant>>);

impl Crowd {
    /// Notes a stop that has just ended.
    pub fn met(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// When that was.
    pub fn last_met(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a thread was stopped a short while ago.
    pub fn is_near(&self, now: Instant) -> bool {
        self.last_met().is_some_and(|last| now.saturating_duration_since(last) < NEAR)
    }
}

/// A spell of a thread that does not sleep.
pub(super) struct Spell {
    since: Instant,
    /// Processor time of the thread when it began.
    computed: Duration,
}

impl Spell {
    /// Begins one.
    pub fn begin(now: Instant) -> Self {
        Self { since: now, computed: computed() }
    }

    /// Whether the calling thread, whose spell this is, was stopped in it. Begins the next one, unless this was too
    /// short to tell.
    pub fn was_stopped(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.since) < A_SPELL {
            return false;
        }
        let next = Self::begin(now);
        let was_stopped = self.has_stop_before(&next);
        *self = next;
        was_stopped
    }

    /// Whether a stop lies between the beginnings of two spells.
    fn has_stop_before(&self, next: &Self) -> bool {
        let took = next.since.saturating_duration_since(self.since);
        took.saturating_sub(next.computed.saturating_sub(self.computed)) >= A_STOP
    }
}

/// Processor time of the calling thread.
#[cfg(target_os = "linux")]
fn computed() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes nothing but `time`. It fails for clocks that do not exist, and this one does.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// All the time there is: where the processor time of a thread cannot be asked for, none is ever stopped.
#[cfg(not(target_os = "linux"))]
fn computed() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_did_not_compute_is_a_stop_if_it_was_long() {
        let ms = Duration::from_millis;
        let (since, computed) = (Instant::now(), ms(70));
        let first = Spell { since, computed };
        let next = |took, did_compute| Spell { since: since + took, computed: computed + did_compute };
        assert!(!first.has_stop_before(&next(ms(4), ms(4))));
        assert!(!first.has_stop_before(&next(ms(4), ms(4) - A_STOP / 2)));
        assert!(first.has_stop_before(&next(ms(4), ms(4) - A_STOP)));
        // Clocks differ a little.
        assert!(!first.has_stop_before(&next(ms(4), ms(5))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_sleeps_is_stopped_once() {
        let mut spell = Spell::begin(Instant::now());
        std::thread::sleep(A_SPELL);
        let now = Instant::now();
        assert!(spell.was_stopped(now));
        assert!(!spell.was_stopped(now), "the next spell has begun");
    }

    #[test]
    fn others_are_near_for_a_while_after_a_stop() {
        let (crowd, now) = (Crowd::default(), Instant::now());
        assert!(!crowd.is_near(now));
        crowd.met(now);
        assert!(crowd.is_near(now) && crowd.is_near(now + NEAR / 2));
        assert!(!crowd.is_near(now + NEAR));
    }
}
