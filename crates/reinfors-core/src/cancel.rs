//! Whether what was asked for is still wanted: one flag that whoever asks and whoever works share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Clones are the same flag. Once cancelled it stays so: every use of worlds has a fresh one.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Says that nobody wants the result any more.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether nobody wants the result any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
