//! Sparse tensors that wait under numbers until they are taken, for queues that hold only tensors of one shape.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Puts a sparse tensor into a map; returns the number under which it is there.
#[register_op(
    attr("T: type"),
    attr("container: string = ''", "Where the map is kept."),
    attr("shared_name: string = ''", "Its name there; empty for the name of the node."),
    input("sparse_indices: int64", "One row an element."),
    input("sparse_values: T"),
    input("sparse_shape: int64"),
    output("sparse_handle: int64"),
    shape_fn = |c| add_shape(c, false),
    stateful,
)]
pub struct AddSparseToTensorsMap;

/// Puts each row of a sparse tensor into a map; returns the numbers under which they are there.
#[register_op(
    attr("T: type"),
    attr("container: string = ''", "Where the map is kept."),
    attr("shared_name: string = ''", "Its name there; empty for the name of the node."),
    input("sparse_indices: int64", "One row an element, in row-major order."),
    input("sparse_values: T"),
    input("sparse_shape: int64", "At least two sizes, of which the first is the number of rows."),
    output("sparse_handles: int64", "One number a row."),
    shape_fn = |c| add_shape(c, true),
    stateful,
)]
pub struct AddManySparseToTensorsMap;

fn add_shape(c: &InferenceContext<'_>, many: bool) -> Result<()> {
    for (input, rank) in [2, 1, 1].into_iter().enumerate() {
        c.with_rank(c.input(input), rank)?;
    }
    shapes::output_shape(c, if many { c.vector(-1) } else { c.scalar() })
}

/// Takes sparse tensors out of a map, as the rows of one.
///
/// The shape is the greatest in each dimension.
#[register_op(
    attr("dtype: type", "The dtype of the values."),
    attr("container: string = ''", "Where the map is kept."),
    attr("shared_name: string = ''", "Its name there."),
    input("sparse_handles: int64", "The numbers of the tensors."),
    output("sparse_indices: int64"),
    output("sparse_values: dtype"),
    output("sparse_shape: int64"),
    shape_fn = take_shape,
    stateful,
)]
pub struct TakeManySparseFromTensorsMap;

fn take_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    c.set_output(0, c.matrix(-1, -1));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(-1));
    Ok(())
}
