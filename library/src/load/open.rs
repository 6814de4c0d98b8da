//! Opening a library whose file was read, and taking what it registers.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use kernlink_framework::kernel::Location;
use kernlink_framework::registry::Registry;
use kernlink_framework::{Error, Result};

use super::file::Language;
use super::system::{self, Handle};
use super::{Loaded, OpLibrary, exports, file, libraries};
use crate::host::LibraryInUse;
use crate::host::in_use::{forget_addresses, note_addresses};
use crate::host::registration::{collect_of, is_loading};

/// A library that the system has opened.
pub(super) struct Opened(Handle);

impl Opened {
    /// Takes it out of memory, unless something else in the process holds it.
    pub(super) fn close(&self, library: &Arc<LibraryInUse>) {
        forget_addresses(library);
        self.0.close();
    }
}

pub(super) use file::is_op_library;

pub(super) fn load(given: &Path, registry: &Arc<Registry>) -> Result<OpLibrary> {
    let refused = |why: &str| Error::failed_precondition(format!("cannot load {}: {why}", given.display()));
    if is_loading() {
        return Err(refused("a library is being loaded by this thread; one library cannot load another meanwhile"));
    }
    let (path, metadata) = file::find(given)?;
    let id = (metadata.dev(), metadata.ino());
    let mut libraries = libraries();
    if let Some(library) = libraries.iter().find(|library| library.0.file == id) {
        return match std::ptr::eq(library.0.registry.as_ptr(), Arc::as_ptr(registry)) {
            true => Ok(library.clone()),
            false => Err(refused("it is loaded for another registry: unload it there first")),
        };
    }
    let read = file::read(&path)?;
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| refused("its path has a zero in it"))?;
    if system::is_open(&name) {
        return Err(refused(
            "its code is in the process already, so that it would not register again: the program is linked to it, something else \
             loaded it, or threads of it are still there after it was unloaded. A copy of the file under another name can be loaded",
        ));
    }
    let host = exports::provide(&path, &read.needed, read.language == Language::C)?;
    let origin = Location::library(path.display().to_string().leak());
    let (opened, batch) = {
        let _open = host.admit();
        collect_of(origin, || Handle::open(&name, system::LOCAL))
    };
    let handle = opened.map_err(|why| Error::not_found(format!("cannot load {}: {why}", path.display())))?;
    // Before anybody can use what it registers: tensors that its kernels make tell by this whose memory they have.
    let in_use = batch.library().clone();
    note_addresses(handle.addresses(read.addresses), &in_use);
    let registered = match batch.is_empty() {
        true => Err(Error::invalid_argument(
            "it registered nothing: what registers its ops must run when it is opened, as a constructor does",
        )),
        false => batch.commit(registry),
    };
    let registered = registered.map_err(|error| {
        forget_addresses(&in_use);
        handle.close();
        error.context(format!("cannot load {}", path.display()))
    })?;
    let registry = Arc::downgrade(registry);
    let library = OpLibrary(Arc::new(Loaded { path, file: id, registry, registered, opened: Opened(handle) }));
    libraries.push(library.clone());
    Ok(library)
}
