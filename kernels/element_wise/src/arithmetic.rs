//! Sums, products, powers, extremes and their like.

use kernlink::dtype::{Complex32, Complex64, Number};
use kernlink_kernels_common::fast;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{Add, AddV2, Atan2, Maximum, Minimum, Mul, MulNoNan, SquaredDifference, Sub, Xdivy, Xlog1py, Xlogy};

use super::binary::{Binary, binary};
use super::complex;
use super::easy::mostly_easy;

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
    half |x, y| x - y, then |difference| difference * difference);
binary!(MulNoNan, 500:
    f32, f64, Complex32, Complex64 => |x, y| if y == Number::ZERO { Number::ZERO } else { x.wrapping_mul(y) }; half);

binary!(Xdivy, 1000:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x / y }; half;
    Complex32, Complex64 => |x, y| if x == Number::ZERO { Number::ZERO } else { complex::narrow(complex::divide(complex::wide(x), complex::wide(y))) });
binary!(Xlogy, 1500:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x * fast::ln(y) }; half);
mostly_easy! {
    Xlogy, 8000: Complex32, Complex64 => |x, y| if complex::is_moderate(y) & (x != Number::ZERO)
        => x.wrapping_mul(complex::narrow(complex::quick_log(complex::wide(y)))),
        if x == Number::ZERO { Number::ZERO } else { x.wrapping_mul(complex::narrow(complex::log(complex::wide(y)))) };
}
binary!(Xlog1py, 2500:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x * fast::ln_1p(y) }; half;
    Complex32, Complex64 => |x, y| if x == Number::ZERO { Number::ZERO } else { x.wrapping_mul(complex::narrow(complex::log1p(complex::wide(y)))) });
binary!(Atan2, 2000: f32, f64 => |y, x| fast::atan2(y, x); half);

#[register_kernel(device = Cpu, op = Add, T = [f32, f64, f16, bf16, i8, i16, i32, i64, u8, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [Sub, Mul], T = [realnumbertype, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [MulNoNan, Xlog1py, Xlogy, Xdivy], T = [f32, f64, f16, bf16, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [Maximum, Minimum], T = [realnumbertype])]
#[register_kernel(device = Cpu, op = SquaredDifference, T = [f32, f64, f16, bf16, i32, i64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = Atan2, T = [f32, f64, f16, bf16])]
type Functions<O, T> = Binary<O, T>;

#[register_kernel(device = Cpu, op = AddV2, T = [realnumbertype, Complex32, Complex64])]
type AddV2Kernel<T> = Binary<Add, T>;
