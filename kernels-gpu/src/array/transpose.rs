//! Transpose, ConjugateTranspose.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::{Shape, resolve_axis};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use super::integers::vector;
use super::mover::{Mover, Shaders};
use super::strided::StridedCopy;
use crate::device::GpuDevice;

/// The axes that `perm` names, once each.
fn permutation(perm: &Tensor, rank: usize) -> Result<Vec<usize>> {
    let given = vector(perm, "perm")?;
    ensure!(
        given.len() == rank,
        InvalidArgument,
        "transpose expects a vector of size {rank}. But input(1) is a vector of size {}",
        given.len()
    );
    let mut seen = vec![false; rank];
    let mut axes = Vec::with_capacity(rank);
    for &axis in &given {
        let axis = resolve_axis(axis, rank)?;
        seen[axis] = true;
        axes.push(axis);
    }
    if let Some(missing) = seen.iter().position(|seen| !seen) {
        bail!(InvalidArgument, "{missing} is missing from {given:?}.");
    }
    Ok(axes)
}

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
    let input = ctx.input_at(0)?;
    let axes = permutation(ctx.input_at(1)?, input.rank())?;
    let shape: Shape = axes.iter().map(|&axis| input.shape()[axis]).collect();
    let long = |axis: &&usize| input.shape()[**axis] != 1;
    if axes.iter().filter(long).is_sorted() || shape.num_elements() == 0 {
        let output = ctx.take_input_at(0)?.reshaped(shape)?;
        return ctx.set_output_at(0, output);
    }
    let (to, from) = (shape.strides(), input.shape().strides());
    let output = on.output(ctx, 0, shape)?;
    let mut copy = StridedCopy::new(0, 0);
    for (&axis, &stride) in axes.iter().zip(&to) {
        copy = copy.step(input.shape()[axis], stride, from[axis] as isize);
    }
    copy.run(on, &output, input)?;
    ctx.set_output_at(0, output)
}
