//! Datasets that are made of tensors, numbers and files.

use kernlink_macros::register_op;

use super::shape::{Rank, with_ranks, with_scalars};
use crate::shapes;

#[register_op(
    attr("Toutput_types: list(type) >= 1"),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("components: Toutput_types", "The components."),
    output("handle: variant", "A scalar: the dataset of the one element, or of the rows."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum OfTensors {
    /// One element.
    TensorDataset,
    /// The rows of tensors, as elements.
    #[op(
        attr("is_files: bool = false", "Of no effect.", before = "metadata"),
        attr("replicate_on_split: bool = false", "Of no effect.")
    )]
    TensorSliceDataset,
}

#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    output("handle: variant", "A scalar: the dataset of the numbers, scalars."),
    stateful,
    shape_fn = |c| with_scalars(c, &[0, 1, 2]),
)]
pub enum OfNumbers {
    /// Numbers of equal distance.
    #[op(
        attr("replicate_on_split: bool = false", "Of no effect."),
        input("start: int64", "The first number."),
        input("stop: int64", "What the numbers end before."),
        input("step: int64", "How far they are apart, not 0: negative for descending numbers.")
    )]
    RangeDataset,
    /// Random numbers from 0 to 2³² − 1, without end.
    #[op(
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        shape_fn = |c| with_scalars(c, &[0, 1]),
    )]
    RandomDataset,
    /// Random numbers from 0 to 2³² − 1, without end.
    #[op(
        attr(
            "rerandomize_each_iteration: bool = false",
            "Whether each iterator has seeds of its own.",
            before = "output_types"
        ),
        input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
        input("seed2: int64"),
        input("seed_generator: resource", "What gives the seeds of each iterator.")
    )]
    RandomDatasetV2,
}

/// Random numbers from 0 to 2³² − 1, without end.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("seed: int64", "The seed, with `seed2`; both zero for a random one."),
    input("seed2: int64"),
    output("handle: variant", "A scalar: the dataset of the numbers, scalars of dtype int64."),
    stateful,
    shape_fn = |c| with_scalars(c, &[0, 1]),
)]
pub struct ExperimentalRandomDataset;

/// The rows of a sparse tensor, as sparse tensors.
#[register_op(
    attr("Tvalues: type"),
    input("indices: int64", "The places of the values, one a row."),
    input("values: Tvalues", "The values."),
    input("dense_shape: int64", "The shape."),
    output("handle: variant", "A scalar: the dataset, whose elements have three components: indices, values and shape of a row."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct SparseTensorSliceDataset;

#[register_op(
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("filenames: string", "The files, a scalar or a vector."),
    input("buffer_size: int64", "How many bytes TensorFlow would read at a time: 0 at least, and −1 for records. Of no effect: the size is chosen."),
    output("handle: variant", "A scalar: the dataset of the lines or records, scalars of dtype string. A file is opened when its first is asked for."),
    stateful,
    shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(1)), (1, Rank::Is(0)), (2, Rank::Is(0))]),
)]
pub enum OfFiles {
    /// The lines of text files, without their ends.
    #[op(input("compression_type: string", "`\"\"`, `\"ZLIB\"` or `\"GZIP\"`.", before = "buffer_size"))]
    TextLineDataset,
    /// The records of TFRecord files.
    #[op(input("compression_type: string", "`\"\"`, `\"ZLIB\"` or `\"GZIP\"`.", before = "buffer_size"))]
    TFRecordDataset,
    /// The records of TFRecord files.
    #[op(
        input("compression_type: string", "`\"\"`, `\"ZLIB\"` or `\"GZIP\"`.", before = "buffer_size"),
        input("byte_offsets: int64", "At which byte reading begins in each file: as many as there are files, 0 at least each; or empty, for their beginnings."),
        shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(1)), (1, Rank::Is(0)), (2, Rank::Is(0)), (3, Rank::AtMost(1))]),
    )]
    TFRecordDatasetV2,
    /// The records of files, which all have one length.
    #[op(
        input("header_bytes: int64", "How many bytes of a file come before the first record.", before = "buffer_size"),
        input("record_bytes: int64", "How many bytes a record has.", before = "buffer_size"),
        input("footer_bytes: int64", "How many bytes of a file come after the last record.", before = "buffer_size"),
        shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(1)), (1, Rank::Is(0)), (2, Rank::Is(0)), (3, Rank::Is(0)), (4, Rank::Is(0))]),
    )]
    FixedLengthRecordDataset,
    /// The records of files, which all have one length.
    #[op(
        input("header_bytes: int64", "How many bytes of a file come before the first record.", before = "buffer_size"),
        input("record_bytes: int64", "How many bytes a record has.", before = "buffer_size"),
        input("footer_bytes: int64", "How many bytes of a file come after the last record.", before = "buffer_size"),
        input("compression_type: string", "`\"\"`, `\"ZLIB\"` or `\"GZIP\"`."),
        shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(1)), (1, Rank::Is(0)), (2, Rank::Is(0)), (3, Rank::Is(0)), (4, Rank::Is(0))]),
    )]
    FixedLengthRecordDatasetV2,
}

#[register_op(
    input("patterns: string", "Patterns of names, a scalar or a vector."),
    output("handle: variant", "A scalar: the dataset of the names, scalars of dtype string."),
    stateful,
    shape_fn = |c| with_ranks(c, &[(0, Rank::AtMost(1))]),
)]
pub enum OfNames {
    /// The names of the files that match patterns, in order.
    MatchingFilesDataset,
    /// The names of the files that match patterns, in order.
    ExperimentalMatchingFilesDataset,
}

/// Elements that are given one after the other.
#[register_op(
    attr("Tinput_types: list(type) >= 1"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("tensors: Tinput_types", "The components of the elements."),
    output("handle: variant", "A scalar: the dataset of the elements in the order in which they are given."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct ListDataset;

/// What a function gives again and again, until it says OUT_OF_RANGE.
#[register_op(
    attr("init_func: func", "Gives the state."),
    attr("next_func: func", "Gives the next element, by the state."),
    attr("finalize_func: func", "Is called at the end, or when an iterator goes before its end, with the state."),
    attr("Tinit_func_args: list(type) >= 0"),
    attr("Tnext_func_args: list(type) >= 0"),
    attr("Tfinalize_func_args: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("metadata: string = ''", "For tools that look at pipelines."),
    input("init_func_other_args: Tinit_func_args", "What `init_func` takes."),
    input("next_func_other_args: Tnext_func_args", "What `next_func` takes behind the state."),
    input("finalize_func_other_args: Tfinalize_func_args", "What `finalize_func` takes behind the state."),
    output("handle: variant", "A scalar: the dataset of what `next_func` gives; each iterator over it calls `init_func` first."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct GeneratorDataset;

/// A dataset of elements that are given component by component.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("Tinputs: list(type) >= 1"),
    input("inputs: Tinputs", "The elements, component by component."),
    output("handle: variant", "A scalar: the dataset of the elements."),
    shape_fn = shapes::scalar_shape,
)]
pub struct WindowOp;
