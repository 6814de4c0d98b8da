//! QuantizeAndDequantize, V2, V3, V4 and V4Grad.

use std::marker::PhantomData;

use kernlink::dtype::Number;
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, RawContext};
use kernlink::op::Op;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::number::Float;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    QuantizeAndDequantize, QuantizeAndDequantizeV2, QuantizeAndDequantizeV3, QuantizeAndDequantizeV4, QuantizeAndDequantizeV4Grad,
};

use crate::number::{max, min};
use crate::slices::{Slices, axis_of};

/// What all versions have as attrs or inputs.
#[derive(Clone, Copy)]
struct Manner {
    is_signed: bool,
    is_narrow: bool,
    is_range_given: bool,
    rounds_up: bool,
    axis: i64,
}

/// The range of a slice, and the scale of its numbers.
#[derive(Clone, Copy)]
struct Scaled<T> {
    least: T,
    greatest: T,
    scale: T,
    inverse: T,
}

impl<T: Number + Float> Scaled<T> {
    /// Numbers of `bits`, from 1 to 62, for the range: the end that asks for the larger steps says how long they are.
    fn new(manner: Manner, bits: u32, mut least: T, mut greatest: T) -> Scaled<T> {
        let (lowest, highest) = match (manner.is_signed, manner.is_narrow) {
            (false, _) => (0, (1i64 << bits) - 1),
            (true, narrow) => (-(1i64 << (bits - 1)) + i64::from(narrow), (1i64 << (bits - 1)) - 1),
        };
        let (lowest, highest) = (T::from_i64(lowest), T::from_i64(highest));
        let from = |number: T, end: T| if number * end > T::ZERO { number / end } else { T::max_value() };
        let (from_least, from_greatest) = (from(lowest, least), from(highest, greatest));
        let (scale, inverse) = if from_least < from_greatest {
            let inverse = least / lowest;
            greatest = highest * inverse;
            (from_least, inverse)
        } else {
            let inverse = greatest / highest;
            least = lowest * inverse;
            (from_greatest, inverse)
        };
        Scaled { least, greatest, scale, inverse }
    }

    #[inline(always)]
    fn cut(&self, x: T) -> T {
        max(min(x, self.greatest), self.least)
    }

    #[inline(always)]
    fn to_even(&self, x: T) -> T {
        T::rint(x * self.scale) * self.inverse
    }

    #[inline(always)]
    fn up(&self, x: T) -> T {
        (x * self.scale + T::from_f64(0.5)).floor() * self.inverse
    }
}

/// Floats whose halves may be rounded to even.
trait Rint: Sized {
    /// The nearest whole number, of two the even one.
    fn rint(self) -> Self;
}

impl Rint for f32 {
    #[inline(always)]
    fn rint(self) -> f32 {
        self.round_ties_even()
    }
}

impl Rint for f64 {
    #[inline(always)]
    fn rint(self) -> f64 {
        self.round_ties_even()
    }
}
