//! ClipByValue.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::{Complex32, Complex64, Pod};
use kernlink::kernel::{ElementWise, KernelContext, Meet};
use kernlink_geometry::element_wise::ensure_bound;
use kernlink_macros::register_kernel;
use kernlink_ops::ClipByValue;

use super::driver::{SliceLoop, Spec, element_wise};
use super::ternary::ternary;

/// Elements that can be clipped. The lower bound wins where the bounds cross; NaN stays.
trait Clip: Pod {
    fn clip(self, low: Self, high: Self) -> Self;
}

macro_rules! ordered {
    ($($t:ty),+) => {$(
        impl Clip for $t {
            #[inline(always)]
            fn clip(self, low: Self, high: Self) -> Self {
                let below = if high < self { high } else { self };
                if below < low { low } else { below }
            }
        }
    )+};
}
ordered!(f32, f64, i8, i16, i32, i64, u8, u16);

/// TensorFlow clips the two parts each by itself.
macro_rules! complex {
    ($($t:ty),+) => {$(
        impl Clip for $t {
            fn clip(self, low: Self, high: Self) -> Self {
                <$t>::new(self.re.clip(low.re, high.re), self.im.clip(low.im, high.im))
            }
        }
    )+};
}
complex!(Complex32, Complex64);

#[register_kernel(
    device = Cpu,
    T = [f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, Complex32, Complex64],
    element_wise = Some(ElementWise {
        parameter: None,
        meet: Meet::Bounds,
        function: |inputs, output| const { &spec::<T>() }.for_dtypes(false, inputs, output),
    })
)]
fn clip_by_value<T>(ctx: &mut KernelContext<'_, ClipByValue>) -> Result<()>
where
    ClipLoop<T>: SliceLoop<3>,
{
    let shape = ctx.input(ClipByValue::T)?.shape();
    for bound in [ClipByValue::CLIP_VALUE_MIN, ClipByValue::CLIP_VALUE_MAX] {
        ensure_bound(shape, ctx.input(bound)?.shape())?;
    }
    element_wise(ctx, &const { spec::<T>() }, &[])
}

const fn spec<T>() -> Spec<3>
where
    ClipLoop<T>: SliceLoop<3>,
{
    Spec { cost: 700, ..Spec::of::<ClipLoop<T>>() }
}

struct ClipLoop<T>(PhantomData<T>);

ternary!(ClipLoop: f32, f64, i8, i16, i32, i64, u8, u16, Complex32, Complex64 => |x, low, high| x.clip(low, high); half);
