//! The numbers that optimisers compute with.

use std::ops::{Div, Neg};

use kernlink::dtype::{DataType, Number};
use kernlink_kernels_common::number::{ComplexFloat, Computed, Float};

/// A number with the arithmetic of its dtype: narrow floats are rounded after each operation.
pub(super) trait Value: Number + bytemuck::Pod + Div<Output = Self> + Neg<Output = Self> {
    /// Whether loops over it are worth wide instructions.
    const IS_WIDE: bool;

    /// Nanoseconds that an operation takes, or so, in 64ths.
    const COST: usize;

    /// The nearest number.
    fn of(number: f64) -> Self;

    /// The square root.
    fn sqrt(self) -> Self;

    /// 1
    #[inline(always)]
    fn one() -> Self {
        Self::of(1.0)
    }

    /// The reciprocal of the square root.
    #[inline(always)]
    fn rsqrt(self) -> Self {
        Self::one() / self.sqrt()
    }

    /// The square.
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
}

/// A number on the real line.
pub(super) trait Real: Value + PartialOrd {
    /// e to this power.
    fn exp(self) -> Self;

    /// The number to this power.
    fn pow(self, exponent: Self) -> Self;

    /// The magnitude.
    fn abs(self) -> Self;

    /// 1, −1 or 0; of NaN, NaN.
    #[inline(always)]
    fn sign(self) -> Self {
        let zero = Self::of(0.0);
        if self > zero {
            Self::one()
        } else if self < zero {
            -Self::one()
        } else {
            self
        }
    }

    /// The greater of the two.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// The lesser of the two.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl<T: Computed<Wide: ComplexFloat> + bytemuck::Pod + Div<Output = T> + Neg<Output = T>> Value for T {
    const IS_WIDE: bool = matches!(T::DTYPE, DataType::Float | DataType::Double);
    const COST: usize = match T::DTYPE {
        DataType::Float | DataType::Double => 16,
        DataType::Complex64 | DataType::Complex128 => 64,
        _ => 128,
    };
    #[inline(always)]
    fn of(number: f64) -> Self {
        T::from_f64(number)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        T::narrow(ComplexFloat::sqrt(self.widen()))
    }
}

impl<T: Value + Computed<Wide: Float> + PartialOrd> Real for T {
    #[inline(always)]
    fn exp(self) -> Self {
        T::narrow(self.widen().exp())
    }
    #[inline(always)]
    fn pow(self, exponent: Self) -> Self {
        T::narrow(self.widen().powf(exponent.widen()))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        T::narrow(self.widen().abs())
    }
}
