//! Kernels of one argument: [`Unary`] makes one from any [`UnaryFn`].

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::{DataType, Element, Pod};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op;

use super::driver::{NO_ERROR, Spec, element_wise};

/// A function of one element of type `T`. Implemented by the op's own type.
pub(crate) trait UnaryFn<T: Pod>: Send + Sync + 'static {
    /// The type of the result.
    type Out: Pod;

    /// Picoseconds for one element, or so.
    const COST: usize = 500;

    /// The function.
    fn call(x: T) -> Self::Out;

    /// The function of every element; `out` is as long as `x`.
    #[inline(always)]
    fn slice(x: &[T], out: &mut [Self::Out]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = Self::call(x);
        }
    }
}

/// The kernel of a [`UnaryFn`].
pub(crate) struct Unary<F, T>(PhantomData<fn() -> (F, T)>);

impl<F: UnaryFn<T>, T: Pod> Unary<F, T> {
    const SPEC: Spec<1> = Spec {
        run: run::<F, T>,
        #[cfg(target_arch = "x86_64")]
        wide: if T::DTYPE.equals(DataType::Float) { Some(run_wide::<F, T>) } else { None },
        #[cfg(not(target_arch = "x86_64"))]
        wide: None,
        inputs: [T::DTYPE],
        output: <F::Out as Element>::DTYPE,
        cost: F::COST,
        error: NO_ERROR,
        limit: usize::MAX,
        first: 0,
    };
}

impl<O: Op, F: UnaryFn<T>, T: Pod> OpKernel<O> for Unary<F, T> {
    fn new(_ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Unary(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        element_wise(ctx, &Self::SPEC, &[])
    }
}

/// The loop of a [`UnaryFn`].
///
/// # Safety
/// As [`Loop`](super::driver::Loop).
#[inline(always)]
unsafe fn run<F: UnaryFn<T>, T: Pod>([x]: [*const u8; 1], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    let (x, out) = unsafe {
        (std::slice::from_raw_parts(x.cast::<T>(), length), std::slice::from_raw_parts_mut(out.cast(), length))
    };
    F::slice(x, out);
    true
}

/// As [`run`], for processors with AVX2, FMA and F16C.
///
/// # Safety
/// As [`Loop`](super::driver::Loop), and the processor has them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run_wide<F: UnaryFn<T>, T: Pod>(inputs: [*const u8; 1], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { run::<F, T>(inputs, out, length) }
}

/// Implements [`UnaryFn`], one function for several types. The number is the [`UnaryFn::COST`].
///
/// `unary!(Floor, 500: f32, f64 => |x| x.floor(); half)` adds `f16` and `bf16`, computed as `f32`; more functions may
/// follow. `unary!(IsNan -> bool: f32, f64 => |x| x.is_nan())` names the result's type if it is not the argument's.
macro_rules! unary {
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident| $body:expr; half $(; $($rest:tt)+)?) => {
        unary!($op, $cost: $($t),+ => |$x| $body $(; $($rest)+)?);
        unary!(@half $op, $cost: kernlink::dtype::f16, kernlink::dtype::bf16);
    };
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident| $body:expr $(; $($rest:tt)+)?) => {
        $(impl $crate::unary::UnaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = $cost;
            #[inline(always)]
            fn call($x: $t) -> $t { $body }
        })+
        $(unary!($op, $cost: $($rest)+);)?
    };
    ($op:ident -> $out:ty: $($t:ty),+ => |$x:ident| $body:expr) => {
        $(impl $crate::unary::UnaryFn<$t> for $op {
            type Out = $out;
            #[inline(always)]
            fn call($x: $t) -> $out { $body }
        })+
    };
    (@half $op:ident, $cost:literal: $($t:ty),+) => {
        $(impl $crate::unary::UnaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = $cost + 2000;
            #[inline(always)]
            fn call(x: $t) -> $t {
                <$t>::from_f32(<$op as $crate::unary::UnaryFn<f32>>::call(x.to_f32()))
            }
        })+
    };
}
pub(crate) use unary;

/// Registers [`Unary`] kernels: `register_unary! { Inv: Reciprocal = [f32, f64]; }` gives op `Inv` the function of
/// `Reciprocal`.
macro_rules! register_unary {
    ($($op:ident: $function:ident = [$($t:tt)+];)+) => {$(
        const _: () = {
            #[kernlink_macros::register_kernel(device = Cpu, op = $op, T = [$($t)+])]
            type Kernel<T> = $crate::unary::Unary<$function, T>;
        };
    )+};
}
pub(crate) use register_unary;
