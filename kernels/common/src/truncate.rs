//! Floats that become integers as on x86, on which TensorFlow's answers were made.

/// Floats that are cut to integers as `cvttss2si` and `cvttsd2si` do it.
pub trait Truncate: Copy {
    /// In 32 bits; the least number where it does not fit, or is NaN.
    fn to_i32(self) -> i32;
    /// In 64 bits; the least number where it does not fit, or is NaN.
    fn to_i64(self) -> i64;
    /// In 64 bits without a sign, as compilers make it of two conversions with one; no certain number where it does not fit.
    fn to_u64(self) -> u64;
}

macro_rules! truncate {
    ($($t:ty),*) => {$(
        impl Truncate for $t {
            #[inline(always)]
            fn to_i32(self) -> i32 {
                if self < 2_147_483_648.0 && self > -2_147_483_649.0 {
                    // SAFETY: just checked to be in range.
                    unsafe { self.to_int_unchecked() }
                } else {
                    i32::MIN
                }
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&self) {
                    // SAFETY: just checked to be in range.
                    unsafe { self.to_int_unchecked() }
                } else {
                    i64::MIN
                }
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                let low = self.to_i64();
                (low | ((self - 9_223_372_036_854_775_808.0).to_i64() & (low >> 63))) as u64
            }
        }
    )*};
}
truncate!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_the_least() {
        assert_eq!([1.9, -1.9, f32::NAN, f32::INFINITY, -1e30].map(f32::to_i64), [1, -1, i64::MIN, i64::MIN, i64::MIN]);
        let doubles = [-1.5, 2_147_483_647.5, 2_147_483_648.0, f64::NAN];
        assert_eq!(doubles.map(f64::to_i32), [-1, i32::MAX, i32::MIN, i32::MIN]);
        // The number of 24 bits that is next to 10^19.
        assert_eq!(1e19f32.to_u64(), 9_999_999_980_506_447_872);
    }
}
