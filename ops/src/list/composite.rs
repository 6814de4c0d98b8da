//! Values of several tensors (`tf.RaggedTensor`, `tf.SparseTensor`, extension types) as one.

use kernlink_macros::register_op;

use crate::shapes;

/// The tensors of a composite value in a scalar, with what is known of its type.
#[register_op(
    attr("metadata: string", "A message `CompositeTensorVariantMetadata`: the type."),
    attr("Tcomponents: list(type) >= 0"),
    input("components: Tcomponents", "The tensors."),
    output("encoded: variant", "The value, a scalar."),
    shape_fn = shapes::scalar_shape,
)]
pub struct CompositeTensorVariantFromComponents;

/// The tensors of a composite value; it is an error if it is of another type, or if it has others.
#[register_op(
    attr("metadata: string", "A message `CompositeTensorVariantMetadata`: the type, of which the class counts."),
    attr("Tcomponents: list(type) >= 0"),
    input("encoded: variant", "The value."),
    output("components: Tcomponents", "The tensors."),
    shape_fn = shapes::unknown_shape,
)]
pub struct CompositeTensorVariantToComponents;
