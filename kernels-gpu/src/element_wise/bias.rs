//! BiasAdd and BiasAddV1: a vector added to each channel.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink_geometry::channels::biased;
use kernlink_geometry::window::Format;
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
    Ok(Format::from_attr(&format)? == Format::Nhwc)
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
        let axis = biased(shape, bias.shape(), self.channels_last)?;
        let spread: Shape = std::iter::once(shape[axis]).chain(shape[axis + 1..].iter().map(|_| 1)).collect();
        let bias = bias.clone().reshaped(spread)?;
        let output = self.sum.run(GpuDevice::of(ctx)?, value.dtype(), &[value, &bias], &[])?;
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! { BiasAdd { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as BiasAdd: |ctx| BiasAdd::new(ctx) }
gpu_kernels! { BiasAddV1 { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as BiasAdd: |ctx| BiasAdd::new(ctx) }
