//! Pooling whose window comes as an input, pooling that says where the greatest element stood, and gradients.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The greatest element in each window, whose size and step are inputs.
#[register_op(
    attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT"),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` lets them reach out."),
    attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'", "The order of dimensions of `input` and `output`."),
    input("input: T"),
    input("ksize: int32", "The window's size in each dimension of `input`."),
    input("strides: int32", "The window's step in each dimension of `input`."),
    output("output: T"),
    shape_fn = shapes::max_pool_v2_shape,
)]
pub struct MaxPoolV2;

#[register_op(
    attr("padding: {'SAME', 'VALID'}", "That of the pooling."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of the dimensions."),
    attr("T: realnumbertype = DT_FLOAT"),
    input("orig_input: T", "What was pooled."),
    input("orig_output: T", "What the pooling gave."),
    input("grad: T", "What flows back into the pooling."),
    output("output: T"),
    shape_fn = shapes::max_pool_grad_shape,
)]
pub enum MaxPoolGradients {
    /// The gradient of `MaxPool`: each element of `grad` goes to where its window's greatest element stood.
    #[op(
        attr("ksize: list(int) >= 4", "The window's size in each dimension of the input.", before = "padding"),
        attr("strides: list(int) >= 4", "The window's step in each dimension of the input.", after = "ksize"),
        attr("padding: {'SAME', 'VALID', 'EXPLICIT'}"),
        attr(
            "explicit_paddings: list(int) = []",
            "Before and after each dimension of the input; only with `EXPLICIT`.",
            after = "padding",
        )
    )]
    MaxPoolGrad,
    /// The gradient of `MaxPoolV2`: as `MaxPoolGrad`, with the window's size and step as inputs.
    #[op(
        input("ksize: int32", "The window's size in each dimension of the input."),
        input("strides: int32", "The window's step in each dimension of the input.")
    )]
    MaxPoolGradV2,
    /// The gradient of `MaxPoolGrad` with respect to `grad`: of each window the element of `grad` where the greatest
    /// stood.
    #[op(
        attr("ksize: list(int) >= 4", "The window's size in each dimension of the input.", before = "padding"),
        attr("strides: list(int) >= 4", "The window's step in each dimension of the input.", after = "ksize"),
        attr("T: realnumbertype"),
        input("grad: T", "Of the shape of `orig_input`."),
        output("output: T", "Of the shape of `orig_output`."),
        shape_fn = |c| max_pool_grad_grad_shape(c, shapes::max_pool_shape),
    )]
    MaxPoolGradGrad,
    /// As `MaxPoolGradGrad`, with the window's size and step as inputs.
    #[op(
        attr("T: realnumbertype"),
        input("grad: T", "Of the shape of `orig_input`."),
        input("ksize: int32", "The window's size in each dimension of the input."),
        input("strides: int32", "The window's step in each dimension of the input."),
        output("output: T", "Of the shape of `orig_output`."),
        shape_fn = |c| max_pool_grad_grad_shape(c, shapes::max_pool_v2_shape),
    )]
    MaxPoolGradGradV2,
}

fn max_pool_grad_grad_shape(
    c: &mut InferenceContext<'_>,
    pooling: fn(&mut InferenceContext<'_>) -> Result<()>,
) -> Result<()> {
    pooling(c)?;
    c.merge(c.input(0), c.input(2))?;
    c.merge(c.input(1), c.output(0))?;
    Ok(())
}

/// The greatest element in each window, and where it stood.
#[register_op(
    attr("ksize: list(int) >= 4", "The window's size in each dimension of `input`."),
    attr("strides: list(int) >= 4", "The window's step in each dimension of `input`."),
    attr("Targmax: {int32, int64} = DT_INT64"),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` lets them reach out."),
    attr("include_batch_in_index: bool = false", "Whether an index counts from the first image or from its own."),
    input("input: T", "`[batch, rows, columns, channels]`."),
    output("output: T"),
    output("argmax: Targmax", "The index of each greatest element in the flat `input`."),
    attr("T: realnumbertype"),
    shape_fn = max_pool_with_argmax_shape,
)]
pub struct MaxPoolWithArgmax;

fn max_pool_with_argmax_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let windows: Vec<i64> = c.attr("ksize")?;
    for size in windows {
        ensure!(size > 0, InvalidArgument, "ksize must be a positive int32 value, got: {size}");
    }
    shapes::max_pool_shape(c)?;
    // It counts the depth of the window, and the kernel does not.
    c.set_outputs_are_promised();
    c.set_output(1, c.output(0));
    Ok(())
}

/// The gradient of `MaxPoolWithArgmax`: each element of `grad` goes to where `argmax` says.
#[register_op(
    attr("ksize: list(int) >= 4", "The window's size in each dimension of the input."),
    attr("strides: list(int) >= 4", "The window's step in each dimension of the input."),
    attr("padding: {'SAME', 'VALID'}", "That of the pooling."),
    attr("include_batch_in_index: bool = false", "Whether an index counts from the first image or from its own."),
    attr("Targmax: {int32, int64}"),
    input("input: T", "What was pooled."),
    input("grad: T", "What flows back into the pooling."),
    input("argmax: Targmax", "The pooling's second output."),
    output("output: T"),
    attr("T: realnumbertype"),
    shape_fn = shapes::unchanged_shape_with_rank::<4>,
)]
pub struct MaxPoolGradWithArgmax;

/// The gradient of `AvgPool`: each element of `grad` is shared evenly by what its window covered.
#[register_op(
    attr("ksize: list(int) >= 4", "The window's size in each dimension of the input."),
    attr("strides: list(int) >= 4", "The window's step in each dimension of the input."),
    attr("padding: {'SAME', 'VALID'}", "That of the pooling."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of the dimensions."),
    input("orig_input_shape: int32", "The shape of what was pooled."),
    input("grad: T", "What flows back into the pooling."),
    output("output: T"),
    attr("T: {half, bfloat16, float, double}"),
    shape_fn = shapes::avg_pool_grad_shape,
)]
pub struct AvgPoolGrad;
