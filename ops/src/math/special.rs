//! Special functions: of the gamma family, and inverses of probability functions.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum SpecialOfOne {
    /// The logarithm of the absolute value of the gamma function.
    Lgamma,
    /// The derivative of [`Lgamma`].
    Digamma,
    /// The inverse of the error function.
    Erfinv,
    /// The value below which a normally distributed number lies with probability `x`.
    Ndtri,
    /// The modified Bessel function of the first kind and order 0.
    BesselI0,
    /// [`BesselI0`] times `exp(-|x|)`.
    BesselI0e,
    /// The modified Bessel function of the first kind and order 1.
    BesselI1,
    /// [`BesselI1`] times `exp(-|x|)`.
    BesselI1e,
    /// The Bessel function of the first kind and order 0.
    BesselJ0,
    /// The Bessel function of the first kind and order 1.
    BesselJ1,
    /// The modified Bessel function of the second kind and order 0. Infinite from 0 down.
    BesselK0,
    /// [`BesselK0`] times `exp(x)`.
    BesselK0e,
    /// The modified Bessel function of the second kind and order 1. Infinite from 0 down.
    BesselK1,
    /// [`BesselK1`] times `exp(x)`.
    BesselK1e,
    /// The Bessel function of the second kind and order 0. −∞ from 0 down.
    BesselY0,
    /// The Bessel function of the second kind and order 1. −∞ from 0 down.
    BesselY1,
    /// Dawson's integral: `exp(-x²)` times the integral of `exp(t²)` from 0 to `x`.
    Dawsn,
    /// The exponential integral Ei, of what is not negative.
    Expint,
    /// Fresnel's cosine integral: that of `cos(πt²/2)` from 0 to `x`.
    FresnelCos,
    /// Fresnel's sine integral: that of `sin(πt²/2)` from 0 to `x`.
    FresnelSin,
    /// Spence's integral: that of `-ln(t) / (t - 1)` from 1 to `x`.
    Spence,
}

#[register_op(attr("T: {bfloat16, half, float, double}"), shape_fn = shapes::broadcast_binary_op)]
pub enum SpecialOfTwo {
    /// The lower regularised incomplete gamma function, `P(a, x)`.
    #[op(input("a: T"), input("x: T"), output("z: T"))]
    Igamma,
    /// The upper regularised incomplete gamma function, `Q(a, x) = 1 - P(a, x)`.
    #[op(input("a: T"), input("x: T"), output("z: T"))]
    Igammac,
    /// The derivative of [`Igamma`] by `a`.
    #[op(attr("T: {float, double}"), input("a: T"), input("x: T"), output("z: T"))]
    IgammaGradA,
    /// How a sample of a gamma distribution changes with the distribution's shape parameter, the probability that a sample is
    /// smaller left as it is.
    #[op(attr("T: {float, double}"), input("alpha: T"), input("sample: T"), output("output: T"))]
    RandomGammaGrad,
    /// The Hurwitz zeta function, the sum of `(q + n)^-x` over all `n` from 0 on.
    #[op(attr("T: {float, double}"), input("x: T"), input("q: T"), output("z: T"))]
    Zeta,
    /// The derivative of [`Digamma`] of order `a`, a whole number.
    #[op(attr("T: {float, double}"), input("a: T"), input("x: T"), output("z: T"))]
    Polygamma,
    /// The next number that the dtype has from `x1` towards `x2`. The shapes broadcast.
    #[op(attr("T: {double, float} = DT_FLOAT"), input("x1: T"), input("x2: T"), output("output: T"))]
    NextAfter,
}

/// The regularised incomplete beta function, `I_x(a, b)`.
///
/// The arguments have one shape, but for those that are scalars. Where `a` or `b` is not positive, or `x` not from 0 to 1, it
/// is NaN.
#[register_op(
    attr("T: {float, double}"),
    input("a: T"),
    input("b: T"),
    input("x: T", "The upper bound of the integral."),
    output("z: T"),
    shape_fn = betainc_shape,
)]
pub struct Betainc;

/// The shape of the inputs that are known to be no scalars, or of the one that may be none.
fn betainc_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (mut output, mut other, mut scalars) = (c.unknown_shape(), c.input(0), 0);
    for index in 0..3 {
        let input = c.input(index);
        match c.rank(input) {
            None => other = input,
            Some(0) => scalars += 1,
            Some(_) => {
                output = c.merge(output, input)?;
                other = output;
            }
        }
    }
    shapes::output_shape(c, if scalars >= 2 { other } else { output })
}

/// Whether `abs(x - y) < tolerance`.
#[register_op(
    attr("T: numbertype"),
    attr("tolerance: float = 0.00001"),
    input("x: T"),
    input("y: T", "In the shape of `x`."),
    output("z: bool"),
    commutative,
    shape_fn = approximate_shape,
)]
pub struct ApproximateEqual;

fn approximate_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.merge(c.input(0), c.input(1))?;
    shapes::unchanged_shape(c)
}
