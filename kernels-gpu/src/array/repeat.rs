//! Elements again and again: Tile, BroadcastTo.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

use super::integers::{checked_shape, vector};
use super::mover::Mover;
use super::strided::StridedCopy;

pub(super) fn tile(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let multiples = vector(ctx.input_at(1)?, "multiples")?;
    let input = ctx.input_at(0)?;
    ensure!(
        multiples.len() == input.rank(),
        InvalidArgument,
        "Expected multiples argument to be a vector of length {} but got length {}",
        input.rank(),
        multiples.len()
    );
    if let Some(axis) = multiples.iter().position(|&times| times < 0) {
        bail!(InvalidArgument, "Expected multiples[{axis}] >= 0, but got {}", multiples[axis]);
    }
    let dims = input.shape().iter().zip(&multiples);
    let shape = checked_shape(dims.map(|(&dim, &times)| dim.checked_mul(times as usize)))?;
    if shape == *input.shape() {
        let output = ctx.take_input_at(0)?;
        return ctx.set_output_at(0, output);
    }
    let (to, from) = (shape.strides(), input.shape().strides());
    let output = on.output(ctx, 0, shape)?;
    if output.num_elements() > 0 {
        let mut copy = StridedCopy::new(0, 0);
        for (axis, &dim) in input.shape().iter().enumerate() {
            copy = copy.step(multiples[axis] as usize, to[axis] * dim, 0).step(dim, to[axis], from[axis] as isize);
        }
        copy.run(on, &output, input)?;
    }
    ctx.set_output_at(0, output)
}

/// How many runs of dimensions that are repeated, and of dimensions that are not, follow each other.
fn runs(from: &[usize], to: &[usize]) -> usize {
    let added = to.len() - from.len();
    let repeated = |axis: usize| axis < added || from[axis - added] != to[axis];
    let mut runs: Vec<bool> = (0..to.len()).filter(|&axis| to[axis] != 1).map(repeated).collect();
    runs.dedup();
    runs.len()
}

pub(super) fn broadcast_to(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let shape = Shape::from_dims(&vector(ctx.input_at(1)?, "shape")?)?;
    let input = ctx.input_at(0)?;
    if shape == *input.shape() {
        let output = ctx.take_input_at(0)?;
        return ctx.set_output_at(0, output);
    }
    let Some(added) = shape.rank().checked_sub(input.rank()) else {
        bail!(
            InvalidArgument,
            "Rank of input ({}) must be no greater than rank of output shape ({}).",
            input.rank(),
            shape.rank()
        );
    };
    let fits = input.shape().iter().zip(&shape[added..]).all(|(&from, &to)| from == to || from == 1);
    ensure!(fits, InvalidArgument, "Incompatible shapes: {} vs. {shape}", input.shape());
    ensure!(
        input.rank() == 0 || shape.num_elements() == 0 || runs(input.shape(), &shape) <= 5,
        Unimplemented,
        "Broadcast between {} and {shape} is not supported yet.",
        input.shape()
    );
    let (to, from) = (shape.strides(), input.shape().strides());
    let mut copy = StridedCopy::new(0, 0);
    for (axis, &dim) in shape.iter().enumerate() {
        let repeated = axis < added || input.shape()[axis - added] == 1;
        copy = copy.step(dim, to[axis], if repeated { 0 } else { from[axis - added] as isize });
    }
    let output = on.output(ctx, 0, shape)?;
    copy.run(on, &output, input)?;
    ctx.set_output_at(0, output)
}
