//! SequenceExamples: features of the whole, and lists of features.

use kernlink::Result;
use kernlink::shape::PartialShape;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink_macros::register_op;

use crate::shapes::{FeatureShapes, SequenceAttrs};

/// Sets the output shapes of SequenceExamples. `examples` is the shape of the
/// messages; `has_keys` says whether keys are attrs, `has_ragged` whether there are ragged
/// features, `has_lengths` whether the lengths of dense feature lists are an output.
fn sequence_shape(
    c: &InferenceContext<'_>,
    examples: ShapeHandle,
    has_keys: bool,
    has_ragged: bool,
    has_lengths: bool,
) -> Result<()> {
    let ragged = |name: &str| if has_ragged { c.attr::<Vec<_>>(name) } else { Ok(Vec::new()) };
    let keys = |name: &str| c.attr::<Vec<String>>(name).map(|keys| keys.len());
    let both = |sparse, dense| if has_keys { Ok(Some([keys(sparse)?, keys(dense)?])) } else { Result::Ok(None) };
    let context_shapes: Vec<PartialShape> = c.attr("context_dense_shapes")?;
    let list_shapes: Vec<PartialShape> = c.attr("feature_list_dense_shapes")?;
    let context_types: Vec<_> = c.attr("Tcontext_dense")?;
    let (context_ragged, list_ragged) =
        (ragged("context_ragged_value_types")?, ragged("feature_list_ragged_value_types")?);
    let context = SequenceAttrs {
        half: "context",
        sparse: c.attr("Ncontext_sparse")?,
        dense: if has_ragged { context_types.len() as i64 } else { c.attr("Ncontext_dense")? },
        keys: both("context_sparse_keys", "context_dense_keys")?,
        sparse_types: &c.attr::<Vec<_>>("context_sparse_types")?,
        dense_types: &context_types,
        dense_shapes: &context_shapes,
        ragged_value_types: &context_ragged,
        ragged_split_types: &ragged("context_ragged_split_types")?,
    };
    let lists = SequenceAttrs {
        half: "feature_list",
        sparse: c.attr("Nfeature_list_sparse")?,
        dense: c.attr("Nfeature_list_dense")?,
        keys: both("feature_list_sparse_keys", "feature_list_dense_keys")?,
        sparse_types: &c.attr::<Vec<_>>("feature_list_sparse_types")?,
        dense_types: &c.attr::<Vec<_>>("feature_list_dense_types")?,
        dense_shapes: &list_shapes,
        ragged_value_types: &list_ragged,
        ragged_split_types: &ragged("feature_list_ragged_split_types")?,
    };
    context.check()?;
    lists.check()?;

    let lengths = c.concatenate(examples, c.vector(c.unknown_dim()))?;
    let mut outputs = FeatureShapes::new(c);
    outputs.sparse(context.sparse_types.len(), examples, 1);
    outputs.dense(&context_shapes, examples)?;
    if has_ragged {
        outputs.ragged(context_ragged.len(), examples, false)?;
    }
    outputs.sparse(lists.sparse_types.len(), examples, 2);
    outputs.dense(&list_shapes, lengths)?;
    if has_lengths {
        outputs.each(list_shapes.len(), |_| examples);
    }
    if has_ragged {
        outputs.ragged(list_ragged.len(), examples, true)?;
    }
    Ok(())
}

/// The features of serialized SequenceExamples as tensors.
#[register_op(
    attr(
        "feature_list_dense_missing_assumed_empty: list(string) >= 0",
        "The dense feature lists that may miss, and are empty then.",
    ),
    attr("context_sparse_keys: list(string) >= 0"),
    attr("context_dense_keys: list(string) >= 0"),
    attr("feature_list_sparse_keys: list(string) >= 0"),
    attr("feature_list_dense_keys: list(string) >= 0"),
    attr("Ncontext_sparse: int >= 0 = 0"),
    attr("Ncontext_dense: int >= 0 = 0"),
    attr("Nfeature_list_sparse: int >= 0 = 0"),
    attr("Nfeature_list_dense: int >= 0 = 0"),
    attr("context_sparse_types: list({float, int64, string}) >= 0 = []"),
    attr("Tcontext_dense: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []"),
    attr("context_dense_shapes: list(shape) >= 0 = []"),
    attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_dense_shapes: list(shape) >= 0 = []", "The shape of each feature in a list."),
    input("serialized: string", "The SequenceExamples, a vector."),
    input("debug_name: string", "Their names, which errors say; may be empty."),
    input("context_dense_defaults: Tcontext_dense", "For each feature its value where it misses; empty if it may not."),
    output("context_sparse_indices: Ncontext_sparse * int64", "`[n, 2]`"),
    output("context_sparse_values: context_sparse_types", "`[n]`"),
    output("context_sparse_shapes: Ncontext_sparse * int64", "`[2]`"),
    output("context_dense_values: Tcontext_dense", "`[examples]`, followed by the feature's shape."),
    output("feature_list_sparse_indices: Nfeature_list_sparse * int64", "`[n, 3]`"),
    output("feature_list_sparse_values: feature_list_sparse_types", "`[n]`"),
    output("feature_list_sparse_shapes: Nfeature_list_sparse * int64", "`[3]`"),
    output(
        "feature_list_dense_values: feature_list_dense_types",
        "`[examples, longest list]`, followed by the feature's shape; zeros, or empty strings, behind shorter lists.",
    ),
    output("feature_list_dense_lengths: Nfeature_list_dense * int64", "`[examples]`: how long the lists are."),
    shape_fn = |c| {
        let examples = c.with_rank(c.input(0), 1)?;
        c.with_rank(c.input(1), 1)?;
        sequence_shape(c, examples, true, false, true)
    },
)]
pub struct ParseSequenceExample;

/// The features of serialized SequenceExamples as tensors, ragged ones too.
#[register_op(
    attr("Ncontext_sparse: int >= 0 = 0"),
    attr("Tcontext_dense: list({float, int64, string}) >= 0 = []"),
    attr("context_sparse_types: list({float, int64, string}) >= 0 = []"),
    attr("context_ragged_value_types: list({float, int64, string}) >= 0 = []"),
    attr("context_ragged_split_types: list({int32, int64}) >= 0 = []"),
    attr("context_dense_shapes: list(shape) >= 0 = []"),
    attr("Nfeature_list_sparse: int >= 0 = 0"),
    attr("Nfeature_list_dense: int >= 0 = 0"),
    attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_ragged_split_types: list({int32, int64}) >= 0 = []"),
    attr("feature_list_dense_shapes: list(shape) >= 0 = []", "The shape of each feature in a list."),
    input("serialized: string", "The SequenceExamples, a vector; or one, a scalar."),
    input("debug_name: string", "Their names, which errors say; may be empty."),
    input("context_sparse_keys: string", "A vector, as the other keys."),
    input("context_dense_keys: string"),
    input("context_ragged_keys: string"),
    input("feature_list_sparse_keys: string"),
    input("feature_list_dense_keys: string"),
    input("feature_list_ragged_keys: string"),
    input(
        "feature_list_dense_missing_assumed_empty: bool",
        "For each dense feature list whether it may miss, and is empty then.",
    ),
    input("context_dense_defaults: Tcontext_dense", "For each feature its value where it misses; empty if it may not."),
    output("context_sparse_indices: Ncontext_sparse * int64", "`[n, 2]`; `[n, 1]` of one."),
    output("context_sparse_values: context_sparse_types", "`[n]`"),
    output("context_sparse_shapes: Ncontext_sparse * int64", "`[2]`; `[1]` of one."),
    output("context_dense_values: Tcontext_dense", "`[examples]`, unless it is one, followed by the feature's shape."),
    output("context_ragged_values: context_ragged_value_types", "`[n]`"),
    output("context_ragged_row_splits: context_ragged_split_types", "`[examples + 1]`; empty of one."),
    output("feature_list_sparse_indices: Nfeature_list_sparse * int64", "`[n, 3]`; `[n, 2]` of one."),
    output("feature_list_sparse_values: feature_list_sparse_types", "`[n]`"),
    output("feature_list_sparse_shapes: Nfeature_list_sparse * int64", "`[3]`; `[2]` of one."),
    output(
        "feature_list_dense_values: feature_list_dense_types",
        "`[examples, longest list]`, without the first if it is one, followed by the feature's shape.",
    ),
    output("feature_list_dense_lengths: Nfeature_list_dense * int64", "How long the lists are."),
    output("feature_list_ragged_values: feature_list_ragged_value_types", "`[n]`"),
    output("feature_list_ragged_outer_splits: feature_list_ragged_split_types", "`[examples + 1]`; empty of one."),
    output("feature_list_ragged_inner_splits: feature_list_ragged_split_types", "`[features + 1]`"),
    shape_fn = |c| {
        let examples = c.with_rank_at_most(c.input(0), 1)?;
        c.with_rank_at_most(c.input(1), 1)?;
        sequence_shape(c, examples, false, true, true)
    },
)]
pub struct ParseSequenceExampleV2;

/// The features of one serialized SequenceExample as tensors.
#[register_op(
    attr("Ncontext_sparse: int >= 0 = 0"),
    attr("Ncontext_dense: int >= 0 = 0"),
    attr("Nfeature_list_sparse: int >= 0 = 0"),
    attr("Nfeature_list_dense: int >= 0 = 0"),
    attr("context_sparse_types: list({float, int64, string}) >= 0 = []"),
    attr("Tcontext_dense: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []"),
    attr("context_dense_shapes: list(shape) >= 0 = []"),
    attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []"),
    attr("feature_list_dense_shapes: list(shape) >= 0 = []", "The shape of each feature in a list."),
    input("serialized: string", "The SequenceExample, a scalar."),
    input(
        "feature_list_dense_missing_assumed_empty: string",
        "The dense feature lists that may miss, and are empty then: a vector.",
    ),
    input("context_sparse_keys: Ncontext_sparse * string", "Scalars, as the other keys."),
    input("context_dense_keys: Ncontext_dense * string"),
    input("feature_list_sparse_keys: Nfeature_list_sparse * string"),
    input("feature_list_dense_keys: Nfeature_list_dense * string"),
    input("context_dense_defaults: Tcontext_dense", "For each feature its value if it misses; empty if it may not."),
    input("debug_name: string", "The name of the message, which errors say: a scalar, or empty."),
    output("context_sparse_indices: Ncontext_sparse * int64", "`[n, 1]`"),
    output("context_sparse_values: context_sparse_types", "`[n]`"),
    output("context_sparse_shapes: Ncontext_sparse * int64", "`[1]`"),
    output("context_dense_values: Tcontext_dense", "Of the feature's shape."),
    output("feature_list_sparse_indices: Nfeature_list_sparse * int64", "`[n, 2]`"),
    output("feature_list_sparse_values: feature_list_sparse_types", "`[n]`"),
    output("feature_list_sparse_shapes: Nfeature_list_sparse * int64", "`[2]`"),
    output("feature_list_dense_values: feature_list_dense_types", "`[length]`, followed by the feature's shape."),
    shape_fn = |c| {
        let example = c.with_rank(c.input(0), 0)?;
        c.with_rank(c.input(1), 1)?;
        sequence_shape(c, example, false, false, false)
    },
)]
pub struct ParseSingleSequenceExample;
