//! Tensors in few values: those that repeat the last one are left out, as [`tensor_from_proto`](super::tensor_from_proto)
//! and TensorFlow read them.

use super::{TensorProto, shape_to_proto, tensor_to_proto};
use crate::dtype::{
    Complex32, Complex64, DataType, Int2, Int4, Pod, QInt8, QInt16, QInt32, QUInt8, QUInt16, TString, UInt2, UInt4,
    bf16, f16,
};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, may_request};

/// The most bytes of a value that is a number of its own in a message: a negative integer takes so many.
const VALUE: usize = 10;

/// The message that holds a tensor, in as few values as that is shorter in.
///
/// # Errors
/// UNIMPLEMENTED for variants; RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn tensor_to_compact_proto(tensor: &Tensor) -> Result<TensorProto> {
    let (dtype, count) = (tensor.dtype(), tensor.num_elements());
    let compact = || TensorProto {
        dtype: dtype.number(),
        tensor_shape: Some(shape_to_proto(&tensor.shape().into())),
        ..TensorProto::default()
    };
    if dtype == DataType::String && count > 0 {
        let texts = tensor.as_slice::<TString>()?;
        let string_val = texts[..without_repeats(texts.iter())].iter().map(|text| text.clone().into_bytes()).collect();
        return Ok(TensorProto { string_val, ..compact() });
    }
    if !dtype.is_pod() || count == 0 {
        return tensor_to_proto(tensor);
    }
    let bytes = tensor.bytes()?;
    let kept = without_repeats(bytes.chunks_exact(dtype.size()));
    if kept.saturating_mul(dtype.size().max(VALUE)) < bytes.len() {
        let mut proto = compact();
        put_values(tensor, kept, &mut proto)?;
        return Ok(proto);
    }
    if !may_request(bytes.len()) {
        let message = format!("there is not enough memory to write a tensor of {} bytes", bytes.len());
        return Err(Error::resource_exhausted(message));
    }
    tensor_to_proto(tensor)
}

/// How many elements there are up to the first of those at the end that are alike.
fn without_repeats<T: PartialEq>(mut elements: impl DoubleEndedIterator<Item = T> + ExactSizeIterator) -> usize {
    let Some(last) = elements.next_back() else { return 0 };
    elements.rposition(|element| element != last).map_or(1, |other| other + 2)
}

/// Puts the first `kept` elements into the field of their dtype.
fn put_values(tensor: &Tensor, kept: usize, proto: &mut TensorProto) -> Result<()> {
    fn values<T: Pod, V>(tensor: &Tensor, kept: usize, convert: impl Fn(T) -> V) -> Result<Vec<V>> {
        Ok(tensor.as_slice::<T>()?[..kept].iter().map(|&value| convert(value)).collect())
    }
    macro_rules! put {
        ($field:ident, $convert:expr) => {
            proto.$field = values(tensor, kept, $convert)?
        };
    }
    match tensor.dtype() {
        DataType::Float => put!(float_val, |v: f32| v),
        DataType::Double => put!(double_val, |v: f64| v),
        DataType::Int32 => put!(int_val, |v: i32| v),
        DataType::Int64 => put!(int64_val, |v: i64| v),
        DataType::Uint32 => put!(uint32_val, |v: u32| v),
        DataType::Uint64 => put!(uint64_val, |v: u64| v),
        DataType::Bool => put!(bool_val, |v: bool| v),
        DataType::Uint8 => put!(int_val, |v: u8| v.into()),
        DataType::Int8 => put!(int_val, |v: i8| v.into()),
        DataType::Uint16 => put!(int_val, |v: u16| v.into()),
        DataType::Int16 => put!(int_val, |v: i16| v.into()),
        DataType::Qint8 => put!(int_val, |v: QInt8| v.0.into()),
        DataType::Quint8 => put!(int_val, |v: QUInt8| v.0.into()),
        DataType::Qint16 => put!(int_val, |v: QInt16| v.0.into()),
        DataType::Quint16 => put!(int_val, |v: QUInt16| v.0.into()),
        DataType::Qint32 => put!(int_val, |v: QInt32| v.0),
        DataType::Int4 => put!(int_val, |v: Int4| v.0.into()),
        DataType::Uint4 => put!(int_val, |v: UInt4| v.0.into()),
        DataType::Int2 => put!(int_val, |v: Int2| v.0.into()),
        DataType::Uint2 => put!(int_val, |v: UInt2| v.0.into()),
        DataType::Half => put!(half_val, |v: f16| v.to_bits().into()),
        DataType::Bfloat16 => put!(half_val, |v: bf16| v.to_bits().into()),
        DataType::Complex64 => proto.scomplex_val = values(tensor, kept, |v: Complex32| [v.re, v.im])?.concat(),
        DataType::Complex128 => proto.dcomplex_val = values(tensor, kept, |v: Complex64| [v.re, v.im])?.concat(),
        // Floats of a byte each.
        _ => proto.float8_val = tensor.bytes()?[..kept].to_vec().into(),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Message as _, tensor_from_proto};
    use super::*;
    use crate::shape::Shape;

    fn read_again(tensor: &Tensor) -> (Tensor, usize) {
        let proto = tensor_to_compact_proto(tensor).unwrap();
        (tensor_from_proto(&proto).unwrap(), proto.encoded_len())
    }

    #[test]
    fn what_repeats_is_written_once_whatever_the_dtype() {
        for dtype in DataType::ALL.iter().copied().filter(|dtype| dtype.is_pod()) {
            for head in [0, 3] {
                // All ones are the smallest negative integer; who has few bits takes few, and 1 is a bool.
                let byte = match dtype {
                    DataType::Bool => 1,
                    DataType::Uint4 | DataType::Uint2 | DataType::Float4E2m1fn => 3,
                    _ => 0xff,
                };
                let mut bytes = vec![byte; 1000 * dtype.size()];
                bytes[..head * dtype.size()].fill(0);
                let tensor = Tensor::from_bytes(dtype, Shape::from([10, 100]), &bytes).unwrap();
                let (read, size) = read_again(&tensor);
                assert_eq!((read.dtype(), read.shape()), (dtype, tensor.shape()));
                assert_eq!(read.bytes().unwrap(), tensor.bytes().unwrap(), "{dtype}");
                assert!(size < 120, "{dtype}: {size}");
            }
        }
        let texts = [&["a".into(), "b".into()], &vec![TString::from("c"); 998][..]].concat();
        let (read, size) = read_again(&Tensor::vector(&texts).unwrap());
        assert_eq!(read.as_slice::<TString>().unwrap(), texts);
        assert!(size < 40, "{size}");
    }

    #[test]
    fn no_message_is_longer_for_it() {
        let numbers: Vec<i32> = (-500..500).collect();
        for tensor in [
            Tensor::scalar(-1i32),
            Tensor::scalar(TString::from("x")),
            Tensor::vector(&numbers).unwrap(),
            Tensor::vector(&[-1i8; 9]).unwrap(),
            Tensor::vector(&[0f32; 0]).unwrap(),
            Tensor::vector(&[-0.0f64, f64::NAN, f64::NAN]).unwrap(),
        ] {
            let (read, size) = read_again(&tensor);
            assert_eq!(read.values_text(), tensor.values_text());
            assert!(size <= tensor_to_proto(&tensor).unwrap().encoded_len());
        }
    }
}
