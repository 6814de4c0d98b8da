//! Quantiles of the normal distribution, and the inverse of the error function, which is one of them.
//!
//! The fractions and coefficients are those that the Cephes library published; TensorFlow's are the same.

use kernlink_kernels_common::fast::{self, Real, monic, polynomial};

/// From this probability to what it lacks to 1 lies the middle.
const TAIL: f64 = 0.135_335_283_236_612_7;

/// A probability: how far it is beyond a half, and the lesser of itself and what it lacks to 1, both without the rounding that
/// computing one from the other brings.
#[derive(Clone, Copy)]
struct Probability<R> {
    beyond_half: R,
    tail: R,
}

impl<R: Real> Probability<R> {
    #[inline(always)]
    fn new(p: R) -> Self {
        let rest = R::ONE - p;
        Probability { beyond_half: p - R::of(0.5), tail: if rest < p { rest } else { p } }
    }

    /// `(1 + x) / 2`
    #[inline(always)]
    fn of_both_sides(x: R) -> Self {
        Probability { beyond_half: x * R::of(0.5), tail: (R::ONE - x.abs()) * R::of(0.5) }
    }
}

/// Whether [`ndtri_middle`] knows the probability.
#[inline(always)]
pub(super) fn is_middle<R: Real>(p: R) -> bool {
    (p > R::of(TAIL)) & (p < R::of(1.0 - TAIL))
}

/// Whether [`erf_inv_middle`] knows the argument.
#[inline(always)]
pub(super) fn is_near<R: Real>(x: R) -> bool {
    x.abs() < R::of(1.0 - 2.0 * TAIL)
}

/// The value below which a normally distributed number lies with probability `p`.
#[inline(always)]
pub(super) fn ndtri<R: Real>(p: R) -> R {
    quantile(Probability::new(p))
}

/// [`ndtri`] where [`is_middle`] holds.
#[inline(always)]
pub(super) fn ndtri_middle<R: Real>(p: R) -> R {
    middle(p - R::of(0.5))
}

/// The inverse of the error function.
#[inline(always)]
pub(super) fn erf_inv<R: Real>(x: R) -> R {
    quantile(Probability::of_both_sides(x)) * R::of(std::f64::consts::FRAC_1_SQRT_2)
}

/// [`erf_inv`] where [`is_near`] holds.
#[inline(always)]
pub(super) fn erf_inv_middle<R: Real>(x: R) -> R {
    middle(x * R::of(0.5)) * R::of(std::f64::consts::FRAC_1_SQRT_2)
}

#[inline(always)]
fn quantile<R: Real>(p: Probability<R>) -> R {
    let outside = outside(p);
    let middle = middle(p.beyond_half);
    let result = if p.tail > R::of(TAIL) { middle } else { outside };
    let result = if p.tail == R::ZERO { R::INFINITY.copysign(p.beyond_half) } else { result };
    if p.tail >= R::ZERO { result } else { R::NAN }
}

/// The quantile of a probability in the middle, given how far it is beyond a half.
#[inline(always)]
fn middle<R: Real>(y: R) -> R {
    let square = y * y;
    let ratio = polynomial(
        square,
        [
            -5.996_335_010_141_079e1,
            9.800_107_541_859_997e1,
            -5.667_628_574_690_703e1,
            1.393_126_093_872_796_8e1,
            -1.239_165_838_673_812_6,
        ],
    ) / monic(
        square,
        [
            1.954_488_583_381_417_6,
            4.676_279_128_988_815,
            8.636_024_213_908_905e1,
            -2.254_626_878_541_193_7e2,
            2.002_602_123_800_606_6e2,
            -8.203_722_561_683_334e1,
            1.590_562_251_262_117e1,
            -1.183_316_211_213_3,
        ],
    );
    (y + y * (square * ratio)) * R::of(2.506_628_274_631_000_7)
}

/// The quantile of a probability outside of the middle.
#[inline(always)]
fn outside<R: Real>(p: Probability<R>) -> R {
    let x = (R::of(-2.0) * fast::ln(p.tail)).sqrt();
    let first = x - fast::ln(x) / x;
    let z = R::ONE / x;
    let near = z * polynomial(
        z,
        [
            4.055_448_923_059_624,
            3.152_510_945_998_939e1,
            5.716_281_922_464_213e1,
            4.408_050_738_932_008e1,
            1.468_495_619_288_580_2e1,
            2.186_633_068_507_902_6,
            -1.402_560_791_713_545e-1,
            -3.504_246_268_278_482e-2,
            -8.574_567_851_546_854e-4,
        ],
    ) / monic(
        z,
        [
            1.577_998_832_564_667_5e1,
            4.539_076_351_288_792e1,
            4.131_720_382_546_72e1,
            1.504_253_856_929_075e1,
            2.504_649_462_083_094,
            -1.421_829_228_547_877_9e-1,
            -3.808_064_076_915_783e-2,
            -9.332_594_808_954_574e-4,
        ],
    );
    let far = z * polynomial(
        z,
        [
            3.237_748_917_769_460_3,
            6.915_228_890_689_842,
            3.938_810_252_924_744_3,
            1.333_034_608_158_075_5,
            2.014_853_895_491_790_8e-1,
            1.237_166_348_178_200_2e-2,
            3.015_815_535_082_354e-4,
            2.658_069_746_867_375_5e-6,
            6.239_745_391_849_833e-9,
        ],
    ) / monic(
        z,
        [
            6.024_270_393_647_42,
            3.679_835_638_561_608_6,
            1.377_020_994_890_813_3,
            2.162_369_935_944_966_4e-1,
            1.342_040_060_885_431_9e-2,
            3.280_144_646_821_277_4e-4,
            2.892_478_647_453_807e-6,
            6.790_194_080_099_813e-9,
        ],
    );
    let second = if x < R::of(8.0) { near } else { far };
    (first - second).copysign(p.beyond_half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // The exact ones are of `statistics.NormalDist().inv_cdf` in Python.
        for (p, expected) in [(0.975, 1.959_963_984_540_054), (0.5, 0.0), (1e-10, -6.361_340_902_404_056)] {
            assert!((ndtri(p) - expected).abs() <= 1e-14 * expected.abs(), "{p}: {}", ndtri(p));
            assert!((f64::from(ndtri(p as f32)) - expected).abs() <= 2e-6 * expected.abs(), "{p}");
        }
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(ndtri(p).is_nan() && ndtri(p as f32).is_nan(), "{p}");
        }
        assert_eq!(
            [ndtri(0.0), ndtri(1.0f64), erf_inv(-1.0), erf_inv(1.0)].map(|x| x * 0.5),
            [f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]
        );
    }

    #[test]
    fn floats_are_as_exact_as_they_can_be() {
        for step in 1..4000 {
            let x = f64::from(step) / 4000.0;
            for x in [x, -x, x * 1e-6, 1.0 - x * 1e-3] {
                let x = x as f32;
                let expected = erf_inv(f64::from(x));
                let found = f64::from(erf_inv(x));
                assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{x}: {found}, not {expected}");
                let p = x.abs();
                let (expected, found) = (ndtri(f64::from(p)), f64::from(ndtri(p)));
                assert!((found - expected).abs() <= 2e-6 * expected.abs().max(0.1), "{p}: {found}, not {expected}");
            }
        }
    }
}
