//! Integers that kernels read from tensors: shapes, axes, sizes, indices.

use kernlink::error::{Error, Result};
use kernlink::shape::{MAX_RANK, Shape, resolve_axis};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};

/// The elements of a vector of integers.
///
/// # Errors
/// INVALID_ARGUMENT if it is none.
#[track_caller]
pub fn vector(tensor: &Tensor, name: &str) -> Result<Vec<i64>> {
    ensure!(tensor.rank() == 1, InvalidArgument, "{name} must be a vector, not of shape {}", tensor.shape());
    tensor.to_i64_vec()
}

/// The elements of a vector of integers, or the one of a scalar: an old way to state a shape.
///
/// # Errors
/// INVALID_ARGUMENT if it is neither.
#[track_caller]
pub fn vector_or_scalar(tensor: &Tensor, name: &str) -> Result<Vec<i64>> {
    ensure!(tensor.rank() <= 1, InvalidArgument, "{name} must be a vector, not of shape {}", tensor.shape());
    tensor.to_i64_vec()
}

/// The rows of an `[n, 2]` tensor of integers.
///
/// # Errors
/// INVALID_ARGUMENT for another shape.
#[track_caller]
pub fn pairs(tensor: &Tensor, rows: usize, name: &str) -> Result<Vec<[i64; 2]>> {
    let expected = Shape::from([rows, 2]);
    ensure!(*tensor.shape() == expected, InvalidArgument, "{name} must have shape {expected}, not {}", tensor.shape());
    scratch::copied(tensor.to_i64_vec()?.as_chunks::<2>().0)
}

/// Fails unless the tensor is a scalar.
///
/// # Errors
/// INVALID_ARGUMENT if it is none.
#[track_caller]
pub fn ensure_scalar(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar, not of shape {}", tensor.shape());
    Ok(())
}

/// Fails unless the tensor is a scalar, or a vector of one element, an old way to write a scalar.
///
/// # Errors
/// INVALID_ARGUMENT if it is neither.
#[track_caller]
pub fn ensure_single(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(
        tensor.rank() <= 1 && tensor.num_elements() == 1,
        InvalidArgument,
        "{name} must be a scalar, not of shape {}",
        tensor.shape()
    );
    Ok(())
}

/// The integer in a scalar.
///
/// # Errors
/// INVALID_ARGUMENT if it is none.
#[track_caller]
pub fn scalar(tensor: &Tensor, name: &str) -> Result<i64> {
    ensure_scalar(tensor, name)?;
    single(tensor, name)
}

/// The integer in a tensor of one element.
///
/// # Errors
/// INVALID_ARGUMENT for another number of elements.
#[track_caller]
pub fn single(tensor: &Tensor, name: &str) -> Result<i64> {
    match tensor.to_i64_vec()?.as_slice() {
        [value] => Ok(*value),
        values => bail!(InvalidArgument, "{name} must have exactly one element, not {}", values.len()),
    }
}

/// `axis` of a tensor with `rank` dimensions, counted from the end if negative.
///
/// # Errors
/// INVALID_ARGUMENT, beginning with `name`, if there is no such dimension.
#[track_caller]
pub fn axis(axis: i64, rank: usize, name: &str) -> Result<usize> {
    resolve_axis(axis, rank).map_err(|error| error.context(name))
}

/// The shape with these sizes.
///
/// # Errors
/// INVALID_ARGUMENT if a size overflowed on the way here, or for too many elements.
#[track_caller]
pub fn checked_shape(dims: impl IntoIterator<Item = Option<usize>>) -> Result<Shape> {
    let shape =
        dims.into_iter().collect::<Option<Shape>>().ok_or_else(|| Error::invalid_argument("a size overflows"))?;
    shape.check()?;
    Ok(shape)
}

/// The shape that a vector of sizes describes.
///
/// # Errors
/// INVALID_ARGUMENT if it is no vector, for a negative size, for a rank above 254, or for too many elements.
#[track_caller]
pub fn shape_from(sizes: &Tensor, name: &str) -> Result<Shape> {
    ensure!(sizes.rank() == 1, InvalidArgument, "{name} must be 1-dimensional, not {}", sizes.shape());
    let rank = sizes.num_elements();
    ensure!(rank <= MAX_RANK, InvalidArgument, "{name} describes a shape of rank {rank}, above {MAX_RANK}");
    let mut dims = scratch::room(sizes.num_elements())?;
    let mut total = 1usize;
    for size in sizes.to_i64_vec()? {
        let dim = usize::try_from(size);
        ensure!(dim.is_ok(), InvalidArgument, "the sizes in {name} must be >= 0, not {size}");
        dims.push(dim.unwrap_or(0));
        total = total.saturating_mul(dims[dims.len() - 1].max(1));
    }
    ensure!(total < 1 << 60, InvalidArgument, "{name} {} describes too many elements", listed(&dims));
    Ok(Shape::from(&dims[..]))
}

/// A message lists so many items.
const MOST: usize = 32;

/// `[1, 2]`, for messages: what a feed made long is cut, so that a message never takes much memory.
pub fn listed(items: &[impl std::fmt::Debug]) -> String {
    match items.get(..MOST) {
        Some(first) if items.len() > MOST => format!("{first:?} and {} more", items.len() - MOST),
        _ => format!("{items:?}"),
    }
}

/// `[1,2]`: an index, as TensorFlow's messages have it; a long one is cut, so that a message never takes much memory.
pub fn index_text(index: &[i64]) -> String {
    let parts: Vec<String> = index.iter().take(MOST).map(i64::to_string).collect();
    let rest = if index.len() > MOST { ",..." } else { "" };
    format!("[{}{rest}]", parts.join(","))
}

/// `[1,2]`: where element `index` stands in a tensor of this shape, for messages.
pub fn position(shape: &[usize], mut index: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    for &dim in shape.iter().rev() {
        parts.push((index % dim.max(1)).to_string());
        index /= dim.max(1);
    }
    parts.reverse();
    format!("[{}]", parts.join(","))
}
