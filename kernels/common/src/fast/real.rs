//! What the functions of `f32` and `f64` are made of: the parts of their representation, and the polynomials that differ
//! because one needs more terms than the other.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `(exp(r) - 1 - r) / r²` for `r` up to ln(2) / 2, as exact as `f32` is.
pub(super) const EXP_M1_REDUCED: [f64; 6] =
    [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.000_000_1e-1];

/// `f32` or `f64`, in whose functions nothing branches.
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Adding this to a number of moderate size rounds it to a whole one, which then stands in the low bits.
    const ROUNDER: Self;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// ∞.
    const INFINITY: Self;
    /// NaN.
    const NAN: Self;
    /// The least normal number.
    const LEAST: Self;
    /// Numbers beyond this are halved twice before they are added.
    const HUGE: Self;
    /// From here on `x * x + 1` is `x * x`, which is still finite somewhat further on.
    const BIG: Self;
    /// Below this a function with `f(x) ~ x` at 0 is `x`.
    const TINY: Self;
    /// Where `exp` is zero, and where it is infinite.
    const EXP_RANGE: (Self, Self);
    /// Where `exp_m1` is -1, and where it is infinite.
    const EXP_M1_RANGE: (Self, Self);
    /// From here on the hyperbolic functions are infinite.
    const HYPERBOLIC_BOUND: Self;
    /// π/2 in parts: products of all but the last with as many quarter turns as there may be are exact.
    const QUARTER: [Self; 4];
    /// The largest argument of sine, cosine and tangent.
    const MOST_TURNED: Self;
    /// π/2, and what it lacks.
    const HALF_PI: (Self, Self);

    /// The nearest number.
    fn of(x: f64) -> Self;
    /// Without its sign.
    fn abs(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// With the sign of another.
    fn copysign(self, sign: Self) -> Self;

    /// `2^self` of a whole number whose power is normal.
    fn power_of_two(self) -> Self;
    /// The exponent, and the mantissa from sqrt(1/2) to sqrt(2), of a normal number.
    fn split(self) -> (Self, Self);
    /// A subnormal number made normal, and the exponent's part in it.
    fn normalized(self) -> (Self, Self);
    /// With the sign turned if bit 1 of the whole number in the low bits of `shifted`, plus `more`, is set.
    fn turned(self, shifted: Self, more: u32) -> Self;
    /// Whether bit 0 of that number is set.
    fn is_odd(shifted: Self, more: u32) -> bool;

    /// `exp(r) - 1` for `r` up to ln(2) / 2.
    fn exp_m1_reduced(r: Self) -> Self;
    /// `(ln(1 + m) - m + m² / 2) / m³` for `1 + m` from sqrt(1/2) to sqrt(2).
    fn ln_tail(m: Self) -> Self;
    /// `(sin(r) - r) / r³` of the square of `r`, at most π/4.
    fn sin_tail(square: Self) -> Self;
    /// `(cos(r) - 1 + r² / 2) / r⁴` of the square of `r`, at most π/4.
    fn cos_tail(square: Self) -> Self;
    /// `(atan(t) - t) / t³` of the square of `t`, at most tan(π/8).
    fn atan_tail(square: Self) -> Self;
    /// `(asin(s) - s) / s³` of the square of `s`, at most 1/2.
    fn asin_tail(square: Self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// `erf(x) / x` of the square of `x`, at most 1.
    fn erf_near(square: Self) -> Self;
    /// `erfc(x) * exp(x²)` for `x` from 1 on.
    fn erfc_far(x: Self) -> Self;
}

/// The polynomial with these coefficients, the highest first.
#[inline(always)]
pub fn polynomial<F: Real, const N: usize>(x: F, coefficients: [f64; N]) -> F {
    coefficients.into_iter().fold(F::ZERO, |sum, coefficient| sum * x + F::of(coefficient))
}

/// The polynomial whose highest power, left out, has the coefficient 1.
#[inline(always)]
pub fn monic<F: Real, const N: usize>(x: F, coefficients: [f64; N]) -> F {
    coefficients.into_iter().fold(F::ONE, |sum, coefficient| sum * x + F::of(coefficient))
}

/// The methods that differ in constants alone.
macro_rules! representation {
    ($t:ident, $bits:ident, mantissa $mantissa:literal, bias $bias:literal, root $root:literal, magic $magic:literal) => {
        const ZERO: $t = 0.0;
        const ONE: $t = 1.0;
        const INFINITY: $t = $t::INFINITY;
        const NAN: $t = $t::NAN;
        const LEAST: $t = $t::MIN_POSITIVE;
        const HUGE: $t = $t::MAX / 8.0;

        #[inline(always)]
        fn of(x: f64) -> $t {
            x as $t
        }
        #[inline(always)]
        fn abs(self) -> $t {
            self.abs()
        }
        #[inline(always)]
        fn sqrt(self) -> $t {
            self.sqrt()
        }
        #[inline(always)]
        fn copysign(self, sign: $t) -> $t {
            self.copysign(sign)
        }
        #[inline(always)]
        fn power_of_two(self) -> $t {
            $t::from_bits((self + (Self::ROUNDER + $bias as $t)).to_bits() << $mantissa)
        }
        #[inline(always)]
        fn split(self) -> ($t, $t) {
            // The exponent with its bias, so that nothing is negative: not all processors shift signed numbers of 64 bits.
            let bits = self.to_bits();
            let exponent = bits.wrapping_sub($root).wrapping_add($bias << $mantissa) >> $mantissa;
            let mantissa = bits.wrapping_sub(exponent << $mantissa).wrapping_add($bias << $mantissa);
            // A number whose low bits are a whole number.
            let shifted = $t::from_bits(exponent | $magic);
            (shifted - ($t::from_bits($magic) + $bias as $t), $t::from_bits(mantissa))
        }
        #[inline(always)]
        fn normalized(self) -> ($t, $t) {
            let subnormal = self < $t::MIN_POSITIVE;
            let scale = (1u64 << $mantissa) as $t;
            (if subnormal { self * scale } else { self }, if subnormal { $mantissa as $t } else { 0.0 })
        }
        #[inline(always)]
        fn turned(self, shifted: $t, more: u32) -> $t {
            let turns = shifted.to_bits().wrapping_add(more as $bits);
            $t::from_bits(self.to_bits() ^ (turns & 2) << ($bits::BITS - 2))
        }
        #[inline(always)]
        fn is_odd(shifted: $t, more: u32) -> bool {
            shifted.to_bits().wrapping_add(more as $bits) & 1 != 0
        }
    };
}

// The coefficients are those of Cephes, but for the error function of `f32`, which are Eigen's, and the arcsine of `f64`,
// which are fdlibm's.
impl Real for f32 {
    representation!(f32, u32, mantissa 23, bias 127, root 0x3f35_04f3, magic 0x4b00_0000);

    const ROUNDER: f32 = 12_582_912.0;
    const BIG: f32 = 1e12;
    const TINY: f32 = 1e-8;
    const EXP_RANGE: (f32, f32) = (-104.0, 89.0);
    const EXP_M1_RANGE: (f32, f32) = (-20.0, 89.0);
    const HYPERBOLIC_BOUND: f32 = 90.0;
    const QUARTER: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_6e-8, 2.563_344e-12];
    const MOST_TURNED: f32 = 6_400.0;
    const HALF_PI: (f32, f32) = (std::f32::consts::FRAC_PI_2, -4.371_139e-8);

    #[inline(always)]
    fn exp_m1_reduced(r: f32) -> f32 {
        polynomial(r, EXP_M1_REDUCED) * (r * r) + r
    }

    #[inline(always)]
    fn ln_tail(m: f32) -> f32 {
        polynomial(
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
        )
    }

    #[inline(always)]
    fn sin_tail(square: f32) -> f32 {
        polynomial(square, [-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1])
    }

    #[inline(always)]
    fn cos_tail(square: f32) -> f32 {
        polynomial(square, [2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2])
    }

    #[inline(always)]
    fn atan_tail(square: f32) -> f32 {
        polynomial(square, [8.053_744_495_38e-2, -1.387_768_560_32e-1, 1.997_771_064_78e-1, -3.333_294_915_39e-1])
    }

    #[inline(always)]
    fn asin_tail(square: f32) -> f32 {
        polynomial(
            square,
            [4.216_319_904_8e-2, 2.418_131_104_9e-2, 4.547_002_599_8e-2, 7.495_300_268_6e-2, 1.666_675_242_2e-1],
        )
    }

    /// A quotient of polynomials, with a relative error of 1e-8 before its coefficients' and steps' rounding.
    #[inline(always)]
    fn tanh(self) -> f32 {
        /// From here on the hyperbolic tangent is 1.
        const BOUND: f32 = 9.02;
        let x = super::bounded(self, -BOUND, BOUND);
        let z = x * x;
        let above = polynomial(z, [1.333_177_8e-8, 2.059_767_2e-5, 3.495_141_4e-3, 1.338_074e-1, 1.0]);
        let below = polynomial(z, [7.768_659e-7, 3.284_725_5e-4, 2.587_556e-2, 4.671_406_1e-1, 1.0]);
        // Rounding may take it past 1.
        super::bounded(x * above / below, -1.0, 1.0)
    }

    #[inline(always)]
    fn erf(self) -> f32 {
        let x = super::bounded(self, -4.0, 4.0);
        let quotient = x * Self::erf_near(x * x);
        // From here on the answer is nearer to 1 than to its neighbour.
        if self.abs() >= 3.92 { 1f32.copysign(self) } else { quotient }
    }

    /// Up to 4, not only up to 1.
    #[inline(always)]
    fn erf_near(square: f32) -> f32 {
        let above = polynomial(
            square,
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
        above / polynomial(square, [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2])
    }

    #[inline(always)]
    fn erfc_far(x: f32) -> f32 {
        let inverse = 1.0 / x;
        let square = inverse * inverse;
        let near = polynomial(
            square,
            [
                2.326_819_970_068_386e-2,
                -1.387_039_388_740_657e-1,
                3.687_424_674_597_105e-1,
                -5.824_733_027_278_666e-1,
                6.210_004_621_745_983e-1,
                -4.944_515_323_274_145e-1,
                3.404_879_937_665_872e-1,
                -2.741_127_028_184_656e-1,
                5.638_259_427_386_472e-1,
            ],
        );
        let far = polynomial(
            square,
            [
                -1.047_766_399_936_249e1,
                1.297_719_955_372_516e1,
                -7.495_518_717_768_503,
                2.921_019_019_210_786,
                -1.015_265_279_202_7,
                4.218_463_358_204_948e-1,
                -2.820_767_439_740_514e-1,
                5.641_895_067_754_075e-1,
            ],
        );
        inverse * if x < 2.0 { near } else { far }
    }
}

impl Real for f64 {
    representation!(
        f64, u64, mantissa 52, bias 1023, root 0x3fe6_a09e_667f_3bcd, magic 0x4330_0000_0000_0000
    );

    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const BIG: f64 = 1e100;
    const TINY: f64 = 1e-17;
    const EXP_RANGE: (f64, f64) = (-746.0, 710.0);
    const EXP_M1_RANGE: (f64, f64) = (-40.0, 710.0);
    const HYPERBOLIC_BOUND: f64 = 711.0;
    const QUARTER: [f64; 4] = [
        1.570_796_326_734_125_614_17,
        6.077_100_506_303_965_976_60e-11,
        2.022_266_248_711_166_455_80e-21,
        8.478_427_660_368_899_569_97e-32,
    ];
    const MOST_TURNED: f64 = 1e6;
    const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

    #[inline(always)]
    fn exp_m1_reduced(r: f64) -> f64 {
        let z = r * r;
        let above = polynomial(z, [1.261_771_930_748_105_908_78e-4, 3.029_944_077_074_419_613_00e-2, 1.0]) * r;
        let below = polynomial(
            z,
            [3.001_985_051_386_644_550_42e-6, 2.524_483_403_496_841_041_92e-3, 2.272_655_482_081_550_287_66e-1, 2.0],
        );
        2.0 * above / (below - above)
    }

    #[inline(always)]
    fn ln_tail(m: f64) -> f64 {
        let above = polynomial(
            m,
            [
                1.018_756_638_045_809_317_96e-4,
                4.974_949_949_767_470_014_25e-1,
                4.705_791_198_788_817_258_54,
                1.449_892_253_416_109_308_46e1,
                1.793_686_785_078_198_163_13e1,
                7.708_387_337_558_853_916_66,
            ],
        );
        let below = monic(
            m,
            [
                1.128_735_871_891_674_505_90e1,
                4.522_791_458_375_322_211_05e1,
                8.298_752_669_127_766_032_11e1,
                7.115_447_506_185_638_944_66e1,
                2.312_516_201_267_653_405_83e1,
            ],
        );
        above / below
    }

    #[inline(always)]
    fn sin_tail(square: f64) -> f64 {
        polynomial(
            square,
            [
                1.589_623_015_765_465_680_60e-10,
                -2.505_074_776_285_780_728_66e-8,
                2.755_731_362_138_572_452_13e-6,
                -1.984_126_982_958_953_859_96e-4,
                8.333_333_333_322_118_588_78e-3,
                -1.666_666_666_666_663_072_95e-1,
            ],
        )
    }

    #[inline(always)]
    fn cos_tail(square: f64) -> f64 {
        polynomial(
            square,
            [
                -1.135_853_652_138_768_173_00e-11,
                2.087_570_084_197_473_167_78e-9,
                -2.755_731_417_929_673_881_12e-7,
                2.480_158_728_885_170_453_48e-5,
                -1.388_888_888_887_305_641_16e-3,
                4.166_666_666_666_659_292_18e-2,
            ],
        )
    }

    #[inline(always)]
    fn atan_tail(square: f64) -> f64 {
        let above = polynomial(
            square,
            [
                -8.750_608_600_031_904_122_785e-1,
                -1.615_753_718_733_365_076_637e1,
                -7.500_855_792_314_704_667_340e1,
                -1.228_866_684_490_136_173_410e2,
                -6.485_021_904_942_025_371_773e1,
            ],
        );
        let below = monic(
            square,
            [
                2.485_846_490_142_306_297_962e1,
                1.650_270_098_316_988_542_046e2,
                4.328_810_604_912_902_668_951e2,
                4.853_903_996_359_136_964_868e2,
                1.945_506_571_482_613_964_425e2,
            ],
        );
        above / below
    }

    #[inline(always)]
    fn asin_tail(square: f64) -> f64 {
        let above = polynomial(
            square,
            [
                3.479_331_075_960_211_675_70e-5,
                7.915_349_942_898_145_321_76e-4,
                -4.005_553_450_067_941_140_27e-2,
                2.012_125_321_348_629_258_81e-1,
                -3.255_658_186_224_009_154_05e-1,
                1.666_666_666_666_666_574_15e-1,
            ],
        );
        let below = polynomial(
            square,
            [
                7.703_815_055_590_193_527_91e-2,
                -6.882_839_716_054_532_930_30e-1,
                2.020_945_760_233_505_694_71,
                -2.403_394_911_734_414_218_78,
                1.0,
            ],
        );
        above / below
    }

    #[inline(always)]
    fn tanh(self) -> f64 {
        let t = super::exp_m1(super::bounded(2.0 * self.abs(), 0.0, 44.0));
        (t / (t + 2.0)).copysign(self)
    }

    #[inline(always)]
    fn erf(self) -> f64 {
        let a = self.abs();
        let far = (1.0 - super::erfc_far(a)).copysign(self);
        if a > 1.0 { far } else { super::erf_near(self) }
    }

    #[inline(always)]
    fn erf_near(square: f64) -> f64 {
        let above = polynomial(
            square,
            [
                9.604_973_739_870_516_387_49,
                9.002_601_972_038_426_892_17e1,
                2.232_005_345_946_843_192_26e3,
                7.003_325_141_128_050_754_73e3,
                5.559_230_130_103_949_627_68e4,
            ],
        );
        let below = monic(
            square,
            [
                3.356_171_416_475_030_996_47e1,
                5.213_579_497_801_526_797_95e2,
                4.594_323_829_709_801_279_87e3,
                2.262_900_006_138_909_342_46e4,
                4.926_739_426_086_359_210_86e4,
            ],
        );
        above / below
    }

    #[inline(always)]
    fn erfc_far(x: f64) -> f64 {
        let near = polynomial(
            x,
            [
                2.461_969_814_735_305_125_24e-10,
                5.641_895_648_310_688_219_77e-1,
                7.463_210_564_422_699_126_87,
                4.863_719_709_856_813_666_14e1,
                1.965_208_329_560_770_982_42e2,
                5.264_451_949_954_773_586_31e2,
                9.345_285_271_719_576_075_40e2,
                1.027_551_886_895_157_102_72e3,
                5.575_353_353_693_993_275_26e2,
            ],
        ) / monic(
            x,
            [
                1.322_819_511_547_449_925_08e1,
                8.670_721_408_859_897_423_29e1,
                3.549_377_788_878_198_910_62e2,
                9.757_085_017_432_054_897_53e2,
                1.823_909_166_879_097_362_89e3,
                2.246_337_608_187_109_817_92e3,
                1.656_663_091_941_613_501_82e3,
                5.575_353_408_177_276_755_46e2,
            ],
        );
        let far = polynomial(
            x,
            [
                5.641_895_835_477_550_739_84e-1,
                1.275_366_707_599_781_044_16,
                5.019_050_422_511_804_774_14,
                6.160_210_979_930_535_851_95,
                7.409_742_699_504_489_391_60,
                2.978_866_653_721_002_406_70,
            ],
        ) / monic(
            x,
            [
                2.260_528_632_201_172_765_90,
                9.396_035_249_380_014_346_73,
                1.204_895_398_080_966_566_05e1,
                1.708_144_507_475_658_972_22e1,
                9.608_968_090_632_858_781_98,
                3.369_076_451_000_815_160_50,
            ],
        );
        if x < 8.0 { near } else { far }
    }
}
