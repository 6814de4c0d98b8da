//! Sparse tensors as strings.

use kernlink::Result;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink_macros::register_op;

use crate::shapes;

fn ensure_ranks(c: &InferenceContext<'_>) -> Result<()> {
    for (input, rank) in [2, 1, 1].into_iter().enumerate() {
        c.with_rank(c.input(input), rank)?;
    }
    Ok(())
}

#[register_op(
    attr("T: type"),
    attr("out_type: {string, variant} = DT_STRING"),
    input("sparse_indices: int64", "One row an element."),
    input("sparse_values: T"),
    input("sparse_shape: int64"),
    output("serialized_sparse: out_type"),
    shape_fn = serialize_sparse_shape,
)]
pub enum Serializing {
    /// A sparse tensor as three serialized tensors: indices, values, shape.
    SerializeSparse,
    /// Each row of a sparse tensor as three serialized tensors.
    ///
    /// The elements are sorted by row, that is by their first index.
    #[op(
        input("sparse_shape: int64", "At least two sizes, of which the first is the number of rows."),
        output("serialized_sparse: out_type", "Indices, values and shape of each row."),
        shape_fn = serialize_many_sparse_shape,
    )]
    SerializeManySparse,
}

fn serialize_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    ensure_ranks(c)?;
    shapes::output_shape(c, c.vector(3))
}

fn serialize_many_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    ensure_ranks(c)?;
    shapes::output_shape(c, c.matrix(-1, 3))
}

fn set_sparse_outputs(c: &InferenceContext<'_>, serialized: ShapeHandle) -> Result<()> {
    c.with_value(c.dim(serialized, -1), 3)?;
    c.set_output(0, c.matrix(-1, -1));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(-1));
    Ok(())
}

#[register_op(
    attr("dtype: type", "The dtype of the values."),
    input("serialized_sparse: Tserialized", "The last dimension has size 3."),
    output("sparse_indices: int64"),
    output("sparse_values: dtype"),
    output("sparse_shape: int64"),
    shape_fn = deserialize_sparse_shape,
)]
pub enum Deserializing {
    /// Sparse tensors from what `SerializeSparse` made of them.
    ///
    /// Several are stacked: their elements get the indices of the input's dimensions but the last in front of their
    /// own, and the shape is the greatest in each dimension.
    #[op(attr("Tserialized: {string, variant} = DT_STRING"))]
    DeserializeSparse,
    /// The sparse tensor of rows that `SerializeManySparse` made.
    #[op(input("serialized_sparse: string", "Three strings a row."), shape_fn = deserialize_many_sparse_shape)]
    DeserializeManySparse,
}

fn deserialize_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let serialized = c.with_rank_at_least(c.input(0), 1)?;
    set_sparse_outputs(c, serialized)
}

fn deserialize_many_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let serialized = c.with_rank(c.input(0), 2)?;
    set_sparse_outputs(c, serialized)
}
