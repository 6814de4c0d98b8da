//! What the command writes: to standard output, to standard error, and to files, whole or not at all.

use std::fs;
use std::io::{BufWriter, ErrorKind, Write as _};
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Code, Error, Result, escaped};
use crate::tensor::Tensor;

/// A text for people, with control characters in names as escapes.
fn readable(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Prints a text for people to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(readable(text).as_bytes())
}

/// Prints a document to standard output, as it is. A reader that has gone, such as `head`, ends the program in silence.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Error::from_io("cannot print", &error)),
    }
}

/// Prints a text for people of which the exit status is a part: a reader that has gone does not change it.
pub(crate) fn print_verdict(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(readable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::from_io("cannot print", &error)),
        _ => Ok(()),
    }
}

/// Tells people something besides what is asked for, on standard error. Where nobody can be told, nothing is.
pub(crate) fn tell(text: &str) {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut to = std::io::stderr();
    if std::mem::take(&mut line.is_shown) {
        let _ = write!(to, "\r\x1b[K");
    }
    let _ = writeln!(to, "{}", readable(text));
}

/// Shows a line that the next one takes the place of, or anything that is told; an empty one shows nothing. For standard
/// errors that are terminals.
pub(crate) fn show(text: &str) {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if line.is_over {
        return;
    }
    line.is_shown = !text.is_empty();
    let mut to = std::io::stderr();
    let _ = write!(to, "\r{text}\x1b[K").and_then(|()| to.flush());
}

/// Shows no more lines, because the program ends.
pub(crate) fn end_lines() {
    LINE.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
}

/// The last line of standard error.
static LINE: Mutex<Line> = Mutex::new(Line { is_shown: false, is_over: false });

struct Line {
    /// Whether it is one that [`show`] has written.
    is_shown: bool,
    /// Whether [`end_lines`] was called.
    is_over: bool,
}

/// What a program has open already, by name.
const STREAMS: [&str; 5] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];

/// So many links are followed from one to the next.
const MAX_LINKS: usize = 32;

/// Where a file is, or will be, whatever the ways to it: also where a link leads to which nothing is.
fn place(file: &Path) -> PathBuf {
    let mut file = file.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(to) = fs::read_link(&file) else { break };
        file = folder(&file).join(to);
    }
    let beside = || Some(fs::canonicalize(folder(&file)).ok()?.join(file.file_name()?));
    fs::canonicalize(&file).ok().or_else(beside).unwrap_or_else(|| file.clone())
}

/// Whether a path has no file's name at its end.
pub(crate) fn ends_as_folder(path: &Path) -> bool {
    path.file_name().is_none()
        || path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| std::path::is_separator(byte.into()))
}

/// Reports errors of [`write`] that can be foreseen, so that nothing is computed in vain. `flag` asked for the file.
pub(crate) fn check(flag: &str, file: &Path) -> Result<()> {
    let refuse = |code, why: &str| Err(Error::new(code, format!("{flag}: cannot write {}: {why}", file.display())));
    match folder(file) {
        _ if STREAMS.iter().any(|stream| file.starts_with(stream)) => {
            refuse(Code::InvalidArgument, "standard output has the report, and what it is redirected to would be lost")
        }
        _ if file.as_os_str() == "-" => {
            refuse(Code::InvalidArgument, "standard output has the report; a file of this name is ./-")
        }
        _ if file.is_dir() => refuse(Code::FailedPrecondition, "it is a folder"),
        // Nothing would be said while the write waits for a reader.
        #[cfg(unix)]
        _ if file.metadata().is_ok_and(|old| {
            let kind = old.file_type();
            kind.is_fifo() || kind.is_socket()
        }) =>
        {
            refuse(Code::InvalidArgument, "it is a pipe or a socket; write a file, and give that to who reads")
        }
        _ if ends_as_folder(file) => refuse(Code::FailedPrecondition, "it ends as the name of a folder"),
        _ if place(file).is_symlink() => refuse(Code::FailedPrecondition, "it is a link that leads back to itself"),
        _ if file.metadata().is_ok_and(|old| old.is_file() && old.permissions().readonly()) => {
            refuse(Code::PermissionDenied, "it is read-only")
        }
        folder if !folder.exists() => refuse(Code::NotFound, "its folder does not exist"),
        folder if !folder.is_dir() => refuse(Code::FailedPrecondition, "what should be its folder is a file"),
        _ => Ok(()),
    }
}

/// Refuses to write what would be lost or lose something else: several files of one name, or the model that is read.
pub(crate) fn check_distinct(files: &[(&str, &Path)], model: &Path) -> Result<()> {
    let model = place(model);
    for (index, &(flag, file)) in files.iter().enumerate() {
        let at = place(file);
        // A file of a SavedModel's folder is part of the model; a new one there is none.
        if at == model || (at.starts_with(&model) && at.exists()) {
            let message = format!("{flag}: {} is part of the model: give another name", file.display());
            return Err(Error::invalid_argument(message));
        }
        if let Some((other, _)) = files[..index].iter().find(|(_, other)| place(other) == at) {
            let message = format!("{flag}: {} is the file of {other} too: give another name", file.display());
            return Err(Error::invalid_argument(message));
        }
    }
    Ok(())
}

/// Writes a file. What is no regular file, such as a device, is written as it is; else see [`replace`].
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    write_by(file, |to| to.write_all(bytes))
}

/// Writes a tensor as `.npy`, as [`write`] writes bytes.
pub(crate) fn write_array(file: &Path, tensor: &Tensor) -> Result<()> {
    let array = crate::npy::Array::of(tensor)?;
    write_by(file, |to| array.write_to(&mut BufWriter::new(to)))
}

fn write_by(file: &Path, put: impl FnOnce(&mut fs::File) -> std::io::Result<()>) -> Result<()> {
    let at = place(file);
    match fs::metadata(&at) {
        Ok(old) if !old.is_file() => fs::File::create(&at).and_then(|mut to| put(&mut to)),
        old => replace_by(&at, old.ok().map(|old| old.permissions()), put),
    }
    .map_err(|error| cannot_write(file, &error))
}

/// Puts a new file in the place of one that may be there: a reader finds the old one or the new one whole, and what is
/// mapped of the old one stays. It has the permissions of the old one.
pub(crate) fn replace(file: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> Result<()> {
    replace_by(file, permissions, |to| to.write_all(bytes)).map_err(|error| cannot_write(file, &error))
}

fn replace_by(
    file: &Path,
    permissions: Option<fs::Permissions>,
    put: impl FnOnce(&mut fs::File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kernlink-");
    // A file that is not there yet gets what the umask leaves of these; one that is, only those of its owner at first.
    #[cfg(unix)]
    if permissions.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut new = builder.tempfile_in(folder(file))?;
    put(new.as_file_mut())?;
    permissions.map_or(Ok(()), |permissions| new.as_file().set_permissions(permissions))?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

/// The folder that a file is in.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Error {
    Error::from_io(format!("cannot write {}", file.display()), error)
}
