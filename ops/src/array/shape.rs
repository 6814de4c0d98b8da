//! Shapes: what they are, and the same elements under another one.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::infer::integer;
use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("out_type: {int32, int64} = DT_INT32"),
    input("input: T"),
    output("output: out_type"),
    shape_fn = shape_vector,
)]
pub enum ShapeReaders {
    /// The shape of `input`, as a vector.
    ///
    /// A dimension that does not fit `out_type` is an error.
    Shape,
    /// The shapes of several tensors, each as a vector.
    ///
    /// A dimension that does not fit `out_type` is an error.
    #[op(attr("N: int", before = "T"), input("input: N * T"), output("output: N * out_type"))]
    ShapeN,
    /// The number of elements of `input`, as a scalar.
    ///
    /// A number that does not fit `out_type` is an error.
    #[op(shape_fn = shapes::scalar_shape)]
    Size,
}

fn shape_vector(c: &mut InferenceContext<'_>) -> Result<()> {
    for i in 0..c.num_inputs() {
        let rank = c.rank(c.input(i)).map_or(-1, |rank| rank as i64);
        c.set_output(i, c.vector(rank));
    }
    Ok(())
}

/// The number of dimensions of `input`, as a scalar.
#[register_op(attr("T: type"), input("input: T"), output("output: int32"), shape_fn = shapes::scalar_shape)]
pub struct Rank;

/// The same elements in the same order under another shape.
///
/// One dimension of `shape` may be −1: it becomes what the number of elements leaves for it. That number must not
/// change.
#[register_op(
    attr("T: type"),
    attr("Tshape: {int32, int64} = DT_INT32"),
    input("tensor: T"),
    input("shape: Tshape", "The new shape, a vector."),
    output("output: T"),
    shape_fn = shapes::reshape_shape,
)]
pub struct Reshape;

#[register_op(attr("T: type"), input("input: T"), output("output: T"), shape_fn = squeeze_shape)]
pub enum Reshaping {
    /// `input` without its dimensions of size 1.
    #[op(attr(
        "squeeze_dims: list(int) >= 0 = []",
        "The only dimensions to remove, each from −rank to rank − 1 and of size 1. Empty means all of size 1.",
    ))]
    Squeeze,
    /// `input` with one more dimension, of size 1.
    #[op(
        attr("Tdim: {int32, int64} = DT_INT32"),
        input("dim: Tdim", "Where it will stand: one value, from −rank − 1 to rank."),
        shape_fn = expand_dims_shape,
    )]
    ExpandDims,
    /// `input` repeated to the given shape.
    ///
    /// Dimensions pair off from the right; each one of `input` is 1 or equal to the output's.
    #[op(
        attr("Tidx: {int32, int64} = DT_INT32"),
        input("shape: Tidx", "The new shape, a vector."),
        shape_fn = broadcast_to_shape,
    )]
    BroadcastTo,
}

fn squeeze_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let Some(dims) = c.dims(c.input(0)) else { return shapes::unknown_shape(c) };
    let rank = dims.len() as i64;
    let mut squeezed = vec![false; dims.len()];
    let asked: Vec<i64> = c.attr("squeeze_dims")?;
    for (i, &dim) in asked.iter().enumerate() {
        ensure!((-rank..rank).contains(&dim), InvalidArgument, "squeeze_dims[{i}] = {dim} not in [{}, {rank}).", -rank);
        squeezed[dim.rem_euclid(rank) as usize] = true;
    }
    let mut kept = Vec::new();
    for (i, &dim) in dims.iter().enumerate() {
        match c.value(dim) {
            // It will have to be 1.
            None if squeezed[i] => continue,
            None if asked.is_empty() => return shapes::unknown_shape(c),
            Some(1) if squeezed[i] || asked.is_empty() => continue,
            Some(size) if squeezed[i] => {
                bail!(InvalidArgument, "Can not squeeze dim[{i}], expected a dimension of 1, got {size}")
            }
            _ => kept.push(dim),
        }
    }
    shapes::output_shape(c, c.make_shape(kept))
}

fn expand_dims_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    let Some(dim) = c.input_tensor(1) else { return shapes::unknown_shape(c) };
    ensure!(dim.num_elements() == 1, InvalidArgument, "'dim' input must be a tensor with a single value");
    let Some(mut dims) = c.dims(input) else { return shapes::unknown_shape(c) };
    let (dim, rank) = (integer(dim)?, dims.len() as i64);
    ensure!(
        (-rank - 1..=rank).contains(&dim),
        InvalidArgument,
        "dim {dim} not in the interval [{}, {rank}].",
        -rank - 1
    );
    dims.insert(dim.rem_euclid(rank + 1) as usize, c.make_dim(1));
    shapes::output_shape(c, c.make_shape(dims))
}

fn broadcast_to_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 1)?;
    let mut output = c.make_shape_from_shape_tensor(1)?;
    if let (Some(out_rank), Some(dims)) = (c.rank(output), c.dims(c.input(0))) {
        c.with_rank_at_most(c.input(0), out_rank)?;
        for (i, &dim) in dims.iter().rev().enumerate() {
            if c.value(dim).is_some_and(|size| size > 1) {
                let index = -(i as i64) - 1;
                let merged = c.merge_dim(dim, c.dim(output, index))?;
                output = c.replace_dim(output, index, merged)?;
            }
        }
    }
    shapes::output_shape(c, output)
}

/// The shape that two shapes broadcast to; all are vectors.
#[register_op(
    attr("T: {int32, int64} = DT_INT32"),
    input("s0: T"),
    input("s1: T"),
    output("r0: T"),
    shape_fn = broadcast_args_shape,
)]
pub struct BroadcastArgs;

fn broadcast_args_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let s0 = c.with_rank(c.input(0), 1)?;
    let s1 = c.with_rank(c.input(1), 1)?;
    let rank = match (c.value(c.dim(s0, 0)), c.value(c.dim(s1, 0))) {
        (Some(a), Some(b)) => a.max(b),
        _ => -1,
    };
    shapes::output_shape(c, c.vector(rank))
}

/// For two shapes that broadcast, the dimensions along which each one's gradient is summed.
#[register_op(
    attr("T: {int32, int64} = DT_INT32"),
    input("s0: T"),
    input("s1: T"),
    output("r0: T", "The dimensions that `s0` was repeated along."),
    output("r1: T", "The dimensions that `s1` was repeated along."),
    shape_fn = broadcast_gradient_args_shape,
)]
pub struct BroadcastGradientArgs;

fn broadcast_gradient_args_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for i in 0..2 {
        c.with_rank(c.input(i), 1)?;
        c.set_output(i, c.vector(-1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn shapes_are_vectors() {
        let op = || infer::<Shape>().attr("T", DataType::Float);
        op().ok("?", "[?]");
        op().ok("[?]", "[1]");
        op().ok("[?,2,3,4,5]", "[5]");
        infer::<ShapeN>().attr("T", DataType::Float).attr("N", 3i64).ok("?;[?];[?,2]", "[?];[1];[2]");
    }

    #[test]
    fn reshape_infers_the_one_dimension_that_is_missing() {
        let op = || infer::<Reshape>().attr("T", DataType::Float);
        let to = |shape: &[i32]| op().tensor(1, Tensor::vector(shape).unwrap());
        op().ok("?;?", "?");
        op().ok("[?];?", "?");
        op().ok("?;[?]", "?");
        op().ok("?;[3]", "[?,?,?]");
        to(&[1, 2, 3]).ok("?;[3]", "[1,2,3]");
        to(&[2, -1, 5]).ok("?;[3]", "[2,?,5]");
        to(&[-1]).ok("[4,4];[1]", "[16]");
        to(&[4, -1]).ok("[4,4];[2]", "[4,4]");
        to(&[2, -1, 4]).ok("[4,4];[3]", "[2,2,4]");
        to(&[-1, 2]).ok("[?,2];[2]", "[d0_0,2]");
        to(&[-1, 3]).ok("[?,2];[2]", "[?,3]");
        to(&[-1, -1]).ok("[4,4];[2]", "[?,?]");
        to(&[]).ok("[1,1];[0]", "[]");
        to(&[0, -1]).ok("[0];[2]", "[0,?]");
        to(&[8, 2]).ok("[?,4];[2]", "[8,2]");
        to(&[-1]).ok("[?,?];[1]", "[?]");
        to(&[2, -1, 5]).error("must be evenly divisible by 10", "[4,4];[3]");
        to(&[1, 2]).error("Cannot reshape a tensor with 16 elements", "[4,4];[2]");
        to(&[3]).error("must be evenly divisible by 2", "[?,2];[1]");
        to(&[-2]).error("Invalid value in tensor used for shape", "[4];[1]");
        op().error("must be rank 1", "?;[1,2]");
    }

    #[test]
    fn squeeze_keeps_what_it_may_not_drop() {
        let op = |dims: &[i64]| infer::<Squeeze>().attr("T", DataType::Float).attr("squeeze_dims", dims);
        op(&[]).ok("?", "?");
        op(&[]).ok("[1,4,1,5,1]", "[d0_1,d0_3]");
        op(&[]).ok("[1,?,1,?,1]", "?");
        op(&[0]).ok("[1,?,1]", "[d0_1,d0_2]");
        op(&[1]).ok("[2,?]", "[d0_0]");
        op(&[-5, -1]).ok("[1,?,1,?,1]", "[d0_1,d0_2,d0_3]");
        op(&[1]).error("expected a dimension of 1, got 4", "[1,4]");
        op(&[2]).error("not in [-2, 2)", "[1,4]");
        op(&[-3]).error("not in [-2, 2)", "[1,4]");
        op(&[0]).error("not in [0, 0)", "[]");
    }

    #[test]
    fn expand_dims_inserts_one() {
        let op = || infer::<ExpandDims>().attr("T", DataType::Float);
        let at = |dim: i64| op().attr("Tdim", DataType::Int64).tensor(1, Tensor::scalar(dim));
        op().ok("?;?", "?");
        op().ok("[5,?];[]", "?");
        at(0).ok("?;[]", "?");
        at(0).ok("[5,?,7];[]", "[1,d0_0,d0_1,d0_2]");
        at(2).ok("[5,?,7];[]", "[d0_0,d0_1,1,d0_2]");
        at(3).ok("[5,?,7];[]", "[d0_0,d0_1,d0_2,1]");
        at(-1).ok("[5,?,7];[]", "[d0_0,d0_1,d0_2,1]");
        at(-4).ok("[5,?,7];[]", "[1,d0_0,d0_1,d0_2]");
        at(4).error("dim 4 not in the interval [-4, 3]", "[5,?,7];[]");
        at(-5).error("dim -5 not in the interval [-4, 3]", "[5,?,7];[]");
        op().tensor(1, Tensor::vector(&[0i32]).unwrap()).ok("[5];[1]", "[1,d0_0]");
        op().tensor(1, Tensor::vector(&[0i32, 1]).unwrap()).error("a single value", "[5];[2]");
    }

    #[test]
    fn broadcasts() {
        let op = || infer::<BroadcastTo>().attr("T", DataType::Float);
        let to = |shape: &[i32]| op().tensor(1, Tensor::vector(shape).unwrap());
        op().ok("?;[?]", "?");
        op().ok("[3];[2]", "[?,d0_0]");
        to(&[4, 2]).ok("[1];[2]", "[4,2]");
        to(&[4, 3]).ok("?;[2]", "[4,3]");
        to(&[4, -1]).ok("[3];[2]", "[4,d0_0]");
        to(&[4, 2]).error("Dimensions must be equal", "[3];[2]");
        to(&[4]).error("must be at most rank 1", "[1,1];[1]");
        op().error("must be rank 1", "[3];[]");

        let op = || infer::<BroadcastArgs>();
        op().ok("?;?", "[?]");
        op().ok("[1];[3]", "[3]");
        op().ok("[?];[3]", "[?]");
        op().error("must be rank 1", "[];[3]");
        infer::<BroadcastGradientArgs>().ok("[2];[3]", "[?];[?]");
    }
}
