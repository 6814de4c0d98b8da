//! Quantized numbers and the values that they stand for, by the ends of a range.
//!
//! TensorFlow computes them in several ways that differ in the last place; those that are apart here are so there.

use kernlink::dtype::{Number, QInt8, QInt16, QInt32, QUInt8, QUInt16};
pub(crate) use kernlink_kernels_common::extremes::{max_or_first as max, min_or_first as min};
use kernlink_kernels_common::number::Float;
use kernlink_kernels_common::truncate::Truncate as _;

/// A dtype of quantized numbers.
pub(crate) trait Quantized: Number + Ord {
    /// The lowest number.
    const LOWEST: i64;
    /// The highest number.
    const HIGHEST: i64;
    /// The steps from the lowest number to the one after the highest.
    const STEPS: i64 = Self::HIGHEST - Self::LOWEST + 1;

    /// The number.
    fn get(self) -> i32;

    /// The number with the lowest bits of these.
    fn from_low_bits(number: i32) -> Self;
}

macro_rules! quantized {
    ($($name:ident: $inner:ident;)*) => {$(
        impl Quantized for $name {
            const LOWEST: i64 = $inner::MIN as i64;
            const HIGHEST: i64 = $inner::MAX as i64;

            #[inline(always)]
            fn get(self) -> i32 {
                self.0 as i32
            }

            #[inline(always)]
            fn from_low_bits(number: i32) -> Self {
                $name(number as $inner)
            }
        }
    )*};
}

quantized! {
    QInt8: i8;
    QUInt8: u8;
    QInt16: i16;
    QUInt16: u16;
    QInt32: i32;
}

/// `x`, but zero for a subnormal number: TensorFlow's threads take such for zero, as arguments and results.
pub(crate) fn flushed<T: Float>(x: T) -> T {
    if x.abs() < T::min_positive_value() { T::zero().copysign(x) } else { x }
}

/// The number of 24 bits, and zeros behind them, that is next.
#[inline(always)]
pub(crate) fn rounded(number: i32) -> i64 {
    // SAFETY: an `i32` as `f32` lies within ±2^31, which an `i64` holds. A checked cast would take a third of a loop's time.
    unsafe { (number as f32).to_int_unchecked() }
}

/// How many steps a value is above the least.
fn steps_to(value: f32, least: f32, greatest: f32, steps: i64) -> i64 {
    let steps = steps as f64;
    let range = f64::from(greatest - least) * (steps / (steps - 1.0));
    let scale = steps / range;
    ((f64::from(value) * scale).round() - (f64::from(least) * scale).round()).to_i64()
}

/// The number that stands for a value, which may lie outside of the dtype.
pub(crate) fn unclamped<T: Quantized>(value: f32, least: f32, greatest: f32) -> i64 {
    if least == greatest { T::LOWEST } else { steps_to(value, least, greatest, T::STEPS).wrapping_add(T::LOWEST) }
}

/// The number that stands for a value.
pub(crate) fn number_of<T: Quantized>(value: f32, least: f32, greatest: f32) -> i32 {
    if least == greatest {
        return T::LOWEST as i32;
    }
    steps_to(value, least, greatest, T::STEPS).saturating_add(T::LOWEST).clamp(T::LOWEST, T::HIGHEST) as i32
}

/// The value that a number stands for.
pub(crate) fn value_of<T: Quantized>(number: i32, least: f32, greatest: f32) -> f32 {
    if least == greatest {
        return least;
    }
    let steps = T::STEPS as f64;
    let range = f64::from(greatest - least) * (steps / (steps - 1.0));
    let scale = range / steps;
    let rounded = (least / scale as f32).round() * scale as f32;
    // TensorFlow rounds numbers to `float` on their way to `double`.
    (f64::from(rounded) + (f64::from(number as f32) - T::LOWEST as f64) * scale) as f32
}

/// How much one step stands for.
fn step<T: Quantized>(least: f32, greatest: f32) -> f32 {
    (greatest - least) / (T::HIGHEST - T::LOWEST) as f32
}

/// The range of products of numbers, which are of 32 bits.
pub(crate) fn range_of_products<A: Quantized, B: Quantized>(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    let step = step::<A>(a[0], a[1]) * step::<B>(b[0], b[1]);
    [step * i32::MIN as f32, step * i32::MAX as f32]
}

/// From numbers to values, in `float`.
#[derive(Clone, Copy)]
pub(crate) struct ToValues {
    scale: f32,
    first: f32,
}

impl ToValues {
    /// Of the numbers of `T` in a range.
    pub(crate) fn new<T: Quantized>(least: f32, greatest: f32) -> ToValues {
        let scale = (f64::from(greatest - least) / (T::STEPS as f64 - 1.0)) as f32;
        let rounded = if least == greatest { least } else { (least / scale).round() * scale };
        ToValues { scale, first: rounded - T::LOWEST as f32 * scale }
    }

    #[inline(always)]
    pub(crate) fn value(self, number: i32) -> f32 {
        self.first + number as f32 * self.scale
    }
}

/// From values to numbers, in `float`.
#[derive(Clone, Copy)]
pub(crate) struct ToNumbers {
    scale: f32,
    moved: f32,
    bounds: [f32; 2],
}

impl ToNumbers {
    /// To the numbers of `T` in a range.
    pub(crate) fn new<T: Quantized>(least: f32, greatest: f32) -> ToNumbers {
        let scale =
            if least == greatest { 0.0 } else { ((T::STEPS as f64 - 1.0) / f64::from(greatest - least)) as f32 };
        // The greatest `float` that an `i32` holds.
        let bounds = [T::LOWEST as f32, min(T::HIGHEST as f32, 2_147_483_520.0)];
        ToNumbers { scale, moved: (least * scale).round() - T::LOWEST as f32, bounds }
    }

    #[inline(always)]
    pub(crate) fn number(self, value: f32) -> i32 {
        min(max((value * self.scale).round() - self.moved, self.bounds[0]), self.bounds[1]).to_i32()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_values_go_both_ways() {
        for number in 0..=255 {
            let value = value_of::<QUInt8>(number, -1.0, 3.0);
            assert_eq!(number_of::<QUInt8>(value, -1.0, 3.0), number, "{value}");
            let value = ToValues::new::<QUInt8>(-1.0, 3.0).value(number);
            assert_eq!(ToNumbers::new::<QUInt8>(-1.0, 3.0).number(value), number, "{value}");
        }
        assert_eq!(number_of::<QInt8>(9.0, -1.0, 1.0), 127);
        assert_eq!(unclamped::<QUInt8>(0.0, 1.0, 2.0), -255);
        assert_eq!(value_of::<QInt32>(7, 2.0, 2.0), 2.0);
    }
}
