//! What uses an op whose declaration is wrong is not wrong in turn.

extern crate kernlink_framework as kernlink;

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::graph::{Graph, Output};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(
    attr("T: {flaot, int32}"),
    attr("size: itn >= 0 = 1"),
    attr("padding: {'SAME' 'VALID'}"),
    attr("N: int"),
    input("x: T"),
    input("others: N * Q"),
    output("y: T"),
    output("count: int23")
)]
pub struct Pick;

pub struct PickKernel<T> {
    size: usize,
    is_same: bool,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f32, i32], padding = ["SAME"])]
impl<T: Number> OpKernel<Pick> for PickKernel<T> {
    fn new(ctx: &KernelConstruction<'_, Pick>) -> Result<Self> {
        let attrs = ctx.attrs();
        Ok(Self { size: attrs.size as usize, is_same: attrs.padding == "SAME", element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Pick>) -> Result<()> {
        let x = ctx.input(Pick::X)?.clone();
        let others = ctx.input_list(Pick::OTHERS);
        let _ = (others, self.is_same, self.size);
        ctx.set_output(Pick::Y, x.clone())?;
        ctx.set_output(Pick::COUNT, x)
    }
}

#[register_kernel(device = Gpu, op = Pick)]
type OnGpu = PickKernel<f32>;

pub fn call(graph: &mut Graph, x: Output) -> Result<Output> {
    let picked = pick(graph, x, [x], "SAME").size(3).build()?;
    Ok(picked.y)
}

fn main() {}
