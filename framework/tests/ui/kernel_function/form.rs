extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(input("x: float"), output("y: float"))]
pub struct Pick;

#[register_kernel(device = Cpu)]
fn no_op(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick)]
fn no_context() -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick)]
fn other_context(_: &mut KernelConstruction<'_, Pick>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick)]
fn by_value(_: RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick)]
fn too_much(_: &mut RawContext<'_>, _: usize) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick)]
fn no_result(_: &mut RawContext<'_>) {}

#[register_kernel(device = Cpu, op = Pick)]
fn other_result(_: &mut RawContext<'_>) -> Result<usize> {
    Ok(0)
}

#[register_kernel(device = Cpu, op = Pick)]
unsafe fn dangerous(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick)]
fn names_its_op(_: &mut KernelContext<'_, Pick>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu)]
fn names_none(_: &mut KernelContext<'_, O>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, op = Pick, label = "a")]
fn no_list<T>(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

pub struct State;

#[register_kernel(device = Cpu, cheap)]
impl OpKernel<Pick> for State {
    fn new(_: &KernelConstruction<'_, Pick>) -> Result<Self> {
        Ok(Self)
    }
    fn compute(&self, _: &mut KernelContext<'_, Pick>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
