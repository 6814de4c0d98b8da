//! Maps from tensors to tensors that are values: changing one makes another.

use kernlink_macros::register_op;

use crate::shapes;

/// A map from tensors to tensors without entries.
#[register_op(output("handle: variant", "The map."), shape_fn = shapes::scalar_shape)]
pub struct EmptyTensorMap;

#[register_op(
    attr("key_dtype: type"),
    attr("value_dtype: type"),
    input("input_handle: variant", "The map."),
    input("key: key_dtype", "The key: numbers or strings, of any shape."),
    output("output_handle: variant", "The new map."),
    shape_fn = shapes::scalar_shape,
)]
pub enum MapChanges {
    /// A map in which `key` leads to `value`, whatever it led to before.
    #[op(input("value: value_dtype"))]
    TensorMapInsert,
    /// A map without the entry of `key`; a key that the map lacks is an error.
    #[op(input("key: key_dtype", "The key."))]
    TensorMapErase,
}

#[register_op(
    attr("key_dtype: type"),
    input("input_handle: variant", "The map."),
    input("key: key_dtype", "The key."),
    shape_fn = shapes::unknown_shape,
)]
pub enum MapReaders {
    /// The tensor to which `key` leads; a key that the map lacks is an error.
    #[op(attr("value_dtype: type"), output("value: value_dtype"))]
    TensorMapLookup,
    /// Whether a map has an entry of `key`.
    #[op(output("has_key: bool"), shape_fn = shapes::scalar_shape)]
    TensorMapHasKey,
}

/// The number of entries of a map.
#[register_op(input("input_handle: variant", "The map."), output("size: int32"), shape_fn = shapes::scalar_shape)]
pub struct TensorMapSize;

/// The keys of a map stacked along a new first dimension.
///
/// All keys must have the same shape; their order is the map's own.
#[register_op(
    attr("key_dtype: type"),
    input("input_handle: variant", "The map."),
    output("keys: key_dtype"),
    shape_fn = shapes::unknown_shape,
)]
pub struct TensorMapStackKeys;
