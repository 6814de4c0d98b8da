//! Sums, products, powers, extremes and their like.

use kernlink::dtype::{Complex32, Complex64, Number};
use kernlink_geometry::element_wise::NEGATIVE_POWER;
use kernlink_kernels_common::fast;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{Add, AddV2, Atan2, Maximum, Minimum, Mul, MulNoNan, Pow, SquaredDifference, Sub, Xdivy, Xlogy};

use super::binary::{Binary, BinaryFn, binary};
use super::complex;

/// Gives ops methods of [`Number`].
macro_rules! number {
    ($($op:ident => $method:ident),+) => {$(
        binary!($op, 500:
            f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, Complex32, Complex64 => |x, y| Number::$method(x, y); half);
    )+};
}
number!(Add => wrapping_add, Sub => wrapping_sub, Mul => wrapping_mul);

// Extremes: NaN if one of the arguments is. Of equal numbers the second.
binary!(Maximum, 500:
    f32, f64 => |x, y| if x > y || x.is_nan() { x } else { y }; half;
    i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x.max(y));
binary!(Minimum, 500:
    f32, f64 => |x, y| if x < y || x.is_nan() { x } else { y }; half;
    i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x.min(y));

// The difference is rounded to the dtype before it is squared.
binary!(SquaredDifference, 500:
    f32, f64, i32, i64, Complex32, Complex64 => |x, y| {
        let difference = x.wrapping_sub(y);
        Computed::conj(difference).wrapping_mul(difference)
    };
    half |x, y, round| round(x - y) * round(x - y));
binary!(MulNoNan, 500:
    f32, f64, Complex32, Complex64 => |x, y| if y == Number::ZERO { Number::ZERO } else { x.wrapping_mul(y) }; half);

binary!(Xdivy, 1000:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x / y }; half;
    Complex32, Complex64 => |x, y| if x == Number::ZERO { Number::ZERO } else { complex::two(complex::divide, x, y) });
binary!(Xlogy, 1500:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x * fast::ln(y) }; half;
    Complex32, Complex64 => |x, y| if x == Number::ZERO { Number::ZERO } else { x * complex::one(complex::log, y) });
binary!(Atan2, 2000: f32, f64 => |y, x| fast::atan2(y, x); half);
binary!(Pow, 15000:
    f32, f64 => |x, y| x.powf(y); half;
    Complex32, Complex64 => |x, y| complex::two(complex::power, x, y));

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

#[register_kernel(device = Cpu, op = Add, T = [f32, f64, f16, bf16, i8, i16, i32, i64, u8, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [Sub, Mul], T = [realnumbertype, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [MulNoNan, Xlogy, Xdivy], T = [f32, f64, f16, bf16, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [Maximum, Minimum], T = [realnumbertype])]
#[register_kernel(device = Cpu, op = SquaredDifference, T = [f32, f64, f16, bf16, i32, i64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = Atan2, T = [f32, f64, f16, bf16])]
#[register_kernel(device = Cpu, op = Pow, T = [f32, f64, f16, bf16, i8, i16, i32, i64, Complex32, Complex64])]
type Functions<O, T> = Binary<O, T>;

#[register_kernel(device = Cpu, op = AddV2, T = [realnumbertype, Complex32, Complex64])]
type AddV2Kernel<T> = Binary<Add, T>;
