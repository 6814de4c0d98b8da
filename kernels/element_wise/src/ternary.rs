//! Loops of three arguments of one dtype.

/// Implements `SliceLoop<3>` for `$name<T>`, one function for several types; `half` adds `f16` and `bf16`, computed as
/// `f32`.
macro_rules! ternary {
    ($name:ident: $($t:ty),+ => |$x:ident, $y:ident, $z:ident| $body:expr; half) => {
        $(impl $crate::driver::SliceLoop<3> for $name<$t> {
            type In = $t;
            type Out = $t;

            #[inline(always)]
            fn run([x, y, z]: [&[$t]; 3], out: &mut [$t]) -> bool {
                for (((out, &$x), &$y), &$z) in out.iter_mut().zip(x).zip(y).zip(z) {
                    *out = $body;
                }
                true
            }
        })+
        ternary!(@half $name: kernlink::dtype::f16, kernlink::dtype::bf16);
    };
    (@half $name:ident: $($t:ty),+) => {
        $(impl $crate::driver::SliceLoop<3> for $name<$t> {
            type In = $t;
            type Out = $t;

            const WIDER: Option<$crate::driver::Spec<3>> =
                Some($crate::driver::Spec::of::<$name<f32>>().stored_as::<$t>());

            fn run(inputs: [&[$t]; 3], out: &mut [$t]) -> bool {
                const { $crate::driver::Spec::of::<$name<$t>>() }.run_on(inputs, out)
            }
        })+
    };
}
pub(crate) use ternary;
