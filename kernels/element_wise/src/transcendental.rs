//! Roots, exponentials, logarithms, trigonometry, and the error function.

use kernlink::dtype::{Complex32, Complex64, bf16, f16};
use kernlink_kernels_common::fast;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    Acos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Erf, Erfc, Exp, Expm1, Log, Log1p, Rsqrt, Sigmoid, Sin, Sinh,
    Sqrt, Tan, Tanh,
};

use super::complex;
use super::unary::{Unary, UnaryFn, unary};

/// `unary!` for floats, with the function of complex numbers, and the registration for all six dtypes.
macro_rules! floats_and_complex {
    ($($op:ident, $cost:literal: |$x:ident| f32 $single:expr, f64 $double:expr, complex $complex:ident;)+) => {$(
        unary!($op, $cost:
            f32 => |$x| $single; half;
            f64 => |$x| $double;
            Complex32, Complex64 => |$x| complex::one(complex::$complex, $x));
    )+};
}

floats_and_complex! {
    Sqrt, 1000: |x| f32 x.sqrt(), f64 x.sqrt(), complex sqrt;
    Rsqrt, 1500: |x| f32 1.0 / x.sqrt(), f64 1.0 / x.sqrt(), complex rsqrt;
    Exp, 1500: |x| f32 fast::exp(x), f64 x.exp(), complex exp;
    Expm1, 8000: |x| f32 fast::exp_m1(x), f64 x.exp_m1(), complex expm1;
    Log, 1500: |x| f32 fast::ln(x), f64 x.ln(), complex log;
    Log1p, 8000: |x| f32 fast::ln_1p(x), f64 x.ln_1p(), complex log1p;
    Tan, 8000: |x| f32 x.tan(), f64 x.tan(), complex tan;
    Asin, 8000: |x| f32 x.asin(), f64 x.asin(), complex asin;
    Acos, 8000: |x| f32 x.acos(), f64 x.acos(), complex acos;
    Atan, 8000: |x| f32 x.atan(), f64 x.atan(), complex atan;
    Sinh, 8000: |x| f32 x.sinh(), f64 x.sinh(), complex sinh;
    Cosh, 8000: |x| f32 x.cosh(), f64 x.cosh(), complex cosh;
    Tanh, 2000: |x| f32 fast::tanh(x), f64 x.tanh(), complex tanh;
    Asinh, 12000: |x| f32 libm::asinhf(x), f64 libm::asinh(x), complex asinh;
    Acosh, 12000: |x| f32 if x < 1.0 { f32::NAN } else { libm::acoshf(x) }, f64 if x < 1.0 { f64::NAN } else { libm::acosh(x) }, complex acosh;
    Atanh, 12000: |x| f32 libm::atanhf(x), f64 libm::atanh(x), complex atanh;
    Sigmoid, 2000: |x| f32 fast::sigmoid(x), f64 1.0 / (1.0 + (-x).exp()), complex sigmoid;
}

unary!(Erf, 2000: f32 => |x| fast::erf(x); half; f64 => |x| libm::erf(x));
unary!(Erfc, 12000: f32 => |x| libm::erfcf(x); half; f64 => |x| libm::erfc(x));

#[register_kernel(device = Cpu, op = [Erf, Erfc], T = [f32, f64, f16, bf16])]
type UnaryKernels<O, T> = Unary<O, T>;

/// Sine and cosine: arguments in the thousands take the long way.
macro_rules! turned {
    ($($op:ident: $function:ident;)+) => {$(
        impl UnaryFn<f32> for $op {
            type Out = f32;
            const COST: usize = 1500;

            #[inline(always)]
            fn call(x: f32) -> f32 {
                if x.abs() > fast::MOST_TURNED { x.$function() } else { fast::$function(x) }
            }

            #[inline(always)]
            fn slice(x: &[f32], out: &mut [f32]) {
                for (x, out) in x.chunks(256).zip(out.chunks_mut(256)) {
                    let mut large = false;
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = fast::$function(x);
                        large |= x.abs() > fast::MOST_TURNED;
                    }
                    if large {
                        out.iter_mut().zip(x).for_each(|(out, &x)| *out = Self::call(x));
                    }
                }
            }
        }
        unary!(@half $op, 1500: f16, bf16);
        unary!($op, 5000: f64 => |x| x.$function(); Complex32, Complex64 => |x| complex::one(complex::$function, x));
    )+};
}

turned! {
    Sin: sin;
    Cos: cos;
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16, Complex32, Complex64], op = [
    Sqrt, Rsqrt, Exp, Expm1, Log, Log1p, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Sigmoid, Sin, Cos,
])]
type FunctionsAndComplex<O, T> = Unary<O, T>;
