//! Numbers that matrices are made of.

use kernlink::dtype::{Complex32, Complex64, Number};
use kernlink_kernels_common::gemm::Gemm;
use std::ops::{Div, DivAssign, Neg};

/// A real or complex number. It has no `/`, as that of `num_complex` squares the divisor, which leaves the range of the numbers:
/// [`Scalar::over`] does not.
pub(crate) trait Scalar: Gemm + Number + Neg<Output = Self> + bytemuck::Zeroable + Send + Sync {
    /// The dtype of its parts.
    type Part: RealScalar;
    const IS_COMPLEX: bool;

    /// `re + im i`; of a real number, `re`.
    fn of(re: Self::Part, im: Self::Part) -> Self;

    fn real(re: Self::Part) -> Self {
        Self::of(re, Self::Part::ZERO)
    }

    fn re(self) -> Self::Part;

    fn im(self) -> Self::Part;

    fn conj(self) -> Self;

    /// The absolute value, also where its square is out of range.
    fn abs(self) -> Self::Part;

    fn sqrt(self) -> Self;

    fn scaled(self, by: Self::Part) -> Self;

    /// Each part divided by a real number.
    fn divided(self, by: Self::Part) -> Self;

    /// `self / by`, exact but for rounding wherever quotient and divisor are in range.
    fn over(self, by: Self) -> Self;

    /// The square of the absolute value.
    fn norm(self) -> Self::Part {
        self.re() * self.re() + self.im() * self.im()
    }

    /// A number of absolute value 1 in the same direction, or 0; of what is not finite as TensorFlow has it.
    fn sign(self) -> Self;
}

/// A real number.
pub(crate) trait RealScalar: Scalar<Part = Self> + PartialOrd + Div<Output = Self> + DivAssign {
    /// The distance from 1 to the next number.
    const EPSILON: Self;
    /// The least positive number with all digits.
    const TINY: Self;
    const NAN: Self;
    const INFINITY: Self;

    fn copysign(self, sign: Self) -> Self;

    fn hypot(self, other: Self) -> Self;

    fn ln(self) -> Self;

    fn exp(self) -> Self;

    fn count(n: usize) -> Self;

    fn f64(self) -> f64;

    /// The greater of two; if one is NaN, the other.
    fn greater(self, other: Self) -> Self {
        if other > self || self.partial_cmp(&self).is_none() { other } else { self }
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
            fn re(self) -> $t {
                self
            }

            #[inline(always)]
            fn im(self) -> $t {
                0.0
            }

            #[inline(always)]
            fn conj(self) -> $t {
                self
            }

            #[inline(always)]
            fn abs(self) -> $t {
                $t::abs(self)
            }

            #[inline(always)]
            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }

            #[inline(always)]
            fn scaled(self, by: $t) -> $t {
                self * by
            }

            #[inline(always)]
            fn divided(self, by: $t) -> $t {
                self / by
            }

            #[inline(always)]
            fn over(self, by: $t) -> $t {
                self / by
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
            fn ln(self) -> $t {
                $t::ln(self)
            }

            #[inline(always)]
            fn exp(self) -> $t {
                $t::exp(self)
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
    ($($t:ident of $part:ident by $quotient:ident),*) => {$(
        impl Scalar for $t {
            type Part = $part;
            const IS_COMPLEX: bool = true;

            #[inline(always)]
            fn of(re: $part, im: $part) -> $t {
                $t { re, im }
            }

            #[inline(always)]
            fn re(self) -> $part {
                self.re
            }

            #[inline(always)]
            fn im(self) -> $part {
                self.im
            }

            #[inline(always)]
            fn conj(self) -> $t {
                $t { re: self.re, im: -self.im }
            }

            #[inline(always)]
            fn abs(self) -> $part {
                self.re.hypot(self.im)
            }

            #[inline(always)]
            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }

            #[inline(always)]
            fn scaled(self, by: $part) -> $t {
                $t { re: self.re * by, im: self.im * by }
            }

            #[inline(always)]
            fn divided(self, by: $part) -> $t {
                $t { re: self.re / by, im: self.im / by }
            }

            #[inline(always)]
            fn over(self, by: $t) -> $t {
                $quotient(self, by)
            }

            #[inline(always)]
            fn sign(self) -> $t {
                let length = self.re.hypot(self.im);
                if length == 0.0 { $t { re: 0.0, im: 0.0 } } else { $t { re: self.re / length, im: self.im / length } }
            }
        }
    )*};
}
complex!(Complex32 of f32 by quotient_in_double, Complex64 of f64 by quotient);

/// The squares of `f32`s are well within the range of `f64`.
#[inline(always)]
fn quotient_in_double(x: Complex32, y: Complex32) -> Complex32 {
    let [a, b, c, d] = [x.re, x.im, y.re, y.im].map(f64::from);
    let square = c * c + d * d;
    Complex32 { re: ((a * c + b * d) / square) as f32, im: ((b * c - a * d) / square) as f32 }
}

/// By the greater part of the divisor first: Smith, Algorithm 116: Complex division (1962).
#[inline(always)]
fn quotient(x: Complex64, y: Complex64) -> Complex64 {
    if y.re.abs() >= y.im.abs() {
        let ratio = y.im / y.re;
        let by = y.re + y.im * ratio;
        Complex64 { re: (x.re + x.im * ratio) / by, im: (x.im - x.re * ratio) / by }
    } else {
        let ratio = y.re / y.im;
        let by = y.im + y.re * ratio;
        Complex64 { re: (x.re * ratio + x.im) / by, im: (x.im * ratio - x.re) / by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_all_sizes() {
        fn check<T: Scalar>(exponent: i32, limit: f64) {
            let size = |x: f64, k: i32| T::Part::from_f64(x * 10f64.powi(k));
            for k in [-exponent, -exponent / 2, 0, exponent / 2, exponent] {
                for (re, im) in [(3.0, 4.0), (-4.0, 3.0), (1.0, 0.0), (0.0, -2.0), (1e-3, 5.0)] {
                    let x = T::of(size(re, k), size(im, k));
                    let one = x.over(x);
                    assert!((one - T::ONE).abs().f64() < limit, "{k} {re} {im}");
                    let turned = x.over(T::of(size(-im, k), size(re, k)));
                    assert!((turned - T::of(T::Part::ZERO, -T::Part::ONE)).abs().f64() < limit, "{k}");
                    let inverse = T::ONE.over(x) * x;
                    assert!((inverse - T::ONE).abs().f64() < limit, "{k}");
                    assert!(
                        (x.divided(size(1.0, k)) - T::of(size(re, 0), size(im, 0))).abs().f64() < 10.0 * limit,
                        "{k}"
                    );
                }
            }
        }
        check::<Complex32>(30, 1e-6);
        check::<Complex64>(300, 1e-14);
    }
}
