//! StochasticCastToInt.

use kernlink::dtype::{Pod, bf16, f16};
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink_macros::register_kernel;
use kernlink_ops::StochasticCastToInt;

use super::philox::Philox;
use super::real::Real;
use super::source::keyed;

/// A dtype that is rounded.
trait Rounded: Real {
    /// How many elements TensorFlow rounds at once where it does so: they share the numbers of one step, in turn.
    const TOGETHER: Option<usize> = None;

    /// The number, rounded by a random one from 0 up to but without 1, between two that are integers, as a double.
    fn rounded(self, random: Self, least: Self, greatest: Self) -> f64;
    fn is_settled(self, least: Self, greatest: Self) -> bool;
    fn from_double(number: f64) -> Self;
}

macro_rules! rounded {
    ($($float:ident($together:expr): $from:expr, $to:expr;)*) => {$(
        impl Rounded for $float {
            const TOGETHER: Option<usize> = $together;

            fn rounded(self, random: Self, least: Self, greatest: Self) -> f64 {
                if self.is_nan() {
                    return 0.0;
                }
                let number = if self >= greatest {
                    greatest
                } else if self <= least {
                    least
                } else {
                    let value: f64 = $to(self);
                    if value.floor() == value {
                        self
                    } else if value < 0.0 {
                        self + random
                    } else {
                        self + $from(1.0) - random
                    }
                };
                let number: f64 = $to(number);
                number.floor()
            }

            fn is_settled(self, least: Self, greatest: Self) -> bool {
                let value: f64 = $to(self);
                self.is_nan() || self >= greatest || self <= least || value.floor() == value
            }

            fn from_double(number: f64) -> Self {
                $from(number)
            }
        }
    )*};
}

rounded! {
    f16(None): f16::from_f64, f64::from;
    bf16(None): bf16::from_f64, f64::from;
    f32(Some(8)): |number: f64| number as f32, f64::from;
    f64(Some(4)): |number: f64| number, |number: f64| number;
}

/// An integer that numbers are rounded to.
trait Whole: Pod {
    const ENDS: [f64; 2];
    /// Whether TensorFlow rounds several to it at once.
    const IS_TOGETHER: bool;
    fn of(number: f64) -> Self;
}

macro_rules! whole {
    ($($int:ident, $together:literal;)*) => {$(
        impl Whole for $int {
            const ENDS: [f64; 2] = [$int::MIN as f64, $int::MAX as f64];
            const IS_TOGETHER: bool = $together;

            fn of(number: f64) -> $int {
                // The greatest of 32 bits is one more as a `float`, which processors make the lowest.
                (if number < 2_147_483_648.0 { number as i32 } else { i32::MIN }) as $int
            }
        }
    )*};
}

whole! {
    i8, false;
    i16, false;
    i32, true;
}

/// How many integers TensorFlow makes at once where it rounds several; what is left of the last is rounded one by one.
const AT_ONCE: usize = 8;

/// The numbers of the next step.
fn next<T: Real>(generator: &mut Philox) -> [T; 4] {
    T::uniform(generator.step())
}

#[register_kernel(
    device = Cpu, Tin = [f16, bf16, f32, f64], Tout = [i8, i16, i32], host_memory = ["alg"]
)]
fn stochastic_cast<Tin: Rounded, Tout: Whole>(ctx: &mut KernelContext<'_, StochasticCastToInt>) -> Result<()> {
    let given = keyed(ctx)?;
    // TensorFlow takes the counter for the key here, and the key for the counter's upper half.
    let mut generator = Philox::new(given.counter()[0], [0, given.key()]);
    let input = ctx.input_at(0)?.clone();
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let [least, greatest] = Tout::ENDS.map(Tin::from_double);
    let (numbers, places) = (input.as_slice::<Tin>()?, output.as_mut_slice::<Tout>()?);
    let together = Tin::TOGETHER.filter(|_| Tout::IS_TOGETHER).unwrap_or(1);
    let whole = if together > 1 { numbers.len() / AT_ONCE * AT_ONCE } else { 0 };
    for (numbers, places) in numbers[..whole].chunks(together).zip(places.chunks_mut(together)) {
        let random = next::<Tin>(&mut generator);
        for (lane, (&number, place)) in numbers.iter().zip(places).enumerate() {
            *place = Tout::of(number.rounded(random[lane % Tin::GROUP], least, greatest));
        }
    }
    // One by one those draw that need it.
    for (&number, place) in numbers[whole..].iter().zip(&mut places[whole..]) {
        let is_settled = number.is_settled(least, greatest);
        let random = if is_settled { Tin::from_double(0.0) } else { next::<Tin>(&mut generator)[0] };
        *place = Tout::of(number.rounded(random, least, greatest));
    }
    ctx.set_output_at(0, output)
}
