//! Grey-scale dilation.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The greatest sum of input and filter under each window, channel by channel.
///
/// `output[b, y, x, c]` is the greatest, over `dy` and `dx`, of `filter[dy, dx, c]` plus
/// `input[b, strides[1] * y + rates[1] * dy, strides[2] * x + rates[2] * dx, c]`.
#[register_op(
    input("input: T", "`[batch, rows, columns, channels]`."),
    input("filter: T", "`[rows, columns, channels]`."),
    output("output: T"),
    attr("T: realnumbertype"),
    attr("strides: list(int) >= 4", "The window's step in each dimension of `input`; 1 for batch and channels."),
    attr("rates: list(int) >= 4", "The distance between a window's elements; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` lets them reach out."),
    shape_fn = dilation_shape,
)]
pub struct Dilation2D;

fn dilation_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let filter = c.with_rank(c.input(1), 3)?;
    let four = |name: &str, word: &str| {
        let list: Vec<i64> = c.attr(name)?;
        <[i64; 4]>::try_from(list).map_err(|list| {
            let count = list.len();
            Error::invalid_argument(format!(
                "Dilation2D requires the {word} attribute to contain 4 values, but got: {count}"
            ))
        })
    };
    let (strides, rates) = (four("strides", "stride")?, four("rates", "rates")?);
    let depth = c.dim(filter, 2);
    let sizes = [c.dim(input, 1), c.dim(input, 2), c.dim(filter, 0), c.dim(filter, 1)];
    let [Some(height), Some(width), Some(rows), Some(columns)] = sizes.map(|size| c.value(size)) else {
        let shape = [c.dim(input, 0), c.unknown_dim(), c.unknown_dim(), depth];
        return shapes::output_shape(c, c.make_shape(shape));
    };
    c.merge_dim(c.dim(input, 3), depth)?;
    let padding: String = c.attr("padding")?;
    // As TensorFlow has it, which divides first: a filter that is larger by less than a stride leaves nothing, and is accepted.
    let output = |axis: usize, size: i64, window: i64| {
        let (rate, stride) = (i128::from(rates[axis]), i128::from(strides[axis]));
        let (size, window) = (i128::from(size), i128::from(window));
        ensure!(stride > 0, InvalidArgument, "Stride must be > 0, but got {stride}");
        let reach = window + (window - 1) * (rate - 1);
        let output = if padding == "SAME" { (size + stride - 1) / stride } else { (size - reach + stride) / stride };
        ensure!(
            output >= 0,
            InvalidArgument,
            "Computed output size would be negative: {output} [input_size: {size}, effective_filter_size: {reach}, \
             stride: {stride}]"
        );
        let output = i64::try_from(output);
        output.map_err(|_| Error::invalid_argument(format!("rates {rates:?} are too large")))
    };
    let (height, width) = (output(1, height, rows)?, output(2, width, columns)?);
    let shape = [c.dim(input, 0), c.make_dim(height), c.make_dim(width), depth];
    shapes::output_shape(c, c.make_shape(shape))
}

#[register_op(
    attr("T: realnumbertype"),
    attr("strides: list(int) >= 4", "Those of the dilation."),
    attr("rates: list(int) >= 4", "Those of the dilation."),
    attr("padding: {'SAME', 'VALID'}", "That of the dilation."),
    input("input: T", "What was dilated."),
    input("filter: T"),
    input("out_backprop: T", "What flows back into the dilation."),
    shape_fn = shapes::unchanged_shape,
)]
pub enum DilationGradients {
    /// The gradient of [`Dilation2D`] with respect to its input.
    #[op(output("in_backprop: T"))]
    Dilation2DBackpropInput,
    /// The gradient of [`Dilation2D`] with respect to its filter.
    #[op(output("filter_backprop: T"), shape_fn = shapes::shape_of_input::<1>)]
    Dilation2DBackpropFilter,
}
