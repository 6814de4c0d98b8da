//! One tensor into several: Split, SplitV, Unpack.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use super::integers::{ensure_scalar, single};
use super::mover::Mover;
use super::strided::StridedCopy;

/// Sets the outputs to parts of `input`, cut along `axis` into pieces of these sizes. `shape_of` makes an output's
/// shape from that of its piece.
fn split(
    on: &Mover<'_>,
    ctx: &mut RawContext<'_>,
    input: &Tensor,
    axis: usize,
    sizes: &[usize],
    shape_of: impl Fn(Shape) -> Shape,
) -> Result<()> {
    let shape = input.shape();
    let rows: usize = shape[..axis].iter().product();
    let below: usize = shape[axis + 1..].iter().product();
    let row = shape[axis] * below;
    let mut start = 0;
    for (index, &size) in sizes.iter().enumerate() {
        let mut piece = shape.clone();
        piece.dims_mut()[axis] = size;
        let piece = shape_of(piece);
        let output = if sizes.len() == 1 {
            input.clone().reshaped(piece)?
        } else {
            let output = on.output(ctx, index, piece)?;
            let copy = StridedCopy::new(0, start * below).step(rows, size * below, row as isize);
            copy.step(size * below, 1, 1).run(on, &output, input)?;
            output
        };
        ctx.set_output_at(index, output)?;
        start += size;
    }
    Ok(())
}

/// The axis of `input` along which it is split.
fn split_axis(given: i64, input: &Tensor) -> Result<usize> {
    let rank = input.rank() as i64;
    ensure!(
        (-rank..rank).contains(&given),
        InvalidArgument,
        "-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {given}"
    );
    Ok(given.rem_euclid(rank) as usize)
}

pub(super) fn split_evenly(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let split_dim = ctx.input_at(0)?;
    ensure_scalar(split_dim, "split_dim")?;
    let given = single(split_dim, "split_dim")?;
    let input = ctx.input_at(1)?.clone();
    let axis = split_axis(given, &input)?;
    let (size, ways) = (input.shape()[axis], ctx.num_outputs());
    ensure!(
        ways > 0 && size.is_multiple_of(ways),
        InvalidArgument,
        "Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = {size}) \
         and num_split {ways}"
    );
    split(on, ctx, &input, axis, &vec![size / ways; ways], |shape| shape)
}

/// The sizes of the parts, one of which may be given as −1.
fn split_sizes(sizes: &[i64], total: usize) -> Result<Vec<usize>> {
    let mut rest = total as i64;
    let mut unknown = None;
    for (index, &size) in sizes.iter().enumerate() {
        if size == -1 {
            ensure!(unknown.is_none(), InvalidArgument, "There can only be one -1 in the input.");
            unknown = Some(index);
            continue;
        }
        ensure!(size >= 0, InvalidArgument, "Split size at index {index} must be >= 0. Got: {size}");
        rest = rest.saturating_sub(size);
    }
    ensure!(
        if unknown.is_some() { rest >= 0 } else { rest == 0 },
        InvalidArgument,
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than \
         the size of the input along split_dim if not fully specified. Got sizes {sizes:?} for {total}"
    );
    Ok(sizes.iter().map(|&size| if size == -1 { rest as usize } else { size as usize }).collect())
}

pub(super) fn split_v(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let given = single(ctx.input_at(2)?, "split_dim")?;
    let sizes = ctx.input_at(1)?;
    ensure!(
        sizes.rank() == 1 && sizes.num_elements() == ctx.num_outputs(),
        InvalidArgument,
        "size_splits must be a vector with one element an output ({}), not of shape {}",
        ctx.num_outputs(),
        sizes.shape()
    );
    let sizes = sizes.to_i64_vec()?;
    let input = ctx.input_at(0)?.clone();
    let axis = split_axis(given, &input)?;
    let total = input.shape()[axis];
    if let [only] = sizes[..]
        && only != total as i64
    {
        bail!(
            InvalidArgument,
            "If there is only one output, it must have the same size as the input. Input size: {total} output size: \
             {only}"
        );
    }
    split(on, ctx, &input, axis, &split_sizes(&sizes, total)?, |shape| shape)
}

pub(super) fn unpack(&given: &i64, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?.clone();
    let axis = super::integers::axis(given, input.rank(), "axis")?;
    let count = ctx.num_outputs();
    ensure!(
        input.shape()[axis] == count,
        InvalidArgument,
        "Input shape axis {axis} must equal {count}, got shape {}",
        input.shape()
    );
    split(on, ctx, &input, axis, &vec![1; count], |mut shape| {
        shape.remove(axis);
        shape
    })
}
