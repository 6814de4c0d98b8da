//! Equal and NotEqual, whose operands may have shapes that do not fit.

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, Meet, OpKernel};
use kernlink::op::Op as _;
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops::{Equal, NotEqual};

use super::driver::{self, ElementWise, Function};
use crate::device::GpuDevice;
use crate::shader::{Program, Scalar, scalar_of};

struct Equality {
    /// What the answer is for equal elements.
    equal: bool,
    /// Whether shapes that do not fit are an error; otherwise the tensors are unequal as a whole.
    strict: bool,
    elements: ElementWise,
}

fn function(equal: bool, dtype: DataType) -> Result<Function> {
    let name = if equal { "Equal" } else { "NotEqual" };
    Ok(Function::new(include_str!("binary.wgsl"), name, &[scalar_of(dtype)?; 2], Scalar::Bool))
}

fn programs(equal: bool, dtype: DataType) -> Result<Vec<Program>> {
    Ok(driver::programs(&function(equal, dtype)?))
}

#[register_kernel(
    device = Gpu, op = [Equal, NotEqual], T = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    programs = |T| programs(O::DEF.name == "Equal", T)
)]
impl OpKernel<O> for Equality {
    const ELEMENT_WISE: Option<kernlink::kernel::ElementWise> = Some(kernlink::kernel::ElementWise {
        parameter: None,
        meet: Meet::Broadcast,
        function: |inputs, _| function(O::DEF.name == "Equal", *inputs.first()?).ok()?.joins(),
    });

    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let equal = O::DEF.name == "Equal";
        let elements = ElementWise::new(function(equal, ctx.input_dtype(O::X))?, None);
        Ok(Equality { equal, strict: ctx.attrs().incompatible_shape_error, elements })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        if !self.strict && ctx.input(O::X)?.shape().broadcast(ctx.input(O::Y)?.shape()).is_err() {
            let answer = GpuDevice::of(ctx)?.to_device(&Tensor::scalar(!self.equal))?;
            return ctx.set_output(O::Z, answer);
        }
        self.elements.compute(ctx, &[])
    }
}
