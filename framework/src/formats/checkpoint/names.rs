//! The names of a checkpoint's files, which each file gets when it is complete.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The name of a checkpoint's index.
pub(super) fn index_name(prefix: &Path) -> PathBuf {
    with_suffix(prefix, ".index")
}

/// The name of one of a checkpoint's data files.
pub(super) fn data_name(prefix: &Path, shard: usize, shards: usize) -> PathBuf {
    with_suffix(prefix, &format!(".data-{shard:05}-of-{shards:05}"))
}

/// The suffix of temporary files, after a number. TensorFlow's temporary files end in the number alone, so that nobody can
/// tell whether one of them is still being written: they are left alone.
const UNFINISHED: &str = ".kernlink";

/// The temporary name of a file.
fn temporary_name(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let number = now ^ (u64::from(std::process::id()) << 40) ^ COUNT.fetch_add(1, Ordering::Relaxed);
    with_suffix(path, &format!(".tempstate{number}{UNFINISHED}"))
}

pub(super) fn cannot<'p>(what: &'p str, path: &'p Path) -> impl Fn(std::io::Error) -> Error + use<'p> {
    move |error| Error::from_io(format!("cannot {what} {}", path.display()), &error)
}

/// A folder that is made for files: it goes with this if it has none by then, as what was to be written failed.
#[must_use]
pub(super) struct NewFolder(Option<PathBuf>);

/// Creates the parent folder of a file, but not the parent's parent.
pub(super) fn make_folder_of(path: &Path) -> Result<NewFolder> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(NewFolder(None));
    };
    match std::fs::create_dir(folder) {
        Ok(()) => Ok(NewFolder(Some(folder.to_owned()))),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(NewFolder(None)),
        Err(error) => Err(cannot("make", folder)(error)),
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            // It refuses folders that hold something.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// A file that is written under a temporary name and renamed when it is complete.
///
/// It is locked while it has the temporary name; a temporary file without a lock was left by a process that died.
pub(super) struct NewFile {
    temporary: PathBuf,
    path: PathBuf,
    file: Option<BufWriter<File>>,
    /// The file once it is written, for its lock.
    written: Option<File>,
}

/// Creates a file, locked so that no other process takes it for a left-over (if the file system has locks).
fn create_locked(path: &Path) -> std::io::Result<(PathBuf, File)> {
    loop {
        let temporary = temporary_name(path);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        // Between these two it may be taken for left over, and be removed.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !temporary.exists() {
            continue;
        }
        return Ok((temporary, file));
    }
}

/// Removes temporary files beside `path` that were left by processes that died.
pub(super) fn remove_left_overs(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(UNFINISHED)?.rsplit_once(".tempstate"));
        let is_ours = number.is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_ours || !file.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(open) = OpenOptions::new().write(true).open(file.path())
            && open.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Syncs the folder of `path`, so that renames in it are on the disk. Systems that cannot open folders do so by themselves.
pub(super) fn sync_folder_of(path: &Path) {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

impl NewFile {
    pub(super) fn create(path: PathBuf) -> Result<NewFile> {
        let (temporary, file) = create_locked(&path).map_err(cannot("write", &path))?;
        Ok(NewFile { file: Some(BufWriter::with_capacity(1 << 20, file)), temporary, path, written: None })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(file) = &mut self.file else { return Err(Error::internal("the file is closed")) };
        file.write_all(bytes).map_err(cannot("write", &self.path))
    }

    /// Writes what is buffered, and waits until the disk has it, still under its temporary name.
    pub(super) fn close(&mut self) -> Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let file = file.into_inner().map_err(|error| cannot("write", &self.path)(error.into_error()))?;
        file.sync_all().map_err(cannot("write", &self.path))?;
        self.written = Some(file);
        Ok(())
    }

    /// The file's temporary name.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Renames the file to its final name, replacing any file of that name.
    pub(super) fn rename(mut self) -> Result<()> {
        self.close()?;
        std::fs::rename(&self.temporary, &self.path).map_err(cannot("write", &self.path))?;
        self.temporary = PathBuf::new();
        sync_folder_of(&self.path);
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // First the name, then the lock.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Removes a file that may not exist.
pub(super) fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot("replace", path)(error)),
        _ => Ok(()),
    }
}

/// Hard-links a file to a second name; without hard links renames it. Returns whether it has both names.
pub(super) fn link(from: &Path, to: &Path) -> Result<bool> {
    if from == to {
        return Ok(true);
    }
    // In one step, so that `to` always is a file.
    let between = temporary_name(to);
    let linked = std::fs::hard_link(from, &between).is_ok();
    let source = if linked { &between } else { from };
    std::fs::rename(source, to).map_err(cannot("write", to))?;
    if linked {
        // Renaming does nothing where both names are of one file already.
        let _ = std::fs::remove_file(&between);
    }
    Ok(linked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_leave_goes_and_what_the_living_write_stays() {
        let folder = std::env::temp_dir().join(format!("kernlink-left-overs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let left = folder.join("model-1.index.tempstate17.kernlink");
        let others = ["model.index.tempstate17", "model.index.tempstatex.kernlink", "a.kernlink"];
        std::fs::write(&left, "x").unwrap();
        others.iter().for_each(|name| std::fs::write(folder.join(name), "x").unwrap());
        let mut writing = NewFile::create(folder.join("model.index")).unwrap();
        writing.write(b"x").unwrap();
        let mut written = NewFile::create(folder.join("model.index")).unwrap();
        written.close().unwrap();
        remove_left_overs(&folder.join("model"));
        assert!(!left.exists());
        assert!(others.iter().all(|name| folder.join(name).exists()));
        assert!(writing.temporary().exists() && written.temporary().exists());
        writing.rename().unwrap();
        drop(written);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), others.len() + 1);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
