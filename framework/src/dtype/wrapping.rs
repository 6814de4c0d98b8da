//! Numbers whose integers wrap in every build: [`Wrapping`], and quantized integers.

use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{DataType, Element, Number, Pod, QInt8, QInt16, QInt32, QUInt8, QUInt16, RealNumber};
use super::{Scalar, ScalarElement, Sealed};

/// A number that wraps on overflow as TensorFlow's integers do, whether or not overflow checks are on. Floats and complex
/// numbers are what they are without it.
///
/// It is an element of the dtype of `T`, so that a tensor's elements are seen through it where they lie:
///
/// ```
/// use kernlink_framework::dtype::{Number, Wrapping};
/// use kernlink_framework::tensor::Tensor;
///
/// fn squares<T: Number>(x: &mut Tensor) -> kernlink_framework::Result<()> {
///     x.as_mut_slice::<Wrapping<T>>()?.iter_mut().for_each(|x| *x = *x * *x);
///     Ok(())
/// }
/// let mut x = Tensor::vector(&[3, 1 << 16, i32::MAX])?;
/// squares::<i32>(&mut x)?;
/// assert_eq!(x.as_slice::<i32>()?, [9, 0, 1]);
/// # Ok::<(), kernlink_framework::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Wrapping<T>(pub T);

impl<T: fmt::Debug> fmt::Debug for Wrapping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Wrapping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Number> Sealed for Wrapping<T> {}

impl<T: Number> Element for Wrapping<T> {
    const DTYPE: DataType = T::DTYPE;
}

// SAFETY: a transparent wrapper of a type that has what is asked for; no `Number` is a bool.
unsafe impl<T: Number> Pod for Wrapping<T> {}

impl<T: Number> ScalarElement for Wrapping<T> {
    #[inline]
    fn to_scalar(self) -> Scalar {
        self.0.to_scalar()
    }

    #[inline]
    fn from_scalar(value: Scalar) -> Option<Self> {
        T::from_scalar(value).map(Wrapping)
    }
}

/// Writes one operator of a number that wraps, by a method of [`Number`].
macro_rules! operator {
    ([$($parameter:tt)*] $t:ty: $op:ident $method:ident $assign:ident $assign_method:ident $by:ident) => {
        impl<$($parameter)*> $op for $t {
            type Output = Self;
            #[inline]
            fn $method(self, other: Self) -> Self { self.$by(other) }
        }

        impl<$($parameter)*> $assign for $t {
            #[inline]
            fn $assign_method(&mut self, other: Self) { *self = self.$by(other); }
        }
    };
}

/// Writes the sum or product of numbers that wrap.
macro_rules! fold {
    ([$($parameter:tt)*] $t:ty: $fold:ident $method:ident $from:ident $by:ident) => {
        impl<$($parameter)*> $fold for $t {
            fn $method<I: Iterator<Item = Self>>(numbers: I) -> Self { numbers.fold(Self::$from, Self::$by) }
        }

        impl<'a, $($parameter)*> $fold<&'a $t> for $t {
            fn $method<I: Iterator<Item = &'a Self>>(numbers: I) -> Self { numbers.copied().$method() }
        }
    };
}

/// Writes arithmetic of what stands for another number, which wraps.
macro_rules! wrapping {
    ($([$($parameter:tt)*] $t:ty: $inner:ty;)*) => {$(
        operator!([$($parameter)*] $t: Add add AddAssign add_assign wrapping_add);
        operator!([$($parameter)*] $t: Sub sub SubAssign sub_assign wrapping_sub);
        operator!([$($parameter)*] $t: Mul mul MulAssign mul_assign wrapping_mul);
        fold!([$($parameter)*] $t: Sum sum ZERO wrapping_add);
        fold!([$($parameter)*] $t: Product product ONE wrapping_mul);

        impl<$($parameter)*> Neg for $t {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self { self.wrapping_neg() }
        }

        impl<$($parameter)*> Number for $t {
            const ZERO: Self = Self(<$inner as Number>::ZERO);
            const ONE: Self = Self(<$inner as Number>::ONE);
            #[inline]
            fn wrapping_add(self, other: Self) -> Self { Self(self.0.wrapping_add(other.0)) }
            #[inline]
            fn wrapping_sub(self, other: Self) -> Self { Self(self.0.wrapping_sub(other.0)) }
            #[inline]
            fn wrapping_mul(self, other: Self) -> Self { Self(self.0.wrapping_mul(other.0)) }
            #[inline]
            fn wrapping_neg(self) -> Self { Self(self.0.wrapping_neg()) }
            #[inline]
            fn from_i64(value: i64) -> Self { Self(<$inner>::from_i64(value)) }
            #[inline]
            fn from_f64(value: f64) -> Self { Self(<$inner>::from_f64(value)) }
            #[inline]
            fn as_i64(self) -> i64 { self.0.as_i64() }
            #[inline]
            fn as_f64(self) -> f64 { self.0.as_f64() }
        }
    )*};
}
wrapping! {
    [] QInt8: i8;
    [] QUInt8: u8;
    [] QInt16: i16;
    [] QUInt16: u16;
    [] QInt32: i32;
    [T: Number] Wrapping<T>: T;
}

impl<T: RealNumber> RealNumber for Wrapping<T> {
    const MIN: Self = Wrapping(T::MIN);
    const MAX: Self = Wrapping(T::MAX);
}
