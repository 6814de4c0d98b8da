//! What each float dtype makes of random bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

use kernlink::dtype::{Pod, bf16, f16};

use super::float::{ln, normal32, normal64, uniform32, uniform64};
use super::philox::Words;

/// A float dtype of random numbers.
pub(super) trait Real: Pod {
    /// How many numbers 128 bits make. Functions that return four make this many and leave the others as they are.
    const GROUP: usize;
    /// Numbers from 0 up to but without 1.
    fn uniform(bits: [u32; 4]) -> [Self; 4];
    /// Numbers of the normal distribution.
    fn normal(bits: [u32; 4]) -> [Self; 4];
    /// Numbers of the normal distribution between −2 and 2.
    fn truncated(bits: &mut Words) -> [Self; 4];
}

impl Real for f32 {
    const GROUP: usize = 4;

    #[inline(always)]
    fn uniform(bits: [u32; 4]) -> [f32; 4] {
        bits.map(uniform32)
    }

    #[inline(always)]
    fn normal([a, b, c, d]: [u32; 4]) -> [f32; 4] {
        let ([a, b], [c, d]) = (normal32([a, b]), normal32([c, d]));
        [a, b, c, d]
    }

    #[inline]
    fn truncated(bits: &mut Words) -> [f32; 4] {
        let (mut numbers, mut count) = ([0.0; 4], 0);
        loop {
            for number in normal32([bits.word(), bits.word()]) {
                if number.abs() < 2.0 {
                    numbers[count] = number;
                    count += 1;
                    if count == 4 {
                        return numbers;
                    }
                }
            }
        }
    }
}

impl Real for f64 {
    const GROUP: usize = 2;

    #[inline(always)]
    fn uniform([a, b, c, d]: [u32; 4]) -> [f64; 4] {
        [uniform64(a, b), uniform64(c, d), 0.0, 0.0]
    }

    #[inline(always)]
    fn normal(bits: [u32; 4]) -> [f64; 4] {
        let [a, b] = normal64(bits);
        [a, b, 0.0, 0.0]
    }

    #[inline]
    fn truncated(bits: &mut Words) -> [f64; 4] {
        let (mut numbers, mut count) = ([0.0; 4], 0);
        loop {
            for number in normal64([bits.word(), bits.word(), bits.word(), bits.word()]) {
                if number.abs() < 2.0 {
                    numbers[count] = number;
                    count += 1;
                    if count == 2 {
                        return numbers;
                    }
                }
            }
        }
    }
}

macro_rules! narrow {
    ($t:ty, $exponent:literal << $mantissa:literal) => {
        impl Real for $t {
            const GROUP: usize = 4;

            #[inline(always)]
            fn uniform(bits: [u32; 4]) -> [$t; 4] {
                // What is above the mantissa is cut off. The difference is exact.
                let number = |bits: u32| <$t>::from_bits($exponent << $mantissa | bits as u16 & ((1 << $mantissa) - 1));
                bits.map(|bits| <$t>::from_f32(number(bits).to_f32() - 1.0))
            }

            #[inline(always)]
            fn normal(bits: [u32; 4]) -> [$t; 4] {
                f32::normal(bits).map(<$t>::from_f32)
            }

            #[inline]
            fn truncated(bits: &mut Words) -> [$t; 4] {
                f32::truncated(bits).map(<$t>::from_f32)
            }
        }
    };
}
narrow!(f16, 15 << 10);
narrow!(bf16, 127 << 7);

/// A float dtype in which TensorFlow computes as well: narrow floats round after each operation.
pub(super) trait Computed:
    Real
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    /// The natural logarithm of a number from 0 to 1.
    fn ln(self) -> Self;
    fn is_finite(self) -> bool;
    fn is_infinite(self) -> bool;
}

macro_rules! computed {
    ($($t:ty, $of:expr, $wide:expr, $ln:expr, $narrow:expr);+) => {$(
        impl Computed for $t {
            #[inline(always)]
            fn of(value: f64) -> $t { $of(value) }
            #[inline(always)]
            fn sqrt(self) -> $t { $narrow($wide(self).sqrt()) }
            #[inline(always)]
            fn exp(self) -> $t { $narrow($wide(self).exp()) }
            #[inline(always)]
            fn ln(self) -> $t { $narrow($ln($wide(self))) }
            #[inline(always)]
            fn is_finite(self) -> bool { $wide(self).is_finite() }
            #[inline(always)]
            fn is_infinite(self) -> bool { $wide(self).is_infinite() }
        }
    )+};
}
computed!(
    f32, |value| value as f32, std::convert::identity::<f32>, ln, std::convert::identity;
    f64, std::convert::identity, std::convert::identity::<f64>, f64::ln, std::convert::identity;
    f16, |value| f16::from_f32(value as f32), f16::to_f32, ln, f16::from_f32
);
