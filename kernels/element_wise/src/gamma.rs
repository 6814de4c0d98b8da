//! The gamma function's relatives, in double precision.
//!
//! The series, fractions and coefficients are those that the Cephes library published; TensorFlow's are the same.

use std::f64::consts::PI;

use kernlink_kernels_common::fast::{self, polynomial};

/// The derivative of the logarithm of the gamma function.
#[inline(always)]
pub(super) fn digamma(x: f64) -> f64 {
    // What is below 0 is reflected. The distance to the next whole number is exact.
    let part = x - x.round_ties_even();
    let below = x <= 0.0;
    let reflected = PI / fast::tan(PI * part);
    let reflected = if below & (part.abs() != 0.5) { reflected } else { 0.0 };
    let positive = if below { 1.0 - x } else { x };
    // What is below 10 is moved ten steps up: the sum of ten reciprocals, as one quotient.
    let low = positive < 10.0;
    let (mut above, mut product) = (1.0, positive);
    for step in 1..10u8 {
        let factor = positive + f64::from(step);
        above = above * factor + product;
        product *= factor;
    }
    let sum = if low { above / product } else { 0.0 };
    let moved = if low { positive + 10.0 } else { positive };
    let z = 1.0 / (moved * moved);
    let series = z * polynomial(
        z,
        [
            1.0 / 12.0,
            -2.109_279_609_279_609_3e-2,
            7.575_757_575_757_576e-3,
            -4.166_666_666_666_667e-3,
            3.968_253_968_253_968e-3,
            -8.333_333_333_333_333e-3,
            1.0 / 12.0,
        ],
    );
    let result = fast::ln(moved) - 0.5 / moved - series - sum - reflected;
    if below & (part == 0.0) { f64::NAN } else { result }
}

/// The relative precision of series for doubles.
pub(super) const DOUBLE: f64 = f64::EPSILON / 2.0;

/// The relative precision of series for floats: what is left out does not change how results are rounded, or seldom.
pub(super) const SINGLE: f64 = 1e-9;

/// The most terms of a series or fraction: as many as TensorFlow takes in double precision.
const MOST_TERMS: usize = 2000;

/// `x^a e^-x / Γ(a)`
fn gamma_term(a: f64, x: f64) -> f64 {
    (a * x.ln() - x - libm::lgamma(a)).exp()
}

/// `P(a, x)` by its power series, for `x` that is not much greater than `a`.
fn lower_series(a: f64, x: f64, precision: f64) -> f64 {
    let (mut divisor, mut term, mut sum) = (a, 1.0, 1.0);
    for _ in 0..MOST_TERMS {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if term <= precision * sum {
            break;
        }
    }
    sum * gamma_term(a, x) / a
}

/// `Q(a, x)` by its continued fraction, for `x` greater than `a` and 1.
fn upper_fraction(a: f64, x: f64, precision: f64) -> f64 {
    const BIG: f64 = 4_503_599_627_370_496.0;
    let (mut y, mut z, mut c) = (1.0 - a, x + 1.0 - a + 1.0, 0.0);
    let (mut before_p, mut before_q, mut p, mut q) = (1.0, x, x + 1.0, z * x);
    let mut ratio = p / q;
    for _ in 0..MOST_TERMS {
        c += 1.0;
        y += 1.0;
        z += 2.0;
        let (next_p, next_q) = (p * z - before_p * (y * c), q * z - before_q * (y * c));
        (before_p, before_q, p, q) = (p, q, next_p, next_q);
        if q != 0.0 {
            let next = p / q;
            let change = ((ratio - next) / next).abs();
            ratio = next;
            if change <= precision {
                break;
            }
        }
        if p.abs() > BIG {
            (before_p, before_q, p, q) = (before_p / BIG, before_q / BIG, p / BIG, q / BIG);
        }
    }
    ratio * gamma_term(a, x)
}

/// The lower regularised incomplete gamma function.
pub(super) fn igamma(a: f64, x: f64, precision: f64) -> f64 {
    if x < 0.0 || a <= 0.0 || a.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 || a.is_infinite() {
        return if x.is_infinite() { f64::NAN } else { 0.0 };
    }
    if x.is_infinite() {
        return 1.0;
    }
    if x > 1.0 && x > a { 1.0 - upper_fraction(a, x, precision) } else { lower_series(a, x, precision) }
}

/// The upper regularised incomplete gamma function.
pub(super) fn igammac(a: f64, x: f64, precision: f64) -> f64 {
    if x < 0.0 || a <= 0.0 || a.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 || a.is_infinite() {
        return if x.is_infinite() { f64::NAN } else { 1.0 };
    }
    if x.is_infinite() {
        return 0.0;
    }
    match () {
        // What is left of 1 may be little.
        () if x < 1.0 => 1.0 - lower_series(a, x, DOUBLE),
        () if x < a => 1.0 - lower_series(a, x, precision),
        () => upper_fraction(a, x, precision),
    }
}

/// The derivative by `a` of the power series' sum, for `x` that is not much greater than `a`: that of `P(a, x)` divided by
/// `x^a e^-x / Γ(a)`.
fn slope_of_series(a: f64, x: f64, precision: f64) -> f64 {
    let (mut divisor, mut term, mut sum, mut term_slope, mut sum_slope) = (a, 1.0, 1.0, 0.0, 0.0);
    for _ in 0..MOST_TERMS {
        divisor += 1.0;
        term_slope = (term_slope - term / divisor) * (x / divisor);
        term *= x / divisor;
        sum += term;
        sum_slope += term_slope;
        if term <= precision * sum && term_slope.abs() <= precision * sum_slope.abs() {
            break;
        }
    }
    (sum * (x.ln() - digamma(a + 1.0)) + sum_slope) / a
}

/// The derivative by `a` of the continued fraction, for `x` greater than `a` and 1: that of `Q(a, x)` divided by
/// `x^a e^-x / Γ(a)`.
fn slope_of_fraction(a: f64, x: f64, precision: f64) -> f64 {
    const BIG: f64 = 4_503_599_627_370_496.0;
    let (mut y, mut z, mut c) = (1.0 - a, x + 1.0 - a + 1.0, 0.0);
    // Numerators and denominators, each before the derivative of each.
    let (mut before_p, mut before_q, mut p, mut q) = ([1.0, 0.0], [x, 0.0], [x + 1.0, 0.0], [z * x, -x]);
    let slope_of = |p: [f64; 2], q: [f64; 2]| [p[0] / q[0], (p[1] - p[0] / q[0] * q[1]) / q[0]];
    let mut ratio = slope_of(p, q);
    for _ in 0..MOST_TERMS {
        c += 1.0;
        y += 1.0;
        z += 2.0;
        let next = |now: [f64; 2], before: [f64; 2]| {
            [now[0] * z - before[0] * (y * c), now[1] * z - now[0] - before[1] * (y * c) + before[0] * c]
        };
        let (next_p, next_q) = (next(p, before_p), next(q, before_q));
        (before_p, before_q, p, q) = (p, q, next_p, next_q);
        if q[0] != 0.0 {
            let next = slope_of(p, q);
            let change = (ratio[1] - next[1]).abs();
            ratio = next;
            if change <= precision * next[1].abs().max(1e-3) {
                break;
            }
        }
        if p[0].abs() > BIG {
            [before_p, before_q, p, q] = [before_p, before_q, p, q].map(|pair| pair.map(|part| part / BIG));
        }
    }
    ratio[1] + ratio[0] * (x.ln() - digamma(a))
}

/// Whether both are where the incomplete gamma functions are defined.
fn is_gamma(a: f64, x: f64) -> bool {
    x >= 0.0 && a > 0.0
}

/// The derivative of the lower regularised incomplete gamma function by `a`.
pub(super) fn igamma_slope(a: f64, x: f64, precision: f64) -> f64 {
    match () {
        () if !is_gamma(a, x) => f64::NAN,
        () if x == 0.0 => 0.0,
        () if x > 1.0 && x > a => -slope_of_fraction(a, x, precision) * gamma_term(a, x),
        () => slope_of_series(a, x, precision) * gamma_term(a, x),
    }
}

/// How a sample `x` changes with `a`, so that `P(a, x)` does not: the quotient of the derivatives of `P`.
pub(super) fn gamma_sample_slope(a: f64, x: f64, precision: f64) -> f64 {
    match () {
        () if !is_gamma(a, x) => f64::NAN,
        () if x == 0.0 => 0.0,
        () if x > 1.0 && x > a => x * slope_of_fraction(a, x, precision),
        () => -x * slope_of_series(a, x, precision),
    }
}

/// The Hurwitz zeta function.
pub(super) fn zeta(x: f64, q: f64, precision: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x < 1.0 || x.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return if x == x.floor() && x % 2.0 == 0.0 { f64::INFINITY } else { f64::NAN };
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    if q.is_infinite() {
        return 0.0;
    }
    let (mut sum, mut a, mut last) = (q.powf(-x), q, 0.0);
    let mut terms = 0;
    // Far below zero there are more terms than anyone would wait for.
    let (first_terms, enough) = if precision > DOUBLE { (4, 4.0) } else { (9, 9.0) };
    while terms < first_terms || (a <= enough && terms < 1_000_000) {
        terms += 1;
        a += 1.0;
        last = a.powf(-x);
        sum += last;
        if last.abs() < precision * sum.abs() {
            return sum;
        }
    }
    sum += last * a / (x - 1.0);
    let inverse = 1.0 / a;
    sum -= 0.5 * last;
    let (mut factor, mut k) = (1.0, 0.0);
    for divisor in [
        12.0,
        -720.0,
        30240.0,
        -1_209_600.0,
        47_900_160.0,
        -1.892_437_580_318_379_3e9,
        7.472_424_96e10,
        -2.950_130_727_918_164e12,
        1.164_678_281_435_006_7e14,
        -4.597_978_722_407_473e15,
        1.815_210_540_194_354_7e17,
        -7.166_165_256_175_667e18,
    ] {
        factor *= x + k;
        last *= inverse;
        let term = factor * last / divisor;
        sum += term;
        if term.abs() < precision * sum.abs() {
            break;
        }
        k += 1.0;
        factor *= x + k;
        last *= inverse;
        k += 1.0;
    }
    sum
}

/// The derivative of [`digamma`] of order `n`.
pub(super) fn polygamma(n: f64, x: f64, precision: f64) -> f64 {
    if n < 0.0 || n != n.floor() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let size = libm::lgamma(n + 1.0).exp() * zeta(n + 1.0, x, precision);
    if n % 2.0 == 0.0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found} instead of {expected}");
    }

    #[test]
    fn known_values() {
        close(digamma(1.0), -0.577_215_664_901_532_9);
        close(digamma(-0.5), 0.036_489_973_978_576_52);
        close(zeta(2.0, 1.0, DOUBLE), PI * PI / 6.0);
        close(polygamma(1.0, 1.0, DOUBLE), PI * PI / 6.0);
        close(igamma(1.0, 2.0, DOUBLE), 1.0 - (-2f64).exp());
        close(igammac(0.5, 4.0, DOUBLE), 0.004_677_734_981_063_127);
        close(igamma(3.0, 0.5, DOUBLE) + igammac(3.0, 0.5, DOUBLE), 1.0);
        assert_eq!(zeta(2.0, -3.0, DOUBLE), f64::INFINITY);
        assert!(zeta(2.5, -3.5, DOUBLE).is_nan());
    }
}
