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

/// Keeps a library from being unloaded, or several.
#[derive(Debug)]
pub(crate) struct Use {
    library: Arc<LibraryInUse>,
    other: Option<Box<Use>>,
}

impl Drop for Use {
    fn drop(&mut self) {
        self.library.users.fetch_sub(1, Ordering::Release);
    }
}

impl LibraryInUse {
    pub(crate) fn new(origin: Location) -> Arc<LibraryInUse> {
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
            Ok(_) => Ok(Use { library: self.clone(), other: None }),
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
                "{users} of its kernels and tensors are in use; drop the sessions, functions, eager contexts and tensors first"
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

/// What is in a library.
enum Memory {
    /// Its file is being opened: what this is true of.
    Opening(Box<dyn Fn(usize) -> bool + Send + Sync>),
    /// All that the loader has mapped for it.
    At(Vec<Range<usize>>),
}

impl Memory {
    fn has(&self, address: usize) -> bool {
        match self {
            Memory::Opening(has) => has(address),
            Memory::At(ranges) => ranges.iter().any(|range| range.contains(&address)),
        }
    }
}

/// Which memory is whose. Libraries that are loaded later may share some, of a library that all of them need.
static OWNERS: RwLock<Vec<(Memory, Arc<LibraryInUse>)>> = RwLock::new(Vec::new());
/// Whether there are any: most programs load nothing.
static ANY: AtomicBool = AtomicBool::new(false);

fn note(memory: Memory, library: &Arc<LibraryInUse>) {
    let mut owners = OWNERS.write().unwrap_or_else(PoisonError::into_inner);
    owners.retain(|(_, other)| !Arc::ptr_eq(other, library));
    owners.push((memory, library.clone()));
    ANY.store(true, Ordering::Release);
}

/// Notes how to tell what is in a library whose file is about to be opened: its constructors may run on several threads.
pub(crate) fn note_opening(has: impl Fn(usize) -> bool + Send + Sync + 'static, library: &Arc<LibraryInUse>) {
    note(Memory::Opening(Box::new(has)), library);
}

/// Notes where in memory a library is, with what it needs.
pub(crate) fn note_addresses(addresses: Vec<Range<usize>>, library: &Arc<LibraryInUse>) {
    note(Memory::At(addresses), library);
}

/// Forgets where a library was.
pub(crate) fn forget_addresses(library: &Arc<LibraryInUse>) {
    OWNERS.write().unwrap_or_else(PoisonError::into_inner).retain(|(_, other)| !Arc::ptr_eq(other, library));
}

/// The library that is at one of these addresses, if one is.
pub(crate) fn owner_of(addresses: &[usize]) -> Option<Arc<LibraryInUse>> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
    let is_of = |memory: &Memory| addresses.iter().any(|&address| memory.has(address));
    owners.iter().find(|(memory, _)| is_of(memory)).map(|(_, library)| library.clone())
}

/// Keeps the libraries that are at these addresses, if any are.
pub(super) fn keep_owner(addresses: [usize; 2]) -> Option<Use> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
    // Whoever calls from a library keeps it open. Of several that share memory, any keeps it there.
    let keep = |address: usize| {
        owners.iter().filter(|(memory, _)| memory.has(address)).find_map(|(_, library)| library.enter().ok())
    };
    let [data, code] = addresses.map(keep);
    match (data, code) {
        (Some(mut data), Some(code)) if !Arc::ptr_eq(&data.library, &code.library) => {
            data.other = Some(Box::new(code));
            Some(data)
        }
        (data, code) => data.or(code),
    }
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
        note_addresses(vec![16..20, 20..32], &library);
        let kept = keep_owner([0, 31]).unwrap();
        assert_eq!(library.users(), 1);
        assert!(keep_owner([32, 15]).is_none());
        drop(kept);
        // Its buffer is of one library, and what frees it of another.
        let other = LibraryInUse::new(Location::library("libz.so"));
        note_opening(|address| address == 40, &other);
        let kept = keep_owner([16, 40]).unwrap();
        assert_eq!((library.users(), other.users()), (1, 1));
        drop(kept);
        assert_eq!((library.users(), other.users()), (0, 0));
        assert!(Arc::ptr_eq(&owner_of(&[0, 40]).unwrap(), &other));
        // Of what two have, the one that is open keeps it.
        note_addresses(vec![40..50, 16..20], &other);
        library.close().unwrap();
        drop(keep_owner([16, 16]).unwrap());
        library.reopen();
        for library in [&library, &other] {
            forget_addresses(library);
        }
        assert!(keep_owner([16, 40]).is_none() && owner_of(&[16]).is_none());
    }
}
