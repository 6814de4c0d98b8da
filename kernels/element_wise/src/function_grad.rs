//! The gradients of roots, reciprocals, the logistic function and the hyperbolic tangent, from what these gave.

use kernlink::dtype::{Complex32, Complex64};
use kernlink_macros::register_kernel;
use kernlink_ops::{InvGrad, ReciprocalGrad, RsqrtGrad, SigmoidGrad, SqrtGrad, TanhGrad};

use super::binary::binary;
use super::complex;
use super::grad::Gradient;

// Of complex numbers TensorFlow takes the conjugate of `y` in some and leaves it to the caller in others.
binary!(SigmoidGrad, 500:
    f32, f64 => |y, dy| dy * y * (1.0 - y); half;
    Complex32, Complex64 => |y, dy| dy * y * (1.0 - y));
binary!(TanhGrad, 500:
    f32, f64 => |y, dy| dy * (1.0 - y * y); half;
    Complex32, Complex64 => |y, dy| dy * (1.0 - y * y));
binary!(RsqrtGrad, 500:
    f32, f64 => |y, dy| -0.5 * (dy * y) * (y * y); half;
    Complex32, Complex64 => |y, dy| (dy * y.conj()) * (y.conj() * y.conj()) * -0.5);
// What nothing flows back into has no slope, whatever the root.
binary!(SqrtGrad, 1000:
    f32, f64 => |y, dy| if dy == 0.0 { 0.0 } else { 0.5 * dy / y }; half;
    Complex32, Complex64 => |y, dy| if dy == Default::default() { dy } else { complex::narrow(complex::divide(complex::wide(dy * 0.5), complex::wide(y.conj()))) });
binary!(ReciprocalGrad, 500:
    f32, f64 => |y, dy| -y * dy * y; half;
    Complex32, Complex64 => |y, dy| -y.conj() * dy * y.conj());

#[register_kernel(device = Cpu, op = [SigmoidGrad, TanhGrad, RsqrtGrad, SqrtGrad, ReciprocalGrad], T = [f32, f64, f16, bf16, Complex32, Complex64])]
type Gradients<O, T> = Gradient<O, T, true>;

#[register_kernel(device = Cpu, op = InvGrad, T = [f32, f64, f16, bf16, Complex32, Complex64])]
type InvGradKernel<T> = Gradient<ReciprocalGrad, T, true>;
