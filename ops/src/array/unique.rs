//! Sets: what occurs, how often, and what is left without it.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("out_idx: {int32, int64} = DT_INT32"),
    input("x: T"),
    output("y: T", "The different elements."),
    output("idx: out_idx", "For each element of `x` its index in `y`."),
    shape_fn = unique_v2_shape,
)]
pub enum UniqueElements {
    /// The different elements of a vector in the order in which they first occur, and for each element which it is.
    ///
    /// No NaN equals another.
    #[op(shape_fn = unique_vector_shape)]
    Unique,
    /// The different elements of a vector in the order in which they first occur, for each element which it is, and how
    /// often each occurs.
    #[op(output("count: out_idx", "For each element of `y` how often it occurs in `x`."), shape_fn = unique_shape)]
    UniqueWithCounts,
    /// The different slices along one dimension in the order in which they first occur, and for each slice which it is.
    #[op(
        attr("Taxis: {int32, int64} = DT_INT64", after = "T"),
        input("axis: Taxis", "A vector of one dimension, from −rank to rank − 1, or of none if `x` is a vector."),
        output("y: T", "The different slices."),
        output("idx: out_idx", "For each slice of `x` its index in `y`.")
    )]
    UniqueV2,
    /// The different slices along one dimension in the order in which they first occur, for each slice which it is, and
    /// how often each occurs.
    #[op(like = UniqueV2, output("count: out_idx", "For each slice of `y` how often it occurs in `x`."))]
    UniqueWithCountsV2,
}

fn unique_vector_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    unique_shape(c)
}

fn unique_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(1, c.input(0));
    for index in [0, 2].into_iter().filter(|&index| index < c.num_outputs()) {
        c.set_output(index, c.vector(-1));
    }
    Ok(())
}

fn unique_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let x = c.input(0);
    c.set_output(0, c.rank(x).map_or_else(|| c.unknown_shape(), |rank| c.unknown_shape_of_rank(rank)));
    if c.num_outputs() > 2 {
        c.set_output(2, c.vector(-1));
    }
    c.set_output(1, c.vector(-1));
    let (Some(axis), Some(rank)) = (c.input_i64s(1)?, c.rank(x)) else { return Ok(()) };
    ensure!(c.rank(c.input(1)) == Some(1), InvalidArgument, "axis expects a 1D vector.");
    match axis[..] {
        [] => {
            ensure!(rank == 1, InvalidArgument, "x expects a 1D vector.");
            c.set_output(1, x);
        }
        [axis] => {
            let signed = rank as i64;
            ensure!(
                (-signed..signed).contains(&axis),
                InvalidArgument,
                "axis expects to be in the range [{}, {signed})",
                -signed
            );
            c.set_output(1, c.vector(c.dim(x, axis)));
        }
        _ => bail!(InvalidArgument, "axis does not support input tensors larger than 1 elements."),
    }
    Ok(())
}

/// The elements of `x` that do not occur in `y`, in their order and as often as they occur, and where they stood.
#[register_op(
    attr("T: type"),
    attr("out_idx: {int32, int64} = DT_INT32"),
    input("x: T"),
    input("y: T"),
    output("out: T"),
    output("idx: out_idx", "For each element of `out` its index in `x`."),
    shape_fn = list_diff_shape,
)]
pub struct ListDiff;

fn list_diff_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    c.with_rank(c.input(1), 1)?;
    // How many are left is one unknown number.
    let output = c.vector(-1);
    c.set_output(0, output);
    c.set_output(1, output);
    Ok(())
}

/// `input` rolled along some dimensions: what leaves at one end comes in at the other.
#[register_op(
    attr("T: type"),
    attr("Tshift: {int32, int64}"),
    attr("Taxis: {int32, int64}"),
    input("input: T"),
    input("shift: Tshift", "How far towards higher indices, a scalar or one for each of `axis`."),
    input("axis: Taxis", "The dimensions, a scalar or a vector; shifts of one dimension add up."),
    output("output: T"),
    shape_fn = roll_shape,
)]
pub struct Roll;

fn roll_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank_at_least(c.input(0), 1)?;
    let shift = c.with_rank_at_most(c.input(1), 1)?;
    let axis = c.with_rank_at_most(c.input(2), 1)?;
    c.merge(shift, axis)?;
    shapes::unchanged_shape(c)
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn sets() {
        infer::<Unique>().attr("T", DataType::Float).ok("[5]", "[?];in0");
        infer::<UniqueWithCounts>().attr("T", DataType::Float).ok("[5]", "[?];in0;[?]");
        let op = || infer::<UniqueV2>().attr("T", DataType::Float).attr("Taxis", DataType::Int32);
        let along = |axis: &[i32]| op().tensor(1, Tensor::vector(axis).unwrap());
        op().ok("[2,3];?", "[?,?];[?]");
        along(&[-1]).ok("[2,3];[1]", "[?,?];[d0_1]");
        along(&[]).ok("[2];[0]", "[?];in0");
        along(&[]).error("x expects a 1D vector", "[2,3];[0]");
        along(&[2]).error("range [-2, 2)", "[2,3];[1]");
        along(&[0, 1]).error("larger than 1", "[2,3];[2]");
        infer::<ListDiff>().attr("T", DataType::Float).ok("[5];?", "[?];[?]");
        infer::<ListDiff>().attr("T", DataType::Float).error("must be rank 1", "[5];[]");
    }
}
