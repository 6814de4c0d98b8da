//! Whether the linked ops keep the promises of an older list of ops.

use std::path::Path;

use crate::error::{Error, Result};
use crate::op::{OpDef, broken_promises, find_op};
use crate::proto::op_list_from_bytes;
use crate::sort::CompactSort as _;
use crate::tensor::FileBytes;

/// What came of comparing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compared {
    /// How many ops were compared.
    pub compared: usize,
    /// Every promise that is broken, in words.
    pub broken: Vec<String>,
    /// How many linked ops the list lacks.
    pub new: usize,
}

/// Compares the linked ops with a binary `OpList` in a file.
///
/// # Errors
/// INVALID_ARGUMENT if the list is malformed or has no ops; those of reading the file.
pub fn compare_ops(old: &Path) -> Result<Compared> {
    let bytes = FileBytes::open(old)?;
    let promised = op_list_from_bytes(&bytes).map_err(|error| error.context(old.display()))?;
    if promised.is_empty() {
        return Err(Error::invalid_argument(format!("{}: the list has no ops to compare", old.display())));
    }
    let registry = crate::registry()?;
    let mut linked: Vec<&OpDef> = registry.ops().map(|entry| entry.def).collect();
    linked.compact_sort_by(|a, b| a.name.cmp(&b.name));
    let find = |name: &str| linked.binary_search_by(|op| (*op.name).cmp(name)).ok().map(|at| linked[at]);
    let broken = broken_promises(&promised, find).iter().map(ToString::to_string).collect();
    let new = linked.iter().filter(|op| find_op(&promised, &op.name).is_none()).count();
    Ok(Compared { compared: promised.len(), broken, new })
}
