//! Quotients and remainders.

use kernlink::Code;
use kernlink::dtype::{Complex32, Complex64, Number};
use kernlink_geometry::element_wise::BY_ZERO;
use kernlink_macros::register_kernel;
use kernlink_ops::{Div, DivNoNan, FloorDiv, FloorMod, Mod, RealDiv, TruncateDiv, TruncateMod};

use super::binary::{Binary, BinaryFn, binary};
use super::complex;
use super::easy::mostly_easy;

binary!(Div, 1000: f32, f64 => |x, y| x / y; half; Complex64 => |x, y| complex::divide(x, y));
mostly_easy! {
    Div, 1500: Complex32 => |x, y| if complex::is_moderate(y) & complex::is_finite(x)
        => complex::narrow(complex::quick_divide(complex::wide(x), complex::wide(y))), complex::narrow(complex::divide(complex::wide(x), complex::wide(y)));
}
binary!(DivNoNan, 1000:
    f32, f64 => |x, y| if y == 0.0 { 0.0 } else { x / y }; half;
    Complex32, Complex64 => |x, y| if y == Number::ZERO { Number::ZERO } else { complex::narrow(complex::divide(complex::wide(x), complex::wide(y))) });
// The quotient is rounded to the dtype before it is made whole.
binary!(FloorDiv, 1000:
    f32, f64 => |x, y| (x / y).floor(); half |x, y| x / y, then |quotient| quotient.floor());
binary!(TruncateDiv, 1000:
    f32, f64 => |x, y| (x / y).trunc(); half |x, y| x / y, then |quotient| quotient.trunc());
binary!(TruncateMod, 8000: f32, f64 => |x, y| x % y);
binary!(FloorMod, 8000:
    f32, f64 => |x, y| {
        let rest = x % y;
        if rest != 0.0 && (y < 0.0) != (rest < 0.0) { rest + y } else { rest }
    }; half);

/// Integers: zero as divisor is an error; the lowest number by −1 wraps.
macro_rules! integers {
    ($op:ident, $code:ident: $($t:ty),+ => |$x:ident, $y:ident| $body:expr) => {$(
        impl BinaryFn<$t> for $op {
            type Out = $t;
            const COST: usize = 3000;
            const ERROR: &'static str = BY_ZERO;
            const CODE: Code = Code::$code;
            #[inline(always)]
            fn allows(y: $t) -> bool {
                y != 0
            }
            #[inline(always)]
            fn call($x: $t, $y: $t) -> $t {
                $body
            }
        }
    )+};
}

/// Integers that are divided without a branch, whatever the divisor.
trait Divide: Number {
    /// The quotient without its fraction, 0 by 0; the lowest number by −1 wraps.
    fn quotient(self, divisor: Self) -> Self;

    /// What the quotient leaves.
    #[inline(always)]
    fn rest(self, divisor: Self) -> Self {
        self.wrapping_sub(self.quotient(divisor).wrapping_mul(divisor))
    }
}

/// [`Divide`] by floats, of which processors divide several at a time. A quotient that is no whole number is at least one over
/// the divisor away from the next: floats with two digits more than the integers tell them apart.
macro_rules! divide_as {
    ($float:ty: $($t:ty $(, but by $minus_one:literal)?;)+) => {$(
        impl Divide for $t {
            #[inline(always)]
            fn quotient(self, divisor: $t) -> $t {
                let quotient = (<$float>::from(self) / <$float>::from(divisor)) as $t;
                $(let quotient = if divisor == $minus_one { self.wrapping_neg() } else { quotient };)?
                if divisor == 0 { 0 } else { quotient }
            }
        }
    )+};
}
divide_as!(f32: i8, but by -1; i16, but by -1; u8; u16;);
divide_as!(f64: i32, but by -1; u32;);

impl Divide for i64 {
    #[inline(always)]
    fn quotient(self, divisor: i64) -> i64 {
        if divisor == 0 { 0 } else { self.wrapping_div(divisor) }
    }
}

impl Divide for u64 {
    #[inline(always)]
    fn quotient(self, divisor: u64) -> u64 {
        self.checked_div(divisor).unwrap_or(0)
    }
}

// The code for the truncating ones is TensorFlow's: it does not expect this error of them.
integers!(Div, InvalidArgument: i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x.quotient(y));
integers!(TruncateDiv, Internal: i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x.quotient(y));
integers!(Mod, InvalidArgument: i32, i64 => |x, y| x.rest(y));
integers!(TruncateMod, Internal: i32, i64 => |x, y| x.rest(y));
integers!(FloorDiv, InvalidArgument: u8, u16, u32, u64 => |x, y| x.quotient(y));
integers!(FloorMod, InvalidArgument: u8, u16, u32, u64 => |x, y| x.rest(y));
integers!(FloorDiv, InvalidArgument: i8, i16, i32, i64 => |x, y| {
    let quotient = x.quotient(y);
    if ((x < 0) != (y < 0)) & (quotient.wrapping_mul(y) != x) { quotient - 1 } else { quotient }
});
integers!(FloorMod, InvalidArgument: i8, i16, i32, i64 => |x, y| {
    let rest = x.rest(y);
    if (rest != 0) & ((y < 0) != (rest < 0)) { rest + y } else { rest }
});

#[register_kernel(device = Cpu, op = Div, T = [realnumbertype, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = DivNoNan, T = [f32, f64, f16, bf16, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = [FloorDiv, FloorMod, TruncateDiv], T = [realnumbertype])]
#[register_kernel(device = Cpu, op = TruncateMod, T = [f32, f64, i32, i64])]
#[register_kernel(device = Cpu, op = Mod, T = [i32, i64])]
type Divisions<O, T> = Binary<O, T>;

#[register_kernel(device = Cpu, op = RealDiv, T = [f32, f64, f16, bf16, Complex32, Complex64])]
type RealDivKernel<T> = Binary<Div, T>;

#[register_kernel(device = Cpu, op = Mod, T = [f32, f64])]
type ModOfTruncateModKernel<T> = Binary<TruncateMod, T>;
