//! Integers that kernels read from host memory: shapes, axes, sizes.

use kernlink::error::{Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// The elements of a vector of integers.
#[track_caller]
pub(super) fn vector(tensor: &Tensor, name: &str) -> Result<Vec<i64>> {
    ensure!(tensor.rank() == 1, InvalidArgument, "{name} must be a vector, not of shape {}", tensor.shape());
    tensor.to_i64_vec()
}

/// The elements of a vector of integers, or the one of a scalar: an old way to state a shape.
#[track_caller]
pub(super) fn vector_or_scalar(tensor: &Tensor, name: &str) -> Result<Vec<i64>> {
    ensure!(tensor.rank() <= 1, InvalidArgument, "{name} must be a vector, not of shape {}", tensor.shape());
    tensor.to_i64_vec()
}

/// The rows of an `[n, 2]` tensor of integers, none of which is negative.
#[track_caller]
pub(super) fn widths(tensor: &Tensor, rows: usize, name: &str) -> Result<Vec<[usize; 2]>> {
    let expected = Shape::from([rows, 2]);
    ensure!(*tensor.shape() == expected, InvalidArgument, "{name} must have shape {expected}, not {}", tensor.shape());
    let pairs = tensor.to_i64_vec()?;
    let width = |[before, after]: &[i64; 2]| match (usize::try_from(*before), usize::try_from(*after)) {
        (Ok(before), Ok(after)) => Ok([before, after]),
        _ => bail!(InvalidArgument, "{name} must be non-negative: {before} {after}"),
    };
    pairs.as_chunks::<2>().0.iter().map(width).collect()
}

/// Fails unless the tensor is a scalar.
#[track_caller]
pub(super) fn ensure_scalar(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar, not of shape {}", tensor.shape());
    Ok(())
}

/// Fails unless the tensor is a scalar, or a vector of one element, an old way to write a scalar.
#[track_caller]
pub(super) fn ensure_single(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(
        tensor.rank() <= 1 && tensor.num_elements() == 1,
        InvalidArgument,
        "{name} must be a scalar, not of shape {}",
        tensor.shape()
    );
    Ok(())
}

/// The integer in a scalar.
#[track_caller]
pub(super) fn scalar(tensor: &Tensor, name: &str) -> Result<i64> {
    ensure_scalar(tensor, name)?;
    single(tensor, name)
}

/// The integer in a tensor of one element.
#[track_caller]
pub(super) fn single(tensor: &Tensor, name: &str) -> Result<i64> {
    match tensor.to_i64_vec()?.as_slice() {
        [value] => Ok(*value),
        values => bail!(InvalidArgument, "{name} must have exactly one element, not {}", values.len()),
    }
}

/// `axis` of a tensor with `rank` dimensions, counted from the end if negative.
#[track_caller]
pub(super) fn axis(axis: i64, rank: usize, name: &str) -> Result<usize> {
    kernlink::shape::resolve_axis(axis, rank).map_err(|error| error.context(name))
}

/// The shape with these sizes.
///
/// # Errors
/// INVALID_ARGUMENT if a size overflowed on the way here, or for too many elements.
#[track_caller]
pub(super) fn checked_shape(dims: impl IntoIterator<Item = Option<usize>>) -> Result<Shape> {
    let shape =
        dims.into_iter().collect::<Option<Shape>>().ok_or_else(|| Error::invalid_argument("a size overflows"))?;
    shape.check()?;
    Ok(shape)
}
