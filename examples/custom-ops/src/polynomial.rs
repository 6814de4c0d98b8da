//! Polynomial: one kernel for every dtype that is a number.

use kernlink::dtype::Wrapping;
use kernlink::prelude::*;

/// The value of a polynomial at each element of `x`.
#[register_op(
    attr("T: numbertype"),
    input("x: T"),
    input("coefficients: T", "A vector, the constant first."),
    output("y: T", "Of the shape of `x`."),
    shape_fn = |c| {
        c.with_rank(c.input(1), 1)?;
        shape::unchanged(c)
    }
)]
pub struct Polynomial;

#[register_kernel(device = Cpu, T = [numbertype])]
fn compute<T: Number>(ctx: &mut KernelContext<'_, Polynomial>) -> Result<()> {
    let x = ctx.input(Polynomial::X)?;
    // Integers wrap as TensorFlow's do, in debug builds, too.
    let coefficients = ctx.input(Polynomial::COEFFICIENTS)?.as_slice::<Wrapping<T>>()?;
    let mut y = ctx.allocate_output(Polynomial::Y, x.shape())?;
    for (y, &x) in y.as_mut_slice()?.iter_mut().zip(x.as_slice()?) {
        *y = coefficients.iter().rev().fold(Wrapping::ZERO, |sum, &c| sum * x + c);
    }
    ctx.set_output(Polynomial::Y, y)
}
