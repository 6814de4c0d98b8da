//! [`OpDef`] to and from its message.

use std::borrow::Cow;

use prost::Message;

use super::{AttrValue as ProtoValue, OpDeprecation, attr_value, op_def};
use crate::dtype::DataType;
use crate::error::{Code, Error, Result};
use crate::op::{AllowedValues, ArgDef, ArgType, AttrDef, AttrDefault, AttrType, Deprecation, List, OpDef};
use crate::proto::{OpDef as ProtoOp, TensorShapeProto};

/// The op in a message. [`OpDef::validate`] says whether its parts fit together.
///
/// # Errors
/// INVALID_ARGUMENT with everything that an op cannot be: an unknown attr type, an argument with no dtype or several, a
/// default or allowed values of another type than their attr's, a dtype that does not exist or is a reference; and
/// UNIMPLEMENTED for allowed values of attrs that hold neither dtypes nor strings.
#[track_caller]
pub fn op_from_proto(proto: &ProtoOp) -> Result<OpDef> {
    let mut reader = Reader::default();
    let op = OpDef {
        name: proto.name.clone().into(),
        inputs: proto.input_arg.iter().filter_map(|arg| reader.arg(arg, "input")).collect(),
        outputs: proto.output_arg.iter().filter_map(|arg| reader.arg(arg, "output")).collect(),
        attrs: proto.attr.iter().filter_map(|attr| reader.attr(attr)).collect(),
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
    };
    if reader.faults.is_empty() {
        return Ok(op);
    }
    let code = if reader.unimplemented { Code::Unimplemented } else { Code::InvalidArgument };
    let faults: Vec<_> = reader.faults.into_iter().map(|fault| format!("op {}: {fault}", proto.name)).collect();
    Err(Error::new(code, faults.join("\n")))
}

/// Reads the parts of an op and collects their errors.
#[derive(Default)]
struct Reader {
    faults: Vec<String>,
    unimplemented: bool,
}

/// References are numbered so many above their dtypes.
const REF_OFFSET: i32 = 100;

impl Reader {
    fn keep<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|fault| self.faults.push(fault)).ok()
    }

    fn arg(&mut self, arg: &op_def::ArgDef, kind: &str) -> Option<ArgDef> {
        let place = format!("{kind} `{}`", arg.name);
        let stated = [arg.r#type != 0, !arg.type_attr.is_empty(), !arg.type_list_attr.is_empty()];
        let ty = match stated {
            [false, false, false] => Err(format!("missing type for {place}")),
            [true, false, false] => match (DataType::from_number(arg.r#type), reference(arg.r#type)) {
                (Some(dtype), _) => Ok(ArgType::Fixed(dtype)),
                (None, Some(dtype)) => {
                    Err(format!("illegal use of ref type `{dtype}_ref`. Use `Ref({dtype})` instead for {place}"))
                }
                (None, None) => Err(format!("unknown dtype {} for {place}", arg.r#type)),
            },
            [false, true, false] => Ok(ArgType::Attr(arg.type_attr.clone().into())),
            [false, false, true] => Ok(ArgType::ListAttr(arg.type_list_attr.clone().into())),
            _ => Err(format!("exactly one of type, type_attr, type_list_attr must be set for {place}")),
        };
        Some(ArgDef {
            name: arg.name.clone().into(),
            description: arg.description.clone().into(),
            ty: self.keep(ty)?,
            number_attr: (!arg.number_attr.is_empty()).then(|| arg.number_attr.clone().into()),
            is_ref: arg.is_ref,
        })
    }

    fn attr(&mut self, attr: &op_def::AttrDef) -> Option<AttrDef> {
        let name = &attr.name;
        if !attr.has_minimum && attr.minimum != 0 {
            let minimum = attr.minimum;
            let fault = format!("attr `{name}` with has_minimum = false but minimum {minimum}, which must then be 0");
            self.faults.push(fault);
        }
        let ty = self.keep(attr_type(&attr.r#type).map_err(|fault| format!("{fault} of attr `{name}`")))?;
        let default = attr.default_value.as_ref().and_then(|value| {
            self.keep(default_from_proto(value, ty).map_err(|fault| format!("default of attr `{name}`: {fault}")))
        });
        let allowed = attr.allowed_values.as_ref().and_then(|value| self.allowed(value, ty, name));
        Some(AttrDef {
            name: name.clone().into(),
            ty,
            default,
            description: attr.description.clone().into(),
            minimum: attr.has_minimum.then_some(attr.minimum),
            allowed,
        })
    }

    fn allowed(&mut self, value: &ProtoValue, ty: AttrType, name: &str) -> Option<AllowedValues> {
        let list = AttrType { list: true, ..ty };
        let fault = |fault: String| format!("allowed values of attr `{name}`: {fault}");
        let value = self.keep(default_from_proto(value, list).map_err(fault))?;
        match value {
            AttrDefault::ListType(types) => Some(AllowedValues::Types(types)),
            AttrDefault::ListString(strings) => {
                let texts = strings.iter().map(|bytes| match std::str::from_utf8(bytes) {
                    Ok(text) => Ok(Cow::Owned(text.to_owned())),
                    Err(_) => Err(fault(format!("{:?} is not UTF-8", String::from_utf8_lossy(bytes)))),
                });
                let texts = texts.collect::<Result<Vec<_>, _>>();
                self.keep(texts).map(|texts| AllowedValues::Strings(texts.into()))
            }
            _ => {
                self.unimplemented = true;
                self.faults.push(format!("allowed values of attr `{name}` are not implemented for type {ty}"));
                None
            }
        }
    }
}

/// The type that a message names; if there is none, why.
fn attr_type(text: &str) -> Result<AttrType, String> {
    if let Some(ty) = AttrType::from_name(text) {
        return Ok(ty);
    }
    let (list, rest) = text.strip_prefix("list(").map_or((false, text), |rest| (true, rest));
    let word = rest.find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest, |end| &rest[..end]);
    let extra = &rest[word.len()..];
    match AttrType::from_name(word) {
        None => Err(format!("unrecognized type `{text}`")),
        Some(_) if !list => Err(format!("extra `{extra}` at the end of the type `{text}`")),
        Some(_) => match extra.strip_prefix(')') {
            None => Err(format!("`list(` is missing `)` in the type `{text}`")),
            Some(extra) => Err(format!("extra `{extra}` at the end of the type `{text}`")),
        },
    }
}

/// The dtype to which a number refers by reference.
fn reference(number: i32) -> Option<DataType> {
    DataType::from_number(number.checked_sub(REF_OFFSET)?)
}

/// The dtype that a value holds; if there is none with this number, why.
pub(super) fn dtype(number: i32) -> Result<DataType, String> {
    DataType::from_number(number).ok_or_else(|| match reference(number) {
        Some(dtype) => format!("AttrValue must not have reference type value of {dtype}_ref"),
        None => format!("AttrValue has invalid DataType: {number}"),
    })
}

fn shape(shape: &TensorShapeProto) -> Option<List<i64>> {
    (!shape.unknown_rank).then(|| shape.dim.iter().map(|dim| dim.size).collect())
}

/// The value of an attr of type `ty`; if there is none of this type, why.
fn default_from_proto(proto: &ProtoValue, ty: AttrType) -> Result<AttrDefault, String> {
    use crate::op::AttrBase;
    use attr_value::Value;
    fn message<M: Message>(message: &M) -> List<u8> {
        Cow::Owned(message.encode_to_vec())
    }
    let wrong = |found: &str| Err(format!("AttrValue had value with type {found} when {ty} expected"));
    // An empty list and no value at all are the same on the wire.
    let empty = attr_value::ListValue::default();
    let value = match &proto.value {
        None if ty.list => &Value::List(empty),
        None => return Err(format!("AttrValue missing value with expected type {ty}")),
        Some(value) => value,
    };
    let found = match value {
        Value::S(bytes) => AttrDefault::String(Cow::Owned(bytes.to_vec())),
        Value::I(value) => AttrDefault::Int(*value),
        Value::F(value) => AttrDefault::Float(*value),
        Value::B(value) => AttrDefault::Bool(*value),
        Value::Type(number) => AttrDefault::Type(dtype(*number)?),
        Value::Shape(value) => AttrDefault::Shape(shape(value)),
        Value::Tensor(value) => AttrDefault::Tensor(message(value)),
        Value::Func(value) => AttrDefault::Func(message(value)),
        Value::Placeholder(_) => return wrong("placeholder"),
        Value::List(list) => {
            let lengths = [
                ("string", list.s.len()),
                ("int", list.i.len()),
                ("float", list.f.len()),
                ("bool", list.b.len()),
                ("type", list.r#type.len()),
                ("shape", list.shape.len()),
                ("tensor", list.tensor.len()),
                ("func", list.func.len()),
            ];
            if !ty.list {
                let word = lengths.iter().find(|(_, length)| *length > 0).map_or("any", |(word, _)| word);
                return wrong(&format!("list({word})"));
            }
            if let Some((other, _)) = lengths.iter().find(|(word, length)| *length > 0 && *word != ty.base.name()) {
                return wrong(&format!("list({other})"));
            }
            match ty.base {
                AttrBase::String => AttrDefault::ListString(list.s.iter().map(|s| Cow::Owned(s.to_vec())).collect()),
                AttrBase::Int => AttrDefault::ListInt(list.i.clone().into()),
                AttrBase::Float => AttrDefault::ListFloat(list.f.clone().into()),
                AttrBase::Bool => AttrDefault::ListBool(list.b.clone().into()),
                AttrBase::Type => {
                    AttrDefault::ListType(list.r#type.iter().map(|&number| dtype(number)).collect::<Result<_, _>>()?)
                }
                AttrBase::Shape => AttrDefault::ListShape(list.shape.iter().map(shape).collect()),
                AttrBase::Tensor => AttrDefault::ListTensor(list.tensor.iter().map(message).collect()),
                AttrBase::Func => AttrDefault::ListFunc(list.func.iter().map(message).collect()),
            }
        }
    };
    match found.ty() == ty {
        true => Ok(found),
        false => wrong(&found.ty().to_string()),
    }
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
