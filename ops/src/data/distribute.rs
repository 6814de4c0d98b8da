//! Datasets that say how work is dealt out: over batches, workers, threads and time.

use kernlink_macros::register_op;

use super::shape::{Rank, scalars, with_ranks};
use crate::shapes;

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub enum Distributions {
    /// Tensors of one rank, `batch_size` at a time, as one sparse tensor whose rows they are: a vector of three variants, its
    /// indices, values and shape.
    #[op(
        input("batch_size: int64", "How many elements make one."),
        input("row_shape: int64", "The shape of a row, which no element exceeds; −1 stands for the largest of the batch."),
        shape_fn = |c| with_ranks(c, &[(1, Rank::Is(0)), (2, Rank::Is(1))]),
    )]
    DenseToSparseBatchDataset,
    /// Tensors of one rank, `batch_size` at a time, as one sparse tensor whose rows they are: a vector of three variants, its
    /// indices, values and shape.
    #[op(
        input("batch_size: int64", "How many elements make one."),
        input("row_shape: int64", "The shape of a row, which no element exceeds; −1 stands for the largest of the batch."),
        shape_fn = |c| with_ranks(c, &[(1, Rank::Is(0)), (2, Rank::Is(1))]),
    )]
    ExperimentalDenseToSparseBatchDataset,
    /// Each batch cut to `num_replicas` batches of equal size, the last of which may be smaller or empty.
    #[op(attr("use_fallback: bool = true", "Of no effect."), input("num_replicas: int64", "To how many."))]
    RebatchDataset,
    /// Each batch cut to `num_replicas` batches of equal size, the last of which may be smaller or empty.
    #[op(attr("use_fallback: bool = true", "Of no effect."), input("num_replicas: int64", "To how many."))]
    ExperimentalRebatchDataset,
    /// The elements of a dataset, for each of which is waited.
    #[op(input("sleep_microseconds: int64", "How long."), shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(0)), (1, Rank::AtMost(0))]))]
    SleepDataset,
    /// The elements of a dataset, for each of which is waited.
    #[op(input("sleep_microseconds: int64", "How long."), shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(0)), (1, Rank::AtMost(0))]))]
    ExperimentalSleepDataset,
}

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("thread_pool: resource", "What `ThreadPoolHandle` gives."),
    output("handle: variant", "The dataset."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum OnThreadPools {
    /// A dataset as it is: its work is done on the threads of the session.
    ThreadPoolDataset,
    /// A dataset as it is: its work is done on the threads of the session.
    ExperimentalThreadPoolDataset,
}

#[register_op(
    attr("num_threads: int", "How many, not negative. Of no other effect: the threads are those of the session."),
    attr("max_intra_op_parallelism: int = 1", "Of no effect."),
    attr("display_name: string", "Of no effect."),
    attr("container: string = ''", "Where it is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share it."),
    output("handle: resource", "What `ThreadPoolDataset` takes."),
    stateful,
    shape_fn = scalars,
)]
pub enum ThreadPools {
    /// A pool of threads for datasets.
    ThreadPoolHandle,
    /// A pool of threads for datasets.
    ExperimentalThreadPoolHandle,
}

/// The components of an element as one variant, compressed by Snappy.
#[register_op(
    attr("input_types: list(type) >= 1"),
    input("components: input_types", "The components."),
    output("compressed: variant", "What `UncompressElement` takes."),
    shape_fn = shapes::scalar_shape,
)]
pub struct CompressElement;

/// The components of an element that `CompressElement` compressed.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("compressed: variant", "What `CompressElement` made."),
    output("components: output_types", "The components."),
    shape_fn = shapes::dataset_iterator_shape,
)]
pub struct UncompressElement;

#[register_op(
    attr(
        "auto_shard_policy: int = 0",
        "−1: as it is; 0: by files if possible, else by elements; 1: by files; 2: by elements; 3: as hints say."
    ),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("num_workers: int64", "How many datasets the elements are dealt out to."),
    input("index: int64", "Which."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub enum AutoShards {
    /// A worker's share of the elements of a dataset.
    #[op(attr("num_replicas: int = 0", "Of no effect."))]
    AutoShardDataset,
    /// A worker's share of the elements of a dataset.
    ExperimentalAutoShardDataset,
}
