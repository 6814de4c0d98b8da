//! Tensors as strings.

use kernlink_macros::register_op;

use crate::shapes;

/// A tensor as a serialized TensorProto.
#[register_op(
    attr("T: type"),
    input("tensor: T"),
    output("serialized: string", "A scalar."),
    shape_fn = shapes::scalar_shape,
)]
pub struct SerializeTensor;

/// The tensor in a serialized TensorProto.
#[register_op(
    attr("out_type: type", "What the message's dtype must be."),
    input("serialized: string", "A scalar."),
    output("output: out_type"),
    shape_fn = shapes::unknown_shape,
)]
pub struct ParseTensor;
