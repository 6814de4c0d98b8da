//! Random numbers as kernels for all devices draw them: generators, where they come from, what is checked.

pub mod index_shuffle;
pub mod philox;
pub mod source;

use kernlink::dtype::{DataType, Pod};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

/// Bits that a number of a varying distribution may take, in units of 32.
pub const RESERVED: u64 = 256;

/// The steps of a generator that TensorFlow reserves for `outputs` numbers.
pub fn reserved(outputs: usize) -> u64 {
    (outputs as u64).wrapping_mul(RESERVED)
}

/// The shape that a vector holds.
///
/// # Errors
/// INVALID_ARGUMENT unless it is a vector of int32 or int64, of sizes that a shape may have.
#[track_caller]
pub fn shape_of(tensor: &Tensor) -> Result<Shape> {
    ensure!(
        tensor.rank() == 1 && matches!(tensor.dtype(), DataType::Int32 | DataType::Int64),
        InvalidArgument,
        "shape must be a vector of int32 or int64, not {} of shape {}",
        tensor.dtype(),
        tensor.shape()
    );
    Shape::from_dims(&tensor.to_i64_vec()?)
}

/// Fails unless inputs `first` and `first + 1`, `minval` and `maxval`, are scalars.
///
/// # Errors
/// INVALID_ARGUMENT if they are not.
pub fn check_bounds(ctx: &RawContext<'_>, first: usize) -> Result<()> {
    for (input, name) in (first..).zip(["minval", "maxval"]) {
        let shape = ctx.input_at(input)?.shape();
        ensure!(shape.rank() == 0, InvalidArgument, "{name} must be a scalar, not of shape {shape}");
    }
    Ok(())
}

/// Inputs `first` and `first + 1`: the least integer, and the first that is too great.
///
/// # Errors
/// INVALID_ARGUMENT unless they are scalars between which there is an integer.
pub fn bounds<T: Pod + PartialOrd + std::fmt::Display>(ctx: &RawContext<'_>, first: usize) -> Result<[T; 2]> {
    check_bounds(ctx, first)?;
    let (low, high) = (ctx.input_at(first)?.to_scalar::<T>()?, ctx.input_at(first + 1)?.to_scalar::<T>()?);
    ensure!(low < high, InvalidArgument, "Need minval < maxval, got {low} >= {high}");
    Ok([low, high])
}
