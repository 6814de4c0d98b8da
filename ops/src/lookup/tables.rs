//! Tables, which nodes make.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::shape_inference::{InferenceContext, ShapeAndType, ShapeHandle};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("container: string = ''", "Where the table is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the table; empty for a name of its own."),
    attr("use_node_name_sharing: bool = false", "Whether a table without `shared_name` is shared by the node's name."),
    attr("key_dtype: type"),
    attr("value_dtype: type"),
    output("table_handle: Ref(string)", "The name of the table."),
    stateful,
    shape_fn = reference_shape,
)]
pub enum Tables {
    /// A table from keys to values that is filled once.
    HashTable,
    /// A table from keys to values that is filled once.
    #[op(output("table_handle: resource", "The table."), shape_fn = shapes::scalar_shape)]
    HashTableV2,
    /// A table from keys to values that can be changed at any time.
    MutableHashTable,
    /// A table from keys to values that can be changed at any time.
    #[op(output("table_handle: resource", "The table."), shape_fn = scalars_shape)]
    MutableHashTableV2,
    /// A table from keys to vectors that can be changed at any time.
    #[op(attr("value_shape: shape = {}", "The shape of each value."))]
    MutableHashTableOfTensors,
    /// A table from keys to vectors that can be changed at any time.
    #[op(like = HashTableV2, attr("value_shape: shape = {}", "The shape of each value."), shape_fn = tensors_shape)]
    MutableHashTableOfTensorsV2,
    /// A table from keys, which may be vectors, to values or vectors, in one block of memory.
    #[op(
        attr("value_shape: shape = {}", "The shape of each value."),
        attr("initial_num_buckets: int = 131072", "How many buckets the table starts with, a power of two."),
        attr("max_load_factor: float = 0.8", "How full the buckets get before there are more of them."),
        input("empty_key: key_dtype", "A key that is never used.")
    )]
    MutableDenseHashTable,
    /// A table from keys, which may be vectors, to values or vectors, in one block of memory.
    #[op(
        like = MutableDenseHashTable,
        input("deleted_key: key_dtype", "Another key that is never used."),
        output("table_handle: resource", "The table."),
        shape_fn = dense_shape,
    )]
    MutableDenseHashTableV2,
}

#[register_op(
    attr("key_dtype: type"),
    attr("value_dtype: type"),
    output("table_handle: resource", "The table."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum AnonymousTables {
    /// A table from keys to values that is filled once and goes with the last copy of its handle.
    AnonymousHashTable,
    /// A table from keys to values that can be changed at any time and goes with the last copy of its handle.
    #[op(shape_fn = scalars_shape)]
    AnonymousMutableHashTable,
    /// A table from keys to vectors that can be changed at any time and goes with the last copy of its handle.
    #[op(attr("value_shape: shape = {}", "The shape of each value."), shape_fn = tensors_shape)]
    AnonymousMutableHashTableOfTensors,
    /// A table from keys to values in one block of memory, which goes with the last copy of its handle.
    #[op(
        attr("value_shape: shape = {}", "The shape of each value."),
        attr("initial_num_buckets: int = 131072", "How many buckets the table starts with, a power of two."),
        attr("max_load_factor: float = 0.8", "How full the buckets get before there are more of them."),
        input("empty_key: key_dtype", "A key that is never used."),
        input("deleted_key: key_dtype", "Another key that is never used."),
        shape_fn = dense_shape,
    )]
    AnonymousMutableDenseHashTable,
}

/// Container and name.
fn reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.vector(2));
    Ok(())
}

fn table(c: &InferenceContext<'_>, key: ShapeHandle, value: ShapeHandle) -> Result<()> {
    c.set_output(0, c.scalar());
    let key = c.with_rank_at_most(key, 1)?;
    let held = |shape, dtype: DataType| ShapeAndType { shape, dtype: Some(dtype) };
    let held = [held(key, c.attr("key_dtype")?), held(value, c.attr("value_dtype")?)];
    c.set_output_handle_shapes_and_types(0, &held);
    Ok(())
}

fn scalars_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    table(c, c.scalar(), c.scalar())
}

fn tensors_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    table(c, c.scalar(), c.make_shape_from_partial(&c.attr("value_shape")?))
}

fn dense_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    table(c, c.input(0), c.make_shape_from_partial(&c.attr("value_shape")?))
}
