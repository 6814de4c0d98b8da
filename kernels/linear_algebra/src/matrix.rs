//! Matrices of a kernel's own, and arithmetic of rows.

use std::ops::{Index, IndexMut};

use kernlink::Result;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{self, Sizes, Target, gemm_here};

use crate::scalar::Scalar;

/// A matrix in row-major order.
pub(crate) struct Mat<T> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) data: Vec<T>,
}

impl<T: Scalar> Mat<T> {
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory, here and below.
    pub(crate) fn zeros(rows: usize, columns: usize) -> Result<Self> {
        Ok(Mat { rows, columns, data: scratch::zeros(rows.saturating_mul(columns))? })
    }

    /// Ones on the main diagonal.
    pub(crate) fn identity(rows: usize, columns: usize) -> Result<Self> {
        let mut matrix = Mat::zeros(rows, columns)?;
        for i in 0..rows.min(columns) {
            matrix[(i, i)] = T::ONE;
        }
        Ok(matrix)
    }

    /// A copy of elements in row-major order, as many as there are.
    pub(crate) fn copied(rows: usize, columns: usize, data: &[T]) -> Result<Self> {
        Ok(Mat { rows, columns, data: scratch::copied(data)? })
    }

    pub(crate) fn clone(&self) -> Result<Self> {
        Mat::copied(self.rows, self.columns, &self.data)
    }

    /// The conjugate transpose.
    pub(crate) fn adjoint(&self) -> Result<Self> {
        adjoint_of(&self.data, self.rows, self.columns)
    }

    /// The transpose, without conjugation.
    pub(crate) fn transpose(&self) -> Result<Self> {
        transpose_of(&self.data, self.rows, self.columns)
    }

    /// Writes the transpose, each element as `f` makes it, into as many elements in row-major order.
    pub(crate) fn turn_into<U>(&self, turned: &mut [U], f: impl Fn(T) -> U) {
        turn_into(&self.data, self.columns, turned, f);
    }

    pub(crate) fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.columns..][..self.columns]
    }

    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.columns..][..self.columns]
    }

    /// Two rows, of which the first stands before the second.
    pub(crate) fn two_rows(&mut self, i: usize, j: usize) -> (&mut [T], &mut [T]) {
        let columns = self.columns;
        let (before, after) = self.data.split_at_mut(j * columns);
        (&mut before[i * columns..][..columns], &mut after[..columns])
    }

    pub(crate) fn swap_rows(&mut self, i: usize, j: usize) {
        if i != j {
            let (first, second) = self.two_rows(i.min(j), i.max(j));
            first.swap_with_slice(second);
        }
    }

    /// `self * other`
    pub(crate) fn times(&self, other: &Mat<T>) -> Result<Self> {
        let mut product = Mat::zeros(self.rows, other.columns)?;
        let sizes = Sizes { m: self.rows, k: self.columns, n: other.columns };
        if sizes.m > 0 && sizes.n > 0 && sizes.k > 0 {
            let target = Target { data: &mut product.data, row_stride: sizes.n, accumulate: false };
            let (a, b) = (gemm::Matrix::rows(&self.data, sizes.k), gemm::Matrix::rows(&other.data, sizes.n));
            gemm_here(sizes, a, b, target)?;
        }
        Ok(product)
    }

    pub(crate) fn add(&mut self, other: &Mat<T>) {
        self.data.iter_mut().zip(&other.data).for_each(|(x, &y)| *x += y);
    }

    pub(crate) fn subtract(&mut self, other: &Mat<T>) {
        self.data.iter_mut().zip(&other.data).for_each(|(x, &y)| *x -= y);
    }

    pub(crate) fn scale(&mut self, by: T::Part) {
        self.data.iter_mut().for_each(|x| *x = x.scaled(by));
    }
}

impl<T> Index<(usize, usize)> for Mat<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.data[i * self.columns + j]
    }
}

impl<T> IndexMut<(usize, usize)> for Mat<T> {
    #[inline(always)]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.data[i * self.columns + j]
    }
}

/// The conjugate transpose of elements in row-major order.
pub(crate) fn adjoint_of<T: Scalar>(data: &[T], rows: usize, columns: usize) -> Result<Mat<T>> {
    let mut turned = Mat::zeros(columns, rows)?;
    turn_into(data, columns, &mut turned.data, T::conj);
    Ok(turned)
}

/// The transpose, without conjugation, of elements in row-major order.
pub(crate) fn transpose_of<T: Scalar>(data: &[T], rows: usize, columns: usize) -> Result<Mat<T>> {
    let mut turned = Mat::zeros(columns, rows)?;
    turn_into(data, columns, &mut turned.data, |x| x);
    Ok(turned)
}

/// Writes the transpose of rows of `columns` elements, each as `f` makes it, into as many elements in row-major order.
pub(crate) fn turn_into<T: Copy, U>(data: &[T], columns: usize, turned: &mut [U], f: impl Fn(T) -> U) {
    let rows = data.len() / columns.max(1);
    // A few columns at a time, so that what is written stays near.
    for first in (0..columns).step_by(8) {
        let last = (first + 8).min(columns);
        for i in 0..rows {
            for j in first..last {
                turned[j * rows + i] = f(data[i * columns + j]);
            }
        }
    }
}

/// `Σ x y`
pub(crate) fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    // Eight sums, which a vector holds.
    let mut sums = [T::ZERO; 8];
    let (x_chunks, x_rest) = x.as_chunks::<8>();
    let (y_chunks, y_rest) = y.as_chunks::<8>();
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for (sum, (&x, &y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    let mut sum = T::ZERO;
    for (&x, &y) in x_rest.iter().zip(y_rest) {
        sum += x * y;
    }
    sums.into_iter().fold(sum, |a, b| a + b)
}

/// `Σ x conj(y)`
pub(crate) fn dot_conj<T: Scalar>(x: &[T], y: &[T]) -> T {
    if !T::IS_COMPLEX {
        return dot(x, y);
    }
    let mut sums = [T::ZERO; 4];
    let (x_chunks, x_rest) = x.as_chunks::<4>();
    let (y_chunks, y_rest) = y.as_chunks::<4>();
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for (sum, (&x, &y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y.conj();
        }
    }
    let mut sum = T::ZERO;
    for (&x, &y) in x_rest.iter().zip(y_rest) {
        sum += x * y.conj();
    }
    sums.into_iter().fold(sum, |a, b| a + b)
}

/// `y += a x`
#[inline]
pub(crate) fn axpy<T: Scalar>(a: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// The square of the length of a vector.
pub(crate) fn squared_norm<T: Scalar>(x: &[T]) -> T::Part {
    x.iter().map(|x| x.norm()).sum()
}

/// What tests of several files share.
#[cfg(test)]
pub(crate) mod testing {
    use kernlink::dtype::Number;

    use super::Mat;
    use crate::scalar::{RealScalar, Scalar};

    /// Numbers between -1 and 1 that follow no pattern.
    pub(crate) fn some<T: Scalar>(rows: usize, columns: usize, seed: u64) -> Mat<T> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            T::Part::from_f64((state >> 33) as f64 / f64::from(1u32 << 30) - 1.0)
        };
        let data = (0..rows * columns).map(|_| T::of(next(), next())).collect();
        Mat { rows, columns, data }
    }

    /// The greatest distance of two matrices' elements.
    pub(crate) fn distance<T: Scalar>(a: &Mat<T>, b: &Mat<T>) -> f64 {
        assert_eq!((a.rows, a.columns), (b.rows, b.columns));
        a.data
            .iter()
            .zip(&b.data)
            .map(|(&a, &b)| (a - b).abs().f64())
            .fold(0.0, |max, x| if x > max || x.is_nan() { x } else { max })
    }

    /// How far the columns, which lie as rows, are from being orthonormal.
    pub(crate) fn skew<T: Scalar>(columns: &Mat<T>) -> f64 {
        let products = columns.times(&columns.adjoint().unwrap()).unwrap();
        distance(&products, &Mat::identity(columns.rows, columns.rows).unwrap())
    }
}
