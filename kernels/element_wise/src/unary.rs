//! Kernels of one argument: [`Unary`] makes one from any [`UnaryFn`].

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{ElementWise, KernelConstruction, KernelContext, Meet, OpKernel};
use kernlink::op::Op;

use super::driver::{SliceLoop, Spec, element_wise};

/// A function of one element of type `T`. Implemented by the op's own type.
pub(crate) trait UnaryFn<T: Pod>: Send + Sync + 'static {
    /// The type of the result.
    type Out: Pod;

    /// Picoseconds for one element, or so.
    const COST: usize = 500;

    /// The loop over a wider type that computes it.
    const WIDER: Option<Spec<1>> = None;

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
    pub(super) const SPEC: Spec<1> = Spec::of_cost::<Self>(F::COST);
}

impl<F: UnaryFn<T>, T: Pod> SliceLoop<1> for Unary<F, T> {
    type In = T;
    type Out = F::Out;
    const WIDER: Option<Spec<1>> = F::WIDER;

    #[inline(always)]
    fn run([x]: [&[T]; 1], out: &mut [F::Out]) -> bool {
        F::slice(x, out);
        true
    }
}

impl<O: Op, F: UnaryFn<T>, T: Pod> OpKernel<O> for Unary<F, T> {
    const ELEMENT_WISE: Option<ElementWise> = Some(ElementWise {
        parameter: None,
        meet: Meet::Equal,
        function: |inputs, output| const { &Self::SPEC }.for_dtypes(false, inputs, output),
    });

    fn new(_ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Unary(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        element_wise(ctx, &Self::SPEC, &[])
    }
}

/// Implements [`UnaryFn`], one function for several types. The number is the [`UnaryFn::COST`].
///
/// `unary!(Floor, 500: f32, f64 => |x| x.floor(); half)` adds `f16` and `bf16`, computed as `f32`; `complex` in place of `half`
/// adds `Complex32`, computed as `Complex64`; more functions may follow. `unary!(Sigmoid, 1500: slices fast::sigmoids)` has a
/// function of neighbours for `f32`, which adds `f16` and `bf16`. `unary!(IsNan -> bool: f32, f64 => |x| x.is_nan())` names
/// the result's type if it is not the argument's.
macro_rules! unary {
    ($op:ident, $cost:literal: slices $function:path) => {
        impl $crate::unary::UnaryFn<f32> for $op {
            type Out = f32;
            const COST: usize = $cost;

            #[inline(always)]
            fn call(x: f32) -> f32 {
                let mut out = [x];
                $function(&[x], &mut out);
                out[0]
            }

            #[inline(always)]
            fn slice(x: &[f32], out: &mut [f32]) {
                $function(x, out);
            }
        }
        unary!(@half $op, $cost);
    };
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident| $body:expr; half $(; $($rest:tt)+)?) => {
        unary!($op, $cost: $($t),+ => |$x| $body $(; $($rest)+)?);
        unary!(@half $op, $cost);
    };
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident| $body:expr; complex $(; $($rest:tt)+)?) => {
        unary!($op, $cost: $($t),+ => |$x| $body $(; $($rest)+)?);
        unary!(@complex $op, $cost);
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
    (@half $op:ident, $cost:literal) => {
        unary!(@stored $op, $cost, kernlink::dtype::f16, f32);
        unary!(@stored $op, $cost, kernlink::dtype::bf16, f32);
    };
    (@complex $op:ident, $cost:literal) => {
        unary!(@stored $op, $cost, kernlink::dtype::Complex32, kernlink::dtype::Complex64);
    };
    // As the function of `$wide`.
    (@stored $op:ident, $cost:literal, $t:ty, $wide:ty) => {
        impl $crate::unary::UnaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = $cost;
            const WIDER: Option<$crate::driver::Spec<1>> =
                Some($crate::unary::Unary::<$op, $wide>::SPEC.stored_as::<$t>());

            fn call(x: $t) -> $t {
                let mut out = [x];
                <Self as $crate::unary::UnaryFn<$t>>::slice(&[x], &mut out);
                out[0]
            }

            fn slice(x: &[$t], out: &mut [$t]) {
                const { $crate::unary::Unary::<$op, $t>::SPEC }.run_on([x], out);
            }
        }
    };
}
pub(crate) use unary;
