//! What the arithmetic of sparse tensors asks of a dtype.

use kernlink::dtype::{Complex32, Complex64, Number, bf16, f16};

/// A dtype whose sums are kept in a wider one.
pub(super) trait Summed: Number {
    /// `f32` for 16-bit floats, the dtype itself for others.
    type Sum: Number;
    /// The exact value.
    fn widen(self) -> Self::Sum;
    /// The value rounded.
    fn narrow(sum: Self::Sum) -> Self;
    /// The complex conjugate.
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }
}

macro_rules! summed {
    ($($t:ty $(, $conj:ident)?);*) => {$(
        impl Summed for $t {
            type Sum = $t;
            #[inline(always)]
            fn widen(self) -> $t { self }
            #[inline(always)]
            fn narrow(sum: $t) -> $t { sum }
            $(
                #[inline(always)]
                fn conj(self) -> $t { <$t>::$conj(&self) }
            )?
        }
    )*};
}
summed!(f32; f64; i8; i16; i32; i64; u8; u16; u32; u64; Complex32, conj; Complex64, conj);

macro_rules! summed_halves {
    ($($t:ty),*) => {$(
        impl Summed for $t {
            type Sum = f32;
            #[inline(always)]
            fn widen(self) -> f32 { self.to_f32() }
            #[inline(always)]
            fn narrow(sum: f32) -> $t { <$t>::from_f32(sum) }
        }
    )*};
}
summed_halves!(f16, bf16);

/// A sum that can be made a mean.
pub(super) trait Scale: Number {
    /// `self * factor`; `self` where there are no fractions.
    fn times(self, factor: f64) -> Self;
    /// `self / divisor`; `self` where there are no fractions.
    fn over(self, divisor: f64) -> Self;
    /// The reciprocal of `divisor` as this dtype rounds it.
    fn reciprocal(divisor: f64) -> f64;
}

impl Scale for f32 {
    #[inline(always)]
    fn times(self, factor: f64) -> f32 {
        self * factor as f32
    }
    #[inline(always)]
    fn over(self, divisor: f64) -> f32 {
        self / divisor as f32
    }
    fn reciprocal(divisor: f64) -> f64 {
        f64::from(1.0 / divisor as f32)
    }
}

impl Scale for f64 {
    #[inline(always)]
    fn times(self, factor: f64) -> f64 {
        self * factor
    }
    #[inline(always)]
    fn over(self, divisor: f64) -> f64 {
        self / divisor
    }
    fn reciprocal(divisor: f64) -> f64 {
        1.0 / divisor
    }
}

macro_rules! unscaled {
    ($($t:ty),*) => {$(
        impl Scale for $t {
            #[inline(always)]
            fn times(self, _: f64) -> $t { self }
            #[inline(always)]
            fn over(self, _: f64) -> $t { self }
            fn reciprocal(_: f64) -> f64 { 1.0 }
        }
    )*};
}
unscaled!(i8, i16, i32, i64, u8, u16, u32, u64);
