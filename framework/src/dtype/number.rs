//! Arithmetic that a kernel generic over its dtype needs.

use super::{Pod, bf16, f16};
use num_complex::Complex;

/// A number: integers wrap on overflow as TensorFlow's do, 16-bit floats round after each operation.
pub trait Number: Pod + PartialEq {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// `self + other`
    fn add(self, other: Self) -> Self;
    /// `self - other`
    fn sub(self, other: Self) -> Self;
    /// `self * other`
    fn mul(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty, $zero:expr, $one:expr);*) => {$(
        impl Number for $t {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            #[inline]
            fn add(self, other: Self) -> Self { self + other }
            #[inline]
            fn sub(self, other: Self) -> Self { self - other }
            #[inline]
            fn mul(self, other: Self) -> Self { self * other }
        }
    )*};
}
floats!(
    f32, 0.0, 1.0;
    f64, 0.0, 1.0;
    f16, f16::ZERO, f16::ONE;
    bf16, bf16::ZERO, bf16::ONE;
    Complex<f32>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0);
    Complex<f64>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0)
);
