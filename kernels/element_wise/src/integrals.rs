//! Integrals that no elementary function is: Dawson's, the exponential, Fresnel's and Spence's.
//!
//! The quotients and their bounds are those that the Cephes library published (`dawsn.c`, `ei.c`, `fresnl.c`, `spence.c`);
//! TensorFlow's are the same.

use std::f64::consts::{FRAC_PI_2, PI};

use kernlink_kernels_common::fast::{self, Real, monic, polynomial};

/// `value` with its sign turned where `x` is negative.
#[inline(always)]
fn odd<R: Real>(x: R, value: R) -> R {
    if x < R::ZERO { -value } else { value }
}

/// Dawson's integral, `exp(-x²)` times the integral of `exp(t²)` from 0 to `x`.
#[inline(always)]
pub(super) fn dawson<R: Real>(x: R) -> R {
    let size = x.abs();
    if size < R::of(3.25) {
        let z = x * x;
        return x * polynomial(
            z,
            [
                1.136_814_989_717_559_7e-11,
                8.492_622_676_674_738e-10,
                1.944_342_041_755_530_6e-8,
                9.531_517_412_544_844e-7,
                3.078_283_098_749_132e-6,
                3.525_133_685_202_887_7e-4,
                -8.501_498_467_244_109e-4,
                0.042_261_822_300_554_66,
                -0.091_748_037_177_345_24,
                1.0,
            ],
        ) / polynomial(
            z,
            [
                2.403_720_730_667_626e-11,
                1.488_646_813_684_934e-9,
                5.212_652_810_105_416e-8,
                1.272_584_782_731_869_7e-6,
                2.324_902_498_207_895e-5,
                3.255_247_418_260_579_3e-4,
                0.003_488_058_146_571_626,
                0.027_944_853_119_882_897,
                0.158_874_241_960_120_57,
                0.574_918_629_489_320_4,
                1.0,
            ],
        );
    }
    let half = R::of(0.5);
    let inverse = R::ONE / size;
    let z = inverse * inverse;
    let rest = match () {
        () if size < R::of(6.25) => {
            polynomial(
                z,
                [
                    0.508_955_156_417_900_9,
                    -0.244_754_418_142_697_85,
                    0.094_151_233_530_353_44,
                    -0.021_871_125_514_203_903,
                    0.003_662_076_123_295_692,
                    -4.232_091_144_603_888e-4,
                    3.596_413_047_938_966_6e-5,
                    -2.146_403_517_199_689_6e-6,
                    9.100_107_800_763_914e-8,
                    -2.402_745_208_282_509_8e-9,
                    3.592_333_854_409_284e-11,
                ],
            ) / monic(
                z,
                [
                    -0.631_839_869_873_368_2,
                    0.236_706_788_228_248_7,
                    -0.053_180_636_700_322_324,
                    0.008_480_417_185_862_954,
                    -9.479_967_684_866_654e-4,
                    7.810_255_929_445_524e-5,
                    -4.558_751_532_524_426e-6,
                    1.891_003_581_114_218_6e-7,
                    -4.913_246_913_319_206e-9,
                    7.184_664_032_357_345e-11,
                ],
            )
        }
        () if size < R::of(1e9) => {
            polynomial(
                z,
                [
                    -0.590_592_860_534_773_2,
                    0.629_235_242_724_368_8,
                    -0.172_858_975_380_388_14,
                    0.016_483_704_782_518_965,
                    -4.868_276_130_204_627e-4,
                ],
            ) / monic(
                z,
                [
                    -2.698_200_571_975_449,
                    1.732_707_990_459_478_4,
                    -0.393_708_582_281_939_5,
                    0.034_427_892_404_123_34,
                    -9.736_552_260_409_412e-4,
                ],
            )
        }
        () => return half / x,
    };
    odd(x, half * (z * (rest / size) + inverse))
}

/// The exponential integral Ei, of what is not negative.
#[inline(always)]
pub(super) fn exponential<R: Real>(x: R) -> R {
    if x < R::ZERO {
        return R::NAN;
    }
    if x < R::of(2.0) {
        /// Euler's γ.
        const EULER: f64 = 0.577_215_664_901_532_9;
        let rest = polynomial(
            x,
            [
                -5.350_447_357_812_543,
                218.504_916_881_661_33,
                -4_176.572_384_826_693,
                55_411.767_563_935_57,
                -3.313_381_331_178_144_3e5,
                1.592_627_163_384_945_4e6,
            ],
        ) / monic(
            x,
            [
                -52.505_479_591_128_626,
                1_259.616_186_786_790_6,
                -17_565.495_819_735_348,
                1.493_062_117_002_726e5,
                -7.294_949_239_640_528e5,
                1.592_627_163_384_945_4e6,
            ],
        );
        return x * rest + R::of(EULER) + fast::ln(x);
    }
    let w = R::ONE / x;
    let rest = match () {
        () if x < R::of(4.0) => {
            polynomial(
                w,
                [
                    0.019_818_085_032_596_897,
                    -1.271_645_625_984_917_6,
                    -2.088_160_335_681_228_4,
                    2.755_544_509_187_936_7,
                    -0.440_950_704_870_16,
                    0.046_656_238_059_358_916,
                    -0.001_545_042_679_673_485_2,
                    7.059_980_605_299_618e-5,
                ],
            ) / monic(
                w,
                [
                    1.476_498_670_914_921_5,
                    0.562_917_717_482_243_6,
                    0.169_901_789_787_930_72,
                    0.022_916_471_790_342_12,
                    0.004_450_150_439_728_752_5,
                    1.727_439_612_206_521_4e-4,
                    3.953_167_195_549_672e-5,
                ],
            )
        }
        () if x < R::of(8.0) => {
            polynomial(
                w,
                [
                    -1.373_215_375_871_208_7,
                    -0.708_455_913_374_083_9,
                    1.580_806_855_547_941,
                    -0.260_150_042_742_562_3,
                    0.029_946_746_941_137_137,
                    -0.001_038_086_040_188_744,
                    4.371_064_420_753_005e-5,
                    2.141_783_679_522_603e-6,
                ],
            ) / monic(
                w,
                [
                    0.858_523_142_362_202_8,
                    0.448_328_582_287_399_5,
                    0.076_879_321_581_244_76,
                    0.024_498_682_410_218_877,
                    8.832_165_941_927_797e-4,
                    4.590_952_299_511_353_6e-4,
                    -4.729_848_351_866_523e-6,
                    2.665_195_537_390_71e-6,
                ],
            )
        }
        () if x < R::of(16.0) => {
            polynomial(
                w,
                [
                    -2.106_934_601_691_916_6,
                    1.732_733_869_664_688_1,
                    -0.242_361_917_893_584_2,
                    0.023_227_241_809_375_66,
                    2.372_880_440_493_179_8e-4,
                    -8.343_219_561_192_553e-5,
                    1.363_408_795_605_250_5e-5,
                    -3.655_412_321_999_254e-7,
                    1.464_941_733_975_961_2e-8,
                    6.176_407_863_710_36e-10,
                ],
            ) / monic(
                w,
                [
                    -0.229_806_223_990_167_8,
                    0.110_507_704_147_403_78,
                    -0.015_665_429_666_307_924,
                    0.002_761_106_850_817_353,
                    -2.089_148_012_284_048_4e-4,
                    1.708_528_938_807_675_4e-5,
                    -4.459_311_796_356_686_5e-7,
                    1.394_634_930_353_847_5e-8,
                    6.150_865_933_977_338e-10,
                ],
            )
        }
        () if x < R::of(32.0) => {
            polynomial(
                w,
                [
                    -0.245_811_936_767_402_04,
                    -0.148_338_225_332_207_78,
                    0.072_482_917_957_355_52,
                    -0.013_483_156_873_809_405,
                    0.001_342_775_069_788_637,
                    -7.942_465_637_159_712e-5,
                    2.644_179_518_984_236e-6,
                    -4.239_473_659_313_765e-8,
                ],
            ) / monic(
                w,
                [
                    -0.104_422_590_844_387_11,
                    -0.267_645_312_810_140_26,
                    0.096_950_002_546_219_84,
                    -0.016_017_456_927_129_91,
                    0.001_496_414_899_205_908,
                    -8.462_452_563_778_485e-5,
                    2.728_938_403_476_726_6e-6,
                    -4.239_462_431_819_542e-8,
                ],
            )
        }
        () if x < R::of(64.0) => {
            polynomial(
                w,
                [
                    0.121_256_111_810_545_67,
                    -0.582_313_317_904_389_4,
                    0.234_888_731_455_701_7,
                    -0.030_400_343_181_132_484,
                    0.001_510_082_146_865_190_6,
                    -2.523_137_095_499_571_4e-5,
                ],
            ) / monic(
                w,
                [
                    -1.002_252_150_365_854,
                    0.292_870_969_487_222_4,
                    -0.033_370_043_386_740_08,
                    0.001_560_544_881_127_388_8,
                    -2.523_137_093_603_234_7e-5,
                ],
            )
        }
        () => {
            polynomial(
                w,
                [
                    -0.765_784_707_828_612_7,
                    0.688_619_241_556_670_5,
                    -0.213_259_811_354_520_6,
                    0.033_461_075_523_841_935,
                    -0.003_076_541_477_344_756,
                    1.747_119_316_454_907_4e-4,
                    -6.103_711_682_274_170_5e-6,
                    1.218_032_765_428_652e-7,
                    -1.086_076_102_793_290_3e-9,
                ],
            ) / monic(
                w,
                [
                    -1.888_802_868_662_308_6,
                    1.066_691_687_211_409,
                    -0.275_191_598_230_638_05,
                    0.039_308_526_882_338_234,
                    -0.003_414_684_558_602_365,
                    1.866_844_370_703_555_5e-4,
                    -6.345_146_083_130_515e-6,
                    1.239_754_287_483_207e-7,
                    -1.086_076_102_793_126_5e-9,
                ],
            )
        }
    };
    fast::exp(x) * w * (w * rest + R::ONE)
}

/// The square from which on Fresnel's integrals have their asymptotic form.
const FAR: f64 = 2.5625;

/// From here on Fresnel's integrals are what they tend to.
const AT_INFINITY: f64 = 36974.0;

/// The auxiliary functions of Fresnel's integrals: these are `0.5 + (f sin(z) - g cos(z)) / πx` and
/// `0.5 - (f cos(z) + g sin(z)) / πx`, where `z` is `πx²/2`.
#[inline(always)]
fn fresnel_far<R: Real>(x: R) -> (R, R) {
    let t = R::ONE / (R::of(PI) * (x * x));
    let u = t * t;
    let f = R::ONE
        - u * (polynomial(
            u,
            [
                0.421_543_555_043_677_5,
                0.143_407_919_780_758_9,
                0.011_522_095_507_358_577,
                3.450_179_397_825_74e-4,
                4.636_137_492_878_673_5e-6,
                3.055_689_837_902_576e-8,
                1.023_045_141_649_072_4e-10,
                1.720_107_432_681_618_3e-13,
                1.342_832_762_330_627_5e-16,
                3.763_297_112_699_879e-20,
            ],
        ) / monic(
            u,
            [
                0.751_586_398_353_378_9,
                0.116_888_925_859_191_38,
                0.006_440_515_265_088_586_5,
                1.559_344_091_641_530_1e-4,
                1.846_275_673_489_305_5e-6,
                1.126_992_247_639_990_3e-8,
                3.601_400_295_893_713_6e-11,
                5.887_545_336_215_784e-14,
                4.520_014_340_741_297_3e-17,
                1.254_432_370_900_112_7e-20,
            ],
        ));
    let g = t * polynomial(
        u,
        [
            0.504_442_073_643_383_2,
            0.197_102_833_525_523_4,
            0.018_764_858_409_257_526,
            6.840_793_809_153_931e-4,
            1.151_388_261_118_842_8e-5,
            9.828_524_436_884_223e-8,
            4.453_444_158_617_501_5e-10,
            1.082_680_411_390_208_8e-12,
            1.375_554_606_332_618e-15,
            8.363_544_356_306_774e-19,
            1.869_587_101_627_832_4e-22,
        ],
    ) / monic(
        u,
        [
            1.474_957_599_251_283_3,
            0.337_748_989_120_02,
            0.025_360_374_142_033_88,
            8.146_791_071_843_061e-4,
            1.275_450_756_677_291_2e-5,
            1.043_145_896_575_719_9e-7,
            4.606_807_281_465_204_3e-10,
            1.102_732_150_662_402_8e-12,
            1.387_965_312_595_788_6e-15,
            8.391_588_162_831_187e-19,
            1.869_587_101_627_832_4e-22,
        ],
    );
    (f, g)
}

/// `f64` and `f32`, with sine and cosine of arguments of any size.
pub(super) trait Turned: Real {
    fn sin_cos_of_any(self) -> (Self, Self);
}

impl Turned for f32 {
    #[inline(always)]
    fn sin_cos_of_any(self) -> (f32, f32) {
        if self <= Self::MOST_TURNED { fast::sin_cos(self) } else { self.sin_cos() }
    }
}

impl Turned for f64 {
    #[inline(always)]
    fn sin_cos_of_any(self) -> (f64, f64) {
        if self <= Self::MOST_TURNED { fast::sin_cos(self) } else { self.sin_cos() }
    }
}

/// Fresnel's cosine integral, that of `cos(πt²/2)` from 0 to `x`.
#[inline(always)]
pub(super) fn fresnel_cos<R: Turned>(x: R) -> R {
    let size = x.abs();
    let square = x * x;
    let result = match () {
        () if size > R::of(AT_INFINITY) => R::of(0.5),
        () if square < R::of(FAR) => {
            let z = square * square;
            size * polynomial(
                z,
                [
                    -4.988_431_145_735_735_4e-8,
                    9.504_280_628_298_596e-6,
                    -6.451_914_356_839_651e-4,
                    0.018_884_331_939_670_384,
                    -0.205_525_900_955_013_88,
                    1.0,
                ],
            ) / polynomial(
                z,
                [
                    3.999_829_689_724_96e-12,
                    9.154_392_157_746_574e-10,
                    1.250_018_624_795_988_2e-7,
                    1.222_627_890_241_790_2e-5,
                    8.680_295_429_417_843e-4,
                    0.041_214_209_072_219_98,
                    1.0,
                ],
            )
        }
        () => {
            let (f, g) = fresnel_far(size);
            let (sin, cos) = (R::of(FRAC_PI_2) * square).sin_cos_of_any();
            R::of(0.5) + (f * sin - g * cos) / (R::of(PI) * size)
        }
    };
    odd(x, result)
}

/// Fresnel's sine integral, that of `sin(πt²/2)` from 0 to `x`.
#[inline(always)]
pub(super) fn fresnel_sin<R: Turned>(x: R) -> R {
    let size = x.abs();
    let square = x * x;
    let result = match () {
        () if size > R::of(AT_INFINITY) => R::of(0.5),
        () if square < R::of(FAR) => {
            let z = square * square;
            size * square
                * polynomial(
                    z,
                    [
                        -2_991.819_194_010_198_3,
                        7.088_400_452_577_386e5,
                        -6.297_414_862_058_625e7,
                        2.548_908_805_733_763_7e9,
                        -4.429_795_180_596_978e10,
                        3.180_162_978_765_678e11,
                    ],
                )
                / monic(
                    z,
                    [
                        281.376_268_889_994_3,
                        45_584.781_080_653_26,
                        5.173_438_887_700_964e6,
                        4.193_202_458_981_112e8,
                        2.244_117_956_453_409_2e10,
                        6.073_663_894_900_846e11,
                    ],
                )
        }
        () => {
            let (f, g) = fresnel_far(size);
            let (sin, cos) = (R::of(FRAC_PI_2) * square).sin_cos_of_any();
            R::of(0.5) - (f * cos + g * sin) / (R::of(PI) * size)
        }
    };
    odd(x, result)
}

/// Spence's integral, that of `-ln(t) / (t - 1)` from 1 to `x`, which is the dilogarithm of `1 - x`.
#[inline(always)]
pub(super) fn spence<R: Real>(x: R) -> R {
    const AT_ZERO: f64 = PI * PI / 6.0;
    let (half, one) = (R::of(0.5), R::ONE);
    // Everything is computed and then chosen, so that loops over elements can be vectors.
    let y = if x < R::of(2.0) { x } else { one / x };
    let is_small = y < half;
    let w = if is_small { -y } else { y - one };
    let w = if y > R::of(1.5) { one / y - one } else { w };
    let direct = -w
        * (polynomial(
            w,
            [
                4.651_285_860_739_900_3e-5,
                0.007_315_890_452_380_947,
                0.133_847_639_578_309_03,
                0.879_691_311_754_530_3,
                2.711_498_511_965_534_6,
                4.256_971_560_081_218,
                3.297_713_409_852_251,
                1.0,
            ],
        ) / polynomial(
            w,
            [
                6.909_904_889_125_533e-4,
                0.025_404_376_393_254_44,
                0.282_974_860_602_568_1,
                1.411_725_977_518_310_6,
                3.638_005_333_451_370_7,
                5.032_788_801_433_17,
                3.547_713_409_852_251,
                1.0,
            ],
        ));
    let logarithm = fast::ln(y);
    let reflected = R::of(AT_ZERO) - logarithm * fast::ln_1p(-y) - direct;
    let near = if is_small { reflected } else { direct };
    let inverted = -half * logarithm * logarithm - near;
    let result = if x > R::of(1.5) { inverted } else { near };
    let result = if x == R::ZERO { R::of(AT_ZERO) } else { result };
    let result = if x == one { R::ZERO } else { result };
    if x < R::ZERO { R::NAN } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-15 * expected.abs().max(0.1), "{found} instead of {expected}");
    }

    #[test]
    fn known_values() {
        close(dawson(1.0), 0.538_079_506_912_768_4);
        close(dawson(-2.0), -0.301_340_388_923_791_97);
        close(exponential(1.0), 1.895_117_816_355_936_8);
        close(exponential(5.0) / 40.0, 40.185_275_355_803_18 / 40.0);
        close(fresnel_cos(1.0), 0.779_893_400_376_822_9);
        close(fresnel_sin(-1.0), -0.438_259_147_390_354_8);
        close(fresnel_cos(2.0), 0.488_253_406_075_340_7);
        close(spence(0.0), PI * PI / 6.0);
        // A few units of the last place from -π²/12 and π²/12 - ln²(2)/2, as TensorFlow's.
        assert_eq!([spence(2.0), spence(0.5)], [-0.822_467_033_424_114_2, 0.582_240_526_465_013_5]);
        assert!(exponential(-1.0f64).is_nan() && spence(-1.0f64).is_nan());
        assert_eq!([dawson(-1e10), fresnel_sin(1e6), fresnel_cos(-1e6)], [-5e-11, 0.5, -0.5]);
    }

    /// The slopes of the integrals are known.
    #[test]
    fn slopes() {
        for step in 1..2000 {
            let x = f64::from(step) * 0.005;
            let h = 1e-5;
            let slope = |f: &dyn Fn(f64) -> f64| (f(x + h) - f(x - h)) / (2.0 * h);
            let near = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() <= 2e-8 * expected.abs().max(1.0) / x.min(1.0),
                    "{x}: {found}, not {expected}"
                );
            };
            near(slope(&dawson), 1.0 - 2.0 * x * dawson(x));
            near(slope(&fresnel_cos), (FRAC_PI_2 * x * x).cos());
            near(slope(&fresnel_sin), (FRAC_PI_2 * x * x).sin());
            if x > 0.01 {
                near(slope(&exponential) / x.exp(), 1.0 / x);
                near(slope(&spence), if x == 1.0 { -1.0 } else { x.ln() / (1.0 - x) });
            }
        }
    }
}
