extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("padding: {'SAME', 'VALID'}"), attr("levels: int"), input("x: float"))]
pub struct Pick;

#[register_kernel(devices = Cpu, op = Pick)]
fn devices(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Cpu, ops = [Pick], prioritty = 1, lable = "x", cheep, system = true)]
fn others(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Gpu, op = Pick, paddding = ["SAME"], lavels = [1], host_memmory = ["x"], nothing = [1])]
fn attrs(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

fn main() {}
