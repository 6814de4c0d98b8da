//! `TensorProto` to [`Tensor`] and back.

use std::borrow::Cow;

use super::{ResourceHandleProto, TensorProto};
use crate::dtype::{DataType, Element, TString, for_each_dtype, types::*};
use crate::error::{Error, Result};
use crate::proto::{shape_from_proto, shape_to_proto};
use crate::shape::Shape;
use crate::tensor::{ResourceHandle, Tensor};

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
        DataType::String => fill(shape, &proto.string_val, |bytes| TString::from(bytes.clone())),
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
pub(crate) fn from_content(dtype: DataType, shape: Shape, content: &[u8]) -> Result<Tensor> {
    let expected = shape.num_elements().checked_mul(dtype.size());
    if expected != Some(content.len()) {
        let message = format!("a {dtype} tensor of shape {shape} has {} bytes of content", content.len());
        return Err(Error::invalid_argument(message));
    }
    // TensorFlow leaves the upper bits of a narrow integer clear, whatever its sign.
    let extended = |extend: fn(u8) -> i8| content.iter().map(|&byte| extend(byte) as u8).collect::<Vec<_>>();
    match dtype {
        DataType::Int4 => return Tensor::from_bytes(dtype, shape, &extended(|byte| Int4::from_low_bits(byte).0)),
        DataType::Int2 => return Tensor::from_bytes(dtype, shape, &extended(|byte| Int2::from_low_bits(byte).0)),
        _ => {}
    }
    #[cfg(target_endian = "little")]
    return Tensor::from_bytes(dtype, shape, content);
    #[cfg(target_endian = "big")]
    {
        let width = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
        let swapped: Vec<u8> = content.chunks(width).flat_map(|word| word.iter().rev().copied()).collect();
        Tensor::from_bytes(dtype, shape, &swapped)
    }
}

macro_rules! from_values {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
    )*) => {
        /// The tensor whose values are in the field of its dtype.
        fn from_values(dtype: DataType, shape: Shape, proto: &TensorProto) -> Result<Tensor> {
            match dtype {
                $(DataType::$variant => values!($kind $element, shape, &proto.$field),)*
            }
        }

        /// How many elements the field of a dtype holds.
        pub(crate) fn number_of_values(dtype: DataType, proto: &TensorProto) -> usize {
            match dtype {
                $(DataType::$variant => proto.$field.len() / if dtype.is_complex() { 2 } else { 1 },)*
            }
        }
    };
}

macro_rules! values {
    (Object $element:ident, $shape:expr, $values:expr) => {
        Err(Error::internal("objects are read elsewhere"))
    };
    (Bool $element:ident, $shape:expr, $values:expr) => {
        fill($shape, $values, |&value| value)
    };
    (Complex $element:ident, $shape:expr, $values:expr) => {
        fill($shape, pairs($values)?, |&[re, im]| $element::new(re, im))
    };
    (SmallInteger $element:ident, $shape:expr, $values:expr) => {
        fill($shape, $values, |&value| $element::from_low_bits(value as u8))
    };
    (SmallFloat $element:ident, $shape:expr, $values:expr) => {
        fill($shape, $values, |&value| $element::from_low_bits(value))
    };
    ($kind:ident $element:ident, $shape:expr, $values:expr) => {
        fill($shape, $values, low_bytes::<_, $element>)
    };
}

for_each_dtype!(from_values);

/// The element whose bytes are the lowest of a value.
fn low_bytes<V: bytemuck::NoUninit, T: bytemuck::AnyBitPattern>(value: &V) -> T {
    let bytes = bytemuck::bytes_of(value);
    let first = if cfg!(target_endian = "little") { 0 } else { size_of::<V>() - size_of::<T>() };
    bytemuck::pod_read_unaligned(&bytes[first..first + size_of::<T>()])
}

fn pairs<P>(parts: &[P]) -> Result<&[[P; 2]]> {
    match parts.as_chunks() {
        (pairs, []) => Ok(pairs),
        _ => Err(Error::invalid_argument("a complex tensor has an odd number of parts")),
    }
}

/// The tensor of these values, the last of which stands for those that lack.
fn fill<V, T: Element>(shape: Shape, values: &[V], convert: impl Fn(&V) -> T) -> Result<Tensor> {
    let values = &values[..values.len().min(shape.num_elements())];
    let Some(last) = values.last() else { return Tensor::zeros(T::DTYPE, shape) };
    let mut tensor = if T::DTYPE.is_pod() { Tensor::alloc(T::DTYPE, shape)? } else { Tensor::zeros(T::DTYPE, shape)? };
    let (head, tail) = tensor.as_mut_slice::<T>()?.split_at_mut(values.len());
    head.iter_mut().zip(values).for_each(|(element, value)| *element = convert(value));
    tail.fill(convert(last));
    Ok(tensor)
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
/// UNIMPLEMENTED for variants.
pub fn tensor_to_proto(tensor: &Tensor) -> Result<TensorProto> {
    let mut proto = TensorProto {
        dtype: tensor.dtype().number(),
        tensor_shape: Some(shape_to_proto(&tensor.shape().into())),
        ..TensorProto::default()
    };
    match tensor.dtype() {
        DataType::String => {
            proto.string_val = tensor.as_slice::<TString>()?.iter().map(|s| s.clone().into_bytes()).collect();
        }
        DataType::Resource => {
            let to_proto = |handle: &ResourceHandle| ResourceHandleProto {
                device: handle.device.clone(),
                container: handle.container.clone(),
                name: handle.name.clone(),
                maybe_type_name: handle.type_name.clone(),
                ..ResourceHandleProto::default()
            };
            proto.resource_handle_val = tensor.as_slice::<ResourceHandle>()?.iter().map(to_proto).collect();
        }
        DataType::Variant => return Err(Error::unimplemented("variant tensors cannot be written to messages")),
        dtype => {
            debug_assert!(dtype.is_pod());
            proto.tensor_content = content_of(tensor)?.into_owned().into();
        }
    }
    Ok(proto)
}

/// The elements of a tensor of plain bytes in little-endian order.
///
/// # Errors
/// INVALID_ARGUMENT for string, resource and variant.
pub(crate) fn content_of(tensor: &Tensor) -> Result<Cow<'_, [u8]>> {
    let bytes = tensor.bytes()?;
    if cfg!(target_endian = "little") {
        return Ok(Cow::Borrowed(bytes));
    }
    let dtype = tensor.dtype();
    let width = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
    Ok(Cow::Owned(bytes.chunks(width).flat_map(|word| word.iter().rev().copied()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch_pod;
    use crate::dtype::{Pod, Scalar};
    use crate::proto::DataType as ProtoType;

    #[test]
    fn messages_have_every_dtype() {
        for &dtype in DataType::ALL {
            let proto = ProtoType::try_from(dtype.number()).map(|proto| proto.as_str_name());
            assert_eq!(proto, Ok(dtype.proto_name()));
        }
    }

    #[test]
    fn elements_are_the_low_bits_of_values() {
        fn first<T: Pod>(tensor: &Tensor) -> Scalar {
            tensor.as_slice::<T>().unwrap()[0].to_scalar()
        }
        let proto = TensorProto {
            int_val: vec![-3],
            half_val: vec![0x3f80],
            float8_val: vec![0x38].into(),
            scomplex_val: vec![1.0, 2.0],
            uint64_val: vec![u64::MAX],
            ..TensorProto::default()
        };
        for (dtype, expected) in [
            (DataType::Int32, Scalar::Integer(-3)),
            (DataType::Int8, Scalar::Integer(-3)),
            (DataType::Uint16, Scalar::Integer(0xfffd)),
            (DataType::Qint16, Scalar::Integer(-3)),
            (DataType::Int4, Scalar::Integer(-3)),
            (DataType::Uint2, Scalar::Integer(1)),
            (DataType::Bfloat16, Scalar::Float(1.0)),
            (DataType::Half, Scalar::Float(1.875)),
            (DataType::Float8E4m3fn, Scalar::Float(1.0)),
            (DataType::Float4E2m1fn, Scalar::Float(-0.0)),
            (DataType::Complex64, Scalar::Complex(Complex64::new(1.0, 2.0))),
            (DataType::Uint64, Scalar::Integer(u64::MAX.into())),
        ] {
            let tensor = from_values(dtype, Shape::from(vec![2]), &proto).unwrap();
            assert_eq!(dispatch_pod!(dtype, T => first::<T>(&tensor)), Some(expected), "{dtype}");
        }
        assert!(
            from_values(DataType::Complex64, Shape::scalar(), &TensorProto { scomplex_val: vec![1.0], ..proto })
                .is_err()
        );
    }
}
