//! Datasets that are made of other datasets.

use kernlink_macros::register_op;

use super::shape::{Rank, with_ranks, with_scalars};
use crate::shapes;

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    output("handle: variant", "A scalar: the new dataset. Nothing is read before an iterator over it is asked for elements."),
    shape_fn = |c| with_scalars(c, &[1]),
)]
pub enum Transformations {
    /// The first `count` elements of a dataset; all if it is −1.
    #[op(input("count: int64", "How many elements are taken: all that there are if it is negative or more."))]
    TakeDataset,
    /// What comes after the first `count` elements of a dataset; nothing if it is −1.
    #[op(input(
        "count: int64",
        "How many elements are left out at the beginning: all if it is negative or more than there are."
    ))]
    SkipDataset,
    /// The elements of a dataset `count` times, or again and again if it is negative.
    #[op(input(
        "count: int64",
        "How many times the dataset is gone through: without end if it is negative, not at all if it is 0."
    ))]
    RepeatDataset,
    /// Every `num_shards`-th element of a dataset, from `index` on.
    #[op(
        attr("require_non_empty: bool = false", "Whether it is an error if another of them gets no element.", before = "output_types"),
        input("num_shards: int64", "How many datasets the elements are dealt out to: 1 at least."),
        input("index: int64", "Which of them this is: from 0 to `num_shards` − 1."),
        shape_fn = |c| with_scalars(c, &[1, 2]),
    )]
    ShardDataset,
    /// The elements of a dataset, then those of another.
    #[op(input("another_dataset: variant", "The dataset that follows."), shape_fn = shapes::scalar_shape)]
    ConcatenateDataset,
    /// Elements stacked along a new first dimension, `batch_size` at a time.
    #[op(input("batch_size: int64", "How many elements make one: 1 at least."))]
    BatchDataset,
    /// Elements stacked along a new first dimension, `batch_size` at a time.
    #[op(
        attr("parallel_copy: bool = false", "Whether several threads may copy elements to a batch. Of no effect.", before = "output_types"),
        input("batch_size: int64", "How many elements make one: 1 at least."),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out."),
        shape_fn = |c| with_scalars(c, &[1, 2]),
    )]
    BatchDatasetV2,
    /// Elements stacked along a new first dimension, `batch_size` at a time.
    #[op(
        attr("parallel_copy: bool = false", "Whether several threads may copy elements to a batch. Of no effect.", before = "output_types"),
        attr("deterministic: string = 'default'", "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always.", before = "metadata"),
        input("batch_size: int64", "How many elements make one: 1 at least."),
        input("num_parallel_calls: int64", "How many batches may be made at a time: 1 at least, or −1. Of no effect: they are made one after the other."),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out."),
        shape_fn = |c| with_scalars(c, &[1, 2, 3]),
    )]
    ParallelBatchDataset,
    /// The rows of each element, as elements.
    #[op(shape_fn = shapes::scalar_shape)]
    UnbatchDataset,
    /// Datasets of some elements each: windows that move over a dataset.
    #[op(
        input("size: int64", "How many elements a window has: 1 at least."),
        input("shift: int64", "How many elements of the dataset after the one before a window begins: 1 at least."),
        input("stride: int64", "How far the elements of a window are apart in the dataset: 1 for those that follow each other, at least."),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out."),
        shape_fn = |c| with_scalars(c, &[1, 2, 3, 4]),
    )]
    WindowDataset,
    /// The elements of a dataset, which are made ahead on other threads.
    #[op(
        attr(
            "slack_period: int = 0",
            "After how many elements TensorFlow leaves the CPU to others. Of no effect.",
            before = "metadata"
        ),
        attr("legacy_autotune: bool = true", "How TensorFlow chooses a buffer. Of no effect.", before = "metadata"),
        attr(
            "buffer_size_min: int = 0",
            "The least buffer that TensorFlow may choose for a `buffer_size` of −1. Of no effect.",
            before = "metadata"
        ),
        input("buffer_size: int64", "How many elements are made ahead: none if it is 0, 16 if it is −1.")
    )]
    PrefetchDataset,
    /// The elements of a dataset, which are kept from the first time on.
    #[op(input("filename: string", "What the names of the files begin with that keep them; empty for memory."))]
    CacheDataset,
    /// The elements of a dataset, which are kept from the first time on.
    #[op(
        input("filename: string", "What the names of the files begin with that keep them; empty for memory."),
        input("cache: resource", "Where the elements are kept: of `AnonymousMemoryCache`, or `DummyMemoryCache` for a place of the dataset's own."),
        stateful,
        shape_fn = |c| with_scalars(c, &[1, 2]),
    )]
    CacheDatasetV2,
    /// The elements of a dataset, each once.
    #[op(shape_fn = shapes::scalar_shape)]
    UniqueDataset,
    /// The elements of a dataset in random order.
    #[op(
        attr("reshuffle_each_iteration: bool = true", "Whether each iterator has seeds of its own.", before = "output_types"),
        input("buffer_size: int64", "How many elements are held, of which one is given out at random: 1 at least, or −2 for all."),
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        shape_fn = |c| with_scalars(c, &[1, 2, 3]),
    )]
    ShuffleDataset,
    /// The elements of a dataset in random order, by seeds of a generator.
    #[op(
        input("buffer_size: int64", "How many elements are held, of which one is given out at random: 1 at least, or −2 for all."),
        input("seed_generator: resource", "What gives the seeds of each iterator."),
        stateful,
        shape_fn = |c| with_scalars(c, &[1, 2]),
    )]
    ShuffleDatasetV2,
    /// The elements of a dataset in random order.
    #[op(
        attr("reshuffle_each_iteration: bool = true", "Whether each iterator has seeds of its own.", before = "output_types"),
        input("buffer_size: int64", "How many elements are held, of which one is given out at random: 1 at least, or −2 for all."),
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        input("seed_generator: resource", "What gives the seeds of each iterator."),
        stateful,
        shape_fn = |c| with_scalars(c, &[1, 2, 3, 4]),
    )]
    ShuffleDatasetV3,
    /// The elements of a dataset in random order, `count` times.
    #[op(
        attr("reshuffle_each_iteration: bool = true", "Whether each iterator has seeds of its own.", before = "metadata"),
        input("buffer_size: int64", "How many elements are held, of which one is given out at random: 1 at least, or −2 for all."),
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        input("count: int64", "How many times the dataset is gone through: 1 at least, or −1 for without end. Elements of up to three rounds may be held together, but those of one come before those of the next."),
        shape_fn = |c| with_scalars(c, &[1, 2, 3, 4]),
    )]
    ShuffleAndRepeatDataset,
    /// The elements of a dataset in random order, `count` times.
    #[op(
        attr("reshuffle_each_iteration: bool = true", "Whether each iterator has seeds of its own.", before = "output_types"),
        input("buffer_size: int64", "How many elements are held, of which one is given out at random: 1 at least, or −2 for all."),
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        input("count: int64", "How many times the dataset is gone through: 1 at least, or −1 for without end. Elements of up to three rounds may be held together, but those of one come before those of the next."),
        input("seed_generator: resource", "What gives the seeds of each iterator."),
        stateful,
        shape_fn = |c| with_scalars(c, &[1, 2, 3, 4, 5]),
    )]
    ShuffleAndRepeatDatasetV2,
    /// A dataset with options.
    #[op(
        attr("serialized_options: string", "An `OptionsProto`.", before = "output_types"),
        shape_fn = shapes::scalar_shape,
    )]
    OptionsDataset,
}

#[register_op(
    attr("Toutput_types: list(type) >= 1"),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("N: int >= 1"),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("batch_size: int64", "How many elements make one: 1 at least."),
    input("padded_shapes: N * int64", "The shapes to which the components are padded; −1 stands for the longest of the batch."),
    input("padding_values: Toutput_types", "What is put where a component ends, scalars."),
    output("handle: variant", "A scalar: the dataset of the batches, whose components have one dimension more, the first."),
    shape_fn = |c| with_scalars(c, &[1]),
)]
pub enum PaddedBatches {
    /// Elements padded to one shape and stacked, `batch_size` at a time.
    PaddedBatchDataset,
    /// Elements padded to one shape and stacked, `batch_size` at a time.
    #[op(
        attr("parallel_copy: bool = false", "Whether several threads may copy elements to a batch. Of no effect.", before = "Toutput_types"),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out."),
        shape_fn = |c| with_ranks(c, &[(1, Rank::Is(0)), (-1, Rank::Is(0))]),
    )]
    PaddedBatchDatasetV2,
}

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    output("handle: variant", "A scalar: the new dataset. Nothing is read before an iterator over it is asked for elements."),
    shape_fn = shapes::scalar_shape,
)]
pub enum OldTransformations {
    /// The elements of a dataset, which must be as many as is said.
    #[op(input("cardinality: int64", "How many elements there must be, or −1 for without end; FAILED_PRECONDITION when it turns out that there are more or fewer."), shape_fn = |c| with_scalars(c, &[1]))]
    AssertCardinalityDataset,
    /// A dataset as it is.
    #[op(input("transformations: string", "The names of the transformations that TensorFlow would look for. Of no effect."), shape_fn = |c| with_ranks(c, &[(1, Rank::Is(1))]))]
    AssertNextDataset,
    /// A dataset as it is.
    #[op(input("transformations: string", "The names of the transformations that TensorFlow would look for. Of no effect."), shape_fn = |c| with_ranks(c, &[(1, Rank::Is(1))]))]
    ExperimentalAssertNextDataset,
    /// The elements of a dataset that can be made.
    #[op(attr("log_warning: bool = false", "Of no effect."))]
    IgnoreErrorsDataset,
    /// The elements of a dataset that can be made.
    #[op(attr("log_warning: bool = false", "Of no effect."))]
    ExperimentalIgnoreErrorsDataset,
    /// A dataset as it is.
    #[op(input("transformations: string", "The names of the transformations that TensorFlow would look for. Of no effect."), shape_fn = |c| with_ranks(c, &[(1, Rank::Is(1))]))]
    AssertPrevDataset,
    /// A dataset as it is; its graph is rewritten.
    #[op(input(
        "rewrite_name: string",
        "Which rewriting: by `replicate_on_split` all who share the dataset have the whole of its sources, which its graph says; others have no effect."
    ))]
    RewriteDataset,
    /// A dataset as it is.
    #[op(
        attr("algorithm: int = 0", "Of no effect.", before = "output_types"),
        attr("cpu_budget: int = 0", "Of no effect.", before = "output_types"),
        attr("ram_budget: int = 0", "Of no effect.", before = "output_types")
    )]
    ModelDataset,
    /// A dataset as it is.
    #[op(attr("has_captured_ref: bool = false", "Of no effect.", before = "output_types"))]
    FinalizeDataset,
    /// A dataset as it is: nothing is rewritten.
    #[op(
        attr("optimization_configs: list(string) = []", "Of no effect."),
        input("optimizations: string", "The names of rewritings that TensorFlow would apply. Of no effect.")
    )]
    OptimizeDataset,
    /// A dataset as it is: nothing is rewritten.
    #[op(
        attr("optimization_configs: list(string) = []", "Of no effect."),
        input("optimizations_enabled: string", "The names of rewritings that TensorFlow would apply. Of no effect."),
        input(
            "optimizations_disabled: string",
            "The names of rewritings that TensorFlow would not apply. Of no effect."
        ),
        input(
            "optimizations_default: string",
            "The names of rewritings that TensorFlow would apply by itself. Of no effect."
        )
    )]
    OptimizeDatasetV2,
    /// A dataset as it is.
    NonSerializableDataset,
    /// A dataset as it is.
    ExperimentalNonSerializableDataset,
    /// The elements of a dataset, of whose bytes `SetStatsAggregatorDataset` is told.
    #[op(input("tag: string", "The name of the histogram."), shape_fn = |c| with_scalars(c, &[1]))]
    BytesProducedStatsDataset,
    /// The elements of a dataset, of whose bytes `SetStatsAggregatorDataset` is told.
    #[op(input("tag: string", "The name of the histogram."), shape_fn = |c| with_scalars(c, &[1]))]
    ExperimentalBytesProducedStatsDataset,
    /// The elements of a dataset, and `SetStatsAggregatorDataset` is told how long each takes.
    #[op(input("tag: string", "The name of the histogram."), shape_fn = |c| with_scalars(c, &[1]))]
    LatencyStatsDataset,
    /// The elements of a dataset, and `SetStatsAggregatorDataset` is told how long each takes.
    #[op(input("tag: string", "The name of the histogram."), shape_fn = |c| with_scalars(c, &[1]))]
    ExperimentalLatencyStatsDataset,
    /// A dataset as it is.
    #[op(input(
        "max_intra_op_parallelism: int64",
        "How many threads an op may use in TensorFlow. Of no effect: a session's are all of use."
    ))]
    MaxIntraOpParallelismDataset,
    /// A dataset as it is.
    #[op(input(
        "max_intra_op_parallelism: int64",
        "How many threads an op may use in TensorFlow. Of no effect: a session's are all of use."
    ))]
    ExperimentalMaxIntraOpParallelismDataset,
    /// A dataset as it is.
    #[op(input(
        "num_threads: int64",
        "How many threads TensorFlow would start for the dataset. Of no effect: it uses the session's."
    ))]
    PrivateThreadPoolDataset,
    /// A dataset as it is.
    #[op(input(
        "num_threads: int64",
        "How many threads TensorFlow would start for the dataset. Of no effect: it uses the session's."
    ))]
    ExperimentalPrivateThreadPoolDataset,
    /// Batches of other sizes.
    #[op(
        input(
            "batch_sizes: int64",
            "The sizes of the batches, which are taken in turn: a scalar or a vector, each 1 at least."
        ),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out.")
    )]
    RebatchDatasetV2,
    /// Elements that are picked at random.
    #[op(
        input("rate: float", "The share of elements that are kept, from 0 to 1."),
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        shape_fn = |c| with_scalars(c, &[1, 2, 3]),
    )]
    SamplingDataset,
    /// Elements stacked along a new first dimension, in windows that move over a dataset.
    #[op(
        attr("drop_remainder: bool = true", "Whether elements that are too few for a batch are left out.", before = "output_types"),
        input("window_size: int64", "How many elements a window has: 1 at least."),
        input("window_shift: int64", "How many elements of the dataset after the one before a window begins: 1 at least."),
        input("window_stride: int64", "How far the elements of a window are apart in the dataset: 1 for those that follow each other, at least."),
        shape_fn = |c| with_scalars(c, &[1, 2, 3]),
    )]
    SlidingWindowDataset,
    /// Elements stacked along a new first dimension, in windows that move over a dataset.
    #[op(
        input("window_size: int64", "How many elements a window has: 1 at least."),
        input("window_shift: int64", "How many elements of the dataset after the one before a window begins: 1 at least."),
        input("window_stride: int64", "How far the elements of a window are apart in the dataset: 1 for those that follow each other, at least."),
        shape_fn = |c| with_scalars(c, &[1, 2, 3]),
    )]
    ExperimentalSlidingWindowDataset,
    /// The rows of each element, as elements.
    ExperimentalUnbatchDataset,
    /// The elements of a dataset, each once.
    ExperimentalUniqueDataset,
}

/// The elements whose last component is true, without it.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    output("output: variant", "A scalar: the dataset of the elements that are kept, with one component less."),
    shape_fn = shapes::scalar_shape,
)]
pub struct FilterByLastComponentDataset;

/// Elements made of one element of each dataset, as long as all have one.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("N: int >= 1"),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_datasets: N * variant", "The datasets."),
    output("handle: variant", "A scalar: the dataset of the elements, whose components are those of all datasets in order."),
    shape_fn = shapes::scalar_shape,
)]
pub struct ZipDataset;

/// Elements of several datasets, of that which another dataset says.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("N: int >= 1"),
    attr("stop_on_empty_dataset: bool = false", "Whether the first dataset without an element ends all."),
    input("selector_input_dataset: variant", "Gives the indices of those that the elements come from."),
    input("data_input_datasets: N * variant", "Those that the elements come from."),
    output("handle: variant", "A scalar: the dataset of the elements that were chosen, as they are."),
    shape_fn = shapes::scalar_shape,
)]
pub struct DirectedInterleaveDataset;

/// Elements of several datasets, of that which another dataset says.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("N: int >= 1"),
    input("selector_input_dataset: variant", "Gives the indices of those that the elements come from."),
    input("data_input_datasets: N * variant", "Those that the elements come from."),
    output("handle: variant", "A scalar: the dataset of the elements that were chosen, as they are."),
    shape_fn = shapes::scalar_shape,
)]
pub struct ExperimentalDirectedInterleaveDataset;

#[register_op(
    input("input_handle: variant", "The value."),
    output("output_handle: variant", "The value."),
    shape_fn = shapes::scalar_shape,
)]
pub enum Wraps {
    /// A dataset as a value that copies between devices leave alone.
    WrapDatasetVariant,
    /// The dataset that `WrapDatasetVariant` was given.
    UnwrapDatasetVariant,
}
