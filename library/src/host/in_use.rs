//! What holds a library in memory: kernels, shape functions that run, and tensors over its memory.
//!
//! Whatever of the host leads into a library's code enters first, and a library whose door is closed cannot be entered.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use kernlink_framework::kernel::Location;
use kernlink_framework::{Error, Result};

/// Counts what has pointers into a library: as long as there is anything, the library must stay.
#[derive(Debug)]
pub struct LibraryInUse {
    origin: Location,
    /// How many entered and have not left; [`CLOSED`] once nobody may enter.
    users: AtomicUsize,
    /// Whether threads of the library's own may run its code, of which nobody knows when they end.
    has_threads: AtomicBool,
}

/// No count gets as far.
const CLOSED: usize = usize::MAX / 2;

/// Keeps a library from being unloaded.
#[derive(Debug)]
pub(crate) struct Use(Arc<LibraryInUse>);

impl Drop for Use {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, Ordering::Release);
    }
}

impl LibraryInUse {
    pub(super) fn new(origin: Location) -> Arc<LibraryInUse> {
        Arc::new(LibraryInUse { origin, users: AtomicUsize::new(0), has_threads: AtomicBool::new(false) })
    }

    /// The library's file.
    pub fn origin(&self) -> Location {
        self.origin
    }

    /// How many kernels, running shape functions and tensors are the library's.
    pub fn users(&self) -> usize {
        match self.users.load(Ordering::Acquire) {
            users if users >= CLOSED => 0,
            users => users,
        }
    }

    /// Keeps the library until what is returned is dropped.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if it was unloaded.
    #[track_caller]
    pub(crate) fn enter(self: &Arc<LibraryInUse>) -> Result<Use> {
        let entered = self
            .users
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |users| (users < CLOSED).then_some(users + 1));
        match entered {
            Ok(_) => Ok(Use(self.clone())),
            Err(_) => Err(Error::failed_precondition(format!(
                "the library {} was unloaded: graphs that use its ops run once it is loaded again and they are made anew",
                self.origin
            ))),
        }
    }

    /// Notes that the library computes on threads of its own.
    pub(super) fn has_threads(&self) {
        self.has_threads.store(true, Ordering::Release);
    }

    /// Closes the door, if nobody is in.
    ///
    /// # Errors
    /// FAILED_PRECONDITION, with what is in the way.
    pub(crate) fn close(&self) -> Result<()> {
        let refused = |why: String| {
            let message = format!("the library {} cannot be unloaded: {why}", self.origin);
            Err(Error::failed_precondition(message))
        };
        if self.has_threads.load(Ordering::Acquire) {
            return refused(CALLS_BACK.to_owned());
        }
        match self.users.compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire) {
            // A kernel may have been made, and gone, since the first look.
            Ok(_) if self.has_threads.load(Ordering::Acquire) => {
                self.reopen();
                refused(CALLS_BACK.to_owned())
            }
            Ok(_) => Ok(()),
            Err(users) if users >= CLOSED => refused("it is being unloaded".to_owned()),
            Err(users) => refused(format!(
                "{users} of its kernels and tensors are in use; drop the sessions, the eager contexts and the tensors first"
            )),
        }
    }

    /// Opens the door again.
    pub(crate) fn reopen(&self) {
        self.users.store(0, Ordering::Release);
    }
}

/// Why a library with kernels that call back stays.
const CALLS_BACK: &str =
    "a kernel of it that calls back was made, whose threads may still run its code; it stays until the program ends";

/// Which addresses are whose.
static OWNERS: RwLock<Vec<(Range<usize>, Arc<LibraryInUse>)>> = RwLock::new(Vec::new());
/// Whether there are any: most programs load nothing.
static ANY: AtomicBool = AtomicBool::new(false);

/// Notes where in memory a library is.
pub(crate) fn note_addresses(addresses: Range<usize>, library: &Arc<LibraryInUse>) {
    OWNERS.write().unwrap_or_else(PoisonError::into_inner).push((addresses, library.clone()));
    ANY.store(true, Ordering::Release);
}

/// Forgets where a library was.
pub(crate) fn forget_addresses(library: &Arc<LibraryInUse>) {
    OWNERS.write().unwrap_or_else(PoisonError::into_inner).retain(|(_, other)| !Arc::ptr_eq(other, library));
}

/// Keeps the library that is at one of these addresses, if one is.
pub(super) fn keep_owner(addresses: [usize; 2]) -> Option<Use> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
    let is_of = |range: &Range<usize>| addresses.iter().any(|address| range.contains(address));
    // Whoever calls from a library keeps it open.
    owners.iter().find(|(range, _)| is_of(range)).and_then(|(_, library)| library.enter().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_closes_when_nobody_is_in_and_lets_nobody_in_then() {
        let library = LibraryInUse::new(Location::library("libx.so"));
        let (first, second) = (library.enter().unwrap(), library.enter().unwrap());
        assert!(library.close().unwrap_err().message().contains("2 of its kernels"));
        drop((first, second));
        library.close().unwrap();
        assert_eq!(library.users(), 0);
        let refused = library.enter().unwrap_err();
        assert!(refused.message().contains("libx.so was unloaded"), "{refused}");
        assert!(library.close().is_err());
        library.reopen();
        drop(library.enter().unwrap());
        library.has_threads();
        assert!(library.close().unwrap_err().message().contains("calls back"));
    }

    #[test]
    fn memory_of_a_library_keeps_it() {
        let library = LibraryInUse::new(Location::library("liby.so"));
        note_addresses(16..32, &library);
        let kept = keep_owner([0, 31]).unwrap();
        assert_eq!(library.users(), 1);
        assert!(keep_owner([32, 15]).is_none());
        drop(kept);
        forget_addresses(&library);
        assert!(keep_owner([16, 16]).is_none());
    }
}
