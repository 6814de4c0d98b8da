//! Datasets that are made of other datasets by functions.

use kernlink_macros::register_op;

use super::shape::{Rank, with_ranks};
use crate::shapes;

#[register_op(
    attr("f: func", "The function of the components of an element."),
    attr("Targuments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("other_arguments: Targuments", "What the function takes behind the components of an element."),
    output("handle: variant", "A scalar: the dataset of what `f` makes. `f` is called when an iterator over it is asked for elements."),
    shape_fn = shapes::scalar_shape,
)]
pub enum ByFunctions {
    /// What a function makes of each element.
    #[op(
        attr("use_inter_op_parallelism: bool = true", "Of no effect.", before = "metadata"),
        attr(
            "preserve_cardinality: bool = false",
            "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then.",
            before = "metadata"
        ),
        attr("force_synchronous: bool = false", "Of no effect.", before = "metadata")
    )]
    MapDataset,
    /// What a function makes of each element, several at a time.
    #[op(
        attr("use_inter_op_parallelism: bool = true", "Of no effect.", before = "metadata"),
        attr("sloppy: bool = false", "Whether the order may be another. It never is.", before = "metadata"),
        attr(
            "preserve_cardinality: bool = false",
            "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then.",
            before = "metadata"
        ),
        input(
            "num_parallel_calls: int32",
            "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."
        )
    )]
    ParallelMapDataset,
    /// What a function makes of each element, several at a time.
    #[op(
        attr("use_inter_op_parallelism: bool = true", "Of no effect.", before = "metadata"),
        attr(
            "deterministic: string = 'default'",
            "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always.",
            before = "metadata"
        ),
        attr(
            "preserve_cardinality: bool = false",
            "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then.",
            before = "metadata"
        ),
        attr("use_unbounded_threadpool: bool = false", "Of no effect.", before = "metadata"),
        input(
            "num_parallel_calls: int64",
            "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."
        )
    )]
    ParallelMapDatasetV2,
    /// The elements of the datasets that a function makes of the elements, one dataset after the other.
    FlatMapDataset,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn.
    #[op(
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least.")
    )]
    InterleaveDataset,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead.
    #[op(
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least."),
        input("sloppy: bool", "Whether the order may be another. It never is."),
        input(
            "buffer_output_elements: int64",
            "How many elements are made ahead of each dataset: 1 at least (more than 16 are as 16), or −1 for 16."
        ),
        input(
            "prefetch_input_elements: int64",
            "How many datasets may be opened ahead: 0 at least, or −1. Of no effect: one is opened when its turn comes."
        )
    )]
    ParallelInterleaveDataset,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead.
    #[op(
        attr("sloppy: bool = false", "Whether the order may be another. It never is.", before = "metadata"),
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least."),
        input(
            "num_parallel_calls: int64",
            "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."
        )
    )]
    ParallelInterleaveDatasetV2,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead.
    #[op(
        attr(
            "deterministic: string = 'default'",
            "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always.",
            before = "Targuments"
        ),
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least."),
        input(
            "num_parallel_calls: int64",
            "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."
        )
    )]
    ParallelInterleaveDatasetV3,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead.
    #[op(
        attr(
            "deterministic: string = 'default'",
            "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always.",
            before = "Targuments"
        ),
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least."),
        input(
            "buffer_output_elements: int64",
            "How many elements may be made ahead of each dataset: 1 at least, or −1. Of no effect: it is `block_length`, 16 at most."
        ),
        input(
            "prefetch_input_elements: int64",
            "How many datasets may be opened ahead: 0 at least, or −1. Of no effect: one is opened when its turn comes."
        ),
        input(
            "num_parallel_calls: int64",
            "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."
        )
    )]
    ParallelInterleaveDatasetV4,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead.
    #[op(
        attr(
            "deterministic: string = 'default'",
            "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always.",
            before = "Targuments"
        ),
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least."),
        input(
            "buffer_output_elements: int64",
            "How many elements are made ahead of each dataset: 1 at least (more than 16 are as 16), or −1 for 16."
        ),
        input(
            "prefetch_input_elements: int64",
            "How many datasets may be opened ahead: 0 at least, or −1. Of no effect: one is opened when its turn comes."
        )
    )]
    LegacyParallelInterleaveDatasetV2,
    /// What a function makes of each element and a state, which it hands on.
    #[op(
        attr("Tstate: list(type) >= 1", before = "Targuments"),
        attr(
            "preserve_cardinality: bool = false",
            "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then.",
            before = "metadata"
        ),
        attr("use_default_device: bool = true", "Of no effect.", before = "metadata"),
        input("initial_state: Tstate", "The state before the first element.", before = "other_arguments")
    )]
    ScanDataset,
    /// What a function makes of each element, several at a time, stacked along a new first dimension.
    #[op(
        attr("preserve_cardinality: bool = false", "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then.", before = "metadata"),
        input("batch_size: int64", "How many elements make one: 1 at least."),
        input("num_parallel_calls: int64", "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out."),
        shape_fn = |c| with_ranks(c, &[(-3, Rank::Is(0)), (-2, Rank::Is(0)), (-1, Rank::Is(0))]),
    )]
    MapAndBatchDataset,
}

#[register_op(
    attr("predicate: func", "The function of the components of an element, which gives one bool."),
    attr("Targuments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("other_arguments: Targuments", "What the function takes behind the components of an element."),
    output("handle: variant", "A scalar: the dataset of the elements that `predicate` keeps, as they are."),
    shape_fn = shapes::scalar_shape,
)]
pub enum ByPredicates {
    /// The elements for which a function is true.
    FilterDataset,
    /// The elements for which a function is true; several calls go on at a time.
    #[op(
        attr(
            "deterministic: string = 'default'",
            "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always.",
            before = "Targuments"
        ),
        input(
            "num_parallel_calls: int64",
            "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."
        )
    )]
    ParallelFilterDataset,
    /// The elements before the first for which a function is false.
    TakeWhileDataset,
}

#[register_op(
    attr("f: func", "The function of the components of an element."),
    attr("Targuments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("other_arguments: Targuments", "What the function takes behind the components of an element."),
    output("handle: variant", "A scalar: the dataset of what `f` makes. `f` is called when an iterator over it is asked for elements."),
    shape_fn = shapes::scalar_shape,
)]
pub enum ByFunctionsOnceExperimental {
    /// What a function makes of each element.
    #[op(
        attr("use_inter_op_parallelism: bool = true", "Of no effect."),
        attr(
            "preserve_cardinality: bool = false",
            "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then."
        ),
        attr("force_synchronous: bool = false", "Of no effect.")
    )]
    ExperimentalMapDataset,
    /// What a function makes of each element and a state, which it hands on.
    #[op(
        attr("Tstate: list(type) >= 1", before = "Targuments"),
        attr(
            "preserve_cardinality: bool = false",
            "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then."
        ),
        input("initial_state: Tstate", "The state before the first element.", before = "other_arguments")
    )]
    ExperimentalScanDataset,
    /// What a function makes of each element, several at a time, stacked along a new first dimension.
    #[op(
        attr("preserve_cardinality: bool = false", "Whether the function must not end the dataset: OUT_OF_RANGE is INVALID_ARGUMENT then."),
        input("batch_size: int64", "How many elements make one: 1 at least."),
        input("num_parallel_calls: int64", "How many calls may be under way: 1 at least (more than 256 are as 256), or −1 for as many as there are threads."),
        input("drop_remainder: bool", "Whether elements that are too few for a batch are left out."),
        shape_fn = |c| with_ranks(c, &[(-3, Rank::Is(0)), (-2, Rank::Is(0)), (-1, Rank::Is(0))]),
    )]
    ExperimentalMapAndBatchDataset,
    /// The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead.
    #[op(
        input(
            "cycle_length: int64",
            "From how many datasets elements are taken in turn: 1 at least, or −1 for as many as there are threads."
        ),
        input("block_length: int64", "How many elements are taken from one dataset in its turn: 1 at least."),
        input("sloppy: bool", "Whether the order may be another. It never is."),
        input(
            "buffer_output_elements: int64",
            "How many elements are made ahead of each dataset: 1 at least (more than 16 are as 16), or −1 for 16."
        ),
        input(
            "prefetch_input_elements: int64",
            "How many datasets may be opened ahead: 0 at least, or −1. Of no effect: one is opened when its turn comes."
        )
    )]
    ExperimentalParallelInterleaveDataset,
}

/// The elements before the first for which a function is false.
#[register_op(
    attr("predicate: func", "The function of the components of an element, which gives one bool."),
    attr("Targuments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("other_arguments: Targuments", "What the function takes behind the components of an element."),
    output("handle: variant", "A scalar: the dataset of the elements that `predicate` keeps, as they are."),
    shape_fn = shapes::scalar_shape,
)]
pub struct ExperimentalTakeWhileDataset;

#[register_op(
    attr("key_func: func", "Gives the key of an element, a scalar int64."),
    attr("reduce_func: func", "Makes a dataset of a key and a dataset of the elements of a window; its elements are given out."),
    attr("window_size_func: func", "Gives how many elements make a window of a key, a scalar int64 of 1 at least; called once a window."),
    attr("Tkey_func_other_arguments: list(type) >= 0"),
    attr("Treduce_func_other_arguments: list(type) >= 0"),
    attr("Twindow_size_func_other_arguments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("key_func_other_arguments: Tkey_func_other_arguments", "What `key_func` takes behind the components of an element."),
    input("reduce_func_other_arguments: Treduce_func_other_arguments", "What `reduce_func` takes behind its own arguments."),
    input("window_size_func_other_arguments: Twindow_size_func_other_arguments", "What `window_size_func` takes behind the key."),
    output("handle: variant", "A scalar: the dataset of what the windows were reduced to, in the order in which they were full."),
    shape_fn = shapes::scalar_shape,
)]
pub enum GroupsByWindow {
    /// Elements of the same key, reduced in windows. Windows that are not full at the end are reduced as they are, by
    /// ascending key.
    #[op(attr("metadata: string = ''", "For tools that look at pipelines."))]
    GroupByWindowDataset,
    /// Elements of the same key, reduced in windows. Windows that are not full at the end are reduced as they are, by
    /// ascending key.
    ExperimentalGroupByWindowDataset,
}

#[register_op(
    attr("key_func: func", "Gives the key of an element, an int64."),
    attr("init_func: func", "Gives the state."),
    attr("reduce_func: func", "Reduces the elements of a key."),
    attr("finalize_func: func", "Is called at the end, with the state."),
    attr("Tkey_func_other_arguments: list(type) >= 0"),
    attr("Tinit_func_other_arguments: list(type) >= 0"),
    attr("Treduce_func_other_arguments: list(type) >= 0"),
    attr("Tfinalize_func_other_arguments: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are taken."),
    input("key_func_other_arguments: Tkey_func_other_arguments", "What `key_func` takes behind the components of an element."),
    input("init_func_other_arguments: Tinit_func_other_arguments", "What `init_func` takes behind the key."),
    input("reduce_func_other_arguments: Treduce_func_other_arguments", "What `reduce_func` takes behind its own arguments."),
    input("finalize_func_other_arguments: Tfinalize_func_other_arguments", "What `finalize_func` takes behind the state."),
    output("handle: variant", "A scalar: the dataset of what `finalize_func` makes of the state of each key, by ascending key."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum Reducers {
    /// What is made of all elements of the same key.
    GroupByReducerDataset,
    /// What is made of all elements of the same key.
    ExperimentalGroupByReducerDataset,
}
