//! Transpose and ConjugateTranspose.

use kernlink::dtype::{Complex32, Complex64, DataType, Element};
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::transposed;
use kernlink_kernels_common::strided::arranged;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Input 0 with its axes in the order of input 1.
fn transpose(ctx: &mut RawContext<'_>) -> Result<Tensor> {
    let to = transposed(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let input = ctx.take_input_at(0)?;
    arranged(ctx, 0, input, to)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["perm"],
    T = [realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, resource, string, variant],
)]
fn transpose_kernel(ctx: &mut KernelContext<'_, ops::Transpose>) -> Result<()> {
    let output = transpose(ctx)?;
    ctx.set_output(ops::Transpose::Y, output)
}

/// The tensor with each element replaced, in its own buffer if nothing else shares it.
fn map_in_place<T: Element + Copy>(mut tensor: Tensor, map: impl Fn(T) -> T) -> Result<Tensor> {
    if !tensor.is_unique() {
        let mut mapped = Tensor::alloc(T::DTYPE, tensor.shape())?;
        let elements = mapped.as_mut_slice::<T>()?.iter_mut().zip(tensor.as_slice::<T>()?);
        elements.for_each(|(slot, &value)| *slot = map(value));
        return Ok(mapped);
    }
    tensor.as_mut_slice::<T>()?.iter_mut().for_each(|value| *value = map(*value));
    Ok(tensor)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["perm"],
    T = [realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, resource, string, variant],
)]
fn conjugate_transpose(ctx: &mut KernelContext<'_, ops::ConjugateTranspose>) -> Result<()> {
    let transposed = transpose(ctx)?;
    let output = match transposed.dtype() {
        DataType::Complex64 => map_in_place(transposed, |value: Complex32| value.conj())?,
        DataType::Complex128 => map_in_place(transposed, |value: Complex64| value.conj())?,
        _ => transposed,
    };
    ctx.set_output(ops::ConjugateTranspose::Y, output)
}
