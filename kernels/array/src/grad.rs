//! MirrorPadGrad, StridedSliceGrad, TensorStridedSliceUpdate.

use kernlink::dtype::Number;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape_inference::strided_slice::Masks;
use kernlink::tensor::Tensor;
use kernlink_geometry::pad::{Fold, folded, is_reflection};
use kernlink_geometry::rearranged::{Elements, Rearranged};
use kernlink_geometry::slice::{gradient, update};
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// If `reflect`, the edge itself was not repeated.
#[register_kernel(
    device = Cpu,
    host_memory = ["paddings"],
    Tpaddings = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
    state = |ctx| is_reflection(&ctx.attrs().mode),
)]
fn mirror_pad_grad<T: Number>(&reflect: &bool, ctx: &mut KernelContext<'_, ops::MirrorPadGrad>) -> Result<()> {
    let input = ctx.input(ops::MirrorPadGrad::INPUT)?;
    let (folds, shape) = folded(input.shape(), ctx.input(ops::MirrorPadGrad::PADDINGS)?, reflect)?;
    let Some((last, others)) = folds.split_last() else {
        let output = input.clone();
        return ctx.set_output(ops::MirrorPadGrad::OUTPUT, output);
    };
    let mut folded = input.clone();
    for fold in others {
        folded = run::<T>(fold, ctx, &folded)?;
    }
    let output = run::<T>(last, ctx, &folded)?.reshaped(shape)?;
    ctx.set_output(ops::MirrorPadGrad::OUTPUT, output)
}

/// What is cut off is added to what it mirrors.
fn run<T: Number>(fold: &Fold, ctx: &RawContext<'_>, input: &Tensor) -> Result<Tensor> {
    let Fold { axis, before, after, size, offset } = *fold;
    let mut shape = input.shape().clone();
    shape.dims_mut()[axis] = size;
    let mut output = Tensor::alloc(T::DTYPE, shape)?;
    let inner: usize = input.shape()[axis + 1..].iter().product();
    let (from, to) = ((before + size + after) * inner, size * inner);
    if output.num_elements() == 0 {
        return Ok(output);
    }
    let source = input.as_slice::<T>()?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, to, 1, |first, piece| {
        for (output, input) in piece.chunks_exact_mut(to).zip(source[first / to * from..].chunks_exact(from)) {
            output.copy_from_slice(&input[before * inner..][..to]);
            let mut add = |place: usize, from: usize| {
                let rows = output[place * inner..][..inner].iter_mut().zip(&input[from * inner..][..inner]);
                rows.for_each(|(sum, &x)| *sum = sum.wrapping_add(x));
            };
            (0..before).for_each(|k| add(offset + k, before - 1 - k));
            (0..after).for_each(|k| add(size - 1 - offset - k, before + size + k));
        }
    });
    Ok(output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["shape", "begin", "end", "strides"],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, resource,
        string, variant,
    ],
    state = |ctx| Masks::from_attrs(ctx.attrs),
)]
#[register_kernel(
    device = Default,
    T = [int32],
    host_memory = ["shape", "begin", "end", "strides", "dy", "output"],
)]
fn strided_slice_grad(&masks: &Masks, ctx: &mut KernelContext<'_, ops::StridedSliceGrad>) -> Result<()> {
    let Rearranged { shape, elements } = gradient(ctx, masks)?;
    let dy = ctx.take_input(ops::StridedSliceGrad::DY)?;
    let output = match elements {
        Elements::Copied(copy) => {
            let mut output = Tensor::zeros(dy.dtype(), shape)?;
            copy.run(ctx, &mut output, &dy)?;
            output
        }
        _ => dy.reshaped(shape)?,
    };
    ctx.set_output(ops::StridedSliceGrad::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = ops::TensorStridedSliceUpdate,
    host_memory = ["begin", "end", "strides"],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, resource,
        string, variant,
    ],
    state = |ctx| Masks::from_attrs(ctx.attrs),
)]
#[register_kernel(
    device = Default,
    T = [int32],
    host_memory = ["input", "begin", "end", "strides", "value", "output"],
)]
fn tensor_strided_slice_update(&masks: &Masks, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let copy = update(ctx, masks)?;
    let value = ctx.input(O::VALUE)?.clone();
    let mut output = own(ctx, 0)?;
    copy.run(ctx, &mut output, &value)?;
    ctx.set_output(O::OUTPUT, output)
}

/// Input `index` to be changed: itself if nothing else uses it, or else a copy.
pub(super) fn own(ctx: &mut RawContext<'_>, index: usize) -> Result<Tensor> {
    let mut input = ctx.take_input_at(index)?;
    if input.is_unique() {
        return Ok(input);
    }
    let mut copy = Tensor::alloc(input.dtype(), input.shape())?;
    StridedCopy::new(0, 0).step(input.num_elements(), 1, 1).run(ctx, &mut copy, &input)?;
    Ok(copy)
}
