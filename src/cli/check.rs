//! `kernlink ops --check`: whether the linked ops keep the promises of an older list of ops; and the list itself, to
//! make promises with: `kernlink ops --format pb`.

use std::path::Path;

use crate::error::{Error, Result};
use crate::op::{OpDef, broken_promises, find_op};
use crate::proto::{Message as _, OpListOptions, op_list_from_bytes, op_list_to_proto};
use crate::sort::CompactSort as _;
use crate::tensor::FileBytes;

use crate::cli::output;
use crate::cli::words::count;

/// Prints every promise that is broken, and how many ops were compared. Whether none is.
pub(crate) fn check(old: &Path) -> Result<bool> {
    let bytes = FileBytes::open(old)?;
    let promised = op_list_from_bytes(&bytes).map_err(|error| error.context(old.display()))?;
    if promised.is_empty() {
        return Err(Error::invalid_argument(format!("{}: the list has no ops to compare", old.display())));
    }
    let registry = crate::registry()?;
    let mut linked: Vec<&OpDef> = registry.ops().map(|entry| entry.def).collect();
    linked.compact_sort_by(|a, b| a.name.cmp(&b.name));
    let find = |name: &str| linked.binary_search_by(|op| (*op.name).cmp(name)).ok().map(|at| linked[at]);
    let broken = broken_promises(&promised, find);
    let new = linked.iter().filter(|op| find_op(&promised, &op.name).is_none()).count();
    let mut text: String = broken.iter().map(|fault| format!("{fault}\n")).collect();
    text += &format!(
        "{} compared, {} broken, {} new\n",
        count(promised.len(), "op"),
        count(broken.len(), "promise"),
        count(new, "op")
    );
    output::print(&text)?;
    Ok(broken.is_empty())
}

/// Prints ops as a binary `OpList`.
pub(crate) fn export<'a>(ops: impl IntoIterator<Item = &'a OpDef>) -> Result<()> {
    let list = op_list_to_proto(ops, OpListOptions::default())?;
    output::print_bytes(&list.encode_to_vec())
}
