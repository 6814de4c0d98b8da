//! Libraries of ops over the registry of the program.

use std::path::Path;

use crate::Result;

pub use kernlink_library::load::{Libraries, OpLibrary};

/// Loads a library of ops, which all graphs, sessions and eager contexts over [`registry`](crate::registry()) have at once:
///
/// ```no_run
/// # fn main() -> kernlink::Result<()> {
/// let library = kernlink::load_op_library("target/release/libcustom_ops.so")?;
/// for op in library.ops() {
///     println!("{}", op.name);
/// }
/// # Ok(())
/// # }
/// ```
///
/// It is a crate of ops that calls `library!()` and is built as a `cdylib`, or a library in C against TensorFlow's `kernels.h` and
/// `ops.h`. Its file is checked before any of its code runs, and what it registers is taken as a whole or not at all. A second time it
/// is the same library, and nothing is done.
///
/// Its kernels are chosen as all others are: one for an op of Kernlink's with a higher priority replaces Kernlink's own.
///
/// # Errors
/// Those of [`kernlink_library::load::load_op_library`]: NOT_FOUND for what is no shared library that this machine can load,
/// ALREADY_EXISTS for an op that is there already, and others; and those of [`registry`](crate::registry()).
pub fn load_op_library(path: impl AsRef<Path>) -> Result<OpLibrary> {
    kernlink_library::load::load_op_library(path, &crate::registry()?)
}

/// Loads the libraries of a folder: the files that are called `libtfkernel*.so`, as TensorFlow does, and the other `lib*.so` that say
/// that they are op libraries in Rust. Those that cannot be loaded are passed over, with the reason.
///
/// # Errors
/// Those of the system if the folder cannot be read, and those of [`registry`](crate::registry()).
pub fn load_library_dir(folder: impl AsRef<Path>) -> Result<Libraries> {
    kernlink_library::load::load_library_dir(folder, &crate::registry()?)
}

/// Loads the libraries that the environment's variable `KERNLINK_LIBRARIES` names: files and folders, with colons between. The
/// command does so; a program that is to do it calls this.
///
/// # Errors
/// Those of [`load_op_library`] and [`load_library_dir`].
pub fn load_libraries_from_env() -> Result<Libraries> {
    kernlink_library::load::load_libraries_from_env(&crate::registry()?)
}
