//! Lists of ops, as one program tells another which ops it has.

use prost::Message;

use super::{OpList, op_from_proto, op_to_proto};
use crate::error::{Error, Result};
use crate::op::OpDef;
use crate::sort::CompactSort as _;

/// What an [`OpList`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpListOptions {
    /// Whether to include documentation. The explanation of a deprecation is always included.
    pub docs: bool,
    /// Whether to include ops whose names begin with `_`.
    pub internal: bool,
}

impl Default for OpListOptions {
    /// Everything.
    fn default() -> OpListOptions {
        OpListOptions { docs: true, internal: true }
    }
}

/// The list of these ops, sorted by name.
///
/// # Errors
/// INVALID_ARGUMENT if a default is not a valid message; the error names the op.
pub fn op_list_to_proto<'a>(ops: impl IntoIterator<Item = &'a OpDef>, options: OpListOptions) -> Result<OpList> {
    let mut ops: Vec<&OpDef> = ops.into_iter().filter(|op| options.internal || !op.is_internal()).collect();
    ops.compact_sort_by(|a, b| a.name.cmp(&b.name));
    let one = |op: &OpDef| {
        let mut proto = op_to_proto(op).map_err(|error| error.context(format_args!("op {}", op.name)))?;
        if !options.docs {
            proto.summary.clear();
            proto.description.clear();
            proto.input_arg.iter_mut().chain(&mut proto.output_arg).for_each(|arg| arg.description.clear());
            proto.attr.iter_mut().for_each(|attr| attr.description.clear());
        }
        Ok(proto)
    };
    Ok(OpList { op: ops.into_iter().map(one).collect::<Result<_>>()? })
}

/// The ops of a list, sorted by name. Each is [valid](OpDef::validate).
///
/// # Errors
/// INVALID_ARGUMENT with what is wrong with every op that is, and the ops that are listed twice; the error names the
/// ops.
pub fn op_list_from_proto(list: &OpList) -> Result<Vec<OpDef>> {
    let mut faults = Vec::new();
    let mut ops = Vec::with_capacity(list.op.len());
    for proto in &list.op {
        match op_from_proto(proto).and_then(|op| op.validate().map(|()| op)) {
            Ok(op) => ops.push(op),
            Err(error) => faults.push(error.message().to_owned()),
        }
    }
    ops.compact_sort_by(|a, b| a.name.cmp(&b.name));
    for pair in ops.windows(2) {
        if pair[0].name == pair[1].name {
            faults.push(format!("op {} is listed twice", pair[0].name));
        }
    }
    if faults.is_empty() { Ok(ops) } else { Err(Error::invalid_argument(faults.join("\n"))) }
}

/// The ops of a list in binary form, such as TensorFlow's `TF_GetAllOpList` and `kernlink ops --format pb` write.
///
/// # Errors
/// As [`op_list_from_proto`]; INVALID_ARGUMENT if the bytes are no such list.
pub fn op_list_from_bytes(bytes: &[u8]) -> Result<Vec<OpDef>> {
    let list =
        OpList::decode(bytes).map_err(|error| Error::invalid_argument(format!("this is no OpList ({error})")))?;
    op_list_from_proto(&list)
}
