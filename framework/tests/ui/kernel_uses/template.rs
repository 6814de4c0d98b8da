//! A registration is wrong: neither the item nor the registrations below it are wrong in turn.

extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), input("x: T"), output("y: T"))]
pub enum Unary {
    Sin,
    Cos,
}

#[register_kernel(device = Cpu, op = [Sin, Cos], T = [f32, flaot])]
fn of_each<T>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    ctx.input(O::X).map(drop)
}

#[register_kernel(devices = Gpu, op = [Sin])]
#[register_kernel(device = Default)]
fn of_any(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, ops = [Cos], label = "x")]
fn of_none(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

fn main() {
    let _ = (of_any, of_none);
}
