//! Bessel functions of orders 0 and 1.
//!
//! The series, fractions and coefficients are those that the Cephes library published (`i0.c`, `k0.c`, `j0.c`, `y0.c`, those of
//! order 1, and their variants for floats); TensorFlow's are the same. Nothing branches.

use kernlink_kernels_common::fast::{self, Real, monic, polynomial};

/// A Chebyshev series with these coefficients, the highest first, the constant halved. Floats need the last `singles` of them
/// alone.
#[inline(always)]
fn chebyshev<R: Bessel, const N: usize>(x: R, coefficients: [f64; N], singles: usize) -> R {
    let first = if R::IS_SINGLE { N - singles } else { 0 };
    let (mut before, mut last, mut sum) = (R::ZERO, R::ZERO, R::ZERO);
    for &coefficient in &coefficients[first..] {
        before = last;
        last = sum;
        sum = x * last - before + R::of(coefficient);
    }
    (sum - before) * R::of(0.5)
}

/// `exp(-x) I0(x)` for `x` from 0 to 8.
#[inline(always)]
fn i0e_near<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 30] = [
        -4.415_341_646_479_339_5e-18,
        3.330_794_518_822_238_4e-17,
        -2.431_279_846_547_955e-16,
        1.715_391_285_555_133e-15,
        -1.168_533_287_799_345_1e-14,
        7.676_185_498_604_936e-14,
        -4.856_446_783_111_929e-13,
        2.955_052_663_129_64e-12,
        -1.726_826_291_441_556e-11,
        9.675_809_035_373_237e-11,
        -5.189_795_601_635_263e-10,
        2.659_823_724_682_386_6e-9,
        -1.300_025_009_986_248e-8,
        6.046_995_022_541_919e-8,
        -2.670_793_853_940_612e-7,
        1.117_387_539_120_103_7e-6,
        -4.416_738_358_458_750_5e-6,
        1.644_844_807_072_889_6e-5,
        -5.754_195_010_082_104e-5,
        1.885_028_850_958_416_5e-4,
        -5.763_755_745_385_824e-4,
        0.001_639_475_616_941_335_7,
        -0.004_324_309_995_050_576,
        0.010_546_460_394_594_998,
        -0.023_737_414_805_899_47,
        0.049_305_284_239_670_71,
        -0.094_901_097_048_047_64,
        0.171_620_901_522_208_77,
        -0.304_682_672_343_198_4,
        0.676_795_274_409_476_1,
    ];
    chebyshev(x * R::of(0.5) - R::of(2.0), SERIES, 18)
}

/// `exp(-x) I1(x) / x` for `x` from 0 to 8.
#[inline(always)]
fn i1e_near<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 29] = [
        2.777_914_112_761_046_4e-18,
        -2.111_421_214_358_166e-17,
        1.553_631_957_736_200_5e-16,
        -1.105_596_947_735_386_2e-15,
        7.600_684_294_735_408e-15,
        -5.042_185_504_727_912e-14,
        3.223_793_365_945_575e-13,
        -1.983_974_397_764_943_6e-12,
        1.173_618_629_889_090_1e-11,
        -6.663_489_723_502_027e-11,
        3.625_590_281_552_117e-10,
        -1.887_249_751_722_829_4e-9,
        9.381_537_386_495_773e-9,
        -4.445_059_128_796_328e-8,
        2.003_294_753_552_135_3e-7,
        -8.568_720_264_695_455e-7,
        3.470_251_308_137_678_5e-6,
        -1.327_316_365_603_943_6e-5,
        4.781_565_107_550_054e-5,
        -1.617_608_158_258_967_4e-4,
        5.122_859_561_685_758e-4,
        -0.001_513_572_450_631_253_2,
        0.004_156_422_944_312_888,
        -0.010_564_084_894_626_197,
        0.024_726_449_030_626_516,
        -0.052_945_981_208_094_99,
        0.102_643_658_689_847_1,
        -0.176_416_518_357_834_06,
        0.252_587_186_443_633_65,
    ];
    chebyshev(x * R::of(0.5) - R::of(2.0), SERIES, 17)
}

/// The modified Bessel function of the first kind and order 0, times `exp(-|x|)`.
#[inline(always)]
pub(super) fn i0e<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 25] = [
        -7.233_180_487_874_754e-18,
        -4.830_504_485_944_182e-18,
        4.465_621_420_296_76e-17,
        3.461_222_867_697_461e-17,
        -2.827_623_980_516_583_6e-16,
        -3.425_485_619_677_219e-16,
        1.772_560_133_056_526_3e-15,
        3.811_680_669_352_622_4e-15,
        -9.554_846_698_828_307e-15,
        -4.150_569_347_287_222e-14,
        1.540_086_217_521_41e-14,
        3.852_778_382_742_142_6e-13,
        7.180_124_451_383_666e-13,
        -1.794_178_531_506_806_2e-12,
        -1.321_581_184_044_771_3e-11,
        -3.149_916_527_963_241_6e-11,
        1.188_914_710_784_643_9e-11,
        4.940_602_388_224_97e-10,
        3.396_232_025_708_386_5e-9,
        2.266_668_990_498_178e-8,
        2.048_918_589_469_063_8e-7,
        2.891_370_520_834_756_7e-6,
        6.889_758_346_916_825e-5,
        0.003_369_116_478_255_694_3,
        0.804_490_411_014_108_8,
    ];
    let x = x.abs();
    let far = chebyshev(R::of(32.0) / x - R::of(2.0), SERIES, 7) / x.sqrt();
    if x <= R::of(8.0) { i0e_near(x) } else { far }
}

/// The modified Bessel function of the first kind and order 1, times `exp(-|x|)`.
#[inline(always)]
pub(super) fn i1e<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 25] = [
        7.517_296_310_842_105e-18,
        4.414_348_323_071_708e-18,
        -4.650_305_368_489_358_6e-17,
        -3.209_525_921_993_424e-17,
        2.962_628_997_645_95e-16,
        3.308_202_310_920_928_5e-16,
        -1.880_354_775_510_782_5e-15,
        -3.814_403_072_437_007_5e-15,
        1.042_027_698_412_880_2e-14,
        4.272_440_016_711_951e-14,
        -2.101_541_842_772_664_3e-14,
        -4.083_551_111_092_197_4e-13,
        -7.198_551_776_245_908e-13,
        2.035_628_544_147_089_6e-12,
        1.412_580_743_661_378_2e-11,
        3.252_603_583_015_488_4e-11,
        -1.897_495_812_350_541_3e-11,
        -5.589_743_462_196_584e-10,
        -3.835_380_385_964_237e-9,
        -2.631_468_846_889_519_6e-8,
        -2.512_236_237_870_209e-7,
        -3.882_564_808_877_691e-6,
        -1.105_889_387_626_237_1e-4,
        -0.009_761_097_491_361_469,
        0.778_576_235_018_280_1,
    ];
    let size = x.abs();
    let far = chebyshev(R::of(32.0) / size - R::of(2.0), SERIES, 7) / size.sqrt();
    let result = if size <= R::of(8.0) { size * i1e_near(size) } else { far };
    if x < R::ZERO { -result } else { result }
}

/// The modified Bessel function of the first kind and order 0.
#[inline(always)]
pub(super) fn i0<R: Bessel>(x: R) -> R {
    fast::exp(x.abs()) * i0e(x)
}

/// The modified Bessel function of the first kind and order 1.
#[inline(always)]
pub(super) fn i1<R: Bessel>(x: R) -> R {
    fast::exp(x.abs()) * i1e(x)
}

/// The modified Bessel function of the second kind and order 0 for `x` up to 2, infinite from 0 down.
#[inline(always)]
fn k0_near<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 10] = [
        1.374_465_435_613_523e-16,
        4.259_816_142_796_61e-14,
        1.034_969_525_763_384_2e-11,
        1.904_516_377_220_209e-9,
        2.534_791_079_026_149_4e-7,
        2.286_212_103_119_452e-5,
        0.001_264_615_411_446_926,
        0.035_979_936_515_361_5,
        0.344_289_899_924_628_5,
        -0.535_327_393_233_902_8,
    ];
    let logarithm = fast::ln(x * R::of(0.5));
    let near = chebyshev(x * x - R::of(2.0), SERIES, 7) - fast::exp(x) * i0e_near(x) * logarithm;
    if x <= R::ZERO { R::INFINITY } else { near }
}

/// The modified Bessel function of the second kind and order 1 for `x` up to 2, infinite from 0 down.
#[inline(always)]
fn k1_near<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 11] = [
        -7.023_863_479_386_288e-18,
        -2.427_449_850_519_366e-15,
        -6.666_901_694_199_329e-13,
        -1.411_488_392_633_527_8e-10,
        -2.213_387_630_734_726e-8,
        -2.433_406_141_565_968_4e-6,
        -1.730_288_957_513_052e-4,
        -0.006_975_723_859_639_864,
        -0.122_611_180_822_657_15,
        -0.353_155_960_776_544_9,
        1.525_300_227_338_947_8,
    ];
    let logarithm = fast::ln(x * R::of(0.5));
    let near = chebyshev(x * x - R::of(2.0), SERIES, 7) / x + fast::exp(x) * (x * i1e_near(x)) * logarithm;
    if x <= R::ZERO { R::INFINITY } else { near }
}

/// `exp(x) K0(x)` for `x` from 2 on.
#[inline(always)]
fn k0e_far<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 25] = [
        5.300_433_772_686_263e-18,
        -1.647_580_430_152_421_2e-17,
        5.210_391_505_039_027_4e-17,
        -1.678_231_096_805_412e-16,
        5.512_055_978_524_319e-16,
        -1.848_593_377_343_779e-15,
        6.340_076_477_405_070_6e-15,
        -2.227_513_326_991_669_8e-14,
        8.032_890_775_363_575e-14,
        -2.980_096_923_172_730_3e-13,
        1.140_340_588_208_475e-12,
        -4.514_597_883_373_944e-12,
        1.855_949_114_954_717_7e-11,
        -7.957_489_244_477_107e-11,
        3.577_397_281_400_301e-10,
        -1.697_534_509_389_06e-9,
        8.574_034_017_414_225e-9,
        -4.660_489_897_687_948e-8,
        2.766_813_639_445_015e-7,
        -1.831_755_522_719_119_5e-6,
        1.394_981_371_887_65e-5,
        -1.284_954_958_162_780_2e-4,
        0.001_569_883_885_730_053_3,
        -0.031_448_101_311_964_5,
        2.440_303_082_065_955_5,
    ];
    chebyshev(R::of(8.0) / x - R::of(2.0), SERIES, 10) / x.sqrt()
}

/// `exp(x) K1(x)` for `x` from 2 on.
#[inline(always)]
fn k1e_far<R: Bessel>(x: R) -> R {
    const SERIES: [f64; 25] = [
        -5.756_744_483_665_017e-18,
        1.794_050_873_147_559_2e-17,
        -5.689_462_558_442_859e-17,
        1.838_093_544_366_639e-16,
        -6.057_047_248_373_319e-16,
        2.038_703_165_624_334e-15,
        -7.019_837_090_418_314e-15,
        2.477_154_424_481_304_3e-14,
        -8.976_705_182_324_994e-14,
        3.348_419_666_078_429_3e-13,
        -1.289_173_960_951_028_9e-12,
        5.139_639_673_481_73e-12,
        -2.129_967_838_427_568_3e-11,
        9.218_315_187_605_006e-11,
        -4.190_354_759_341_896_5e-10,
        2.015_049_755_197_033e-9,
        -1.034_576_246_567_809_7e-8,
        5.741_084_125_450_049_5e-8,
        -3.501_960_603_087_812_6e-7,
        2.406_484_947_837_217e-6,
        -1.936_197_974_166_083e-5,
        1.952_155_184_713_516_2e-4,
        -0.002_857_816_859_622_779,
        0.103_923_736_576_817_24,
        2.720_626_190_484_442_7,
    ];
    chebyshev(R::of(8.0) / x - R::of(2.0), SERIES, 10) / x.sqrt()
}

/// `near` up to 2 and `far` beyond; NaN goes the latter way.
#[inline(always)]
fn by_two<R: Bessel>(x: R, near: R, far: R) -> R {
    if x <= R::of(2.0) { near } else { far }
}

/// The modified Bessel function of the second kind and order 0.
#[inline(always)]
pub(super) fn k0<R: Bessel>(x: R) -> R {
    by_two(x, k0_near(x), fast::exp(-x) * k0e_far(x))
}

/// The modified Bessel function of the second kind and order 0, times `exp(x)`.
#[inline(always)]
pub(super) fn k0e<R: Bessel>(x: R) -> R {
    by_two(x, if x <= R::ZERO { R::INFINITY } else { fast::exp(x) * k0_near(x) }, k0e_far(x))
}

/// The modified Bessel function of the second kind and order 1.
#[inline(always)]
pub(super) fn k1<R: Bessel>(x: R) -> R {
    by_two(x, k1_near(x), fast::exp(-x) * k1e_far(x))
}

/// The modified Bessel function of the second kind and order 1, times `exp(x)`.
#[inline(always)]
pub(super) fn k1e<R: Bessel>(x: R) -> R {
    by_two(x, if x <= R::ZERO { R::INFINITY } else { fast::exp(x) * k1_near(x) }, k1e_far(x))
}

/// 2/π
const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// √(2/π)
const SQRT_TWO_OVER_PI: f64 = 0.797_884_560_802_865_4;

/// The Bessel function of the first kind and order 0.
///
/// `MODERATE` says that no argument is beyond [`Real::MOST_TURNED`], here and below.
#[inline(always)]
pub(super) fn j0<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let x = x.abs();
    let far = R::far0::<MODERATE>(x).0;
    if x <= R::NEAR { R::j0_near(x) } else { far }
}

/// The Bessel function of the first kind and order 1.
#[inline(always)]
pub(super) fn j1<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let size = x.abs();
    let far = R::far1::<MODERATE>(size).0;
    let far = if x < R::ZERO { -far } else { far };
    if size <= R::NEAR { R::j1_near(x) } else { far }
}

/// The Bessel function of the second kind and order 0; -∞ from 0 down.
#[inline(always)]
pub(super) fn y0<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let near = R::of(TWO_OVER_PI) * fast::ln(x) * R::j0_near(x) + R::y0_rest(x * x);
    let near = if x <= R::ZERO { -R::INFINITY } else { near };
    let far = R::far0::<MODERATE>(x).1;
    if x <= R::NEAR { near } else { far }
}

/// The Bessel function of the second kind and order 1; -∞ from 0 down.
#[inline(always)]
pub(super) fn y1<R: Bessel, const MODERATE: bool>(x: R) -> R {
    let pole = R::j1_near(x) * fast::ln(x) - R::ONE / x;
    let near = R::y1_rest(x * x) * x + R::of(TWO_OVER_PI) * pole;
    let near = if x <= R::ZERO { -R::INFINITY } else { near };
    let far = R::far1::<MODERATE>(x).1;
    if x <= R::NEAR { near } else { far }
}

/// The approximations that differ between `f32` and `f64`.
pub(super) trait Bessel: Real {
    /// Whether this is `f32`.
    const IS_SINGLE: bool;
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
    const IS_SINGLE: bool = true;
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
    const IS_SINGLE: bool = false;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The differential equations that the functions fulfil, by way of the products of two kinds, which have simple values.
    #[test]
    fn two_kinds_make_wronskians() {
        for step in 1..4000 {
            let x = f64::from(step) * 0.01;
            let modified = i0e(x) * k1e(x) + i1e(x) * k0e(x);
            assert!((modified * x - 1.0).abs() < 4e-15, "{x}: {modified}");
            let plain = j1::<_, true>(x) * y0::<_, true>(x) - j0::<_, true>(x) * y1::<_, true>(x);
            assert!((plain * x / TWO_OVER_PI - 1.0).abs() < 1e-14, "{x}: {plain}");
            let x = x as f32;
            let modified = i0e(x) * k1e(x) + i1e(x) * k0e(x);
            assert!((modified * x - 1.0).abs() < 4e-6, "{x}: {modified}");
        }
    }

    #[test]
    fn known_values() {
        for (found, expected) in [
            (i0(1.0), 1.266_065_877_752_008_4),
            (i1(-1.0), -0.565_159_103_992_485),
            (k0(1.0), 0.421_024_438_240_708_34),
            (k1(1.0), 0.601_907_230_197_234_6),
            (j0::<_, true>(1.0), 0.765_197_686_557_966_6),
            (j1::<_, true>(-1.0), -0.440_050_585_744_933_5),
            (y0::<_, true>(1.0), 0.088_256_964_215_676_97),
            (y1::<_, true>(1.0), -0.781_212_821_300_288_7),
        ] {
            let found: f64 = found;
            assert!((found - expected).abs() <= 4e-16 * expected.abs(), "{found} instead of {expected}");
        }
    }
}
