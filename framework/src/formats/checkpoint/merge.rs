//! Merging checkpoints.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::install::install;
use super::names::{data_name, index_name, make_folder_of, remove_left_overs};
use super::reader::read_index;
use crate::error::{Error, Result};
use crate::proto::{BundleEntryProto, BundleHeaderProto};
use crate::tensor::FileBytes;

/// What has been merged so far.
#[derive(Default)]
struct Merged {
    header: Option<BundleHeaderProto>,
    entries: BTreeMap<Vec<u8>, BundleEntryProto>,
    /// The data files, in the order of their new numbers.
    files: Vec<PathBuf>,
    numbers: HashMap<PathBuf, usize>,
}

/// Merges the checkpoints with the given prefixes into one: renames their data files and merges their indices.
///
/// A tensor may be in several of them only in parts. With `allow_missing`, prefixes without an index are passed over.
///
/// # Errors
/// INVALID_ARGUMENT if an index is missing, a tensor occurs twice, parts of one disagree, or there is nothing to merge;
/// DATA_LOSS if an index is truncated or altered; [`Error::from_io`]'s if files cannot be renamed or written.
pub fn merge_checkpoints<P: AsRef<Path>>(prefixes: &[P], target: impl AsRef<Path>, allow_missing: bool) -> Result<()> {
    let target = target.as_ref();
    let mut merged = Merged::default();
    for prefix in prefixes {
        let prefix = prefix.as_ref();
        if !index_name(prefix).exists() {
            if allow_missing {
                continue;
            }
            let message = format!("allow_missing_files was set to false and {} did not exist", prefix.display());
            return Err(Error::invalid_argument(message));
        }
        merged.add(prefix).map_err(|error| error.context(format!("merging {}", prefix.display())))?;
    }
    let Some(header) = merged.header.take() else {
        return Err(Error::invalid_argument("At least one prefix checkpoint file must exist, but none existed."));
    };
    let _folder = make_folder_of(target)?;
    remove_left_overs(target);
    install(target, &merged.files, header, &merged.entries)?;
    for prefix in prefixes.iter().map(AsRef::as_ref).filter(|&prefix| prefix != target) {
        let _ = std::fs::remove_file(index_name(prefix));
    }
    Ok(())
}

impl Merged {
    fn add(&mut self, prefix: &Path) -> Result<()> {
        let (header, entries) = read_index(&FileBytes::open(index_name(prefix))?)?;
        match &self.header {
            Some(first) if first.endianness != header.endianness || first.version != header.version => {
                return Err(Error::invalid_argument("Merging bundles with different byte orders or format versions"));
            }
            Some(_) => {}
            None => self.header = Some(header.clone()),
        }
        let shards = usize::try_from(header.num_shards).unwrap_or(0);
        for (key, mut entry) in entries {
            if let Some(first) = self.entries.get_mut(&key) {
                let name = key.escape_ascii();
                if first.slices.is_empty() || entry.slices.is_empty() {
                    return Err(Error::invalid_argument(format!("Duplicate tensor keyed by {name} encountered")));
                }
                if first.dtype != entry.dtype || first.shape != entry.shape {
                    let message = format!("the parts of tensor {name} are of tensors with other dtypes or shapes");
                    return Err(Error::invalid_argument(message));
                }
                first.slices.append(&mut entry.slices);
                continue;
            }
            if entry.slices.is_empty() {
                let shard = usize::try_from(entry.shard_id).ok().filter(|&shard| shard < shards);
                let shard = shard.ok_or_else(|| {
                    Error::data_loss(format!("tensor {} is in data file {}", key.escape_ascii(), entry.shard_id))
                })?;
                entry.shard_id = self.number(data_name(prefix, shard, shards)) as i32;
            }
            self.entries.insert(key, entry);
        }
        Ok(())
    }

    fn number(&mut self, file: PathBuf) -> usize {
        let next = self.files.len();
        *self.numbers.entry(file).or_insert_with_key(|file| {
            self.files.push(file.clone());
            next
        })
    }
}
