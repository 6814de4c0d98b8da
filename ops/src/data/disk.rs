//! Datasets that are kept in folders, as `tf.data.Dataset.save` and `snapshot` keep them.

use kernlink_macros::register_op;

use super::shape::with_scalars;
use crate::shapes;

/// Writes the elements of a dataset to a folder, from which `LoadDataset` reads them.
#[register_op(
    attr("compression: string = ''", "`\"\"`, `\"GZIP\"`, `\"ZLIB\"` or `\"SNAPPY\"`."),
    attr("shard_func: func", "A function that gives the number of the shard that an element is written to, an int64."),
    attr("use_shard_func: bool = true", "Whether it is called. Without it there is one shard, 0."),
    attr("Tshard_func_args: list(type) >= 0"),
    input("input_dataset: variant", "The dataset whose elements are written."),
    input("path: string", "The folder."),
    input("shard_func_other_args: Tshard_func_args", "What the function takes behind the components of an element."),
    stateful,
    shape_fn = |c| c.with_rank(c.input(1), 0).map(|_| ()),
)]
pub struct SaveDataset;

/// The elements of a dataset, which whoever goes through them writes to a folder, from which `LoadDataset` reads them.
#[register_op(
    attr("compression: string = ''", "`\"\"`, `\"GZIP\"`, `\"ZLIB\"` or `\"SNAPPY\"`."),
    attr("shard_func: func", "A function that gives the number of the shard that an element is written to, an int64."),
    attr("use_shard_func: bool = true", "Whether it is called. Without it there is one shard, 0."),
    attr("Tshard_func_args: list(type) >= 0"),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "The dataset whose elements are written."),
    input("path: string", "The folder."),
    input("shard_func_other_args: Tshard_func_args", "What the function takes behind the components of an element."),
    output("handle: variant", "The dataset."),
    stateful,
    shape_fn = |c| with_scalars(c, &[1]),
)]
pub struct SaveDatasetV2;

/// The elements of a folder that `SaveDataset` wrote.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("compression: string = ''", "What it was written with: `\"\"`, `\"GZIP\"`, `\"ZLIB\"` or `\"SNAPPY\"`."),
    attr("reader_func: func", "A function that makes one dataset of the dataset of the shards, which are datasets."),
    attr("Treader_func_args: list(type) >= 0"),
    input("path: string", "The folder."),
    input("reader_func_other_args: Treader_func_args", "What the function takes behind the dataset of the shards."),
    output("handle: variant", "The dataset."),
    stateful,
    shape_fn = |c| with_scalars(c, &[0]),
)]
pub struct LoadDataset;

/// The elements of one shard of a snapshot.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("compression: string = ''", "What it was written with: `\"\"`, `\"GZIP\"`, `\"ZLIB\"` or `\"SNAPPY\"`."),
    attr("version: int", "The format of the files: 2 for TFRecords of tensors, 1 and 0 for older ones."),
    input("shard_dir: string", "The folder of the shard."),
    input("start_index: int64", "How many elements are passed over."),
    output("handle: variant", "The dataset."),
    shape_fn = |c| with_scalars(c, &[0, 1]),
)]
pub struct SnapshotDatasetReader;

/// Datasets as the elements of one.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("N: int >= 1"),
    input("inputs: N * variant", "The datasets."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub struct SnapshotNestedDatasetReader;

/// The elements of one file of a snapshot.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("compression: string = ''", "What it was written with: `\"\"`, `\"GZIP\"`, `\"ZLIB\"` or `\"SNAPPY\"`."),
    input("chunk_file: string", "The file."),
    output("handle: variant", "The dataset."),
    shape_fn = |c| with_scalars(c, &[0]),
)]
pub struct SnapshotChunkDataset;

/// The files of a snapshot that several processes write, by their indices, then by their streams.
///
/// They are called `chunks/chunk_STREAM_INDEX_ELEMENTS`. It waits for more until there is a file `DONE`; a file `ERROR` says why
/// there are none.
#[register_op(
    attr("output_types: list(type) >= 1", "One string."),
    attr("output_shapes: list(shape) >= 1", "That of a scalar."),
    input("snapshot_path: string", "The folder of the snapshot."),
    output("handle: variant", "The dataset, whose elements are names of files, for `SnapshotChunkDataset`."),
    stateful,
    shape_fn = |c| with_scalars(c, &[0]),
)]
pub struct ListSnapshotChunksDataset;

/// The elements of a dataset, which whoever goes through them first writes to a folder, and all others read from there.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("compression: string = ''", "`\"\"`, `\"GZIP\"` or `\"SNAPPY\"`."),
    attr("reader_path_prefix: string = ''", "What stands before the names of the files that are read."),
    attr("writer_path_prefix: string = ''", "What stands before the name of the folder that is written to."),
    attr("shard_size_bytes: int = 10737418240", "How many bytes a file has at most, or little more; -1 for the default."),
    attr("pending_snapshot_expiry_seconds: int = 86400", "How long one writes before others may."),
    attr("num_reader_threads: int = 1"),
    attr("reader_buffer_size: int = 1"),
    attr("num_writer_threads: int = 1", "How many files are written at a time."),
    attr("writer_buffer_size: int = 1"),
    attr("shuffle_on_read: bool = false", "Whether files are read in random order."),
    attr("seed: int = 0"),
    attr("seed2: int = 0"),
    attr(
        "mode: string = 'auto'",
        "`\"read\"`, `\"write\"`, `\"passthrough\"` (neither), or `\"auto\"`: by what the folder says.",
    ),
    attr("snapshot_name: string = ''", "The name of the folder within `path`, in place of the dataset's hash."),
    input("input_dataset: variant", "The dataset."),
    input("path: string", "The folder that the snapshots of datasets are in."),
    output("handle: variant", "The dataset."),
    shape_fn = |c| with_scalars(c, &[1]),
)]
pub struct SnapshotDataset;

/// The elements of a dataset, which whoever goes through them first writes to a folder, and all others read from there.
#[register_op(
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    attr("compression: string = ''", "`\"\"`, `\"GZIP\"`, `\"ZLIB\"`, `\"SNAPPY\"` or `\"AUTO\"`, which is SNAPPY."),
    attr("reader_prefix: string = ''", "What stands before the name of the folder that is read from."),
    attr("writer_prefix: string = ''", "What stands before the name of the folder that is written to."),
    attr("hash_valid: bool = false", "Whether `hash` is given."),
    attr("hash: int = 0", "The name of the folder within `path`, in place of the dataset's hash."),
    attr("reader_func: func", "A function that makes one dataset of the dataset of the shards, which are datasets."),
    attr("shard_func: func", "A function that gives the number of the shard that an element is written to, an int64."),
    attr("Treader_func_args: list(type) >= 0"),
    attr("Tshard_func_args: list(type) >= 0"),
    attr("metadata: string = ''"),
    input("input_dataset: variant", "The dataset."),
    input("path: string", "The folder that the snapshots of datasets are in."),
    input("reader_func_other_args: Treader_func_args", "What `reader_func` takes behind the dataset of the shards."),
    input("shard_func_other_args: Tshard_func_args", "What `shard_func` takes behind the components of an element."),
    output("handle: variant", "The dataset."),
    shape_fn = |c| with_scalars(c, &[1]),
)]
pub struct SnapshotDatasetV2;
