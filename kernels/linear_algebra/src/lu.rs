//! Decomposition by elimination with partial pivoting.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm_here};

use crate::matrix::{Mat, axpy};
use crate::scalar::{RealScalar, Scalar};
use crate::triangular::{self, Triangle, UPPER};

const BLOCK: usize = 32;

/// `a[p] = L U`
pub(crate) struct Lu<T> {
    /// `U` on and above the diagonal, `L` without its ones below.
    pub(crate) lu: Mat<T>,
    /// Of each row, which one of `a` it is.
    pub(crate) rows: Vec<usize>,
    /// Whether the number of transpositions is odd.
    pub(crate) odd: bool,
}

impl<T: Scalar> Lu<T> {
    pub(crate) fn new(mut a: Mat<T>) -> Result<Self> {
        let n = a.rows;
        let mut rows = scratch::collected(0..n)?;
        let mut odd = false;
        for first in (0..n).step_by(BLOCK) {
            let last = (first + BLOCK).min(n);
            for k in first..last {
                let mut best = k;
                let mut greatest = a[(k, k)].abs();
                for i in k + 1..n {
                    let size = a[(i, k)].abs();
                    if size > greatest {
                        (best, greatest) = (i, size);
                    }
                }
                if best != k {
                    a.swap_rows(k, best);
                    rows.swap(k, best);
                    odd = !odd;
                }
                if greatest == T::Part::ZERO {
                    continue;
                }
                for i in k + 1..n {
                    let (pivot, row) = a.two_rows(k, i);
                    row[k] = row[k].over(pivot[k]);
                    let factor = row[k];
                    axpy(-factor, &pivot[k + 1..last], &mut row[k + 1..last]);
                }
            }
            if last == n {
                break;
            }
            // The rows to the right of the block, then all that is below and to the right.
            for i in first + 1..last {
                for j in first..i {
                    let (other, row) = a.two_rows(j, i);
                    let factor = row[j];
                    axpy(-factor, &other[last..], &mut row[last..]);
                }
            }
            let (width, left) = (last - first, n - last);
            let factors =
                scratch::collected((last..n).flat_map(|i| a.data[i * n + first..][..width].iter().map(|&x| -x)))?;
            let (above, below) = a.data.split_at_mut(last * n);
            let right = Matrix { data: &above[first * n + last..], row_stride: n, column_stride: 1 };
            let target = Target { data: &mut below[last..], row_stride: n, accumulate: true };
            gemm_here(Sizes { m: left, k: width, n: left }, Matrix::rows(&factors, width), right, target)?;
        }
        Ok(Lu { lu: a, rows, odd })
    }

    /// Whether all pivots are there. As in TensorFlow, what is no number counts only as the first of them, so that the results of
    /// an infinite element elsewhere are no error but NaN.
    pub(crate) fn is_invertible(&self) -> bool {
        let pivots = (0..self.lu.rows).map(|i| self.lu[(i, i)].abs());
        pivots.reduce(|least, x| if x < least { x } else { least }).is_none_or(|least| least > T::Part::ZERO)
    }

    /// The solution of `a x = b`.
    pub(crate) fn solve(&self, b: &Mat<T>) -> Result<Mat<T>> {
        let mut x = Mat::zeros(b.rows, b.columns)?;
        for (i, &row) in self.rows.iter().enumerate() {
            x.row_mut(i).copy_from_slice(b.row(row));
        }
        triangular::solve(&self.lu.data, self.lu.columns, Triangle { lower: true, unit: true }, &mut x)?;
        triangular::solve(&self.lu.data, self.lu.columns, UPPER, &mut x)?;
        Ok(x)
    }

    pub(crate) fn inverse(&self) -> Result<Mat<T>> {
        self.solve(&Mat::identity(self.lu.rows, self.lu.rows)?)
    }

    /// A number of absolute value 1, or 0 of a singular matrix; and the logarithm of the absolute value of the determinant.
    pub(crate) fn log_determinant(&self) -> (T, T::Part) {
        let mut sign = if self.odd { -T::ONE } else { T::ONE };
        let mut log = T::Part::ZERO;
        for i in 0..self.lu.rows {
            let pivot = self.lu[(i, i)];
            sign *= pivot.sign();
            log += pivot.abs().ln();
        }
        (sign, log)
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;
    use crate::matrix::testing::{distance, some};

    fn check<T: Scalar>(n: usize, limit: f64) {
        let a = some::<T>(n, n, n as u64);
        let lu = Lu::new(a.clone().unwrap()).unwrap();
        let (mut lower, mut upper) = (Mat::<T>::identity(n, n).unwrap(), Mat::<T>::zeros(n, n).unwrap());
        for i in 0..n {
            for j in 0..n {
                if j < i { lower[(i, j)] = lu.lu[(i, j)] } else { upper[(i, j)] = lu.lu[(i, j)] }
            }
        }
        let product = lower.times(&upper).unwrap();
        let mut permuted = Mat::zeros(n, n).unwrap();
        for (i, &row) in lu.rows.iter().enumerate() {
            permuted.row_mut(i).copy_from_slice(a.row(row));
        }
        assert!(distance(&product, &permuted) < limit, "{n}");
        assert!(
            distance(&a.times(&lu.inverse().unwrap()).unwrap(), &Mat::identity(n, n).unwrap()) < 100.0 * limit,
            "{n}"
        );
    }

    #[test]
    fn the_factors_are_those_of_the_rows() {
        for n in [1, 2, 31, 32, 33, 100] {
            check::<f64>(n, 1e-13);
            check::<Complex64>(n, 1e-13);
            check::<f32>(n, 1e-4);
        }
    }
}
