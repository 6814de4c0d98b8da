//! Which checkpoint a path means.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::formats::{CheckpointReader, latest_checkpoint_with_note};

/// The prefix of a checkpoint, given as a prefix, one of its files, or a folder of checkpoints; and what is to be told of how it was
/// found.
///
/// # Errors
/// NOT_FOUND if a folder does not say which checkpoint is its latest; those of reading its file `checkpoint`.
pub fn checkpoint_prefix(path: &Path) -> Result<(PathBuf, Option<String>)> {
    if CheckpointReader::exists(path) {
        return Ok((path.to_owned(), None));
    }
    if path.is_dir() {
        let none = || {
            let message = format!(
                "{} has no file `checkpoint` that says which checkpoint is the latest: give what stands before `.index`",
                path.display()
            );
            Error::not_found(message)
        };
        return latest_checkpoint_with_note(path)?.ok_or_else(none);
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let cut = [".index", ".meta", ".data-"].iter().find_map(|part| {
        let (before, after) = name.rsplit_once(part)?;
        let fits = after.is_empty() || (*part == ".data-" && after.split_once("-of-").is_some());
        Some(path.with_file_name(before)).filter(|prefix| fits && CheckpointReader::exists(prefix))
    });
    Ok((cut.unwrap_or_else(|| path.to_owned()), None))
}
