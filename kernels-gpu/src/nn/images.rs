//! Images whose channels lie before rows and columns: they are turned, and so is what becomes of them, as by the kernels for
//! the processor.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::fusion::Fusion;
use kernlink_geometry::images;
use kernlink_ops::shapes::TensorFormat;

use crate::array::{copies, rearranged};
use crate::device::GpuDevice;
use crate::epilogue::Finish;
use crate::shader::Program;

/// The images with channels last: as they are, or turned.
pub(super) fn channels_last(gpu: &GpuDevice, format: TensorFormat, images: &Tensor) -> Result<Tensor> {
    match images::channels_last(format, images.shape()) {
        None => Ok(images.clone()),
        Some(to) => rearranged(gpu, images.clone(), to),
    }
}

/// Output 0 in a format, which `compute` writes with channels last, in which `shape` is.
pub(super) fn output_images(
    gpu: &GpuDevice,
    ctx: &RawContext<'_>,
    format: TensorFormat,
    shape: Shape,
    compute: impl FnOnce(&Tensor) -> Result<()>,
) -> Result<Tensor> {
    let Some(to) = images::channels_first(format, &shape) else {
        let images = gpu.allocate_output(ctx, 0, shape)?;
        compute(&images)?;
        return Ok(images);
    };
    let images = gpu.allocate(ctx.output_dtype_at(0)?, shape)?;
    compute(&images)?;
    rearranged(gpu, images, to)
}

/// What follows a convolution in its node, in whose format a summand is. `output` is the product's shape with channels last.
pub(super) fn finish(
    gpu: &GpuDevice,
    ctx: &RawContext<'_>,
    fusion: &Fusion,
    format: TensorFormat,
    output: &Shape,
) -> Result<Finish> {
    let last = |images: &Tensor| channels_last(gpu, format, images);
    let arguments = fusion.arguments_of(ctx, ctx.output_dtype_at(0)?, output, last)?;
    Ok(Finish::new(fusion, arguments, output))
}

/// The programs of a kernel, with those that turn its images.
pub(super) fn and_turns(programs: Vec<Program>, dtype: DataType) -> Result<Vec<Program>> {
    Ok([programs, copies(dtype)?].concat())
}
