extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(
    attr("T: {float, double}"),
    attr("Tidx: {int32, int64} = DT_INT32"),
    attr("padding: {'SAME', 'VALID'} = 'SAME'"),
    attr("size: int >= 1 = 1"),
    attr("sizes: list(int) = []"),
    attr("flag: bool = true"),
    attr("shape: shape = {}"),
    input("x: T"),
    input("indices: Tidx"),
    output("y: T")
)]
pub struct Pick;

pub struct PickKernel<T>(std::marker::PhantomData<T>);

impl<T: Send + Sync + 'static> OpKernel<Pick> for PickKernel<T> {
    fn new(_: &KernelConstruction<'_, Pick>) -> Result<Self> {
        Ok(Self(Default::default()))
    }
    fn compute(&self, _: &mut KernelContext<'_, Pick>) -> Result<()> {
        Ok(())
    }
}

#[register_kernel(device = Cpu, op = Pick, T = [f32], size = [-1, 1])]
type BelowTheMinimum<T> = PickKernel<T>;

#[register_kernel(device = Cpu, op = Pick, T = [f64], sizes = [1])]
type ByAList<T> = PickKernel<T>;

fn main() {}
