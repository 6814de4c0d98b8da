//! A node's attrs against its op: defaults added, types and values checked.

use prost::Message;

use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::op::{AllowedValues, AttrDef, AttrDefault, OpDef};
use crate::proto;
use crate::shape::PartialShape;

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
            && let Err(fault) = check_value(def, value)
        {
            faults.push(fault);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::invalid_argument(faults.join("; "))) }
}

fn check_value(def: &AttrDef, value: &AttrValue) -> Result<(), String> {
    let name = &def.name;
    if matches!(value, AttrValue::Placeholder(_)) {
        return Ok(());
    }
    if !value.has_type(def.ty) {
        let found = value.ty().map_or_else(|| "an empty list".to_owned(), |ty| ty.to_string());
        return Err(format!("attr `{name}` must be {}, not {found}", def.ty));
    }
    if let Some(minimum) = def.minimum {
        match (value, value.list_len()) {
            (AttrValue::Int(value), _) if *value < minimum => {
                return Err(format!("attr `{name}` is {value} but must be at least {minimum}"));
            }
            (_, Some(length)) if (length as i64) < minimum => {
                return Err(format!("attr `{name}` has {length} elements but needs at least {minimum}"));
            }
            _ => {}
        }
    }
    match (&def.allowed, value) {
        (Some(AllowedValues::Types(allowed)), AttrValue::Type(dtype)) if !allowed.contains(dtype) => {
            Err(format!("attr `{name}` is {dtype} but must be one of {}", join(allowed.iter())))
        }
        (Some(AllowedValues::Types(allowed)), AttrValue::ListType(list)) => {
            match list.iter().find(|dtype| !allowed.contains(dtype)) {
                Some(dtype) => {
                    Err(format!("attr `{name}` holds {dtype} but only {} are allowed", join(allowed.iter())))
                }
                None => Ok(()),
            }
        }
        (Some(AllowedValues::Strings(allowed)), AttrValue::String(text)) => {
            match allowed.iter().any(|string| string.as_bytes() == text.as_bytes()) {
                true => Ok(()),
                false => Err(format!("attr `{name}` is {text:?} but must be one of {}", join(allowed.iter()))),
            }
        }
        (Some(AllowedValues::Strings(allowed)), AttrValue::ListString(list)) => {
            match list.iter().find(|text| !allowed.iter().any(|string| string.as_bytes() == text.as_bytes())) {
                Some(text) => {
                    Err(format!("attr `{name}` holds {text:?} but only {} are allowed", join(allowed.iter())))
                }
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn join<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// The value that an attr has by default.
///
/// # Errors
/// INVALID_ARGUMENT if a tensor or function is not a valid message.
pub fn default_value(default: &AttrDefault) -> Result<AttrValue> {
    Ok(match default {
        AttrDefault::String(bytes) => AttrValue::String((&**bytes).into()),
        AttrDefault::Int(value) => AttrValue::Int(*value),
        AttrDefault::Float(value) => AttrValue::Float(*value),
        AttrDefault::Bool(value) => AttrValue::Bool(*value),
        AttrDefault::Type(dtype) => AttrValue::Type(*dtype),
        AttrDefault::Shape(None) => AttrValue::Shape(PartialShape::unknown()),
        AttrDefault::Shape(Some(dims)) => AttrValue::Shape(PartialShape::from_dims(dims)?),
        AttrDefault::ListString(items) => AttrValue::ListString(items.iter().map(|s| (&**s).into()).collect()),
        AttrDefault::ListInt(items) => AttrValue::ListInt(items.to_vec()),
        AttrDefault::ListFloat(items) => AttrValue::ListFloat(items.to_vec()),
        AttrDefault::ListBool(items) => AttrValue::ListBool(items.to_vec()),
        AttrDefault::ListType(items) => AttrValue::ListType(items.to_vec()),
        AttrDefault::ListShape(items) => {
            let shapes = items.iter().map(|dims| match dims {
                None => Ok(PartialShape::unknown()),
                Some(dims) => PartialShape::from_dims(dims),
            });
            AttrValue::ListShape(shapes.collect::<Result<_>>()?)
        }
        AttrDefault::Tensor(bytes) => AttrValue::Tensor(proto::tensor_from_proto(&decode(bytes)?)?),
        AttrDefault::ListTensor(items) => AttrValue::ListTensor(
            items.iter().map(|bytes| proto::tensor_from_proto(&decode(bytes)?)).collect::<Result<_>>()?,
        ),
        AttrDefault::Func(_) | AttrDefault::ListFunc(_) => proto::attr_from_proto(&proto::default_to_proto(default)?)?,
    })
}

fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M> {
    M::decode(bytes).map_err(|error| Error::invalid_argument(format!("a default is malformed: {error}")))
}
