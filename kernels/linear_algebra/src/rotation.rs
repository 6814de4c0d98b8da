//! Rotations of planes, as Eigen has them.

use kernlink::dtype::Number;

use crate::matrix::Mat;
use crate::scalar::{RealScalar, Scalar};

/// The rotation `[c, s̄; -s, c̄]` of two coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Rotation<T> {
    pub(crate) c: T,
    pub(crate) s: T,
}

impl<T: Scalar> Rotation<T> {
    pub(crate) fn adjoint(self) -> Self {
        Rotation { c: self.c.conj(), s: -self.s }
    }

    pub(crate) fn transpose(self) -> Self {
        Rotation { c: self.c, s: -self.s.conj() }
    }

    pub(crate) fn is_identity(self) -> bool {
        self.c == T::ONE && self.s == T::ZERO
    }

    /// `x = c x + s̄ y` and `y = -s x + c̄ y`, element by element.
    #[inline]
    pub(crate) fn rotate(self, x: &mut [T], y: &mut [T]) {
        if self.is_identity() {
            return;
        }
        let (c, s) = (self.c, self.s);
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = (c * *x + s.conj() * *y, c.conj() * *y - s * *x);
        }
    }

    /// Rotates two rows, from a column on; `i < j`.
    pub(crate) fn rows(self, matrix: &mut Mat<T>, [i, j]: [usize; 2], from: usize) {
        let (x, y) = matrix.two_rows(i, j);
        self.rotate(&mut x[from..], &mut y[from..]);
    }

    /// Rotates two columns from the right, until a row: by its transpose, as Eigen does.
    pub(crate) fn columns(self, matrix: &mut Mat<T>, [i, j]: [usize; 2], until: usize) {
        let by = self.transpose();
        if by.is_identity() {
            return;
        }
        let (c, s) = (by.c, by.s);
        for row in matrix.data.chunks_exact_mut(matrix.columns).take(until) {
            let (x, y) = (row[i], row[j]);
            (row[i], row[j]) = (c * x + s.conj() * y, c.conj() * y - s * x);
        }
    }
}

impl<T: RealScalar> Rotation<T> {
    /// The rotation whose adjoint takes `[p, q]` to `[r, 0]`.
    pub(crate) fn givens_real(p: T, q: T) -> Self {
        if q == T::ZERO {
            let c = if p < T::ZERO { -T::ONE } else { T::ONE };
            return Rotation { c, s: T::ZERO };
        }
        if p == T::ZERO {
            let s = if q < T::ZERO { T::ONE } else { -T::ONE };
            return Rotation { c: T::ZERO, s };
        }
        if p.abs() > q.abs() {
            let t = q / p;
            let u = (T::ONE + t * t).sqrt();
            let c = T::ONE / if p < T::ZERO { -u } else { u };
            Rotation { c, s: -t * c }
        } else {
            let t = p / q;
            let u = (T::ONE + t * t).sqrt();
            let s = -T::ONE / if q < T::ZERO { -u } else { u };
            Rotation { c: -t * s, s }
        }
    }

    /// The rotation that makes `[x, y; y, z]` diagonal.
    pub(crate) fn jacobi(x: T, y: T, z: T) -> Self {
        let two = T::ONE + T::ONE;
        let deno = two * y.abs();
        if deno < T::TINY {
            return Rotation { c: T::ONE, s: T::ZERO };
        }
        let tau = (x - z) / deno;
        let w = (tau * tau + T::ONE).sqrt();
        let t = if tau > T::ZERO { T::ONE / (tau + w) } else { T::ONE / (tau - w) };
        let sign = if t > T::ZERO { T::ONE } else { -T::ONE };
        let n = T::ONE / (t * t + T::ONE).sqrt();
        Rotation { c: n, s: -sign * (y / y.abs()) * t.abs() * n }
    }

    /// Two rotations one after the other.
    pub(crate) fn then(self, other: Self) -> Self {
        Rotation { c: self.c * other.c - self.s * other.s, s: self.c * other.s + self.s * other.c }
    }
}

/// The rotation whose adjoint takes `[p, q]` to `[r, 0]`, and `r`.
pub(crate) fn givens_complex<T: Scalar>(p: T, q: T) -> (Rotation<T>, T) {
    let is_negative = p.re() < T::Part::ZERO;
    if q == T::ZERO {
        let c = if is_negative { -T::ONE } else { T::ONE };
        return (Rotation { c, s: T::ZERO }, c * p);
    }
    if p == T::ZERO {
        let length = q.abs();
        return (Rotation { c: T::ZERO, s: -q.divided(length) }, T::real(length));
    }
    let (p1, q1) = (norm1(p), norm1(q));
    if p1 >= q1 {
        let (ps, qs) = (p.divided(p1), q.divided(p1));
        let (p2, q2) = (ps.norm(), qs.norm());
        let u = (T::Part::ONE + q2 / p2).sqrt();
        let u = if is_negative { -u } else { u };
        let c = T::Part::ONE / u;
        (Rotation { c: T::real(c), s: -(qs * ps.conj()).scaled(c / p2) }, p.scaled(u))
    } else {
        let (ps, qs) = (p.divided(q1), q.divided(q1));
        let u = q1 * (ps.norm() + qs.norm()).sqrt();
        let u = if is_negative { -u } else { u };
        let length = p.abs();
        let ps = p.divided(length);
        (Rotation { c: T::real(length / u), s: -ps.conj() * q.divided(u) }, ps.scaled(u))
    }
}

/// The sum of the absolute values of the parts.
pub(crate) fn norm1<T: Scalar>(x: T) -> T::Part {
    if T::IS_COMPLEX { x.re().abs() + x.im().abs() } else { x.re().abs() }
}
