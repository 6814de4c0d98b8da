//! Eigenvalues and eigenvectors of real matrices that are not symmetric: Schur's decomposition by Francis' double steps and
//! substitution (EISPACK's `hqr2`), in the order and with the signs of Eigen's `RealSchur` and `EigenSolver`.

use kernlink::Result;
use kernlink::tensor::scratch;
use num_complex::Complex64;

use crate::householder::reflection;
use crate::matrix::Mat;
use crate::rotation::Rotation;
use crate::schur::{hessenberg, normalize};

/// QR steps for each row, before it is given up.
const STEPS: usize = 40;

/// `A = U T Uᵀ`, `T` triangular but for blocks of two rows.
struct RealSchur {
    t: Mat<f64>,
    /// Empty if it is not wanted.
    u: Mat<f64>,
    wanted: bool,
    /// What exceptional shifts have taken from the diagonal.
    shifted: f64,
}

impl RealSchur {
    fn new(mut a: Mat<f64>, wanted: bool) -> Result<Option<Self>> {
        let n = a.rows;
        let scale = a.data.iter().fold(0.0f64, |scale, x| if x.abs() > scale || x.is_nan() { x.abs() } else { scale });
        if scale < f64::MIN_POSITIVE {
            a.data.fill(0.0);
            let u = if wanted { Mat::identity(n, n)? } else { Mat::zeros(0, 0)? };
            return Ok(Some(RealSchur { t: a, u, wanted, shifted: 0.0 }));
        }
        a.data.iter_mut().for_each(|x| *x /= scale);
        let u = hessenberg(&mut a, wanted)?;
        let mut schur = RealSchur { t: a, u, wanted, shifted: 0.0 };
        if !schur.reduce() {
            return Ok(None);
        }
        schur.t.data.iter_mut().for_each(|x| *x *= scale);
        Ok(Some(schur))
    }

    fn reduce(&mut self) -> bool {
        let n = self.t.rows;
        let norm: f64 = (0..n).map(|i| self.t.row(i)[i.saturating_sub(1)..].iter().map(|x| x.abs()).sum::<f64>()).sum();
        if norm == 0.0 {
            return true;
        }
        let zero = (norm * f64::EPSILON * f64::EPSILON).max(f64::MIN_POSITIVE);
        // As many rows are left.
        let (mut left, mut step, mut all) = (n, 0, 0);
        while left > 0 {
            let iu = left - 1;
            let il = self.small_entry(iu, zero);
            if il == iu {
                self.t[(iu, iu)] += self.shifted;
                if iu > 0 {
                    self.t[(iu, iu - 1)] = 0.0;
                }
                (left, step) = (left - 1, 0);
            } else if il + 1 == iu {
                self.split_off(iu);
                (left, step) = (left - 2, 0);
            } else {
                let shift = self.shift(iu, step);
                step += 1;
                all += 1;
                if all > STEPS * n {
                    return false;
                }
                self.francis(il, iu, shift);
            }
        }
        true
    }

    fn small_entry(&self, iu: usize, zero: f64) -> usize {
        let mut found = iu;
        while found > 0 {
            let around = self.t[(found - 1, found - 1)].abs() + self.t[(found, found)].abs();
            if self.t[(found, found - 1)].abs() <= (around * f64::EPSILON).max(zero) {
                break;
            }
            found -= 1;
        }
        found
    }

    /// Two eigenvalues, of which a block stays if they are not real.
    fn split_off(&mut self, iu: usize) {
        let t = &mut self.t;
        let p = 0.5 * (t[(iu - 1, iu - 1)] - t[(iu, iu)]);
        let q = p * p + t[(iu, iu - 1)] * t[(iu - 1, iu)];
        t[(iu, iu)] += self.shifted;
        t[(iu - 1, iu - 1)] += self.shifted;
        if q >= 0.0 {
            let z = q.abs().sqrt();
            let rotation = Rotation::givens_real(if p >= 0.0 { p + z } else { p - z }, t[(iu, iu - 1)]);
            rotation.adjoint().rows(t, [iu - 1, iu], iu - 1);
            rotation.columns(t, [iu - 1, iu], iu + 1);
            t[(iu, iu - 1)] = 0.0;
            if self.wanted {
                let n = self.u.rows;
                rotation.columns(&mut self.u, [iu - 1, iu], n);
            }
        }
        if iu > 1 {
            t[(iu - 1, iu - 2)] = 0.0;
        }
    }

    fn shift(&mut self, iu: usize, step: usize) -> [f64; 3] {
        let t = &mut self.t;
        let mut shift = [t[(iu, iu)], t[(iu - 1, iu - 1)], t[(iu, iu - 1)] * t[(iu - 1, iu)]];
        if step == 0 || !step.is_multiple_of(16) {
            return shift;
        }
        if !step.is_multiple_of(32) {
            // Wilkinson's exceptional shift.
            self.shifted += shift[0];
            (0..=iu).for_each(|i| t[(i, i)] -= shift[0]);
            let s = t[(iu, iu - 1)].abs() + t[(iu - 1, iu - 2)].abs();
            return [0.75 * s, 0.75 * s, -0.4375 * s * s];
        }
        let half = (shift[1] - shift[0]) / 2.0;
        let square = half * half + shift[2];
        if square > 0.0 {
            let root = if shift[1] < shift[0] { -square.sqrt() } else { square.sqrt() };
            let s = shift[0] - shift[2] / (root + half);
            self.shifted += s;
            (0..=iu).for_each(|i| t[(i, i)] -= s);
            shift = [0.964; 3];
        }
        shift
    }

    /// A double step on rows `il` to `iu`, which are three or more.
    fn francis(&mut self, il: usize, iu: usize, shift: [f64; 3]) {
        let n = self.t.rows;
        let t = &mut self.t;
        let mut first;
        let mut im = iu - 2;
        loop {
            let tmm = t[(im, im)];
            let (r, s) = (shift[0] - tmm, shift[1] - tmm);
            first = [
                (r * s - shift[2]) / t[(im + 1, im)] + t[(im, im + 1)],
                t[(im + 1, im + 1)] - tmm - r - s,
                t[(im + 2, im + 1)],
            ];
            if im == il {
                break;
            }
            let left = t[(im, im - 1)] * (first[1].abs() + first[2].abs());
            let right = first[0] * (t[(im - 1, im - 1)].abs() + tmm.abs() + t[(im + 1, im + 1)].abs());
            if left.abs() < f64::EPSILON * right {
                break;
            }
            im -= 1;
        }
        for k in im..iu {
            let count = 3.min(iu + 1 - k);
            let mut v = match k == im {
                true => first,
                false => [t[(k, k - 1)], t[(k + 1, k - 1)], if count == 3 { t[(k + 2, k - 1)] } else { 0.0 }],
            };
            let (tau, beta) = reflection(&mut v[..count]);
            if beta == 0.0 {
                continue;
            }
            if k > im {
                t[(k, k - 1)] = beta;
            } else if k > il {
                t[(k, k - 1)] = -t[(k, k - 1)];
            }
            v[0] = 1.0;
            let v = &v[..count];
            for j in k..n {
                let product = tau * (0..count).map(|l| v[l] * t[(k + l, j)]).sum::<f64>();
                (0..count).for_each(|l| t[(k + l, j)] -= product * v[l]);
            }
            let from_right = |row: &mut [f64]| {
                let product = tau * (0..count).map(|l| v[l] * row[k + l]).sum::<f64>();
                (0..count).for_each(|l| row[k + l] -= product * v[l]);
            };
            t.data.chunks_exact_mut(n).take(iu.min(k + 3) + 1).for_each(from_right);
            if self.wanted {
                self.u.data.chunks_exact_mut(n).for_each(from_right);
            }
        }
        for i in im + 2..=iu {
            t[(i, i - 2)] = 0.0;
            if i > im + 2 {
                t[(i, i - 3)] = 0.0;
            }
        }
    }

    fn values(&self) -> Result<Vec<Complex64>> {
        let (n, t) = (self.t.rows, &self.t);
        let mut values = scratch::room(n)?;
        let mut i = 0;
        while i < n {
            if i + 1 == n || t[(i + 1, i)] == 0.0 {
                values.push(Complex64::new(t[(i, i)], 0.0));
                i += 1;
                continue;
            }
            let p = 0.5 * (t[(i, i)] - t[(i + 1, i + 1)]);
            let (t0, t1) = (t[(i + 1, i)], t[(i, i + 1)]);
            let greatest = p.abs().max(t0.abs()).max(t1.abs());
            let (t0, t1, p0) = (t0 / greatest, t1 / greatest, p / greatest);
            let z = greatest * (p0 * p0 + t0 * t1).abs().sqrt();
            values.push(Complex64::new(t[(i + 1, i + 1)] + p, z));
            values.push(Complex64::new(t[(i + 1, i + 1)] + p, -z));
            i += 2;
        }
        Ok(values)
    }
}

/// Eigenvalues, and eigenvectors of length 1 in columns, if they are wanted; `None` if they are not found.
#[expect(clippy::type_complexity, reason = "values and vectors")]
pub(crate) fn eigen(a: Mat<f64>, wanted: bool) -> Result<Option<(Vec<Complex64>, Option<Mat<Complex64>>)>> {
    let n = a.rows;
    let Some(mut schur) = RealSchur::new(a, wanted)? else { return Ok(None) };
    let values = schur.values()?;
    if values.iter().any(|x| !x.re.is_finite() || !x.im.is_finite()) {
        return Ok(None);
    }
    if !wanted {
        return Ok(Some((values, None)));
    }
    let is_zero = !substitute(&mut schur.t, &values);
    // Column j of T counts until row j, that of the second of a pair for both.
    for i in 0..n {
        schur.t.row_mut(i)[..i].fill(0.0);
    }
    let real = if is_zero { schur.u } else { schur.u.times(&schur.t)? };
    let mut vectors = Mat::zeros(n, n)?;
    let mut j = 0;
    while j < n {
        let value = values[j];
        if value.im.abs() <= value.re.abs() * 2.0 * f64::EPSILON || j + 1 == n {
            for i in 0..n {
                vectors[(i, j)] = Complex64::new(real[(i, j)], 0.0);
            }
            normalize(&mut vectors, j);
            j += 1;
            continue;
        }
        for i in 0..n {
            let (re, im) = (real[(i, j)], real[(i, j + 1)]);
            vectors[(i, j)] = Complex64::new(re, im);
            vectors[(i, j + 1)] = Complex64::new(re, -im);
        }
        normalize(&mut vectors, j);
        normalize(&mut vectors, j + 1);
        j += 2;
    }
    Ok(Some((values, Some(vectors))))
}

/// Replaces the upper triangle of `T` by its eigenvectors, of a pair as real and imaginary parts; `false` if it is zero, and stays.
fn substitute(t: &mut Mat<f64>, values: &[Complex64]) -> bool {
    let size = t.rows;
    let eps = f64::EPSILON;
    let norm: f64 = (0..size).map(|j| t.row(j)[j.saturating_sub(1)..].iter().map(|x| x.abs()).sum::<f64>()).sum();
    if norm == 0.0 {
        return false;
    }
    let product = |t: &Mat<f64>, i: usize, from: usize, to: usize, column: usize| -> f64 {
        (from..=to).map(|k| t[(i, k)] * t[(k, column)]).sum()
    };
    let mut next = size;
    while next > 0 {
        let n = next - 1;
        let (p, q) = (values[n].re, values[n].im);
        if q == 0.0 {
            let (mut last_r, mut last_w, mut l) = (0.0, 0.0, n);
            t[(n, n)] = 1.0;
            for i in (0..n).rev() {
                let w = t[(i, i)] - p;
                let r = product(t, i, l, n, n);
                if values[i].im < 0.0 {
                    (last_w, last_r) = (w, r);
                    continue;
                }
                l = i;
                if values[i].im == 0.0 {
                    t[(i, n)] = if w != 0.0 { -r / w } else { -r / (eps * norm) };
                } else {
                    let (x, y) = (t[(i, i + 1)], t[(i + 1, i)]);
                    let re = values[i].re - p;
                    let denominator = re * re + values[i].im * values[i].im;
                    let found = (x * last_r - last_w * r) / denominator;
                    t[(i, n)] = found;
                    t[(i + 1, n)] =
                        if x.abs() > last_w.abs() { (-r - w * found) / x } else { (-last_r - y * found) / last_w };
                }
                let size_now = t[(i, n)].abs();
                if (eps * size_now) * size_now > 1.0 {
                    (i..size).for_each(|k| t[(k, n)] /= size_now);
                }
            }
        } else if q < 0.0 && n > 0 {
            pair(t, values, n, norm, &product);
            next -= 1;
        }
        next -= 1;
    }
    true
}

/// The eigenvector of a pair of eigenvalues, of which the second is number `n`.
fn pair(
    t: &mut Mat<f64>,
    values: &[Complex64],
    n: usize,
    norm: f64,
    product: &impl Fn(&Mat<f64>, usize, usize, usize, usize) -> f64,
) {
    let size = t.rows;
    let eps = f64::EPSILON;
    let (p, q) = (values[n].re, values[n].im);
    let (mut last_ra, mut last_sa, mut last_w, mut l) = (0.0, 0.0, 0.0, n - 1);
    if t[(n, n - 1)].abs() > t[(n - 1, n)].abs() {
        t[(n - 1, n - 1)] = q / t[(n, n - 1)];
        t[(n - 1, n)] = -(t[(n, n)] - p) / t[(n, n - 1)];
    } else {
        let cc = Complex64::new(0.0, -t[(n - 1, n)]) / Complex64::new(t[(n - 1, n - 1)] - p, q);
        t[(n - 1, n - 1)] = cc.re;
        t[(n - 1, n)] = cc.im;
    }
    t[(n, n - 1)] = 0.0;
    t[(n, n)] = 1.0;
    for i in (0..n - 1).rev() {
        let ra = product(t, i, l, n, n - 1);
        let sa = product(t, i, l, n, n);
        let w = t[(i, i)] - p;
        if values[i].im < 0.0 {
            (last_w, last_ra, last_sa) = (w, ra, sa);
            continue;
        }
        l = i;
        if values[i].im == 0.0 {
            let cc = Complex64::new(-ra, -sa) / Complex64::new(w, q);
            t[(i, n - 1)] = cc.re;
            t[(i, n)] = cc.im;
        } else {
            let (x, y) = (t[(i, i + 1)], t[(i + 1, i)]);
            let re = values[i].re - p;
            let mut vr = re * re + values[i].im * values[i].im - q * q;
            let vi = re * 2.0 * q;
            if vr == 0.0 && vi == 0.0 {
                vr = eps * norm * (w.abs() + q.abs() + x.abs() + y.abs() + last_w.abs());
            }
            let cc = Complex64::new(x * last_ra - last_w * ra + q * sa, x * last_sa - last_w * sa - q * ra)
                / Complex64::new(vr, vi);
            t[(i, n - 1)] = cc.re;
            t[(i, n)] = cc.im;
            if x.abs() > last_w.abs() + q.abs() {
                t[(i + 1, n - 1)] = (-ra - w * cc.re + q * cc.im) / x;
                t[(i + 1, n)] = (-sa - w * cc.im - q * cc.re) / x;
            } else {
                let cc = Complex64::new(-last_ra - y * cc.re, -last_sa - y * cc.im) / Complex64::new(last_w, q);
                t[(i + 1, n - 1)] = cc.re;
                t[(i + 1, n)] = cc.im;
            }
        }
        let size_now = t[(i, n - 1)].abs().max(t[(i, n)].abs());
        if (eps * size_now) * size_now > 1.0 {
            for k in i..size {
                t[(k, n - 1)] /= size_now;
                t[(k, n)] /= size_now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scalar::Scalar;

    use super::*;
    use crate::matrix::testing::{distance, some};

    fn check(a: &Mat<f64>, limit: f64) {
        let n = a.rows;
        let (values, vectors) = eigen(a.clone().unwrap(), true).unwrap().unwrap();
        let vectors = vectors.unwrap();
        let wide = Mat { rows: n, columns: n, data: a.data.iter().map(|&x| Complex64::new(x, 0.0)).collect() };
        let left = wide.times(&vectors).unwrap();
        let mut right = vectors.clone().unwrap();
        for (j, &value) in values.iter().enumerate() {
            (0..n).for_each(|i| right[(i, j)] *= value);
            let length: f64 = (0..n).map(|i| vectors[(i, j)].abs().powi(2)).sum();
            assert!((length - 1.0).abs() < 1e-12, "{n}");
        }
        assert!(distance(&left, &right) < limit, "{n}: {}", distance(&left, &right));
        let (alone, none) = eigen(a.clone().unwrap(), false).unwrap().unwrap();
        assert!(none.is_none());
        let sum = |values: &[Complex64]| values.iter().sum::<Complex64>();
        assert!((sum(&alone) - sum(&values)).abs() < limit);
    }

    #[test]
    fn eigenvectors_are_stretched() {
        for n in [1, 2, 3, 4, 7, 12, 30, 61] {
            check(&some(n, n, n as u64), 1e-12);
        }
        // A permutation, whose steps stand still without exceptional shifts; what is nilpotent; what is zero.
        let mut cycle = Mat::<f64>::zeros(6, 6).unwrap();
        (0..6).for_each(|i| cycle[(i, (i + 1) % 6)] = 1.0);
        check(&cycle, 1e-12);
        check(&Mat::zeros(3, 3).unwrap(), 1e-12);
        let mut nilpotent = Mat::<f64>::zeros(3, 3).unwrap();
        (nilpotent[(0, 1)], nilpotent[(1, 2)]) = (1.0, 1.0);
        check(&nilpotent, 1e-4);
        assert!(eigen(Mat { rows: 1, columns: 1, data: vec![f64::NAN] }, true).unwrap().is_none());
    }
}
