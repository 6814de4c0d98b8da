//! Tensors in few values: those that repeat the last one are left out, as [`tensor_from_proto`](super::tensor_from_proto)
//! and TensorFlow read them.

use super::values::put_values;
use super::{TensorProto, shape_to_proto, tensor_to_proto};
use crate::dtype::{DataType, TString};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, may_request};

/// The most bytes of a value that is a number of its own in a message: a negative integer takes so many.
const VALUE: usize = 10;

/// The message that holds a tensor, in as few values as that is shorter in.
///
/// # Errors
/// UNIMPLEMENTED for variants that no message can hold; RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn tensor_to_compact_proto(tensor: &Tensor) -> Result<TensorProto> {
    let (dtype, count) = (tensor.dtype(), tensor.num_elements());
    let compact = || TensorProto {
        dtype: dtype.number(),
        tensor_shape: Some(shape_to_proto(&tensor.shape().into())),
        ..TensorProto::default()
    };
    if dtype == DataType::String && count > 0 {
        let mut proto = compact();
        put_values(tensor, without_repeats(tensor.as_slice::<TString>()?.iter()), &mut proto)?;
        return Ok(proto);
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
