//! When a stream may begin a window, so that its records are not too old when somebody takes them.
//!
//! How many versions will be marked until then is the learner's affair, but a learner has a rhythm. The pacer
//! counts the updates between two batches, takes the most there ever were for what may come, and lets a
//! window begin once what is still to come is within the bound. Whoever waits for a batch marks nothing
//! meanwhile: then a window may always begin, so that no learner waits for ever, one that never marks
//! anything included.

/// The rhythm of a learner, counted in updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pacer {
    /// Most updates that a record may be old.
    max_lag: u64,
    /// Updates when a batch was last taken.
    last_taken: u64,
    /// Most updates between two batches, and at least one.
    rhythm: u64,
}

impl Pacer {
    /// For a stream that starts after so many updates.
    pub fn new(max_lag: u64, updates: u64) -> Self {
        Self { max_lag, last_taken: updates, rhythm: 1 }
    }

    /// Notes that a batch is taken.
    pub fn taken(&mut self, updates: u64) {
        self.rhythm = self.rhythm.max(updates - self.last_taken);
        self.last_taken = updates;
    }

    /// Whether a window may begin after so many updates, with `pending` batches to be taken before its own.
    pub fn may_begin(&self, updates: u64, pending: usize, is_awaited: bool) -> bool {
        let to_come = self.rhythm.saturating_sub(updates - self.last_taken);
        is_awaited || to_come.saturating_add(self.rhythm.saturating_mul(pending as u64)) <= self.max_lag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_one_update_per_batch_the_bound_is_how_many_batches_may_be_ahead() {
        for max_lag in 0..4 {
            let mut pacer = Pacer::new(max_lag, 0);
            for taken in 0..10 {
                let most = (0..10).filter(|pending| pacer.may_begin(taken, *pending, false)).count() as u64;
                assert_eq!(most, max_lag, "before the update");
                let most =
                    (0..10).filter(|pending| pacer.may_begin(taken + 1, *pending, false)).count() as u64;
                assert_eq!(most, max_lag + 1, "after it");
                pacer.taken(taken + 1);
            }
        }
    }

    #[test]
    fn several_updates_per_batch_are_learnt_and_waited_for() {
        let mut pacer = Pacer::new(2, 0);
        pacer.taken(4);
        assert!(!pacer.may_begin(5, 0, false), "three more may come");
        assert!(pacer.may_begin(6, 0, false), "two more may come");
        assert!(!pacer.may_begin(8, 1, false), "four more may come before that one is taken");
        pacer.taken(5);
        assert!(!pacer.may_begin(5, 0, false), "the most there were, not the last");
    }

    #[test]
    fn what_is_waited_for_may_always_begin() {
        let mut pacer = Pacer::new(0, 7);
        assert!(!pacer.may_begin(7, 0, false) && pacer.may_begin(7, 0, true));
        pacer.taken(u64::MAX);
        assert!(pacer.may_begin(u64::MAX, usize::MAX, true));
        assert!(!pacer.may_begin(u64::MAX, usize::MAX, false));
    }
}
