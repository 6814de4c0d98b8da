//! Powers.

use kernlink::dtype::Complex64;
use kernlink_geometry::element_wise::NEGATIVE_POWER;
use kernlink_kernels_common::fast;
use kernlink_macros::register_kernel;
use kernlink_ops::Pow;

use super::binary::{Binary, BinaryFn, binary};
use super::complex;
use super::easy::BLOCK;

/// Powers of floats: one exponent for many, which most graphs have, may be a product or a root; and where all of a block
/// are easy, `$power` computes them.
macro_rules! float_power {
    ($t:ident, $cost:literal, cube |$a:ident| $cube:expr, |$x:ident, $y:ident| if $easy:expr => $power:expr) => {
        impl BinaryFn<$t> for Pow {
            type Out = $t;
            const COST: usize = $cost;
            const SEES_NEIGHBOURS: bool = true;

            #[inline(always)]
            fn call(x: $t, y: $t) -> $t {
                x.powf(y)
            }

            #[inline(always)]
            fn slice(x: &[$t], y: &[$t], out: &mut [$t]) {
                for ((x, y), out) in x.chunks(BLOCK).zip(y.chunks(BLOCK)).zip(out.chunks_mut(BLOCK)) {
                    let exponent = y[0];
                    let each = out.iter_mut().zip(x);
                    if x.len() > 1 && y.iter().fold(true, |same, &y| same & (y == exponent)) {
                        if exponent == 2.0 {
                            each.for_each(|(out, &x)| *out = x * x);
                            continue;
                        } else if exponent == 3.0 {
                            each.for_each(|(out, &$a)| *out = $cube);
                            continue;
                        } else if exponent == 0.5 {
                            // Unlike a root's, no result is negative, and −∞ has one.
                            let root = |x: $t| if x == $t::NEG_INFINITY { $t::INFINITY } else { (x + 0.0).sqrt() };
                            each.for_each(|(out, &x)| *out = root(x));
                            continue;
                        } else if exponent == 1.0 {
                            out.copy_from_slice(x);
                            continue;
                        } else if exponent == -1.0 {
                            each.for_each(|(out, &x)| *out = 1.0 / x);
                            continue;
                        }
                    }
                    let mut all = true;
                    for (&$x, &$y) in x.iter().zip(y) {
                        all &= $easy;
                    }
                    if all {
                        for ((out, &$x), &$y) in out.iter_mut().zip(x).zip(y) {
                            *out = $power;
                        }
                    } else {
                        for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                            *out = x.powf(y);
                        }
                    }
                }
            }
        }
    };
}

// In double precision neither the cube nor the logarithm loses what single precision shows.
float_power!(f32, 2000,
    cube |x| { let x = f64::from(x); (x * x * x) as f32 },
    |x, y| if x.to_bits() <= f32::INFINITY.to_bits() && y != 0.0 && y.abs() < f32::INFINITY
        => fast::exp(f64::from(y) * fast::ln(f64::from(x))) as f32
);
float_power!(f64, 15000, cube |x| x * x * x, |_x, _y| if false => 0.0);
binary!(@half Pow, 2000);
binary!(Pow, 15000: Complex64 => |x, y| complex::power(x, y); complex);

/// Powers of integers, which wrap.
macro_rules! integer_power {
    ($($t:ty),+) => {$(
        impl BinaryFn<$t> for Pow {
            type Out = $t;
            const COST: usize = 5000;
            const ERROR: &'static str = NEGATIVE_POWER;
            #[inline(always)]
            fn allows(y: $t) -> bool {
                y >= 0
            }
            #[inline(always)]
            fn call(x: $t, y: $t) -> $t {
                let (mut base, mut exponent, mut power): ($t, $t, $t) = (x, y, 1);
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                power
            }
        }
    )+};
}
integer_power!(i8, i16, i32, i64);

#[register_kernel(device = Cpu, op = Pow, T = [f32, f64, f16, bf16, i8, i16, i32, i64, Complex32, Complex64])]
type PowKernel<T> = Binary<Pow, T>;

#[cfg(test)]
mod tests {
    use super::*;

    fn powers<T: kernlink::dtype::Pod>(x: &[T], y: &[T]) -> Vec<T>
    where
        Pow: BinaryFn<T, Out = T>,
    {
        let mut out = vec![T::default(); x.len()];
        Pow::slice(x, y, &mut out);
        out
    }

    #[test]
    fn powers_are_those_of_the_c_library() {
        let special =
            [0.0f32, -0.0, 1.0, -1.0, 2.5, -3.0, 1e-40, 3e38, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.3];
        let ordinary: Vec<f32> = (0..600u16).map(|i| f32::from(i) * 0.013).collect();
        for exponent in [2.0f32, 3.0, 0.5, 1.0, -1.0, 0.0, -0.5, 1.7, -40.0, f32::INFINITY, f32::NAN] {
            for x in [&special[..], &ordinary] {
                let single = powers(x, &vec![exponent; x.len()]);
                let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
                let double = powers(&wide, &vec![exponent.into(); x.len()]);
                for ((&x, single), double) in x.iter().zip(single).zip(double) {
                    let right = f64::from(x).powf(exponent.into());
                    let near = |got: f64, limit: f64| {
                        got == right && got.is_sign_negative() == right.is_sign_negative()
                            || got.is_nan() && right.is_nan()
                            || (got - right).abs() <= limit * right.abs()
                    };
                    assert!(near(double, 3e-16), "{x} to the power of {exponent} gives {double}, not {right}");
                    let right = right as f32;
                    let near = single.to_bits().abs_diff(right.to_bits()) <= 1 || single.is_nan() && right.is_nan();
                    assert!(near, "{x} to the power of {exponent} gives {single}, not {right}");
                }
            }
        }
    }
}
