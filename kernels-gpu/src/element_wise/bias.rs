//! BiasAdd and BiasAddV1: a vector added to each channel.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::channels::biased;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::TensorFormat;
use kernlink_ops::{BiasAdd, BiasAddV1};

use super::driver::{self, ElementWise, Function};
use crate::device::GpuDevice;
use crate::shader::scalar_of;

/// A sum in which the bias broadcasts along all dimensions but that of the channels.
struct Bias {
    channels_last: bool,
    sum: ElementWise,
}

/// The sum of op AddV2, whose pipeline this shares.
pub(super) fn sum(dtype: DataType) -> Result<Function> {
    let scalar = scalar_of(dtype)?;
    Ok(Function::new(include_str!("binary.wgsl"), "AddV2", &[scalar; 2], scalar).aliases([("T", scalar)]))
}

impl Bias {
    fn new(dtype: DataType, data_format: &str) -> Result<Bias> {
        let channels_last = TensorFormat::of_images(data_format)? == TensorFormat::Nhwc;
        Ok(Bias { channels_last, sum: ElementWise::new(sum(dtype)?, None) })
    }

    fn add(&self, gpu: &GpuDevice, value: &Tensor, bias: &Tensor) -> Result<Tensor> {
        let shape = value.shape();
        let axis = biased(shape, bias.shape(), self.channels_last)?;
        let spread: Shape = std::iter::once(shape[axis]).chain(shape[axis + 1..].iter().map(|_| 1)).collect();
        let bias = bias.clone().reshaped(spread)?;
        self.sum.run(gpu, value.dtype(), &[value, &bias], &[])
    }
}

#[register_kernel(
    device = Gpu, op = BiasAdd, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| sum(T).map(|function| driver::programs(&function)),
    state = |ctx| Bias::new(ctx.input_dtype(O::VALUE), &ctx.attrs().data_format)
)]
#[register_kernel(
    device = Gpu, op = BiasAddV1, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| sum(T).map(|function| driver::programs(&function)),
    state = |ctx| Bias::new(ctx.input_dtype(O::VALUE), "NHWC")
)]
fn bias_add(bias: &Bias, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let output = bias.add(GpuDevice::of(ctx)?, ctx.input(O::VALUE)?, ctx.input(O::BIAS)?)?;
    ctx.set_output(O::OUTPUT, output)
}
