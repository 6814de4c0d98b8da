//! Functions of square matrices: exponential, square root, logarithm.

use kernlink::Result;
use kernlink::dtype::Number;
use num_complex::Complex64;

use crate::lu::Lu;
use crate::matrix::Mat;
use crate::scalar::{RealScalar, Scalar};
use crate::schur::Schur;

/// The coefficients of Padé's approximants of degree 3 to 13, and up to which norm each is as exact as doubles: Higham, The
/// scaling and squaring method for the matrix exponential revisited (2005).
const PADE: [(f64, &[f64]); 5] = [
    (1.495585217958292e-2, &[120.0, 60.0, 12.0, 1.0]),
    (2.53939833006323e-1, &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0]),
    (9.504178996162932e-1, &[17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0]),
    (
        2.097847961257068,
        &[17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0],
    ),
    (
        5.371920351148152,
        &[
            64764752532480000.0,
            32382376266240000.0,
            7771770303897600.0,
            1187353796428800.0,
            129060195264000.0,
            10559470521600.0,
            670442572800.0,
            33522128640.0,
            1323241920.0,
            40840800.0,
            960960.0,
            16380.0,
            182.0,
            1.0,
        ],
    ),
];

/// The exponential.
pub(crate) fn exponential<T: Scalar>(mut a: Mat<T>) -> Result<Mat<T>> {
    let n = a.rows;
    let norm = (0..n)
        .map(|j| a.data[j..].iter().step_by(n).map(|x| x.abs()).sum::<T::Part>().f64())
        .fold(0.0, |max: f64, sum| if sum > max || sum.is_nan() { sum } else { max });
    let (limit, coefficients) = *PADE.iter().find(|(limit, _)| norm < *limit).unwrap_or(&PADE[PADE.len() - 1]);
    let squarings = if norm.is_finite() && norm > limit { (norm / limit).log2().ceil() as i32 } else { 0 };
    a.scale(T::Part::from_f64(0.5f64.powi(squarings)));
    // The odd powers are `a` times even ones.
    let square = a.times(&a)?;
    let (mut odd, mut even) = (Mat::zeros(n, n)?, Mat::zeros(n, n)?);
    let mut power = Mat::identity(n, n)?;
    for (step, pair) in coefficients.chunks_exact(2).enumerate() {
        match step {
            0 => {}
            1 => power = square.clone()?,
            _ => power = power.times(&square)?,
        }
        for (target, coefficient) in [(&mut even, pair[0]), (&mut odd, pair[1])] {
            let coefficient = T::Part::from_f64(coefficient);
            target.data.iter_mut().zip(&power.data).for_each(|(x, p)| *x += p.scaled(coefficient));
        }
    }
    let odd = a.times(&odd)?;
    let mut numerator = odd.clone()?;
    numerator.add(&even);
    even.subtract(&odd);
    let mut result = Lu::new(even)?.solve(&numerator)?;
    for _ in 0..squarings {
        result = result.times(&result)?;
    }
    Ok(result)
}

/// Back from Schur's form.
fn whole(u: &Mat<Complex64>, t: &Mat<Complex64>) -> Result<Mat<Complex64>> {
    u.times(t)?.times(&u.adjoint()?)
}

/// A matrix of NaNs.
fn unknown(n: usize) -> Result<Mat<Complex64>> {
    let mut all = Mat::zeros(n, n)?;
    all.data.fill(Complex64::new(f64::NAN, f64::NAN));
    Ok(all)
}

/// The square root of an upper triangular matrix: Björck and Hammarling (1983).
fn triangular_root(t: &Mat<Complex64>) -> Result<Mat<Complex64>> {
    let n = t.rows;
    // Columns as rows beside it, for the sums.
    let (mut root, mut columns) = (Mat::<Complex64>::zeros(n, n)?, Mat::<Complex64>::zeros(n, n)?);
    for j in 0..n {
        root[(j, j)] = t[(j, j)].sqrt();
        columns[(j, j)] = root[(j, j)];
        for i in (0..j).rev() {
            let sum = crate::matrix::dot(&root.row(i)[i + 1..j], &columns.row(j)[i + 1..j]);
            root[(i, j)] = (t[(i, j)] - sum).over(root[(i, i)] + root[(j, j)]);
            columns[(j, i)] = root[(i, j)];
        }
    }
    Ok(root)
}

/// The principal square root. Of a matrix that `is_real` it is NaN if it is not real.
pub(crate) fn square_root(a: Mat<Complex64>, is_real: bool) -> Result<Mat<Complex64>> {
    let n = a.rows;
    let Some(Schur { t, u }) = Schur::new(a, true)? else { return unknown(n) };
    let norm = t.data.iter().fold(0.0, |norm: f64, x| norm.max(x.abs()));
    // Rounding makes a real eigenvalue a little complex.
    let beside = norm * f64::EPSILON.sqrt() * 1e-4;
    let is_negative = |i: usize| t[(i, i)].re < -beside && t[(i, i)].im.abs() <= beside;
    if is_real && (0..n).any(is_negative) {
        return unknown(n);
    }
    whole(&u, &triangular_root(&t)?)
}

/// Gauss' quadrature with seven points between 0 and 1, by which the diagonal Padé approximant of `log(1 + x)` is a sum of
/// fractions: places and weights.
const GAUSS: [(f64, f64); 7] = [
    (0.025446043828620736, 0.06474248308443485),
    (0.12923440720030278, 0.13985269574463834),
    (0.2970774243113014, 0.19091502525255946),
    (0.5, 0.2089795918367347),
    (0.7029225756886985, 0.19091502525255946),
    (0.8707655927996972, 0.13985269574463834),
    (0.9745539561713793, 0.06474248308443485),
];

/// Up to this norm the approximant is as exact as doubles: Higham, Functions of Matrices, table 11.1.
const NEAR_ONE: f64 = 0.264;

/// The principal logarithm, by inverse scaling and squaring of Schur's form: Higham, Functions of Matrices, algorithm 11.9. That of
/// a singular matrix is NaN.
pub(crate) fn logarithm(a: Mat<Complex64>) -> Result<Mat<Complex64>> {
    let n = a.rows;
    let Some(Schur { t, u }) = Schur::new(a, true)? else { return unknown(n) };
    let norm = t.data.iter().fold(0.0, |norm: f64, x| norm.max(x.abs()));
    let is_zero = |i: usize| t[(i, i)].abs().is_nan() || t[(i, i)].abs() <= norm * f64::EPSILON * 1e-2;
    if (0..n).any(is_zero) {
        return unknown(n);
    }
    let mut root = t.clone()?;
    let mut roots = 0;
    let distance = |root: &Mat<Complex64>| {
        (0..n)
            .map(|j| (0..=j).map(|i| (root[(i, j)] - if i == j { 1.0 } else { 0.0 }).abs()).sum::<f64>())
            .fold(0.0, f64::max)
    };
    while distance(&root) > NEAR_ONE && roots < 100 {
        root = triangular_root(&root)?;
        roots += 1;
    }
    let mut x = root;
    (0..n).for_each(|i| x[(i, i)] -= 1.0);
    let mut log = Mat::<Complex64>::zeros(n, n)?;
    for (place, weight) in GAUSS {
        // (I + place X)⁻¹ X weight
        let mut factor = x.clone()?;
        factor.scale(place);
        (0..n).for_each(|i| factor[(i, i)] += 1.0);
        let mut part = x.clone()?;
        crate::triangular::solve(&factor.data, n, crate::triangular::UPPER, &mut part)?;
        part.scale(weight);
        log.add(&part);
    }
    log.scale(2.0f64.powi(roots));
    // The logarithms of the eigenvalues themselves lose nothing.
    (0..n).for_each(|i| log[(i, i)] = t[(i, i)].ln());
    whole(&u, &log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::testing::{distance, some};

    /// Matrices with eigenvalues all around 1, of sizes that ask for different approximants.
    fn matrices() -> impl Iterator<Item = Mat<Complex64>> {
        [(1, 0.1), (3, 0.004), (4, 0.05), (5, 0.15), (9, 0.3)].into_iter().map(|(n, scale)| {
            let mut a = some::<Complex64>(n, n, n as u64);
            a.scale(scale);
            (0..n).for_each(|i| a[(i, i)] += 1.0);
            a
        })
    }

    #[test]
    fn roots_and_logarithms_are_inverse_functions() {
        for a in matrices() {
            let n = a.rows;
            let root = square_root(a.clone().unwrap(), false).unwrap();
            assert!(distance(&root.times(&root).unwrap(), &a) < 1e-13, "{n}");
            let log = logarithm(a.clone().unwrap()).unwrap();
            assert!(distance(&exponential(log).unwrap(), &a) < 1e-13, "{n}");
        }
    }

    #[test]
    fn what_has_no_root_or_logarithm_is_nan() {
        let all_nan = |a: &Mat<Complex64>| a.data.iter().all(|x| x.re.is_nan());
        let of =
            |elements: [f64; 4]| Mat { rows: 2, columns: 2, data: elements.map(|x| Complex64::new(x, 0.0)).to_vec() };
        assert!(all_nan(&square_root(of([-1.0, 0.0, 0.0, 1.0]), true).unwrap()));
        assert!(!all_nan(&square_root(of([-1.0, 0.0, 0.0, 1.0]), false).unwrap()));
        assert!(all_nan(&logarithm(of([1.0, 2.0, 2.0, 4.0])).unwrap()));
        assert!(all_nan(&logarithm(of([f64::NAN, 2.0, 2.0, 4.0])).unwrap()));
    }
}
