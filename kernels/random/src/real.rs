//! What each float dtype makes of random bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

use kernlink::dtype::{Pod, bf16, f16};

use kernlink_kernels_common::float16::Float16;
use kernlink_kernels_common::random_floats::{ln, normal32, normal64, uniform32, uniform64};

use super::philox::{BLOCK, Philox};

/// Words of a block of steps.
pub(super) const WORDS: usize = 4 * BLOCK;

/// A float dtype of random numbers. Functions make numbers of the 128 bits of each of `W / 4` steps; of the `W` that they
/// return, the first `W / 4 *` [`GROUP`](Self::GROUP) count.
pub(super) trait Real: Pod {
    /// How many numbers 128 bits make.
    const GROUP: usize;
    /// Numbers from 0 up to but without 1.
    fn uniform<const W: usize>(words: [u32; W]) -> [Self; W];
    /// Numbers of the normal distribution.
    fn normal<const W: usize>(words: [u32; W]) -> [Self; W];
    /// Groups of numbers of the normal distribution between −2 and 2. Group `i` begins with the words of step `i`, and takes
    /// more steps of `generator` from `i * stride + 1` on.
    fn truncated(words: [u32; WORDS], generator: Philox, stride: u64) -> [Self; WORDS];
}

/// As [`Real::truncated`].
#[inline(always)]
fn truncated<T: Real>(
    words: [u32; WORDS],
    generator: Philox,
    stride: u64,
    is_inside: impl Fn(T) -> bool,
) -> [T; WORDS] {
    let mut numbers = T::normal(words);
    for (lane, group) in (0..).zip(numbers.chunks_exact_mut(T::GROUP).take(BLOCK)) {
        let mut count = 0;
        for i in 0..T::GROUP {
            let number = group[i];
            group[count] = number;
            count += usize::from(is_inside(number));
        }
        if count < T::GROUP {
            complete(group, count, generator, lane * stride + 1, &is_inside);
        }
    }
    numbers
}

/// Fills a group from number `count` on, of what follows the first `skip` steps.
#[cold]
fn complete<T: Real>(
    group: &mut [T],
    mut count: usize,
    mut generator: Philox,
    skip: u64,
    is_inside: impl Fn(T) -> bool,
) {
    generator.skip(skip);
    loop {
        for number in T::normal(generator.step()).into_iter().take(T::GROUP) {
            if is_inside(number) {
                group[count] = number;
                count += 1;
                if count == T::GROUP {
                    return;
                }
            }
        }
    }
}

impl Real for f32 {
    const GROUP: usize = 4;

    #[inline(always)]
    fn uniform<const W: usize>(words: [u32; W]) -> [f32; W] {
        let mut numbers = [0.0; W];
        for (number, &word) in numbers.iter_mut().zip(&words) {
            *number = uniform32(word);
        }
        numbers
    }

    #[inline(always)]
    fn normal<const W: usize>(words: [u32; W]) -> [f32; W] {
        let mut numbers = [0.0; W];
        for (pair, &words) in numbers.as_chunks_mut::<2>().0.iter_mut().zip(words.as_chunks::<2>().0) {
            *pair = normal32(words);
        }
        numbers
    }

    #[inline(always)]
    fn truncated(words: [u32; WORDS], generator: Philox, stride: u64) -> [f32; WORDS] {
        truncated(words, generator, stride, |number: f32| number.abs() < 2.0)
    }
}

impl Real for f64 {
    const GROUP: usize = 2;

    #[inline(always)]
    fn uniform<const W: usize>(words: [u32; W]) -> [f64; W] {
        let mut numbers = [0.0; W];
        for (number, &[high, low]) in numbers.iter_mut().zip(words.as_chunks::<2>().0) {
            *number = uniform64(high, low);
        }
        numbers
    }

    #[inline(always)]
    fn normal<const W: usize>(words: [u32; W]) -> [f64; W] {
        let mut numbers = [0.0; W];
        for (pair, &words) in numbers.as_chunks_mut::<2>().0.iter_mut().zip(words.as_chunks::<4>().0) {
            *pair = normal64(words);
        }
        numbers
    }

    #[inline(always)]
    fn truncated(words: [u32; WORDS], generator: Philox, stride: u64) -> [f64; WORDS] {
        truncated(words, generator, stride, |number: f64| number.abs() < 2.0)
    }
}

/// The nearest 16-bit floats.
#[inline(always)]
fn narrow<T: Float16, const W: usize>(wide: [f32; W]) -> [T; W] {
    let mut numbers = [T::nearest(0.0); W];
    T::narrow(&wide, &mut numbers);
    numbers
}

macro_rules! narrow {
    ($t:ty, $mantissa:literal) => {
        impl Real for $t {
            const GROUP: usize = 4;

            #[inline(always)]
            fn uniform<const W: usize>(words: [u32; W]) -> [$t; W] {
                let mut wide = [0.0; W];
                for (number, &word) in wide.iter_mut().zip(&words) {
                    // What is above the mantissa is cut off. The difference is exact.
                    *number = uniform32((word & ((1 << $mantissa) - 1)) << (23 - $mantissa));
                }
                narrow(wide)
            }

            #[inline(always)]
            fn normal<const W: usize>(words: [u32; W]) -> [$t; W] {
                narrow(f32::normal(words))
            }

            #[inline(always)]
            fn truncated(words: [u32; WORDS], generator: Philox, stride: u64) -> [$t; WORDS] {
                narrow(f32::truncated(words, generator, stride))
            }
        }
    };
}
narrow!(f16, 10);
narrow!(bf16, 7);

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
