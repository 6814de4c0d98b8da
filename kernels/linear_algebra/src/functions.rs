//! MatrixInverse, determinants, MatrixSquareRoot, MatrixExponential, MatrixLogarithm and those that were before them.

use kernlink::dtype::Complex64;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::batch::{Matrices, cubic, each, part, pieces};
use crate::decompositions::widened;
use crate::eigenvalues::AsComplex;
use crate::function;
use crate::lu::Lu;
use crate::matrix::Mat;
use crate::scalar::{RealScalar, Scalar};

#[register_kernel(device = Cpu, op = ops::MatrixInverse, T = [f16, f32, f64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = ops::BatchMatrixInverse, T = [f32, f64])]
fn inverse<T: Computed<Wide: Scalar>>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, ctx.input_at(0)?.shape())?;
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, n, n), |i, target| {
        let mut a = Mat { rows: n, columns: n, data: widened(part(input, i, n * n))? };
        if attrs.adjoint {
            a = a.adjoint()?;
        }
        let lu = Lu::new(a)?;
        ensure!(lu.is_invertible(), InvalidArgument, "Input is not invertible.");
        T::narrow_all(&lu.inverse()?.data, target);
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// For each matrix one number, or two in two outputs.
fn determinants<T: Scalar>(ctx: &mut RawContext<'_>, has_log: bool) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut found = scratch::zeros::<[T; 2]>(matrices.count)?;
    each(ctx, found.iter_mut(), cubic(n, n, n) / 3, |i, found| {
        let (sign, log) = Lu::new(Mat::copied(n, n, part(input, i, n * n))?)?.log_determinant();
        **found = if has_log { [sign, T::real(log)] } else { [sign.scaled(log.exp()); 2] };
        Ok(())
    })?;
    for index in 0..1 + usize::from(has_log) {
        let mut output = ctx.allocate_output_at(index, matrices.shape(&[]))?;
        output.as_mut_slice::<T>()?.iter_mut().zip(&found).for_each(|(x, found)| *x = found[index]);
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

#[register_kernel(device = Cpu, op = [ops::BatchMatrixDeterminant, ops::MatrixDeterminant], T = [f32, f64, Complex32, Complex64])]
fn determinant<T: Scalar>(ctx: &mut RawContext<'_>) -> Result<()> {
    determinants::<T>(ctx, false)
}

#[register_kernel(device = Cpu, op = ops::LogMatrixDeterminant, T = [f32, f64, Complex32, Complex64])]
fn log_determinant<T: Scalar>(ctx: &mut RawContext<'_>) -> Result<()> {
    determinants::<T>(ctx, true)
}

type Function = fn(Mat<Complex64>, bool) -> Result<Mat<Complex64>>;

/// All is computed in complex numbers of double precision, so that the code is there once.
#[register_kernel(device = Cpu, op = ops::MatrixSquareRoot, T = [f32, f64, Complex32, Complex64], state = |_| Ok(function::square_root as Function))]
#[register_kernel(device = Cpu, op = ops::MatrixExponential, T = [f32, f64, Complex32, Complex64], state = |_| Ok(exponential as Function))]
#[register_kernel(device = Cpu, op = ops::MatrixLogarithm, T = [Complex32, Complex64], state = |_| Ok(logarithm as Function))]
fn apply<T: AsComplex>(function: &Function, ctx: &mut RawContext<'_>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, ctx.input_at(0)?.shape())?;
    let is_real = !output.dtype().is_complex();
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, n, n) * 20, |i, target| {
        let wide = scratch::collected(part(input, i, n * n).iter().map(|x| x.wide()))?;
        if n > 0 {
            let found = function(Mat { rows: n, columns: n, data: wide }, is_real)?;
            target.iter_mut().zip(&found.data).for_each(|(x, &found)| *x = T::narrow(found));
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

fn exponential(a: Mat<Complex64>, _: bool) -> Result<Mat<Complex64>> {
    function::exponential(a)
}

fn logarithm(a: Mat<Complex64>, _: bool) -> Result<Mat<Complex64>> {
    function::logarithm(a)
}
