//! Bessel functions of the first and second kind, J and Y.

use kernlink_kernels_common::fast::{self, Real, monic, polynomial};

/// 2/π
pub(super) const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// √(2/π)
const SQRT_TWO_OVER_PI: f64 = 0.797_884_560_802_865_4;

/// The Bessel function of the first kind and order 0.
///
/// `MODERATE` says that no argument is beyond [`Real::MOST_TURNED`], here and below.
#[inline(always)]
pub(crate) fn j0<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let x = x.abs();
    let far = R::far0::<MODERATE>(x).0;
    if x <= R::NEAR { R::j0_near(x) } else { far }
}

/// The Bessel function of the first kind and order 1.
#[inline(always)]
pub(crate) fn j1<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let size = x.abs();
    let far = R::far1::<MODERATE>(size).0;
    let far = if x < R::ZERO { -far } else { far };
    if size <= R::NEAR { R::j1_near(x) } else { far }
}

/// The Bessel function of the second kind and order 0; -∞ from 0 down.
#[inline(always)]
pub(crate) fn y0<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let near = R::of(TWO_OVER_PI) * fast::ln(x) * R::j0_near(x) + R::y0_rest(x * x);
    let near = if x <= R::ZERO { -R::INFINITY } else { near };
    let far = R::far0::<MODERATE>(x).1;
    if x <= R::NEAR { near } else { far }
}

/// The Bessel function of the second kind and order 1; -∞ from 0 down.
#[inline(always)]
pub(crate) fn y1<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let pole = R::j1_near(x) * fast::ln(x) - R::ONE / x;
    let near = R::y1_rest(x * x) * x + R::of(TWO_OVER_PI) * pole;
    let near = if x <= R::ZERO { -R::INFINITY } else { near };
    let far = R::far1::<MODERATE>(x).1;
    if x <= R::NEAR { near } else { far }
}

/// The approximations that differ between `f32` and `f64`.
pub(crate) trait Bessel: Real {
    /// Up to here functions of the first and second kind are polynomials or quotients of such, and logarithms.
    const NEAR: Self;

    /// The sine and cosine of an argument of any size.
    fn sin_cos_of_any(self) -> (Self, Self);
    /// The functions of order 0 of the first and second kind from [`NEAR`](Self::NEAR) on.
    fn far0<const MODERATE: bool>(x: Self) -> (Self, Self);
    /// The functions of order 1 of the first and second kind from [`NEAR`](Self::NEAR) on.
    fn far1<const MODERATE: bool>(x: Self) -> (Self, Self);
    /// The function of the first kind and order 0 up to [`NEAR`](Self::NEAR).
    fn j0_near(x: Self) -> Self;
    /// The function of the first kind and order 1 up to [`NEAR`](Self::NEAR).
    fn j1_near(x: Self) -> Self;
    /// What the function of the second kind and order 0 has beside `2/π ln(x) J0(x)`, of the square of `x`.
    fn y0_rest(square: Self) -> Self;
    /// What the function of the second kind and order 1 has beside `2/π (ln(x) J1(x) - 1/x)`, divided by `x`, of its square.
    fn y1_rest(square: Self) -> Self;
}

#[inline(always)]
fn sin_cos<R: Bessel, const MODERATE: bool>(x: R) -> (R, R) {
    if MODERATE || x.abs() <= R::MOST_TURNED { fast::sin_cos(x) } else { x.sin_cos_of_any() }
}

/// Modulus and phase as Cephes has them for floats: both kinds of the order whose phase lags by `lag`.
#[inline(always)]
fn by_phase<const MODERATE: bool>(x: f32, lag: f64, modulus: [f64; 8], phase: [f64; 8]) -> (f32, f32) {
    let q = 1.0 / x;
    let modulus = polynomial(q, modulus) / x.sqrt();
    let (sin, cos) = sin_cos::<f32, MODERATE>(q * polynomial(q * q, phase) - lag as f32 + x);
    (modulus * cos, modulus * sin)
}

/// Hankel's expansion for doubles, `p` and `q` its quotients: both kinds of the order whose phase lags by `lag`.
#[inline(always)]
fn by_expansion<const MODERATE: bool>(x: f64, lag: f64, p: f64, q: f64) -> (f64, f64) {
    let (sin, cos) = sin_cos::<f64, MODERATE>(x - lag);
    let (q, modulus) = (q * (5.0 / x), SQRT_TWO_OVER_PI / x.sqrt());
    ((p * cos - q * sin) * modulus, (p * sin + q * cos) * modulus)
}

/// How far the phase of order 0 lags, and that of order 1.
const LAGS: [f64; 2] = [std::f64::consts::FRAC_PI_4, 3.0 * std::f64::consts::FRAC_PI_4];

impl Bessel for f32 {
    const NEAR: f32 = 2.0;

    #[inline(always)]
    fn sin_cos_of_any(self) -> (f32, f32) {
        self.sin_cos()
    }

    #[inline(always)]
    fn far0<const MODERATE: bool>(x: f32) -> (f32, f32) {
        by_phase::<MODERATE>(
            x,
            LAGS[0],
            [
                -0.068_389_996_693_188_1,
                0.186_494_936_137_950_2,
                -0.214_500_748_034_673_9,
                0.119_754_936_947_354,
                -0.003_560_281_861_530_129,
                -0.049_693_826_552_966_2,
                -3.355_424_622_293_709e-6,
                0.797_884_571_762_144,
            ],
            [
                32.420_778_169_882_47,
                -36.305_926_305_184_34,
                17.562_214_821_090_99,
                -4.974_978_466_280_903,
                1.001_973_420_681_837,
                -0.193_990_694_179_130_8,
                0.064_905_987_926_546_66,
                -0.124_999_218_487_273_8,
            ],
        )
    }

    #[inline(always)]
    fn far1<const MODERATE: bool>(x: f32) -> (f32, f32) {
        by_phase::<MODERATE>(
            x,
            LAGS[1],
            [
                0.069_139_427_412_658_01,
                -0.228_480_150_005_335_9,
                0.313_823_845_549_969_7,
                -0.210_230_242_040_387_5,
                0.005_435_364_690_523_026,
                0.149_338_958_508_949_8,
                4.976_029_650_847_191e-6,
                0.797_884_545_307_384_8,
            ],
            [
                -44.970_141_419_195_56,
                50.734_656_540_893_19,
                -24.857_741_087_203_4,
                7.222_973_196_770_24,
                -1.544_842_782_180_211,
                0.350_378_769_165_333_4,
                -0.163_798_677_694_120_2,
                0.374_998_950_908_082_1,
            ],
        )
    }

    #[inline(always)]
    fn j0_near(x: f32) -> f32 {
        let z = x * x;
        let near = (z - 5.783_186)
            * polynomial(
                z,
                [
                    -6.068_350_350_393_235e-8,
                    6.388_945_720_783_375e-6,
                    -3.969_646_342_510_94e-4,
                    0.013_329_134_225_190_03,
                    -0.172_915_068_024_072_4,
                ],
            );
        if x.abs() < 1e-3 { 1.0 - 0.25 * z } else { near }
    }

    #[inline(always)]
    fn j1_near(x: f32) -> f32 {
        let z = x * x;
        (z - 14.681_971)
            * (x * polynomial(
                z,
                [
                    -4.878_788_132_172_128e-9,
                    6.009_061_827_883_699e-7,
                    -4.541_343_896_997_497e-5,
                    0.001_937_383_947_804_541,
                    -0.034_055_373_846_158_24,
                ],
            ))
    }

    #[inline(always)]
    fn y0_rest(square: f32) -> f32 {
        (square - 0.432_214_56)
            * polynomial(
                square,
                [
                    9.454_583_683_980_369e-8,
                    -9.413_212_653_797_057e-6,
                    5.344_486_707_214_273e-4,
                    -0.015_842_892_898_213_16,
                    0.170_758_464_373_356_8,
                ],
            )
    }

    #[inline(always)]
    fn y1_rest(square: f32) -> f32 {
        (square - 4.665_393_4)
            * polynomial(
                square,
                [
                    8.061_978_323_326_852e-9,
                    -9.496_460_629_917_016e-7,
                    6.719_543_806_674_249e-5,
                    -0.002_641_785_726_447_862,
                    0.042_023_699_465_000_99,
                ],
            )
    }
}

impl Bessel for f64 {
    const NEAR: f64 = 5.0;

    #[inline(always)]
    fn sin_cos_of_any(self) -> (f64, f64) {
        self.sin_cos()
    }

    #[inline(always)]
    fn far0<const MODERATE: bool>(x: f64) -> (f64, f64) {
        let s = 25.0 / (x * x);
        let p = polynomial(
            s,
            [
                7.969_367_292_973_471e-4,
                0.082_835_239_210_744_08,
                1.239_533_716_464_143,
                5.447_250_030_587_687,
                8.747_165_001_998_17,
                5.303_240_382_353_949,
                1.0,
            ],
        ) / polynomial(
            s,
            [
                9.244_088_105_588_637e-4,
                0.085_628_847_435_447_45,
                1.253_527_439_010_589_5,
                5.470_977_403_304_171,
                8.761_908_832_370_695,
                5.306_052_882_353_947,
                1.0,
            ],
        );
        let q = polynomial(
            s,
            [
                -0.011_366_383_889_846_916,
                -1.282_527_186_705_093_1,
                -19.553_954_425_773_597,
                -93.206_015_212_376_83,
                -177.681_167_980_488_06,
                -147.077_505_154_951_18,
                -51.410_532_676_659_93,
                -6.050_143_506_007_285,
            ],
        ) / monic(
            s,
            [
                64.317_825_611_817_8,
                856.430_025_976_980_6,
                3_882.401_836_054_016_3,
                7_240.467_741_956_525,
                5_930.727_011_873_169,
                2_062.093_316_603_278_3,
                242.005_740_240_291_4,
            ],
        );
        by_expansion::<MODERATE>(x, LAGS[0], p, q)
    }

    #[inline(always)]
    fn far1<const MODERATE: bool>(x: f64) -> (f64, f64) {
        let s = 25.0 / (x * x);
        let p = polynomial(
            s,
            [
                7.621_256_162_081_731e-4,
                0.073_139_705_694_091_76,
                1.127_196_081_296_849_3,
                5.112_079_511_468_076,
                8.424_045_901_417_724,
                5.214_515_986_823_615,
                1.0,
            ],
        ) / polynomial(
            s,
            [
                5.713_231_280_725_487e-4,
                0.068_845_590_875_449_54,
                1.105_142_326_340_617,
                5.073_863_861_286_015,
                8.399_855_543_276_042,
                5.209_828_486_823_619,
                1.0,
            ],
        );
        let q = polynomial(
            s,
            [
                0.051_086_259_475_017_66,
                4.982_138_729_512_334,
                75.823_828_413_254_53,
                366.779_609_360_150_8,
                710.856_304_998_926_1,
                597.489_612_400_613_6,
                211.688_757_100_572_13,
                25.207_020_585_802_372,
            ],
        ) / monic(
            s,
            [
                74.237_327_703_567_52,
                1_056.448_860_382_628_3,
                4_986.410_583_376_536,
                9_562.318_924_047_562,
                7_997.041_604_473_507,
                2_826.192_785_176_390_8,
                336.093_607_810_698_3,
            ],
        );
        by_expansion::<MODERATE>(x, LAGS[1], p, q)
    }

    #[inline(always)]
    fn j0_near(x: f64) -> f64 {
        let z = x * x;
        let near = (z - 5.783_185_962_946_785) * (z - 30.471_262_343_662_087);
        let near = near
            * (polynomial(
                z,
                [
                    -4.794_432_209_782_018e9,
                    1.956_174_919_465_565_7e12,
                    -2.492_483_443_609_677_2e14,
                    9.708_622_510_473_064e15,
                ],
            ) / monic(
                z,
                [
                    499.563_147_152_651,
                    1.737_854_016_763_747e5,
                    4.844_096_583_399_621e7,
                    1.118_555_370_453_568_3e10,
                    2.112_775_201_154_892e12,
                    3.105_182_298_574_225_6e14,
                    3.181_219_559_432_049_6e16,
                    1.710_862_940_810_431_5e18,
                ],
            ));
        if x.abs() < 1e-5 { 1.0 - 0.25 * z } else { near }
    }

    #[inline(always)]
    fn j1_near(x: f64) -> f64 {
        let z = x * x;
        let near = polynomial(
            z,
            [-8.999_712_257_055_594e8, 4.522_282_979_981_940_3e11, -7.274_942_452_218_183e13, 3.682_957_328_638_529e15],
        ) / monic(
            z,
            [
                620.836_478_118_054_3,
                2.569_872_567_577_488_4e5,
                8.351_467_914_319_493e7,
                2.215_115_954_797_925e10,
                4.749_141_220_799_914e12,
                7.843_696_078_762_359e14,
                8.952_223_361_846_274e16,
                5.322_786_203_326_801e18,
            ],
        );
        near * x * (z - 14.681_970_642_123_893) * (z - 49.218_456_321_694_6)
    }

    #[inline(always)]
    fn y0_rest(square: f64) -> f64 {
        polynomial(
            square,
            [
                15_592.436_785_523_574,
                -1.466_392_959_039_716e7,
                5.435_264_770_518_765e9,
                -9.821_360_657_179_115e11,
                8.759_063_943_953_67e13,
                -3.466_283_033_847_297e15,
                4.427_332_685_725_698_4e16,
                -1.849_508_004_369_866_8e16,
            ],
        ) / monic(
            square,
            [
                1_041.283_536_642_598_4,
                6.261_073_301_371_35e5,
                2.689_196_333_938_141_5e8,
                8.640_024_871_039_35e10,
                2.029_796_127_501_055_5e13,
                3.171_577_528_429_750_5e15,
                2.505_962_561_726_530_6e17,
            ],
        )
    }

    #[inline(always)]
    fn y1_rest(square: f64) -> f64 {
        polynomial(
            square,
            [
                1.263_204_747_901_780_4e9,
                -6.473_558_763_791_603e11,
                1.145_095_115_418_237_3e14,
                -8.127_702_555_013_251e15,
                2.024_394_757_135_949e17,
                -7.788_771_962_659_501e17,
            ],
        ) / monic(
            square,
            [
                594.301_592_346_128_2,
                2.355_640_929_430_685_6e5,
                7.348_119_444_597_217e7,
                1.876_013_161_087_061_7e10,
                3.882_312_774_962_385_7e12,
                6.205_577_271_469_538e14,
                6.871_410_873_553_005e16,
                3.972_706_081_165_606_4e18,
            ],
        )
    }
}
