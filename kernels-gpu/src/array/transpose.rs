//! Transpose, ConjugateTranspose.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::transposed;

use super::mover::{Mover, Shaders};
use super::strided::{Run, StridedCopy};
use crate::device::GpuDevice;

/// A matrix of so many rows and columns, transposed.
pub(crate) fn turned(gpu: &GpuDevice, matrix: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let shaders = Shaders::default();
    let turned = gpu.allocate(matrix.dtype(), [columns, rows])?;
    let copy = StridedCopy::new(0, 0).step(columns, rows, 1).step(rows, 1, columns as isize);
    copy.run(&Mover::new(gpu, &shaders), &turned, matrix)?;
    Ok(turned)
}

/// Input 0 with its axes in the order of input 1.
pub(super) fn transpose(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let to = transposed(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    on.rearrange(ctx, 0, to)
}
