//! Reflections, and the decompositions that are made of them.
//!
//! Signs are those of Eigen, with which TensorFlow computes.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm_here};

use crate::matrix::{Mat, axpy, dot_conj, squared_norm};
use crate::scalar::{RealScalar, Scalar};

/// Makes of a vector a reflection `I - tau v vᴴ`, `v = [1, x[1..]]`, that takes it to `[beta, 0, …]`: `tau` and `beta`, which takes
/// the place of the first element in thought only.
pub(crate) fn reflection<T: Scalar>(x: &mut [T]) -> (T, T::Part) {
    let first = x[0];
    let tail = squared_norm(&x[1..]);
    if tail <= T::Part::TINY && first.im() * first.im() <= T::Part::TINY {
        x[1..].fill(T::ZERO);
        return (T::ZERO, first.re());
    }
    let mut beta = (first.norm() + tail).sqrt();
    if first.re() >= T::Part::ZERO {
        beta = -beta;
    }
    let by = first - T::real(beta);
    x[1..].iter_mut().for_each(|x| *x = x.over(by));
    ((T::real(beta) - first).divided(beta).conj(), beta)
}

/// `x = (I - tau v vᴴ) x`, of which `v` has a one before it.
pub(crate) fn reflect<T: Scalar>(v: &[T], tau: T, x: &mut [T]) {
    let product = tau * (dot_conj(&x[1..], v) + x[0]);
    x[0] -= product;
    axpy(-product, v, &mut x[1..]);
}

/// As many reflections are applied at once.
const BLOCK: usize = 32;
/// With fewer columns they are applied one by one.
const FEW: usize = 16;

/// `a = q r`, in columns.
pub(crate) struct Qr<T: Scalar> {
    /// The columns as rows: above the diagonal those of `r`, below it the reflections.
    pub(crate) columns: Mat<T>,
    taus: Vec<T>,
    /// Of each column, which one of `a` it is; empty if they stayed where they were.
    pub(crate) places: Vec<usize>,
    /// The greatest absolute value on the diagonal of `r`.
    greatest: T::Part,
    /// As many pivots are more than rounding errors.
    pivots: usize,
}

impl<T: Scalar> Qr<T> {
    /// Of a matrix that is given by its columns.
    pub(crate) fn new(columns: Mat<T>) -> Result<Self> {
        let (n, m) = (columns.rows, columns.columns);
        let size = m.min(n);
        let mut qr =
            Qr { columns, taus: scratch::zeros(size)?, places: Vec::new(), greatest: T::Part::ZERO, pivots: size };
        for first in (0..size).step_by(BLOCK) {
            let last = (first + BLOCK).min(size);
            let rest = n - last;
            let until = if rest < FEW { n } else { last };
            for k in first..last {
                qr.step(k, until);
            }
            if until < n {
                let block = Block::new(&qr, first, last)?;
                block.apply(&mut qr.columns.data[last * m..], m, rest, true)?;
            }
        }
        Ok(qr)
    }

    /// Reflects column `k`, and those behind it until another.
    fn step(&mut self, k: usize, until: usize) {
        let m = self.columns.columns;
        let (done, rest) = self.columns.data.split_at_mut((k + 1) * m);
        let column = &mut done[k * m..];
        let (tau, beta) = reflection(&mut column[k..]);
        column[k] = T::real(beta);
        self.taus[k] = tau;
        self.greatest = self.greatest.greater(beta.abs());
        for other in rest.chunks_exact_mut(m).take(until - k - 1) {
            reflect(&column[k + 1..], tau, &mut other[k..]);
        }
    }

    /// With the longest of what is left of the columns first.
    pub(crate) fn with_pivots(columns: Mat<T>) -> Result<Self> {
        let (n, m) = (columns.rows, columns.columns);
        let size = m.min(n);
        let mut norms = scratch::collected((0..n).map(|j| squared_norm(columns.row(j)).sqrt()))?;
        let mut direct = scratch::copied(&norms)?;
        let longest = norms.iter().fold(T::Part::ZERO, |longest, &norm| longest.greater(norm));
        let least = longest * T::Part::EPSILON;
        let least = least * least / T::Part::count(m);
        let inexact = T::Part::EPSILON.sqrt();
        let places = scratch::collected(0..n)?;
        let mut qr = Qr { columns, taus: scratch::zeros(size)?, places, greatest: T::Part::ZERO, pivots: size };
        for k in 0..size {
            let mut best = k;
            for j in k + 1..n {
                if norms[j] > norms[best] {
                    best = j;
                }
            }
            let square = norms[best] * norms[best];
            if qr.pivots == size && square < least * T::Part::count(m - k) {
                qr.pivots = k;
            }
            qr.columns.swap_rows(k, best);
            qr.places.swap(k, best);
            norms[best] = norms[k];
            direct[best] = direct[k];
            qr.step(k, n);
            for j in k + 1..n {
                if norms[j] == T::Part::ZERO {
                    continue;
                }
                // LAPACK's working note 176: what is left of a norm, unless too many digits are lost.
                let part = qr.columns[(j, k)].abs() / norms[j];
                let left = (T::Part::ONE + part) * (T::Part::ONE - part);
                let left = if left < T::Part::ZERO { T::Part::ZERO } else { left };
                let ratio = norms[j] / direct[j];
                if left * ratio * ratio <= inexact {
                    direct[j] = squared_norm(&qr.columns.row(j)[k + 1..]).sqrt();
                    norms[j] = direct[j];
                } else {
                    norms[j] *= left.sqrt();
                }
            }
        }
        Ok(qr)
    }

    /// How many columns are independent, after [`Qr::with_pivots`].
    pub(crate) fn rank(&self) -> usize {
        let size = self.taus.len();
        let least = self.greatest * T::Part::EPSILON * T::Part::count(size);
        (0..self.pivots).filter(|&i| self.columns[(i, i)].abs() > least).count()
    }

    /// `q`, or its first columns, in rows.
    pub(crate) fn q_columns(&self, count: usize) -> Result<Mat<T>> {
        let mut q = Mat::identity(count, self.columns.columns)?;
        self.apply_q(&mut q)?;
        Ok(q)
    }

    /// Columns become `q` times themselves.
    pub(crate) fn apply_q(&self, columns: &mut Mat<T>) -> Result<()> {
        let size = self.taus.len();
        for first in (0..size).step_by(BLOCK).rev() {
            let last = (first + BLOCK).min(size);
            self.apply(columns, first, last, false)?;
        }
        Ok(())
    }

    /// Columns become `qᴴ` times themselves.
    pub(crate) fn apply_q_adjoint(&self, columns: &mut Mat<T>) -> Result<()> {
        let size = self.taus.len();
        for first in (0..size).step_by(BLOCK) {
            let last = (first + BLOCK).min(size);
            self.apply(columns, first, last, true)?;
        }
        Ok(())
    }

    fn apply(&self, columns: &mut Mat<T>, first: usize, last: usize, adjoint: bool) -> Result<()> {
        let m = columns.columns;
        if columns.rows >= FEW {
            return Block::new(self, first, last)?.apply(&mut columns.data, m, columns.rows, adjoint);
        }
        for column in columns.data.chunks_exact_mut(m) {
            for step in 0..last - first {
                let k = if adjoint { first + step } else { last - 1 - step };
                let tau = if adjoint { self.taus[k] } else { self.taus[k].conj() };
                reflect(&self.columns.row(k)[k + 1..], tau, &mut column[k..]);
            }
        }
        Ok(())
    }

    /// An element of `r`.
    pub(crate) fn r(&self, i: usize, j: usize) -> T {
        if i <= j { self.columns[(j, i)] } else { T::ZERO }
    }
}

/// Some reflections as one: `H₀ᴴ H₁ᴴ … = I - V T Vᴴ`, the compact form of Schreiber and Van Loan.
struct Block<T> {
    first: usize,
    /// `Vᵀ`, from column `first` on.
    v: Mat<T>,
    /// Its conjugate.
    conjugate: Mat<T>,
    /// Upper triangular.
    t: Mat<T>,
}

impl<T: Scalar> Block<T> {
    fn new(qr: &Qr<T>, first: usize, last: usize) -> Result<Self> {
        let (count, length) = (last - first, qr.columns.columns - first);
        let (mut v, mut t) = (Mat::zeros(count, length)?, Mat::zeros(count, count)?);
        for k in 0..count {
            let row = v.row_mut(k);
            row[k] = T::ONE;
            row[k + 1..].copy_from_slice(&qr.columns.row(first + k)[first + k + 1..]);
        }
        for j in 0..count {
            let tau = qr.taus[first + j].conj();
            // -tau T (Vᴴ v)
            let products = scratch::collected((0..j).map(|i| dot_conj(v.row(j), v.row(i))))?;
            for i in 0..j {
                let sum = (i..j).fold(T::ZERO, |sum, l| sum + t[(i, l)] * products[l]);
                t[(i, j)] = -tau * sum;
            }
            t[(j, j)] = tau;
        }
        let mut conjugate = v.clone()?;
        conjugate.data.iter_mut().for_each(|x| *x = x.conj());
        Ok(Block { first, v, conjugate, t })
    }

    /// Applies it, or its conjugate transpose, to columns of length `m`, which lie as rows.
    fn apply(&self, columns: &mut [T], m: usize, count: usize, adjoint: bool) -> Result<()> {
        let (width, length) = (self.v.rows, self.v.columns);
        if count == 0 || width == 0 {
            return Ok(());
        }
        let mut products = Mat::zeros(count, width)?;
        let target = Target { data: &mut products.data, row_stride: width, accumulate: false };
        let left = Matrix { data: &columns[self.first..], row_stride: m, column_stride: 1 };
        let right = Matrix::transposed(&self.conjugate.data, length);
        gemm_here(Sizes { m: count, k: length, n: width }, left, right, target)?;
        // Times T from the left, of columns that lie as rows.
        for row in products.data.chunks_exact_mut(width) {
            if adjoint {
                for i in (0..width).rev() {
                    row[i] = -(0..=i).fold(T::ZERO, |sum, l| sum + self.t[(l, i)].conj() * row[l]);
                }
            } else {
                for i in 0..width {
                    row[i] = -(i..width).fold(T::ZERO, |sum, l| sum + self.t[(i, l)] * row[l]);
                }
            }
        }
        let target = Target { data: &mut columns[self.first..], row_stride: m, accumulate: true };
        gemm_here(
            Sizes { m: count, k: width, n: length },
            Matrix::rows(&products.data, width),
            Matrix::rows(&self.v.data, length),
            target,
        )
    }
}

#[cfg(test)]
mod tests {
    use num_complex::{Complex32, Complex64};

    use super::*;
    use crate::matrix::testing::{distance, skew, some};

    fn check<T: Scalar>(m: usize, n: usize, limit: f64) {
        let columns = some::<T>(n, m, (m + n) as u64);
        for pivots in [false, true] {
            let copy = columns.clone().unwrap();
            let qr = if pivots { Qr::with_pivots(copy).unwrap() } else { Qr::new(copy).unwrap() };
            let q = qr.q_columns(m).unwrap();
            assert!(skew(&q) < limit, "{m} x {n}");
            // Column j is Σ r[i, j] q[i].
            let mut r = Mat::zeros(n, m).unwrap();
            for j in 0..n {
                for i in 0..m {
                    r[(j, i)] = qr.r(i, j);
                }
            }
            let product = r.times(&q).unwrap();
            let mut permuted = Mat::zeros(n, m).unwrap();
            for j in 0..n {
                let place = if pivots { qr.places[j] } else { j };
                permuted.row_mut(j).copy_from_slice(columns.row(place));
            }
            assert!(distance(&product, &permuted) < limit, "{m} x {n}");
            assert!(!pivots || qr.rank() == m.min(n));
            let mut back = q.clone().unwrap();
            qr.apply_q_adjoint(&mut back).unwrap();
            assert!(distance(&back, &Mat::identity(m, m).unwrap()) < limit, "{m} x {n}");
        }
    }

    #[test]
    fn reflections_one_by_one_and_in_blocks() {
        for (m, n) in [(1, 1), (5, 3), (3, 5), (33, 33), (80, 70), (70, 90), (200, 20), (20, 100)] {
            check::<f64>(m, n, 1e-13);
            check::<Complex64>(m, n, 1e-13);
            check::<f32>(m, n, 1e-4);
            check::<Complex32>(m, n, 1e-4);
        }
    }
}
