//! A folder of files that this program wrote, written again: nobody else's file is touched.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};

/// Lists the files that were written, so that the next run knows its own.
const LIST: &str = ".kernlink-ops";
const LIST_HEAD: &str = "Written by `kernlink ops --format html`, which writes these files again and removes those \
                         that it no longer needs:";

/// Writes files, and removes those of an earlier run that are no longer among them. Files that are as they should be
/// are left alone.
///
/// # Errors
/// ALREADY_EXISTS, before anything is written, if a file has a name that is needed and is not from an earlier run.
pub(super) fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    let failed = |what: &str, path: &Path, error: &std::io::Error| {
        Error::from_io(format!("cannot {what} {}", path.display()), error)
    };
    fs::create_dir_all(folder).map_err(|error| failed("make the folder", folder, &error))?;
    let list = folder.join(LIST);
    let earlier = match fs::read_to_string(&list) {
        Ok(text) => Some(own_files(&text, &list)?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", &list, &error)),
    };
    let earlier = earlier.unwrap_or_default();
    for (name, _) in files {
        let path = folder.join(name);
        if !earlier.contains(name) && fs::symlink_metadata(&path).is_ok() {
            return Err(Error::already_exists(format!(
                "{} is there and was not written by an earlier run: give a folder of its own with --output, or remove \
                 the file",
                path.display()
            )));
        }
    }
    let names: BTreeSet<String> = files.iter().map(|(name, _)| name.clone()).collect();
    // A run that is interrupted leaves a list of all that may be there.
    put(folder, LIST, &list_of(names.union(&earlier)))?;
    for (name, text) in files {
        put(folder, name, text)?;
    }
    for name in earlier.difference(&names) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("remove", &path, &error)),
            _ => {}
        }
    }
    put(folder, LIST, &list_of(names.iter()))
}

fn list_of<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.fold(format!("{LIST_HEAD}\n"), |text, name| text + name + "\n")
}

/// The names in a list. It might have been changed: no name leads out of the folder.
fn own_files(text: &str, list: &Path) -> Result<BTreeSet<String>> {
    let fault = |what: &str| {
        Err(Error::already_exists(format!("{} {what}: give another folder with --output", list.display())))
    };
    let mut lines = text.lines();
    if lines.next() != Some(LIST_HEAD) {
        return fault("is no list of a catalogue's files");
    }
    let plain = |name: &str| {
        [".html", ".css"].iter().any(|end| name.ends_with(end))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    match lines.clone().find(|name| !plain(name)) {
        Some(name) => fault(&format!("names `{}`, which is no file of a catalogue", name.escape_debug())),
        None => Ok(lines.map(str::to_owned).collect()),
    }
}

/// Writes a file whole or not at all.
fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let plain = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if plain && fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    crate::cli::output::replace(&path, text.as_bytes(), None)
}
