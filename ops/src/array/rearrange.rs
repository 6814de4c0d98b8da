//! Moving elements: permuting, reversing, repeating, padding.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("Tperm: {int32, int64} = DT_INT32"),
    input("x: T"),
    input("perm: Tperm", "A permutation of the dimensions, a vector."),
    output("y: T"),
    shape_fn = transpose_shape,
)]
pub enum Transposition {
    /// `x` with its dimensions permuted: `y.shape[i] = x.shape[perm[i]]`.
    Transpose,
    /// `x` with its dimensions permuted and its complex numbers conjugated.
    ConjugateTranspose,
}

fn transpose_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (input, perm) = (c.input(0), c.input_i64s(1)?);
    let entries = c.num_elements(c.input(1));
    let rank =
        c.rank(input).map(|rank| rank as i64).or(c.value(entries)).or(perm.as_ref().map(|perm| perm.len() as i64));
    let Some(rank) = rank else { return shapes::unknown_shape(c) };
    if !c.rank_known(input) && rank < 2 {
        // One entry may stand for a scalar as well as for a vector; both stay as they are.
        return shapes::output_shape(c, input);
    }
    let input = c.with_rank(input, rank as usize)?;
    c.with_rank(c.input(1), 1)?;
    c.with_value(entries, rank)?;
    let Some(perm) = perm else {
        return shapes::output_shape(c, c.unknown_shape_of_rank(rank as usize));
    };
    ensure!(perm.len() as i64 == rank, InvalidArgument, "perm must have {rank} entries, not {}", perm.len());
    if let Some(axis) = perm.iter().find(|axis| !(-rank..rank).contains(*axis)) {
        bail!(InvalidArgument, "perm dim {axis} is out of range of input rank {rank}");
    }
    shapes::output_shape(c, c.make_shape(perm.iter().map(|&axis| c.dim(input, axis))))
}

/// The permutation that undoes `x`: `y[x[i]] = i`.
///
/// Anything but a permutation of 0 … n − 1 is an error.
#[register_op(
    attr("T: {int32, int64} = DT_INT32"),
    input("x: T"),
    output("y: T"),
    shape_fn = |c| shapes::output_shape(c, c.with_rank(c.input(0), 1)?),
)]
pub struct InvertPermutation;

/// `tensor` with the order of elements reversed along some dimensions.
#[register_op(
    attr("Tidx: {int32, int64} = DT_INT32"),
    attr(
        "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, double, complex64, \
         complex128, string}",
    ),
    input("tensor: T"),
    input("axis: Tidx", "The dimensions, each from −rank to rank − 1; none twice."),
    output("output: T"),
    shape_fn = reverse_v2_shape,
)]
pub struct ReverseV2;

fn reverse_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    c.with_rank(c.input(1), 1)?;
    if let Some(rank) = c.rank(input) {
        ensure!(rank <= 8, InvalidArgument, "reverse does not work on tensors with more than 8 dimensions");
        let mut reversed = vec![false; rank];
        for (i, axis) in c.input_i64s(1)?.unwrap_or_default().into_iter().enumerate() {
            let signed = rank as i64;
            ensure!(
                (-signed..signed).contains(&axis),
                InvalidArgument,
                "'axis'[{i}] = {axis} is out of valid range [{}, {}]",
                -signed,
                signed - 1
            );
            let axis = axis.rem_euclid(signed) as usize;
            ensure!(!reversed[axis], InvalidArgument, "axis {axis} specified more than once.");
            reversed[axis] = true;
        }
    }
    shapes::output_shape(c, input)
}

/// `input` repeated `multiples[i]` times along each dimension `i`.
#[register_op(
    attr("T: type"),
    attr("Tmultiples: {int32, int64} = DT_INT32"),
    input("input: T"),
    input("multiples: Tmultiples", "How many times; one entry a dimension."),
    output("output: T"),
    shape_fn = tile_shape,
)]
pub struct Tile;

fn tile_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut input = c.input(0);
    // As a shape, the multiples may be known in part.
    let mut multiples = c.make_shape_from_shape_tensor(1)?;
    if let Some(rank) = c.rank(input) {
        multiples = c.with_rank(multiples, rank)?;
        c.merge(c.input(1), c.vector(rank as i64))?;
    }
    let Some(factors) = c.dims(multiples) else { return shapes::unknown_shape(c) };
    input = c.with_rank(input, factors.len())?;
    let dims = factors.iter().enumerate().map(|(i, &factor)| c.multiply(c.dim(input, i as i64), factor));
    let dims = dims.collect::<Result<Vec<_>>>()?;
    shapes::output_shape(c, c.make_shape(dims))
}

#[register_op(
    attr("T: type"),
    attr("Tpaddings: {int32, int64} = DT_INT32"),
    input("input: T"),
    input("paddings: Tpaddings", "A row `[before, after]` for each dimension."),
    output("output: T"),
    shape_fn = pad_shape,
)]
pub enum Padding {
    /// `input` with zeros added around it.
    Pad,
    /// `input` with `constant_values` added around it.
    #[op(input("constant_values: T", "The scalar to pad with."))]
    PadV2,
    /// `input` with its own reflection added around it.
    #[op(
        attr("mode: {'REFLECT', 'SYMMETRIC'}", "`SYMMETRIC` repeats the element at the border, `REFLECT` does not."),
        input("paddings: Tpaddings", "A row `[before, after]` for each dimension; no more than there is to reflect.")
    )]
    MirrorPad,
}

fn pad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut input = c.input(0);
    let paddings = c.with_rank(c.input(1), 2)?;
    c.with_value(c.dim(paddings, 1), 2)?;
    let mut rows = c.dim(paddings, 0);
    match (c.value(rows), c.rank(input)) {
        (Some(rows), _) => input = c.with_rank(input, rows as usize)?,
        (None, Some(rank)) => rows = c.with_value(rows, rank as i64)?,
        (None, None) => {}
    }
    let Some(values) = c.input_i64s(1)? else {
        let output = match c.value(rows) {
            Some(rank) => c.unknown_shape_of_rank(rank as usize),
            None => c.unknown_shape(),
        };
        return shapes::output_shape(c, output);
    };
    input = c.with_rank(input, values.len() / 2)?;
    c.with_value(rows, (values.len() / 2) as i64)?;
    let mut dims = Vec::new();
    for (i, pair) in values.chunks_exact(2).enumerate() {
        let [before, after] = [pair[0], pair[1]];
        ensure!(before >= 0 && after >= 0, InvalidArgument, "Paddings must be non-negative: {before} {after}");
        dims.push(c.add(c.add(c.dim(input, i as i64), before)?, after)?);
    }
    shapes::output_shape(c, c.make_shape(dims))
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn transpositions() {
        let op = || infer::<Transpose>().attr("T", DataType::Float);
        let by = |perm: &[i32]| op().tensor(1, Tensor::vector(perm).unwrap());
        op().ok("?;?", "?");
        op().ok("?;[?]", "?");
        op().ok("?;[2]", "[?,?]");
        op().ok("[?];[?]", "[?]");
        op().ok("[?,?];[2]", "[?,?]");
        by(&[0]).ok("?;[1]", "in0");
        by(&[]).ok("?;[0]", "in0");
        by(&[0]).ok("[?];[1]", "[d0_0]");
        by(&[1, 0]).ok("?;[2]", "[?,?]");
        by(&[1, 2, 0]).ok("[1,2,3];[3]", "[d0_1,d0_2,d0_0]");
        by(&[-1, 0]).ok("[1,2];[2]", "[d0_1,d0_0]");
        by(&[1, 2]).error("perm dim 2 is out of range of input rank 2", "[1,2];[2]");
        by(&[-3, 0]).error("perm dim -3 is out of range of input rank 2", "[1,2];[2]");
        by(&[0]).error("Dimension must be 2 but is 1", "[1,2];[1]");
        op().error("must be rank 1", "[1,2];[1,2]");
    }

    #[test]
    fn orders() {
        infer::<InvertPermutation>().ok("?", "[?]");
        infer::<InvertPermutation>().ok("[1]", "in0");
        infer::<InvertPermutation>().error("must be rank 1", "[]");

        let op = || infer::<ReverseV2>().attr("T", DataType::Float);
        let along = |axes: &[i32]| op().tensor(1, Tensor::vector(axes).unwrap());
        op().ok("?;?", "in0");
        op().ok("[1,2];[?]", "in0");
        along(&[0, -1]).ok("[1,2,3];[2]", "in0");
        along(&[3]).ok("?;[1]", "in0");
        along(&[3]).error("'axis'[0] = 3 is out of valid range", "[1,2,3];[1]");
        along(&[-4]).error("'axis'[0] = -4 is out of valid range", "[1,2,3];[1]");
        along(&[1, -2]).error("axis 1 specified more than once", "[1,2,3];[2]");
        op().error("must be rank 1", "?;[]");
        op().error("more than 8 dimensions", "[1,2,3,4,5,6,7,8,9];?");
    }

    #[test]
    fn repetitions() {
        let op = || infer::<Tile>().attr("T", DataType::Float);
        let times = |multiples: &[i32]| op().tensor(1, Tensor::vector(multiples).unwrap());
        op().ok("?;?", "?");
        op().ok("[2,3,1,4];?", "[?,?,?,?]");
        op().ok("?;[4]", "[?,?,?,?]");
        times(&[2, 3, 4, 5]).ok("[2,3,1,?];[4]", "[4,9,4,?]");
        times(&[1, 0]).ok("[3,?];[2]", "[d0_0,0]");
        op().error("must be rank 1", "[2];[]");
        op().error("must be rank 1 but is rank 2", "[2];[2]");
        times(&[i32::MAX, 1]).error("overflow", "[4611686018427387904,1];[2]");
    }

    #[test]
    fn paddings() {
        let op = || infer::<Pad>().attr("T", DataType::Float);
        let by = |paddings: &[i32]| op().tensor(1, Tensor::from_elements([paddings.len() / 2, 2], paddings).unwrap());
        op().ok("?;?", "?");
        op().ok("?;[3,2]", "[?,?,?]");
        op().ok("[1,2,3];[?,?]", "[?,?,?]");
        op().ok("[1,2,3];?", "[?,?,?]");
        by(&[1, 2, 3, 4, 5, 6]).ok("[100,200,300];[3,2]", "[103,207,311]");
        by(&[1, 2, 3, 4, 5, 6]).ok("[100,?,300];[3,2]", "[103,?,311]");
        by(&[1, 2, 3, 4]).ok("?;[2,2]", "[?,?]");
        by(&[0, 0]).ok("[?];[1,2]", "[d0_0]");
        by(&[-1, 0]).error("Paddings must be non-negative", "[1];[1,2]");
        by(&[i32::MAX, 0]).error("overflow", "[9223372036854775807];[1,2]");
        op().error("must be rank 2", "?;[1,2,3]");
        op().error("Dimension must be 2 but is 4", "?;[1,4]");
        op().error("must be rank 4 but is rank 3", "[1,2,3];[4,2]");
    }
}
