//! Functions of `f32` without branches, which the compiler turns into vector code. The coefficients are those of
//! Cephes and, for the error function, of Eigen; the tests state how accurate each is.

/// Adding this to a number of moderate size rounds it to a whole one, which then stands in the low bits.
const ROUNDER: f32 = 12_582_912.0;
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

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

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let bounded = if x < 89.0 { x } else { 89.0 };
    let bounded = if bounded > -104.0 { bounded } else { -104.0 };
    let shifted = bounded * std::f32::consts::LOG2_E + ROUNDER;
    let (n, whole) = (shifted.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32, shifted - ROUNDER);
    let r = bounded - whole * LN_2_HIGH - whole * LN_2_LOW;
    let p =
        polynomial(r, [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.000_000_1e-1]);
    // In two steps, so that the result may overflow or be subnormal.
    let half = n >> 1;
    let power = (p * (r * r) + r + 1.0) * power_of_two(half) * power_of_two(n.wrapping_sub(half));
    if x.is_nan() { x } else { power }
}

#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    let bits = scaled.to_bits() as i32;
    // The mantissa from sqrt(1/2) to sqrt(2): where it begins with a set bit it is halved.
    let offset = bits.wrapping_sub(0x3f35_04f3);
    let exponent = (offset >> 23) as f32 - if subnormal { 23.0 } else { 0.0 };
    let m = f32::from_bits((bits.wrapping_sub(offset & -0x80_0000)) as u32) - 1.0;
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
    let log = m + tail + exponent * LN_2_HIGH;
    let log = if x == f32::INFINITY || x.is_nan() { x } else { log };
    let log = if x == 0.0 { f32::NEG_INFINITY } else { log };
    if x < 0.0 { f32::NAN } else { log }
}

#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let z = x * x;
    let p = polynomial(z, [-5.704_988_7e-3, 2.063_908_9e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328_2e-1]);
    let small = p * z * size + size;
    let large = 1.0 - 2.0 / (exp(size + size) + 1.0);
    (if size < 0.625 { small } else { large }).copysign(x)
}

#[inline(always)]
pub(super) fn erf(x: f32) -> f32 {
    let bounded = if x < 4.0 { x } else { 4.0 };
    let bounded = if bounded > -4.0 { bounded } else { -4.0 };
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
    let answer = if x.abs() >= 3.92 { 1f32.copysign(x) } else { quotient };
    if x.is_nan() { x } else { answer }
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

    #[test]
    fn errors_are_a_few_units() {
        for (name, limit, (error, x)) in [
            ("exp", 3.0, worst(exp, f64::exp)),
            ("ln", 3.0, worst(ln, f64::ln)),
            ("sigmoid", 4.0, worst(sigmoid, |x| 1.0 / (1.0 + (-x).exp()))),
            ("tanh", 3.0, worst(tanh, f64::tanh)),
            ("erf", 8.0, worst(erf, libm::erf)),
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
        assert!(
            [exp(f32::NAN), ln(f32::NAN), tanh(f32::NAN), erf(f32::NAN), sigmoid(f32::NAN)].iter().all(|x| x.is_nan())
        );
    }
}
