//! Choice between elements where shapes are more than broadcast: Select and ClipByValue.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
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

/// `Select`, whose condition has the shape of the others, or is a scalar, or a vector with an element for each row.
struct SelectKernel(ElementWise);

#[register_kernel(
    device = Gpu,
    T = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    programs = |T| choice(T).map(|function| driver::programs(&function))
)]
impl OpKernel<Select> for SelectKernel {
    fn new(ctx: &KernelConstruction<'_, Select>) -> Result<Self> {
        Ok(SelectKernel(ElementWise::new(choice(ctx.output_dtype(Select::OUTPUT))?, None)))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Select>) -> Result<()> {
        let (condition, chosen, other) = (ctx.input(Select::CONDITION)?, ctx.input(Select::T)?, ctx.input(Select::E)?);
        let shape = geometry::condition(condition.shape(), chosen.shape(), other.shape())?;
        let condition = condition.clone().reshaped(shape)?;
        let output = self.0.run(GpuDevice::of(ctx)?, chosen.dtype(), &[&condition, chosen, other], &[])?;
        ctx.set_output(Select::OUTPUT, output)
    }
}

/// `ClipByValue`, whose bounds are scalars or have the tensor's shape.
struct Clip(ElementWise);

#[register_kernel(
    device = Gpu,
    T = [f32, i32, f16 if "f16", i64 if "i64"],
    programs = |T| clip(T).map(|function| driver::programs(&function))
)]
impl OpKernel<ClipByValue> for Clip {
    fn new(ctx: &KernelConstruction<'_, ClipByValue>) -> Result<Self> {
        Ok(Clip(ElementWise::new(clip(ctx.output_dtype(ClipByValue::OUTPUT))?, None)))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ClipByValue>) -> Result<()> {
        let shape = ctx.input(ClipByValue::T)?.shape();
        for bound in [ClipByValue::CLIP_VALUE_MIN, ClipByValue::CLIP_VALUE_MAX] {
            geometry::ensure_bound(shape, ctx.input(bound)?.shape())?;
        }
        self.0.compute(ctx, &[])
    }
}
