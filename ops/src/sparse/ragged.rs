//! Ragged tensors: rows of different lengths, as a tensor of values and one of splits for each ragged dimension.
//!
//! The splits of a dimension say where each row begins among the values (or among the rows of the next dimension), and
//! where the last one ends.

use kernlink::shape::PartialShape;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use super::fill::fill_empty_rows_grad_shape;
use crate::shapes;

/// A ragged matrix whose rows are ranges.
///
/// Row `i` is `starts[i]`, `starts[i] + deltas[i]` and so on, up to but without `limits[i]`. Scalars stand for all
/// rows.
#[register_op(
    attr("T: {bfloat16, float, double, int32, int64} = DT_INT32"),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("starts: T", "A vector or a scalar."),
    input("limits: T", "A vector or a scalar."),
    input("deltas: T", "A vector or a scalar, not zero."),
    output("rt_nested_splits: Tsplits"),
    output("rt_dense_values: T"),
    shape_fn = ragged_range_shape,
)]
pub struct RaggedRange;

fn ragged_range_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut rows = c.unknown_dim();
    let mut scalars = 0;
    for input in 0..3 {
        let shape = c.with_rank_at_most(c.input(input), 1)?;
        match c.rank(shape) {
            Some(0) => scalars += 1,
            Some(_) => rows = c.merge_dim(c.dim(shape, 0), rows)?,
            None => {}
        }
    }
    let splits = match c.value(rows) {
        Some(rows) => rows.saturating_add(1),
        None if scalars == 3 => 2,
        None => -1,
    };
    c.set_output(0, c.vector(splits));
    c.set_output(1, c.unknown_shape_of_rank(1));
    Ok(())
}

/// The rows of a ragged tensor that `indices` names.
///
/// The result has the dimensions of `indices` in front of those of a row.
#[register_op(
    attr("Tvalues: type"),
    attr("Tindices: {int32, int64}"),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    attr("PARAMS_RAGGED_RANK: int >= 1", "The number of ragged dimensions of the input."),
    attr("OUTPUT_RAGGED_RANK: int >= 0", "The same plus the rank of `indices` minus one."),
    input("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits", "The splits of each ragged dimension."),
    input("params_dense_values: Tvalues"),
    input("indices: Tindices", "Rows of the first dimension."),
    output("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits"),
    output("output_dense_values: Tvalues"),
    shape_fn = ragged_gather_shape,
)]
pub struct RaggedGather;

fn ragged_gather_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let params_rank: i64 = c.attr("PARAMS_RAGGED_RANK")?;
    let output_rank: i64 = c.attr("OUTPUT_RAGGED_RANK")?;
    let splits = c.num_inputs() - 2;
    let (indices, indices_rank) = (c.input(splits + 1), output_rank.saturating_sub(params_rank).saturating_add(1));
    match usize::try_from(indices_rank) {
        Ok(rank) => _ = c.with_rank(indices, rank)?,
        // -1 is how TensorFlow writes a rank that is unknown, so that indices of such a rank have it. What they are, the kernel
        // refuses.
        Err(_) if indices_rank == -1 && c.rank(indices).is_none() => {}
        Err(_) => bail!(InvalidArgument, "Shape must be rank {indices_rank} but indices cannot be"),
    }
    for input in 0..splits {
        c.with_rank(c.input(input), 1)?;
    }
    let values = c.with_rank_at_least(c.input(splits), 1)?;
    let last = c.num_outputs() - 1;
    for output in 0..last {
        c.set_output(output, c.unknown_shape_of_rank(1));
    }
    c.set_output(last, c.concatenate(c.unknown_shape_of_rank(1), c.subshape(values, 1)?)?);
    Ok(())
}

/// A ragged tensor as a sparse one.
#[register_op(
    attr("RAGGED_RANK: int >= 1", "The number of ragged dimensions."),
    attr("T: type"),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("rt_nested_splits: RAGGED_RANK * Tsplits", "The splits of each ragged dimension."),
    input("rt_dense_values: T"),
    output("sparse_indices: int64"),
    output("sparse_values: T"),
    output("sparse_dense_shape: int64", "The size of a ragged dimension is that of its longest row."),
    shape_fn = ragged_tensor_to_sparse_shape,
)]
pub struct RaggedTensorToSparse;

fn ragged_tensor_to_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let splits = c.num_inputs() - 1;
    let values = c.with_rank_at_least(c.input(splits), 1)?;
    for input in 0..splits {
        c.with_rank(c.input(input), 1)?;
    }
    let rank = c.rank(values).map_or_else(|| c.unknown_dim(), |rank| c.make_dim((rank + splits) as i64));
    let elements = c.num_elements(values);
    c.set_output(0, c.matrix(elements, rank));
    c.set_output(1, c.vector(elements));
    c.set_output(2, c.vector(rank));
    Ok(())
}

/// A ragged tensor as a dense one, with a default value where rows are short.
#[register_op(
    attr("T: type"),
    attr("Tindex: {int64, int32}"),
    attr("Tshape: {int64, int32}"),
    attr("num_row_partition_tensors: int >= 1"),
    attr(
        "row_partition_types: list(string)",
        "What each tensor says: `ROW_SPLITS`, or `FIRST_DIM_SIZE` (only the first one) and then `VALUE_ROWIDS`.",
    ),
    input("shape: Tshape", "The result's shape, to which rows are cut or filled; −1 for what fits, alone for all."),
    input("values: T"),
    input("default_value: T", "A scalar, or what broadcasts to the shape of a value."),
    input("row_partition_tensors: num_row_partition_tensors * Tindex"),
    output("result: T"),
    shape_fn = ragged_tensor_to_tensor_shape,
)]
pub struct RaggedTensorToTensor;

fn ragged_tensor_to_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.make_shape_from_shape_tensor_treat_scalar_as_unknown_shape(0)?;
    let types: Vec<String> = c.attr("row_partition_types")?;
    let first = types.iter().map(String::as_str).collect::<Vec<_>>();
    if let Some(other) = first.iter().find(|kind| !["FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"].contains(kind)) {
        bail!(InvalidArgument, "Unknown string for partition info type: {other}");
    }
    match first.as_slice() {
        [] => bail!(InvalidArgument, "Partition info types should not be empty"),
        [_, rest @ ..] if rest.contains(&"FIRST_DIM_SIZE") => bail!(InvalidArgument, "FIRST_DIM_SIZE must be first"),
        ["FIRST_DIM_SIZE", "VALUE_ROWIDS", ..] | ["ROW_SPLITS", ..] => {}
        ["FIRST_DIM_SIZE", ..] => bail!(InvalidArgument, "FIRST_DIM_SIZE must be followed by VALUE_ROWIDS"),
        _ => bail!(InvalidArgument, "VALUE_ROWIDS cannot be first"),
    }
    let tensors = c.num_inputs() - 3;
    ensure!(
        tensors == types.len(),
        InvalidArgument,
        "Number of row partition tensors ({tensors}) does not equal the number of row partition types({}).",
        types.len()
    );
    for (i, kind) in first.iter().enumerate() {
        c.with_rank(c.input(3 + i), usize::from(*kind != "FIRST_DIM_SIZE"))?;
    }
    let ragged_rank = types.len() - usize::from(first[0] == "FIRST_DIM_SIZE");
    let (values, default) = (c.input(1), c.input(2));
    ensure_default_fits(&c.to_partial(default), &c.to_partial(values))?;
    let output = combined_shape(c, ragged_rank, shape, values)?;
    shapes::output_shape(c, output)
}

/// Fails unless the default broadcasts to the shape of a value.
fn ensure_default_fits(default: &PartialShape, values: &PartialShape) -> Result<()> {
    let (Some(default), Some(values)) = (default.dims(), values.dims()) else { return Ok(()) };
    ensure!(
        default.len() < values.len(),
        InvalidArgument,
        "default_value.rank = {} must be less than rt_input.flat_values.rank = {}",
        default.len(),
        values.len()
    );
    for (default, value) in default.iter().zip(&values[1..]) {
        if let (Some(default), Some(value)) = (default, value) {
            ensure!(
                *default == 1 || default == value,
                InvalidArgument,
                "default_value has size {default} where rt_input.flat_values has {value}"
            );
        }
    }
    Ok(())
}

/// The shape that is asked for, with what the values tell of it.
fn combined_shape(
    c: &InferenceContext<'_>,
    ragged_rank: usize,
    shape: ShapeHandle,
    values: ShapeHandle,
) -> Result<ShapeHandle> {
    let Some(values_rank) = c.rank(values) else { return Ok(shape) };
    let rank = ragged_rank + values_rank;
    if c.rank(shape).is_some_and(|known| known != rank) {
        bail!(
            InvalidArgument,
            "rt_input.shape and shape={} are incompatible: rt_input.rank = {rank} but shape.rank = {}",
            c.debug_string(shape),
            c.rank(shape).unwrap_or(0)
        );
    }
    let shape = if c.rank_known(shape) { shape } else { c.unknown_shape_of_rank(rank) };
    if values_rank == 0 {
        return Ok(shape);
    }
    let ragged = c.subshape_range(shape, 0, ragged_rank as i64 + 1)?;
    let inner = c.merge(c.subshape(shape, ragged_rank as i64 + 1)?, c.subshape(values, 1)?)?;
    c.concatenate(ragged, inner)
}

/// Puts a default value into each row of a ragged matrix that has none.
#[register_op(
    attr("T: type"),
    input("value_rowids: int64", "The row of each value."),
    input("values: T"),
    input("nrows: int64", "The number of rows, a scalar."),
    input("default_value: T", "A scalar."),
    output("output_value_rowids: int64", "Sorted."),
    output("output_values: T"),
    output("empty_row_indicator: bool", "Of each row, whether it had no values."),
    output("reverse_index_map: int64", "Of each value of the input, its place in the output."),
    shape_fn = ragged_fill_empty_rows_shape,
)]
pub struct RaggedFillEmptyRows;

fn ragged_fill_empty_rows_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let rows = c.with_rank(c.input(0), 1)?;
    let values = c.with_rank(c.input(1), 1)?;
    c.with_rank(c.input(2), 0)?;
    c.with_rank(c.input(3), 0)?;
    let elements = c.merge_dim(c.dim(rows, 0), c.dim(values, 0))?;
    for output in 0..3 {
        c.set_output(output, c.vector(-1));
    }
    c.set_output(3, c.vector(elements));
    Ok(())
}

/// The gradient of `RaggedFillEmptyRows`.
#[register_op(
    attr("T: type"),
    input("reverse_index_map: int64", "That of the op."),
    input("grad_values: T", "The gradient of `output_values`."),
    output("d_values: T", "The gradient of `values`."),
    output("d_default_value: T", "The gradient of `default_value`."),
    shape_fn = fill_empty_rows_grad_shape,
)]
pub struct RaggedFillEmptyRowsGrad;
