//! Loading all libraries of a folder, or those that the environment names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernlink_framework::registry::Registry;
use kernlink_framework::{Error, Result};

use super::{OpLibrary, load_op_library, open};

/// The environment's variable that names libraries: files and folders, with colons between.
pub const VARIABLE: &str = "KERNLINK_LIBRARIES";

/// What was loaded, and what was not.
#[derive(Debug, Default)]
pub struct Libraries {
    /// The libraries, in the order in which they were loaded.
    pub loaded: Vec<OpLibrary>,
    /// The files of folders that were passed over, each with the reason.
    pub skipped: Vec<(PathBuf, Error)>,
}

/// Loads the libraries of a folder, in the order of their names: the files that are called `libtfkernel*.so`, as TensorFlow's
/// `LoadDynamicKernels` does, and the other `lib*.so` that say that they are op libraries in Rust. One that cannot be loaded is passed over.
///
/// # Errors
/// Those of the system if the folder cannot be read.
pub fn load_library_dir(folder: impl AsRef<Path>, registry: &Arc<Registry>) -> Result<Libraries> {
    let mut libraries = Libraries::default();
    add_folder(folder.as_ref(), registry, &mut libraries)?;
    Ok(libraries)
}

/// Loads libraries: files, and folders as by [`load_library_dir`].
///
/// # Errors
/// Those of [`load_op_library`] for the first file that cannot be loaded, and of [`load_library_dir`]. What was loaded before stays.
pub fn load_libraries(
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
    registry: &Arc<Registry>,
) -> Result<Libraries> {
    let mut libraries = Libraries::default();
    for path in paths {
        match path.as_ref().is_dir() {
            true => add_folder(path.as_ref(), registry, &mut libraries)?,
            false => libraries.loaded.push(load_op_library(path, registry)?),
        }
    }
    Ok(libraries)
}

/// Loads the libraries that the environment's variable `KERNLINK_LIBRARIES` names, if it is set: files and folders, with colons
/// between.
///
/// # Errors
/// As [`load_libraries`], and the error names the variable.
pub fn load_libraries_from_env(registry: &Arc<Registry>) -> Result<Libraries> {
    load_libraries(named_by_env(), registry).map_err(|error| error.context(VARIABLE))
}

/// The files and folders that the environment's variable `KERNLINK_LIBRARIES` names.
pub fn named_by_env() -> Vec<PathBuf> {
    let named = std::env::var_os(VARIABLE).unwrap_or_default();
    std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect()
}

fn add_folder(folder: &Path, registry: &Arc<Registry>, libraries: &mut Libraries) -> Result<()> {
    let cannot = |error: std::io::Error| Error::from_io(format!("cannot read {}", folder.display()), &error);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in folder.read_dir().map_err(cannot)? {
        files.push(entry.map_err(cannot)?.path());
    }
    files.sort();
    for file in files {
        if file.is_file() && is_meant(&file) {
            match load_op_library(&file, registry) {
                Ok(library) => libraries.loaded.push(library),
                Err(error) => libraries.skipped.push((file, error)),
            }
        }
    }
    Ok(())
}

fn is_meant(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    match name.strip_suffix(".so").and_then(|name| name.strip_prefix("lib")) {
        Some(name) => name.starts_with("tfkernel") || open::is_op_library(file),
        None => false,
    }
}
