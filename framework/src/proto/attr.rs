//! Attr values, to and from their messages.

use super::{AttrValue as ProtoValue, NameAttrList, attr_value};
use crate::attr::{AttrValue, FunctionRef};
use crate::dtype::{DataType, TString};
use crate::error::{Error, Result};
use crate::proto::{shape_from_proto, shape_to_proto, tensor_from_proto, tensor_to_proto};

fn dtype(number: i32) -> Result<DataType> {
    super::op::dtype(number).map_err(Error::invalid_argument)
}

fn function(proto: &NameAttrList) -> Result<FunctionRef> {
    let attrs = proto.attr.iter().map(|(name, value)| Ok((name.clone(), attr_from_proto(value)?)));
    Ok(FunctionRef { name: proto.name.clone(), attrs: attrs.collect::<Result<_>>()? })
}

/// The attr value in a message.
///
/// # Errors
/// INVALID_ARGUMENT if the message holds no value, a list of several types, or a bad dtype, shape or tensor.
pub fn attr_from_proto(proto: &ProtoValue) -> Result<AttrValue> {
    use attr_value::Value;
    let value = proto.value.as_ref().ok_or_else(|| Error::invalid_argument("an attr has no value"))?;
    Ok(match value {
        Value::S(bytes) => AttrValue::String(TString::from(bytes.clone())),
        Value::I(value) => AttrValue::Int(*value),
        Value::F(value) => AttrValue::Float(*value),
        Value::B(value) => AttrValue::Bool(*value),
        Value::Type(number) => AttrValue::Type(dtype(*number)?),
        Value::Shape(shape) => AttrValue::Shape(shape_from_proto(shape)?),
        Value::Tensor(tensor) => AttrValue::Tensor(tensor_from_proto(tensor)?),
        Value::Func(list) => AttrValue::Func(function(list)?),
        Value::Placeholder(name) => AttrValue::Placeholder(name.clone()),
        Value::List(list) => list_from_proto(list)?,
    })
}

fn list_from_proto(list: &attr_value::ListValue) -> Result<AttrValue> {
    let mut found = Vec::new();
    if !list.s.is_empty() {
        found.push(AttrValue::ListString(list.s.iter().map(|bytes| TString::from(bytes.clone())).collect()));
    }
    if !list.i.is_empty() {
        found.push(AttrValue::ListInt(list.i.clone()));
    }
    if !list.f.is_empty() {
        found.push(AttrValue::ListFloat(list.f.clone()));
    }
    if !list.b.is_empty() {
        found.push(AttrValue::ListBool(list.b.clone()));
    }
    if !list.r#type.is_empty() {
        found.push(AttrValue::ListType(list.r#type.iter().map(|&number| dtype(number)).collect::<Result<_>>()?));
    }
    if !list.shape.is_empty() {
        found.push(AttrValue::ListShape(list.shape.iter().map(shape_from_proto).collect::<Result<_>>()?));
    }
    if !list.tensor.is_empty() {
        found.push(AttrValue::ListTensor(list.tensor.iter().map(tensor_from_proto).collect::<Result<_>>()?));
    }
    if !list.func.is_empty() {
        found.push(AttrValue::ListFunc(list.func.iter().map(function).collect::<Result<_>>()?));
    }
    match (found.pop(), found.is_empty()) {
        (None, _) => Ok(AttrValue::EmptyList),
        (Some(value), true) => Ok(value),
        (Some(_), false) => Err(Error::invalid_argument("an attr holds a list of several types")),
    }
}

/// The message that holds an attr value.
///
/// # Errors
/// UNIMPLEMENTED for variant tensors.
pub fn attr_to_proto(value: &AttrValue) -> Result<ProtoValue> {
    use attr_value::{ListValue, Value};
    let empty = ListValue::default;
    let name_list = |function: &FunctionRef| -> Result<NameAttrList> {
        let attr = function.attrs.iter().map(|(name, value)| Ok((name.clone(), attr_to_proto(value)?)));
        Ok(NameAttrList { name: function.name.clone(), attr: attr.collect::<Result<_>>()? })
    };
    let value = match value {
        AttrValue::String(text) => Value::S(text.clone().into_bytes()),
        AttrValue::Int(value) => Value::I(*value),
        AttrValue::Float(value) => Value::F(*value),
        AttrValue::Bool(value) => Value::B(*value),
        AttrValue::Type(dtype) => Value::Type(dtype.number()),
        AttrValue::Shape(shape) => Value::Shape(shape_to_proto(shape)),
        AttrValue::Tensor(tensor) => Value::Tensor(tensor_to_proto(tensor)?),
        AttrValue::Func(function) => Value::Func(name_list(function)?),
        AttrValue::Placeholder(name) => Value::Placeholder(name.clone()),
        AttrValue::EmptyList => Value::List(empty()),
        AttrValue::ListString(items) => {
            Value::List(ListValue { s: items.iter().map(|text| text.clone().into_bytes()).collect(), ..empty() })
        }
        AttrValue::ListInt(items) => Value::List(ListValue { i: items.clone(), ..empty() }),
        AttrValue::ListFloat(items) => Value::List(ListValue { f: items.clone(), ..empty() }),
        AttrValue::ListBool(items) => Value::List(ListValue { b: items.clone(), ..empty() }),
        AttrValue::ListType(items) => {
            Value::List(ListValue { r#type: items.iter().map(|dtype| dtype.number()).collect(), ..empty() })
        }
        AttrValue::ListShape(items) => {
            Value::List(ListValue { shape: items.iter().map(shape_to_proto).collect(), ..empty() })
        }
        AttrValue::ListTensor(items) => {
            Value::List(ListValue { tensor: items.iter().map(tensor_to_proto).collect::<Result<_>>()?, ..empty() })
        }
        AttrValue::ListFunc(items) => {
            Value::List(ListValue { func: items.iter().map(name_list).collect::<Result<_>>()?, ..empty() })
        }
    };
    Ok(ProtoValue { value: Some(value) })
}
