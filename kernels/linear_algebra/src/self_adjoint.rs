//! Eigenvalues and eigenvectors of symmetric and Hermitian matrices: by a tridiagonal matrix, whose eigenvalues are found by QR
//! steps with Wilkinson's shifts (Golub and Van Loan, section 8.3), in the order and with the signs of Eigen's
//! `SelfAdjointEigenSolver`.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;

use crate::householder::{reflect, reflection};
use crate::matrix::{Mat, axpy, dot, dot_conj};
use crate::rotation::Rotation;
use crate::scalar::{RealScalar, Scalar};

/// Eigenvalues, the least first, and eigenvectors, if they are wanted.
pub(crate) struct SelfAdjointEigen<T: Scalar> {
    pub(crate) values: Vec<T::Part>,
    /// The eigenvectors as rows.
    pub(crate) vectors: Option<Mat<T>>,
}

/// QR steps for each eigenvalue, before it is given up.
const STEPS: usize = 30;

/// Of a matrix of which the lower triangle counts; `None` if the eigenvalues are not found.
pub(crate) fn eigen<T: Scalar>(mut a: Mat<T>, vectors: bool) -> Result<Option<SelfAdjointEigen<T>>> {
    let n = a.rows;
    let mut scale = T::Part::ZERO;
    for i in 0..n {
        scale = a.row(i)[..=i].iter().fold(scale, |scale, x| scale.greater(x.abs()));
    }
    if scale == T::Part::ZERO {
        scale = T::Part::ONE;
    }
    // Both triangles, so that rows stand for columns.
    for i in 0..n {
        for j in 0..=i {
            let x = a[(i, j)].divided(scale);
            a[(i, j)] = if i == j { T::real(x.re()) } else { x };
            a[(j, i)] = if i == j { T::real(x.re()) } else { x.conj() };
        }
    }
    let (mut diagonal, mut beside, taus) = tridiagonal(&mut a)?;
    let mut q = if vectors { Some(transformation(&a, &taus)?) } else { None };
    if !implicit_qr(&mut diagonal, &mut beside, q.as_mut()) {
        return Ok(None);
    }
    for i in 0..n {
        let mut least = i;
        for k in i + 1..n {
            if diagonal[k] < diagonal[least] {
                least = k;
            }
        }
        diagonal.swap(i, least);
        if let Some(q) = &mut q {
            q.swap_rows(i, least);
        }
    }
    diagonal.iter_mut().for_each(|x| *x *= scale);
    Ok(Some(SelfAdjointEigen { values: diagonal, vectors: q }))
}

/// The diagonal and what is beside it of a tridiagonal matrix, `H A Hᴴ`, and the factors of the reflections, whose vectors take the
/// place of the conjugates of the rows.
#[expect(clippy::type_complexity, reason = "three vectors")]
fn tridiagonal<T: Scalar>(a: &mut Mat<T>) -> Result<(Vec<T::Part>, Vec<T::Part>, Vec<T>)> {
    let n = a.rows;
    let (mut beside, mut taus) = (scratch::zeros(n.saturating_sub(1))?, scratch::zeros(n)?);
    let (mut v, mut w) = (scratch::zeros::<T>(n)?, scratch::zeros::<T>(n)?);
    let half = T::Part::ONE / (T::Part::ONE + T::Part::ONE);
    for i in 0..n.saturating_sub(1) {
        // The column below the diagonal is the conjugate of the row.
        for (v, x) in v[i + 1..].iter_mut().zip(&a.row(i)[i + 1..]) {
            *v = x.conj();
        }
        let v = &mut v[i + 1..];
        let (tau, beta) = reflection(v);
        (beside[i], taus[i]) = (beta, tau);
        v[0] = T::ONE;
        // w = τ̄ A v - τ̄ ((τ̄ A v)ᴴ v) v / 2, then A -= v wᴴ + w vᴴ.
        let w = &mut w[i + 1..];
        for (w, row) in w.iter_mut().zip(a.data.chunks_exact(n).skip(i + 1)) {
            *w = tau.conj() * dot(&row[i + 1..], v);
        }
        let factor = -(tau.conj()).scaled(half) * dot_conj(v, w);
        axpy(factor, v, w);
        for (k, row) in a.data.chunks_exact_mut(n).skip(i + 1).enumerate() {
            let (vk, wk) = (v[k], w[k]);
            for ((x, &v), &w) in row[i + 1..].iter_mut().zip(&*v).zip(&*w) {
                *x -= vk * w.conj() + wk * v.conj();
            }
        }
        a.row_mut(i)[i + 1..].copy_from_slice(v);
    }
    let diagonal = scratch::collected((0..n).map(|i| a[(i, i)].re()))?;
    Ok((diagonal, beside, taus))
}

/// The product of the reflections, its columns as rows.
fn transformation<T: Scalar>(a: &Mat<T>, taus: &[T]) -> Result<Mat<T>> {
    let n = a.rows;
    let mut q = Mat::identity(n, n)?;
    for i in (0..n.saturating_sub(1)).rev() {
        let v = &a.row(i)[i + 2..];
        // The rows above are still those of the identity.
        for column in q.data.chunks_exact_mut(n).skip(i + 1) {
            reflect(v, taus[i].conj(), &mut column[i + 1..]);
        }
    }
    Ok(q)
}

/// Makes a tridiagonal matrix diagonal, and rotates rows with it. Whether it came to an end.
fn implicit_qr<T: Scalar>(diagonal: &mut [T::Part], beside: &mut [T::Part], mut q: Option<&mut Mat<T>>) -> bool {
    let n = diagonal.len();
    let (mut end, mut start, mut steps) = (n.saturating_sub(1), 0, 0);
    let inverse = T::Part::ONE / T::Part::EPSILON;
    while end > 0 {
        for i in start..end {
            if beside[i].abs() < T::Part::TINY {
                beside[i] = T::Part::ZERO;
            } else {
                let scaled = inverse * beside[i];
                if scaled * scaled <= diagonal[i].abs() + diagonal[i + 1].abs() {
                    beside[i] = T::Part::ZERO;
                }
            }
        }
        while end > 0 && beside[end - 1] == T::Part::ZERO {
            end -= 1;
        }
        if end == 0 {
            break;
        }
        steps += 1;
        if steps > STEPS * n {
            return false;
        }
        start = end - 1;
        while start > 0 && beside[start - 1] != T::Part::ZERO {
            start -= 1;
        }
        step(diagonal, beside, start, end, q.as_deref_mut());
    }
    true
}

fn step<T: Scalar>(
    diagonal: &mut [T::Part],
    beside: &mut [T::Part],
    start: usize,
    end: usize,
    mut q: Option<&mut Mat<T>>,
) {
    let zero = T::Part::ZERO;
    let half = T::Part::ONE / (T::Part::ONE + T::Part::ONE);
    let td = (diagonal[end - 1] - diagonal[end]) * half;
    let e = beside[end - 1];
    let mut shift = diagonal[end];
    if td == zero {
        shift -= e.abs();
    } else if e != zero {
        let (square, h) = (e * e, RealScalar::hypot(td, e));
        let sum = td + if td > zero { h } else { -h };
        shift -= if square == zero { e / (sum / e) } else { square / sum };
    }
    let (mut x, mut z) = (diagonal[start] - shift, beside[start]);
    for k in start..end {
        if z == zero {
            break;
        }
        let rotation = Rotation::givens_real(x, z);
        let Rotation { c, s } = rotation;
        let sdk = s * diagonal[k] + c * beside[k];
        let dkp1 = s * beside[k] + c * diagonal[k + 1];
        diagonal[k] = c * (c * diagonal[k] - s * beside[k]) - s * (c * beside[k] - s * diagonal[k + 1]);
        diagonal[k + 1] = s * sdk + c * dkp1;
        beside[k] = c * sdk - s * dkp1;
        if k > start {
            beside[k - 1] = c * beside[k - 1] - s * z;
        }
        x = beside[k];
        if k + 1 < end {
            z = -s * beside[k + 1];
            beside[k + 1] *= c;
        }
        if let Some(q) = q.as_deref_mut() {
            let (first, second) = q.two_rows(k, k + 1);
            for (x, y) in first.iter_mut().zip(second) {
                (*x, *y) = (x.scaled(c) - y.scaled(s), x.scaled(s) + y.scaled(c));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;
    use crate::matrix::testing::{distance, skew, some};

    fn check<T: Scalar>(a: &Mat<T>) {
        let n = a.rows;
        let found = eigen(a.clone().unwrap(), true).unwrap().unwrap();
        let v = found.vectors.unwrap();
        assert!(skew(&v) < 1e-12, "{n}");
        let mut product = Mat::zeros(n, n).unwrap();
        for (k, &e) in found.values.iter().enumerate() {
            assert!(k == 0 || e >= found.values[k - 1]);
            for i in 0..n {
                for j in 0..n {
                    product[(i, j)] += v[(k, i)].scaled(e) * v[(k, j)].conj();
                }
            }
        }
        assert!(distance(&product, a) < 1e-12, "{n}");
    }

    fn symmetric<T: Scalar>(n: usize) -> Mat<T> {
        let mut a = some::<T>(n, n, n as u64);
        let turned = a.adjoint().unwrap();
        a.add(&turned);
        a
    }

    #[test]
    fn the_product_is_the_matrix() {
        for n in [1, 2, 3, 20, 65] {
            check(&symmetric::<f64>(n));
            check(&symmetric::<Complex64>(n));
            check(&Mat::<f64>::identity(n, n).unwrap());
            check(&Mat::<Complex64>::zeros(n, n).unwrap());
        }
        let mut unknown = symmetric::<f64>(3);
        unknown[(1, 0)] = f64::NAN;
        assert!(eigen(unknown, true).unwrap().is_none());
    }
}
