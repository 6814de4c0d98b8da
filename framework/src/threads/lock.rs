//! Locks that outlive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose data is whole even if a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
