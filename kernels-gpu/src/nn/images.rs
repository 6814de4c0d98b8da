//! Images whose channels lie before rows and columns: they are turned, and so is what becomes of them, as by the kernels for
//! the processor.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::op::{Op, OutputArg};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::images;
use kernlink_ops::shapes::TensorFormat;

use crate::array::{copies, rearranged};
use crate::device::GpuDevice;
use crate::shader::Program;

/// The images with channels last: as they are, or turned.
pub(super) fn channels_last(gpu: &GpuDevice, format: TensorFormat, images: &Tensor) -> Result<Tensor> {
    match images::channels_last(format, images.shape()) {
        None => Ok(images.clone()),
        Some(to) => rearranged(gpu, images.clone(), to),
    }
}

/// An output in a format, which `compute` writes with channels last, in which `shape` is.
pub(super) fn output_images<O: Op>(
    gpu: &GpuDevice,
    ctx: &KernelContext<'_, O>,
    output: OutputArg<O>,
    format: TensorFormat,
    shape: Shape,
    compute: impl FnOnce(&Tensor) -> Result<()>,
) -> Result<Tensor> {
    let Some(to) = images::channels_first(format, &shape) else {
        let images = gpu.output(ctx, output, shape)?;
        compute(&images)?;
        return Ok(images);
    };
    let images = gpu.allocate(ctx.output_dtype(output)?, shape)?;
    compute(&images)?;
    rearranged(gpu, images, to)
}

/// The programs of a kernel, with those that turn its images.
pub(super) fn and_turns(programs: Vec<Program>, dtype: DataType) -> Result<Vec<Program>> {
    Ok([programs, copies(dtype)?].concat())
}
