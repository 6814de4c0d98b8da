//! Folders of checkpoints: which is the latest, and which are kept.

use std::path::{Path, PathBuf};

use super::glob::matching_files;
use super::install::shards;
use super::names::{data_name, index_name, make_folder_of, remove_if_there};
use super::reader::CheckpointReader;
use super::state::{State, place};
use crate::error::{Error, Result, shortened};

/// A folder in which a training run saves checkpoints `NAME-STEP`, of which the last few are kept.
///
/// The file `checkpoint` in it lists them, as TensorFlow's `Saver` and `CheckpointManager` have it.
pub struct CheckpointFolder {
    folder: PathBuf,
    name: String,
    keep: usize,
}

impl CheckpointFolder {
    /// A folder, which is made when the first checkpoint is saved. The last five checkpoints are kept.
    pub fn new(folder: impl AsRef<Path>, name: impl Into<String>) -> CheckpointFolder {
        CheckpointFolder { folder: folder.as_ref().to_owned(), name: name.into(), keep: 5 }
    }

    /// Sets how many checkpoints are kept; 0 keeps all.
    pub fn keep(mut self, count: usize) -> CheckpointFolder {
        self.keep = count;
        self
    }

    /// Saves a checkpoint: `write` writes one with the prefix that it is given. Then the list is brought up to date, and
    /// the oldest checkpoints beyond those to keep are removed. Returns the prefix.
    ///
    /// # Errors
    /// Those of `write`; [`Error::from_io`]'s if the list cannot be written or an old checkpoint cannot be removed.
    pub fn save(&self, step: u64, write: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let name = format!("{}-{step}", self.name);
        let prefix = self.folder.join(&name);
        let _folder = make_folder_of(&prefix)?;
        write(&prefix)?;
        let mut names = checkpoints(&self.folder)?;
        names.retain(|other| *other != name);
        names.push(name);
        let surplus = if self.keep == 0 { 0 } else { names.len().saturating_sub(self.keep) };
        let old: Vec<String> = names.drain(..surplus).collect();
        State::write(&self.folder, &names)?;
        for name in old {
            remove_checkpoint(&self.folder.join(name))?;
        }
        Ok(prefix)
    }

    /// The prefixes of the checkpoints, oldest first.
    ///
    /// # Errors
    /// As [`latest_checkpoint`].
    pub fn checkpoints(&self) -> Result<Vec<PathBuf>> {
        Ok(checkpoints(&self.folder)?.into_iter().map(|name| self.folder.join(name)).collect())
    }
}

/// The prefix of the latest checkpoint in a folder, by the list that TensorFlow writes there; `None` if there is no list.
///
/// A list leads to its own folder and those in it. It may hold the full names of files on the machine that wrote it: of
/// what lies elsewhere only the last part of the name counts, and [`latest_checkpoint_with_note`] says so.
///
/// # Errors
/// DATA_LOSS if the list is malformed or names no checkpoint; NOT_FOUND if it names one elsewhere and the folder has none
/// of the same name; INVALID_ARGUMENT if it is a pipe or a device; [`Error::from_io`]'s if it cannot be read.
pub fn latest_checkpoint(folder: impl AsRef<Path>) -> Result<Option<PathBuf>> {
    Ok(latest_checkpoint_with_note(folder)?.map(|(prefix, _)| prefix))
}

/// [`latest_checkpoint`], with a note for people if the list names another folder than that of the prefix.
///
/// # Errors
/// As [`latest_checkpoint`].
pub fn latest_checkpoint_with_note(folder: impl AsRef<Path>) -> Result<Option<(PathBuf, Option<String>)>> {
    let folder = folder.as_ref();
    let Some(state) = State::read(folder)? else { return Ok(None) };
    let list = State::path(folder);
    let Some(listed) = state.latest else {
        let message = "it names no latest checkpoint: expected a line model_checkpoint_path: \"NAME\"";
        return Err(Error::data_loss(format!("{}: {message}", list.display())));
    };
    let place = place(folder, &listed)?;
    let prefix = folder.join(place.name);
    if !place.is_elsewhere {
        return Ok(Some((prefix, None)));
    }
    let note = format!(
        "{}: it names `{}`, which lies elsewhere, and a list leads to no other folder than its own",
        list.display(),
        shortened(&listed)
    );
    let has_older_format = || matching_files(prefix.to_str().unwrap_or_default()).is_ok_and(|files| !files.is_empty());
    if !CheckpointReader::exists(&prefix) && !has_older_format() {
        let message = format!("{note}; there is no {}: give the checkpoint that is meant", prefix.display());
        return Err(Error::not_found(message));
    }
    let note = format!("{note}: taking {}", prefix.display());
    Ok(Some((prefix, Some(note))))
}

fn checkpoints(folder: &Path) -> Result<Vec<String>> {
    let state = State::read(folder)?.unwrap_or_default();
    state.all.iter().map(|listed| Ok(place(folder, listed)?.name)).collect()
}

fn remove_checkpoint(prefix: &Path) -> Result<()> {
    if !CheckpointReader::exists(prefix) {
        return Ok(());
    }
    let index = index_name(prefix);
    let shards = shards(&index).unwrap_or(0);
    // Without its index it is none.
    remove_if_there(&index)?;
    (0..shards).try_for_each(|shard| remove_if_there(&data_name(prefix, shard, shards)))
}
