//! Parts of a tensor, and backwards: Slice, StridedSlice, StridedSliceGrad, TensorStridedSliceUpdate, Reverse,
//! ReverseV2.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape_inference::strided_slice::Masks;
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::{Elements, Rearranged, reversed, reversed_along};
use kernlink_geometry::slice as geometry;

use super::fill::fill;
use super::mover::Mover;
use super::strided::{Run as _, StridedCopy};

pub(super) fn slice(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let part = geometry::sliced(ctx.input_at(0)?.shape(), ctx.input_at(1)?, ctx.input_at(2)?)?;
    on.rearrange(ctx, 0, part)
}

pub(super) fn strided_slice(&masks: &Masks, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let part = geometry::strided(ctx, masks)?;
    on.rearrange(ctx, 0, part)
}

pub(super) fn strided_slice_grad(&masks: &Masks, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let Rearranged { shape, elements } = geometry::gradient(ctx, masks)?;
    let dy = ctx.take_input_at(4)?;
    let output = match elements {
        Elements::Copied(copy) => {
            let output = on.output(ctx, 0, shape)?;
            fill(on, &output, [0; 2])?;
            copy.run(on, &output, &dy)?;
            output
        }
        _ => dy.reshaped(shape)?,
    };
    ctx.set_output_at(0, output)
}

pub(super) fn tensor_strided_slice_update(&masks: &Masks, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let copy = geometry::update(ctx, masks)?;
    let value = ctx.input_at(4)?.clone();
    let output = own(on, ctx, 0)?;
    copy.run(on, &output, &value)?;
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

pub(super) fn reverse(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let turned = reversed(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    on.rearrange(ctx, 0, turned)
}

pub(super) fn reverse_v2(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let turned = reversed_along(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    on.rearrange(ctx, 0, turned)
}
