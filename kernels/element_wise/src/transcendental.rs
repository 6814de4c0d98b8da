//! Roots, exponentials, logarithms, trigonometry, and the error function.

use kernlink::dtype::{Complex32, Complex64};
use kernlink_kernels_common::fast::{self, Real};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    Acos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Erf, Erfc, Exp, Expm1, Log, Log1p, Rsqrt, Sigmoid, Sin, Sinh,
    Sqrt, Tan, Tanh,
};

use super::complex;
use super::easy::mostly_easy;
use super::unary::{Unary, unary};

/// `unary!` for floats, with the function of complex numbers, and the registration for all six dtypes.
macro_rules! floats_and_complex {
    ($($op:ident, $cost:literal: |$x:ident| $real:expr, complex $complex:ident;)+) => {$(
        unary!($op, $cost:
            f32, f64 => |$x| $real; half;
            Complex64 => |x| complex::$complex(x); complex);
    )+};
}

/// A function that turns, of an argument of any size.
macro_rules! turned {
    ($x:ident, $function:ident) => {
        if $x.abs() <= Real::MOST_TURNED { fast::$function($x) } else { $x.$function() }
    };
}

floats_and_complex! {
    Expm1, 1500: |x| fast::exp_m1(x), complex expm1;
    Log1p, 2000: |x| fast::ln_1p(x), complex log1p;
    Asin, 1500: |x| fast::asin(x), complex asin;
    Acos, 1500: |x| fast::acos(x), complex acos;
    Atan, 1500: |x| fast::atan(x), complex atan;
    Asinh, 3000: |x| fast::asinh(x), complex asinh;
    Acosh, 3000: |x| fast::acosh(x), complex acosh;
    Atanh, 3000: |x| fast::atanh(x), complex atanh;
}

unary!(Sqrt, 1000: f32, f64 => |x| x.sqrt(); half);
unary!(Rsqrt, 1000: f32, f64 => |x| 1.0 / x.sqrt(); half);
unary!(Sinh, 1500: f32, f64 => |x| fast::sinh(x); half);
unary!(Cosh, 1500: f32, f64 => |x| fast::cosh(x); half);
unary!(Tanh, 1500: f32, f64 => |x| fast::tanh(x); half);
unary!(Sigmoid, 1500: f64 => |x| fast::sigmoid(x));
unary!(Sigmoid, 1500: slices fast::sigmoids);
unary!(Exp, 1500: f32, f64 => |x| fast::exp(x); half);
unary!(Log, 1500: f32, f64 => |x| fast::ln(x); half);

mostly_easy! {
    // Arguments in the thousands take the long way.
    Sin, 1500: f32, f64 => |x| if x.abs() <= Real::MOST_TURNED => fast::sin(x), turned!(x, sin);
    Cos, 1500: f32, f64 => |x| if x.abs() <= Real::MOST_TURNED => fast::cos(x), turned!(x, cos);
    Tan, 1500: f32, f64 => |x| if x.abs() <= Real::MOST_TURNED => fast::tan(x), turned!(x, tan);
    Erf, 1500: f64 => |x| if x.abs() <= 1.0 => fast::erf_near(x), fast::erf(x);
    Erfc, 1500: f32, f64 => |x| if x.abs() <= 1.0 => 1.0 - fast::erf_near(x), fast::erfc(x);
}

/// `mostly_easy!` for complex numbers, by functions of [`complex`].
macro_rules! complex_mostly_easy {
    ($($op:ident, $cost:literal: $known:ident => $quick:ident, $function:ident;)+) => {
        mostly_easy! {$(
            $op, $cost: Complex32, Complex64 => |x| if complex::$known(x)
                => complex::narrow(complex::$quick(complex::wide(x))), complex::narrow(complex::$function(complex::wide(x)));
        )+}
    };
}

complex_mostly_easy! {
    Sqrt, 5000: is_moderate => quick_sqrt, sqrt;
    Rsqrt, 6000: is_moderate => quick_rsqrt, rsqrt;
    Log, 8000: is_moderate => quick_log, log;
    Exp, 6000: is_moderate_exponent => quick_exp, exp;
    Sin, 9000: is_moderate_angle => quick_sin, sin;
    Cos, 9000: is_moderate_angle => quick_cos, cos;
    Sinh, 9000: is_moderate_angle => quick_sinh, sinh;
    Cosh, 9000: is_moderate_angle => quick_cosh, cosh;
    Sigmoid, 9000: is_moderate_angle => quick_sigmoid, sigmoid;
    Tanh, 9000: is_moderate_tangent => quick_tanh, tanh;
}

unary!(@half Sin, 1500);
unary!(@half Cos, 1500);
unary!(@half Tan, 1500);
unary!(@half Erfc, 1500);
unary!(Erf, 2000: f32 => |x| fast::erf(x); half);
unary!(Tan, 5000: Complex64 => |x| complex::tan(x); complex);

#[register_kernel(device = Cpu, op = [Erf, Erfc], T = [f32, f64, f16, bf16])]
type UnaryKernels<O, T> = Unary<O, T>;

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16, Complex32, Complex64], op = [
    Sqrt, Rsqrt, Exp, Expm1, Log, Log1p, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Sigmoid, Sin, Cos,
])]
type FunctionsAndComplex<O, T> = Unary<O, T>;
