//! Optionals: values that may be missing.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(output("optional: variant", "The optional."), shape_fn = shapes::scalar_shape)]
pub enum Optionals {
    /// An optional without a value.
    OptionalNone,
    /// An optional whose value is a tuple of tensors.
    #[op(attr("Toutput_types: list(type) >= 1"), input("components: Toutput_types", "The tensors."))]
    OptionalFromValue,
}

/// Whether an optional has a value.
#[register_op(input("optional: variant", "The optional."), output("has_value: bool"), shape_fn = shapes::scalar_shape)]
pub struct OptionalHasValue;

/// The tensors that an optional holds; without a value it is an error.
#[register_op(
    attr("output_types: list(type) >= 1"),
    attr("output_shapes: list(shape) >= 1", "What the shapes of the tensors are compatible with."),
    input("optional: variant", "The optional."),
    output("components: output_types", "The tensors."),
    shape_fn = shapes::dataset_iterator_shape,
)]
pub struct OptionalGetValue;
