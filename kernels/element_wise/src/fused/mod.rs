//! `_FusedElementWise`: several functions one after the other, block by block, so that only what the first takes and the
//! last gives is in main memory.
//!
//! Each step runs the loop of its op's own kernel, on blocks that begin where that one's would: what comes of it is the same,
//! bit for bit.

mod blocks;
mod program;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::register_kernel;
use kernlink_ops::FusedElementWise;

use program::Program;

struct Fused(Program);

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, bool])]
impl OpKernel<FusedElementWise> for Fused {
    fn new(ctx: &KernelConstruction<'_, FusedElementWise>) -> Result<Self> {
        Program::new(ctx).map(Fused)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, FusedElementWise>) -> Result<()> {
        blocks::compute(&self.0, ctx)
    }
}
