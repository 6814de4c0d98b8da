//! Choosing between values, limiting them, adding many of them, and changing their dtype.

use kernlink::dtype::DataType;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::infer::merged_inputs;
use crate::shapes;

#[register_op(
    attr("T: type"),
    input("condition: bool"),
    input("t: T", "Taken where the condition is true."),
    input("e: T", "Taken where it is false."),
    output("output: T"),
    shape_fn = select_shape,
)]
pub enum Selecting {
    /// Elements of `t` where `condition` is true, of `e` where it is false.
    ///
    /// `t` and `e` have one shape. `condition` has that shape too, or it is a scalar, or it is a vector that chooses
    /// whole rows along the first dimension. [`SelectV2`] broadcasts instead.
    Select,
    /// Elements of `t` where `condition` is true, of `e` where it is false. All three shapes broadcast.
    #[op(shape_fn = select_v2_shape)]
    SelectV2,
}

fn select_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut data = c.merge(c.input(1), c.input(2))?;
    let condition = c.input(0);
    match (c.rank(condition), c.rank(data)) {
        (None, _) | (_, None) | (Some(0), _) => {}
        (Some(1), Some(1..)) => {
            c.merge(condition, c.vector(c.dim(data, 0)))?;
        }
        _ => data = c.merge(data, condition)?,
    }
    shapes::output_shape(c, data)
}

fn select_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let values = shapes::broadcast_binary_op_output_shape(c, c.input(1), c.input(2), true)?;
    let output = shapes::broadcast_binary_op_output_shape(c, c.input(0), values, true)?;
    shapes::output_shape(c, output)
}

/// `t` limited to the range from `clip_value_min` to `clip_value_max`: `max(min(t, clip_value_max), clip_value_min)`.
///
/// The bounds are scalars or have the shape of `t`.
#[register_op(
    attr("T: numbertype"),
    input("t: T"),
    input("clip_value_min: T"),
    input("clip_value_max: T"),
    output("output: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct ClipByValue;

#[register_op(
    attr("N: int >= 1"),
    attr("T: {numbertype, variant}"),
    input("inputs: N * T"),
    output("sum: T"),
    commutative,
    aggregate,
    shape_fn = |c| shapes::output_shape(c, merged_inputs(c)?),
)]
pub enum Sums {
    /// The sum of all inputs, which have one shape. Nothing broadcasts.
    AddN,
    /// The sum of all inputs, as [`AddN`]. TensorFlow adds them up as they become known.
    #[op(attr("T: numbertype"), attr("shape: shape", "The shape of each of them."), shape_fn = shapes::explicit_shape)]
    AccumulateNV2,
}

/// Each element as a `DstT`.
///
/// Floats are cut towards zero when they become integers; what does not fit gives the processor's answer, for `int32`
/// its least value. Everything but zero becomes `true`. Complex numbers lose their imaginary part.
#[register_op(
    attr("SrcT: type"),
    attr("DstT: type"),
    attr("Truncate: bool = false", "Whether bits that do not fit the narrower float type are cut off, not rounded."),
    input("x: SrcT"),
    output("y: DstT"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Cast;

/// The same bytes as elements of another dtype.
///
/// From a narrower dtype the last dimension must be the ratio of the sizes and falls away; from a wider one such a
/// dimension is added. Bytes stand as the machine has them.
#[register_op(
    attr(
        "T: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, \
         complex128, qint8, quint8, qint16, quint16, qint32}",
    ),
    attr(
        "type: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, \
         complex128, qint8, quint8, qint16, quint16, qint32}",
        "The dtype of the output.",
    ),
    input("input: T"),
    output("output: type"),
    shape_fn = bitcast_shape,
)]
pub struct Bitcast;

fn bitcast_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    if !c.rank_known(input) {
        return shapes::output_shape(c, c.unknown_shape());
    }
    let (from, to): (DataType, DataType) = (c.attr("T")?, c.attr("type")?);
    ensure!(from.is_pod() && to.is_pod(), InvalidArgument, "Cannot bitcast type {from} to {to}: they have no size");
    let output = if from.size() < to.size() {
        let ratio = (to.size() / from.size()) as i64;
        let input = c.with_rank_at_least(input, 1)?;
        let last = c.value(c.dim(input, -1));
        if let Some(last) = last.filter(|&last| last != ratio) {
            bail!(InvalidArgument, "Cannot bitcast from {from} to {to} due to shape. {last} does not match {ratio}");
        }
        c.subshape_range(input, 0, -1)?
    } else if from.size() > to.size() {
        c.concatenate(input, c.vector((from.size() / to.size()) as i64))?
    } else {
        input
    };
    shapes::output_shape(c, output)
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;

    use super::*;

    #[test]
    fn a_condition_is_whole_or_a_scalar_or_chooses_rows() {
        let op = || infer::<Select>().attr("T", DataType::Float);
        op().ok("?;?;?", "in1|in2");
        op().ok("[];[1];?", "in1");
        op().ok("[];?;?", "in1|in2");
        op().ok("[1];[?,?,?];?", "in1");
        op().ok("[2];[2,3];?", "in1");
        op().ok("?;[1];[?]", "in1");
        op().ok("[1,2];[1,2];?", "in1");
        op().ok("[?,2];[1,?];?", "[d1_0,d0_1]");
        op().error("Dimension 0 in both shapes must be equal", "[2];[3,1];?");
        op().error("must be equal", "[2,3];[2,4];?");
        op().error("Shapes must be equal rank", "[1,2,3];[1,2];[1,2]");
        op().error("Shapes must be equal rank", "[1];[];[]");
        op().error("Shapes must be equal rank", "?;[2];[2,3]");
    }

    #[test]
    fn select_v2_broadcasts() {
        let op = || infer::<SelectV2>().attr("T", DataType::Float);
        op().ok("?;?;?", "?");
        op().ok("[];[2,1];[1,3]", "[d1_0,d2_1]");
        op().ok("[4,1,1];[2,1];[3]", "[d0_0,d1_0,d2_0]");
        op().error("Dimensions must be equal", "[2];[3];[3]");
        op().error("Dimensions must be equal", "[];[2];[3]");
    }

    #[test]
    fn summands_have_one_shape() {
        let op = |n: i64| infer::<AddN>().attr("T", DataType::Float).attr("N", n);
        op(2).ok("[1,?];[?,2]", "[d0_0,d1_1]");
        op(2).ok("?;[1,2]", "in1");
        op(1).ok("[1]", "in0");
        op(3).error("From merging shape 0 with other shapes", "[1];[2];[2]");
    }

    #[test]
    fn bitcasts_move_the_last_dimension() {
        let op = |from: DataType, to: DataType| infer::<Bitcast>().attr("T", from).attr("type", to);
        op(DataType::Float, DataType::Int32).ok("[1,2]", "in0");
        op(DataType::Int32, DataType::Int64).ok("[1,2]", "[d0_0]");
        op(DataType::Int32, DataType::Int64).ok("[3,?]", "[d0_0]");
        op(DataType::Int32, DataType::Int64).error("does not match 2", "[1,3]");
        op(DataType::Int32, DataType::Int64).error("must be at least rank 1", "[]");
        op(DataType::Int64, DataType::Int32).ok("[1,2]", "[d0_0,d0_1,2]");
        op(DataType::Int64, DataType::Int32).ok("?", "?");
    }
}
