//! What the first kernel of a new user may look like.

extern crate kernlink_framework as kernlink;

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), attr("mode: {'A', 'B'}"), input("x: T"), output("y: T"))]
pub struct Pick;

// No commas.
#[register_kernel(device = Cpu op = Pick T = [f32])]
fn no_commas<T: Number>(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

// The op's name.
#[register_kernel(device = Cpu, op = "Pick", label = "a")]
fn by_name(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

// A string without quotes.
#[register_kernel(device = Cpu, op = Pick, mode = [A], label = "b")]
fn no_quotes(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

// A method.
pub struct Kernel;

impl Kernel {
    #[register_kernel(device = Cpu, op = Pick, label = "c")]
    fn method(&self, _: &mut KernelContext<'_, Pick>) -> Result<()> {
        Ok(())
    }
}

// The parameter has another name than the attr.
pub struct Generic<E>(PhantomData<E>);

#[register_kernel(device = Cpu, T = [f32, f64], label = "d")]
impl<E: Number> OpKernel<Pick> for Generic<E> {
    fn new(_: &KernelConstruction<'_, Pick>) -> Result<Self> {
        Ok(Self(PhantomData))
    }
    fn compute(&self, _: &mut KernelContext<'_, Pick>) -> Result<()> {
        Ok(())
    }
}

// A context without its op, in a function that is called as the wrapper.
#[register_kernel(device = Cpu, label = "e")]
fn pick(ctx: &mut KernelContext) -> Result<()> {
    ctx.set_output(Pick::Y, ctx.input(Pick::X)?.clone())
}

// No result.
#[register_kernel(device = Cpu, label = "f")]
fn no_result(ctx: &mut KernelContext<'_, Pick>) {
    ctx.set_output(Pick::Y, ctx.input(Pick::X)?.clone())?;
}

fn main() {}
