//! What the arithmetic of sparse tensors asks of a dtype.

use kernlink::dtype::Number;

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
