//! Grey-scale dilation.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Error, Result};
use kernlink_macros::register_op;

use crate::shapes::{self, Padding, get_windowed_output_size_from_dims};

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
    let [Some(_), Some(_), Some(rows), Some(columns)] = sizes.map(|size| c.value(size)) else {
        let shape = [c.dim(input, 0), c.unknown_dim(), c.unknown_dim(), depth];
        return shapes::output_shape(c, c.make_shape(shape));
    };
    c.merge_dim(c.dim(input, 3), depth)?;
    let padding: String = c.attr("padding")?;
    let padding = if padding == "SAME" { Padding::Same } else { Padding::Valid };
    let output = |axis: usize, window: i64| {
        let gaps = window.checked_sub(1).zip(rates[axis].checked_sub(1)).and_then(|(a, b)| a.checked_mul(b));
        let reach = gaps.and_then(|gaps| gaps.checked_add(window));
        let reach = reach.ok_or_else(|| Error::invalid_argument(format!("rates {rates:?} are too large")))?;
        get_windowed_output_size_from_dims(c, c.dim(input, axis as i64), reach, strides[axis], &padding)
    };
    let shape = [c.dim(input, 0), output(1, rows)?, output(2, columns)?, depth];
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
