//! Triangular matrices: equations, and Cholesky's decomposition, which makes them.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm_here};
use kernlink_kernels_common::widest;

use crate::matrix::{Mat, axpy, dot};
use crate::scalar::{RealScalar, Scalar};

/// As many rows and columns are worked on one by one; what is left is a product of matrices.
const BLOCK: usize = 64;

/// With fewer right-hand sides they are solved one by one.
const FEW: usize = 8;

/// Which triangle counts, and whether its diagonal is 1, whatever is stored.
#[derive(Clone, Copy)]
pub(crate) struct Triangle {
    pub(crate) lower: bool,
    pub(crate) unit: bool,
}

pub(crate) const LOWER: Triangle = Triangle { lower: true, unit: false };
pub(crate) const UPPER: Triangle = Triangle { lower: false, unit: false };

/// Replaces `b` by the solution of `t x = b`. `t` has as many rows and columns as `b` has rows, but its rows may be longer, `stride`.
pub(crate) fn solve<T: Scalar>(t: &[T], stride: usize, triangle: Triangle, b: &mut Mat<T>) -> Result<()> {
    let (n, k) = (b.rows, b.columns);
    if k < FEW {
        return one_by_one(t, stride, triangle, b);
    }
    let blocks = n.div_ceil(BLOCK);
    for block in 0..blocks {
        let block = if triangle.lower { block } else { blocks - 1 - block };
        let (first, last) = (block * BLOCK, (block * BLOCK + BLOCK).min(n));
        for step in 0..last - first {
            let i = if triangle.lower { first + step } else { last - 1 - step };
            let others = if triangle.lower { first..i } else { i + 1..last };
            for j in others {
                let factor = t[i * stride + j];
                let (row, other) = if j < i {
                    let (other, row) = b.two_rows(j, i);
                    (row, other)
                } else {
                    b.two_rows(i, j)
                };
                axpy(-factor, other, row);
            }
            if !triangle.unit {
                let pivot = t[i * stride + i];
                b.row_mut(i).iter_mut().for_each(|x| *x = x.over(pivot));
            }
        }
        let left = if triangle.lower { last..n } else { 0..first };
        if left.is_empty() {
            continue;
        }
        let solved = scratch::collected(b.data[first * k..last * k].iter().map(|&x| -x))?;
        let sizes = Sizes { m: left.len(), k: last - first, n: k };
        let factors = Matrix { data: &t[left.start * stride + first..], row_stride: stride, column_stride: 1 };
        let target = Target { data: &mut b.data[left.start * k..left.end * k], row_stride: k, accumulate: true };
        gemm_here(sizes, factors, Matrix::rows(&solved, k), target)?;
    }
    Ok(())
}

fn one_by_one<T: Scalar>(t: &[T], stride: usize, triangle: Triangle, b: &mut Mat<T>) -> Result<()> {
    let (n, k) = (b.rows, b.columns);
    let mut x = scratch::zeros::<T>(n)?;
    for column in 0..k {
        for step in 0..n {
            let i = if triangle.lower { step } else { n - 1 - step };
            let row = &t[i * stride..][..n];
            let known = if triangle.lower { 0..i } else { i + 1..n };
            let mut value = b.data[i * k + column] - dot(&row[known.clone()], &x[known]);
            if !triangle.unit {
                value = value.over(row[i]);
            }
            x[i] = value;
        }
        for (i, &x) in x.iter().enumerate() {
            b.data[i * k + column] = x;
        }
    }
    Ok(())
}

widest! {
    /// Replaces some columns of a Hermitian matrix of `n` rows, at most [`BLOCK`], by those of `L`, of which those before them were found
    /// and subtracted. Whether the pivots are positive.
    fn find_columns<T: Scalar>(a: &mut [T], n: usize, columns: Range<usize>) -> bool {
        let mut conjugate = [T::ZERO; BLOCK];
        for k in columns.clone() {
            let square = a[k * n + k].re();
            if square <= T::Part::ZERO {
                return false;
            }
            let pivot = T::real(square.sqrt());
            a[k * n + k] = pivot;
            for (i, row) in (k + 1..n).zip(a[(k + 1) * n..].chunks_exact_mut(n)) {
                let factor = row[k].over(pivot);
                row[k] = factor;
                if i < columns.end {
                    conjugate[i - k - 1] = factor.conj();
                }
                // What remains of the row in these columns, up to the diagonal, whose column of `L` is known by now.
                let rest = &mut row[k + 1..columns.end.min(i + 1)];
                for (x, &other) in rest.iter_mut().zip(&conjugate) {
                    *x -= factor * other;
                }
            }
        }
        true
    }
}

/// Replaces the lower triangle of a Hermitian matrix by `L` of `L Lᴴ`; what is above is neither read nor written. Whether the
/// matrix was positive definite.
pub(crate) fn cholesky<T: Scalar>(a: &mut Mat<T>) -> Result<bool> {
    let n = a.rows;
    for first in (0..n).step_by(BLOCK) {
        let last = (first + BLOCK).min(n);
        if !find_columns(&mut a.data, n, first..last) {
            return Ok(false);
        }
        // What is left loses the product of what was found with its conjugate transpose.
        let width = last - first;
        let found = |i: usize| &a.data[i * n + first..][..width];
        let minus = scratch::collected((last..n).flat_map(|i| found(i).iter().map(|&x| -x)))?;
        let conjugate = scratch::collected((last..n).flat_map(|i| found(i).iter().map(|x| x.conj())))?;
        for from in (last..n).step_by(BLOCK) {
            let to = (from + BLOCK).min(n);
            let sizes = Sizes { m: n - from, k: width, n: to - from };
            let (left, right) = (&minus[(from - last) * width..], &conjugate[(from - last) * width..]);
            let target = Target { data: &mut a.data[from * n + from..], row_stride: n, accumulate: true };
            // Above the diagonal of the first block something is written that nobody reads.
            gemm_here(sizes, Matrix::rows(left, width), Matrix::transposed(right, width), target)?;
        }
    }
    Ok(true)
}

/// What makes of the derivative by `L`, lower triangular, that by the symmetric matrix `L Lᵀ`: a lower triangle, in which an element
/// beside the diagonal stands for two. What is above it is undefined. Murray, Differentiation of the Cholesky decomposition (2016),
/// which divides by each pivot before it multiplies, so that ill-conditioned triangles lose no more than they must.
pub(crate) fn cholesky_gradient<T: RealScalar>(l: &Mat<T>, mut grad: Mat<T>) -> Result<Mat<T>> {
    let n = l.rows;
    let negative = |x: &T| -*x;
    for block in (0..n.div_ceil(BLOCK)).rev() {
        let (first, last) = (block * BLOCK, (block * BLOCK + BLOCK).min(n));
        let (width, below) = (last - first, n - last);
        if below > 0 {
            // Those below by the triangle of the block, as columns; then what comes of them to its left and in it.
            let mut columns = Mat::zeros(width, below)?;
            let mut triangle = Mat::zeros(width, width)?;
            for k in 0..width {
                for i in 0..below {
                    columns[(k, i)] = grad[(last + i, first + k)];
                }
                (0..=k).for_each(|j| triangle[(j, k)] = l[(first + k, first + j)]);
            }
            solve(&triangle.data, width, UPPER, &mut columns)?;
            for k in 0..width {
                (0..below).for_each(|i| grad[(last + i, first + k)] = columns[(k, i)]);
            }
            columns.data.iter_mut().for_each(|x| *x = negative(x));
            let of_l = |row: usize, column: usize| Matrix {
                data: &l.data[row * n + column..],
                row_stride: n,
                column_stride: 1,
            };
            let rows = Matrix::rows(&columns.data, below);
            let target = Target { data: &mut grad.data[first * n + first..], row_stride: n, accumulate: true };
            gemm_here(Sizes { m: width, k: below, n: width }, rows, of_l(last, first), target)?;
            if first > 0 {
                let target = Target { data: &mut grad.data[last * n..], row_stride: n, accumulate: true };
                gemm_here(Sizes { m: below, k: width, n: first }, rows.turned(), of_l(first, 0), target)?;
                let target = Target { data: &mut grad.data[first * n..], row_stride: n, accumulate: true };
                gemm_here(Sizes { m: width, k: below, n: first }, rows, of_l(last, 0), target)?;
            }
        }
        gradient_of_block(l, &mut grad, first, last);
        if first > 0 {
            let mut both = Mat::zeros(width, width)?;
            for i in 0..width {
                for j in 0..=i {
                    let x = -grad[(first + i, first + j)];
                    both[(i, j)] += x;
                    both[(j, i)] += x;
                }
            }
            let left = Matrix { data: &l.data[first * n..], row_stride: n, column_stride: 1 };
            let target = Target { data: &mut grad.data[first * n..], row_stride: n, accumulate: true };
            gemm_here(Sizes { m: width, k: width, n: first }, Matrix::rows(&both.data, width), left, target)?;
        }
    }
    Ok(grad)
}

/// As [`cholesky_gradient`], of a block on the diagonal alone, row by row.
fn gradient_of_block<T: RealScalar>(l: &Mat<T>, grad: &mut Mat<T>, first: usize, last: usize) {
    for k in (first..last).rev() {
        let pivot = l[(k, k)];
        let mut sum = T::ZERO;
        for i in k + 1..last {
            grad[(i, k)] /= pivot;
            sum += grad[(i, k)] * l[(i, k)];
        }
        let own = (grad[(k, k)] - sum) / pivot;
        axpy(-own, &l.row(k)[first..k], &mut grad.row_mut(k)[first..k]);
        for i in k + 1..last {
            let (row, other) = grad.two_rows(k, i);
            let factor = -other[k];
            axpy(factor, &l.row(i)[first..k], &mut row[first..k]);
            axpy(factor, &l.row(k)[first..k], &mut other[first..k]);
        }
        grad[(k, k)] = own / (T::ONE + T::ONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::testing::{distance, some};
    use kernlink::dtype::{Complex32, Complex64};

    /// `L Lᴴ` of what is found is the matrix again, over several blocks, whatever lies above the diagonal; a matrix that is not positive
    /// definite from one pivot on is found out there.
    fn triangles_make_the_matrix<T: Scalar>(limit: f64) {
        let zero_above = |mut a: Mat<T>| {
            (0..a.rows).for_each(|i| a.row_mut(i)[i + 1..].fill(T::ZERO));
            a
        };
        for n in [1, 2, 17, 63, 64, 65, 128, 150] {
            let mut made = zero_above(some::<T>(n, n, n as u64));
            (0..n).for_each(|i| made[(i, i)] = T::real(T::Part::from_f64(3.0)));
            let square = |l: &Mat<T>| {
                let mut a = some::<T>(n, n, 5);
                for i in 0..n {
                    for j in 0..=i {
                        a[(i, j)] = (0..=j).map(|k| l[(i, k)] * l[(j, k)].conj()).fold(T::ZERO, |sum, x| sum + x);
                    }
                }
                a
            };
            let a = square(&made);
            let mut found = a.clone().unwrap();
            assert!(cholesky(&mut found).unwrap(), "{n}");
            let again = square(&zero_above(found));
            assert!(distance(&zero_above(again), &zero_above(a.clone().unwrap())) < limit * n as f64, "{n}");
            for pivot in [0, n / 2, n - 1] {
                let mut a = a.clone().unwrap();
                a[(pivot, pivot)] = T::real(T::Part::from_f64(-1.0));
                assert!(!cholesky(&mut a).unwrap(), "{n}: {pivot}");
            }
        }
    }

    #[test]
    fn triangles_make_the_matrix_of_every_dtype() {
        triangles_make_the_matrix::<f32>(1e-4);
        triangles_make_the_matrix::<f64>(1e-12);
        triangles_make_the_matrix::<Complex32>(1e-4);
        triangles_make_the_matrix::<Complex64>(1e-12);
    }

    /// With the triangle as its own derivative, half of the trace: the derivative is half of the identity, whatever the condition.
    #[test]
    fn gradients_of_triangles_themselves() {
        for n in [1, 2, 20, 64, 65, 150] {
            let mut l = some::<f32>(n, n, n as u64);
            (0..n).for_each(|i| l.row_mut(i)[i + 1..].fill(0.0));
            let found = cholesky_gradient(&l, l.clone().unwrap()).unwrap();
            for i in 0..n {
                for j in 0..=i {
                    let expected = if i == j { 0.5 } else { 0.0 };
                    assert!((found[(i, j)] - expected).abs() < 1e-6, "{n}: {i} {j} {}", found[(i, j)]);
                }
            }
        }
    }
}
