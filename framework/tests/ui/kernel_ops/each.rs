extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), input("x: T"), output("y: T"))]
pub struct Pick;

#[register_op(attr("T: {float}"), input("z: T"), output("y: T"))]
pub struct Take;

// Each of the ops is checked.
#[register_kernel(device = Cpu, op = [Pick, Take], T = [f32, f64])]
fn of_both(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Gpu, op = [Pick, Take])]
fn takes_x(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    ctx.input(O::X).map(drop)
}

// One op after the other, it is the same kernel as above.
#[register_kernel(device = Gpu, op = [Pick])]
fn twice(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

fn main() {}
