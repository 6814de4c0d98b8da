//! Matrices of a few diagonals.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;

use crate::matrix::axpy;
use crate::scalar::{RealScalar, Scalar};

/// Tridiagonal equations `a x = b`: the diagonals above, on and below the main one, each of `n` elements; and `b`, whose place `x`
/// takes, in rows of `k`.
pub(crate) struct Tridiagonal<'a, T> {
    pub(crate) above: &'a [T],
    pub(crate) main: &'a [T],
    pub(crate) below: &'a [T],
}

impl<T: Scalar> Tridiagonal<'_, T> {
    /// Elimination without exchanges, Thomas' algorithm. Of a pivot that is zero all becomes NaN.
    pub(crate) fn solve_in_order(&self, x: &mut [T], k: usize) -> Result<()> {
        let n = self.main.len();
        if n == 0 || k == 0 {
            return Ok(());
        }
        let mut upper = scratch::zeros::<T>(n)?;
        let mut pivot = self.main[0];
        for i in 0..n {
            if i > 0 {
                pivot = self.main[i] - self.below[i] * upper[i - 1];
            }
            if pivot == T::ZERO {
                x.fill(T::real(T::Part::NAN));
                return Ok(());
            }
            if i + 1 < n {
                upper[i] = self.above[i].over(pivot);
            }
            let (known, row) = x.split_at_mut(i * k);
            if i > 0 {
                axpy(-self.below[i], &known[(i - 1) * k..], &mut row[..k]);
            }
            row[..k].iter_mut().for_each(|x| *x = x.over(pivot));
        }
        for i in (0..n - 1).rev() {
            let (row, known) = x[i * k..].split_at_mut(k);
            axpy(-upper[i], &known[..k], row);
        }
        Ok(())
    }

    /// Elimination with exchanges of neighbouring rows. Of a pivot that is zero all becomes NaN.
    pub(crate) fn solve_by_exchanges(&self, x: &mut [T], k: usize) -> Result<()> {
        let n = self.main.len();
        if n == 0 || k == 0 {
            return Ok(());
        }
        // Rows of the upper triangle: the diagonal, and two above.
        let mut u = scratch::zeros::<[T; 3]>(n)?;
        u[0] = [self.main[0], if n > 1 { self.above[0] } else { T::ZERO }, T::ZERO];
        let nothing = |x: &mut [T]| x.fill(T::real(T::Part::NAN));
        for i in 0..n - 1 {
            let next = [self.below[i + 1], self.main[i + 1], if i + 2 < n { self.above[i + 1] } else { T::ZERO }];
            let (row, other) = x[i * k..].split_at_mut(k);
            let other = &mut other[..k];
            if u[i][0].abs() >= next[0].abs() {
                if u[i][0] == T::ZERO {
                    nothing(x);
                    return Ok(());
                }
                let factor = next[0].over(u[i][0]);
                u[i + 1] = [next[1] - factor * u[i][1], next[2], T::ZERO];
                axpy(-factor, row, other);
            } else {
                let factor = u[i][0].over(next[0]);
                u[i + 1] = [u[i][1] - factor * next[1], -(factor * next[2]), T::ZERO];
                u[i] = next;
                row.swap_with_slice(other);
                axpy(-factor, row, other);
            }
        }
        if u[n - 1][0] == T::ZERO {
            nothing(x);
            return Ok(());
        }
        substitute(&u, x, k, |pivot, row| row.iter_mut().for_each(|x| *x = x.over(pivot)));
        Ok(())
    }

    /// Elimination with exchanges of neighbouring rows, by their sizes to those around them, and pivots that are zero made a little
    /// greater: LAPACK's `dlagtf` and `dlagts`.
    pub(crate) fn solve_perturbed(&self, x: &mut [T], k: usize) -> Result<()> {
        let n = self.main.len();
        if n == 0 || k == 0 {
            return Ok(());
        }
        let zero = T::Part::ZERO;
        let mut u = scratch::zeros::<[T; 3]>(n)?;
        u[0] = [self.main[0], if n > 1 { self.above[0] } else { T::ZERO }, T::ZERO];
        let mut size = u[0][0].abs().greater(u[0][1].abs());
        let mut scale = u[0][0].abs() + u[0][1].abs();
        for i in 0..n - 1 {
            let next = [self.below[i + 1], self.main[i + 1], if i + 2 < n { self.above[i + 1] } else { T::ZERO }];
            let next_scale = next.iter().map(|x| x.abs()).sum::<T::Part>();
            let (row, other) = x[i * k..].split_at_mut(k);
            let other = &mut other[..k];
            let own = if u[i][0] == T::ZERO { zero } else { u[i][0].abs() / scale };
            if next[0] == T::ZERO || next[0].abs() / next_scale <= own {
                let factor = if next[0] == T::ZERO { T::ZERO } else { next[0].over(u[i][0]) };
                u[i + 1] = [next[1] - factor * u[i][1], next[2], T::ZERO];
                axpy(-factor, row, other);
                scale = next_scale;
            } else {
                let factor = u[i][0].over(next[0]);
                u[i + 1] = [u[i][1] - factor * next[1], -(factor * next[2]), T::ZERO];
                u[i] = next;
                row.swap_with_slice(other);
                axpy(-factor, row, other);
            }
            // As TensorFlow: the last row but one does not count.
            if i + 2 < n {
                size = u[i].iter().fold(size, |size, x| size.greater(x.abs()));
            }
        }
        let least = (size.greater(u[n - 1][0].abs()) * T::Part::EPSILON).greater(T::Part::TINY);
        substitute(&u, x, k, |pivot, row| {
            let inverse = T::ONE.over(perturbed(pivot, row, least));
            row.iter_mut().for_each(|x| *x *= inverse);
        });
        Ok(())
    }

    /// `y = a x`, in rows of `k`.
    pub(crate) fn times(&self, x: &[T], y: &mut [T], k: usize) {
        let n = self.main.len();
        for (i, y) in y.chunks_exact_mut(k.max(1)).enumerate() {
            let row = |i: usize| &x[i * k..][..k];
            y.fill(T::ZERO);
            axpy(self.main[i], row(i), y);
            if i > 0 {
                axpy(self.below[i], row(i - 1), y);
            }
            if i + 1 < n {
                axpy(self.above[i], row(i + 1), y);
            }
        }
    }
}

/// A pivot by whose reciprocal no element of the row overflows: one that is too small grows, `least` at first, then by twice as much
/// each time; one that is subnormal is scaled, and the row with it.
fn perturbed<T: Scalar>(mut pivot: T, row: &mut [T], least: T::Part) -> T {
    let (one, tiny) = (T::Part::ONE, T::Part::TINY);
    let greatest = row.iter().fold(T::Part::ZERO, |greatest, x| greatest.greater(x.abs()));
    let mut by = least.copysign(pivot.re());
    loop {
        let length = pivot.abs();
        let overflows =
            if length < tiny { length == T::Part::ZERO || greatest * tiny > length } else { greatest > length / tiny };
        if length < one && overflows {
            pivot += T::real(by);
            by += by;
            continue;
        }
        if length < tiny {
            row.iter_mut().for_each(|x| *x = x.divided(tiny));
            pivot = pivot.divided(tiny);
        }
        return pivot;
    }
}

/// Solves with an upper triangle of three diagonals, from the last row on.
fn substitute<T: Scalar>(u: &[[T; 3]], x: &mut [T], k: usize, divide: impl Fn(T, &mut [T])) {
    for i in (0..u.len()).rev() {
        let (row, known) = x[i * k..].split_at_mut(k);
        for (factor, known) in u[i][1..].iter().zip(known.chunks_exact(k)) {
            axpy(-*factor, known, row);
        }
        divide(u[i][0], row);
    }
}

/// A triangular matrix of a few diagonals, each in a row of `n` elements, the uppermost first:
/// element `i` of each lies in row `i` of the matrix.
#[derive(Clone, Copy)]
pub(crate) struct Banded<'a, T> {
    pub(crate) diagonals: &'a [T],
    pub(crate) n: usize,
    pub(crate) lower: bool,
    /// Whether its conjugate transpose stands for it.
    pub(crate) adjoint: bool,
}

impl<T: Scalar> Banded<'_, T> {
    fn count(&self) -> usize {
        self.diagonals.len() / self.n
    }

    /// The row of the main diagonal.
    fn main(&self) -> &[T] {
        let row = if self.lower { 0 } else { self.count() - 1 };
        &self.diagonals[row * self.n..][..self.n]
    }

    pub(crate) fn is_invertible(&self) -> bool {
        self.main().iter().all(|x| x.abs() > T::Part::ZERO)
    }

    /// Element `(i, j)` of the matrix as it is stored, which lies in the band.
    fn at(&self, i: usize, j: usize) -> T {
        let row = if self.lower { i - j } else { self.count() - 1 - (j - i) };
        self.diagonals[row * self.n + i]
    }

    /// Replaces `x`, in rows of `k`, by the solution.
    pub(crate) fn solve(&self, x: &mut [T], k: usize) {
        let (n, most) = (self.n, self.count() - 1);
        let forward = self.lower != self.adjoint;
        for step in 0..n {
            let i = if forward { step } else { n - 1 - step };
            let others = if forward { i.saturating_sub(most)..i } else { i + 1..(i + most + 1).min(n) };
            for j in others {
                let factor = if self.adjoint { self.at(j, i).conj() } else { self.at(i, j) };
                let (first, second) = x.split_at_mut(i.max(j) * k);
                let (first, second) = (&mut first[i.min(j) * k..][..k], &mut second[..k]);
                if i < j { axpy(-factor, second, first) } else { axpy(-factor, first, second) }
            }
            let pivot = self.at(i, i);
            let pivot = if self.adjoint { pivot.conj() } else { pivot };
            x[i * k..][..k].iter_mut().for_each(|x| *x = x.over(pivot));
        }
    }
}
