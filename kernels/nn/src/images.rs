//! Images whose channels lie before rows and columns: kernels turn them, compute with channels last, and turn the result
//! back. Their inner loops go along the channels, where most networks have many; turning is a pass over memory.

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::images;
use kernlink_kernels_common::strided::arranged_in;
use kernlink_ops::shapes::TensorFormat;

/// The images with channels last: as they are, or turned.
#[inline(never)]
pub(super) fn channels_last(ctx: &RawContext<'_>, format: TensorFormat, images: &Tensor) -> Result<Tensor> {
    let images = images.clone();
    match images::channels_last(format, images.shape()) {
        None => Ok(images),
        Some(to) => {
            let dtype = images.dtype();
            arranged_in(ctx, images, to, |shape| Tensor::alloc(dtype, shape))
        }
    }
}

/// Output 0 in a format, which `compute` writes with channels last, in which `shape` is.
pub(super) fn output_images(
    ctx: &RawContext<'_>,
    format: TensorFormat,
    shape: Shape,
    compute: impl FnOnce(&mut Tensor) -> Result<()>,
) -> Result<Tensor> {
    let mut compute = Some(compute);
    written(ctx, format, shape, &mut |output| compute.take().map_or(Ok(()), |compute| compute(output)))
}

/// [`output_images`], compiled once and not for each kernel.
#[inline(never)]
fn written(
    ctx: &RawContext<'_>,
    format: TensorFormat,
    shape: Shape,
    compute: &mut dyn FnMut(&mut Tensor) -> Result<()>,
) -> Result<Tensor> {
    match images::channels_first(format, &shape) {
        None => {
            let mut output = ctx.allocate_output_at(0, shape)?;
            compute(&mut output)?;
            Ok(output)
        }
        Some(to) => {
            let mut images = Tensor::alloc(ctx.output_dtype_at(0)?, shape)?;
            compute(&mut images)?;
            arranged_in(ctx, images, to, |shape| ctx.allocate_output_at(0, shape))
        }
    }
}
