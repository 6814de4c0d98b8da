//! Bitcast: the same bytes as elements of another dtype, without a copy.

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink_geometry::element_wise as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops::Bitcast;

struct BitcastKernel {
    from: DataType,
    to: DataType,
}

// Bools have other bytes on the device than on the host.
#[register_kernel(
    device = Gpu,
    T = [
        float, double, half, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128,
        quantizedtype
    ]
)]
impl OpKernel<Bitcast> for BitcastKernel {
    fn new(ctx: &KernelConstruction<'_, Bitcast>) -> Result<Self> {
        let (from, to) = (ctx.input_dtype(Bitcast::INPUT), ctx.output_dtype(Bitcast::OUTPUT));
        geometry::ensure_bitcast(from, to)?;
        ensure!(to != DataType::Bool, InvalidArgument, "{from} cannot be read as {to}");
        Ok(BitcastKernel { from, to })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Bitcast>) -> Result<()> {
        let tensor = ctx.take_input(Bitcast::INPUT)?;
        let shape = geometry::bitcast(tensor.shape(), self.from, self.to)?;
        let memory = tensor.device_memory().ok_or_else(|| Error::internal("the input is not in the GPU's memory"))?;
        ctx.set_output(Bitcast::OUTPUT, Tensor::from_device(self.to, shape, memory.clone()))
    }
}
