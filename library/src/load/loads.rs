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
    /// Threads that wait for a file.
    waiting: Vec<(ThreadId, FileId)>,
}

impl Loads {
    fn holder(&self, file: FileId) -> Option<ThreadId> {
        self.reserved.iter().find(|(other, _)| *other == file).map(|(_, thread)| *thread)
    }

    /// Whether the thread that holds the file waits for this one, by way of others perhaps. They are finitely many, and none of
    /// them waits for itself.
    fn waits_for(&self, file: FileId, thread: ThreadId) -> bool {
        let mut holder = self.holder(file);
        while let Some(other) = holder {
            if other == thread {
                return true;
            }
            let wanted = self.waiting.iter().find(|(waiting, _)| *waiting == other);
            holder = wanted.and_then(|(_, file)| self.holder(*file));
        }
        false
    }
}

static LOADS: Mutex<Loads> = Mutex::new(Loads { loaded: Vec::new(), reserved: Vec::new(), waiting: Vec::new() });
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
    /// FAILED_PRECONDITION if this thread itself does so, or the one that does waits for it: both would wait for ever.
    pub(super) fn new(file: FileId) -> Result<(Reservation, Option<OpLibrary>)> {
        let mut loads = loads();
        let this = thread::current().id();
        while let Some(holder) = loads.holder(file) {
            if loads.waits_for(file, this) {
                let message = match holder == this {
                    true => "this thread is loading or unloading it already",
                    false => {
                        "another thread is loading or unloading it, and waits for what this thread loads or unloads"
                    }
                };
                return Err(Error::failed_precondition(message));
            }
            loads.waiting.push((this, file));
            loads = LEFT.wait(loads).unwrap_or_else(PoisonError::into_inner);
            loads.waiting.retain(|(waiting, _)| *waiting != this);
        }
        loads.reserved.push((file, this));
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

#[cfg(test)]
mod tests {
    use kernlink_framework::Code;
    use std::sync::Barrier;

    use super::*;

    /// Files that no system has.
    const FILES: [FileId; 3] = [(u64::MAX, 1), (u64::MAX, 2), (u64::MAX, 3)];

    #[test]
    fn threads_that_would_wait_for_each_other_do_not() {
        let barrier = Barrier::new(3);
        let outcome = &|number: usize| {
            let own = Reservation::new(FILES[number]).unwrap();
            barrier.wait();
            let other = Reservation::new(FILES[(number + 1) % 3]).map(drop);
            drop(own);
            other
        };
        let outcomes = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|number| scope.spawn(move || outcome(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        // The one that would close the circle is told; the others go on.
        let errors: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].code(), Code::FailedPrecondition);
        assert!(errors[0].message().contains("waits for what this thread loads"), "{}", errors[0]);
        assert!(Reservation::new(FILES[0]).is_ok());
    }

    #[test]
    fn a_thread_does_not_wait_for_itself() {
        let file = (u64::MAX, 4);
        let _own = Reservation::new(file).unwrap();
        let error = Reservation::new(file).map(drop).unwrap_err();
        assert_eq!(error.message(), "this thread is loading or unloading it already");
    }
}
