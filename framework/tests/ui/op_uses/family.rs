//! One op of a family is wrong: neither the others nor what uses any of them is.

extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::graph::{Graph, Output};
use kernlink::kernel::KernelContext;
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), input("x: T"), output("y: T"))]
pub enum Trigonometry {
    Sin,
    #[op(attr("T: {float, doubel}"))]
    Cos,
    #[op(input("scale: U"))]
    SinCos,
}

#[register_kernel(device = Cpu, op = [Sin, Cos, SinCos], T = [f32, f64])]
fn compute<T>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let x = ctx.input(O::X)?.clone();
    ctx.set_output(O::Y, x)
}

pub fn call(graph: &mut Graph, x: Output) -> Result<Output> {
    let x = sin(graph, x).build()?;
    let x = cos(graph, x).build()?;
    sin_cos(graph, x, 2.0).build()
}

fn main() {}
