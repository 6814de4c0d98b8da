//! Conv2D.

use kernlink::kernel::{KernelConstruction, KernelContext};
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_geometry::convolution::Convolution;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::Conv2D;

use super::convolve::{Convolve, is_side_by_side};
use super::images::{channels_last, output_images};
use super::narrow::{computed, widened};

/// What a node keeps.
struct Prepared {
    convolution: Convolution,
    /// What [`Convolve::prepare`] makes of the filter, if that is constant.
    filter: Option<Tensor>,
}

impl Prepared {
    fn new<T: Computed<Wide: Convolve>>(ctx: &KernelConstruction<'_, Conv2D>) -> Result<Self> {
        let constant = ctx.constant(Conv2D::FILTER).filter(|filter| filter.rank() == 4);
        let prepare = |filter| T::Wide::prepare(&widened::<T>(None, filter)?);
        let filter = constant.map(prepare).transpose()?.flatten();
        Ok(Self { convolution: Convolution::new(ctx.attrs, Code::Unimplemented)?, filter })
    }
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64, i32], state = Prepared::new::<T>)]
fn conv2d<T: Computed<Wide: Convolve>>(prepared: &Prepared, ctx: &mut KernelContext<'_, Conv2D>) -> Result<()> {
    let convolution = &prepared.convolution;
    let (input, filter) = (ctx.input(Conv2D::INPUT)?, ctx.input(Conv2D::FILTER)?);
    let input = channels_last(ctx, convolution.format, input)?;
    let geometry = convolution.forward(input.shape(), filter.shape())?;
    let output = output_images(ctx, convolution.format, geometry.output(), |output| {
        if output.num_elements() == 0 {
            return Ok(());
        }
        if input.num_elements() == 0 {
            // All there is to see is padding.
            output.as_mut_slice::<T>()?.fill(T::ZERO);
            return Ok(());
        }
        geometry.ensure_computable(filter.shape())?;
        let packed = match &prepared.filter {
            Some(packed) if is_side_by_side(&geometry) => packed.clone(),
            _ => T::Wide::pack(&geometry, &widened::<T>(Some(ctx), filter)?)?,
        };
        let input = widened::<T>(Some(ctx), &input)?;
        computed::<T>(ctx, output, |output| T::Wide::convolve(ctx, &geometry, &input, &packed, output))
    })?;
    ctx.set_output(Conv2D::OUTPUT, output)
}
