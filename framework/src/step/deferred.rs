//! What goes on after its kernel has ended, and must end before the run does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::Waiters;
use crate::error::{Error, Result};

/// How much of a step was deferred.
#[derive(Default)]
pub(super) struct Deferred {
    count: AtomicUsize,
    none_left: Waiters,
    failure: OnceLock<Error>,
}

/// Something that a run waits for at its end, until this is dropped; see [`Step::defer`](super::Step::defer).
#[must_use = "the run waits until this is dropped"]
pub struct DeferredOp(Arc<Deferred>);

impl DeferredOp {
    /// Ends it, and has the run fail. The first failure counts.
    pub fn fail(self, error: Error) {
        _ = self.0.failure.set(error);
    }
}

impl Deferred {
    pub(super) fn begin(self: &Arc<Self>) -> DeferredOp {
        self.count.fetch_add(1, Ordering::SeqCst);
        DeferredOp(self.clone())
    }

    /// Whether something goes on.
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Waits until nothing does.
    pub(super) async fn all_done(&self) {
        self.none_left.until(|| (!self.is_any()).then_some(())).await;
    }

    /// Whether something has failed.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        self.failure.get().map_or(Ok(()), |error| Err(error.clone()))
    }
}

impl Drop for DeferredOp {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.none_left.wake_all();
        }
    }
}
