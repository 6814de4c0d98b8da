//! Triangular matrices: equations, and Cholesky's decomposition, which makes them.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm_here};
use num_complex::ComplexFloat;

use crate::matrix::{Mat, axpy, dot, dot_conj, squared_norm};
use crate::scalar::Scalar;

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
                b.row_mut(i).iter_mut().for_each(|x| *x /= pivot);
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
                value /= row[i];
            }
            x[i] = value;
        }
        for (i, &x) in x.iter().enumerate() {
            b.data[i * k + column] = x;
        }
    }
    Ok(())
}

/// Replaces the lower triangle of a Hermitian matrix by `L` of `L Lᴴ`; what is above is neither read nor written. Whether the
/// matrix was positive definite.
pub(crate) fn cholesky<T: Scalar>(a: &mut Mat<T>) -> Result<bool> {
    let n = a.rows;
    for first in (0..n).step_by(BLOCK) {
        let last = (first + BLOCK).min(n);
        for i in first..n {
            for j in first..i.min(last) {
                let (other, row) = a.two_rows(j, i);
                row[j] = (row[j] - dot_conj(&row[first..j], &other[first..j])) / other[j];
            }
            if i < last {
                let row = a.row_mut(i);
                let square = row[i].re() - squared_norm(&row[first..i]);
                if square <= T::Part::ZERO {
                    return Ok(false);
                }
                row[i] = T::real(square.sqrt());
            }
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
