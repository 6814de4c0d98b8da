//! Arithmetic that a kernel generic over its dtype needs.

use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, MulAssign, Sub, SubAssign};

use super::{Complex32, Complex64, Pod, bf16, f16};

/// An element that kernels compute with: those of TensorFlow's `numbertype`, which are integers, floats, complex numbers
/// and quantized integers.
///
/// ```
/// use kernlink_framework::dtype::Number;
///
/// fn polynomial<T: Number>(coefficients: &[T], x: T) -> T {
///     coefficients.iter().rev().fold(T::ZERO, |sum, &c| sum * x + c)
/// }
/// assert_eq!(polynomial(&[1.0, 0.5, 2.0], 2.0), 10.0);
/// assert_eq!(polynomial(&[1i64, 0, 2], 3), 19);
///
/// fn mean<T: Number>(x: &[T]) -> f64 {
///     x.iter().sum::<T>().as_f64() / x.len() as f64
/// }
/// assert_eq!(mean(&[1u8, 2]), 1.5);
/// ```
///
/// # Overflow
/// Integers of TensorFlow wrap. Rust's operators on `i8` to `u64` do so too, unless overflow checks are on, as they are in
/// debug builds: there `a + b` panics and the node fails with INTERNAL. Where values come from outside and may overflow,
/// compute with [`Wrapping<T>`](super::Wrapping), which wraps in every build and has the same operators, or with
/// [`wrapping_add`](Number::wrapping_add) and its like. Quantized integers always wrap.
///
/// # Rounding
/// 16-bit floats are rounded after each operation, but for [`Sum`] and [`Product`], which round the end result.
///
/// # Which dtypes suit which bound
///
/// | dtypes, as specs and `T = [...]` name them | bound |
/// |---|---|
/// | `numbertype`: all of those below | `T: Number` |
/// | `realnumbertype`: integers and floats | `T: `[`RealNumber`], which are ordered |
/// | integers: `int8` to `int64`, `uint8` to `uint64` | `T: RealNumber + Ord` |
/// | floats: `half`, `bfloat16`, `float`, `double` | `T: RealNumber + Neg<Output = T> + Div<Output = T>`; with functions such as `sqrt`: `T: Number + num_traits::Float` |
/// | `complex64` ([`Complex32`]), `complex128` ([`Complex64`]) | `T: Number + num_complex::ComplexFloat`, which suits `float` and `double`, too |
/// | `quantizedtype`: `qint8`, `quint8`, `qint16`, `quint16`, `qint32` | `T: Number + Ord`: arithmetic of the integers that stand for numbers, whatever the range |
/// | these, `bool`, and integers and floats of 8 bits and less | `T: `[`Pod`]: plain bytes, which are copied and compared |
/// | these, `string`, `resource` and `variant` | `T: `[`Element`](super::Element) |
///
/// Integers of less than 8 bits and floats of 8 bits and less (`int4`, `float8_e5m2`, ...) are in none of TensorFlow's sets
/// of numbers: kernels convert them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that kernels compute with",
    note = "numbers are the elements of `numbertype`: f32, f64, f16, bf16, i8 to i64, u8 to u64, Complex32, Complex64, and \
            the quantized integers of `kernlink::dtype`"
)]
pub trait Number:
    Pod
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + Product
    + for<'a> Sum<&'a Self>
    + for<'a> Product<&'a Self>
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;

    /// `self + other`, which wraps if it is an integer.
    fn wrapping_add(self, other: Self) -> Self;
    /// `self - other`, which wraps if it is an integer.
    fn wrapping_sub(self, other: Self) -> Self;
    /// `self * other`, which wraps if it is an integer.
    fn wrapping_mul(self, other: Self) -> Self;
    /// `-self`, which wraps if it is an integer: −128 is its own negative among the `i8`s, and 1 becomes 255 among the `u8`s.
    fn wrapping_neg(self) -> Self;

    /// `value as Self`: its lowest bits if it is out of an integer's range, the nearest float. For `bf16` it is rounded
    /// twice, to `f32` first, as in TensorFlow: of the two neighbours it may be the one farther away.
    fn from_i64(value: i64) -> Self;
    /// `value as Self`: the nearest float, or towards zero the nearest integer, which of NaN is 0. (`Cast` of what is out of
    /// an integer's range depends on the processor in TensorFlow.)
    fn from_f64(value: f64) -> Self;
    /// `self as i64`: a float towards zero, the nearest if it is out of range; of a complex number the real part.
    fn as_i64(self) -> i64;
    /// `self as f64`, the nearest; of a complex number the real part.
    fn as_f64(self) -> f64;
}

/// A [`Number`] that has an order: those of TensorFlow's `realnumbertype`, which are integers and floats.
///
/// ```
/// use kernlink_framework::dtype::RealNumber;
///
/// fn greatest<T: RealNumber>(x: &[T]) -> T {
///     x.iter().fold(T::MIN, |best, &x| if x > best { x } else { best })
/// }
/// assert_eq!(greatest(&[-2.0, -0.5]), -0.5);
/// assert_eq!(greatest::<i8>(&[]), -128);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number that kernels compute with",
    note = "real numbers are the elements of `realnumbertype`: f32, f64, f16, bf16, i8 to i64 and u8 to u64"
)]
pub trait RealNumber: Number + PartialOrd {
    /// The least value, of floats the least finite one.
    const MIN: Self;
    /// The greatest value, of floats the greatest finite one.
    const MAX: Self;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline]
            fn wrapping_add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline]
            fn wrapping_sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline]
            fn wrapping_mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline]
            fn wrapping_neg(self) -> Self { self.wrapping_neg() }
            #[inline]
            fn from_i64(value: i64) -> Self { value as $t }
            #[inline]
            fn from_f64(value: f64) -> Self { value as $t }
            #[inline]
            fn as_i64(self) -> i64 { self as i64 }
            #[inline]
            fn as_f64(self) -> f64 { self as f64 }
        }

        impl RealNumber for $t {
            const MIN: Self = <$t>::MIN;
            const MAX: Self = <$t>::MAX;
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! inexact {
    ($($t:ty: $zero:expr, $one:expr, $from_i64:expr, $from_f64:expr, $as_f64:expr;)*) => {$(
        impl Number for $t {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            #[inline]
            fn wrapping_add(self, other: Self) -> Self { self + other }
            #[inline]
            fn wrapping_sub(self, other: Self) -> Self { self - other }
            #[inline]
            fn wrapping_mul(self, other: Self) -> Self { self * other }
            #[inline]
            fn wrapping_neg(self) -> Self { -self }
            #[inline]
            fn from_i64(value: i64) -> Self { $from_i64(value) }
            #[inline]
            fn from_f64(value: f64) -> Self { $from_f64(value) }
            #[inline]
            fn as_i64(self) -> i64 { self.as_f64() as i64 }
            #[inline]
            fn as_f64(self) -> f64 { $as_f64(self) }
        }
    )*};
}
inexact! {
    f32: 0.0, 1.0, |value| value as f32, |value| value as f32, f64::from;
    f64: 0.0, 1.0, |value| value as f64, |value| value, |value| value;
    f16: f16::ZERO, f16::ONE, |value| f16::from_f32(value as f32), f16::from_f64, f64::from;
    bf16: bf16::ZERO, bf16::ONE, |value| bf16::from_f32(value as f32), bf16::from_f64, f64::from;
    Complex32: Complex32::new(0.0, 0.0), Complex32::new(1.0, 0.0), |value| Complex32::new(value as f32, 0.0),
        |value| Complex32::new(value as f32, 0.0), |value: Complex32| f64::from(value.re);
    Complex64: Complex64::new(0.0, 0.0), Complex64::new(1.0, 0.0), |value| Complex64::new(value as f64, 0.0),
        |value| Complex64::new(value, 0.0), |value: Complex64| value.re;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl RealNumber for $t {
            const MIN: Self = <$t>::MIN;
            const MAX: Self = <$t>::MAX;
        }
    )*};
}
floats!(f32, f64, f16, bf16);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{QInt8, QInt16, QInt32, QUInt8, QUInt16, Wrapping, for_each_dtype};

    /// What the bounds of a generic kernel allow.
    fn compute<T: Number>(a: T, b: T, c: T) -> [T; 4] {
        let mut x = a + b * c - b;
        x += a;
        x -= b;
        x *= c;
        [x, [a, b, c].iter().sum(), [a, b, c].into_iter().product(), x.wrapping_neg()]
    }

    /// Calls `compute` with 3, 1 and 2 of a dtype and holds it against what is right.
    fn check<T: Number>() {
        let [a, b, c] = [3, 1, 2].map(T::from_i64);
        // (3 + 1·2 − 1 + 3 − 1) · 2
        let expected = [12, 6, 6].map(T::from_i64);
        let found = compute(a, b, c);
        assert_eq!(found[..3], expected, "{}", T::DTYPE);
        assert_eq!(found[3].wrapping_add(expected[0]), T::ZERO, "{}", T::DTYPE);
        assert_eq!((c.as_i64(), c.as_f64(), T::from_f64(2.0)), (2, 2.0, c), "{}", T::DTYPE);
        assert_eq!(T::from_i64(1), T::ONE);
    }

    fn check_real<T: RealNumber>() {
        check::<T>();
        check::<Wrapping<T>>();
        assert!(T::MIN < T::ONE && T::ONE < T::MAX && T::MIN.as_f64().is_finite() && T::MAX.as_f64().is_finite());
        assert!(Wrapping(T::MIN) < Wrapping::<T>::ONE);
    }

    /// Has an arm for each kind, so that a dtype of a set has the trait of that set.
    macro_rules! check_kind {
        (Float $t:ident) => {
            check_real::<$t>()
        };
        (Integer $t:ident) => {
            check_real::<$t>()
        };
        (Quantized $t:ident) => {
            check::<$t>()
        };
        (Complex $t:ident) => {
            check::<$t>()
        };
        (SmallFloat $t:ident) => {};
        (SmallInteger $t:ident) => {};
        (Bool $t:ident) => {};
        (Object $t:ident) => {};
    }

    macro_rules! check_all {
        ($(
            $(#[$doc:meta])*
            $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
        )*) => {
            $(check_kind!($kind $element);)*
        };
    }

    #[test]
    fn every_dtype_of_a_set_of_numbers_computes() {
        for_each_dtype!(check_all);
    }

    /// What overflows panics in no build.
    #[test]
    fn what_wraps() {
        let most = Wrapping(i32::MAX);
        assert_eq!([most + Wrapping(1), Wrapping(i32::MIN) - Wrapping(1)], [Wrapping(i32::MIN), most]);
        assert_eq!(most * most, Wrapping(1));
        assert_eq!(-Wrapping(i8::MIN), Wrapping(i8::MIN));
        assert_eq!(-Wrapping(1u8), Wrapping(255));
        assert_eq!([most, most].iter().sum::<Wrapping<i32>>(), Wrapping(-2));
        assert_eq!([most, Wrapping(2)].iter().product::<Wrapping<i32>>(), Wrapping(-2));
        assert_eq!(QInt8(127) + QInt8(1), QInt8(-128));
        assert_eq!([QUInt8(200), QUInt8(100)].into_iter().sum::<QUInt8>(), QUInt8(44));
        let mut x = QInt32(i32::MAX);
        x *= QInt32(2);
        assert_eq!(x, QInt32(-2));
    }

    #[test]
    fn conversions_are_those_of_as() {
        assert_eq!((i8::from_i64(300), u64::from_i64(-1)), (44, u64::MAX));
        assert_eq!((u8::from_f64(-1.5), u8::from_f64(300.0), i32::from_f64(f64::NAN)), (0, 255, 0));
        assert_eq!((i32::from_f64(-1.9), (-1.9f32).as_i64(), f64::INFINITY.as_i64()), (-1, -1, i64::MAX));
        assert_eq!((u64::MAX.as_i64(), u64::MAX.as_f64()), (-1, 18446744073709551616.0));
        assert_eq!(f16::from_i64(1 << 20), f16::INFINITY);
        assert_eq!(bf16::from_i64(257), bf16::from_f32(256.0));
        // Nearer to (1 << 40) + (1 << 33), as `tf.cast` does.
        assert_eq!(bf16::from_i64((1 << 40) + (1 << 32) + 1).to_f64(), (1i64 << 40) as f64);
        assert_eq!((Complex32::new(1.5, 2.0).as_f64(), Complex64::new(-1.5, 2.0).as_i64()), (1.5, -1));
        assert_eq!(Complex64::from_f64(0.5), Complex64::new(0.5, 0.0));
    }
}
