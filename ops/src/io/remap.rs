//! Tensors in files: a matrix of a checkpoint with other rows and columns, and a file that is a tensor.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Reads a matrix from a checkpoint, with its rows and columns in another order, and new ones among them.
#[register_op(
    attr("num_rows: int >= 0", "The number of rows of the result."),
    attr("num_cols: int >= 1", "The number of columns of the result."),
    attr("max_rows_in_memory: int = -1", "How many rows are read at a time; all if it is not positive."),
    input("ckpt_path: string", "What the names of the checkpoint's files begin with."),
    input("old_tensor_name: string", "Which matrix of floats to read, a scalar."),
    input("row_remapping: int64", "For each row of the result which one of the matrix it is; negative if it is new."),
    input("col_remapping: int64", "For each column which one of the matrix it is; negative if it is new. Empty for all as they are."),
    input("initializing_values: float", "What the new elements are, row by row."),
    output("output_matrix: float"),
    stateful,
    shape_fn = load_and_remap_shape,
)]
pub struct LoadAndRemapMatrix;

fn load_and_remap_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    shapes::output_shape(c, c.matrix(c.attr::<i64>("num_rows")?, c.attr::<i64>("num_cols")?))
}

/// The bytes of a file as a tensor.
#[register_op(
    attr("dtype: type"),
    attr("shape: shape", "The shape of the tensor, whose elements are the first of the file."),
    attr("memory_region_name: string", "The name of the file."),
    output("tensor: dtype"),
    shape_fn = shapes::explicit_shape,
)]
pub struct ImmutableConst;
