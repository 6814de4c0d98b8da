//! Opening a library whose file was read, and taking what it registers.

use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernlink_framework::error::catch_panic;
use kernlink_framework::kernel::Location;
use kernlink_framework::registry::Registry;
use kernlink_framework::{Error, Result};

use super::loads::Reservation;
use super::objects::{Object, objects, path_at, with_all_needed};
use super::system::{self, Handle};
use super::written::Written;
use super::{Loaded, OpLibrary, exports, file, identity};
use crate::host::LibraryInUse;
use crate::host::in_use::{forget_addresses, note_addresses, note_opening};
use crate::host::registration::{Batch, collect_of, is_loading, join_ops};

/// A library that the system has opened.
pub(super) struct Opened {
    handle: Handle,
    /// What stands in for libraries of TensorFlow that it is linked to.
    _stand_ins: Vec<Written>,
}

impl Opened {
    /// Takes it out of memory, unless something else in the process holds it.
    pub(super) fn close(&self, library: &Arc<LibraryInUse>) {
        forget_addresses(library);
        self.handle.close();
    }

    /// Takes a library out of memory of which nothing is in a registry, unless something lives on that its constructor made.
    fn discard(&self, library: &Arc<LibraryInUse>) {
        if library.close().is_ok() {
            self.close(library);
        }
    }
}

pub(super) use file::is_op_library;

#[track_caller]
fn refused(path: &Path, why: &str) -> Error {
    Error::failed_precondition(format!("cannot load {}: {why}", path.display()))
}

pub(super) fn load(given: &Path, registry: &Arc<Registry>) -> Result<OpLibrary> {
    if is_loading() {
        return Err(refused(
            given,
            "a library is being loaded by this thread; one library cannot load another meanwhile",
        ));
    }
    let cannot = |error: Error| error.context(format!("cannot load {}", given.display()));
    let (path, file) = file::find(given)?;
    let id =
        identity::id_of(&file).map_err(|error| Error::from_io(format!("cannot load {}", given.display()), &error))?;
    let (reservation, loaded) = Reservation::new(id).map_err(cannot)?;
    if let Some(library) = loaded {
        if !std::ptr::eq(library.0.registry.as_ptr(), Arc::as_ptr(registry)) {
            return Err(refused(given, "it is loaded for another registry: unload it there first"));
        }
        join_ops(registry);
        return Ok(library);
    }
    let (opened, batch) = open(&path, &file)?;
    let in_use = batch.library().clone();
    let registered = match batch.is_empty() {
        true => Err(Error::invalid_argument(
            "it registered nothing: what registers its ops must run when it is opened, as a constructor does",
        )),
        // What a registry asks about a registration is the program's, and may panic.
        false => catch_panic("the registration", || batch.commit(registry)),
    };
    let registered = registered.map_err(|error| {
        opened.discard(&in_use);
        error.context(format!("cannot load {}", path.display()))
    })?;
    let registry = Arc::downgrade(registry);
    let library = OpLibrary(Arc::new(Loaded { path, file: id, registry, registered, opened }));
    reservation.loaded(library.clone());
    Ok(library)
}

/// Reads a file, opens it, and collects what it registers.
fn open(path: &Path, file: &File) -> Result<(Opened, Batch)> {
    let read = file::read(path, file)?;
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| refused(path, "its path has a zero in it"))?;
    if system::is_open(&name) {
        return Err(refused(
            path,
            "its code is in the process already, so that it would not register again: the program is linked to it, something else \
             loaded it, or threads of it are still there after it was unloaded. A copy of the file under another name can be loaded",
        ));
    }
    let provided = exports::provide(path, &read)?;
    let library = LibraryInUse::new(Location::library(path.display().to_string().leak()));
    let own_path: PathBuf = path.to_owned();
    note_opening(move |address| path_at(address).is_some_and(|path| path == own_path), &library);
    let (handle, batch) = collect_of(&library, || Handle::open(&name, system::LOCAL));
    let stand_ins = provided.stand_ins();
    let handle = handle.map_err(|why| {
        forget_addresses(&library);
        // The loader names what it was about to open.
        let missing = read.needed.iter().find(|name| why.strip_prefix(&***name).is_some_and(|rest| rest.starts_with(':')));
        let advice = missing.map_or_else(String::new, |name| {
            format!(
                "; it is linked to {name}: name the folder of that in LD_LIBRARY_PATH before the program starts, or put both into one \
                 folder and link the library with -Wl,-rpath,'$ORIGIN'"
            )
        });
        Error::not_found(format!("cannot load {}: {why}{advice}", path.display()))
    })?;
    let opened = Opened { handle, _stand_ins: stand_ins };
    let after = objects();
    let own = with_all_needed(&after, path);
    let is_own = own.first().is_some_and(|object| identity::is_mapped(file, path, object.addresses.start));
    // What the program itself needs stays when the library goes. All else could go with it.
    let stays = after.first().map(|program| with_all_needed(&after, program.path())).unwrap_or_default();
    let goes = |object: &&Object| !stays.iter().any(|other| std::ptr::eq(*other, *object));
    // Before anybody can use what it registers: tensors that its kernels make tell by this whose memory they have.
    note_addresses(own.into_iter().filter(goes).map(|object| object.addresses.clone()).collect(), &library);
    // Between reading and opening, another file may have come to be at the path.
    if !is_own {
        opened.discard(&library);
        return Err(refused(path, "another file took its place while it was loaded: load it again"));
    }
    Ok((opened, batch))
}
