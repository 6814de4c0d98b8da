extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), input("x: T"), output("y: T"))]
pub struct Pick;

// `T: 'static` goes without saying.
#[register_kernel(device = Cpu, T = [f32, f64])]
fn any<T>(_: &mut KernelContext<'_, Pick>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Gpu, op = Pick)]
fn other_error(_: &mut RawContext<'_>) -> std::result::Result<(), String> {
    Ok(())
}

#[register_kernel(device = Default, state = |_| Ok(3usize))]
fn other_state(_: &String, _: &mut KernelContext<'_, Pick>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Default, label = "x")]
fn no_state(_: &usize, _: &mut KernelContext<'_, Pick>) -> Result<()> {
    Ok(())
}

fn main() {}
