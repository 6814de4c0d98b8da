//! BiasAdd and BiasAddV1: a vector added to each channel.

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink_ops as ops;

use super::driver::{ElementWise, Function};
use crate::device::GpuDevice;
use crate::family::gpu_kernels;

/// A sum in which the bias broadcasts along all dimensions but that of the channels.
struct BiasAdd {
    channels_last: bool,
    sum: ElementWise,
}

/// Whether the attr `data_format`, if there is one, has the channels in the last dimension.
pub(crate) fn has_channels_last(ctx: &RawConstruction<'_>) -> Result<bool> {
    let format: String = match ctx.attrs.get("data_format") {
        Some(_) => ctx.attrs.required("data_format")?,
        None => "NHWC".to_owned(),
    };
    ensure!(format == "NHWC" || format == "NCHW", InvalidArgument, "data_format `{format}` is not supported");
    Ok(format == "NHWC")
}

impl BiasAdd {
    fn new(ctx: &RawConstruction<'_>) -> Result<BiasAdd> {
        let dtype: DataType = ctx.input_dtype_at(0)?;
        // The text is that of the op AddV2, and so is the pipeline.
        let sum = ElementWise::new(Function::of("AddV2", 2, dtype, dtype, "return x + y;")?);
        Ok(BiasAdd { channels_last: has_channels_last(ctx)?, sum })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let (value, bias) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let shape = value.shape();
        ensure!(shape.rank() >= 2, InvalidArgument, "value must be at least 2-dimensional, not {shape}");
        ensure!(bias.rank() == 1, InvalidArgument, "bias must be 1-dimensional, not {}", bias.shape());
        let axis = if self.channels_last { shape.rank() - 1 } else { 1 };
        ensure!(
            bias.num_elements() == shape[axis],
            InvalidArgument,
            "there must be as many biases as channels: bias is {}, value is {shape}, channels are dimension {axis}",
            bias.shape()
        );
        let spread: Shape = std::iter::once(shape[axis]).chain(shape[axis + 1..].iter().map(|_| 1)).collect();
        let bias = bias.clone().reshaped(spread)?;
        let output = self.sum.run(GpuDevice::of(ctx)?, value.dtype(), &[value, &bias], &[])?;
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! { BiasAdd { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as BiasAdd: |ctx| BiasAdd::new(ctx) }
gpu_kernels! { BiasAddV1 { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as BiasAdd: |ctx| BiasAdd::new(ctx) }
