//! Singular values and vectors.
//!
//! Matrices of few columns go by Jacobi's rotations on both sides, as in Eigen's `JacobiSVD`, whose signs they have; others by
//! a bidiagonal matrix and QR steps on it (Golub and Reinsch; Golub and Van Loan, section 8.6).

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::tensor::scratch;

use crate::householder::{Qr, reflect, reflection};
use crate::matrix::{Mat, axpy, dot, transpose_of};
use crate::rotation::Rotation;
use crate::scalar::{RealScalar, Scalar};

/// `a = u diag(s) vᴴ`
pub(crate) struct Svd<T: Scalar> {
    /// The greatest first.
    pub(crate) s: Vec<T::Part>,
    /// The columns of `u` and of `v` as rows.
    pub(crate) vectors: Option<[Mat<T>; 2]>,
}

/// What is asked for beside singular values.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Vectors {
    None,
    Thin,
    Full,
}

/// With as many columns it is no longer Jacobi's turn: Eigen's limit.
const MANY: usize = 16;
/// QR steps for a singular value, before it is given up.
const STEPS: usize = 100;

impl<T: Scalar> Svd<T> {
    /// Of elements in row-major order. What is not finite has no singular values: all are NaN.
    pub(crate) fn new(data: &[T], m: usize, n: usize, vectors: Vectors) -> Result<Self> {
        let mut scale = T::Part::ZERO;
        let mut finite = true;
        for x in data {
            let size = x.abs();
            finite &= size < T::Part::INFINITY;
            scale = scale.greater(size);
        }
        let (size, counts) = (m.min(n), counts(m, n, vectors));
        if !finite {
            return Svd::unknown(m, n, vectors);
        }
        if scale == T::Part::ZERO {
            scale = T::Part::ONE;
        }
        // A square matrix: that of the longer side by QR, columns as rows.
        let wanted = vectors != Vectors::None;
        let mut qr = None;
        let mut work;
        if m == n {
            work = Mat::copied(n, n, data)?;
            work.data.iter_mut().for_each(|x| *x = x.divided(scale));
        } else {
            // Of the adjoint of a wide matrix.
            let mut columns = if m > n {
                transpose_of(data, m, n)?
            } else {
                let mut copy = Mat::copied(m, n, data)?;
                copy.data.iter_mut().for_each(|x| *x = x.conj());
                copy
            };
            columns.data.iter_mut().for_each(|x| *x = x.divided(scale));
            let found = if n < MANY { Qr::with_pivots(columns)? } else { Qr::new(columns)? };
            work = Mat::zeros(size, size)?;
            for i in 0..size {
                for j in i..size {
                    let r = found.r(i, j);
                    if m > n {
                        work[(i, j)] = r;
                    } else {
                        work[(j, i)] = r.conj();
                    }
                }
            }
            qr = Some(found);
        }
        // The vectors of the square matrix: of the side that is not the long one, with the permutation.
        let mut sides = if wanted { Some([Mat::identity(size, size)?, Mat::identity(size, size)?]) } else { None };
        if n >= MANY {
            let Some(s) = golub(&mut work, sides.as_mut())? else {
                return Svd::unknown(m, n, vectors);
            };
            return finish(s, sides, qr, [m, n], counts, scale);
        }
        // Jacobi's rotations begin with what QR has found, so that signs follow.
        if let (Some(qr), Some([u, v])) = (&qr, sides.as_mut()) {
            let permuted = if m > n { v } else { u };
            permuted.data.fill(T::ZERO);
            for (k, &place) in qr.places.iter().enumerate() {
                permuted[(k, place)] = T::ONE;
            }
        }
        let s = jacobi(&mut work, sides.as_mut())?;
        finish(s, sides, qr, [m, n], counts, scale)
    }

    /// NaN in all places.
    fn unknown(m: usize, n: usize, vectors: Vectors) -> Result<Self> {
        let nans =
            |rows, columns| Ok(Mat { rows, columns, data: scratch::filled(T::real(T::Part::NAN), rows * columns)? });
        let [u_count, v_count] = counts(m, n, vectors);
        let sides = if vectors == Vectors::None { None } else { Some([nans(u_count, m)?, nans(v_count, n)?]) };
        Ok(Svd { s: scratch::filled(T::Part::NAN, m.min(n))?, vectors: sides })
    }
}

/// How many vectors there are of each side.
fn counts(m: usize, n: usize, vectors: Vectors) -> [usize; 2] {
    if vectors == Vectors::Full { [m, n] } else { [m.min(n); 2] }
}

/// Sorts, and takes vectors of the long side through QR.
fn finish<T: Scalar>(
    mut s: Vec<T::Part>,
    mut sides: Option<[Mat<T>; 2]>,
    qr: Option<Qr<T>>,
    [m, n]: [usize; 2],
    counts: [usize; 2],
    scale: T::Part,
) -> Result<Svd<T>> {
    let size = s.len();
    s.iter_mut().for_each(|s| *s *= scale);
    for i in 0..size {
        let mut best = i;
        for k in i + 1..size {
            if s[k] > s[best] {
                best = k;
            }
        }
        if s[best] == T::Part::ZERO {
            break;
        }
        if best != i {
            s.swap(i, best);
            if let Some([u, v]) = &mut sides {
                u.swap_rows(i, best);
                v.swap_rows(i, best);
            }
        }
    }
    if let (Some(sides), Some(qr)) = (&mut sides, qr) {
        let (long, count, length) = if m > n { (0, counts[0], m) } else { (1, counts[1], n) };
        // Behind those of the square matrix, those of the rest of the space.
        let mut all = Mat::identity(count, length)?;
        for i in 0..size {
            all.row_mut(i)[..size].copy_from_slice(sides[long].row(i));
        }
        qr.apply_q(&mut all)?;
        sides[long] = all;
    }
    Ok(Svd { s, vectors: sides })
}

/// Makes a matrix diagonal by rotations from both sides. The singular values, in no order.
fn jacobi<T: Scalar>(work: &mut Mat<T>, mut sides: Option<&mut [Mat<T>; 2]>) -> Result<Vec<T::Part>> {
    let n = work.rows;
    let two = T::Part::ONE + T::Part::ONE;
    let precision = two * T::Part::EPSILON;
    let mut greatest = (0..n).fold(T::Part::ZERO, |max, i| max.greater(work[(i, i)].abs()));
    let mut finished = false;
    // Each sweep at least halves what is beside the diagonal; it is over long before.
    for _ in 0..1000 {
        if finished {
            break;
        }
        finished = true;
        for p in 1..n {
            for q in 0..p {
                let threshold = T::Part::TINY.greater(precision * greatest);
                if !(work[(p, q)].abs() > threshold || work[(q, p)].abs() > threshold) {
                    continue;
                }
                finished = false;
                if T::IS_COMPLEX && !make_real(work, sides.as_deref_mut(), p, q, &mut greatest) {
                    continue;
                }
                let (left, right) = two_by_two(work, p, q);
                let lift = |r: Rotation<T::Part>| Rotation { c: T::real(r.c), s: T::real(r.s) };
                let (left, right) = (lift(left), lift(right));
                rotate_rows(left, work, p, q);
                right.columns(work, [p, q], n);
                if let Some([u, v]) = sides.as_deref_mut() {
                    // Their columns are rows here: rotating those by the transpose.
                    rotate_rows(left, u, p, q);
                    rotate_rows(right.transpose(), v, p, q);
                }
                greatest = greatest.greater(work[(p, p)].abs()).greater(work[(q, q)].abs());
            }
        }
    }
    let mut s = scratch::zeros(n)?;
    for i in 0..n {
        let x = work[(i, i)];
        s[i] = if T::IS_COMPLEX && x.im().abs() > T::Part::TINY { x.abs() } else { x.re().abs() };
        if let Some([u, _]) = sides.as_deref_mut() {
            if T::IS_COMPLEX && x.im().abs() > T::Part::TINY {
                let turn = x.divided(s[i]);
                u.row_mut(i).iter_mut().for_each(|x| *x *= turn);
            } else if x.re() < T::Part::ZERO {
                u.row_mut(i).iter_mut().for_each(|x| *x = -*x);
            }
        }
    }
    Ok(s)
}

/// Rotates rows `p` and `q`, whichever comes first.
fn rotate_rows<T: Scalar>(rotation: Rotation<T>, matrix: &mut Mat<T>, p: usize, q: usize) {
    let (first, second) = matrix.two_rows(p.min(q), p.max(q));
    if p < q { rotation.rotate(first, second) } else { rotation.rotate(second, first) }
}

/// The rotations from the left and from the right that make two rows and columns, which are real, diagonal.
fn two_by_two<T: Scalar>(work: &Mat<T>, p: usize, q: usize) -> (Rotation<T::Part>, Rotation<T::Part>) {
    let [m00, m01, m10, m11] = [(p, p), (p, q), (q, p), (q, q)].map(|at| work[at].re());
    let (t, d) = (m00 + m11, m10 - m01);
    let one = T::Part::ONE;
    let first = if d.abs() < T::Part::TINY {
        Rotation { c: one, s: T::Part::ZERO }
    } else {
        let u = t / d;
        let root = (one + u * u).sqrt();
        Rotation { c: u / root, s: one / root }
    };
    let Rotation { c, s } = first;
    let (x, y, z) = (c * m00 + s * m10, c * m01 + s * m11, -s * m01 + c * m11);
    let right = Rotation::jacobi(x, y, z);
    (first.then(right.transpose()), right)
}

/// Makes two rows and columns of complex numbers real. Whether they are not diagonal by then.
fn make_real<T: Scalar>(
    work: &mut Mat<T>,
    mut sides: Option<&mut [Mat<T>; 2]>,
    p: usize,
    q: usize,
    greatest: &mut T::Part,
) -> bool {
    let unit = |x: T| T::real(x.abs()).over(x);
    let times = |row: &mut [T], by: T| row.iter_mut().for_each(|x| *x *= by);
    let n = (work[(p, p)].norm() + work[(q, p)].norm()).sqrt();
    if n == T::Part::ZERO {
        work[(p, p)] = T::ZERO;
        work[(q, p)] = T::ZERO;
        for row in [p, q] {
            if work[(row, q)].im().abs() > T::Part::TINY {
                let z = unit(work[(row, q)]);
                times(work.row_mut(row), z);
                if let Some([u, _]) = sides.as_deref_mut() {
                    times(u.row_mut(row), z.conj());
                }
            }
        }
    } else {
        let rotation = Rotation { c: work[(p, p)].conj().divided(n), s: work[(q, p)].divided(n) };
        rotate_rows(rotation, work, p, q);
        if let Some([u, _]) = sides.as_deref_mut() {
            rotate_rows(rotation.adjoint().transpose(), u, p, q);
        }
        if work[(p, q)].im().abs() > T::Part::TINY {
            let z = unit(work[(p, q)]);
            let columns = work.columns;
            work.data[q..].iter_mut().step_by(columns).for_each(|x| *x *= z);
            if let Some([_, v]) = sides.as_deref_mut() {
                times(v.row_mut(q), z);
            }
        }
        if work[(q, q)].im().abs() > T::Part::TINY {
            let z = unit(work[(q, q)]);
            times(work.row_mut(q), z);
            if let Some([u, _]) = sides {
                times(u.row_mut(q), z.conj());
            }
        }
    }
    *greatest = greatest.greater(work[(p, p)].abs()).greater(work[(q, q)].abs());
    let threshold = T::Part::TINY.greater(T::Part::EPSILON * *greatest);
    work[(p, q)].abs() > threshold || work[(q, p)].abs() > threshold
}

/// Singular values of a square matrix by way of a bidiagonal one; the vectors begin as unit matrices. `None` if they are not found.
fn golub<T: Scalar>(a: &mut Mat<T>, sides: Option<&mut [Mat<T>; 2]>) -> Result<Option<Vec<T::Part>>> {
    let n = a.rows;
    let (mut s, mut e) = (scratch::zeros::<T::Part>(n)?, scratch::zeros::<T::Part>(n)?);
    let (mut lefts, mut rights) = (Mat::<T>::zeros(n, n)?, Mat::<T>::zeros(n, n)?);
    let (mut left_taus, mut right_taus) = (scratch::zeros::<T>(n)?, scratch::zeros::<T>(n)?);
    let mut sums = scratch::zeros::<T>(n)?;
    for k in 0..n {
        let v = &mut lefts.row_mut(k)[k..];
        for (v, &x) in v.iter_mut().zip(a.data[k * n + k..].iter().step_by(n)) {
            *v = x;
        }
        let (tau, beta) = reflection(v);
        (s[k], left_taus[k]) = (beta, tau);
        v[0] = T::ONE;
        let sums = &mut sums[k + 1..];
        sums.fill(T::ZERO);
        for (&v, row) in v.iter().zip(a.data.chunks_exact(n).skip(k)) {
            axpy(v.conj(), &row[k + 1..], sums);
        }
        for (&v, row) in v.iter().zip(a.data.chunks_exact_mut(n).skip(k)) {
            axpy(-(tau * v), sums, &mut row[k + 1..]);
        }
        if k + 1 == n {
            break;
        }
        let v = &mut rights.row_mut(k)[k + 1..];
        for (v, x) in v.iter_mut().zip(&a.row(k)[k + 1..]) {
            *v = x.conj();
        }
        let (tau, beta) = reflection(v);
        (e[k], right_taus[k]) = (beta, tau);
        v[0] = T::ONE;
        for row in a.data.chunks_exact_mut(n).skip(k + 1) {
            let row = &mut row[k + 1..];
            let product = tau.conj() * dot(row, v);
            for (x, v) in row.iter_mut().zip(&*v) {
                *x -= product * v.conj();
            }
        }
    }
    let Some([u, v]) = sides else { return Ok(bidiagonal::<T>(&mut s, &mut e, None).then_some(s)) };
    for k in (0..n).rev() {
        for column in u.data.chunks_exact_mut(n).skip(k) {
            reflect(&lefts.row(k)[k + 1..], left_taus[k].conj(), &mut column[k..]);
        }
        if k + 1 < n {
            for column in v.data.chunks_exact_mut(n).skip(k + 1) {
                reflect(&rights.row(k)[k + 2..], right_taus[k].conj(), &mut column[k + 1..]);
            }
        }
    }
    Ok(bidiagonal(&mut s, &mut e, Some([u, v])).then_some(s))
}

/// `x = c x + s y`, `y = c y - s x`
fn turn<T: Scalar>(matrix: &mut Mat<T>, i: usize, j: usize, c: T::Part, s: T::Part) {
    let (first, second) = matrix.two_rows(i.min(j), i.max(j));
    let (x, y) = if i < j { (first, second) } else { (second, first) };
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (x.scaled(c) + y.scaled(s), y.scaled(c) - x.scaled(s));
    }
}

/// Makes a bidiagonal matrix, `s` on the diagonal and `e` above, diagonal, with rows of both sides. Whether it came to an end.
fn bidiagonal<T: Scalar>(s: &mut [T::Part], e: &mut [T::Part], mut sides: Option<[&mut Mat<T>; 2]>) -> bool {
    let zero = T::Part::ZERO;
    let half = T::Part::ONE / (T::Part::ONE + T::Part::ONE);
    let (tiny, eps) = (T::Part::TINY, T::Part::EPSILON);
    let (mut p, mut steps) = (s.len(), 0);
    while p > 0 {
        steps += 1;
        if steps > STEPS {
            return false;
        }
        // The block that ends at p and begins at k: nothing above its diagonal is as good as zero.
        let mut k = p - 1;
        while k > 0 {
            if e[k - 1].abs() <= tiny + eps * (s[k - 1].abs() + s[k].abs()) {
                e[k - 1] = zero;
                break;
            }
            k -= 1;
        }
        if k == p - 1 {
            if s[k] < zero {
                s[k] = -s[k];
                if let Some([_, v]) = &mut sides {
                    v.row_mut(k).iter_mut().for_each(|x| *x = -*x);
                }
            }
            (p, steps) = (p - 1, 0);
            continue;
        }
        // Something on the diagonal that is as good as zero splits the block.
        let around =
            |i: usize| (if i + 1 < p { e[i].abs() } else { zero }) + (if i > k { e[i - 1].abs() } else { zero });
        let small = (k..p).rev().find(|&i| s[i].abs() <= tiny + eps * around(i));
        if let Some(i) = small {
            s[i] = zero;
            if i == p - 1 {
                let mut f = e[p - 2];
                e[p - 2] = zero;
                for j in (k..p - 1).rev() {
                    let t = RealScalar::hypot(s[j], f);
                    let (c, sn) = (s[j] / t, f / t);
                    s[j] = t;
                    if j > k {
                        f = -sn * e[j - 1];
                        e[j - 1] = c * e[j - 1];
                    }
                    if let Some([_, v]) = &mut sides {
                        turn(v, j, p - 1, c, sn);
                    }
                }
            } else {
                let mut f = e[i];
                e[i] = zero;
                for j in i + 1..p {
                    let t = RealScalar::hypot(s[j], f);
                    if t == zero {
                        break;
                    }
                    let (c, sn) = (s[j] / t, f / t);
                    s[j] = t;
                    f = -sn * e[j];
                    e[j] = c * e[j];
                    if let Some([u, _]) = &mut sides {
                        turn(u, j, i, c, sn);
                    }
                }
            }
            continue;
        }
        let scale = [s[p - 1], s[p - 2], e[p - 2], s[k], e[k]].iter().fold(zero, |max, x| max.greater(x.abs()));
        let [sp, spm1, epm1, sk, ek] = [s[p - 1], s[p - 2], e[p - 2], s[k], e[k]].map(|x| x / scale);
        let b = ((spm1 + sp) * (spm1 - sp) + epm1 * epm1) * half;
        let c = (sp * epm1) * (sp * epm1);
        let mut shift = zero;
        if b != zero || c != zero {
            let root = (b * b + c).sqrt();
            shift = c / (b + if b < zero { -root } else { root });
        }
        let (mut f, mut g) = ((sk + sp) * (sk - sp) + shift, sk * ek);
        for j in k..p - 1 {
            let t = RealScalar::hypot(f, g);
            let (c, sn) = if t == zero { (T::Part::ONE, zero) } else { (f / t, g / t) };
            if j > k {
                e[j - 1] = t;
            }
            f = c * s[j] + sn * e[j];
            e[j] = c * e[j] - sn * s[j];
            g = sn * s[j + 1];
            s[j + 1] = c * s[j + 1];
            if let Some([_, v]) = &mut sides {
                turn(v, j, j + 1, c, sn);
            }
            let t = RealScalar::hypot(f, g);
            let (c, sn) = if t == zero { (T::Part::ONE, zero) } else { (f / t, g / t) };
            s[j] = t;
            f = c * e[j] + sn * s[j + 1];
            s[j + 1] = c * s[j + 1] - sn * e[j];
            g = sn * e[j + 1];
            e[j + 1] = c * e[j + 1];
            if let Some([u, _]) = &mut sides {
                turn(u, j, j + 1, c, sn);
            }
        }
        e[p - 2] = f;
    }
    true
}

#[cfg(test)]
mod tests {
    use num_complex::{Complex32, Complex64};

    use super::*;
    use crate::matrix::testing::{distance, skew, some};

    fn check<T: Scalar>(a: &Mat<T>, limit: f64) {
        let (m, n) = (a.rows, a.columns);
        let alone = Svd::new(&a.data, m, n, Vectors::None).unwrap();
        for vectors in [Vectors::Thin, Vectors::Full] {
            let found = Svd::new(&a.data, m, n, vectors).unwrap();
            let [u, v] = found.vectors.as_ref().unwrap();
            assert!(skew(u) < limit && skew(v) < limit, "{m} x {n}: {} {}", skew(u), skew(v));
            let mut scaled = Mat::zeros(m, n).unwrap();
            for (k, &s) in found.s.iter().enumerate() {
                assert!(k == 0 || s <= found.s[k - 1]);
                assert!((s - alone.s[k]).abs().f64() < limit);
                for i in 0..m {
                    for j in 0..n {
                        scaled[(i, j)] += u[(k, i)].scaled(s) * v[(k, j)].conj();
                    }
                }
            }
            assert!(distance(&scaled, a) < limit, "{m} x {n}: {}", distance(&scaled, a));
        }
    }

    #[test]
    fn the_product_is_the_matrix() {
        for (m, n) in [(1, 1), (4, 4), (9, 3), (3, 9), (15, 15), (16, 16), (60, 33), (20, 70), (90, 15), (15, 90)] {
            let seed = (m * n) as u64;
            check(&some::<f64>(m, n, seed), 1e-12);
            check(&some::<Complex64>(m, n, seed), 1e-12);
            check(&some::<f32>(m, n, seed), 2e-4);
            check(&some::<Complex32>(m, n, seed), 2e-4);
        }
    }

    /// Singular values that are zero or equal, and zeros on the diagonal of what is bidiagonal.
    #[test]
    fn matrices_that_are_singular() {
        for n in [5, 24] {
            check(&some::<f64>(n, 2, 1).times(&some(2, n, 2)).unwrap(), 1e-12);
            check(&some::<Complex64>(n, 2, 1).times(&some(2, n + 3, 2)).unwrap(), 1e-12);
            check(&Mat::<f64>::zeros(n, n).unwrap(), 1e-12);
            check(&Mat::<f64>::identity(n, n).unwrap(), 1e-12);
            let mut shift = Mat::<f64>::zeros(n, n).unwrap();
            (1..n).for_each(|i| shift[(i - 1, i)] = 1.0);
            check(&shift, 1e-12);
            let mut ones = shift;
            ones.data.fill(1.0);
            check(&ones, 1e-12);
        }
        let wide = Svd::new(&[f64::NAN; 6], 2, 3, Vectors::Full).unwrap();
        assert!(wide.s.iter().chain(&wide.vectors.unwrap()[1].data).all(|x| x.is_nan()));
    }
}
