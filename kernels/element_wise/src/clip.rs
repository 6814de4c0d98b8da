//! ClipByValue.

use kernlink::Result;
use kernlink::dtype::{Complex32, Complex64, Pod, bf16, f16};
use kernlink::kernel::KernelContext;
use kernlink_geometry::element_wise::ensure_bound;
use kernlink_macros::register_kernel;
use kernlink_ops::ClipByValue;

use super::driver::{NO_ERROR, Spec, element_wise};

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
ordered!(f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16);

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

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, Complex32, Complex64])]
fn clip_by_value<T: Clip>(ctx: &mut KernelContext<'_, ClipByValue>) -> Result<()> {
    let shape = ctx.input(ClipByValue::T)?.shape();
    for bound in [ClipByValue::CLIP_VALUE_MIN, ClipByValue::CLIP_VALUE_MAX] {
        ensure_bound(shape, ctx.input(bound)?.shape())?;
    }
    let spec = Spec {
        run: run::<T>,
        wide: None,
        inputs: [T::DTYPE; 3],
        output: T::DTYPE,
        cost: 700,
        error: NO_ERROR,
        limit: usize::MAX,
        first: 0,
    };
    element_wise(ctx, &spec, &[])
}

/// The loop.
///
/// # Safety
/// As [`Loop`](super::driver::Loop).
unsafe fn run<T: Clip>([x, low, high]: [*const u8; 3], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    let (x, low, high, out) = unsafe {
        (
            std::slice::from_raw_parts(x.cast::<T>(), length),
            std::slice::from_raw_parts(low.cast::<T>(), length),
            std::slice::from_raw_parts(high.cast::<T>(), length),
            std::slice::from_raw_parts_mut(out.cast::<T>(), length),
        )
    };
    for (((out, &x), &low), &high) in out.iter_mut().zip(x).zip(low).zip(high) {
        *out = x.clip(low, high);
    }
    true
}
