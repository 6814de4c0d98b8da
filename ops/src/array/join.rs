//! Joining tensors and taking them apart again.

use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::infer::{integers, merged_inputs};
use crate::shapes;

#[register_op(
    attr("N: int >= 2"),
    attr("T: type"),
    input("values: N * T"),
    output("output: T"),
    shape_fn = shapes::concat_shape,
)]
pub enum Concatenation {
    /// Tensors joined along one dimension; all others must be equal.
    #[op(input("concat_dim: int32", "The dimension, a scalar from −rank to rank − 1.", before = "values"))]
    Concat,
    /// Tensors joined along one dimension; all others must be equal.
    #[op(
        attr("Tidx: {int32, int64} = DT_INT32"),
        input("axis: Tidx", "The dimension, a scalar from −rank to rank − 1."),
        shape_fn = shapes::concat_v2_shape,
    )]
    ConcatV2,
}

/// Where each of several tensors begins once they are joined along one dimension.
#[register_op(
    attr("N: int >= 2"),
    attr("shape_type: {int32, int64} = DT_INT32"),
    input("concat_dim: int32", "The dimension, a scalar from −rank to rank − 1."),
    input("shape: N * shape_type", "The shapes of the tensors, which may differ along `concat_dim` only."),
    output("offset: N * shape_type", "For each tensor the index of its first element in the whole."),
    shape_fn = concat_offset_shape,
)]
pub struct ConcatOffset;

fn concat_offset_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    (1..c.num_inputs()).for_each(|i| c.set_output(i - 1, c.input(i)));
    Ok(())
}

/// Tensors of one shape stacked along a new dimension.
#[register_op(
    attr("N: int >= 1"),
    attr("T: type"),
    attr("axis: int = 0", "Where it will stand, from −rank − 1 to rank."),
    input("values: N * T"),
    output("output: T"),
    shape_fn = pack_shape,
)]
pub struct Pack;

fn pack_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let Some(mut dims) = c.dims(merged_inputs(c)?) else { return shapes::unknown_shape(c) };
    let axis = axis(c.attr("axis")?, dims.len() + 1)?;
    dims.insert(axis, c.make_dim(c.num_inputs() as i64));
    shapes::output_shape(c, c.make_shape(dims))
}

/// Tensors with one row each, one below the other.
#[register_op(
    attr("N: int >= 1"),
    attr("T: type"),
    attr("shape: shape", "The shape of the output, fully known; that of each input but for the number of rows."),
    input("values: N * T"),
    output("output: T"),
    shape_fn = parallel_concat_shape,
)]
pub struct ParallelConcat;

fn parallel_concat_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape: PartialShape = c.attr("shape")?;
    let output = c.make_shape_from_partial(&shape);
    ensure!(c.fully_defined(output), InvalidArgument, "shape attr must be fully defined, not {shape}");
    let rows = c.with_rank_at_least(output, 1)?;
    let row = c.replace_dim(rows, 0, c.make_dim(1))?;
    for index in 0..c.num_inputs() {
        let input = c.input(index);
        ensure!(
            c.fully_defined(input),
            InvalidArgument,
            "All input shapes must be fully defined; that of {index} is not"
        );
        c.merge(input, row)?;
    }
    shapes::output_shape(c, output)
}

/// The slices of `value` along one dimension, without that dimension.
#[register_op(
    attr("num: int >= 0", "The size of the dimension."),
    attr("T: type"),
    attr("axis: int = 0", "The dimension, from −rank to rank − 1."),
    input("value: T"),
    output("output: num * T"),
    shape_fn = unpack_shape,
)]
pub struct Unpack;

fn unpack_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let output = match c.dims(c.input(0)) {
        None => c.unknown_shape(),
        Some(mut dims) => {
            let axis = axis(c.attr("axis")?, dims.len())?;
            c.with_value(dims.remove(axis), c.num_outputs() as i64)?;
            c.make_shape(dims)
        }
    };
    (0..c.num_outputs()).for_each(|i| c.set_output(i, output));
    Ok(())
}

/// `axis` among `rank` dimensions, counted from the end if negative.
#[track_caller]
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize> {
    let rank = rank as i64;
    ensure!((-rank..rank).contains(&axis), InvalidArgument, "Invalid axis: {axis}; must be in [{}, {rank})", -rank);
    Ok(if axis < 0 { axis + rank } else { axis } as usize)
}

/// `value` cut into `num_split` equal pieces along one dimension; its size must be a multiple of that.
#[register_op(
    attr("num_split: int >= 1"),
    attr("T: type"),
    input("split_dim: int32", "The dimension, a scalar from −rank to rank − 1."),
    input("value: T"),
    output("output: num_split * T"),
    shape_fn = split_shape,
)]
pub struct Split;

fn split_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(1);
    let pieces = c.num_outputs();
    let axis = c.make_dim_for_scalar_input_with_negative_indexing(0, c.rank(input))?;
    let output = match (c.value(axis), c.rank(input)) {
        (Some(axis), _) => {
            c.with_rank_at_least(input, (axis as usize).saturating_add(1))?;
            let size = c
                .divide(c.dim(input, axis), pieces as i64, true)
                .map_err(|error| error.context("Number of ways to split should evenly divide the split dimension"))?;
            c.replace_dim(input, axis, size)?
        }
        (None, Some(rank)) => c.unknown_shape_of_rank(rank),
        (None, None) => c.unknown_shape(),
    };
    (0..pieces).for_each(|i| c.set_output(i, output));
    Ok(())
}

/// `value` cut into pieces of the given sizes along one dimension.
#[register_op(
    attr("num_split: int >= 1"),
    attr("T: type"),
    attr("Tlen: {int8, int32, int64} = DT_INT64"),
    input("value: T"),
    input("size_splits: Tlen", "The size of each piece. One of them may be −1: it gets what the others leave."),
    input("split_dim: int32", "The dimension, a scalar from −rank to rank − 1."),
    output("output: num_split * T"),
    shape_fn = split_v_shape,
)]
pub struct SplitV;

fn split_v_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    let pieces = c.num_outputs();
    let axis = c.make_dim_for_scalar_input_with_negative_indexing(2, c.rank(input))?;
    let Some(rank) = c.rank(input) else { return shapes::unknown_shape(c) };
    ensure!(rank > 0, InvalidArgument, "Can't split scalars");
    let known = c.input_tensor(1).map(integers).transpose()?;
    if let Some(sizes) = &known {
        ensure!(
            sizes.len() == pieces,
            InvalidArgument,
            "Length of size_splits should be equal to num_outputs: {} and {pieces}",
            sizes.len()
        );
    }
    let Some(axis) = c.value(axis) else {
        (0..pieces).for_each(|i| c.set_output(i, c.unknown_shape_of_rank(rank)));
        return Ok(());
    };
    let whole = c.value(c.dim(input, axis));
    let sizes = match known {
        None => vec![-1; pieces],
        Some(sizes) => known_sizes(&sizes, whole)?,
    };
    for (i, size) in sizes.into_iter().enumerate() {
        c.set_output(i, c.replace_dim(input, axis, c.make_dim(size))?);
    }
    Ok(())
}

/// The sizes of all pieces, −1 for one that is not known because the whole is not.
fn known_sizes(sizes: &[i64], whole: Option<i64>) -> Result<Vec<i64>> {
    ensure!(sizes.iter().filter(|&&size| size == -1).count() <= 1, InvalidArgument, "size_splits can only have one -1");
    if let Some(i) = sizes.iter().position(|&size| size < -1) {
        bail!(InvalidArgument, "Split size at index {i} must be >= 0. Got: {}", sizes[i]);
    }
    let total = sizes.iter().filter(|&&size| size != -1).fold(0i64, |total, &size| total.saturating_add(size));
    let Some(whole) = whole else { return Ok(sizes.to_vec()) };
    ensure!(
        if sizes.contains(&-1) { total <= whole } else { total == whole },
        InvalidArgument,
        "can't split axis of size {whole} into pieces of size {sizes:?}"
    );
    Ok(sizes.iter().map(|&size| if size == -1 { whole - total } else { size }).collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn joins() {
        let op = || infer::<Concat>().attr("T", DataType::Float).attr("N", 2i64);
        op().tensor(0, Tensor::scalar(1i32)).ok("[];[1,2];[1,?]", "[d1_0,?]");
        op().tensor(0, Tensor::scalar(1i32)).ok("[];[1,2];[1,3]", "[d1_0|d2_0,5]");
        op().ok("[];[1,2];[1,3]", "[?,?]");
        op().error("must be rank 0", "[1];[1];[1]");

        let op = || infer::<ConcatV2>().attr("T", DataType::Float).attr("N", 2i64);
        op().tensor(2, Tensor::scalar(0i32)).ok("[1,2];[4,2];[]", "[5,d0_1|d1_1]");

        let op = || infer::<ConcatOffset>().attr("N", 3i64);
        op().ok("?;[4];[4];[4]", "in1;in2;in3");
    }

    #[test]
    fn pack_inserts_the_axis() {
        let op = |axis: i64| infer::<Pack>().attr("T", DataType::Float).attr("N", 2i64).attr("axis", axis);
        op(0).ok("?;?", "?");
        op(0).ok("[1,3];[1,3]", "[2,d0_0|d1_0,d0_1|d1_1]");
        op(1).ok("[?,3];[1,?]", "[d1_0,2,d0_1]");
        op(-1).ok("[1,3];?", "[d0_0,d0_1,2]");
        op(-3).ok("[1,3];?", "[2,d0_0,d0_1]");
        op(3).error("Invalid axis: 3; must be in [-3, 3)", "[1,3];?");
        op(-4).error("Invalid axis: -4; must be in [-3, 3)", "[1,3];?");
        op(0).error("From merging shape 0 with other shapes", "[1,2];[1,3]");
    }

    #[test]
    fn unpack_removes_the_axis() {
        let op = |axis: i64| infer::<Unpack>().attr("T", DataType::Float).attr("num", 2i64).attr("axis", axis);
        op(0).ok("?", "?;?");
        op(0).ok("[2,3]", "[d0_1];[d0_1]");
        op(-1).ok("[5,?]", "[d0_0];[d0_0]");
        op(2).error("Invalid axis: 2; must be in [-2, 2)", "[2,3]");
        op(0).error("Dimension must be 2 but is 3", "[3]");
        op(0).error("Invalid axis", "[]");
    }

    #[test]
    fn split_divides_evenly() {
        let op = |axis: i32| {
            let op = infer::<Split>().attr("T", DataType::Float).attr("num_split", 2i64);
            op.tensor(0, Tensor::scalar(axis))
        };
        let unknown = || infer::<Split>().attr("T", DataType::Float).attr("num_split", 2i64);
        unknown().ok("?;?", "?;?");
        unknown().ok("?;[1,4]", "[?,?];[?,?]");
        op(0).ok("[];?", "?;?");
        op(1).ok("[];[1,4]", "[d1_0,2];[d1_0,2]");
        op(-2).ok("[];[6,?]", "[3,d1_1];[3,d1_1]");
        op(1).ok("[];[1,?]", "[d1_0,?];[d1_0,?]");
        op(1).error("Number of ways to split should evenly divide the split dimension", "[];[1,5]");
        op(2).error("must be in range [-2, 2)", "[];[1,4]");
        unknown().tensor(0, Tensor::vector(&[1i32]).unwrap()).error("must be scalar", "[1];[1,4]");
    }

    #[test]
    fn split_v_uses_the_sizes() {
        let op = || infer::<SplitV>().attr("T", DataType::Float).attr("num_split", 2i64);
        let at = |axis: i32| op().tensor(2, Tensor::scalar(axis));
        let sized = |axis: i32, sizes: &[i64]| at(axis).tensor(1, Tensor::vector(sizes).unwrap());
        op().ok("?;?;?", "?;?");
        op().ok("[1,?];?;?", "[?,?];[?,?]");
        at(1).ok("[2,4];[2];[]", "[d0_0,?];[d0_0,?]");
        sized(1, &[1, 3]).ok("[2,4];[2];[]", "[d0_0,1];[d0_0,3]");
        sized(-1, &[-1, 3]).ok("[2,4];[2];[]", "[d0_0,1];[d0_0,3]");
        sized(1, &[-1, 3]).ok("[2,?];[2];[]", "[d0_0,?];[d0_0,3]");
        let narrow = at(1).attr("Tlen", DataType::Int8).tensor(1, Tensor::vector(&[1i8, 3]).unwrap());
        narrow.ok("[2,4];[2];[]", "[d0_0,1];[d0_0,3]");
        sized(1, &[1, 4]).error("can't split axis of size 4", "[2,4];[2];[]");
        sized(1, &[-1, 5]).error("can't split axis of size 4", "[2,4];[2];[]");
        sized(1, &[-1, -1]).error("only have one -1", "[2,4];[2];[]");
        sized(1, &[-2, 6]).error("Split size at index 0 must be >= 0", "[2,4];[2];[]");
        sized(1, &[i64::MAX, i64::MAX]).error("can't split axis", "[2,4];[2];[]");
        sized(1, &[4]).error("Length of size_splits", "[2,4];[1];[]");
        op().error("Can't split scalars", "[];?;?");
    }
}
