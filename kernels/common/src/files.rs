//! Names of files, as graphs hold them.

use std::path::PathBuf;

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::{bail, ensure};

/// The most bytes of a name that a system takes: no longer one is copied.
pub const LONGEST_NAME: usize = if cfg!(unix) { 4096 } else { 96 << 10 };

/// The name of a file, which a graph holds as bytes. `file://` before it changes nothing.
///
/// # Errors
/// INVALID_ARGUMENT if it is longer than any, UNIMPLEMENTED for the scheme of another file system.
pub fn path_of(name: &TString) -> Result<PathBuf> {
    let bytes = name.as_bytes();
    let bytes = bytes.strip_prefix(b"file://").unwrap_or(bytes);
    if let Some((scheme, _)) = std::str::from_utf8(bytes).ok().and_then(|text| text.split_once("://")) {
        bail!(Unimplemented, "File system scheme '{scheme}' not implemented (file: '{}')", name.display());
    }
    ensure!(
        bytes.len() <= LONGEST_NAME,
        InvalidArgument,
        "{}; File name too long: {} bytes, and the system takes {LONGEST_NAME} at most",
        name.display(),
        bytes.len()
    );
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(bytes).into())
    }
    #[cfg(not(unix))]
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(_) => bail!(InvalidArgument, "a file name must be UTF-8, and `{}` is not", bytes.escape_ascii()),
    }
}

/// A pattern for the names of files; `None` if it is longer than any name.
///
/// # Errors
/// As [`path_of`].
pub fn pattern_of(pattern: &TString) -> Result<Option<String>> {
    if pattern.len() > LONGEST_NAME {
        return Ok(None);
    }
    Ok(Some(path_of(pattern)?.to_string_lossy().into_owned()))
}
