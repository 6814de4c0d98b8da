//! Cholesky, CholeskyGrad, Qr, Lu, Svd and those that were before them.

use kernlink::dtype::{DataType, Number};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::batch::{Matrices, cubic, each, part, pieces};
use crate::householder;
use crate::lu::Lu;
use crate::matrix::{Mat, transpose_of};
use crate::scalar::{RealScalar, Scalar};
use crate::svd::{Svd, Vectors};
use crate::triangular;

#[register_kernel(device = Cpu, op = ops::Cholesky, T = [f32, f64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = ops::BatchCholesky, T = [f32, f64])]
fn cholesky<T: Scalar>(ctx: &mut RawContext<'_>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, ctx.input_at(0)?.shape())?;
    let targets = pieces(output.as_mut_slice::<T>()?, matrices.count);
    each(ctx, targets, cubic(n, n, n) / 3, |i, target| {
        let mut a = Mat::copied(n, n, part(input, i, n * n))?;
        let is_definite = triangular::cholesky(&mut a)?;
        for i in 0..n {
            let row = &mut target[i * n..][..n];
            row.copy_from_slice(a.row(i));
            row[i + 1..].fill(T::ZERO);
            if !is_definite {
                // As TensorFlow: no error.
                row[..=i].fill(T::real(T::Part::NAN));
            }
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, op = [ops::BatchCholeskyGrad, ops::CholeskyGrad], T = [f32, f64])]
fn cholesky_grad<T: RealScalar>(ctx: &mut RawContext<'_>) -> Result<()> {
    let matrices = Matrices::of(ctx, 2)?.ensure_square()?;
    let [n, _] = matrices.sizes[0];
    let shapes = matrices.sizes[0] == matrices.sizes[1];
    ensure!(shapes, InvalidArgument, "Inputs (L and grad) must have the same shape.");
    let (l, grad) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, ctx.input_at(0)?.shape())?;
    let half = T::ONE / (T::ONE + T::ONE);
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, n, n), |i, target| {
        let lower = |all: &[T]| {
            let mut matrix = Mat::copied(n, n, part(all, i, n * n))?;
            (0..n).for_each(|i| matrix.row_mut(i)[i + 1..].fill(T::ZERO));
            Ok(matrix)
        };
        let (l, grad) = (lower(l)?, lower(grad)?);
        let found = triangular::cholesky_gradient(&l, grad)?;
        for i in 0..n {
            for j in 0..n {
                target[i * n + j] = if i == j { found[(i, i)] } else { found[(i.max(j), i.min(j))] * half };
            }
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// The elements in the dtype that is computed in.
pub(crate) fn widened<T: Computed>(elements: &[T]) -> Result<Vec<T::Wide>> {
    let mut wide = scratch::filled(T::Wide::ZERO, elements.len())?;
    T::widen_all(elements, &mut wide);
    Ok(wide)
}

#[register_kernel(device = Cpu, T = [f16, f32, f64, Complex32, Complex64])]
fn qr<T: Computed<Wide: Scalar>>(attrs: &Attrs<ops::Qr>, ctx: &mut KernelContext<'_, ops::Qr>) -> Result<()> {
    let matrices = Matrices::of(ctx, 1)?;
    let [m, n] = matrices.sizes[0];
    let inner = if attrs.full_matrices { m } else { m.min(n) };
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut q = ctx.allocate_output_at(0, matrices.shape(&[m, inner]))?;
    let mut r = ctx.allocate_output_at(1, matrices.shape(&[inner, n]))?;
    let (q_elements, r_elements) = (q.as_mut_slice::<T>()?, r.as_mut_slice::<T>()?);
    // Matrices without elements may have any number of columns or rows, which take their time one by one.
    let count = if q_elements.is_empty() && r_elements.is_empty() { 0 } else { matrices.count };
    let targets = pieces(q_elements, count).zip(pieces(r_elements, count));
    each(ctx, targets, cubic(m, n, m.min(n)) * 2, |i, (q, r)| {
        let columns = transpose_of(&widened(part(input, i, m * n))?, m, n)?;
        let qr = householder::Qr::new(columns)?;
        let q_columns = qr.q_columns(inner)?;
        q_columns.turn_into(q, T::narrow);
        for (i, row) in r.chunks_exact_mut(n.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = T::narrow(qr.r(i, j)));
        }
        Ok(())
    })?;
    ctx.set_output_at(0, q)?;
    ctx.set_output_at(1, r)
}

#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64], output_idx_type = [int32, int64])]
fn lu<T: Scalar>(ctx: &mut KernelContext<'_, ops::Lu>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, ctx.input_at(0)?.shape())?;
    let mut places = scratch::zeros::<i64>(matrices.count * n)?;
    let targets = pieces(output.as_mut_slice::<T>()?, matrices.count).zip(pieces(&mut places, matrices.count));
    each(ctx, targets, cubic(n, n, n) / 3, |i, (target, places)| {
        let lu = Lu::new(Mat::copied(n, n, part(input, i, n * n))?)?;
        ensure!(lu.is_invertible(), InvalidArgument, "Input is not invertible.");
        target.copy_from_slice(&lu.lu.data);
        places.iter_mut().zip(&lu.rows).for_each(|(place, &row)| *place = row as i64);
        Ok(())
    })?;
    let mut p = ctx.allocate_output_at(1, matrices.shape(&[n]))?;
    match p.dtype() {
        DataType::Int64 => p.as_mut_slice()?.copy_from_slice(&places),
        _ => p.as_mut_slice::<i32>()?.iter_mut().zip(&places).for_each(|(p, &place)| *p = place as i32),
    }
    ctx.set_output_at(0, output)?;
    ctx.set_output_at(1, p)
}

#[register_kernel(device = Cpu, op = [ops::BatchSvd, ops::Svd], T = [f32, f64, Complex32, Complex64])]
fn svd<T: Scalar>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let matrices = Matrices::of(ctx, 1)?;
    let [m, n] = matrices.sizes[0];
    let size = m.min(n);
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let wanted = match (attrs.compute_uv, attrs.full_matrices) {
        (false, _) => Vectors::None,
        (true, false) => Vectors::Thin,
        (true, true) => Vectors::Full,
    };
    let shape = |rows: usize| match wanted {
        // TensorFlow's have no dimension, whatever its shape function says.
        Vectors::None => kernlink::shape::Shape::from([0]),
        Vectors::Thin => matrices.shape(&[rows, size]),
        Vectors::Full => matrices.shape(&[rows, rows]),
    };
    let mut outputs = [
        ctx.allocate_output_at(0, matrices.shape(&[size]))?,
        ctx.allocate_output_at(1, shape(m))?,
        ctx.allocate_output_at(2, shape(n))?,
    ];
    let [s, u, v] = &mut outputs;
    let [s, u, v] = [s.as_mut_slice::<T>()?, u.as_mut_slice::<T>()?, v.as_mut_slice::<T>()?];
    // As for Qr.
    let count = if s.is_empty() && u.is_empty() && v.is_empty() { 0 } else { matrices.count };
    let targets = pieces(s, count).zip(pieces(u, count).zip(pieces(v, count)));
    each(ctx, targets, cubic(m, n, size) * 8, |i, (s, (u, v))| {
        let found = Svd::new(part(input, i, m * n), m, n, wanted)?;
        s.iter_mut().zip(&found.s).for_each(|(s, &value)| *s = T::real(value));
        if let Some(sides) = &found.vectors {
            for (target, side) in [u, v].into_iter().zip(sides) {
                side.turn_into(target, |x| x);
            }
        }
        Ok(())
    })?;
    outputs.into_iter().enumerate().try_for_each(|(i, output)| ctx.set_output_at(i, output))
}
