//! Transforms of complex numbers: FFT, FFT2D, FFT3D and their inverses.

use kernlink::dtype::{DataType, Pod};
use kernlink::kernel::RawContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use rustfft::num_complex::Complex;

use crate::along::{self, Way};
use crate::plans::Real;

/// How many dimensions are transformed, and which way.
struct Transform {
    rank: usize,
    inverse: bool,
}

impl Transform {
    const fn forward(rank: usize) -> Self {
        Self { rank, inverse: false }
    }

    const fn inverse(rank: usize) -> Self {
        Self { rank, inverse: true }
    }
}

#[register_kernel(device = Cpu, op = ops::FFT, Tcomplex = [complex64, complex128], state = |_| Ok(Transform::forward(1)))]
#[register_kernel(device = Cpu, op = ops::FFT2D, Tcomplex = [complex64, complex128], state = |_| Ok(Transform::forward(2)))]
#[register_kernel(device = Cpu, op = ops::FFT3D, Tcomplex = [complex64, complex128], state = |_| Ok(Transform::forward(3)))]
#[register_kernel(device = Cpu, op = ops::IFFT, Tcomplex = [complex64, complex128], state = |_| Ok(Transform::inverse(1)))]
#[register_kernel(device = Cpu, op = ops::IFFT2D, Tcomplex = [complex64, complex128], state = |_| Ok(Transform::inverse(2)))]
#[register_kernel(device = Cpu, op = ops::IFFT3D, Tcomplex = [complex64, complex128], state = |_| Ok(Transform::inverse(3)))]
fn transform(transform: &Transform, ctx: &mut RawContext<'_>) -> Result<()> {
    let (rank, shape) = (transform.rank, ctx.input_at(0)?.shape());
    ensure!(shape.rank() >= rank, InvalidArgument, "Input must have rank of at least {rank} but got: {shape}");
    match ctx.input_at(0)?.dtype() {
        DataType::Complex128 => along_last::<f64>(ctx, transform),
        _ => along_last::<f32>(ctx, transform),
    }
}

fn along_last<T: Real>(ctx: &mut RawContext<'_>, &Transform { rank, inverse }: &Transform) -> Result<()>
where
    Complex<T>: Pod,
{
    let input = ctx.input_at(0)?;
    let dims = input.shape().dims();
    let transformed = &dims[dims.len() - rank..];
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let (from, to) = (input.as_slice::<Complex<T>>()?, output.as_mut_slice()?);
    if !from.is_empty() {
        let scale = inverse.then(|| T::reciprocal(transformed.iter().product()));
        along::all(ctx, from, to, transformed, Way { inverse, scale })?;
    }
    ctx.set_output_at(0, output)
}
