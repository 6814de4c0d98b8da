//! The fields of a `TensorProto` that hold values, by dtype.

use super::TensorProto;
use crate::dtype::{DataType, Element, TString, for_each_dtype, types::*};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::{Tensor, scratch};

macro_rules! fields {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
    )*) => {
        /// The tensor whose values are in the field of its dtype.
        ///
        /// # Errors
        /// INVALID_ARGUMENT for half a complex number; INTERNAL for resources and variants; RESOURCE_EXHAUSTED if there
        /// is not enough memory.
        pub(super) fn from_values(dtype: DataType, shape: Shape, proto: &TensorProto) -> Result<Tensor> {
            match dtype {
                $(DataType::$variant => get!($kind $element, shape, &proto.$field),)*
            }
        }

        /// How many elements the field of a dtype holds.
        pub(crate) fn number_of_values(dtype: DataType, proto: &TensorProto) -> usize {
            match dtype {
                $(DataType::$variant => proto.$field.len() / if dtype.is_complex() { 2 } else { 1 },)*
            }
        }

        /// Puts the first `count` elements into the field of their dtype.
        ///
        /// # Errors
        /// INTERNAL for resources and variants; RESOURCE_EXHAUSTED if there is not enough memory.
        pub(crate) fn put_values(tensor: &Tensor, count: usize, proto: &mut TensorProto) -> Result<()> {
            match tensor.dtype() {
                $(DataType::$variant => put!($kind $element $field, tensor, count, proto),)*
            }
            Ok(())
        }
    };
}

macro_rules! get {
    (Object TString, $shape:expr, $values:expr) => {
        fill($shape, $values, |bytes| TString::from(bytes.clone()))
    };
    (Object $element:ident, $shape:expr, $values:expr) => {
        objects()
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

macro_rules! put {
    (Object TString $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.$field = list($tensor, $count, |text: &TString| text.clone().into_bytes())?
    };
    (Object $element:ident $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        objects()?
    };
    (Complex $element:ident $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.$field = list($tensor, $count, |value: &$element| [value.re, value.im])?.into_flattened()
    };
    (Float $element:ident half_val, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.half_val = list($tensor, $count, |value: &$element| value.to_bits().into())?
    };
    (SmallFloat $element:ident $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.$field = list($tensor, $count, |value: &$element| value.0)?.into()
    };
    (Quantized $element:ident $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.$field = list($tensor, $count, |value: &$element| value.0.into())?
    };
    (SmallInteger $element:ident $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.$field = list($tensor, $count, |value: &$element| value.0.into())?
    };
    ($kind:ident $element:ident $field:ident, $tensor:expr, $count:expr, $proto:expr) => {
        $proto.$field = list($tensor, $count, |&value: &$element| value.into())?
    };
}

for_each_dtype!(fields);

fn objects<T>() -> Result<T> {
    Err(Error::internal("resources and variants are no plain values"))
}

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
pub(super) fn fill<V, T: Element>(shape: Shape, values: &[V], convert: impl Fn(&V) -> T) -> Result<Tensor> {
    let values = &values[..values.len().min(shape.num_elements())];
    let Some(last) = values.last() else { return Tensor::zeros(T::DTYPE, shape) };
    let mut tensor = if T::DTYPE.is_pod() { Tensor::alloc(T::DTYPE, shape)? } else { Tensor::zeros(T::DTYPE, shape)? };
    let (head, tail) = tensor.as_mut_slice::<T>()?.split_at_mut(values.len());
    head.iter_mut().zip(values).for_each(|(element, value)| *element = convert(value));
    tail.fill(convert(last));
    Ok(tensor)
}

/// The first `count` elements as a field has them.
fn list<T: Element, V>(tensor: &Tensor, count: usize, convert: impl Fn(&T) -> V) -> Result<Vec<V>> {
    scratch::collected(tensor.as_slice::<T>()?.iter().take(count).map(convert))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch_pod;
    use crate::dtype::{Pod, Scalar};

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
