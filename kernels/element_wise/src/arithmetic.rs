//! Sums, products, powers, extremes and their like.

use kernlink::dtype::{Complex32, Complex64, Number, Pod, bf16, f16};
use kernlink_geometry::element_wise::NEGATIVE_POWER;
use kernlink_macros::register_kernel;
use kernlink_ops::{Add, AddV2, Atan2, Maximum, Minimum, Mul, MulNoNan, Pow, SquaredDifference, Sub, Xdivy, Xlogy};

use super::binary::{Binary, BinaryFn, binary};
use super::complex;

/// Gives an op the method of [`Number`] of that name.
macro_rules! number {
    ($($op:ident => $method:ident),+) => {$(
        impl<T: Number> BinaryFn<T> for $op {
            type Out = T;
            #[inline(always)]
            fn call(x: T, y: T) -> T {
                x.$method(y)
            }
        }
    )+};
}
number!(Add => add, Sub => sub, Mul => mul);

/// Extremes: NaN if one of the arguments is. Of equal numbers the second.
macro_rules! extremes {
    ($($t:ty),+) => {$(
        impl BinaryFn<$t> for Maximum {
            type Out = $t;
            #[inline(always)]
            #[allow(clippy::eq_op, reason = "true of NaN alone, and of constant false for integers")]
            fn call(x: $t, y: $t) -> $t {
                if x > y || x != x { x } else { y }
            }
        }
        impl BinaryFn<$t> for Minimum {
            type Out = $t;
            #[inline(always)]
            #[allow(clippy::eq_op, reason = "true of NaN alone, and of constant false for integers")]
            fn call(x: $t, y: $t) -> $t {
                if x < y || x != x { x } else { y }
            }
        }
    )+};
}
extremes!(f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64);

impl<T: Real> BinaryFn<T> for SquaredDifference {
    type Out = T;
    #[inline(always)]
    fn call(x: T, y: T) -> T {
        let difference = x.sub(y);
        difference.conjugate().mul(difference)
    }
}

/// Numbers with a conjugate, which for all but complex ones is the number itself.
trait Real: Number {
    fn conjugate(self) -> Self {
        self
    }
}
impl Real for f32 {}
impl Real for f64 {}
impl Real for f16 {}
impl Real for bf16 {}
impl Real for i32 {}
impl Real for i64 {}
impl Real for Complex32 {
    fn conjugate(self) -> Self {
        self.conj()
    }
}
impl Real for Complex64 {
    fn conjugate(self) -> Self {
        self.conj()
    }
}

/// Functions that are zero where one argument is, whatever the other.
trait Zero: Pod + PartialEq {
    const ZERO: Self;
}
impl<T: Number> Zero for T {
    const ZERO: T = <T as Number>::ZERO;
}

impl<T: Number> BinaryFn<T> for MulNoNan {
    type Out = T;
    #[inline(always)]
    fn call(x: T, y: T) -> T {
        if y == <T as Zero>::ZERO { <T as Zero>::ZERO } else { x.mul(y) }
    }
}

binary!(Xdivy, 1000:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x / y }; half;
    Complex32, Complex64 => |x, y| if x == Zero::ZERO { Zero::ZERO } else { complex::two(complex::divide, x, y) });
binary!(Xlogy, 8000:
    f32, f64 => |x, y| if x == 0.0 { 0.0 } else { x * y.ln() }; half;
    Complex32, Complex64 => |x, y| if x == Zero::ZERO { Zero::ZERO } else { x * complex::one(complex::log, y) });
binary!(Atan2, 12000: f32, f64 => |y, x| y.atan2(x); half);
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
