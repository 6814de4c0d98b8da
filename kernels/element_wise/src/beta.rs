//! The incomplete beta function, in double precision.
//!
//! Series, fractions and where which of them is taken are those that the Cephes library published (`incbet.c`); TensorFlow's are
//! the same.

use kernlink::dtype::Number;
use kernlink::kernel::KernelContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::Betainc;

use super::gamma::{DOUBLE, SINGLE};

/// The most terms of the fraction, as many as TensorFlow takes.
const MOST_TERMS: usize = 300;

/// The logarithm of `Γ(a + b) / (Γ(a) Γ(b))`.
fn ln_gammas(a: f64, b: f64) -> f64 {
    libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
}

/// The power series, where `b x` is at most 1 and `x` not near 1.
fn series(a: f64, b: f64, x: f64, precision: f64) -> f64 {
    let inverse = 1.0 / a;
    let (mut product, mut sum, mut n) = ((1.0 - b) * x, 0.0, 2.0);
    let first = product / (a + 1.0);
    let mut term = first;
    while term.abs() > precision * inverse {
        product *= (n - b) * x / n;
        term = product / (a + n);
        sum += term;
        n += 1.0;
    }
    (ln_gammas(a, b) + a * x.ln() + (sum + first + inverse).ln()).exp()
}

/// The continued fraction in `x`, or in `x / (1 - x)` if `is_ratio`.
fn fraction(a: f64, b: f64, x: f64, is_ratio: bool, precision: f64) -> f64 {
    const BIG: f64 = 4_503_599_627_370_496.0;
    let (x, step) = if is_ratio { (x / (1.0 - x), -1.0) } else { (x, 1.0) };
    let (mut rising, mut falling) = if is_ratio { (b - 1.0, a + b) } else { (a + b, b - 1.0) };
    // Numerators and denominators, the one before and the last.
    let (mut before, mut last) = ([0.0, 1.0], [1.0, 1.0]);
    let mut ratio = 1.0;
    for n in 0..MOST_TERMS {
        let n = n as f64;
        let even = a + 2.0 * n;
        let odd_factor = -(x * (a + n) * rising) / (even * (even + 1.0));
        let even_factor = x * (n + 1.0) * falling / ((even + 1.0) * (even + 2.0));
        for factor in [odd_factor, even_factor] {
            let next = [last[0] + before[0] * factor, last[1] + before[1] * factor];
            (before, last) = (last, next);
        }
        if last[1] != 0.0 {
            let next = last[0] / last[1];
            let change = (ratio - next).abs();
            ratio = next;
            if change < precision * next.abs() {
                break;
            }
        }
        rising += step;
        falling -= step;
        let scale = match () {
            () if last[0].abs() + last[1].abs() > BIG => 1.0 / BIG,
            () if last[0].abs() < 1.0 / BIG || last[1].abs() < 1.0 / BIG => BIG,
            () => continue,
        };
        [before, last] = [before, last].map(|pair| pair.map(|part| part * scale));
    }
    ratio
}

/// The regularised incomplete beta function, that part of its integral which lies below `x`.
fn beta(a: f64, b: f64, x: f64, precision: f64) -> f64 {
    match () {
        () if a <= 0.0 || b <= 0.0 => return f64::NAN,
        () if x == 0.0 || x == 1.0 => return x,
        () if !(x > 0.0 && x < 1.0 && (a + b).is_finite()) => return f64::NAN,
        () => {}
    }
    let is_short = |b: f64, x: f64| b * x <= 1.0 && x <= 0.95;
    if is_short(b, x) {
        return series(a, b, x, precision);
    }
    // Beyond the mean it is what is left of 1 that is computed.
    let (is_beyond, rest) = (x > a / (a + b), 1.0 - x);
    let (a, b, x, rest) = if is_beyond { (b, a, rest, x) } else { (a, b, x, rest) };
    let result = if is_beyond && is_short(b, x) {
        series(a, b, x, precision)
    } else {
        let is_ratio = x * (a + b - 2.0) >= a - 1.0;
        let fraction = fraction(a, b, x, is_ratio, 3.0 * precision);
        let fraction = if is_ratio { fraction / rest } else { fraction };
        (a * x.ln() + b * rest.ln() + ln_gammas(a, b) + (fraction / a).ln()).exp()
    };
    if is_beyond { 1.0 - result.max(f64::EPSILON / 2.0) } else { result }
}

/// Each argument is a scalar or has the shape of the result.
#[register_kernel(device = Cpu, T = [f32, f64])]
fn betainc<T: Number>(ctx: &mut KernelContext<'_, Betainc>) -> Result<()> {
    let arguments = [Betainc::A, Betainc::B, Betainc::X];
    let inputs = [ctx.input(arguments[0])?, ctx.input(arguments[1])?, ctx.input(arguments[2])?];
    let mut shape = inputs[0].shape();
    for (index, input) in inputs.iter().enumerate().skip(1) {
        if shape.rank() > 0 && input.shape().rank() > 0 {
            let names = ["a", "b", "x"];
            ensure!(
                shape == input.shape(),
                InvalidArgument,
                "{} has shape {}, but what comes before it {shape}: a, b and x must have one shape or be scalars",
                names[index],
                input.shape()
            );
        } else if input.shape().rank() > 0 {
            shape = input.shape();
        }
    }
    let mut output = ctx.allocate_output(Betainc::Z, shape)?;
    let elements = [inputs[0].as_slice::<T>()?, inputs[1].as_slice::<T>()?, inputs[2].as_slice::<T>()?];
    let strides = elements.map(|elements| usize::from(elements.len() > 1));
    let precision = if size_of::<T>() < size_of::<f64>() { SINGLE } else { DOUBLE };
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, 1, 400, |first, piece| {
        for (index, out) in (first..).zip(piece) {
            let [a, b, x] = [0, 1, 2].map(|k| elements[k][index * strides[k]].as_f64());
            *out = T::from_f64(beta(a, b, x, precision));
        }
    });
    ctx.set_output(Betainc::Z, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Where an argument is a small whole number, it is a polynomial.
        for step in 1..100 {
            let x = f64::from(step) / 100.0;
            for (a, b, expected) in [
                (1.0, 1.0, x),
                (3.0, 1.0, x * x * x),
                (1.0, 4.0, 1.0 - (1.0 - x).powi(4)),
                (2.0, 2.0, x * x * (3.0 - 2.0 * x)),
                (3.0, 2.0, x * x * x * (4.0 - 3.0 * x)),
            ] {
                let found = beta(a, b, x, DOUBLE);
                assert!((found - expected).abs() <= 4e-15 * expected, "{a}, {b}, {x}: {found}, not {expected}");
            }
            for (a, b) in [(0.3, 40.0), (70.0, 0.9), (55.0, 80.0), (0.1, 0.2)] {
                let sum = beta(a, b, x, DOUBLE) + beta(b, a, 1.0 - x, DOUBLE);
                assert!((sum - 1.0).abs() < 1e-13, "{a}, {b}, {x}: {sum}");
            }
        }
        assert!(
            [(-1.0, 1.0, 0.5), (1.0, 0.0, 0.5), (1.0, 1.0, 1.5), (1.0, 1.0, f64::NAN), (f64::NAN, 1.0, 0.5)]
                .iter()
                .all(|&(a, b, x)| beta(a, b, x, DOUBLE).is_nan())
        );
        assert_eq!([beta(2.0, 3.0, 0.0, DOUBLE), beta(2.0, 3.0, 1.0, DOUBLE)], [0.0, 1.0]);
    }
}
