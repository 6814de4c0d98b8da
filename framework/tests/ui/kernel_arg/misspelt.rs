extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(
    attr("T: {float, double}"),
    attr("Tidx: {int32, int64} = DT_INT32"),
    attr("padding: {'SAME', 'VALID'} = 'SAME'"),
    attr("size: int = 1"),
    attr("flag: bool = true"),
    attr("shape: shape = {}"),
    input("x: T"),
    input("indices: Tidx"),
    output("y: T")
)]
pub struct Pick;

pub struct PickKernel<T>(std::marker::PhantomData<T>);

#[register_kernel(device = Cpu, T = [f32])]
impl<T: Send + Sync + 'static> OpKernel<Pick> for PickKernel<T> {
    fn new(ctx: &KernelConstruction<'_, Pick>) -> Result<Self> {
        let _ = ctx.attrs().siez;
        let _: i32 = ctx.attrs().size;
        Ok(Self(Default::default()))
    }
    fn compute(&self, ctx: &mut KernelContext<'_, Pick>) -> Result<()> {
        ctx.input(Pick::INDICSE)?;
        ctx.input(Pick::Y)?;
        ctx.input(Other::X)?;
        Ok(())
    }
}

#[register_op(input("x: float"))]
pub struct Other;

fn main() {}
