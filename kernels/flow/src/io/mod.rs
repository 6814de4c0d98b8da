//! Checkpoints and files.

mod checkpoint;
mod file;
mod first;
mod remap;

use std::path::PathBuf;

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::formats::{TensorSlice, parse_shape_and_slice};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// The most bytes of a name that a system takes: no longer one is copied.
const LONGEST_NAME: usize = if cfg!(unix) { 4096 } else { 96 << 10 };

/// The name of a file, which a graph holds as bytes. `file://` before it changes nothing.
fn path_of(name: &TString) -> Result<PathBuf> {
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
fn pattern_of(pattern: &TString) -> Result<Option<String>> {
    if pattern.len() > LONGEST_NAME {
        return Ok(None);
    }
    Ok(Some(path_of(pattern)?.to_string_lossy().into_owned()))
}

/// The one element of a tensor of strings.
fn single<'t>(tensor: &'t Tensor, what: &str) -> Result<&'t TString> {
    match tensor.as_slice::<TString>()? {
        [text] => Ok(text),
        texts => bail!(InvalidArgument, "{what} should have a single element, got {} instead.", texts.len()),
    }
}

/// Which part of a tensor is meant: the whole tensor's shape and the part, or nothing for all of it.
fn part(text: &TString) -> Result<Option<(Shape, TensorSlice, Shape)>> {
    if text.is_empty() {
        return Ok(None);
    }
    match std::str::from_utf8(text) {
        Ok(text) => parse_shape_and_slice(text).map(Some),
        Err(_) => bail!(InvalidArgument, "a shape_and_slice must be UTF-8, and `{}` is not", text.display()),
    }
}

/// The part of a larger tensor that a tensor to save is: the shape of that one, and the range.
fn part_to_save(text: &TString, tensor: &Tensor) -> Result<Option<(Shape, TensorSlice)>> {
    let Some((shape, slice, size)) = part(text)? else { return Ok(None) };
    ensure!(
        size == *tensor.shape(),
        InvalidArgument,
        "Slice in shape_and_slice specification does not match the shape of the tensor to save: {}, tensor: {}",
        text.display(),
        tensor.shape()
    );
    Ok(Some((shape, slice)))
}
