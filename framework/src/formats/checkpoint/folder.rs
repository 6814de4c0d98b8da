//! Folders of checkpoints: which is the latest, and which are kept.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use super::install::shards;
use super::names::{NewFile, data_name, index_name, make_folder_of, remove_if_there};
use super::reader::CheckpointReader;
use crate::error::{Error, Result};

/// The file that lists a folder's checkpoints.
const STATE_FILE: &str = "checkpoint";

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
        make_folder_of(&prefix)?;
        write(&prefix)?;
        let mut names = checkpoints(&self.folder)?;
        names.retain(|other| *other != name);
        names.push(name);
        let surplus = if self.keep == 0 { 0 } else { names.len().saturating_sub(self.keep) };
        let old: Vec<String> = names.drain(..surplus).collect();
        self.write_list(&names)?;
        for name in old {
            remove_checkpoint(&self.folder.join(name))?;
        }
        Ok(prefix)
    }

    fn write_list(&self, names: &[String]) -> Result<()> {
        let mut text = String::new();
        if let Some(last) = names.last() {
            let _ = writeln!(text, "model_checkpoint_path: {}", quoted(last));
        }
        for name in names {
            let _ = writeln!(text, "all_model_checkpoint_paths: {}", quoted(name));
        }
        let mut file = NewFile::create(self.folder.join(STATE_FILE))?;
        file.write(text.as_bytes())?;
        file.rename()
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
/// A list may hold the full names of files on the machine that wrote it: only their last part counts, so that a list never
/// leads out of its folder.
///
/// # Errors
/// DATA_LOSS if the list is malformed; [`Error::from_io`]'s if it cannot be read.
pub fn latest_checkpoint(folder: impl AsRef<Path>) -> Result<Option<PathBuf>> {
    let folder = folder.as_ref();
    let Some(text) = read_list(folder)? else { return Ok(None) };
    let latest = values(&text, "model_checkpoint_path")?.pop();
    latest.map(|path| Ok(folder.join(last_part(&path)?))).transpose()
}

fn read_list(folder: &Path) -> Result<Option<String>> {
    let path = folder.join(STATE_FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(Error::data_loss(format!("{} is no list of checkpoints", path.display())))
        }
        Err(error) => Err(Error::from_io(format!("cannot read {}", path.display()), &error)),
    }
}

fn checkpoints(folder: &Path) -> Result<Vec<String>> {
    let Some(text) = read_list(folder)? else { return Ok(Vec::new()) };
    values(&text, "all_model_checkpoint_paths")?.iter().map(|path| last_part(path)).collect()
}

fn last_part(path: &str) -> Result<String> {
    match Path::new(path).components().next_back() {
        Some(Component::Normal(name)) => Ok(name.to_string_lossy().into_owned()),
        _ => Err(Error::data_loss(format!("`{path}` names no checkpoint"))),
    }
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

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The values of a field in a list, which is protobuf text with a field a line.
fn values(text: &str, field: &str) -> Result<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(field)?.trim_start().strip_prefix(':'));
    lines
        .map(|value| unquoted(value.trim()).ok_or_else(|| Error::data_loss(format!("{field}: {value} is no string"))))
        .collect()
}

fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            first @ b'0'..=b'7' => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|digit| matches!(digit, b'0'..=b'7')) else { break };
                    value = value * 8 + u32::from(digit - b'0');
                }
                bytes.push(u8::try_from(value).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let text = "model_checkpoint_path: \"/elsewhere/a\\\"b-2\"\nall_model_checkpoint_paths: \"x\\303\\244-1\"\n\
                    all_model_checkpoint_paths: 'b-2'\nall_model_checkpoint_timestamps: 1.5\n";
        assert_eq!(values(text, "model_checkpoint_path").unwrap(), ["/elsewhere/a\"b-2"]);
        assert_eq!(values(text, "all_model_checkpoint_paths").unwrap(), ["xä-1", "b-2"]);
        assert_eq!(last_part("/elsewhere/b-2").unwrap(), "b-2");
        for path in ["..", "/", "a/.."] {
            assert!(last_part(path).is_err(), "{path}");
        }
        assert!(values("model_checkpoint_path: x", "model_checkpoint_path").is_err());
        assert_eq!(unquoted(&quoted("a\"\\\nb")).unwrap(), "a\"\\\nb");
    }
}
