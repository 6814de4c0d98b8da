//! Rows that are changed, and tensors made or copied on purpose.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    input("x: T"),
    input("i: int32", "The rows, a vector; taken modulo their number."),
    input("v: T", "A row for each of `i`."),
    output("y: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum Inplace {
    /// `x` with the rows `i` replaced by those of `v`. What else holds `x` does not change.
    InplaceUpdate,
    /// `x` with those of `v` added to the rows `i`. What else holds `x` does not change.
    InplaceAdd,
    /// `x` with those of `v` subtracted from the rows `i`. What else holds `x` does not change.
    InplaceSub,
}

/// A copy of `x`, which shares no memory with it.
#[register_op(attr("T: type"), input("x: T"), output("y: T"), stateful, shape_fn = shapes::unchanged_shape)]
pub struct DeepCopy;

/// A tensor of the given shape. TensorFlow leaves its elements undefined unless `init` is set; here they are zeros.
#[register_op(
    attr("dtype: type"),
    attr("init: bool = false", "Whether the elements must be zeros or empty strings."),
    input("shape: int32", "A vector."),
    output("output: dtype"),
    stateful,
    shape_fn = shapes::shape_in_input::<0>,
)]
pub struct Empty;
