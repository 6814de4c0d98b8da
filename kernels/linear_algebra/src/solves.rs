//! MatrixSolve, MatrixSolveLs, MatrixTriangularSolve, BandedTriangularSolve, TridiagonalSolve, TridiagonalMatMul and those that
//! were before them.

use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::banded::{Banded, Tridiagonal};
use crate::batch::{Matrices, cubic, each, part, pieces};
use crate::householder::Qr;
use crate::lu::Lu;
use crate::matrix::{Mat, adjoint_of, transpose_of};
use crate::scalar::Scalar;
use crate::triangular::{self, LOWER, Triangle, UPPER};

/// # Errors
/// INVALID_ARGUMENT if the matrices and the right-hand sides have not as many rows.
fn ensure_rows(matrices: &Matrices) -> Result<()> {
    let ([rows, _], [rhs, _]) = (matrices.sizes[0], matrices.sizes[1]);
    ensure!(rows == rhs, InvalidArgument, "Input matrix and rhs are incompatible: {rows} and {rhs} rows.");
    Ok(())
}

#[register_kernel(device = Cpu, op = ops::MatrixSolve, T = [f32, f64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = ops::BatchMatrixSolve, T = [f32, f64])]
fn solve<T: Scalar>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let matrices = Matrices::of(ctx, 2)?.ensure_square()?;
    ensure_rows(&matrices)?;
    let [n, k] = matrices.sizes[1];
    let (matrix, rhs) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, ctx.input_at(1)?.shape())?;
    if output.num_elements() > 0 {
        each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, n, n / 3 + k), |i, target| {
            let matrix = part(matrix, i, n * n);
            let a = if attrs.adjoint { adjoint_of(matrix, n, n)? } else { Mat::copied(n, n, matrix)? };
            let lu = Lu::new(a)?;
            ensure!(lu.is_invertible(), InvalidArgument, "Input matrix is not invertible.");
            target.copy_from_slice(&lu.solve(&Mat::copied(n, k, part(rhs, i, n * k))?)?.data);
            Ok(())
        })?;
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, op = ops::MatrixSolveLs, T = [f32, f64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = ops::BatchMatrixSolveLs, T = [f32, f64])]
fn solve_ls<T: Scalar>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let matrices = Matrices::of(ctx, 2)?;
    let weight = ctx.input_at(2)?;
    ensure!(weight.rank() == 0, InvalidArgument, "l2_regularizer must be scalar, got shape {}", weight.shape());
    let weight = weight.to_scalar::<f64>()?;
    ensure!(weight >= 0.0, InvalidArgument, "l2_regularizer must be >= 0, not {weight}.");
    ensure_rows(&matrices)?;
    let ([m, n], [_, k]) = (matrices.sizes[0], matrices.sizes[1]);
    let (matrix, rhs) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, matrices.shape(&[n, k]))?;
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(m, n, m.min(n) + k), |i, target| {
        if m == 0 || target.is_empty() {
            // TensorFlow leaves what is in the memory.
            target.fill(T::ZERO);
            return Ok(());
        }
        let (matrix, rhs) = (part(matrix, i, m * n), Mat::copied(m, k, part(rhs, i, m * k))?);
        let x = match attrs.fast {
            true => normal_equations(matrix, [m, n], rhs, weight)?,
            false => shortest(matrix, [m, n], &rhs)?,
        };
        target.copy_from_slice(&x.data);
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// Least squares by Cholesky's decomposition of `Aᴴ A`, or of `A Aᴴ` if there are fewer rows than columns.
fn normal_equations<T: Scalar>(matrix: &[T], [m, n]: [usize; 2], rhs: Mat<T>, weight: f64) -> Result<Mat<T>> {
    let (a, turned) = (Mat::copied(m, n, matrix)?, adjoint_of(matrix, m, n)?);
    let is_tall = m >= n;
    let mut gram = if is_tall { turned.times(&a)? } else { a.times(&turned)? };
    if weight > 0.0 {
        let weight = T::from_f64(weight);
        (0..gram.rows).for_each(|i| gram[(i, i)] += weight);
    }
    if !triangular::cholesky(&mut gram)? {
        bail!(
            InvalidArgument,
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger \
             l2_regularizer > 0."
        );
    }
    let mut x = if is_tall { turned.times(&rhs)? } else { rhs };
    triangular::solve(&gram.data, gram.columns, LOWER, &mut x)?;
    triangular::solve(&gram.adjoint()?.data, gram.columns, UPPER, &mut x)?;
    if is_tall { Ok(x) } else { turned.times(&x) }
}

/// Least squares, of which the shortest solution, by a complete orthogonal decomposition.
fn shortest<T: Scalar>(matrix: &[T], [m, n]: [usize; 2], rhs: &Mat<T>) -> Result<Mat<T>> {
    let k = rhs.columns;
    let qr = Qr::with_pivots(transpose_of(matrix, m, n)?)?;
    let rank = qr.rank();
    let mut x = Mat::zeros(n, k)?;
    if rank == 0 {
        return Ok(x);
    }
    let mut columns = rhs.transpose()?;
    qr.apply_q_adjoint(&mut columns)?;
    let mut found = columns.transpose()?;
    found.data.truncate(rank * k);
    found.rows = rank;
    if rank == n {
        triangular::solve(&upper(&qr, n)?.data, n, UPPER, &mut found)?;
    } else {
        // The rows of r that count are a triangle times the adjoint of a unitary matrix.
        let mut rows = Mat::zeros(rank, n)?;
        for i in 0..rank {
            for j in i..n {
                rows[(i, j)] = qr.r(i, j).conj();
            }
        }
        let second = Qr::new(rows)?;
        triangular::solve(&upper(&second, rank)?.adjoint()?.data, rank, LOWER, &mut found)?;
        let mut columns = Mat::zeros(k, n)?;
        for i in 0..rank {
            for j in 0..k {
                columns[(j, i)] = found[(i, j)];
            }
        }
        second.apply_q(&mut columns)?;
        found = columns.transpose()?;
    }
    for (i, &place) in qr.places.iter().enumerate() {
        x.row_mut(place).copy_from_slice(found.row(i));
    }
    Ok(x)
}

/// The first rows and columns of `r`.
fn upper<T: Scalar>(qr: &Qr<T>, n: usize) -> Result<Mat<T>> {
    let mut r = Mat::zeros(n, n)?;
    for i in 0..n {
        for j in i..n {
            r[(i, j)] = qr.r(i, j);
        }
    }
    Ok(r)
}

/// Two batches of matrices of which one or the other is repeated.
struct Repeated {
    output: Shape,
    strides: [Vec<usize>; 2],
}

impl Repeated {
    /// # Errors
    /// INVALID_ARGUMENT if an input is no matrix, or the batches do not fit.
    fn of(ctx: &RawContext<'_>) -> Result<(Self, [[usize; 2]; 2])> {
        let shapes = [ctx.input_at(0)?.shape(), ctx.input_at(1)?.shape()];
        for (index, shape) in shapes.iter().enumerate() {
            ensure!(shape.rank() >= 2, InvalidArgument, "In[{index}] ndims must be >= 2: {}", shape.rank());
        }
        let [before, behind] = [0, 1].map(|i| shapes[i].split_at(shapes[i].rank() - 2));
        let batches = [Shape::from(before.0), Shape::from(behind.0)];
        let Ok(output) = batches[0].broadcast(&batches[1]) else {
            bail!(
                InvalidArgument,
                "In[0] and In[1] must have compatible batch dimensions: {} vs. {}",
                shapes[0],
                shapes[1]
            );
        };
        let strides = batches.map(|batch| {
            let (mut strides, mut stride) = (vec![0; output.rank()], 1);
            for (to, &dim) in strides.iter_mut().rev().zip(batch.iter().rev()) {
                *to = if dim == 1 { 0 } else { stride };
                stride *= dim;
            }
            strides
        });
        let sizes = [[before.1[0], before.1[1]], [behind.1[0], behind.1[1]]];
        Ok((Repeated { output, strides }, sizes))
    }

    /// Which matrix of an input goes into one of the output.
    fn place(&self, input: usize, mut index: usize) -> usize {
        let mut place = 0;
        for (&dim, &stride) in self.output.iter().zip(&self.strides[input]).rev() {
            place += index % dim * stride;
            index /= dim;
        }
        place
    }

    fn shape(&self, dims: [usize; 2]) -> Shape {
        let mut shape = self.output.clone();
        shape.extend(&dims);
        shape
    }
}

#[register_kernel(device = Cpu, op = ops::MatrixTriangularSolve, T = [f32, f64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = ops::BatchMatrixTriangularSolve, T = [f32, f64])]
fn triangular_solve<T: Scalar>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (repeated, [[rows, n], [rhs_rows, k]]) = Repeated::of(ctx)?;
    ensure!(rows == n, InvalidArgument, "In[0] matrices in the last dimensions must be square ({n} =/= {rows})");
    ensure!(n == rhs_rows, InvalidArgument, "In[0] mismatch In[1] shape: {n} vs. {rhs_rows}");
    let (matrix, rhs) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, repeated.shape([n, k]))?;
    let triangle = Triangle { lower: attrs.lower != attrs.adjoint, unit: false };
    let count = repeated.output.num_elements();
    if output.num_elements() > 0 {
        each(ctx, pieces(output.as_mut_slice::<T>()?, count), cubic(n, n, k) / 2, |i, target| {
            let matrix = part(matrix, repeated.place(0, i), n * n);
            let mut x = Mat::copied(n, k, part(rhs, repeated.place(1, i), n * k))?;
            match attrs.adjoint {
                true => triangular::solve(&adjoint_of(matrix, n, n)?.data, n, triangle, &mut x)?,
                false => triangular::solve(matrix, n, triangle, &mut x)?,
            }
            target.copy_from_slice(&x.data);
            Ok(())
        })?;
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
fn banded_triangular_solve<T: Scalar>(
    attrs: &Attrs<ops::BandedTriangularSolve>,
    ctx: &mut KernelContext<'_, ops::BandedTriangularSolve>,
) -> Result<()> {
    for index in 0..2 {
        let shape = ctx.input_at(index)?.shape();
        ensure!(shape.num_elements() > 0, InvalidArgument, "In[{index}] must not be an empty tensor: {shape}");
    }
    let (repeated, [[bands, n], [rhs_rows, k]]) = Repeated::of(ctx)?;
    ensure!(n == rhs_rows, InvalidArgument, "In[0] mismatch In[1] shape: {n} vs. {rhs_rows}");
    // Of more diagonals than rows the first count if the matrix is lower, or else the last: the others lie outside of it.
    let within = bands.min(n);
    let first = if attrs.lower { 0 } else { (bands - within) * n };
    let (matrix, rhs) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, repeated.shape([n, k]))?;
    let count = repeated.output.num_elements();
    each(ctx, pieces(output.as_mut_slice::<T>()?, count), cubic(n, within, k), |i, target| {
        let diagonals = &part(matrix, repeated.place(0, i), bands * n)[first..first + within * n];
        let banded = Banded { diagonals, n, lower: attrs.lower, adjoint: attrs.adjoint };
        ensure!(banded.is_invertible(), InvalidArgument, "Input matrix is not invertible.");
        target.copy_from_slice(part(rhs, repeated.place(1, i), n * k));
        banded.solve(target, k);
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
fn tridiagonal_solve<T: Scalar>(
    attrs: &Attrs<ops::TridiagonalSolve>,
    ctx: &mut KernelContext<'_, ops::TridiagonalSolve>,
) -> Result<()> {
    let matrices = Matrices::of(ctx, 2)?;
    let ([rows, n], [rhs_rows, k]) = (matrices.sizes[0], matrices.sizes[1]);
    ensure!(rows == 3, InvalidArgument, "Expected diagonals to be provided as a matrix with 3 rows, got {rows} rows.");
    ensure!(
        n == rhs_rows,
        InvalidArgument,
        "Expected the same number of left-hand sides and right-hand sides, got {n} and {rhs_rows}."
    );
    ensure!(
        attrs.partial_pivoting || !attrs.perturb_singular,
        InvalidArgument,
        "Setting perturb_singular requires also setting partial_pivoting."
    );
    let (diagonals, rhs) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, ctx.input_at(1)?.shape())?;
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, k, 8), |i, target| {
        let diagonals = part(diagonals, i, 3 * n);
        let [above, main, below] = [0, 1, 2].map(|row| part(diagonals, row, n));
        let matrix = Tridiagonal { above, main, below };
        target.copy_from_slice(part(rhs, i, n * k));
        match (attrs.partial_pivoting, attrs.perturb_singular) {
            (_, true) => matrix.solve_perturbed(target, k),
            (true, false) => matrix.solve_by_exchanges(target, k),
            (false, false) => matrix.solve_in_order(target, k),
        }
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
fn tridiagonal_mat_mul<T: Scalar>(ctx: &mut KernelContext<'_, ops::TridiagonalMatMul>) -> Result<()> {
    let matrices = Matrices::of(ctx, 4)?;
    let [n, k] = matrices.sizes[3];
    for (&size, name) in matrices.sizes.iter().zip(["superdiagonal", "main diagonal", "subdiagonal"]) {
        ensure!(size == [1, n], InvalidArgument, "Invalid {name} shape: {} x {}, not 1 x {n}.", size[0], size[1]);
    }
    let mut diagonals = Vec::new();
    for index in 0..3 {
        diagonals.push(ctx.input_at(index)?.as_slice::<T>()?);
    }
    let rhs = ctx.input_at(3)?.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, ctx.input_at(3)?.shape())?;
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, k, 3), |i, target| {
        let matrix = Tridiagonal {
            above: part(diagonals[0], i, n),
            main: part(diagonals[1], i, n),
            below: part(diagonals[2], i, n),
        };
        matrix.times(part(rhs, i, n * k), target, k);
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}
