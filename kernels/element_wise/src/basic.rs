//! Signs, squares, rounding and the classification of numbers.

use kernlink::dtype::{Complex32, Complex64, Number, bf16, f16};
use kernlink_macros::register_kernel;
use kernlink_ops::{Abs, Ceil, Floor, Inv, IsFinite, IsInf, IsNan, Neg, Reciprocal, Rint, Round, Sign, Square};

use super::complex;
use super::easy::mostly_easy;
use super::unary::{Unary, unary};

unary!(Abs, 500:
    f32, f64 => |x| x.abs();
    f16 => |x| f16::from_bits(x.to_bits() & 0x7fff);
    bf16 => |x| bf16::from_bits(x.to_bits() & 0x7fff);
    i8, i16, i32, i64 => |x| x.wrapping_abs());
unary!(Neg, 500:
    f32, f64, f16, bf16, Complex32, Complex64 => |x| -x;
    i8, i16, i32, i64 => |x| x.wrapping_neg());
unary!(Sign, 500:
    f32, f64 => |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else if x == 0.0 { 0.0 } else { x }; half;
    // Two comparisons, which vectors have.
    i8 => |x| i8::from(x > 0) - i8::from(x < 0);
    i16 => |x| i16::from(x > 0) - i16::from(x < 0);
    i32 => |x| i32::from(x > 0) - i32::from(x < 0);
    i64 => |x| i64::from(x > 0) - i64::from(x < 0);
    Complex32, Complex64 => |x| complex::narrow(complex::sign(complex::wide(x))));
unary!(Reciprocal, 1000: f32, f64 => |x| 1.0 / x; half; Complex64 => |x| complex::reciprocal(x));
mostly_easy! {
    Reciprocal, 1500: Complex32 => |x| if complex::is_moderate(x)
        => complex::narrow(complex::quick_reciprocal(complex::wide(x))), complex::narrow(complex::reciprocal(complex::wide(x)));
}
unary!(Floor, 500: f32, f64 => |x| x.floor(); half);
unary!(Ceil, 500: f32, f64 => |x| x.ceil(); half);
// Of integers TensorFlow 2.21 makes zero, whatever they are; its Python front never asks for that.
unary!(Round, 500: f32, f64 => |x| x.round_ties_even(); half; i32, i64 => |_x| 0);
unary!(IsNan -> bool: f32, f64, f16, bf16 => |x| x.is_nan());
unary!(IsInf -> bool: f32, f64, f16, bf16 => |x| x.is_infinite());
unary!(IsFinite -> bool: f32, f64, f16, bf16 => |x| x.is_finite());

unary!(Square, 500:
    f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, Complex32, Complex64 => |x| Number::wrapping_mul(x, x); half);

#[register_kernel(device = Cpu, op = Abs, T = [f32, f64, f16, bf16, i8, i16, i32, i64])]
#[register_kernel(device = Cpu, op = [Neg, Sign], T = [f32, f64, f16, bf16, i8, i16, i32, i64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = Square, T = [realnumbertype, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = Reciprocal, T = [f32, f64, f16, bf16, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [Floor, Ceil, IsNan, IsInf, IsFinite], T = [f32, f64, f16, bf16])]
#[register_kernel(device = Cpu, op = Round, T = [f32, f64, f16, bf16, i32, i64])]
type Functions<O, T> = Unary<O, T>;

#[register_kernel(device = Cpu, op = Inv, T = [f32, f64, f16, bf16, Complex32, Complex64])]
type InvKernel<T> = Unary<Reciprocal, T>;

#[register_kernel(device = Cpu, op = Rint, T = [f32, f64])]
type RintKernel<T> = Unary<Round, T>;
