//! What is told of datasets at work.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("container: string = ''", "Where it is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share it."),
    output("handle: resource", "What `SetStatsAggregatorDataset` takes."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum StatsAggregators {
    /// Collects what is told of datasets, for `StatsAggregatorSummary`.
    StatsAggregatorHandle,
    /// Collects what is told of datasets, for `StatsAggregatorSummary`.
    ExperimentalStatsAggregatorHandle,
    /// Collects what is told of datasets, and writes it as `StatsAggregatorSetSummaryWriter` says.
    StatsAggregatorHandleV2,
}

#[register_op(
    input("iterator: resource", "What `StatsAggregatorHandle` gives."),
    output("summary: string", "A `Summary`."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum StatsSummaries {
    /// What was collected; nothing of one that writes it.
    StatsAggregatorSummary,
    /// What was collected; nothing of one that writes it.
    ExperimentalStatsAggregatorSummary,
}

/// Has what is collected written as summaries.
#[register_op(
    input("stats_aggregator: resource", "What `StatsAggregatorHandleV2` gives."),
    input("summary: resource", "A writer of summaries."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub struct StatsAggregatorSetSummaryWriter;

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("stats_aggregator: resource", "What collects."),
    input("tag: string", "Stands before the tags of those that tell something."),
    input("counter_prefix: string", "Of no effect."),
    output("handle: variant", "The dataset."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum WithStats {
    /// The elements of a dataset, and `LatencyStatsDataset` and `BytesProducedStatsDataset` in it tell of them.
    SetStatsAggregatorDataset,
    /// The elements of a dataset, and `LatencyStatsDataset` and `BytesProducedStatsDataset` in it tell of them.
    ExperimentalSetStatsAggregatorDataset,
}

/// The model by which an iterator is tuned: NOT_FOUND, as none is.
#[register_op(
    input("iterator: resource", "The iterator."),
    output("model_proto: string", "A `ModelProto`."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct IteratorGetModelProto;

/// A handle that names no counter of iterations.
#[register_op(output("handle: resource", "The handle."), stateful, shape_fn = shapes::scalar_shape)]
pub struct DummyIterationCounter;
