//! Dtypes of images that are computed on in `float`.

use kernlink::dtype::{Number, Pod, bf16, f16};
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::truncate::Truncate;

/// A dtype of images.
pub(crate) trait Pixel: Pod + AsPrimitive<f32> {
    /// What a float is cast to: integers are cut, as x86 does it.
    fn of_float(value: f32) -> Self;
}

/// A dtype of gradients of images, which are sums.
pub(crate) trait Summand: Number + Pixel {}
impl<T: Number + Pixel> Summand for T {}

macro_rules! pixels {
    ($($t:ty: $cast:expr),*) => {$(
        impl Pixel for $t {
            #[inline(always)]
            fn of_float(value: f32) -> $t {
                $cast(value)
            }
        }
    )*};
}
pixels!(
    u8: |value: f32| value.to_i64() as u8,
    i32: |value: f32| value.to_i32(),
    i64: f32::to_i64,
    f16: f16::from_f32,
    bf16: bf16::from_f32,
    f32: std::convert::identity,
    f64: f64::from
);
