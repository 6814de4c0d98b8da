//! `kernlink ops --check`: whether the linked ops keep the promises of an older list of ops; and the list itself, to
//! make promises with: `kernlink ops --format pb`.

use std::path::Path;

use crate::error::Result;
use crate::op::OpDef;
use crate::proto::{Message as _, OpListOptions, op_list_to_proto};

use crate::cli::output;
use crate::tools::compare_ops;
use crate::tools::words::count;

/// Prints every promise that is broken, and how many ops were compared. Whether none is.
pub(crate) fn check(old: &Path) -> Result<bool> {
    let found = compare_ops(old)?;
    let mut text: String = found.broken.iter().map(|fault| format!("{fault}\n")).collect();
    text += &format!(
        "{} compared, {} broken, {} new\n",
        count(found.compared, "op"),
        count(found.broken.len(), "promise"),
        count(found.new, "op")
    );
    output::print(&text)?;
    Ok(found.broken.is_empty())
}

/// Prints ops as a binary `OpList`.
pub(crate) fn export<'a>(ops: impl IntoIterator<Item = &'a OpDef>) -> Result<()> {
    let list = op_list_to_proto(ops, OpListOptions::default())?;
    output::print_bytes(&list.encode_to_vec())
}
