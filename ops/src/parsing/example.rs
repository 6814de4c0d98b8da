//! Examples: named features, each a list of strings, floats or integers.

use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes::{ExampleAttrs, FeatureShapes};

/// The features of serialized Examples as tensors.
#[register_op(
    attr("Nsparse: int >= 0"),
    attr("Ndense: int >= 0"),
    attr("sparse_types: list({float, int64, string}) >= 0"),
    attr("Tdense: list({float, int64, string}) >= 0"),
    attr(
        "dense_shapes: list(shape) >= 0",
        "The shape of each dense feature in one Example. The first size may be unknown: the feature is filled up to the \
         longest of the batch, by its default.",
    ),
    input("serialized: string", "The Examples, a vector."),
    input("names: string", "Their names, which errors say; may be empty."),
    input("sparse_keys: Nsparse * string", "Scalars: the features that become sparse tensors."),
    input("dense_keys: Ndense * string", "Scalars: the features that become tensors."),
    input("dense_defaults: Tdense", "For each dense feature its value where it misses; empty if it may not."),
    output("sparse_indices: Nsparse * int64", "`[n, 2]`"),
    output("sparse_values: sparse_types", "`[n]`"),
    output("sparse_shapes: Nsparse * int64", "The number of Examples and the longest list."),
    output("dense_values: Tdense", "`[examples]`, followed by the feature's shape."),
    shape_fn = parse_example_shape,
)]
pub struct ParseExample;

fn parse_example_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dense_shapes: Vec<PartialShape> = c.attr("dense_shapes")?;
    let attrs = ExampleAttrs {
        sparse: c.attr("Nsparse")?,
        dense: c.attr("Ndense")?,
        sparse_types: &c.attr::<Vec<_>>("sparse_types")?,
        dense_types: &c.attr::<Vec<_>>("Tdense")?,
        dense_shapes: &dense_shapes,
        ragged_value_types: &[],
        ragged_split_types: &[],
    };
    attrs.check()?;
    let examples = c.with_rank(c.input(0), 1)?;
    c.with_rank(c.input(1), 1)?;
    let mut outputs = FeatureShapes::new(c);
    outputs.sparse(attrs.sparse_types.len(), examples, 1);
    outputs.dense(&dense_shapes, examples)
}

/// The features of serialized Examples as tensors, ragged ones too.
#[register_op(
    attr("Tdense: list({float, int64, string}) >= 0"),
    attr("num_sparse: int >= 0"),
    attr("sparse_types: list({float, int64, string}) >= 0"),
    attr("ragged_value_types: list({float, int64, string}) >= 0"),
    attr("ragged_split_types: list({int32, int64}) >= 0"),
    attr("dense_shapes: list(shape) >= 0", "As in `ParseExample`."),
    input("serialized: string", "The Examples, a vector; or one, a scalar."),
    input("names: string", "Their names, which errors say; may be empty."),
    input("sparse_keys: string", "The features that become sparse tensors, a vector."),
    input("dense_keys: string", "The features that become tensors, a vector."),
    input("ragged_keys: string", "The features that become ragged tensors, a vector."),
    input("dense_defaults: Tdense", "For each dense feature its value where it misses; empty if it may not."),
    output("sparse_indices: num_sparse * int64", "`[n, 2]`; `[n, 1]` of one Example."),
    output("sparse_values: sparse_types", "`[n]`"),
    output("sparse_shapes: num_sparse * int64", "The number of Examples, unless it is one, and the longest list."),
    output("dense_values: Tdense", "`[examples]`, unless it is one, followed by the feature's shape."),
    output("ragged_values: ragged_value_types", "`[n]`"),
    output("ragged_row_splits: ragged_split_types", "`[examples + 1]`; empty of one Example."),
    shape_fn = parse_example_v2_shape,
)]
pub struct ParseExampleV2;

fn parse_example_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dense_shapes: Vec<PartialShape> = c.attr("dense_shapes")?;
    let dense_types: Vec<_> = c.attr("Tdense")?;
    let ragged_value_types: Vec<_> = c.attr("ragged_value_types")?;
    let attrs = ExampleAttrs {
        sparse: c.attr("num_sparse")?,
        dense: dense_types.len() as i64,
        sparse_types: &c.attr::<Vec<_>>("sparse_types")?,
        dense_types: &dense_types,
        dense_shapes: &dense_shapes,
        ragged_value_types: &ragged_value_types,
        ragged_split_types: &c.attr::<Vec<_>>("ragged_split_types")?,
    };
    attrs.check()?;
    let examples = c.with_rank_at_most(c.input(0), 1)?;
    c.with_rank_at_most(c.input(1), 1)?;
    let mut outputs = FeatureShapes::new(c);
    outputs.sparse(attrs.sparse_types.len(), examples, 1);
    outputs.dense(&dense_shapes, examples)?;
    outputs.ragged(ragged_value_types.len(), examples, false)
}

/// The features of one serialized Example as tensors.
#[register_op(
    attr("num_sparse: int >= 0"),
    attr("sparse_keys: list(string) >= 0", "The features that become sparse tensors."),
    attr("dense_keys: list(string) >= 0", "The features that become tensors."),
    attr("sparse_types: list({float, int64, string}) >= 0"),
    attr("Tdense: list({float, int64, string}) >= 0"),
    attr("dense_shapes: list(shape) >= 0", "The shapes of dense features, of which the first size may be unknown."),
    input("serialized: string", "The Example, a scalar."),
    input("dense_defaults: Tdense", "For each dense feature its value if it misses; empty if it may not."),
    output("sparse_indices: num_sparse * int64", "`[n, 1]`"),
    output("sparse_values: sparse_types", "`[n]`"),
    output("sparse_shapes: num_sparse * int64", "`[1]`: n."),
    output("dense_values: Tdense", "Of the features' shapes."),
    shape_fn = parse_single_example_shape,
)]
pub struct ParseSingleExample;

fn parse_single_example_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dense_shapes: Vec<PartialShape> = c.attr("dense_shapes")?;
    let attrs = ExampleAttrs {
        sparse: c.attr::<Vec<String>>("sparse_keys")?.len() as i64,
        dense: c.attr::<Vec<String>>("dense_keys")?.len() as i64,
        sparse_types: &c.attr::<Vec<_>>("sparse_types")?,
        dense_types: &c.attr::<Vec<_>>("Tdense")?,
        dense_shapes: &dense_shapes,
        ragged_value_types: &[],
        ragged_split_types: &[],
    };
    attrs.check()?;
    let num_sparse: i64 = c.attr("num_sparse")?;
    ensure!(
        num_sparse == attrs.sparse,
        InvalidArgument,
        "len(sparse_keys) ({}) must equal num_sparse ({num_sparse})",
        attrs.sparse
    );
    let example = c.with_rank(c.input(0), 0)?;
    let mut outputs = FeatureShapes::new(c);
    outputs.sparse(attrs.sparse_types.len(), example, 1);
    outputs.dense(&dense_shapes, example)
}
