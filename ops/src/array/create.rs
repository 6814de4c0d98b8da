//! Tensors made from a shape or a few numbers.

use std::fmt::Display;

use kernlink::dtype::{DataType, Element, bf16, f16};
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_op;

use crate::infer::integer;
use crate::shapes;

/// A tensor of the given shape with one value in every place.
#[register_op(
    attr("T: type"),
    attr("index_type: {int32, int64} = DT_INT32"),
    input("dims: index_type", "The shape, a vector."),
    input("value: T", "The value, a scalar."),
    output("output: T"),
    shape_fn = fill_shape,
)]
pub struct Fill;

fn fill_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    c.with_rank(c.input(1), 0)?;
    if let Some(dims) = c.input_i64s(0)? {
        ensure!(dims.iter().all(|&dim| dim >= 0), InvalidArgument, "Fill dimensions must be >= 0, not {dims:?}");
    }
    let output = c.make_shape_from_shape_tensor(0)?;
    shapes::output_shape(c, output)
}

/// Zeros in the shape of `x`; for strings empty ones.
#[register_op(attr("T: type"), input("x: T"), output("y: T"), shape_fn = shapes::unchanged_shape)]
pub struct ZerosLike;

/// Ones in the shape of `x`.
#[register_op(
    attr(
        "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, \
         complex128, bool}",
    ),
    input("x: T"),
    output("y: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct OnesLike;

/// The numbers from `start` up to but without `limit`, in steps of `delta`; all are scalars.
///
/// `delta` must not be zero, and must lead from `start` towards `limit`.
#[register_op(
    attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32"),
    input("start: Tidx", "The first number."),
    input("limit: Tidx", "Where to stop; not included."),
    input("delta: Tidx", "The step."),
    output("output: Tidx"),
    shape_fn = range_shape,
)]
pub struct Range;

fn range_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for (i, name) in ["start", "limit", "delta"].into_iter().enumerate() {
        c.with_rank(c.input(i), 0).map_err(|error| error.append(format!(" for '{name}'")))?;
    }
    let size = match (c.input_tensor(0), c.input_tensor(1), c.input_tensor(2)) {
        (Some(start), Some(limit), Some(delta)) => range_size(start, limit, delta)?,
        _ => -1,
    };
    shapes::output_shape(c, c.vector(size))
}

/// How many numbers there are; −1 if NaN is among the inputs.
fn range_size(start: &Tensor, limit: &Tensor, delta: &Tensor) -> Result<i64> {
    /// Checks the direction, in the dtype itself: narrow floats round.
    fn check<T: Element + PartialOrd + Display>(start: T, limit: T, delta: T, zero: T) -> Result<()> {
        ensure!(
            !(start > limit && delta > zero),
            InvalidArgument,
            "Requires start <= limit when delta > 0: {start}/{limit}"
        );
        ensure!(
            !(start < limit && delta < zero),
            InvalidArgument,
            "Requires start >= limit when delta < 0: {start}/{limit}"
        );
        ensure!(delta != zero, InvalidArgument, "Requires delta != 0");
        Ok(())
    }
    let too_many = || Error::invalid_argument(format!("Requires ((limit - start) / delta) <= {}", i64::MAX));
    macro_rules! integers {
        ($t:ty) => {{
            let (start, limit, delta) = (start.to_scalar::<$t>()?, limit.to_scalar::<$t>()?, delta.to_scalar::<$t>()?);
            check(start, limit, delta, 0)?;
            let (distance, step) = ((limit as i128 - start as i128).unsigned_abs(), (delta as i128).unsigned_abs());
            i64::try_from(distance.div_ceil(step)).map_err(|_| too_many())
        }};
    }
    macro_rules! floats {
        ($t:ty) => {{
            let (start, limit, delta) = (start.to_scalar::<$t>()?, limit.to_scalar::<$t>()?, delta.to_scalar::<$t>()?);
            check(start, limit, delta, <$t>::from(0u8))?;
            let size = f64::from((limit - start) / delta).abs().ceil();
            match size {
                _ if size.is_nan() => Ok(-1),
                _ if size < i64::MAX as f64 => Ok(size as i64),
                _ => Err(too_many()),
            }
        }};
    }
    match start.dtype() {
        DataType::Int8 => integers!(i8),
        DataType::Int16 => integers!(i16),
        DataType::Int32 => integers!(i32),
        DataType::Int64 => integers!(i64),
        DataType::Uint16 => integers!(u16),
        DataType::Uint32 => integers!(u32),
        DataType::Uint64 => integers!(u64),
        DataType::Half => floats!(f16),
        DataType::Bfloat16 => floats!(bf16),
        DataType::Float => floats!(f32),
        DataType::Double => floats!(f64),
        other => bail!(InvalidArgument, "Unsupported dtype {other}"),
    }
}

/// `num` numbers at equal distances from `start` to `stop`, both included; all are scalars.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    attr("Tidx: {int32, int64} = DT_INT32"),
    input("start: T", "The first number."),
    input("stop: T", "The last number, unless `num` is 1."),
    input("num: Tidx", "How many; at least 1."),
    output("output: T"),
    shape_fn = lin_space_shape,
)]
pub struct LinSpace;

fn lin_space_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for (i, name) in ["start", "stop", "num"].into_iter().enumerate() {
        c.with_rank(c.input(i), 0).map_err(|error| error.append(format!(" for '{name}'")))?;
    }
    let num = match c.input_tensor(2) {
        Some(num) => {
            let num = integer(num)?;
            ensure!(num > 0, InvalidArgument, "Requires num > 0: {num}");
            num
        }
        None => -1,
    };
    shapes::output_shape(c, c.vector(num))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Inference, infer};

    use super::*;

    #[test]
    fn fills() {
        let op = || infer::<Fill>().attr("T", DataType::Float);
        op().ok("?;?", "?");
        op().ok("[?];?", "?");
        op().ok("[4];?", "[?,?,?,?]");
        let dims = |dims: &[i32]| op().tensor(0, Tensor::vector(dims).unwrap());
        dims(&[1, 2, 3, 4]).ok("[4];[]", "[1,2,3,4]");
        dims(&[1, -1]).error("Fill dimensions must be >= 0", "[2];[]");
        op().error("must be rank 1", "[];[]");
        op().error("must be rank 0", "[1];[1]");
    }

    #[test]
    fn ranges() {
        fn op<T: Element>(start: T, limit: T, delta: T) -> Inference {
            let op = infer::<Range>().attr("Tidx", T::DTYPE);
            op.tensor(0, Tensor::scalar(start)).tensor(1, Tensor::scalar(limit)).tensor(2, Tensor::scalar(delta))
        }
        infer::<Range>().ok("?;?;?", "[?]");
        op(1i32, 4, 1).ok("[];[];[]", "[3]");
        op(10i32, 2, -3).ok("[];[];[]", "[3]");
        op(5i32, 5, 1).ok("[];[];[]", "[0]");
        op(i32::MIN, i32::MAX, 1).ok("[];[];[]", "[4294967295]");
        op(0u64, u64::MAX, u64::MAX).ok("[];[];[]", "[1]");
        op(0.0f32, 1.0, 0.3).ok("[];[];[]", "[4]");
        op(bf16::from_f32(0.0), bf16::from_f32(1.0), bf16::from_f32(0.1)).ok("[];[];[]", "[10]");
        op(0.0f64, f64::NAN, 1.0).ok("[];[];[]", "[?]");
        op(0u64, u64::MAX, 1).error("Requires ((limit - start) / delta)", "[];[];[]");
        op(0.0f64, f64::INFINITY, 1.0).error("Requires ((limit - start) / delta)", "[];[];[]");
        op(4i32, 1, 1).error("Requires start <= limit when delta > 0: 4/1", "[];[];[]");
        op(1i32, 4, -1).error("Requires start >= limit when delta < 0: 1/4", "[];[];[]");
        op(1i32, 4, 0).error("Requires delta != 0", "[];[];[]");
        infer::<Range>().error("for 'limit'", "?;[1];?");
    }

    #[test]
    fn lin_spaces() {
        let op = || infer::<LinSpace>().attr("T", DataType::Float);
        op().ok("?;?;?", "[?]");
        op().tensor(2, Tensor::scalar(2i32)).ok("[];[];[]", "[2]");
        op().tensor(2, Tensor::scalar(0i32)).error("Requires num > 0: 0", "[];[];[]");
        op().error("for 'stop'", "?;[1,2];?");
    }
}
