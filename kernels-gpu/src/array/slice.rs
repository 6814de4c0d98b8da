//! Parts of a tensor, and backwards: Slice, StridedSlice, StridedSliceGrad, TensorStridedSliceUpdate, Reverse,
//! ReverseV2.

use kernlink::error::{Error, Result};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::shape_inference::strided_slice::{DenseSlice, Masks, OutputDim, resolve};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use super::fill::fill;
use super::integers::{axis, vector};
use super::mover::Mover;
use super::strided::StridedCopy;

pub(super) fn slice(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (begin, size) = (vector(ctx.input_at(1)?, "begin")?, vector(ctx.input_at(2)?, "size")?);
    let input = ctx.input_at(0)?;
    let rank = input.rank();
    ensure!(
        begin.len() == rank && size.len() == rank,
        InvalidArgument,
        "Expected begin and size arguments to be 1-D tensors of size {rank}, but got sizes {} and {} instead.",
        begin.len(),
        size.len()
    );
    let mut shape = Shape::scalar();
    for (axis, &dim) in input.shape().iter().enumerate() {
        let (begin, dim) = (begin[axis], dim as i64);
        ensure!((0..=dim).contains(&begin), InvalidArgument, "Expected begin[{axis}] in [0, {dim}], but got {begin}");
        let rest = dim - begin;
        let size = if size[axis] == -1 { rest } else { size[axis] };
        ensure!((0..=rest).contains(&size), InvalidArgument, "Expected size[{axis}] in [0, {rest}], but got {size}");
        shape.push(size as usize);
    }
    if shape == *input.shape() {
        let output = ctx.take_input_at(0)?;
        return ctx.set_output_at(0, output);
    }
    ensure!(
        rank <= 8 || shape.num_elements() == 0 || shape[1..] == input.shape()[1..],
        Unimplemented,
        "SliceOp : Unhandled input dimensions: {rank}"
    );
    let (to, from) = (shape.strides(), input.shape().strides());
    let output = on.output(ctx, 0, shape)?;
    let mut copy = StridedCopy::new(0, 0);
    let mut first = 0;
    for axis in 0..rank {
        copy = copy.step(output.shape()[axis], to[axis], from[axis] as isize);
        first += begin[axis] as usize * from[axis];
    }
    copy.beginning_at(0, first).run(on, &output, input)?;
    ctx.set_output_at(0, output)
}

/// The attrs, all named alike, of the ops on slices.
pub(super) fn masks(ctx: &RawConstruction<'_>) -> Result<Masks> {
    let mask = |name: &str| ctx.attrs.required::<i64>(name);
    Masks::new(
        mask("begin_mask")?,
        mask("end_mask")?,
        mask("ellipsis_mask")?,
        mask("new_axis_mask")?,
        mask("shrink_axis_mask")?,
    )
}

/// The slice of a tensor of shape `shape` that inputs 1 to 3 name, and its own shape.
fn slice_of(ctx: &RawContext<'_>, masks: Masks, shape: &Shape) -> Result<(DenseSlice, Shape)> {
    let begin = vector(ctx.input_at(1)?, "begin")?;
    let end = vector(ctx.input_at(2)?, "end")?;
    let strides = vector(ctx.input_at(3)?, "strides")?;
    let slice = resolve(&begin, &end, &strides, masks, shape)?;
    let whole = slice.final_shape().to_shape().ok_or_else(unknown)?;
    ensure!(whole.rank() <= MAX_RANK, InvalidArgument, "the slice has rank {}", whole.rank());
    Ok((slice, whole))
}

#[cold]
fn unknown() -> Error {
    Error::internal("a slice of a known shape has no size")
}

pub(super) fn strided_slice(&masks: &Masks, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let (slice, shape) = slice_of(ctx, masks, input.shape())?;
    if slice.is_identity {
        let output = ctx.take_input_at(0)?.reshaped(shape)?;
        return ctx.set_output_at(0, output);
    }
    let sizes = slice.processing_shape().to_shape().ok_or_else(unknown)?;
    let (to, from) = (sizes.strides(), input.shape().strides());
    let output = on.output(ctx, 0, shape)?;
    if output.num_elements() > 0 {
        let mut copy = StridedCopy::new(0, 0);
        let mut first = 0;
        for (axis, dim) in slice.dims.iter().enumerate() {
            let stride = (from[axis] as isize).saturating_mul(dim.stride as isize);
            copy = copy.step(sizes[axis], to[axis], stride);
            first += dim.begin as usize * from[axis];
        }
        copy.beginning_at(0, first).run(on, &output, input)?;
    }
    ctx.set_output_at(0, output)
}

/// Writes `value` to a slice of `target`. Its shape must broadcast to that of the slice.
fn write_slice(on: &Mover<'_>, slice: &DenseSlice, target: &Tensor, value: &Tensor) -> Result<()> {
    // The distance in `value` between neighbours in each dimension of the target.
    let mut from = vec![0isize; slice.dims.len()];
    let strides = value.shape().strides();
    for (axis, dim) in slice.output.iter().rev().enumerate().take(value.rank()) {
        let axis = value.rank() - 1 - axis;
        if let OutputDim::Input(dim) = *dim
            && value.shape()[axis] != 1
        {
            from[dim] = strides[axis] as isize;
        }
    }
    let mut copy = StridedCopy::new(0, 0);
    let (mut to_first, mut from_first) = (0, 0isize);
    for ((dim, &stride), &from) in slice.dims.iter().zip(&target.shape().strides()).zip(&from) {
        let size = dim.size.ok_or_else(unknown)?;
        if size == 0 {
            return Ok(());
        }
        let last = size as i64 - 1;
        // The copy goes forward in the target: a slice that goes backward is read from its end.
        let backward = dim.stride < 0;
        to_first += (if backward { dim.begin + last * dim.stride } else { dim.begin }) as usize * stride;
        from_first += if backward { last as isize * from } else { 0 };
        let step = if last == 0 { stride } else { dim.stride.unsigned_abs() as usize * stride };
        copy = copy.step(size, step, if backward { -from } else { from });
    }
    copy.beginning_at(to_first, from_first as usize).run(on, target, value)
}

pub(super) fn strided_slice_grad(&masks: &Masks, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let shape = Shape::from_dims(&vector(ctx.input_at(0)?, "shape")?)?;
    let (slice, whole) = slice_of(ctx, masks, &shape)?;
    let dy = ctx.input_at(4)?;
    ensure!(*dy.shape() == whole, InvalidArgument, "shape of dy was {} instead of {whole}", dy.shape());
    if slice.is_identity {
        let output = ctx.take_input_at(4)?.reshaped(shape)?;
        return ctx.set_output_at(0, output);
    }
    let output = on.output(ctx, 0, shape)?;
    fill(on, &output, [0; 2])?;
    write_slice(on, &slice, &output, dy)?;
    ctx.set_output_at(0, output)
}

pub(super) fn tensor_strided_slice_update(&masks: &Masks, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let shape = ctx.input_at(0)?.shape().clone();
    let (slice, whole) = slice_of(ctx, masks, &shape)?;
    let value = ctx.input_at(4)?.clone();
    if whole.num_elements() > 0 {
        ensure!(
            value.shape().broadcast(&whole).is_ok_and(|both| both == whole),
            InvalidArgument,
            "Cannot broadcast input shape {} into final shape {whole}",
            value.shape()
        );
    }
    let output = own(on, ctx, 0)?;
    if whole.num_elements() > 0 {
        write_slice(on, &slice, &output, &value)?;
    }
    ctx.set_output_at(0, output)
}

/// Input `index` to be changed: itself if nothing else uses it, or else a copy.
pub(super) fn own(on: &Mover<'_>, ctx: &mut RawContext<'_>, index: usize) -> Result<Tensor> {
    let mut input = ctx.take_input_at(index)?;
    if input.is_unique() {
        return Ok(input);
    }
    let copy = on.gpu.allocate(input.dtype(), input.shape())?;
    StridedCopy::new(0, 0).step(input.num_elements(), 1, 1).run(on, &copy, &input)?;
    Ok(copy)
}

/// Turns the dimensions around for which `reversed` says so.
fn turn_around(on: &Mover<'_>, ctx: &RawContext<'_>, reversed: &[bool]) -> Result<Tensor> {
    let input = ctx.input_at(0)?;
    let output = on.output(ctx, 0, input.shape())?;
    if output.num_elements() > 0 {
        let (mut copy, mut first) = (StridedCopy::new(0, 0), 0);
        for ((&dim, &stride), &reversed) in input.shape().iter().zip(&input.shape().strides()).zip(reversed) {
            copy = copy.step(dim, stride, if reversed { -(stride as isize) } else { stride as isize });
            first += if reversed { (dim - 1) * stride } else { 0 };
        }
        copy.beginning_at(0, first).run(on, &output, input)?;
    }
    Ok(output)
}

pub(super) fn reverse(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (input, dims) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let rank = input.rank();
    if rank > 0 {
        ensure!(dims.rank() == 1, InvalidArgument, "'dims' must be 1-dimension, not {}", dims.rank());
        ensure!(
            dims.num_elements() == rank,
            InvalidArgument,
            "'dims' must have the same number of values as 'input' has dimensions. 'input' has {rank}, 'dims' has {} \
             values",
            dims.num_elements()
        );
        ensure!(rank <= 8, Unimplemented, "reverse is not implemented for tensors of rank > 8, such as {rank}");
    }
    let output = turn_around(on, ctx, dims.as_slice::<bool>()?)?;
    ctx.set_output_at(0, output)
}

pub(super) fn reverse_v2(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let rank = input.rank();
    if rank == 0 || input.num_elements() == 0 {
        let output = ctx.take_input_at(0)?;
        return ctx.set_output_at(0, output);
    }
    let mut reversed = vec![false; rank];
    for given in vector(ctx.input_at(1)?, "axis")? {
        let axis = axis(given, rank, "axis")?;
        if std::mem::replace(&mut reversed[axis], true) {
            bail!(InvalidArgument, "axis {axis} specified more than once.");
        }
    }
    ensure!(rank <= 8, Unimplemented, "reverse is not implemented for tensors of rank > 8, such as {rank}");
    let output = turn_around(on, ctx, &reversed)?;
    ctx.set_output_at(0, output)
}
