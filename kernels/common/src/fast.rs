//! Functions of `f32` without branches, which the compiler turns into vector code. The coefficients are those of
//! Cephes and, for the error function, of Eigen; the tests state how accurate each is.

/// Adding this to a number of moderate size rounds it to a whole one, which then stands in the low bits.
const ROUNDER: f32 = 12_582_912.0;
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Below this a function with `f(x) ~ x` at 0 is `x`.
const TINY: f32 = 1e-8;
/// From here on the hyperbolic tangent is 1.
const TANH_BOUND: f32 = 9.02;
/// π/2 in parts of 12 bits, the last of 24.
const QUARTER: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_6e-8, 2.563_344e-12];

/// `2^n` for `n` from −126 to 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23) as u32)
}

/// The polynomial with these coefficients, the highest first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    coefficients.into_iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// `n` and `x - n * ln 2`, where `n` is a whole number and the rest is small.
#[inline(always)]
fn reduced(x: f32) -> (i32, f32) {
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let (n, whole) = (shifted.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32, shifted - ROUNDER);
    (n, x - whole * LN_2_HIGH - whole * LN_2_LOW)
}

/// `exp(r) - 1` for what [`reduced`] leaves.
#[inline(always)]
fn exp_m1_reduced(r: f32) -> f32 {
    let p =
        polynomial(r, [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.000_000_1e-1]);
    p * (r * r) + r
}

/// Between the bounds, or NaN.
#[inline(always)]
fn bounded(x: f32, low: f32, high: f32) -> f32 {
    // A comparison with NaN is false, and so is each of these: a vector instruction each.
    let x = if high < x { high } else { x };
    if low > x { low } else { x }
}

/// `e` to the power of `x`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (n, r) = reduced(bounded(x, -104.0, 89.0));
    // In two steps, so that the result may overflow or be subnormal.
    let half = n >> 1;
    (exp_m1_reduced(r) + 1.0) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// `exp(x) - 1`, which keeps its precision near 0.
#[inline(always)]
pub fn exp_m1(x: f32) -> f32 {
    let (n, r) = reduced(bounded(x, -20.0, 89.0));
    // Half the result, which does not overflow.
    let half = power_of_two(n.wrapping_sub(1));
    let result = (exp_m1_reduced(r) * half + (half - 0.5)) * 2.0;
    if x.abs() < TINY { x } else { result }
}

/// The exponent of `x`, and the mantissa from sqrt(1/2) to sqrt(2).
#[inline(always)]
fn split(x: f32) -> (i32, f32) {
    let bits = x.to_bits() as i32;
    let offset = bits.wrapping_sub(0x3f35_04f3);
    (offset >> 23, f32::from_bits((bits.wrapping_sub(offset & -0x80_0000)) as u32))
}

/// `ln(1 + m) + exponent * ln(2)` for `1 + m` from sqrt(1/2) to sqrt(2).
#[inline(always)]
fn ln_of_parts(m: f32, exponent: f32) -> f32 {
    let z = m * m;
    let p = polynomial(
        m,
        [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_84e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_7e-1,
            2.000_071_4e-1,
            -2.499_999_4e-1,
            3.333_333_1e-1,
        ],
    );
    let tail = m * z * p + exponent * LN_2_LOW - 0.5 * z;
    m + tail + exponent * LN_2_HIGH
}

/// The logarithm of `x`, which is `log` if `x` is positive and finite.
#[inline(always)]
fn ln_of_any(x: f32, log: f32) -> f32 {
    let log = if x < f32::INFINITY { log } else { x };
    let other = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    if x > 0.0 { log } else { other }
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let (exponent, mantissa) = split(if subnormal { x * 8_388_608.0 } else { x });
    ln_of_any(x, ln_of_parts(mantissa - 1.0, exponent as f32 - if subnormal { 23.0 } else { 0.0 }))
}

/// `ln(1 + x)`, which keeps its precision near 0.
#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let sum = 1.0 + x;
    // What the sum lost.
    let rest = if x < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
    let (exponent, mantissa) = split(sum);
    let m = mantissa - 1.0 + rest * power_of_two(exponent.min(126).wrapping_neg());
    let log = ln_of_any(sum, ln_of_parts(m, exponent as f32));
    if x.abs() < TINY { x } else { log }
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// The hyperbolic tangent: a quotient of polynomials, with a relative error of 1e-8 before its coefficients' and steps' rounding.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let x = bounded(x, -TANH_BOUND, TANH_BOUND);
    let z = x * x;
    let above = polynomial(z, [1.333_177_8e-8, 2.059_767_2e-5, 3.495_141_4e-3, 1.338_074e-1, 1.0]);
    let below = polynomial(z, [7.768_659e-7, 3.284_725_5e-4, 2.587_556e-2, 4.671_406_1e-1, 1.0]);
    // Rounding may take it past 1.
    bounded(x * above / below, -1.0, 1.0)
}

/// The error function.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let bounded = bounded(x, -4.0, 4.0);
    let z = bounded * bounded;
    let above = polynomial(
        z,
        [
            -2.726_142_3e-10,
            2.770_681_4e-8,
            -2.101_024e-6,
            -5.692_506_4e-5,
            -7.349_906_3e-4,
            -2.954_6e-3,
            -1.609_603_3e-2,
        ],
    );
    let below = polynomial(z, [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2]);
    let quotient = bounded * (above / below);
    // From here on the answer is nearer to 1 than to its neighbour.
    if x.abs() >= 3.92 { 1f32.copysign(x) } else { quotient }
}

/// The largest argument of [`sin`] and [`cos`].
pub const MOST_TURNED: f32 = 6_400.0;

/// `|x|` in quarter turns, and the rest, at most an eighth turn.
#[inline(always)]
fn quarters(x: f32) -> (i32, f32) {
    let x = x.abs();
    let shifted = x * std::f32::consts::FRAC_2_PI + ROUNDER;
    let (n, whole) = (shifted.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32, shifted - ROUNDER);
    // Products of two numbers of 12 bits are exact.
    (n, QUARTER.into_iter().fold(x, |rest, part| rest - whole * part))
}

/// The sine of `n` quarter turns and `r`.
#[inline(always)]
fn sin_of_parts(n: i32, r: f32) -> f32 {
    let z = r * r;
    let sin = polynomial(z, [-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1]) * z * r + r;
    let cos = polynomial(z, [2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2]) * (z * z) - 0.5 * z + 1.0;
    let size = if n & 1 == 0 { sin } else { cos };
    f32::from_bits(size.to_bits() ^ (n as u32 & 2) << 30)
}

/// The sine of at most [`MOST_TURNED`].
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let (n, r) = quarters(x);
    f32::from_bits(sin_of_parts(n, r).to_bits() ^ x.to_bits() & 1 << 31)
}

/// The cosine of at most [`MOST_TURNED`].
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    let (n, r) = quarters(x);
    sin_of_parts(n.wrapping_add(1), r)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error over floats of every size, in units in the last place of the right answer.
    fn worst(function: fn(f32) -> f32, right: fn(f64) -> f64) -> (f64, f32) {
        let mut worst = (0.0, 0.0);
        for bits in (0..u32::MAX).step_by(4999) {
            let x = f32::from_bits(bits);
            let (got, exact) = (function(x), right(f64::from(x)));
            let nearest = exact as f32;
            if nearest.is_nan() || nearest.is_infinite() {
                assert!(got == nearest || got.is_nan() && nearest.is_nan(), "{x:e} gives {got:e}, not {nearest:e}");
                continue;
            }
            let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
            let error = (f64::from(got) - exact).abs() / unit;
            if error.is_nan() || error > worst.0 {
                worst = (error, x);
            }
        }
        worst
    }

    /// The argument if [`sin`] and [`cos`] know it.
    fn turned(x: f32) -> f32 {
        if x.abs() <= MOST_TURNED { x } else { 0.0 }
    }

    #[test]
    fn errors_are_a_few_units() {
        for (name, limit, (error, x)) in [
            ("exp", 3.0, worst(exp, f64::exp)),
            ("ln", 3.0, worst(ln, f64::ln)),
            ("sigmoid", 4.0, worst(sigmoid, |x| 1.0 / (1.0 + (-x).exp()))),
            ("tanh", 6.0, worst(tanh, f64::tanh)),
            ("erf", 8.0, worst(erf, libm::erf)),
            ("exp_m1", 3.0, worst(exp_m1, f64::exp_m1)),
            ("ln_1p", 3.0, worst(ln_1p, f64::ln_1p)),
            ("sin", 3.0, worst(|x| sin(turned(x)), |x| f64::from(turned(x as f32)).sin())),
            ("cos", 3.0, worst(|x| cos(turned(x)), |x| f64::from(turned(x as f32)).cos())),
        ] {
            assert!(error <= limit, "{name}({x:e}) is off by {error} units");
        }
    }

    #[test]
    fn edges() {
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(f32::from_bits(1)), -103.278_93);
        assert_eq!((tanh(40.0), tanh(-0.0).to_bits()), (1.0, (-0f32).to_bits()));
        assert_eq!((erf(9.0), erf(-9.0)), (1.0, -1.0));
        assert_eq!((exp_m1(f32::NEG_INFINITY), exp_m1(f32::INFINITY)), (-1.0, f32::INFINITY));
        assert_eq!((ln_1p(-1.0), ln_1p(f32::INFINITY)), (f32::NEG_INFINITY, f32::INFINITY));
        assert!(ln_1p(-1.5).is_nan());
        for function in [exp_m1, ln_1p, tanh, erf, sin] {
            assert_eq!(function(-0.0).to_bits(), (-0f32).to_bits());
        }
        for function in [exp, exp_m1, ln, ln_1p, sigmoid, tanh, erf, sin, cos] {
            assert!(function(f32::NAN).is_nan());
        }
    }
}
