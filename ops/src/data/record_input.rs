//! Records of files in random order, without a dataset.

use kernlink_macros::register_op;

use crate::shapes;

/// The next records of TFRecord files, in random order. After the last one it begins again.
#[register_op(
    attr("file_pattern: string", "Patterns of names of files, with commas between them."),
    attr("file_random_seed: int = 301", "The seed of all that is random."),
    attr("file_shuffle_shift_ratio: float = 0", "By which part of all files they are turned after they were shuffled."),
    attr("file_buffer_size: int = 10000", "Among how many records the next one is drawn."),
    attr("file_parallelism: int = 16", "How many files are read by turns."),
    attr("batch_size: int = 32", "How many records an output has."),
    attr("compression_type: string = ''", "How files are compressed: `ZLIB` or `GZIP`; empty for not at all."),
    output("records: string", "The records, a vector."),
    stateful,
    shape_fn = shapes::unknown_shape,
)]
pub struct RecordInput;
