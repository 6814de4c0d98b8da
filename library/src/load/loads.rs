//! All that is loaded, and which files are being loaded or unloaded.
//!
//! What runs while a file is opened or closed is a library's code, and may wait for other threads. So nothing is locked meanwhile: a
//! [`Reservation`] keeps others from the same file only.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use kernlink_framework::{Error, Result};

use super::OpLibrary;

/// Device and number of a file: whichever path leads to it, it is the same file.
pub(super) type FileId = (u64, u64);

/// Files, of which each is loaded, or somebody's to load or unload, or neither.
struct Loads {
    loaded: Vec<OpLibrary>,
    reserved: Vec<(FileId, ThreadId)>,
}

static LOADS: Mutex<Loads> = Mutex::new(Loads { loaded: Vec::new(), reserved: Vec::new() });
/// Told when a file is no longer reserved.
static LEFT: Condvar = Condvar::new();

fn loads() -> MutexGuard<'static, Loads> {
    LOADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, no other thread loads or unloads the file.
pub(super) struct Reservation(FileId);

impl Reservation {
    /// Waits until no other thread loads or unloads the file. Also says which library it is, if it is loaded.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if this thread itself does so, and would wait for itself.
    pub(super) fn new(file: FileId) -> Result<(Reservation, Option<OpLibrary>)> {
        let mut loads = loads();
        while let Some((_, thread)) = loads.reserved.iter().find(|(other, _)| *other == file) {
            if *thread == thread::current().id() {
                return Err(Error::failed_precondition("this thread is loading or unloading it already"));
            }
            loads = LEFT.wait(loads).unwrap_or_else(PoisonError::into_inner);
        }
        loads.reserved.push((file, thread::current().id()));
        let loaded = loads.loaded.iter().find(|library| library.0.file == file).cloned();
        Ok((Reservation(file), loaded))
    }

    /// Notes that the file is loaded.
    pub(super) fn loaded(&self, library: OpLibrary) {
        loads().loaded.push(library);
    }

    /// Notes that the file is loaded no longer.
    pub(super) fn unloaded(&self) {
        loads().loaded.retain(|library| library.0.file != self.0);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        loads().reserved.retain(|(file, _)| *file != self.0);
        LEFT.notify_all();
    }
}
