//! Taking parts of a tensor: by range, by stride, by index.

use kernlink::dtype::DataType;
use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_op;

use super::join::axis;
use crate::infer::integer;
use crate::shapes;

/// The block of `input` that begins at `begin` and has the given size.
///
/// All of it must lie within `input`.
#[register_op(
    attr("T: type"),
    attr("Index: {int32, int64}"),
    input("input: T"),
    input("begin: Index", "The index of the block's first element; one entry a dimension."),
    input("size: Index", "The block's size in each dimension; −1 is everything from `begin` on."),
    output("output: T"),
    shape_fn = shapes::slice_shape,
)]
pub struct Slice;

/// What Python's `input[begin:end:strides, …]` takes.
///
/// Each entry of `begin`, `end` and `strides` describes one dimension, from the left; dimensions without an entry are
/// taken whole. Ranges are clamped to the dimension as in Python; negative indices count from its end; strides may be
/// negative but not zero. The masks have one bit an entry.
#[register_op(
    attr("T: type"),
    attr("Index: {int16, int32, int64}"),
    attr("begin_mask: int = 0", "Entries that begin at the very start, whatever `begin` says."),
    attr("end_mask: int = 0", "Entries that go to the very end, whatever `end` says."),
    attr("ellipsis_mask: int = 0", "The entry that is `...`: all dimensions that the others leave; at most one."),
    attr("new_axis_mask: int = 0", "Entries that add a dimension of size 1 and use up none."),
    attr("shrink_axis_mask: int = 0", "Entries that take the one element at `begin` and remove the dimension."),
    input("input: T"),
    input("begin: Index", "The first index of each entry."),
    input("end: Index", "The index at which each entry stops."),
    input("strides: Index", "The step of each entry."),
    output("output: T"),
    shape_fn = shapes::strided_slice_shape,
)]
pub struct StridedSlice;

/// Slices of `params` along its first dimension, by index: `output[i…, j…] = params[indices[i…], j…]`.
///
/// An index out of range is an error.
#[register_op(
    attr("validate_indices: bool = true", "Without effect: indices are always checked."),
    attr("Tparams: type"),
    attr("Tindices: {int32, int64}"),
    input("params: Tparams"),
    input("indices: Tindices"),
    output("output: Tparams"),
    shape_fn = gather_shape,
)]
pub struct Gather;

fn gather_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let params = c.with_rank_at_least(c.input(0), 1)?;
    let output = c.concatenate(c.input(1), c.subshape(params, 1)?)?;
    shapes::output_shape(c, output)
}

/// Slices of `params` along `axis`, by index.
///
/// The output's shape is that of `params` with the dimension `axis` replaced by the shape of `indices`. With
/// `batch_dims` the first dimensions of both pair off instead. An index out of range is an error.
#[register_op(
    attr("batch_dims: int = 0", "How many first dimensions pair off; negative ones count from the rank of `indices`."),
    attr("Tparams: type"),
    attr("Tindices: {int16, int32, int64}"),
    attr("Taxis: {int32, int64}"),
    input("params: Tparams"),
    input("indices: Tindices"),
    input("axis: Taxis", "The dimension, a scalar from −rank to rank − 1; not below `batch_dims`."),
    output("output: Tparams"),
    shape_fn = gather_v2_shape,
)]
pub struct GatherV2;

fn gather_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let params = c.with_rank_at_least(c.input(0), 1)?;
    let indices = c.input(1);
    c.with_rank(c.input(2), 0)?;
    let batch_dims: i64 = c.attr("batch_dims")?;
    let magnitude = |index: i64| usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    c.with_rank_at_least(indices, magnitude(batch_dims))?;
    let batch_dims = match c.rank(indices) {
        Some(rank) if batch_dims < 0 => Some(batch_dims + rank as i64),
        None if batch_dims < 0 => None,
        _ => Some(batch_dims),
    };
    if let Some(batch_dims) = batch_dims {
        c.with_rank_at_least(params, magnitude(batch_dims).saturating_add(1))?;
    }
    let Some(axis) = c.input_tensor(2) else {
        let output = match (c.rank(params), c.rank(indices), batch_dims) {
            (Some(params), Some(indices), Some(batch_dims)) => {
                c.unknown_shape_of_rank(params + indices - 1 - magnitude(batch_dims))
            }
            _ => c.unknown_shape(),
        };
        return shapes::output_shape(c, output);
    };
    let axis = integer(axis)?;
    c.with_rank_at_least(params, if axis < 0 { magnitude(axis) } else { magnitude(axis).saturating_add(1) })?;
    let Some(batch_dims) = batch_dims else { return shapes::unknown_shape(c) };
    let outer = c.subshape_range(params, 0, axis)?;
    let mut output = c.concatenate(outer, c.subshape(indices, batch_dims)?)?;
    // The dimension after the last one would be number 0.
    if axis != -1 {
        output = c.concatenate(output, c.subshape(params, axis.saturating_add(1))?)?;
    }
    shapes::output_shape(c, output)
}

/// Slices of `params` by index vectors: the last dimension of `indices` holds indices for the first dimensions of
/// `params`.
///
/// The output's shape is that of `indices` without its last dimension, followed by what is left of that of `params`.
#[register_op(
    attr("Tparams: type"),
    attr("Tindices: {int16, int32, int64}"),
    attr("bad_indices_policy: string = ''", "For bad indices: `\"ERROR\"` or empty fails, `\"IGNORE\"` gives zeros."),
    input("params: Tparams"),
    input("indices: Tindices"),
    output("output: Tparams"),
    shape_fn = shapes::gather_nd_shape,
)]
pub struct GatherNd;

/// The indices of the elements that are not zero or false, in row-major order: a matrix with a row for each of them.
#[register_op(
    attr("T: {numbertype, bool} = DT_BOOL"),
    input("input: T"),
    output("index: int64"),
    shape_fn = |c| shapes::output_shape(c, c.matrix(-1, c.rank(c.input(0)).map_or(-1, |rank| rank as i64))),
)]
pub struct Where;

/// `indices` with a new dimension that holds `on_value` at the index and `off_value` everywhere else.
///
/// An index out of range gives `off_value` only.
#[register_op(
    attr("axis: int = -1", "Where it will stand; −1 is last."),
    attr("T: type"),
    attr("TI: {uint8, int8, int32, int64} = DT_INT64"),
    input("indices: TI"),
    input("depth: int32", "The size of the new dimension, a scalar."),
    input("on_value: T"),
    input("off_value: T"),
    output("output: T"),
    shape_fn = one_hot_shape,
)]
pub struct OneHot;

fn one_hot_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let axis: i64 = c.attr("axis")?;
    ensure!(axis >= -1, InvalidArgument, "axis must be >= -1, not {axis}");
    let depth = c.make_dim_for_scalar_input(1)?;
    let Some(mut dims) = c.dims(c.input(0)) else { return shapes::unknown_shape(c) };
    // TensorFlow wraps an axis that is too great here and leaves it to the kernel to refuse it.
    let place = axis.rem_euclid(dims.len() as i64 + 1);
    dims.insert(place as usize, depth);
    shapes::output_shape(c, c.make_shape(dims))
}

/// The `k` greatest elements of each row (the last dimension), and where they stood. Of equals the first comes first.
#[register_op(
    attr("sorted: bool = true", "Whether they come in descending order; if not, in any."),
    attr("T: realnumbertype"),
    attr("Tk: {int16, int32, int64} = DT_INT32"),
    attr("index_type: {int16, int32, int64} = DT_INT32"),
    input("input: T"),
    input("k: Tk", "How many, a scalar; at most the size of a row."),
    output("values: T"),
    output("indices: index_type"),
    shape_fn = top_k_shape,
)]
pub struct TopKV2;

fn top_k_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let k = match c.input_tensor(1) {
        Some(k) if k.dtype() == DataType::Int16 => {
            let k = integer(k)?;
            ensure!(k >= 0, InvalidArgument, "Need k >= 0, got {k}");
            c.make_dim(k)
        }
        _ => c.make_dim_for_scalar_input(1)?,
    };
    greatest_shape(c, k)
}

/// Both outputs are input 0 with `k` elements in each row.
fn greatest_shape(c: &mut InferenceContext<'_>, k: DimHandle) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 1)?;
    if let (Some(last), Some(k)) = (c.value(c.dim(input, -1)), c.value(k)) {
        ensure!(last >= k, InvalidArgument, "input must have last dimension >= k = {k} but is {last}");
    }
    let rows = c.subshape_range(input, 0, -1)?;
    let output = c.concatenate(rows, c.vector(k))?;
    c.set_output(0, output);
    c.set_output(1, output);
    Ok(())
}

/// The `k` greatest elements of each row, and where they stood; [`TopKV2`] takes `k` as an input.
#[register_op(
    deprecated(7, "Use TopKV2 instead"),
    input("input: T"),
    output("values: T"),
    output("indices: int32"),
    attr("k: int >= 0", "How many; at most the size of a row."),
    attr("sorted: bool = true", "Whether they come in descending order; if not, in any."),
    attr("T: realnumbertype"),
    shape_fn = top_k_of_attr_shape,
)]
pub struct TopK;

fn top_k_of_attr_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let k: i64 = c.attr("k")?;
    ensure!(k >= 0, InvalidArgument, "Need k >= 0, got {k}");
    let k = c.make_dim(k);
    greatest_shape(c, k)
}

/// The `k` greatest or least elements along a dimension, or nearly, and where they stood.
///
/// Hardware for it finds some of them with probability `recall_target`. A CPU finds them all, in descending order, along the
/// last dimension.
#[register_op(
    attr("k: int >= 0", "How many; at most the size of the dimension."),
    attr("reduction_dimension: int = -1", "The dimension, counted from the end if it is negative."),
    attr("recall_target: float = 0.95", "How much of the true result is there at least."),
    attr("is_max_k: bool = true", "Whether the greatest are asked for, not the least."),
    attr("reduction_input_size_override: int = -1", "The size of the whole, of which the input is a part."),
    attr("aggregate_to_topk: bool = true", "Whether just `k` are asked for, not as many as hardware has found."),
    attr("T: {half, bfloat16, float}"),
    input("input: T"),
    output("values: T"),
    output("indices: int32"),
    shape_fn = approx_top_k_shape,
)]
pub struct ApproxTopK;

fn approx_top_k_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 1)?;
    let (k, dimension): (i64, i64) = (c.attr("k")?, c.attr("reduction_dimension")?);
    // As in TensorFlow, the size must be known before the graph runs.
    let Some(rank) = c.rank(input) else {
        bail!(InvalidArgument, "the rank of the input of ApproxTopK must be known");
    };
    let axis = axis(dimension, rank)?;
    let Some(size) = c.value(c.dim(input, axis as i64)) else {
        let shape = c.debug_string(input);
        bail!(InvalidArgument, "dimension {axis} of the input of ApproxTopK must be known, its shape is {shape}");
    };
    ensure!(size >= k, InvalidArgument, "input must have last dimension >= k = {k} but was {size}");
    let found = if c.attr("aggregate_to_topk")? {
        k
    } else {
        let whole: i64 = c.attr("reduction_input_size_override")?;
        found_by_hardware(size, if whole >= 0 { whole } else { size }, rank, k, c.attr("recall_target")?)
    };
    let found = c.make_dim(found);
    let output = c.replace_dim(input, axis as i64, found)?;
    c.set_output(0, output);
    c.set_output(1, output);
    Ok(())
}

/// How many elements hardware that sees tiles of a row of `size` elements keeps, so that the `k` greatest of `whole` are among
/// them with probability `recall`: the formula of "TPU-KNN: K Nearest Neighbor Search at Peak FLOP/s" (Chern et al., 2022).
fn found_by_hardware(size: i64, whole: i64, rank: usize, k: i64, recall: f32) -> i64 {
    let tile = if rank == 1 { 1024 } else { 128 };
    if size <= tile || recall == 1.0 {
        return size;
    }
    if k == 1 {
        return tile;
    }
    // For no element at all the number lies below zero: the largest of all to TensorFlow, whose numbers have no sign.
    let needed = (1.0 - k as f64) / f64::from(recall).ln();
    let kept = if needed <= -1.0 { size } else { (needed as i64).max(tile).min(size) };
    let Some(halvings @ 1..) = (whole / kept).checked_ilog2() else { return size };
    let tiles = (size as u64).div_ceil(tile as u64);
    // Only whole tiles count here.
    let halvings = halvings.min((size / tile).cast_unsigned().next_power_of_two().ilog2());
    (tiles.div_ceil(1 << halvings) as i64).saturating_mul(tile)
}

/// The patches under a sliding window, each laid out along the depth: `[batch, rows, cols, ksizes[1] * ksizes[2] *
/// depth]`.
///
/// `images` is `[batch, rows, cols, depth]`. Only rows and columns may have a window, stride or rate other than 1.
#[register_op(
    attr("ksizes: list(int) >= 4", "The window's size in each of the four dimensions."),
    attr("strides: list(int) >= 4", "The distance between windows in each dimension."),
    attr("rates: list(int) >= 4", "The distance between the elements that a window takes in each dimension."),
    attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, \
         complex128, bool}",
    ),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside the image, `SAME` adds zeros around it."),
    input("images: T"),
    output("patches: T"),
    shape_fn = extract_image_patches_shape,
)]
pub struct ExtractImagePatches;

fn extract_image_patches_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let four = |name: &str| {
        let list: Vec<i64> = c.attr(name)?;
        <[i64; 4]>::try_from(list).map_err(|list| {
            let message = format!("ExtractImagePatches requires `{name}` to contain 4 values, but got: {}", list.len());
            Error::invalid_argument(message)
        })
    };
    let (sizes, strides, rates) = (four("ksizes")?, four("strides")?, four("rates")?);
    let too_large = || Error::invalid_argument(format!("the window {sizes:?} with rates {rates:?} is too large"));
    let same = c.attr::<String>("padding")? == "SAME";
    let area = sizes[1].checked_mul(sizes[2]).ok_or_else(too_large)?;
    let depth = c.multiply(c.dim(input, 3), area)?;
    let output = |size: i64, axis: usize| {
        let (window, rate, stride) = (sizes[axis], rates[axis], strides[axis]);
        ensure!(stride > 0, InvalidArgument, "Stride must be > 0, but got {stride}");
        let gaps = window.checked_sub(1).zip(rate.checked_sub(1)).and_then(|(a, b)| a.checked_mul(b));
        let reach = gaps.and_then(|gaps| gaps.checked_add(window)).ok_or_else(too_large)?;
        let last = if same { size.checked_sub(1) } else { size.checked_sub(reach) };
        let output = last.and_then(|last| last.checked_add(stride)).ok_or_else(too_large)? / stride;
        ensure!(output >= 0, InvalidArgument, "a window that reaches over {reach} elements does not fit into {size}");
        Ok(c.make_dim(output))
    };
    let (rows, columns) = match (c.value(c.dim(input, 1)), c.value(c.dim(input, 2))) {
        (Some(rows), Some(columns)) => (output(rows, 1)?, output(columns, 2)?),
        _ => (c.unknown_dim(), c.unknown_dim()),
    };
    shapes::output_shape(c, c.make_shape([c.dim(input, 0), rows, columns, depth]))
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn strided_slices() {
        let op = || infer::<StridedSlice>().attr("T", DataType::Float).attr("Index", DataType::Int32);
        let slice = |begin: &[i32], end: &[i32], strides: &[i32]| {
            let vector = |values: &[i32]| Tensor::vector(values).unwrap();
            op().tensor(1, vector(begin)).tensor(2, vector(end)).tensor(3, vector(strides))
        };
        op().ok("[2,3];[1];[1];[1]", "?");
        op().ok("?;?;?;?", "?");
        slice(&[1], &[3], &[1]).ok("?;[1];[1];[1]", "?");
        slice(&[1], &[3], &[1]).ok("[5,4];[1];[1];[1]", "[2,4]");
        slice(&[-1, 0], &[-4, 4], &[-1, 2]).ok("[5,4];[2];[2];[2]", "[3,2]");
        slice(&[0], &[0], &[1]).attr("end_mask", 1i64).ok("[?,4];[1];[1];[1]", "[?,4]");
        slice(&[2], &[3], &[1]).attr("shrink_axis_mask", 1i64).ok("[5,4];[1];[1];[1]", "[4]");
        slice(&[0, 0], &[0, 0], &[1, 1])
            .attr("ellipsis_mask", 1i64)
            .attr("new_axis_mask", 2i64)
            .ok("[5,4];[2];[2];[2]", "[5,4,1]");
        let stepped = op().tensor(3, Tensor::vector(&[1i32]).unwrap());
        stepped.ok("[5,4];[1];[1];[1]", "[?,4]");
        slice(&[0], &[1], &[0]).error("strides[0] must be non-zero", "[5,4];[1];[1];[1]");
        op().error("must be rank 1", "[2,3];[1,1];[1];[1]");
        op().error("must be equal", "[2,3];[1];[2];[1]");
    }

    #[test]
    fn gathers() {
        let op = || infer::<Gather>().attr("Tparams", DataType::Float).attr("Tindices", DataType::Int32);
        op().ok("[1,?,2];[3]", "[d1_0,d0_1,d0_2]");
        op().ok("?;[3]", "?");
        op().error("must be at least rank 1", "[];[1,2,3]");

        let op = || {
            let op = infer::<GatherV2>().attr("Tparams", DataType::Float).attr("Tindices", DataType::Int32);
            op.attr("Taxis", DataType::Int32)
        };
        let at = |axis: i32, batch: i64| op().attr("batch_dims", batch).tensor(2, Tensor::scalar(axis));
        op().ok("[1,2,3];[3];[]", "[?,?,?]");
        op().ok("[1,2,3];[];[]", "[?,?]");
        op().ok("?;[3];[]", "?");
        at(0, 0).ok("[1,2,3];[?];[]", "[d1_0,d0_1,d0_2]");
        at(1, 0).ok("[1,2,3];[4,?];[]", "[d0_0,d1_0,d1_1,d0_2]");
        at(-1, 0).ok("[1,2,3];[4];[]", "[d0_0,d0_1,d1_0]");
        at(-3, 0).ok("[1,2,3];[4];[]", "[d1_0,d0_1,d0_2]");
        at(1, 0).ok("?;[4];[]", "?");
        at(1, 1).ok("[1,4800,8];[1,28400];[]", "[d0_0,d1_1,d0_2]");
        at(-2, -1).ok("[1,4800,8];[1,28400];[]", "[d0_0,d1_1,d0_2]");
        op().attr("batch_dims", -1i64).ok("[1,2,3];[1,4];[]", "[?,?,?]");
        at(3, 0).error("must be at least rank 4 but is rank 3", "[1,2,3];[1];[]");
        at(-4, 0).error("must be at least rank 4 but is rank 3", "[1,2,3];[1];[]");
        at(0, 2).error("must be at least rank 2 but is rank 1", "[1,2,3];[1];[]");
        at(0, 3).error("must be at least rank 4 but is rank 3", "[1,2,3];[1,1,1];[]");
        op().error("must be rank 0", "[1];[1];[1]");
    }

    #[test]
    fn indices() {
        let op = || infer::<Where>().attr("T", DataType::Bool);
        op().ok("[1,2]", "[?,2]");
        op().ok("?", "[?,?]");
        op().ok("[]", "[?,0]");

        let op = |axis: i64| infer::<OneHot>().attr("T", DataType::Float).attr("axis", axis);
        let deep = |axis: i64| op(axis).tensor(1, Tensor::scalar(2i32));
        op(-1).ok("[1,?];[];[];[]", "[d0_0,d0_1,?]");
        deep(-1).ok("[1,?,3];[];[];[]", "[d0_0,d0_1,d0_2,2]");
        deep(0).ok("[1,?,3];[];[];[]", "[2,d0_0,d0_1,d0_2]");
        deep(2).ok("[1,?,3];[];[];[]", "[d0_0,d0_1,2,d0_2]");
        deep(0).ok("?;[];[];[]", "?");
        op(-2).error("axis must be >= -1", "?;[];[];[]");
        op(0).tensor(1, Tensor::scalar(-2i32)).error("must be non-negative", "?;[];[];[]");

        let op = || infer::<TopKV2>().attr("T", DataType::Float);
        let k = |k: i32| op().tensor(1, Tensor::scalar(k));
        op().ok("?;[]", "?;?");
        op().ok("[1,2,3];[]", "[d0_0,d0_1,?];[d0_0,d0_1,?]");
        k(2).ok("[1,?,3];[]", "[d0_0,d0_1,2];[d0_0,d0_1,2]");
        k(2).ok("[?];[]", "[2];[2]");
        op().attr("Tk", DataType::Int16).tensor(1, Tensor::scalar(2i16)).ok("[3];[]", "[2];[2]");
        k(20).error("input must have last dimension >= k = 20 but is 4", "[1,2,3,4];[]");
        k(-1).error("must be non-negative", "[3];[]");
        k(1).error("must be at least rank 1", "[];[]");
    }

    #[test]
    fn patches() {
        let op = |sizes: &[i64], strides: &[i64], rates: &[i64], padding: &str| {
            let op = infer::<ExtractImagePatches>().attr("T", DataType::Float).attr("ksizes", sizes);
            op.attr("strides", strides).attr("rates", rates).attr("padding", padding)
        };
        op(&[1, 2, 2, 1], &[1, 1, 1, 1], &[1, 2, 2, 1], "VALID").ok("[1,7,7,2]", "[d0_0,5,5,8]");
        op(&[1, 3, 3, 1], &[1, 2, 2, 1], &[1, 1, 1, 1], "SAME").ok("[?,7,6,?]", "[d0_0,4,3,?]");
        op(&[1, 3, 3, 1], &[1, 2, 2, 1], &[1, 1, 1, 1], "SAME").ok("[1,?,6,2]", "[d0_0,?,?,18]");
        op(&[1, 3, 3, 1], &[1, 2, 2, 1], &[1, 1, 1, 1], "SAME").ok("?", "[?,?,?,?]");
        op(&[1, 3, 3, 1, 1], &[1, 2, 2, 1], &[1, 1, 1, 1], "SAME").error("to contain 4 values", "[1,7,6,2]");
        op(&[1, 9, 9, 1], &[1, 1, 1, 1], &[1, 1, 1, 1], "VALID").error("does not fit into 7", "[1,7,6,2]");
        op(&[1, 3, 3, 1], &[1, 0, 1, 1], &[1, 1, 1, 1], "VALID").error("Stride must be > 0", "[1,7,6,2]");
        op(&[1, i64::MAX, 3, 1], &[1, 1, 1, 1], &[1, 3, 1, 1], "VALID").error("too large", "[1,7,6,2]");
        op(&[1, 3, 3, 1], &[1, 2, 2, 1], &[1, 1, 1, 1], "SAME").error("must be rank 4", "[1,7,6]");
    }
}
