//! Loading op libraries while the program runs.
//!
//! A library is a shared library that registers its ops and kernels when it is opened: one in Rust whose crate calls `library!()`, or
//! one in C against TensorFlow's `kernels.h` and `ops.h`. [`load_op_library`] reads its file before any code of it runs, opens it,
//! collects what it registers, and puts that into a registry as a whole, or not at all. Graphs, sessions and eager contexts that use
//! the registry have the ops at once.
//!
//! Libraries load on Linux. A library in C finds TensorFlow's functions under their names, which the first load of such a library makes known
//! to the whole process: a process that loads such libraries into Kernlink cannot load TensorFlow itself. Its functions run without
//! Kernlink between: where one writes outside of its memory or ends the process, nothing can catch it. A panic in a kernel of a library in
//! Rust is an error of the run, which the library makes of it.

#[cfg(target_os = "linux")]
mod exports;
#[cfg(target_os = "linux")]
mod file;
mod folder;
#[cfg(target_os = "linux")]
mod identity;
mod loads;
#[cfg(target_os = "linux")]
mod objects;
#[cfg(target_os = "linux")]
mod open;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod open;
#[cfg(target_os = "linux")]
mod search;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod written;

pub use folder::{Libraries, VARIABLE, load_libraries, load_libraries_from_env, load_library_dir, named_by_env};

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use kernlink_framework::kernel::KernelDef;
use kernlink_framework::op::OpDef;
use kernlink_framework::registry::Registry;
use kernlink_framework::{Error, Result};

use self::loads::{FileId, Reservation};
use crate::host::registration::{Registered, is_loading};

/// A library of ops and kernels that was loaded. It stays when this is dropped, until the program ends or [`OpLibrary::unload`]
/// succeeds.
#[derive(Clone)]
pub struct OpLibrary(Arc<Loaded>);

struct Loaded {
    path: PathBuf,
    file: FileId,
    registry: Weak<Registry>,
    registered: Registered,
    opened: open::Opened,
}

/// Loads a library of ops into a registry. A name without a folder that is not in the current one is looked for where the system
/// looks: `LD_LIBRARY_PATH`, the folders of the program, the system's own. A second time, whatever path leads to the file, it is the same library, and nothing is done.
///
/// A kernel for an op that is there already competes with the others: the higher priority is taken. A kernel for an op that is not
/// there waits for it, and one for a device that Kernlink does not have is never taken ([`OpLibrary::unused`]), as in TensorFlow.
///
/// # Errors
/// Nothing of the library is left behind by any of them.
/// - NOT_FOUND if the file is missing, is a folder, is no shared library or one for another machine, or asks for functions that
///   Kernlink does not have.
/// - FAILED_PRECONDITION if another file took its place while it was loaded, if it is written for another interface than this Kernlink's, is loaded for another registry, or is in the
///   process already without having been loaded here, and if TensorFlow itself is in the process and the library is one in C.
/// - INVALID_ARGUMENT if it is no library of ops, and what is wrong with an op or kernel of it.
/// - ALREADY_EXISTS if an op is there already, with both origins, or a kernel that would be taken for the same nodes.
/// - UNIMPLEMENTED on systems other than Linux.
pub fn load_op_library(path: impl AsRef<Path>, registry: &Arc<Registry>) -> Result<OpLibrary> {
    open::load(path.as_ref(), registry)
}

impl OpLibrary {
    /// The file, by its whole path.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Its ops, in the order in which it declared them.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = &'static OpDef> + '_ {
        self.0.registered.ops.iter().map(|entry| entry.def)
    }

    /// Its kernels, in the order in which it registered them.
    pub fn kernels(&self) -> &[&'static KernelDef] {
        &self.0.registered.kernels
    }

    /// Its kernels that no node could get when it was loaded, each with the reason.
    pub fn unused(&self) -> &[String] {
        &self.0.registered.unused
    }

    /// How many kernels of it exist, shape functions of it run, and tensors are in its memory.
    pub fn users(&self) -> usize {
        self.0.registered.library.users()
    }

    /// Takes its ops and kernels out of the registry, and its code out of memory; a library in Rust of which a kernel was made keeps its
    /// code there, as threads of it remain. Graphs that have its ops remain, and fail when
    /// they run.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if anything of it lives: a kernel that a session or an eager context made, a tensor in its memory, another
    /// library's kernel for an op of it. One with kernels that call back stays once such a kernel was made, since nobody knows when its
    /// threads have left its code. Nothing has changed then.
    pub fn unload(&self) -> Result<()> {
        if is_loading() {
            let message =
                format!("the library {} cannot be unloaded while this thread loads another", self.0.path.display());
            return Err(Error::failed_precondition(message));
        }
        let path = self.0.path.display();
        let (reservation, loaded) = Reservation::new(self.0.file)
            .map_err(|error| error.context(format!("the library {path} cannot be unloaded")))?;
        if loaded.as_ref() != Some(self) {
            return Err(Error::failed_precondition(format!("the library {path} was unloaded already")));
        }
        let registered = &self.0.registered;
        registered.library.close()?;
        if let Err(error) = registered.withdraw(self.0.registry.upgrade().as_deref()) {
            registered.library.reopen();
            return Err(error.context(format!("the library {path} cannot be unloaded")));
        }
        self.0.opened.close(&registered.library);
        reservation.unloaded();
        Ok(())
    }
}

impl PartialEq for OpLibrary {
    fn eq(&self, other: &OpLibrary) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OpLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops: Vec<_> = self.ops().map(|op| &op.name).collect();
        f.debug_struct("OpLibrary").field("path", &self.0.path).field("ops", &ops).finish_non_exhaustive()
    }
}
