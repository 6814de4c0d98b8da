//! Accumulators of gradients.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::handle::reference_shape;
use crate::shapes;

#[register_op(
    attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, \
         quint16, uint16, complex128, half, uint32, uint64}",
    ),
    attr("shape: shape", "What the shapes of the gradients are compatible with."),
    attr("container: string = ''", "Where the accumulator is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the accumulator; empty for one of its own."),
    attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'", "Whether the mean or the sum is given."),
    output("handle: Ref(string)", "The name of the accumulator."),
    stateful,
    shape_fn = reference_shape,
)]
pub enum Accumulators {
    /// Adds gradients up until enough have come; those of earlier steps than the present one are dropped.
    ConditionalAccumulator,
    /// Adds sparse gradients up until enough have come; those of earlier steps than the present one are dropped.
    SparseConditionalAccumulator,
    /// Adds gradients up until enough have come; those of earlier steps than the present one are dropped.
    #[op(output("handle: resource", "The accumulator."))]
    ResourceConditionalAccumulator,
}

#[register_op(
    attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, \
         quint16, uint16, complex128, half, uint32, uint64}",
    ),
    input("handle: Ref(string)", "The accumulator."),
    shape_fn = second_scalar_shape,
)]
pub enum AccumulatorGradients {
    /// Adds a gradient to an accumulator.
    #[op(input("local_step: int64", "The step in which it was computed."), input("gradient: dtype", "The gradient."))]
    AccumulatorApplyGradient,
    /// Adds a gradient to an accumulator.
    #[op(like = AccumulatorApplyGradient, input("handle: resource"), stateful)]
    ResourceAccumulatorApplyGradient,
    /// Adds a sparse gradient to an accumulator.
    #[op(
        attr("has_known_shape: bool", "Whether `gradient_shape` says the shape."),
        input("local_step: int64", "The step in which it was computed."),
        input("gradient_indices: int64", "Which slices the gradient has, in ascending order."),
        input("gradient_values: dtype", "The slices."),
        input("gradient_shape: int64", "The shape of the whole gradient.")
    )]
    SparseAccumulatorApplyGradient,
    /// Takes the mean, or the sum, of the gradients in an accumulator; waits until there are enough.
    #[op(
        input("num_required: int32", "How many are enough, a scalar."),
        output("average: dtype"),
        shape_fn = take_shape,
    )]
    AccumulatorTakeGradient,
    /// Takes the mean, or the sum, of the gradients in an accumulator; waits until there are enough.
    #[op(like = AccumulatorTakeGradient, input("handle: resource"), stateful)]
    ResourceAccumulatorTakeGradient,
    /// Takes the mean, or the sum, of the sparse gradients in an accumulator; waits until there are enough.
    #[op(
        input("num_required: int32", "How many are enough, a scalar."),
        output("indices: int64", "Which slices the result has."),
        output("values: dtype", "The slices."),
        output("shape: int64", "The shape of the whole result."),
        shape_fn = take_shape,
    )]
    SparseAccumulatorTakeGradient,
}

#[register_op(input("handle: Ref(string)", "The accumulator."), shape_fn = shapes::scalar_shape)]
pub enum AccumulatorNumbers {
    /// The number of gradients in an accumulator.
    #[op(output("num_accumulated: int32"))]
    AccumulatorNumAccumulated,
    /// Tells an accumulator the present step.
    #[op(input("new_global_step: int64", "The step, not lower than before."), shape_fn = second_scalar_shape)]
    AccumulatorSetGlobalStep,
    /// The number of gradients in an accumulator.
    #[op(input("handle: resource"), output("num_accumulated: int32"), stateful)]
    ResourceAccumulatorNumAccumulated,
    /// Tells an accumulator the present step.
    #[op(like = AccumulatorSetGlobalStep, input("handle: resource"), stateful)]
    ResourceAccumulatorSetGlobalStep,
}

fn second_scalar_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    Ok(())
}

fn take_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    shapes::unknown_shape(c)
}
