//! Numbers that matrices are made of.

use kernlink::dtype::{Complex32, Complex64, Number};
use kernlink_kernels_common::gemm::Gemm;
use num_complex::ComplexFloat;
use std::ops::DivAssign;

/// A real or complex number.
pub(crate) trait Scalar:
    Gemm + Number + ComplexFloat<Real = Self::Part> + DivAssign + bytemuck::Zeroable + Send + Sync
{
    /// The dtype of its parts.
    type Part: RealScalar;
    const IS_COMPLEX: bool;

    /// `re + im i`; of a real number, `re`.
    fn of(re: Self::Part, im: Self::Part) -> Self;

    fn real(re: Self::Part) -> Self {
        Self::of(re, Self::Part::ZERO)
    }

    fn scaled(self, by: Self::Part) -> Self;

    /// The square of the absolute value.
    fn norm(self) -> Self::Part {
        self.re() * self.re() + self.im() * self.im()
    }

    /// A number of absolute value 1 in the same direction, or 0; of what is not finite as TensorFlow has it.
    fn sign(self) -> Self;
}

/// A real number.
pub(crate) trait RealScalar: Scalar<Part = Self> + PartialOrd {
    /// The distance from 1 to the next number.
    const EPSILON: Self;
    /// The least positive number with all digits.
    const TINY: Self;
    const NAN: Self;
    const INFINITY: Self;

    fn copysign(self, sign: Self) -> Self;

    fn hypot(self, other: Self) -> Self;

    fn count(n: usize) -> Self;

    fn f64(self) -> f64;

    /// The greater of two; if one is NaN, the other.
    fn greater(self, other: Self) -> Self {
        if other > self || ComplexFloat::is_nan(self) { other } else { self }
    }
}

macro_rules! real {
    ($($t:ident),*) => {$(
        impl Scalar for $t {
            type Part = $t;
            const IS_COMPLEX: bool = false;

            #[inline(always)]
            fn of(re: $t, _: $t) -> $t {
                re
            }

            #[inline(always)]
            fn scaled(self, by: $t) -> $t {
                self * by
            }

            #[inline(always)]
            fn sign(self) -> $t {
                if self == 0.0 { 0.0 } else if self.is_nan() { self } else { 1.0f64.copysign(self.into()) as $t }
            }
        }

        impl RealScalar for $t {
            const EPSILON: $t = $t::EPSILON;
            const TINY: $t = $t::MIN_POSITIVE;
            const NAN: $t = $t::NAN;
            const INFINITY: $t = $t::INFINITY;

            #[inline(always)]
            fn copysign(self, sign: $t) -> $t {
                $t::copysign(self, sign)
            }

            #[inline(always)]
            fn hypot(self, other: $t) -> $t {
                $t::hypot(self, other)
            }

            #[inline(always)]
            fn count(n: usize) -> $t {
                n as $t
            }

            #[inline(always)]
            fn f64(self) -> f64 {
                self.into()
            }
        }
    )*};
}
real!(f32, f64);

macro_rules! complex {
    ($($t:ident of $part:ident),*) => {$(
        impl Scalar for $t {
            type Part = $part;
            const IS_COMPLEX: bool = true;

            #[inline(always)]
            fn of(re: $part, im: $part) -> $t {
                $t { re, im }
            }

            #[inline(always)]
            fn scaled(self, by: $part) -> $t {
                $t { re: self.re * by, im: self.im * by }
            }

            #[inline(always)]
            fn sign(self) -> $t {
                let length = self.re.hypot(self.im);
                if length == 0.0 { $t { re: 0.0, im: 0.0 } } else { $t { re: self.re / length, im: self.im / length } }
            }
        }
    )*};
}
complex!(Complex32 of f32, Complex64 of f64);
