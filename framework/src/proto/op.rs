//! [`OpDef`] to and from its message.

use std::borrow::Cow;

use prost::Message;

use super::{AttrValue as ProtoValue, OpDeprecation, attr_value, op_def};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{AllowedValues, ArgDef, ArgType, AttrDef, AttrDefault, AttrType, Deprecation, List, OpDef};
use crate::proto::{OpDef as ProtoOp, TensorShapeProto};

fn dtype(number: i32) -> Result<DataType> {
    DataType::from_number(number).ok_or_else(|| Error::invalid_argument(format!("unknown dtype {number}")))
}

/// The op in a message.
///
/// # Errors
/// INVALID_ARGUMENT if an attr's type, default or allowed values, or an argument's type, is malformed.
pub fn op_from_proto(proto: &ProtoOp) -> Result<OpDef> {
    let arg = |arg: &op_def::ArgDef| -> Result<ArgDef> {
        let ty = if !arg.type_attr.is_empty() {
            ArgType::Attr(arg.type_attr.clone().into())
        } else if !arg.type_list_attr.is_empty() {
            ArgType::ListAttr(arg.type_list_attr.clone().into())
        } else {
            ArgType::Fixed(dtype(arg.r#type)?)
        };
        Ok(ArgDef {
            name: arg.name.clone().into(),
            description: arg.description.clone().into(),
            ty,
            number_attr: (!arg.number_attr.is_empty()).then(|| arg.number_attr.clone().into()),
            is_ref: arg.is_ref,
        })
    };
    let attr = |attr: &op_def::AttrDef| -> Result<AttrDef> {
        let ty = AttrType::from_name(&attr.r#type)
            .ok_or_else(|| Error::invalid_argument(format!("unknown attr type `{}`", attr.r#type)))?;
        let allowed = match &attr.allowed_values {
            Some(ProtoValue { value: Some(attr_value::Value::List(list)) }) if !list.r#type.is_empty() => {
                Some(AllowedValues::Types(list.r#type.iter().map(|&t| dtype(t)).collect::<Result<Vec<_>>>()?.into()))
            }
            Some(ProtoValue { value: Some(attr_value::Value::List(list)) }) => {
                let strings = list.s.iter().map(|s| String::from_utf8_lossy(s).into_owned().into());
                Some(AllowedValues::Strings(strings.collect::<Vec<_>>().into()))
            }
            _ => None,
        };
        Ok(AttrDef {
            name: attr.name.clone().into(),
            ty,
            default: attr.default_value.as_ref().map(|value| default_from_proto(value, ty)).transpose()?,
            description: attr.description.clone().into(),
            minimum: attr.has_minimum.then_some(attr.minimum),
            allowed,
        })
    };
    Ok(OpDef {
        name: proto.name.clone().into(),
        inputs: proto.input_arg.iter().map(arg).collect::<Result<Vec<_>>>()?.into(),
        outputs: proto.output_arg.iter().map(arg).collect::<Result<Vec<_>>>()?.into(),
        attrs: proto.attr.iter().map(attr).collect::<Result<Vec<_>>>()?.into(),
        summary: proto.summary.clone().into(),
        description: proto.description.clone().into(),
        is_commutative: proto.is_commutative,
        is_aggregate: proto.is_aggregate,
        is_stateful: proto.is_stateful,
        allows_uninitialized_input: proto.allows_uninitialized_input,
        is_distributed_communication: proto.is_distributed_communication,
        deprecation: proto
            .deprecation
            .as_ref()
            .map(|d| Deprecation { version: d.version, explanation: d.explanation.clone().into() }),
    })
}

fn default_from_proto(proto: &ProtoValue, ty: AttrType) -> Result<AttrDefault> {
    use crate::op::AttrBase;
    use attr_value::Value;
    let shape = |shape: &TensorShapeProto| -> Option<List<i64>> {
        (!shape.unknown_rank).then(|| shape.dim.iter().map(|dim| dim.size).collect::<Vec<_>>().into())
    };
    let owned = |bytes: Vec<u8>| -> List<u8> { Cow::Owned(bytes) };
    Ok(match proto.value.as_ref().ok_or_else(|| Error::invalid_argument("a default has no value"))? {
        Value::S(bytes) => AttrDefault::String(owned(bytes.to_vec())),
        Value::I(value) => AttrDefault::Int(*value),
        Value::F(value) => AttrDefault::Float(*value),
        Value::B(value) => AttrDefault::Bool(*value),
        Value::Type(number) => AttrDefault::Type(dtype(*number)?),
        Value::Shape(value) => AttrDefault::Shape(shape(value)),
        Value::Tensor(value) => AttrDefault::Tensor(owned(value.encode_to_vec())),
        Value::Func(value) => AttrDefault::Func(owned(value.encode_to_vec())),
        Value::Placeholder(_) => return Err(Error::invalid_argument("a default is a placeholder")),
        Value::List(list) => match ty.base {
            AttrBase::String => {
                AttrDefault::ListString(list.s.iter().map(|s| owned(s.to_vec())).collect::<Vec<_>>().into())
            }
            AttrBase::Int => AttrDefault::ListInt(list.i.clone().into()),
            AttrBase::Float => AttrDefault::ListFloat(list.f.clone().into()),
            AttrBase::Bool => AttrDefault::ListBool(list.b.clone().into()),
            AttrBase::Type => {
                AttrDefault::ListType(list.r#type.iter().map(|&t| dtype(t)).collect::<Result<Vec<_>>>()?.into())
            }
            AttrBase::Shape => AttrDefault::ListShape(list.shape.iter().map(shape).collect::<Vec<_>>().into()),
            AttrBase::Tensor => {
                AttrDefault::ListTensor(list.tensor.iter().map(|t| owned(t.encode_to_vec())).collect::<Vec<_>>().into())
            }
            AttrBase::Func => {
                AttrDefault::ListFunc(list.func.iter().map(|f| owned(f.encode_to_vec())).collect::<Vec<_>>().into())
            }
        },
    })
}

/// The message that holds an op.
///
/// # Errors
/// INVALID_ARGUMENT if a default is not a valid message.
pub fn op_to_proto(op: &OpDef) -> Result<ProtoOp> {
    let arg = |arg: &ArgDef| {
        let mut proto = op_def::ArgDef {
            name: arg.name.to_string(),
            description: arg.description.to_string(),
            number_attr: arg.number_attr.as_deref().unwrap_or_default().to_owned(),
            is_ref: arg.is_ref,
            ..op_def::ArgDef::default()
        };
        match &arg.ty {
            ArgType::Fixed(dtype) => proto.r#type = dtype.number(),
            ArgType::Attr(attr) => proto.type_attr = attr.to_string(),
            ArgType::ListAttr(attr) => proto.type_list_attr = attr.to_string(),
        }
        proto
    };
    let attr = |attr: &AttrDef| -> Result<op_def::AttrDef> {
        let allowed = attr.allowed.as_ref().map(|allowed| {
            let list = match allowed {
                AllowedValues::Types(types) => attr_value::ListValue {
                    r#type: types.iter().map(|t| t.number()).collect(),
                    ..attr_value::ListValue::default()
                },
                AllowedValues::Strings(strings) => attr_value::ListValue {
                    s: strings.iter().map(|s| s.clone().into_owned().into()).collect(),
                    ..attr_value::ListValue::default()
                },
            };
            ProtoValue { value: Some(attr_value::Value::List(list)) }
        });
        Ok(op_def::AttrDef {
            name: attr.name.to_string(),
            r#type: attr.ty.to_string(),
            default_value: attr.default.as_ref().map(default_to_proto).transpose()?,
            description: attr.description.to_string(),
            has_minimum: attr.minimum.is_some(),
            minimum: attr.minimum.unwrap_or(0),
            allowed_values: allowed,
        })
    };
    Ok(ProtoOp {
        name: op.name.to_string(),
        input_arg: op.inputs.iter().map(arg).collect(),
        output_arg: op.outputs.iter().map(arg).collect(),
        attr: op.attrs.iter().map(attr).collect::<Result<_>>()?,
        summary: op.summary.to_string(),
        description: op.description.to_string(),
        is_commutative: op.is_commutative,
        is_aggregate: op.is_aggregate,
        is_stateful: op.is_stateful,
        allows_uninitialized_input: op.allows_uninitialized_input,
        is_distributed_communication: op.is_distributed_communication,
        deprecation: op
            .deprecation
            .as_ref()
            .map(|d| OpDeprecation { version: d.version, explanation: d.explanation.to_string() }),
        control_output: Vec::new(),
    })
}

/// The message that holds an attr's default.
///
/// # Errors
/// INVALID_ARGUMENT if a tensor or function is not a valid message.
pub(crate) fn default_to_proto(default: &AttrDefault) -> Result<ProtoValue> {
    use super::tensor_shape_proto::Dim;
    use attr_value::{ListValue, Value};
    fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M> {
        M::decode(bytes).map_err(|error| Error::invalid_argument(format!("a default is malformed: {error}")))
    }
    let shape = |shape: &Option<List<i64>>| match shape {
        None => TensorShapeProto { unknown_rank: true, dim: Vec::new() },
        Some(dims) => TensorShapeProto {
            unknown_rank: false,
            dim: dims.iter().map(|&size| Dim { size, name: String::new() }).collect(),
        },
    };
    let empty = ListValue::default;
    let value = match default {
        AttrDefault::String(bytes) => Value::S(bytes.to_vec().into()),
        AttrDefault::Int(value) => Value::I(*value),
        AttrDefault::Float(value) => Value::F(*value),
        AttrDefault::Bool(value) => Value::B(*value),
        AttrDefault::Type(dtype) => Value::Type(dtype.number()),
        AttrDefault::Shape(value) => Value::Shape(shape(value)),
        AttrDefault::Tensor(bytes) => Value::Tensor(decode(bytes)?),
        AttrDefault::Func(bytes) => Value::Func(decode(bytes)?),
        AttrDefault::ListString(items) => {
            Value::List(ListValue { s: items.iter().map(|s| s.to_vec().into()).collect(), ..empty() })
        }
        AttrDefault::ListInt(items) => Value::List(ListValue { i: items.to_vec(), ..empty() }),
        AttrDefault::ListFloat(items) => Value::List(ListValue { f: items.to_vec(), ..empty() }),
        AttrDefault::ListBool(items) => Value::List(ListValue { b: items.to_vec(), ..empty() }),
        AttrDefault::ListType(items) => {
            Value::List(ListValue { r#type: items.iter().map(|t| t.number()).collect(), ..empty() })
        }
        AttrDefault::ListShape(items) => Value::List(ListValue { shape: items.iter().map(shape).collect(), ..empty() }),
        AttrDefault::ListTensor(items) => {
            Value::List(ListValue { tensor: items.iter().map(|t| decode(t)).collect::<Result<_>>()?, ..empty() })
        }
        AttrDefault::ListFunc(items) => {
            Value::List(ListValue { func: items.iter().map(|f| decode(f)).collect::<Result<_>>()?, ..empty() })
        }
    };
    Ok(ProtoValue { value: Some(value) })
}
