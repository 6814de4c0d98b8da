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
    macro_rules! field {
        ($field:ident, $variant:ident, $convert:expr) => {
            if !list.$field.is_empty() {
                found.push(AttrValue::$variant(list.$field.iter().map($convert).collect::<Result<_>>()?));
            }
        };
    }
    field!(s, ListString, |bytes| Ok(TString::from(bytes.clone())));
    field!(i, ListInt, |&value| Ok(value));
    field!(f, ListFloat, |&value| Ok(value));
    field!(b, ListBool, |&value| Ok(value));
    field!(r#type, ListType, |&number| dtype(number));
    field!(shape, ListShape, shape_from_proto);
    field!(tensor, ListTensor, tensor_from_proto);
    field!(func, ListFunc, function);
    match (found.pop(), found.is_empty()) {
        (None, _) => Ok(AttrValue::EmptyList),
        (Some(value), true) => Ok(value),
        (Some(_), false) => Err(Error::invalid_argument("an attr holds a list of several types")),
    }
}

/// The message that holds an attr value.
///
/// # Errors
/// UNIMPLEMENTED for variants that no message can hold.
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
