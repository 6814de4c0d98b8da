//! Choice between elements where shapes are more than broadcast: Select and ClipByValue.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, Meet};
use kernlink_geometry::element_wise as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops::{ClipByValue, Select};

use super::driver::{self, ElementWise, Function};
use crate::device::GpuDevice;
use crate::shader::{Scalar, scalar_of};

const FILE: &str = include_str!("select.wgsl");

fn choice(dtype: DataType) -> Result<Function> {
    let scalar = scalar_of(dtype)?;
    Ok(Function::new(FILE, "Select", &[Scalar::Bool, scalar, scalar], scalar))
}

fn clip(dtype: DataType) -> Result<Function> {
    let scalar = scalar_of(dtype)?;
    Ok(Function::new(FILE, "ClipByValue", &[scalar; 3], scalar))
}

// The condition has the shape of the others, or is a scalar, or a vector with an element for each row.
#[register_kernel(
    device = Gpu, op = Select, T = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    programs = |T| choice(T).map(|function| driver::programs(&function)),
    element_wise = Some(kernlink::kernel::ElementWise {
        parameter: None,
        meet: Meet::Condition,
        function: |_, output| choice(output).ok()?.joins()
    }),
    state = |ctx| Ok(ElementWise::new(choice(ctx.output_dtype(O::OUTPUT))?, None))
)]
fn select(elements: &ElementWise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (condition, chosen, other) = (ctx.input(O::CONDITION)?, ctx.input(O::T)?, ctx.input(O::E)?);
    let shape = geometry::condition(condition.shape(), chosen.shape(), other.shape())?;
    let condition = condition.clone().reshaped(shape)?;
    let output = elements.run(GpuDevice::of(ctx)?, chosen.dtype(), &[&condition, chosen, other], &[])?;
    ctx.set_output(O::OUTPUT, output)
}

// The bounds are scalars or have the tensor's shape.
#[register_kernel(
    device = Gpu, op = ClipByValue, T = [f32, i32, f16 if "f16", i64 if "i64"],
    programs = |T| clip(T).map(|function| driver::programs(&function)),
    element_wise = Some(kernlink::kernel::ElementWise {
        parameter: None,
        meet: Meet::Bounds,
        function: |_, output| clip(output).ok()?.joins()
    }),
    state = |ctx| Ok(ElementWise::new(clip(ctx.output_dtype(O::OUTPUT))?, None))
)]
fn clip_by_value(elements: &ElementWise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let shape = ctx.input(O::T)?.shape();
    for bound in [O::CLIP_VALUE_MIN, O::CLIP_VALUE_MAX] {
        geometry::ensure_bound(shape, ctx.input(bound)?.shape())?;
    }
    elements.compute(ctx, &[])
}
