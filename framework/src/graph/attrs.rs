//! A node's attrs against its op: defaults added, types and values checked.

use prost::Message;

use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::op::{ArgType, AttrDef, AttrDefault, OpDef, ValueFacts};
use crate::proto;

/// Adds the defaults that are missing and checks every attr that the op declares. Attrs that the op does not know are
/// kept as they are.
///
/// # Errors
/// INVALID_ARGUMENT if an attr is missing, has the wrong type or a value that the op does not allow; all such faults
/// are in one error.
#[track_caller]
pub fn complete_attrs(op: &OpDef, attrs: &mut AttrMap) -> Result<()> {
    let mut faults = Vec::new();
    for def in op.attrs.iter() {
        if attrs.get(&def.name).is_none() {
            match &def.default {
                Some(default) => {
                    attrs.insert(&*def.name, default_value(default)?);
                }
                None => {
                    faults.push(format!("attr `{}` ({}) is missing", def.name, def.ty));
                    continue;
                }
            }
        }
        if let Some(value) = attrs.get(&def.name)
            && let Err(fault) = check_value(op, def, value)
        {
            faults.push(fault + &super::nearest::allowed_string(def, value));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::invalid_argument(faults.join("; "))) }
}

/// Whether an attr of `op` may have a value; a placeholder stands for any.
pub(super) fn check_value(op: &OpDef, def: &AttrDef, value: &AttrValue) -> Result<(), String> {
    if matches!(value, AttrValue::Placeholder(_)) {
        return Ok(());
    }
    let mut facts = ValueFacts { ty: value.ty(), length: value.list_len(), ..ValueFacts::default() };
    match value {
        AttrValue::Int(value) => facts.int = Some(*value),
        AttrValue::Type(dtype) => facts.types = std::slice::from_ref(dtype),
        AttrValue::ListType(list) => facts.types = list,
        AttrValue::String(text) => facts.strings = vec![text.as_bytes()],
        AttrValue::ListString(list) => facts.strings = list.iter().map(|text| text.as_bytes()).collect(),
        _ => {}
    }
    def.check_value(&facts).map_err(|fault| format!("attr `{}`{} {fault}", def.name, origin(op, &def.name)))
}

/// What an attr says of the first input that it belongs to, in brackets: users who never gave the attr know the input.
fn origin(op: &OpDef, attr: &str) -> String {
    let of_input = op.inputs.iter().find_map(|arg| match &arg.ty {
        _ if arg.number_attr.as_deref() == Some(attr) => Some(("number of tensors in", &arg.name)),
        ArgType::Attr(ty) if ty == attr => Some(("dtype of", &arg.name)),
        ArgType::ListAttr(types) if types == attr => Some(("dtypes of", &arg.name)),
        _ => None,
    });
    of_input.map_or_else(String::new, |(what, input)| format!(" (the {what} input `{input}`)"))
}

/// The value that an attr has by default.
///
/// # Errors
/// INVALID_ARGUMENT if a tensor or function is not a valid message.
pub fn default_value(default: &AttrDefault) -> Result<AttrValue> {
    if let Some(value) = default.plain_value()? {
        return Ok(value);
    }
    Ok(match default {
        AttrDefault::Tensor(bytes) => AttrValue::Tensor(proto::tensor_from_proto(&decode(bytes)?)?),
        AttrDefault::ListTensor(items) => AttrValue::ListTensor(
            items.iter().map(|bytes| proto::tensor_from_proto(&decode(bytes)?)).collect::<Result<_>>()?,
        ),
        _ => proto::attr_from_proto(&proto::default_to_proto(default)?)?,
    })
}

fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M> {
    M::decode(bytes).map_err(|error| Error::invalid_argument(format!("a default is malformed: {error}")))
}
