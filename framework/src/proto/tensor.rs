//! `TensorProto` to [`Tensor`] and back.

use std::borrow::Cow;

use bytes::Bytes;

use super::string_content::{content_of_strings, strings_from_content};
use super::values::{fill, from_values, put_values};
use super::{Message, ResourceHandleProto, TensorProto, VariantTensorDataProto};
use crate::dtype::{DataType, Int2, Int4, TString};
use crate::error::{Error, Result};
use crate::proto::{shape_from_proto, shape_to_proto};
use crate::shape::Shape;
use crate::tensor::{ResourceHandle, Tensor, Variant, scratch};

/// The tensor in a message. As TensorFlow reads them, values that are fewer than the elements repeat the last one, and
/// values beyond the elements are left out.
///
/// # Errors
/// INVALID_ARGUMENT for an unknown dtype, a bad shape, or values that do not fit it; RESOURCE_EXHAUSTED if there is
/// not enough memory; UNIMPLEMENTED for variants.
pub fn tensor_from_proto(proto: &TensorProto) -> Result<Tensor> {
    let dtype = DataType::from_number(proto.dtype)
        .ok_or_else(|| Error::invalid_argument(format!("a tensor has the unknown dtype {}", proto.dtype)))?;
    let shape = match &proto.tensor_shape {
        None => Shape::scalar(),
        Some(shape) => shape_from_proto(shape)?
            .to_shape()
            .ok_or_else(|| Error::invalid_argument("a tensor's shape is not fully known"))?,
    };
    match dtype {
        DataType::String if !proto.tensor_content.is_empty() => strings_from_content(shape, &proto.tensor_content),
        DataType::String => from_values(dtype, shape, proto),
        DataType::Resource => fill(shape, &proto.resource_handle_val, handle_from_proto),
        DataType::Variant if shape.num_elements() == 0 => Tensor::zeros(dtype, shape),
        DataType::Variant => Err(Error::unimplemented("variant tensors cannot be read from messages")),
        _ if !proto.tensor_content.is_empty() => from_content(dtype, shape, &proto.tensor_content),
        _ => from_values(dtype, shape, proto),
    }
}

/// The tensor whose elements are these bytes, which are in little-endian order.
///
/// # Errors
/// INVALID_ARGUMENT if the number of bytes is not that of the shape; RESOURCE_EXHAUSTED if there is not enough memory.
///
/// A large part of a mapped file stays there.
pub(crate) fn from_content(dtype: DataType, shape: Shape, content: &Bytes) -> Result<Tensor> {
    if let Some(tensor) = Tensor::in_file(dtype, &shape, content) {
        return Ok(tensor);
    }
    let expected = shape.num_elements().checked_mul(dtype.size());
    if expected != Some(content.len()) {
        let message = format!("a {dtype} tensor of shape {shape} has {} bytes of content", content.len());
        return Err(Error::invalid_argument(message));
    }
    // TensorFlow leaves the upper bits of a narrow integer clear, whatever its sign.
    let extended = |extend: fn(u8) -> i8| scratch::collected(content.iter().map(|&byte| extend(byte) as u8));
    match dtype {
        DataType::Int4 => return Tensor::from_bytes(dtype, shape, &extended(|byte| Int4::from_low_bits(byte).0)?),
        DataType::Int2 => return Tensor::from_bytes(dtype, shape, &extended(|byte| Int2::from_low_bits(byte).0)?),
        _ => {}
    }
    #[cfg(target_endian = "little")]
    return Tensor::from_bytes(dtype, shape, content);
    #[cfg(target_endian = "big")]
    {
        let width = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
        let swapped: Vec<u8> = scratch::collected(content.chunks(width).flat_map(|word| word.iter().rev().copied()))?;
        Tensor::from_bytes(dtype, shape, &swapped)
    }
}

fn handle_from_proto(proto: &ResourceHandleProto) -> ResourceHandle {
    ResourceHandle {
        device: proto.device.clone(),
        container: proto.container.clone(),
        name: proto.name.clone(),
        type_name: proto.maybe_type_name.clone(),
        ..ResourceHandle::default()
    }
}

/// The message that holds a tensor.
///
/// # Errors
/// UNIMPLEMENTED for variants of a type that no message can hold; RESOURCE_EXHAUSTED if there is not enough memory, or variants
/// are in one another too deeply.
pub fn tensor_to_proto(tensor: &Tensor) -> Result<TensorProto> {
    let mut proto = without_elements(tensor);
    match tensor.dtype() {
        DataType::String => put_values(tensor, tensor.num_elements(), &mut proto)?,
        DataType::Resource => proto.resource_handle_val = handles(tensor)?,
        DataType::Variant => {
            let text = |variant: &Variant| encoded(&variant_to_proto(variant, 0)?).map(TString::from);
            let texts: Vec<TString> = scratch::collected_ok(tensor.as_slice::<Variant>()?.iter().map(text))?;
            proto.tensor_content = content_of_strings(&texts)?;
        }
        dtype => {
            debug_assert!(dtype.is_pod());
            proto.tensor_content = match content_of(tensor)? {
                Cow::Borrowed(bytes) => scratch::copied(bytes)?.into(),
                Cow::Owned(bytes) => bytes.into(),
            };
        }
    }
    Ok(proto)
}

/// The message that holds a tensor as TensorFlow writes the value of an attr: an element by itself as what it is, several as
/// content.
///
/// # Errors
/// As [`tensor_to_proto`].
pub fn tensor_to_attr_proto(tensor: &Tensor) -> Result<TensorProto> {
    match (tensor.dtype(), tensor.num_elements()) {
        (DataType::Resource, _) | (_, 0 | 1) => field_to_proto(tensor, 0),
        (DataType::String, _) => {
            let mut proto = without_elements(tensor);
            proto.tensor_content = content_of_strings(tensor.as_slice()?)?;
            Ok(proto)
        }
        _ => tensor_to_proto(tensor),
    }
}

/// The message of a tensor without what it holds.
fn without_elements(tensor: &Tensor) -> TensorProto {
    TensorProto {
        dtype: tensor.dtype().number(),
        tensor_shape: Some(shape_to_proto(&tensor.shape().into())),
        ..TensorProto::default()
    }
}

fn handles(tensor: &Tensor) -> Result<Vec<ResourceHandleProto>> {
    let to_proto = |handle: &ResourceHandle| ResourceHandleProto {
        device: handle.device.clone(),
        container: handle.container.clone(),
        name: handle.name.clone(),
        maybe_type_name: handle.type_name.clone(),
        ..ResourceHandleProto::default()
    };
    scratch::collected(tensor.as_slice::<ResourceHandle>()?.iter().map(to_proto))
}

/// How deeply tensors are in variants of one another, at most.
const MOST_NESTED: u32 = 100;

/// The message of a tensor that is in so many variants, in the fields of its dtype.
fn field_to_proto(tensor: &Tensor, depth: u32) -> Result<TensorProto> {
    let mut proto = without_elements(tensor);
    match tensor.dtype() {
        DataType::Resource => proto.resource_handle_val = handles(tensor)?,
        DataType::Variant => {
            let to_proto = |variant: &Variant| variant_to_proto(variant, depth);
            proto.variant_val = scratch::collected_ok(tensor.as_slice::<Variant>()?.iter().map(to_proto))?;
        }
        _ => put_values(tensor, tensor.num_elements(), &mut proto)?,
    }
    Ok(proto)
}

fn variant_to_proto(variant: &Variant, depth: u32) -> Result<VariantTensorDataProto> {
    let Some(value) = variant.value() else { return Ok(VariantTensorDataProto::default()) };
    let Some((metadata, tensors)) = value.parts() else {
        let message = format!("a variant of type '{}' cannot be written to a message", value.type_name());
        return Err(Error::unimplemented(message));
    };
    if depth >= MOST_NESTED {
        return Err(Error::resource_exhausted(format!("more than {MOST_NESTED} variants are in one another")));
    }
    let tensors = tensors.iter().map(|tensor| field_to_proto(tensor, depth + 1)).collect::<Result<_>>()?;
    Ok(VariantTensorDataProto { type_name: value.type_name().to_owned(), metadata: metadata.into(), tensors })
}

/// A message's bytes.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn encoded(message: &impl Message) -> Result<Vec<u8>> {
    let mut bytes = scratch::room(message.encoded_len())?;
    message.encode_raw(&mut bytes);
    Ok(bytes)
}

/// The elements of a tensor of plain bytes in little-endian order.
///
/// # Errors
/// INVALID_ARGUMENT for string, resource and variant; RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn content_of(tensor: &Tensor) -> Result<Cow<'_, [u8]>> {
    let bytes = tensor.bytes()?;
    if cfg!(target_endian = "little") {
        return Ok(Cow::Borrowed(bytes));
    }
    let dtype = tensor.dtype();
    let width = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
    scratch::collected(bytes.chunks(width).flat_map(|word| word.iter().rev().copied())).map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::DataType as ProtoType;

    #[test]
    fn messages_have_every_dtype() {
        for &dtype in DataType::ALL {
            let proto = ProtoType::try_from(dtype.number()).map(|proto| proto.as_str_name());
            assert_eq!(proto, Ok(dtype.proto_name()));
        }
    }
}
