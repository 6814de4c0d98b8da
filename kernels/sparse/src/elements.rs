//! The parts of a sparse tensor: checks, and the moving of elements whatever their dtype.

use kernlink::dtype::{DataType, Element};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::element::{bytes_mut, match_objects};
use kernlink_kernels_common::rows::take_rows;

/// Fails unless the tensor is a matrix.
#[track_caller]
pub(super) fn ensure_matrix(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(tensor.rank() == 2, InvalidArgument, "{name} should be a matrix but received shape {}", tensor.shape());
    Ok(())
}

/// Fails unless the tensor is a vector.
#[track_caller]
pub(super) fn ensure_vector(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(tensor.rank() == 1, InvalidArgument, "{name} should be a vector but received shape {}", tensor.shape());
    Ok(())
}

/// The sizes in a vector of `int64`, as a shape.
#[track_caller]
pub(super) fn dense_shape(tensor: &Tensor, name: &str) -> Result<Shape> {
    ensure_vector(tensor, name)?;
    Shape::from_dims(&tensor.to_i64_vec()?).map_err(|error| error.context(name))
}

/// The rows `picks` of a tensor whose rows have `row` elements, as output `output` of the given shape.
pub(super) fn take(
    ctx: &RawContext<'_>,
    output: usize,
    shape: impl Into<Shape>,
    source: &Tensor,
    row: usize,
    picks: &[usize],
) -> Result<Tensor> {
    let mut target = ctx.allocate_output_at(output, shape)?;
    take_rows(ctx, &mut target, source, row, &|r| Some(picks[r]))?;
    Ok(target)
}

/// Makes element `places[n]` of `target` element `first + n` of `source`, or its only one if it is a scalar. Both have the
/// same dtype.
pub(super) fn scatter(target: &mut Tensor, source: &Tensor, first: usize, places: &[usize]) -> Result<()> {
    let dtype = target.dtype();
    ensure!(dtype == source.dtype(), Internal, "{} cannot become {dtype}", source.dtype());
    let from = (first, usize::from(source.rank() > 0));
    match_objects!(dtype, T => put(target.as_mut_slice::<T>()?, source.as_slice::<T>()?, from, places), _ => {
        let source = source.bytes()?;
        // SAFETY: only bytes of elements of the same dtype are written.
        let target = unsafe { bytes_mut(target)? };
        match dtype.size() {
            1 => put(target, source, from, places),
            2 => put(target.as_chunks_mut::<2>().0, source.as_chunks::<2>().0, from, places),
            4 => put(target.as_chunks_mut::<4>().0, source.as_chunks::<4>().0, from, places),
            8 => put(target.as_chunks_mut::<8>().0, source.as_chunks::<8>().0, from, places),
            _ => put(target.as_chunks_mut::<16>().0, source.as_chunks::<16>().0, from, places),
        }
    });
    Ok(())
}

/// Copies row `from` of `source` to row `to` of `target` for each of `moves`, where a row is `row` elements. Both have the
/// same dtype, and the rows exist.
pub(super) fn move_rows(target: &mut Tensor, source: &Tensor, row: usize, moves: &[(usize, usize)]) -> Result<()> {
    let dtype = target.dtype();
    ensure!(dtype == source.dtype(), Internal, "{} cannot become {dtype}", source.dtype());
    match_objects!(dtype, T => put_rows(target.as_mut_slice::<T>()?, source.as_slice::<T>()?, row, moves), _ => {
        let source = source.bytes()?;
        // SAFETY: only bytes of elements of the same dtype are written.
        let target = unsafe { bytes_mut(target)? };
        put_rows(target, source, row * dtype.size(), moves);
    });
    Ok(())
}

fn put_rows<E: Clone>(target: &mut [E], source: &[E], row: usize, moves: &[(usize, usize)]) {
    for &(from, to) in moves {
        target[to * row..][..row].clone_from_slice(&source[from * row..][..row]);
    }
}

fn put<E: Clone>(target: &mut [E], source: &[E], (first, step): (usize, usize), places: &[usize]) {
    for (n, &place) in (first..).zip(places) {
        target[place] = source[n * step].clone();
    }
}

/// `items.sort_by_key(key)`, whose memory may be refused.
pub(super) fn sort_stably_by_key<T: Copy>(items: &mut [T], key: impl Fn(&T) -> usize) -> Result<()> {
    let mut order: Vec<(usize, usize)> = scratch::collected(items.iter().map(&key).zip(0..))?;
    order.sort_unstable();
    let sorted = scratch::collected(order.iter().map(|&(_, from)| items[from]))?;
    items.copy_from_slice(&sorted);
    Ok(())
}

/// A vector of as many zeros as `length`, as scratch memory that may be refused.
#[track_caller]
pub(super) fn zeros<T: Element>(length: usize) -> Result<Tensor> {
    Tensor::zeros(T::DTYPE, [length])
}

/// The elements of a tensor of `int32` or `int64`; borrowed if they are `int64` already.
#[track_caller]
pub(super) fn i64s(tensor: &Tensor) -> Result<std::borrow::Cow<'_, [i64]>> {
    if tensor.dtype() == DataType::Int64 {
        Ok(tensor.as_slice::<i64>()?.into())
    } else {
        Ok(tensor.to_i64_vec()?.into())
    }
}
