//! Bitcast.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_geometry::element_wise as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops::Bitcast;

struct BitcastKernel {
    from: DataType,
    to: DataType,
}

#[register_kernel(device = Cpu)]
impl OpKernel<Bitcast> for BitcastKernel {
    fn new(ctx: &KernelConstruction<'_, Bitcast>) -> Result<Self> {
        let (from, to) = (ctx.input_dtype(Bitcast::INPUT), ctx.output_dtype(Bitcast::OUTPUT));
        geometry::ensure_bitcast(from, to)?;
        Ok(BitcastKernel { from, to })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Bitcast>) -> Result<()> {
        let tensor = ctx.take_input(Bitcast::INPUT)?;
        let shape = geometry::bitcast(tensor.shape(), self.from, self.to)?;
        ctx.set_output(Bitcast::OUTPUT, tensor.bitcast(self.to, shape)?)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}
