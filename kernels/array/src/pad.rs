//! Pad, PadV2, MirrorPad.

use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::integers::ensure_scalar;
use kernlink_geometry::pad::{Padding, is_reflection, mirrored, padded};
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Pads input 0 with `value`: slabs of it before and after each dimension, and the input between them.
fn pad(ctx: &mut RawContext<'_>, value: &Tensor) -> Result<Tensor> {
    let input = ctx.input_at(0)?;
    let (paddings, shape) = padded(input.shape(), ctx.input_at(1)?, 8)?;
    if shape.num_elements() == input.num_elements() {
        return ctx.take_input_at(0)?.reshaped(shape);
    }
    let strides = shape.strides();
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    // The first `axis` dimensions of a slab or of the input are those of the input; `first` is where it begins.
    let mut outer = StridedCopy::new(0, 0);
    let mut first = 0;
    let mut center = StridedCopy::new(0, 0);
    for (axis, (&padding, &dim)) in paddings.iter().zip(input.shape().iter()).enumerate() {
        let stride = strides[axis];
        for (start, count) in [(0, padding.before), (padding.before + dim, padding.after)] {
            let slab = outer.clone().step(count.saturating_mul(stride), 1, 0).beginning_at(first + start * stride, 0);
            slab.run(ctx, &mut output, value)?;
        }
        outer = outer.step(dim, stride, 0);
        first += padding.before * stride;
    }
    for ((&dim, &to), &from) in input.shape().iter().zip(&strides).zip(&input.shape().strides()) {
        center = center.step(dim, to, from as isize);
    }
    center.beginning_at(first, 0).run(ctx, &mut output, input)?;
    Ok(output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["paddings"],
    Tpaddings = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, string],
)]
#[register_kernel(
    device = Default,
    T = [int32],
    Tpaddings = [int32, int64],
    host_memory = ["input", "paddings", "output"],
)]
fn pad_kernel(ctx: &mut KernelContext<'_, ops::Pad>) -> Result<()> {
    let zero = Tensor::zeros(ctx.output_dtype_at(0)?, Shape::scalar())?;
    let output = pad(ctx, &zero)?;
    ctx.set_output(ops::Pad::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["paddings", "constant_values"],
    Tpaddings = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, string],
)]
#[register_kernel(
    device = Default,
    T = [int32],
    Tpaddings = [int32, int64],
    host_memory = ["input", "paddings", "constant_values", "output"],
)]
fn pad_v2(ctx: &mut KernelContext<'_, ops::PadV2>) -> Result<()> {
    let value = ctx.input(ops::PadV2::CONSTANT_VALUES)?.clone();
    ensure_scalar(&value, "constant_values")?;
    let output = pad(ctx, &value)?;
    ctx.set_output(ops::PadV2::OUTPUT, output)
}

/// If `reflect`, the edge itself is not repeated.
#[register_kernel(
    device = Cpu,
    host_memory = ["paddings"],
    Tpaddings = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, string],
    state = |ctx| is_reflection(&ctx.attrs().mode),
)]
fn mirror_pad(&reflect: &bool, ctx: &mut KernelContext<'_, ops::MirrorPad>) -> Result<()> {
    let input = ctx.input(ops::MirrorPad::INPUT)?;
    let (paddings, shape) = mirrored(input.shape(), ctx.input(ops::MirrorPad::PADDINGS)?, reflect)?;
    let output = if shape.num_elements() == input.num_elements() {
        ctx.take_input(ops::MirrorPad::INPUT)?.reshaped(shape)?
    } else {
        let mut output = ctx.allocate_output(ops::MirrorPad::OUTPUT, shape)?;
        let strides = (output.shape().strides(), input.shape().strides());
        let offset = usize::from(reflect);
        let mirror = Mirror { ctx, input, paddings: &paddings, offset, to: &strides.0, from: &strides.1 };
        mirror.copy(&mut output, StridedCopy::new(0, 0), [0, 0], 0)?;
        output
    };
    ctx.set_output(ops::MirrorPad::OUTPUT, output)
}

/// Copies the input into the middle of the output, and its mirror images around it: one box for each choice of before,
/// middle and after in each dimension.
struct Mirror<'a> {
    ctx: &'a RawContext<'a>,
    input: &'a Tensor,
    paddings: &'a [Padding],
    offset: usize,
    to: &'a [usize],
    from: &'a [usize],
}

impl Mirror<'_> {
    fn copy(&self, output: &mut Tensor, copy: StridedCopy, first: [usize; 2], axis: usize) -> Result<()> {
        let Some(&Padding { before, after }) = self.paddings.get(axis) else {
            return copy.beginning_at(first[0], first[1]).run(self.ctx, output, self.input);
        };
        let dim = self.input.shape()[axis];
        let (to, from) = (self.to[axis], self.from[axis]);
        let backward = -(from as isize);
        for (count, target, source, step) in [
            (before, 0, (before + self.offset).wrapping_sub(1), backward),
            (dim, before, 0, from as isize),
            (after, before + dim, dim.wrapping_sub(1 + self.offset), backward),
        ] {
            if count > 0 {
                let first = [first[0] + target * to, first[1] + source * from];
                self.copy(output, copy.clone().step(count, to, step), first, axis + 1)?;
            }
        }
        Ok(())
    }
}
