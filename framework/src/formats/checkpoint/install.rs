//! Putting a new checkpoint in the place of an older one.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::names::{NewFile, data_name, index_name, link, remove_if_there, sync_folder_of};
use super::reader::read_index;
use crate::error::Result;
use crate::formats::table::TableBuilder;
use crate::proto::{BundleEntryProto, BundleHeaderProto, encoded};
use crate::tensor::FileBytes;

/// The most data files that are looked for.
const MAX_SHARDS: usize = 100_000;

/// The number of data files, by the index of a checkpoint.
pub(super) fn shards(index: &Path) -> Option<usize> {
    let (header, _) = read_index(&FileBytes::open(index).ok()?).ok()?;
    usize::try_from(header.num_shards).ok().filter(|&shards| shards <= MAX_SHARDS)
}

/// Installs a checkpoint under a prefix: gives its data files, which are complete, their names, and writes its index.
///
/// A reader finds the old checkpoint or the new one at every moment. The new index replaces the old one in one step, so the
/// new data files must be there before it and the old ones must stay until then. Names of data files contain their count:
/// if the old checkpoint has as many, the new one is first installed under names that count one more (a file that no entry
/// refers to), and gets its final names when the old one is gone.
///
/// # Errors
/// [`Error::from_io`](crate::error::Error::from_io)'s if a file cannot be written or renamed.
pub(super) fn install(
    prefix: &Path,
    files: &[PathBuf],
    mut header: BundleHeaderProto,
    entries: &BTreeMap<Vec<u8>, BundleEntryProto>,
) -> Result<()> {
    let count = files.len();
    let old = shards(&index_name(prefix));
    let mut commit = |files: &[PathBuf], count: usize| -> Result<(Vec<PathBuf>, bool)> {
        header.num_shards = i32::try_from(count).unwrap_or(i32::MAX);
        // First, because it is the step most likely to fail.
        let index = write_index(prefix, &header, entries)?;
        let names: Vec<PathBuf> = (0..files.len()).map(|number| data_name(prefix, number, count)).collect();
        let mut both = true;
        for (file, name) in files.iter().zip(&names) {
            both &= link(file, name)?;
        }
        sync_folder_of(prefix);
        index.rename()?;
        Ok((names, both))
    };
    let (mut names, both) = commit(files, if old == Some(count) { count + 1 } else { count })?;
    let mut needless: Vec<PathBuf> = files.to_vec();
    // Without hard links, or space for another index, the checkpoint keeps those names: it is complete.
    if old == Some(count)
        && both
        && let Ok((last, _)) = commit(&names, count)
    {
        needless.extend(std::mem::replace(&mut names, last));
    }
    needless.extend((0..old.unwrap_or(0)).map(|number| data_name(prefix, number, old.unwrap_or(0))));
    let names: HashSet<PathBuf> = names.into_iter().collect();
    needless.iter().filter(|file| !names.contains(*file)).try_for_each(|file| remove_if_there(file))
}

/// Writes an index, which keeps its temporary name.
fn write_index(
    prefix: &Path,
    header: &BundleHeaderProto,
    entries: &BTreeMap<Vec<u8>, BundleEntryProto>,
) -> Result<NewFile> {
    let mut table = TableBuilder::new();
    table.add(b"", &encoded(header)?)?;
    for (key, entry) in entries {
        table.add(key, &encoded(entry)?)?;
    }
    let mut file = NewFile::create(index_name(prefix))?;
    file.write(&table.finish()?)?;
    file.close()?;
    Ok(file)
}
