extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(input("x: float"), output("y: float"))]
pub struct Pick;

#[register_op(input("x: float"), output("y: float"))]
pub struct Take;

pub struct Kernel;

#[register_kernel(device = Cpu, op = [Pick, Pick])]
#[register_kernel(device = Gpu, op = [])]
#[register_kernel(device = Default, op = [Pick; Take])]
type Alias = Kernel;

#[register_kernel(device = Cpu, op = [Pick, Take])]
impl OpKernel<Pick> for Kernel {
    fn new(_: &KernelConstruction<'_, Pick>) -> Result<Self> {
        Ok(Self)
    }
    fn compute(&self, _: &mut KernelContext<'_, Pick>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
