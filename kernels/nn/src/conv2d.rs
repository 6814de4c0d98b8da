//! Conv2D, by itself and fused with what follows it.

use std::sync::OnceLock;

use kernlink::dtype::Number;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_geometry::convolution::Convolution;
use kernlink_geometry::fusion::{Fusion, ensure_filter_format};
use kernlink_kernels_common::fused::{Activated, Finish, Fused, Nothing};
use kernlink_kernels_common::number::Computed;
use kernlink_kernels_common::remembered::Remembered;
use kernlink_macros::register_kernel;
use kernlink_ops::{Conv2D, FusedConv2D};

use super::convolve::{Convolve, is_side_by_side};
use super::images::{channels_last, output_images};
use super::narrow::{computed, widened};

/// What a node keeps.
struct Prepared {
    convolution: Convolution,
    /// What [`Convolve::prepare`] makes of the filter, if that is constant.
    filter: OnceLock<Tensor>,
    /// What [`Convolve::transform`] makes of a constant filter, if it may.
    transformed: OnceLock<Tensor>,
    /// Whether that is to be seen from the first images: only then one of both is made.
    may_transform: bool,
    /// What it makes of one that is not, but stays the same.
    remembered: Remembered,
}

impl Prepared {
    fn new<T: Computed<Wide: Convolve>>(ctx: &RawConstruction<'_>) -> Result<Self> {
        let constant = ctx.constant_at(1).filter(|filter| filter.rank() == 4);
        let may_transform = constant.is_some_and(|filter| T::Wide::may_transform(filter.shape()));
        let filter = OnceLock::new();
        if let Some(constant) = constant.filter(|_| !may_transform)
            && let Some(packed) = T::Wide::prepare(&widened::<T>(None, constant)?)?
        {
            _ = filter.set(packed);
        }
        let convolution = Convolution::new(ctx.attrs, Code::Unimplemented)?;
        let (transformed, remembered) = (OnceLock::new(), Remembered::default());
        Ok(Self { convolution, filter, transformed, may_transform, remembered })
    }

    /// Output 0: the convolution of inputs 0 and 1, and what `fuse` makes of it, given its shape with channels last.
    fn compute<T: Computed<Wide: Convolve>, F: Finish<T::Wide>>(
        &self,
        ctx: &mut RawContext<'_>,
        fuse: impl FnOnce(&RawContext<'_>, &Shape) -> Result<Option<F>>,
    ) -> Result<()> {
        let (input, filter) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let input = channels_last(ctx, self.convolution.format, input)?;
        let geometry = self.convolution.forward(input.shape(), filter.shape())?;
        let output = output_images(ctx, self.convolution.format, geometry.output(), |output| {
            if output.num_elements() == 0 {
                return Ok(());
            }
            let finish = fuse(ctx, output.shape())?;
            let finish = finish.as_ref().map(|finish| finish as &dyn Finish<T::Wide>);
            computed::<T>(ctx, output, |output| {
                let output = output.as_mut_slice::<T::Wide>()?;
                if input.num_elements() == 0 {
                    // All there is to see is padding.
                    output.fill(T::Wide::ZERO);
                    finish.into_iter().for_each(|finish| finish.finish(0, output));
                    return Ok(());
                }
                geometry.ensure_computable(filter.shape())?;
                let widened_filter = || widened::<T>(Some(ctx), filter);
                let constant_filter = |make: &dyn Fn(&Tensor) -> Result<Tensor>| {
                    filter.read_once(|filter| make(&widened::<T>(Some(ctx), filter)?))
                };
                if self.may_transform && T::Wide::is_transformed(&geometry) {
                    let filter = once(&self.transformed, || constant_filter(&T::Wide::transform))?;
                    let input = widened::<T>(Some(ctx), &input)?;
                    if T::Wide::convolve_transformed(ctx, &geometry, (&input, filter), output, finish)? {
                        return Ok(());
                    }
                }
                let packed = match self.filter.get() {
                    Some(packed) if is_side_by_side(&geometry) => packed.clone(),
                    None if self.may_transform && is_side_by_side(&geometry) => {
                        once(&self.filter, || constant_filter(&|filter| T::Wide::pack(&geometry, filter)))?.clone()
                    }
                    None if T::Wide::PACKS && is_side_by_side(&geometry) => {
                        let pack = || T::Wide::pack(&geometry, &widened_filter()?);
                        self.remembered.get(filter, pack)?
                    }
                    _ => T::Wide::pack(&geometry, &widened_filter()?)?,
                };
                let input = widened::<T>(Some(ctx), &input)?;
                T::Wide::convolve(ctx, &geometry, (&input, &packed), output, finish)
            })
        })?;
        ctx.set_output_at(0, output)
    }
}

/// What is kept, or is made now.
fn once(kept: &OnceLock<Tensor>, make: impl FnOnce() -> Result<Tensor>) -> Result<&Tensor> {
    if let Some(kept) = kept.get() {
        return Ok(kept);
    }
    let made = make()?;
    Ok(kept.get_or_init(|| made))
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64, i32], state = |ctx| Prepared::new::<T>(ctx))]
fn conv2d<T: Computed<Wide: Convolve>>(prepared: &Prepared, ctx: &mut KernelContext<'_, Conv2D>) -> Result<()> {
    prepared.compute::<T, Nothing>(ctx, |_, _| Ok(None))
}

/// What a fused node keeps.
struct PreparedFused {
    product: Prepared,
    fusion: Fusion,
}

impl PreparedFused {
    fn new<T: Computed<Wide: Convolve>>(ctx: &RawConstruction<'_>) -> Result<Self> {
        ensure_filter_format(ctx.attrs)?;
        Ok(Self { product: Prepared::new::<T>(ctx)?, fusion: Fusion::new(ctx.attrs, true)? })
    }
}

#[register_kernel(device = Cpu, T = [f16, f32, f64], state = |ctx| PreparedFused::new::<T>(ctx))]
fn fused_conv2d<T: Computed<Wide: Convolve + Activated>>(
    prepared: &PreparedFused,
    ctx: &mut KernelContext<'_, FusedConv2D>,
) -> Result<()> {
    let format = prepared.product.convolution.format;
    prepared.product.compute::<T, Fused<T::Wide>>(ctx, |ctx, product| {
        let last = |images: &Tensor| channels_last(ctx, format, images);
        Fused::new::<T>(ctx, &prepared.fusion, product, last).map(Some)
    })
}
