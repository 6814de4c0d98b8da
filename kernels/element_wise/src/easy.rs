//! Functions that take few steps for some arguments, and many for others: a block whose arguments are all easy is computed
//! in the few.

/// Elements of a block.
pub(crate) const BLOCK: usize = 256;

// Loops and no closures: the compiler makes functions of large closures, and no vector code of loops that call them.

/// Implements `UnaryFn` or `BinaryFn`: `Erf, 1500: f64 => |x| if x.abs() <= 1.0 => erf_near(x), erf(x);` is `erf_near` of easy
/// arguments and `erf` of others, and costs 1.5 ns or so.
macro_rules! mostly_easy {
    ($($op:ident, $cost:literal: $($t:ty),+ => |$($x:ident),+| if $easy:expr => $few:expr, $otherwise:expr;)+) => {
        $(mostly_easy!(@types $op, $cost: [$($t),+] |$($x),+| $easy, $few, $otherwise);)+
    };
    (@types $op:ident, $cost:literal: [$($t:ty),+] |$x:ident| $easy:expr, $few:expr, $otherwise:expr) => {$(
        impl $crate::unary::UnaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = $cost;

            #[inline(always)]
            fn call($x: $t) -> $t {
                if $easy { $few } else { $otherwise }
            }

            #[inline(always)]
            fn slice(x: &[$t], out: &mut [$t]) {
                for (x, out) in x.chunks($crate::easy::BLOCK).zip(out.chunks_mut($crate::easy::BLOCK)) {
                    let mut all = true;
                    for &$x in x {
                        all &= $easy;
                    }
                    if all {
                        for (out, &$x) in out.iter_mut().zip(x) {
                            *out = $few;
                        }
                    } else {
                        for (out, &$x) in out.iter_mut().zip(x) {
                            *out = $otherwise;
                        }
                    }
                }
            }
        }
    )+};
    (@types $op:ident, $cost:literal: [$($t:ty),+] |$x:ident, $y:ident| $easy:expr, $few:expr, $otherwise:expr) => {$(
        impl $crate::binary::BinaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = $cost;

            #[inline(always)]
            fn call($x: $t, $y: $t) -> $t {
                if $easy { $few } else { $otherwise }
            }

            #[inline(always)]
            fn slice(x: &[$t], y: &[$t], out: &mut [$t]) {
                let blocks = x.chunks($crate::easy::BLOCK).zip(y.chunks($crate::easy::BLOCK));
                for ((x, y), out) in blocks.zip(out.chunks_mut($crate::easy::BLOCK)) {
                    let mut all = true;
                    for (&$x, &$y) in x.iter().zip(y) {
                        all &= $easy;
                    }
                    if all {
                        for ((out, &$x), &$y) in out.iter_mut().zip(x).zip(y) {
                            *out = $few;
                        }
                    } else {
                        for ((out, &$x), &$y) in out.iter_mut().zip(x).zip(y) {
                            *out = $otherwise;
                        }
                    }
                }
            }
        }
    )+};
}
pub(crate) use mostly_easy;
