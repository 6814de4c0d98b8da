//! Sets: what stands along the last dimension of a tensor.

use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The number of different values along the last dimension of a sparse tensor.
#[register_op(
    attr("validate_indices: bool = true", "Refuse indices that are out of bounds, repeated or not in order."),
    attr("T: {int8, int16, int32, int64, uint8, uint16, string}"),
    input("set_indices: int64", "One row an element."),
    input("set_values: T"),
    input("set_shape: int64", "At least two sizes."),
    output("size: int32", "Dense, without the last dimension."),
    shape_fn = shapes::unknown,
)]
pub struct SetSize;

fn set_outputs(c: &InferenceContext<'_>, rank: DimHandle) {
    c.set_output(0, c.matrix(-1, rank));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(rank));
}

#[register_op(
    attr("set_operation: string", "`a-b`, `b-a`, `intersection` or `union`."),
    attr("validate_indices: bool = true"),
    attr("T: {int8, int16, int32, int64, uint8, uint16, string}"),
    output("result_indices: int64"),
    output("result_values: T"),
    output("result_shape: int64", "The last size is that of the greatest set."),
    shape_fn = dense_to_dense_shape,
)]
pub enum SetOperations {
    /// Difference, intersection or union of the sets along the last dimensions of two dense tensors.
    ///
    /// The result is sparse, each set sorted.
    #[op(input("set1: T", "At least two dimensions."), input("set2: T", "As `set1` but for the last dimension."))]
    DenseToDenseSetOperation,
    /// As `DenseToDenseSetOperation`, with a sparse second tensor.
    #[op(
        attr("validate_indices: bool = true", "Refuse indices that are out of bounds, repeated or not in order."),
        input("set1: T", "At least two dimensions."),
        input("set2_indices: int64", "One row an element."),
        input("set2_values: T"),
        input("set2_shape: int64"),
        shape_fn = dense_to_sparse_shape,
    )]
    DenseToSparseSetOperation,
    /// As `DenseToDenseSetOperation`, with two sparse tensors.
    #[op(
        attr("validate_indices: bool = true", "Refuse indices that are out of bounds, repeated or not in order."),
        input("set1_indices: int64", "One row an element."),
        input("set1_values: T"),
        input("set1_shape: int64"),
        input("set2_indices: int64", "One row an element."),
        input("set2_values: T"),
        input("set2_shape: int64"),
        shape_fn = sparse_to_sparse_shape,
    )]
    SparseToSparseSetOperation,
}

fn dense_to_dense_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let first = c.with_rank_at_least(c.input(0), 2)?;
    let rank = match c.rank(first) {
        Some(rank) => {
            let second = c.with_rank(c.input(1), rank)?;
            let groups = rank as i64 - 1;
            c.merge(c.subshape_range(first, 0, groups)?, c.subshape_range(second, 0, groups)?)?;
            c.make_dim(rank as i64)
        }
        None => {
            let second = c.with_rank_at_least(c.input(1), 2)?;
            c.rank(second).map_or_else(|| c.unknown_dim(), |rank| c.make_dim(rank as i64))
        }
    };
    set_outputs(c, rank);
    Ok(())
}

fn dense_to_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::validate_sparse_tensor(c, c.input(1), c.input(2), c.input(3))?;
    let mut rank = c.dim(c.input(3), 0);
    let first = c.with_rank_at_least(c.input(0), 2)?;
    if let Some(known) = c.rank(first) {
        c.with_value(rank, known as i64)?;
        rank = c.make_dim(known as i64);
    }
    set_outputs(c, rank);
    Ok(())
}

fn sparse_to_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::validate_sparse_tensor(c, c.input(0), c.input(1), c.input(2))?;
    shapes::validate_sparse_tensor(c, c.input(3), c.input(4), c.input(5))?;
    let (first, second) = (c.dim(c.input(2), 0), c.dim(c.input(5), 0));
    let rank = match (c.value(first), c.value(second)) {
        (Some(rank), _) => {
            ensure!(rank >= 2, InvalidArgument, "Input 0, expected rank >= 2, got {rank}.");
            c.with_value(second, rank)?;
            first
        }
        (None, Some(rank)) => {
            ensure!(rank >= 2, InvalidArgument, "Input 1, expected rank >= 2, got {rank}.");
            second
        }
        (None, None) => c.unknown_dim(),
    };
    set_outputs(c, rank);
    Ok(())
}
