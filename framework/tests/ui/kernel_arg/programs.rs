extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, int32, half}"), input("x: T"), output("y: T"))]
pub struct Blur;

pub struct Kernel;

#[register_kernel(device = Cpu, T = [f32, f16 if], programs = all)]
impl OpKernel<Blur> for Kernel {
    fn new(_: &KernelConstruction<'_, Blur>) -> Result<Self> {
        Ok(Self)
    }
    fn compute(&self, _: &mut KernelContext<'_, Blur>) -> Result<()> {
        Ok(())
    }
}

pub struct Other;

#[register_kernel(device = Cpu, T = [f32], programs = |T, S| all(T, S))]
impl OpKernel<Blur> for Other {
    fn new(_: &KernelConstruction<'_, Blur>) -> Result<Self> {
        Ok(Self)
    }
    fn compute(&self, _: &mut KernelContext<'_, Blur>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
