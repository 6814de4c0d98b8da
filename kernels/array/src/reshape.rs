//! The same elements in another shape: Reshape, Squeeze, ExpandDims. Nothing is copied.

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink_geometry::integers::{axis, single};
use kernlink_geometry::reshape::reshaped;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, Tshape = [int32, int64], host_memory = ["shape"], cheap)]
#[register_kernel(
    device = Default,
    T = [int32],
    Tshape = [int32, int64],
    host_memory = ["tensor", "shape", "output"],
    cheap,
)]
#[register_kernel(device = Default, host_memory = ["shape"], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
], cheap)]
fn reshape(ctx: &mut KernelContext<'_, ops::Reshape>) -> Result<()> {
    let shape = reshaped(ctx.input(ops::Reshape::TENSOR)?.shape(), ctx.input(ops::Reshape::SHAPE)?)?;
    let output = ctx.take_input(ops::Reshape::TENSOR)?.reshaped(shape)?;
    ctx.set_output(ops::Reshape::OUTPUT, output)
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "output"], cheap)]
#[register_kernel(
    device = Default,
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
    ],
    cheap,
)]
fn squeeze_kernel(attrs: &Attrs<ops::Squeeze>, ctx: &mut KernelContext<'_, ops::Squeeze>) -> Result<()> {
    let input = ctx.input(ops::Squeeze::INPUT)?;
    ensure!(input.dtype() != DataType::Variant, InvalidArgument, "Squeeze on Variant not supported");
    let mut squeezed = vec![attrs.squeeze_dims.is_empty(); input.rank()];
    for &given in &attrs.squeeze_dims {
        squeezed[axis(given, input.rank(), "squeeze_dims")?] = true;
    }
    let mut shape = Shape::scalar();
    for (axis, (&dim, squeezed)) in input.shape().iter().zip(squeezed).enumerate() {
        if !squeezed || (dim != 1 && attrs.squeeze_dims.is_empty()) {
            shape.push(dim);
        } else {
            ensure!(dim == 1, InvalidArgument, "Can not squeeze dim[{axis}], expected a dimension of 1, got {dim}");
        }
    }
    let output = ctx.take_input(ops::Squeeze::INPUT)?.reshaped(shape)?;
    ctx.set_output(ops::Squeeze::OUTPUT, output)
}

#[register_kernel(device = Cpu, Tdim = [int32, int64], host_memory = ["dim"], cheap)]
#[register_kernel(
    device = Default,
    T = [int32],
    Tdim = [int32, int64],
    host_memory = ["input", "dim", "output"],
    cheap,
)]
#[register_kernel(device = Default, host_memory = ["dim"], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
], cheap)]
fn expand_dims(ctx: &mut KernelContext<'_, ops::ExpandDims>) -> Result<()> {
    let input = ctx.input(ops::ExpandDims::INPUT)?;
    ensure!(input.dtype() != DataType::Variant, InvalidArgument, "ExpandDims on Variant not supported");
    let mut shape = input.shape().clone();
    ensure!(shape.rank() < MAX_RANK, InvalidArgument, "rank {} cannot be expanded", shape.rank());
    let axis = axis(single(ctx.input(ops::ExpandDims::DIM)?, "dim")?, shape.rank() + 1, "dim")?;
    shape.insert(axis, 1);
    let output = ctx.take_input(ops::ExpandDims::INPUT)?.reshaped(shape)?;
    ctx.set_output(ops::ExpandDims::OUTPUT, output)
}
