//! Transpose and ConjugateTranspose.

use kernlink::dtype::{Complex32, Complex64, DataType, Element};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::{Shape, resolve_axis};
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::vector;
use super::strided::StridedCopy;

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
        kernlink::bail!(InvalidArgument, "{missing} is missing from {given:?}.");
    }
    Ok(axes)
}

/// Input 0 with its axes in the order of input 1.
fn transpose(ctx: &mut RawContext<'_>) -> Result<Tensor> {
    let input = ctx.input_at(0)?;
    let axes = permutation(ctx.input_at(1)?, input.rank())?;
    let shape: Shape = axes.iter().map(|&axis| input.shape()[axis]).collect();
    let long = |axis: &&usize| input.shape()[**axis] != 1;
    if axes.iter().filter(long).is_sorted() || shape.num_elements() == 0 {
        return ctx.take_input_at(0)?.reshaped(shape);
    }
    let (to, from) = (shape.strides(), input.shape().strides());
    let mut output = ctx.allocate_output_at(0, shape)?;
    let mut copy = StridedCopy::new(0, 0);
    for (&axis, &stride) in axes.iter().zip(&to) {
        copy = copy.step(input.shape()[axis], stride, from[axis] as isize);
    }
    copy.run(ctx, &mut output, input)?;
    Ok(output)
}

struct TransposeKernel;

#[register_kernel(device = Cpu, host_memory = ["perm"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    resource, string, uint16, uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::Transpose> for TransposeKernel {
    fn new(_: &KernelConstruction<'_, ops::Transpose>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Transpose>) -> Result<()> {
        let output = transpose(ctx)?;
        ctx.set_output(ops::Transpose::Y, output)
    }
}

/// The tensor with each element replaced, in its own buffer if nothing else shares it.
fn map_in_place<T: Element + Copy>(mut tensor: Tensor, map: impl Fn(T) -> T) -> Result<Tensor> {
    if !tensor.is_unique() {
        let elements: Vec<T> = tensor.as_slice::<T>()?.iter().map(|&value| map(value)).collect();
        return Tensor::from_elements(tensor.shape(), &elements);
    }
    tensor.as_mut_slice::<T>()?.iter_mut().for_each(|value| *value = map(*value));
    Ok(tensor)
}

struct ConjugateTransposeKernel;

#[register_kernel(device = Cpu, host_memory = ["perm"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    resource, string, uint16, uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::ConjugateTranspose> for ConjugateTransposeKernel {
    fn new(_: &KernelConstruction<'_, ops::ConjugateTranspose>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ConjugateTranspose>) -> Result<()> {
        let transposed = transpose(ctx)?;
        let output = match transposed.dtype() {
            DataType::Complex64 => map_in_place(transposed, |value: Complex32| value.conj())?,
            DataType::Complex128 => map_in_place(transposed, |value: Complex64| value.conj())?,
            _ => transposed,
        };
        ctx.set_output(ops::ConjugateTranspose::Y, output)
    }
}
