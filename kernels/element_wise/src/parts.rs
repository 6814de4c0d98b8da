//! Complex numbers made and taken apart; the next number; nearly equal numbers.

use kernlink::dtype::{Complex32, Complex64, Pod};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{Angle, ApproximateEqual, Complex, ComplexAbs, Conj, Imag, NextAfter, Real};

use super::binary::{Binary, BinaryFn, binary};
use super::unary::{Unary, UnaryFn, unary};

/// Functions from complex numbers to real ones.
macro_rules! parts {
    ($($op:ident: |$x:ident| $body:expr;)+) => {$(
        parts!(@one $op, Complex32, f32, |$x| $body);
        parts!(@one $op, Complex64, f64, |$x| $body);
    )+};
    (@one $op:ident, $t:ty, $out:ty, |$x:ident| $body:expr) => {
        impl UnaryFn<$t> for $op {
            type Out = $out;
            #[inline(always)]
            fn call($x: $t) -> $out { $body }
        }
    };
}
parts! {
    Real: |x| x.re;
    Imag: |x| x.im;
    Angle: |x| x.im.atan2(x.re);
    ComplexAbs: |x| x.re.hypot(x.im);
}

#[register_kernel(device = Cpu, op = [Real, Imag, Angle, ComplexAbs], T = [Complex32], Tout = [f32])]
type PartsOfComplex32<O> = Unary<O, Complex32>;

#[register_kernel(device = Cpu, op = [Real, Imag, Angle, ComplexAbs], T = [Complex64], Tout = [f64])]
type PartsOfComplex64<O> = Unary<O, Complex64>;

unary!(Conj, 500: Complex32, Complex64 => |x| x.conj());
#[register_kernel(device = Cpu, op = Conj, T = [Complex32, Complex64])]
type UnaryKernels<O, T> = Unary<O, T>;

impl BinaryFn<f32> for Complex {
    type Out = Complex32;
    #[inline(always)]
    fn call(re: f32, im: f32) -> Complex32 {
        Complex32::new(re, im)
    }
}

impl BinaryFn<f64> for Complex {
    type Out = Complex64;
    #[inline(always)]
    fn call(re: f64, im: f64) -> Complex64 {
        Complex64::new(re, im)
    }
}

#[register_kernel(device = Cpu, op = Complex, T = [f32], Tout = [Complex32])]
type Complex32Kernel = Binary<Complex, f32>;

#[register_kernel(device = Cpu, op = Complex, T = [f64], Tout = [Complex64])]
type Complex64Kernel = Binary<Complex, f64>;

/// As the function of C.
macro_rules! next_after {
    ($x:ident, $y:ident) => {
        if $x.is_nan() || $y.is_nan() {
            $x + $y
        } else if $x == $y {
            $y
        } else if $x < $y {
            $x.next_up()
        } else {
            $x.next_down()
        }
    };
}
binary!(NextAfter, 2000: f32 => |x, y| next_after!(x, y); f64 => |x, y| next_after!(x, y));
#[register_kernel(device = Cpu, op = NextAfter, T = [f32, f64])]
type BinaryKernels<O, T> = Binary<O, T>;

/// A number with a distance.
trait Near: Pod {
    fn near(self, other: Self, tolerance: f32) -> bool;
}

impl Near for f32 {
    fn near(self, other: f32, tolerance: f32) -> bool {
        (self - other).abs() < tolerance
    }
}

impl Near for f64 {
    fn near(self, other: f64, tolerance: f32) -> bool {
        (self - other).abs() < f64::from(tolerance)
    }
}

#[register_kernel(device = Cpu, op = ApproximateEqual, T = [f32, f64])]
fn approximate_equal<T: Near>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (x, y) = (ctx.input(O::X)?, ctx.input(O::Y)?);
    ensure!(
        x.shape() == y.shape(),
        InvalidArgument,
        "x and y must be of the same shape. x shape: {}. y shape: {}",
        x.shape(),
        y.shape()
    );
    let mut z = ctx.allocate_output(O::Z, x.shape())?;
    let (x, y) = (x.as_slice::<T>()?, y.as_slice::<T>()?);
    ctx.parallel_chunks(z.as_mut_slice::<bool>()?, 1, 1, |first, piece| {
        for ((z, &x), &y) in piece.iter_mut().zip(&x[first..]).zip(&y[first..]) {
            *z = x.near(y, attrs.tolerance);
        }
    });
    ctx.set_output(O::Z, z)
}
