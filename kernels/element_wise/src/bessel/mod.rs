//! Bessel functions of orders 0 and 1.
//!
//! The series, fractions and coefficients are those that the Cephes library published (`i0.c`, `k0.c`, `j0.c`, `y0.c`, those of
//! order 1, and their variants for floats); TensorFlow's are the same. Nothing branches.

mod modified;
mod ordinary;

pub(crate) use modified::{i0, i0e, i1, i1e, k0, k0e, k1, k1e};
pub(crate) use ordinary::{j0, j1, y0, y1};

#[cfg(test)]
mod tests {
    use super::ordinary::TWO_OVER_PI;
    use super::*;

    /// The differential equations that the functions fulfil, by way of the products of two kinds, which have simple values.
    #[test]
    fn two_kinds_make_wronskians() {
        for step in 1..4000 {
            let x = f64::from(step) * 0.01;
            let modified = i0e(x) * k1e(x) + i1e(x) * k0e(x);
            assert!((modified * x - 1.0).abs() < 4e-15, "{x}: {modified}");
            let plain = j1::<_, true>(x) * y0::<_, true>(x) - j0::<_, true>(x) * y1::<_, true>(x);
            assert!((plain * x / TWO_OVER_PI - 1.0).abs() < 1e-14, "{x}: {plain}");
            let x = x as f32;
            let modified = i0e(x) * k1e(x) + i1e(x) * k0e(x);
            assert!((modified * x - 1.0).abs() < 4e-6, "{x}: {modified}");
        }
    }

    #[test]
    fn known_values() {
        for (found, expected) in [
            (i0(1.0), 1.266_065_877_752_008_4),
            (i1(-1.0), -0.565_159_103_992_485),
            (k0(1.0), 0.421_024_438_240_708_34),
            (k1(1.0), 0.601_907_230_197_234_6),
            (j0::<_, true>(1.0), 0.765_197_686_557_966_6),
            (j1::<_, true>(-1.0), -0.440_050_585_744_933_5),
            (y0::<_, true>(1.0), 0.088_256_964_215_676_97),
            (y1::<_, true>(1.0), -0.781_212_821_300_288_7),
        ] {
            let found: f64 = found;
            assert!((found - expected).abs() <= 4e-16 * expected.abs(), "{found} instead of {expected}");
        }
    }
}
