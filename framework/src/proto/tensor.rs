//! `TensorProto` to [`Tensor`] and back.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use bytes::Bytes;

use super::string_content::{content_of_strings, places_in_content, strings_from_content};
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
/// not enough memory. What is in a variant is found out by who asks for it: [`Variant::from_parts`].
pub fn tensor_from_proto(proto: &TensorProto) -> Result<Tensor> {
    from_proto(proto, 0, &Cell::new(MOST_EMPTY))
}

/// The tensor in a message, in so many variants; `lacking` is how many variants may still lack in the message around.
fn from_proto(proto: &TensorProto, depth: u32, lacking: &Cell<usize>) -> Result<Tensor> {
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
        DataType::Variant if !proto.tensor_content.is_empty() => {
            let content = &proto.tensor_content;
            let places = places_in_content(&shape, content)?;
            let variant = |place: Range<usize>| variant_in_bytes(content.slice(place), depth, lacking);
            Tensor::from_vec(shape, scratch::collected_ok(places.into_iter().map(variant))?)
        }
        DataType::Variant => {
            // Those that lack hold nothing, and take memory all the same.
            let empty = shape.num_elements().saturating_sub(proto.variant_val.len());
            let Some(left) = lacking.get().checked_sub(empty) else {
                let message = format!("more than {MOST_EMPTY} variants lack in a message, which would hold nothing");
                return Err(Error::resource_exhausted(message));
            };
            lacking.set(left);
            let mut tensor = Tensor::zeros(dtype, shape)?;
            for (element, proto) in tensor.as_mut_slice::<Variant>()?.iter_mut().zip(&proto.variant_val) {
                *element = variant_from_proto(proto, depth, lacking)?;
            }
            Ok(tensor)
        }
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
            let text = |variant: &Variant| variant_to_bytes(variant).map(TString::from);
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

/// How deeply tensors are in variants of one another, at most. Each is two messages in one another, of which readers take a hundred, those
/// of a graph around them included.
const MOST_NESTED: u32 = 40;

/// How many variants may lack in a message, with those within others.
const MOST_EMPTY: usize = 1 << 20;

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
    let Some((metadata, tensors)) = value.parts()? else {
        let message = format!("a variant of type '{}' cannot be written to a message", value.type_name());
        return Err(Error::unimplemented(message));
    };
    if depth >= MOST_NESTED {
        return Err(Error::resource_exhausted(format!("more than {MOST_NESTED} variants are in one another")));
    }
    let tensors = tensors.iter().map(|tensor| field_to_proto(tensor, depth + 1)).collect::<Result<_>>()?;
    Ok(VariantTensorDataProto { type_name: value.type_name().to_owned(), metadata: metadata.into(), tensors })
}

/// The message of a variant, as [`tensor_to_proto`] has it.
///
/// # Errors
/// As [`tensor_to_proto`].
pub(crate) fn variant_to_bytes(variant: &Variant) -> Result<Vec<u8>> {
    encoded(&variant_to_proto(variant, 0)?)
}

/// The variant in a message that is in so many others.
///
/// # Errors
/// INVALID_ARGUMENT for what is no message of a variant; otherwise as [`tensor_from_proto`].
pub(crate) fn variant_from_bytes(bytes: Bytes, depth: u32) -> Result<Variant> {
    variant_in_bytes(bytes, depth, &Cell::new(MOST_EMPTY))
}

fn variant_in_bytes(bytes: Bytes, depth: u32, lacking: &Cell<usize>) -> Result<Variant> {
    let malformed = |error| Error::invalid_argument(format!("the message of a variant is malformed: {error}"));
    variant_from_proto(&VariantTensorDataProto::decode(bytes).map_err(malformed)?, depth, lacking)
}

fn variant_from_proto(proto: &VariantTensorDataProto, depth: u32, lacking: &Cell<usize>) -> Result<Variant> {
    let VariantTensorDataProto { type_name, metadata, tensors } = proto;
    if type_name.is_empty() {
        if !metadata.is_empty() || !tensors.is_empty() {
            return Err(Error::invalid_argument("the message of a variant names no type"));
        }
        return Ok(Variant::default());
    }
    if depth >= MOST_NESTED {
        return Err(Error::resource_exhausted(format!("more than {MOST_NESTED} variants are in one another")));
    }
    let tensors = scratch::collected_ok(tensors.iter().map(|tensor| from_proto(tensor, depth + 1, lacking)))?;
    Ok(Variant::from_parts(type_name, scratch::copied(metadata)?, tensors))
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
    use crate::error::Code;
    use crate::proto::DataType as ProtoType;

    /// A value that holds another, in fields or in content.
    fn within(inner: &TensorProto, in_content: bool) -> TensorProto {
        let value =
            VariantTensorDataProto { type_name: "Box".to_owned(), tensors: vec![inner.clone()], ..Default::default() };
        let mut outer = without_elements(&Tensor::scalar(Variant::default()));
        if in_content {
            outer.tensor_content = content_of_strings(&[TString::from(value.encode_to_vec())]).unwrap();
        } else {
            outer.variant_val = vec![value];
        }
        outer
    }

    #[test]
    fn variants_in_one_another_are_read_and_written_as_deeply() {
        for in_content in [|_| false, |_| true, |level| level % 2 == 0] {
            let mut proto = without_elements(&Tensor::scalar(Variant::default()));
            for level in 0..MOST_NESTED {
                proto = within(&proto, in_content(level));
            }
            // What is written in fields is read again, after it was bytes.
            let read = tensor_from_proto(&proto).unwrap();
            let bytes = tensor_to_attr_proto(&read).unwrap().encode_to_vec();
            assert_eq!(
                tensor_from_proto(&TensorProto::decode(&bytes[..]).unwrap()).unwrap().dtype(),
                DataType::Variant
            );
            for level in 0..200 {
                proto = within(&proto, in_content(level));
                assert_eq!(tensor_from_proto(&proto).unwrap_err().code(), Code::ResourceExhausted);
            }
        }
    }

    #[test]
    fn messages_have_every_dtype() {
        for &dtype in DataType::ALL {
            let proto = ProtoType::try_from(dtype.number()).map(|proto| proto.as_str_name());
            assert_eq!(proto, Ok(dtype.proto_name()));
        }
    }
}
