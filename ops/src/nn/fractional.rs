//! Pooling with windows of random sizes, so that sizes need not be divided by whole numbers.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    input("value: T", "`[batch, rows, columns, channels]`."),
    output("output: T", "Of `floor(size / pooling_ratio)` in each dimension."),
    output("row_pooling_sequence: int64", "Where the windows begin along rows, and where the last ends."),
    output("col_pooling_sequence: int64", "The same along columns."),
    attr("pooling_ratio: list(float) >= 4", "By how much each dimension shrinks; at least 1, and 1 for batch and channels."),
    attr(
        "pseudo_random: bool = false",
        "Whether windows follow from one random number for all, rather than being in random order."
    ),
    attr("overlapping: bool = false", "Whether a window has the first row and column of the next, too."),
    attr("deterministic: bool = false", "Whether all runs of a node have the same windows."),
    attr("seed: int = 0", "Where they start then; with `seed2` also 0, somewhere else for each node."),
    attr("seed2: int = 0", "A second seed."),
    attr("T: {float, double, int32, int64}"),
    shape_fn = fractional_pool_shape,
)]
pub enum FractionalPools {
    /// The greatest element in each window of random size.
    FractionalMaxPool,
    /// The mean of each window of random size.
    FractionalAvgPool,
}

fn fractional_pool_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let ratios: Vec<f32> = c.attr("pooling_ratio")?;
    ensure!(ratios.len() == 4, InvalidArgument, "pooling_ratio field must specify 4 dimensions");
    let mut sizes = Vec::with_capacity(4);
    for (axis, &ratio) in ratios.iter().enumerate() {
        let size = match c.value(c.dim(input, axis as i64)) {
            None => c.unknown_dim(),
            Some(size) => {
                let pooled = (size as f32 / ratio).floor();
                ensure!(
                    pooled >= 0.0 && pooled.is_finite(),
                    InvalidArgument,
                    "Size computed for dim {axis} is negative: {pooled}"
                );
                c.make_dim(pooled as i64)
            }
        };
        sizes.push(size);
    }
    for ratio in &ratios {
        if ratio.is_nan() || *ratio < 1.0 {
            bail!(InvalidArgument, "pooling_ratio cannot be smaller than 1, got: {ratio}");
        }
    }
    // One more place than windows is in a sequence, which TensorFlow's function does not count.
    c.set_outputs_are_promised();
    c.set_output(1, c.vector(sizes[1]));
    c.set_output(2, c.vector(sizes[2]));
    shapes::output_shape(c, c.make_shape(sizes))
}

/// The gradient of `FractionalMaxPool`: each element of `out_backprop` goes to where its window's greatest element stood.
#[register_op(
    input("orig_input: T", "What was pooled."),
    input("orig_output: T", "What the pooling gave."),
    input("out_backprop: T", "What flows back into the pooling."),
    input("row_pooling_sequence: int64", "The pooling's second output."),
    input("col_pooling_sequence: int64", "The pooling's third output."),
    output("output: T"),
    attr("overlapping: bool = false", "That of the pooling."),
    attr("T: {float, double, int32, int64}"),
    shape_fn = shapes::unchanged_shape_with_rank::<4>,
)]
pub struct FractionalMaxPoolGrad;

/// The gradient of `FractionalAvgPool`: each element of `out_backprop` is shared evenly by what its window covered.
#[register_op(
    input("orig_input_tensor_shape: int64", "The shape of what was pooled."),
    input("out_backprop: T", "What flows back into the pooling."),
    input("row_pooling_sequence: int64", "The pooling's second output."),
    input("col_pooling_sequence: int64", "The pooling's third output."),
    output("output: T"),
    attr("overlapping: bool = false", "That of the pooling."),
    attr("T: {float, double, int32, int64}"),
    shape_fn = fractional_avg_pool_grad_shape,
)]
pub struct FractionalAvgPoolGrad;

fn fractional_avg_pool_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = match c.input_tensor(0) {
        Some(_) => c.make_shape_from_shape_tensor(0)?,
        None => c.unknown_shape_of_rank(4),
    };
    shapes::output_shape(c, shape)
}
