//! Tensors that are one element again and again.

use super::integers::{ensure_single, vector_or_scalar};
use kernlink::bail;
use kernlink::dtype::{Complex32, Complex64, DataType, bf16, f16};
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

/// The shape that `dims` describes, of a tensor that is filled with `value`.
///
/// # Errors
/// INVALID_ARGUMENT if `dims` describes none, or `value` is not one element.
pub fn filled(dims: &Tensor, value: &Tensor) -> Result<Shape> {
    let shape = Shape::from_dims(&vector_or_scalar(dims, "dims")?)?;
    ensure_single(value, "value")?;
    Ok(shape)
}

/// 1 of a dtype.
///
/// # Errors
/// INVALID_ARGUMENT if it has none.
pub fn one(dtype: DataType) -> Result<Tensor> {
    Ok(match dtype {
        DataType::Bool => Tensor::from(true),
        DataType::Float => Tensor::from(1f32),
        DataType::Double => Tensor::from(1f64),
        DataType::Half => Tensor::from(f16::ONE),
        DataType::Bfloat16 => Tensor::from(bf16::ONE),
        DataType::Int8 => Tensor::from(1i8),
        DataType::Int16 => Tensor::from(1i16),
        DataType::Int32 => Tensor::from(1i32),
        DataType::Int64 => Tensor::from(1i64),
        DataType::Uint8 => Tensor::from(1u8),
        DataType::Uint16 => Tensor::from(1u16),
        DataType::Uint32 => Tensor::from(1u32),
        DataType::Uint64 => Tensor::from(1u64),
        DataType::Complex64 => Tensor::from(Complex32::new(1.0, 0.0)),
        DataType::Complex128 => Tensor::from(Complex64::new(1.0, 0.0)),
        other => bail!(InvalidArgument, "{other} has no 1"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_filled_with_one_element() {
        let (dims, one) = (Tensor::vector(&[2i32, 3]).unwrap(), one(DataType::Half).unwrap());
        assert_eq!(one.to_scalar::<f16>().unwrap(), f16::ONE);
        assert_eq!(filled(&dims, &one).unwrap(), Shape::from([2, 3]));
        assert_eq!(filled(&Tensor::scalar(4i64), &one).unwrap(), Shape::from([4]));
        assert!(filled(&dims, &dims).is_err());
        assert!(filled(&Tensor::scalar(-1i32), &one).is_err());
        assert!(super::one(DataType::String).is_err());
    }
}
