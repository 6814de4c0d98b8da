extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(input("x: float"), output("y: float"))]
pub struct Pick;

pub struct NoState;

#[register_kernel(device = Cpu, op = Pick)]
fn keeps_anything(_: &NoState, _: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Gpu, op = Pick)]
fn by_value(_: NoState, _: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Default, op = Pick, state = |_| Ok(NoState))]
fn keeps_nothing(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

fn main() {}
