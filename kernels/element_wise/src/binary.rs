//! Kernels of two arguments: [`Binary`] makes one from any [`BinaryFn`].

use std::marker::PhantomData;

use kernlink::dtype::Pod;
use kernlink::kernel::{ElementWise, FunctionOf, KernelConstruction, KernelContext, Meet, OpKernel};
use kernlink::op::Op;
use kernlink::{Code, Result};

use super::driver::{SliceLoop, Spec, element_wise};

/// How many groups of dimensions two shapes may broadcast along: TensorFlow has no kernel for more.
pub(super) const LIMIT: usize = 5;

/// A function of two elements of type `T`. Implemented by the op's own type.
pub(crate) trait BinaryFn<T: Pod>: Send + Sync + 'static {
    /// The type of the result.
    type Out: Pod;

    /// Picoseconds for one element, or so.
    const COST: usize = 500;

    /// The loop over a wider type that computes it.
    const WIDER: Option<Spec<2>> = None;

    /// Whether it depends on the neighbours of an element how it is computed, in its last bits.
    const SEES_NEIGHBOURS: bool = false;

    /// Why arguments are not allowed; empty if all are.
    const ERROR: &'static str = "";

    /// The code of that error.
    const CODE: Code = Code::InvalidArgument;

    /// Whether the second argument is allowed.
    #[inline(always)]
    fn allows(_y: T) -> bool {
        true
    }

    /// The function; for arguments that are not allowed, any value.
    fn call(x: T, y: T) -> Self::Out;

    /// The function of all elements; the slices have one length.
    #[inline(always)]
    fn slice(x: &[T], y: &[T], out: &mut [Self::Out]) {
        for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
            *out = Self::call(x, y);
        }
    }
}

/// The kernel of a [`BinaryFn`].
pub(crate) struct Binary<F, T>(PhantomData<fn() -> (F, T)>);

impl<F: BinaryFn<T>, T: Pod> Binary<F, T> {
    /// The loop and its types.
    pub(super) const SPEC: Spec<2> =
        Spec { error: (F::CODE, F::ERROR), limit: LIMIT, ..Spec::of_cost::<Self>(F::COST) };

    /// What a kernel says of the loop, where the arguments' shapes meet in this way.
    pub(super) const fn element_wise(parameter: Option<&'static str>, meet: Meet) -> Option<ElementWise> {
        if !F::ERROR.is_empty() {
            return None;
        }
        let function: FunctionOf =
            |inputs, output| const { &Self::SPEC }.for_dtypes(F::SEES_NEIGHBOURS, inputs, output);
        Some(ElementWise { parameter, meet, function })
    }
}

impl<F: BinaryFn<T>, T: Pod> SliceLoop<2> for Binary<F, T> {
    type In = T;
    type Out = F::Out;
    const WIDER: Option<Spec<2>> = F::WIDER;

    #[inline(always)]
    fn run([x, y]: [&[T]; 2], out: &mut [F::Out]) -> bool {
        if !F::ERROR.is_empty() && !y.iter().fold(true, |valid, &y| valid & F::allows(y)) {
            return false;
        }
        F::slice(x, y, out);
        true
    }
}

impl<O: Op, F: BinaryFn<T>, T: Pod> OpKernel<O> for Binary<F, T> {
    const ELEMENT_WISE: Option<ElementWise> = Self::element_wise(None, Meet::Broadcast);

    fn new(_ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Binary(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        element_wise(ctx, &Self::SPEC, &[])
    }
}

/// Implements [`BinaryFn`], one function for several types. The number is the [`BinaryFn::COST`].
///
/// `binary!(Sub, 500: f32, f64 => |x, y| x - y; half)` adds `f16` and `bf16`, computed as `f32`; `complex` in place of `half` adds
/// `Complex32`, computed as `Complex64`; more functions may follow. `half |x, y| x - y, then |d| d * d` says how they are
/// computed where that takes more than one rounding: the first result is rounded to the dtype before the second is made of it.
/// `binary!(Less -> bool: f32, f64 => |x, y| x < y)` names the result's type if it is not the arguments'.
macro_rules! binary {
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident, $y:ident| $body:expr; half $(; $($rest:tt)+)?) => {
        binary!($op, $cost: $($t),+ => |$x, $y| $body $(; $($rest)+)?);
        binary!(@half $op, $cost);
    };
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident, $y:ident| $body:expr; complex $(; $($rest:tt)+)?) => {
        binary!($op, $cost: $($t),+ => |$x, $y| $body $(; $($rest)+)?);
        binary!(@complex $op, $cost);
    };
    (
        $op:ident, $cost:literal: $($t:ty),+ => |$x:ident, $y:ident| $body:expr;
        half |$a:ident, $b:ident| $first:expr, then |$c:ident| $second:expr $(; $($rest:tt)+)?
    ) => {
        binary!($op, $cost: $($t),+ => |$x, $y| $body $(; $($rest)+)?);
        const _: () = {
            /// The function of the exact values of numbers of type `T`.
            pub(crate) struct Exact<T>(std::marker::PhantomData<fn() -> T>);
            impl<T: kernlink_kernels_common::float16::Float16> $crate::binary::BinaryFn<f32> for Exact<T> {
                type Out = f32;
                #[inline(always)]
                fn call($a: f32, $b: f32) -> f32 {
                    let $c = T::rounded($first);
                    $second
                }

                #[inline(always)]
                fn slice(x: &[f32], y: &[f32], out: &mut [f32]) {
                    for ((out, &$a), &$b) in out.iter_mut().zip(x).zip(y) {
                        *out = $first;
                    }
                    $crate::blocks::round_all::<T>(out);
                    for out in out {
                        let $c = *out;
                        *out = $second;
                    }
                }
            }
            binary!(@stored $op -> kernlink::dtype::f16, $cost, kernlink::dtype::f16, Exact<kernlink::dtype::f16>, f32);
            binary!(@stored $op -> kernlink::dtype::bf16, $cost, kernlink::dtype::bf16, Exact<kernlink::dtype::bf16>, f32);
        };
    };
    ($op:ident, $cost:literal: $($t:ty),+ => |$x:ident, $y:ident| $body:expr $(; $($rest:tt)+)?) => {
        $(impl $crate::binary::BinaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = $cost;
            #[inline(always)]
            fn call($x: $t, $y: $t) -> $t { $body }
        })+
        $(binary!($op, $cost: $($rest)+);)?
    };
    ($op:ident -> $out:ty: $($t:ty),+ => |$x:ident, $y:ident| $body:expr; half) => {
        binary!($op -> $out: $($t),+ => |$x, $y| $body);
        binary!(@stored $op -> $out, 500, kernlink::dtype::f16, $op, f32);
        binary!(@stored $op -> $out, 500, kernlink::dtype::bf16, $op, f32);
    };
    ($op:ident -> $out:ty: $($t:ty),+ => |$x:ident, $y:ident| $body:expr) => {
        $(impl $crate::binary::BinaryFn<$t> for $op {
            type Out = $out;
            #[inline(always)]
            fn call($x: $t, $y: $t) -> $out { $body }
        })+
    };
    (@half $op:ident, $cost:literal) => {
        binary!(@stored $op -> kernlink::dtype::f16, $cost, kernlink::dtype::f16, $op, f32);
        binary!(@stored $op -> kernlink::dtype::bf16, $cost, kernlink::dtype::bf16, $op, f32);
    };
    (@complex $op:ident, $cost:literal) => {
        binary!(
            @stored $op -> kernlink::dtype::Complex32, $cost, kernlink::dtype::Complex32, $op, kernlink::dtype::Complex64
        );
    };
    // As `$function` of `$wide`.
    (@stored $op:ident -> $out:ty, $cost:literal, $t:ty, $function:ty, $wide:ty) => {
        impl $crate::binary::BinaryFn<$t> for $op {
            type Out = $out;
            const COST: usize = $cost;
            const WIDER: Option<$crate::driver::Spec<2>> =
                Some($crate::binary::Binary::<$function, $wide>::SPEC.stored_as::<$t>());
            const SEES_NEIGHBOURS: bool = <$function as $crate::binary::BinaryFn<$wide>>::SEES_NEIGHBOURS;

            fn call(x: $t, y: $t) -> $out {
                let mut out = [<$out>::default()];
                <Self as $crate::binary::BinaryFn<$t>>::slice(&[x], &[y], &mut out);
                out[0]
            }

            fn slice(x: &[$t], y: &[$t], out: &mut [$out]) {
                const { $crate::binary::Binary::<$op, $t>::SPEC }.run_on([x, y], out);
            }
        }
    };
}
pub(crate) use binary;
