//! ParseSequenceExample, ParseSequenceExampleV2.

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::SequenceAttrs;
use kernlink_ops::{ParseSequenceExample, ParseSequenceExampleV2};

use super::{Attrs, Batch, Parsed, parse};

/// Sets all outputs, which come in the same order in both ops: the first has no ragged ones.
fn set_outputs(ctx: &mut RawContext<'_>, context: Parsed, lists: Parsed) -> Result<()> {
    let of_context = context.sparse.into_iter().chain([context.dense, context.ragged_values, context.outer_splits]);
    let last = [lists.dense, lists.lengths, lists.ragged_values, lists.outer_splits, lists.inner_splits];
    let all = of_context.chain(lists.sparse).chain(last).flatten();
    all.enumerate().try_for_each(|(index, tensor)| ctx.set_output_at(index, tensor))
}

struct ParseSequenceExampleKernel {
    context: Attrs,
    lists: Attrs,
    keys: [Vec<String>; 4],
    may_miss: Vec<bool>,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ParseSequenceExample> for ParseSequenceExampleKernel {
    fn new(ctx: &KernelConstruction<'_, ParseSequenceExample>) -> Result<Self> {
        let attrs = ctx.attrs();
        let context = SequenceAttrs {
            half: "context",
            sparse: attrs.Ncontext_sparse,
            dense: attrs.Ncontext_dense,
            keys: Some([attrs.context_sparse_keys.len(), attrs.context_dense_keys.len()]),
            sparse_types: &attrs.context_sparse_types,
            dense_types: &attrs.Tcontext_dense,
            dense_shapes: &attrs.context_dense_shapes,
            ragged_value_types: &[],
            ragged_split_types: &[],
        };
        let lists = SequenceAttrs {
            half: "feature_list",
            sparse: attrs.Nfeature_list_sparse,
            dense: attrs.Nfeature_list_dense,
            keys: Some([attrs.feature_list_sparse_keys.len(), attrs.feature_list_dense_keys.len()]),
            sparse_types: &attrs.feature_list_sparse_types,
            dense_types: &attrs.feature_list_dense_types,
            dense_shapes: &attrs.feature_list_dense_shapes,
            ragged_value_types: &[],
            ragged_split_types: &[],
        };
        let empty = &attrs.feature_list_dense_missing_assumed_empty;
        Ok(Self {
            context: Attrs::new(&context)?,
            lists: Attrs::new(&lists)?,
            keys: [
                attrs.context_sparse_keys.clone(),
                attrs.context_dense_keys.clone(),
                attrs.feature_list_sparse_keys.clone(),
                attrs.feature_list_dense_keys.clone(),
            ],
            may_miss: attrs.feature_list_dense_keys.iter().map(|key| empty.contains(key)).collect(),
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ParseSequenceExample>) -> Result<()> {
        type Op = ParseSequenceExample;
        let batch = Batch::new(ctx.input(Op::SERIALIZED)?, ctx.input(Op::DEBUG_NAME)?)?;
        fn bytes(keys: &[String]) -> Vec<&[u8]> {
            keys.iter().map(String::as_bytes).collect()
        }
        let [context_sparse, context_dense, list_sparse, list_dense] = &self.keys;
        let keys = [
            [bytes(context_sparse), bytes(context_dense), Vec::new()],
            [bytes(list_sparse), bytes(list_dense), Vec::new()],
        ];
        let defaults = ctx.input_list(Op::CONTEXT_DENSE_DEFAULTS);
        let [context, lists] = parse([&self.context, &self.lists], keys, defaults, &self.may_miss, &batch)?;
        set_outputs(ctx, context, lists)
    }
}

struct ParseSequenceExampleV2Kernel {
    context: Attrs,
    lists: Attrs,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ParseSequenceExampleV2> for ParseSequenceExampleV2Kernel {
    fn new(ctx: &KernelConstruction<'_, ParseSequenceExampleV2>) -> Result<Self> {
        let attrs = ctx.attrs();
        let context = SequenceAttrs {
            half: "context",
            sparse: attrs.Ncontext_sparse,
            dense: attrs.Tcontext_dense.len() as i64,
            keys: None,
            sparse_types: &attrs.context_sparse_types,
            dense_types: &attrs.Tcontext_dense,
            dense_shapes: &attrs.context_dense_shapes,
            ragged_value_types: &attrs.context_ragged_value_types,
            ragged_split_types: &attrs.context_ragged_split_types,
        };
        let lists = SequenceAttrs {
            half: "feature_list",
            sparse: attrs.Nfeature_list_sparse,
            dense: attrs.Nfeature_list_dense,
            keys: None,
            sparse_types: &attrs.feature_list_sparse_types,
            dense_types: &attrs.feature_list_dense_types,
            dense_shapes: &attrs.feature_list_dense_shapes,
            ragged_value_types: &attrs.feature_list_ragged_value_types,
            ragged_split_types: &attrs.feature_list_ragged_split_types,
        };
        Ok(Self { context: Attrs::new(&context)?, lists: Attrs::new(&lists)? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ParseSequenceExampleV2>) -> Result<()> {
        type Op = ParseSequenceExampleV2;
        let batch = Batch::new(ctx.input(Op::SERIALIZED)?, ctx.input(Op::DEBUG_NAME)?)?;
        let keys = |input| -> Result<Vec<&[u8]>> {
            scratch::collected(ctx.input(input)?.as_slice::<TString>()?.iter().map(TString::as_bytes))
        };
        let keys = [
            [keys(Op::CONTEXT_SPARSE_KEYS)?, keys(Op::CONTEXT_DENSE_KEYS)?, keys(Op::CONTEXT_RAGGED_KEYS)?],
            [
                keys(Op::FEATURE_LIST_SPARSE_KEYS)?,
                keys(Op::FEATURE_LIST_DENSE_KEYS)?,
                keys(Op::FEATURE_LIST_RAGGED_KEYS)?,
            ],
        ];
        let may_miss = ctx.input(Op::FEATURE_LIST_DENSE_MISSING_ASSUMED_EMPTY)?.as_slice::<bool>()?;
        let defaults = ctx.input_list(Op::CONTEXT_DENSE_DEFAULTS);
        let [context, lists] = parse([&self.context, &self.lists], keys, defaults, may_miss, &batch)?;
        set_outputs(ctx, context, lists)
    }
}
