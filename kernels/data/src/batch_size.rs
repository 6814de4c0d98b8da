//! How many elements a dataset batches, by the nodes that it was made of.

use std::sync::Arc;

use kernlink::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::{Dataset, input_dataset};
use crate::hash::is_version_of;
use crate::nodes::{Nodes, OF_SEVERAL};

const BATCHES: [&str; 4] =
    ["BatchDataset", "PaddedBatchDataset", "MapAndBatchDataset", "ExperimentalMapAndBatchDataset"];

/// Batches of which a function makes the elements; their size is the last input but two.
const MAPPED: [&str; 2] = ["MapAndBatchDataset", "ExperimentalMapAndBatchDataset"];

/// Those that leave the size of what they take.
const PASSING: [&str; 15] = [
    "AssertCardinalityDataset",
    "CacheDataset",
    "FilterDataset",
    "Identity",
    "ModelDataset",
    "OptimizeDataset",
    "OptionsDataset",
    "ParseExampleDataset",
    "PrefetchDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "SkipDataset",
    "TakeDataset",
];

/// The size of a node's batches, −1 if that cannot be told.
fn batch_size(nodes: &Nodes, number: usize) -> i64 {
    let node = &nodes.all[number];
    let is_one = |ops: &[&str]| ops.iter().any(|op| is_version_of(&node.op, op));
    let input = |index: usize| node.inputs.get(index).copied();
    if is_one(&BATCHES) {
        let index = if MAPPED.contains(&&*node.op) { node.inputs.len().wrapping_sub(3) } else { 1 };
        let value = input(index).and_then(|input| nodes.all[input].value.as_ref());
        return value.and_then(|value| value.to_scalar().ok()).unwrap_or(-1);
    }
    if is_one(&OF_SEVERAL) {
        let mut sizes = node.inputs.iter().map(|&input| batch_size(nodes, input));
        let first = sizes.next().unwrap_or(-1);
        return if sizes.all(|size| size == first) { first } else { -1 };
    }
    if is_one(&PASSING) {
        return input(0).map_or(-1, |input| batch_size(nodes, input));
    }
    -1
}

#[register_kernel(device = Cpu, cheap)]
fn compute_batch_size(ctx: &mut KernelContext<'_, ops::ComputeBatchSize>) -> Result<()> {
    let dataset: Arc<dyn Dataset> = input_dataset(ctx, 0)?;
    let nodes = Nodes::as_known(&dataset)?;
    ctx.set_output_at(0, Tensor::scalar(batch_size(&nodes, nodes.dataset)))
}
