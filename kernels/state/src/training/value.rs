//! The numbers that optimisers compute with.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use kernlink::dtype::{Complex32, Complex64, Pod, bf16, f16};

/// A number with the arithmetic of its dtype: narrow floats are rounded after each operation.
pub(super) trait Value:
    Pod
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
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

macro_rules! floats {
    ($($t:ident),*) => {$(
        impl Value for $t {
            const IS_WIDE: bool = true;
            const COST: usize = 16;
            #[inline(always)]
            fn of(number: f64) -> Self { number as $t }
            #[inline(always)]
            fn sqrt(self) -> Self { $t::sqrt(self) }
        }
        impl Real for $t {
            #[inline(always)]
            fn exp(self) -> Self { $t::exp(self) }
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self { $t::powf(self, exponent) }
            #[inline(always)]
            fn abs(self) -> Self { $t::abs(self) }
        }
    )*};
}
floats!(f32, f64);

macro_rules! halves {
    ($($t:ident),*) => {$(
        impl Value for $t {
            const IS_WIDE: bool = false;
            const COST: usize = 128;
            #[inline(always)]
            fn of(number: f64) -> Self { $t::from_f64(number) }
            #[inline(always)]
            fn sqrt(self) -> Self { $t::from_f32(self.to_f32().sqrt()) }
        }
        impl Real for $t {
            #[inline(always)]
            fn exp(self) -> Self { $t::from_f32(self.to_f32().exp()) }
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self { $t::from_f32(self.to_f32().powf(exponent.to_f32())) }
            #[inline(always)]
            fn abs(self) -> Self { $t::from_f32(self.to_f32().abs()) }
        }
    )*};
}
halves!(f16, bf16);

macro_rules! complex {
    ($($t:ident: $part:ty),*) => {$(
        impl Value for $t {
            const IS_WIDE: bool = false;
            const COST: usize = 64;
            #[inline(always)]
            fn of(number: f64) -> Self { $t::new(number as $part, 0.0) }
            #[inline(always)]
            fn sqrt(self) -> Self { $t::sqrt(self) }
        }
    )*};
}
complex!(Complex32: f32, Complex64: f64);
