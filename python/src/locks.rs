//! Locks. What a panic left behind is used as it is: it was met by an error, and says no more than that something is half done, which
//! those who change values leave in no order that would matter.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes what a lock gives, also behind a panic.
pub(crate) fn unpoisoned<G>(taken: Result<G, PoisonError<G>>) -> G {
    taken.unwrap_or_else(PoisonError::into_inner)
}

/// The value of a mutex, for as long as the guard is there.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}
