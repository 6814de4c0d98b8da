//! Schur's decomposition of complex matrices, `A = U T Uᴴ` with `T` upper triangular: by Hessenberg's form and QR steps with
//! single shifts, as Eigen's `ComplexSchur`.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;

use crate::householder::{reflect, reflection};
use crate::matrix::{Mat, axpy};
use crate::rotation::{Rotation, givens_complex, norm1};
use crate::scalar::{RealScalar, Scalar};

/// `A = U T Uᴴ`
pub(crate) struct Schur<T> {
    pub(crate) t: Mat<T>,
    /// Empty if it was not asked for.
    pub(crate) u: Mat<T>,
}

/// QR steps for each row, before it is given up.
const STEPS: usize = 30;

/// Makes a matrix zero below the first diagonal below the main one: `A = U H Uᴴ`; `U`, if it is wanted, or an empty matrix.
pub(crate) fn hessenberg<T: Scalar>(a: &mut Mat<T>, wanted: bool) -> Result<Mat<T>> {
    let n = a.rows;
    let mut vectors = Mat::zeros(n, n)?;
    let (mut taus, mut row) = (scratch::zeros::<T>(n)?, scratch::zeros::<T>(n)?);
    for i in 0..n.saturating_sub(1) {
        let v = &mut vectors.row_mut(i)[i + 1..];
        for (v, x) in v.iter_mut().zip(a.data[(i + 1) * n + i..].iter().step_by(n)) {
            *v = *x;
        }
        let (tau, beta) = reflection(v);
        taus[i] = tau;
        v[0] = T::real(beta);
        for (&v, x) in v.iter().zip(a.data[(i + 1) * n + i..].iter_mut().step_by(n)) {
            *x = v;
        }
        a.data[(i + 1) * n + i..].iter_mut().step_by(n).skip(1).for_each(|x| *x = T::ZERO);
        v[0] = T::ONE;
        // From the left, rows i + 1 and below, of the columns behind i: first what v makes of them.
        let sums = &mut row[i + 1..];
        sums.fill(T::ZERO);
        for (&v, line) in v.iter().zip(a.data.chunks_exact(n).skip(i + 1)) {
            axpy(v.conj(), &line[i + 1..], sums);
        }
        for (&v, line) in v.iter().zip(a.data.chunks_exact_mut(n).skip(i + 1)) {
            axpy(-(tau * v), sums, &mut line[i + 1..]);
        }
        // From the right by the adjoint.
        for line in a.data.chunks_exact_mut(n) {
            let line = &mut line[i + 1..];
            let product = tau.conj() * crate::matrix::dot(line, v);
            for (x, &v) in line.iter_mut().zip(&*v) {
                *x -= product * v.conj();
            }
        }
    }
    if !wanted {
        return Mat::zeros(0, 0);
    }
    // The columns of U as rows.
    let mut u = Mat::identity(n, n)?;
    for i in (0..n.saturating_sub(1)).rev() {
        let v = &vectors.row(i)[i + 2..];
        for column in u.data.chunks_exact_mut(n).skip(i + 1) {
            reflect(v, taus[i].conj(), &mut column[i + 1..]);
        }
    }
    u.transpose()
}

impl<T: Scalar> Schur<T> {
    /// `None` if it is not found.
    pub(crate) fn new(mut a: Mat<T>, wanted: bool) -> Result<Option<Self>> {
        let n = a.rows;
        let u = hessenberg(&mut a, wanted)?;
        let mut schur = Schur { t: a, u };
        if n < 2 {
            return Ok(Some(schur));
        }
        let (mut iu, mut step, mut all) = (n - 1, 0, 0);
        loop {
            while iu > 0 && schur.splits(iu - 1) {
                step = 0;
                iu -= 1;
            }
            if iu == 0 {
                break;
            }
            step += 1;
            all += 1;
            if all > STEPS * n {
                return Ok(None);
            }
            let mut il = iu - 1;
            while il > 0 && !schur.splits(il - 1) {
                il -= 1;
            }
            schur.step(il, iu, step, wanted);
        }
        for i in 1..n {
            schur.t.row_mut(i)[..i].fill(T::ZERO);
        }
        Ok(Some(schur))
    }

    /// Whether what is below diagonal element `i` is as good as zero, which it then is.
    fn splits(&mut self, i: usize) -> bool {
        let around = norm1(self.t[(i, i)]) + norm1(self.t[(i + 1, i + 1)]);
        if norm1(self.t[(i + 1, i)]) <= around * T::Part::EPSILON {
            self.t[(i + 1, i)] = T::ZERO;
            return true;
        }
        false
    }

    fn shift(&self, iu: usize, step: usize) -> T {
        let t = &self.t;
        if (step == 10 || step == 20) && iu > 1 {
            // An exceptional shift, of EISPACK's comqr.
            return T::real(t[(iu, iu - 1)].re().abs() + t[(iu - 1, iu - 2)].re().abs());
        }
        let two = T::Part::ONE + T::Part::ONE;
        let mut block = [t[(iu - 1, iu - 1)], t[(iu - 1, iu)], t[(iu, iu - 1)], t[(iu, iu)]];
        let norm = block.iter().map(|x| x.abs()).sum::<T::Part>();
        block.iter_mut().for_each(|x| *x = x.divided(norm));
        let [t00, t01, t10, t11] = block;
        let (b, c) = (t01 * t10, t00 - t11);
        let root = (c * c + b.scaled(two * two)).sqrt();
        let (det, trace) = (t00 * t11 - b, t00 + t11);
        let (mut first, mut second) = ((trace + root).divided(two), (trace - root).divided(two));
        let (first_norm, second_norm) = (norm1(first), norm1(second));
        if first_norm > second_norm {
            second = det.over(first);
        } else if second_norm != T::Part::ZERO {
            first = det.over(second);
        }
        let is_first = norm1(first - t11) < norm1(second - t11);
        if is_first { first.scaled(norm) } else { second.scaled(norm) }
    }

    /// A QR step on rows `il` to `iu`.
    fn step(&mut self, il: usize, iu: usize, step: usize, wanted: bool) {
        let n = self.t.rows;
        let shift = self.shift(iu, step);
        for i in il..iu {
            let rotation: Rotation<T>;
            if i == il {
                (rotation, _) = givens_complex(self.t[(il, il)] - shift, self.t[(il + 1, il)]);
            } else {
                let r;
                (rotation, r) = givens_complex(self.t[(i, i - 1)], self.t[(i + 1, i - 1)]);
                self.t[(i, i - 1)] = r;
                self.t[(i + 1, i - 1)] = T::ZERO;
            }
            rotation.adjoint().rows(&mut self.t, [i, i + 1], i);
            rotation.columns(&mut self.t, [i, i + 1], (i + 2).min(iu) + 1);
            if wanted {
                rotation.columns(&mut self.u, [i, i + 1], n);
            }
        }
    }

    /// Eigenvalues by their absolute values, the least first, and eigenvectors of length 1 in columns, if `U` is there.
    pub(crate) fn eigen(&self) -> Result<(Vec<T>, Option<Mat<T>>)> {
        let n = self.t.rows;
        let mut values = scratch::collected((0..n).map(|i| self.t[(i, i)]))?;
        let mut vectors = None;
        if self.u.rows == n {
            vectors = Some(self.vectors()?);
        }
        for i in 0..n {
            let mut least = i;
            for k in i + 1..n {
                if values[k].abs() < values[least].abs() {
                    least = k;
                }
            }
            if least != i {
                values.swap(i, least);
                if let Some(vectors) = &mut vectors {
                    vectors.data.chunks_exact_mut(n).for_each(|row| row.swap(i, least));
                }
            }
        }
        Ok((values, vectors))
    }

    fn vectors(&self) -> Result<Mat<T>> {
        let (n, t) = (self.t.rows, &self.t);
        let norm = t.data.iter().map(|x| x.norm()).sum::<T::Part>().sqrt().greater(T::Part::TINY);
        // X, for which T X = X D, by columns.
        let mut x = Mat::<T>::zeros(n, n)?;
        for k in (0..n).rev() {
            let column = x.row_mut(k);
            column[k] = T::ONE;
            for i in (0..k).rev() {
                let sum = t[(i, k)] + crate::matrix::dot(&t.row(i)[i + 1..k], &column[i + 1..k]);
                let mut z = t[(i, i)] - t[(k, k)];
                if z == T::ZERO {
                    z = T::real(T::Part::EPSILON * norm);
                }
                column[i] = -sum.over(z);
            }
        }
        let mut vectors = self.u.times(&x.transpose()?)?;
        for k in 0..n {
            normalize(&mut vectors, k);
        }
        Ok(vectors)
    }
}

/// Makes the length of a column 1.
pub(crate) fn normalize<T: Scalar>(a: &mut Mat<T>, column: usize) {
    let columns = a.columns;
    let greatest = a.data[column..].iter().step_by(columns).fold(T::Part::ZERO, |max, x| max.greater(norm1(*x)));
    if greatest > T::Part::ZERO {
        let scaled = a.data[column..].iter().step_by(columns).map(|x| x.divided(greatest).norm());
        let length = scaled.sum::<T::Part>().sqrt();
        for x in a.data[column..].iter_mut().step_by(columns) {
            *x = x.divided(greatest).divided(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::{Complex32, Complex64};

    use super::*;
    use crate::matrix::testing::{distance, skew, some};

    fn check<T: Scalar>(n: usize, limit: f64) {
        let a = some::<T>(n, n, n as u64);
        let Schur { t, u } = Schur::new(a.clone().unwrap(), true).unwrap().unwrap();
        assert!(skew(&u) < limit, "{n}");
        let product = u.times(&t).unwrap().times(&u.adjoint().unwrap()).unwrap();
        assert!(distance(&product, &a) < limit, "{n}");
    }

    #[test]
    fn the_product_is_the_matrix() {
        for n in [1, 2, 3, 4, 9, 40] {
            check::<Complex64>(n, 1e-12);
            check::<Complex32>(n, 1e-3);
        }
    }
}
