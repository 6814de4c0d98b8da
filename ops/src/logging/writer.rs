//! Writers of summaries: files of events, which TensorBoard reads.

use kernlink_macros::register_op;

use crate::shapes;

/// The handle of a writer, which `CreateSummaryFileWriter` makes.
#[register_op(
    attr("shared_name: string = ''", "The name under which nodes share the writer."),
    attr("container: string = ''", "Where the writer is kept; empty for the default container."),
    output("writer: resource", "The handle, a scalar."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct SummaryWriter;

#[register_op(input("writer: resource", "The handle of a writer."), stateful, shape_fn = shapes::no_outputs)]
pub enum SummaryWriters {
    /// Makes a writer to a file of its own, unless there is one of the handle already.
    #[op(
        input("logdir: string", "The folder of the file, a scalar; it is made if it is not there."),
        input("max_queue: int32", "How many events may wait before they are written, a scalar."),
        input("flush_millis: int32", "After how many milliseconds the next event is written at once, a scalar."),
        input("filename_suffix: string", "How the file's name ends, a scalar.")
    )]
    CreateSummaryFileWriter,
    /// Writes what waits.
    FlushSummaryWriter,
    /// Writes what waits, and forgets the writer.
    CloseSummaryWriter,
    /// Adds an `Event` message, serialized.
    #[op(input("event: string", "A scalar."))]
    ImportEvent,
}

#[register_op(
    input("writer: resource", "The handle of a writer."),
    input("step: int64", "The step that the event is of, a scalar."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub enum WrittenSummaries {
    /// Adds a whole tensor with what a plugin wants to know of it.
    #[op(
        attr("T: type"),
        input("tensor: T"),
        input("tag: string", "A scalar."),
        input("summary_metadata: string", "A `SummaryMetadata` message, serialized; a scalar.")
    )]
    WriteSummary,
    /// Adds `Summary` messages, serialized, as one.
    #[op(input("tensor: string", "In any shape."))]
    WriteRawProtoSummary,
    /// Adds a number.
    #[op(attr("T: realnumbertype"), input("tag: string", "A scalar."), input("value: T", "A scalar."))]
    WriteScalarSummary,
    /// Adds a histogram of all values, which must be finite.
    #[op(
        attr(
            "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool} = DT_FLOAT"
        ),
        input("tag: string", "A scalar."),
        input("values: T")
    )]
    WriteHistogramSummary,
    /// Adds images, as PNG. Its kernel comes with the feature `image_codecs`.
    #[op(
        attr("max_images: int >= 1 = 3", "The largest number of images."),
        attr("T: {uint8, double, float, half} = DT_FLOAT"),
        input("tag: string", "A scalar."),
        input("tensor: T", "Shape [images, height, width, channels], with 1, 3 or 4 channels."),
        input("bad_color: uint8", "The color of pixels that are not finite, a vector.")
    )]
    WriteImageSummary,
    /// Adds sounds, as WAV.
    #[op(
        attr("max_outputs: int >= 1 = 3", "The largest number of sounds."),
        input("tag: string", "A scalar."),
        input("tensor: float", "Shape [sounds, frames] or [sounds, frames, channels], from −1 to 1."),
        input("sample_rate: float", "In hertz, a scalar.")
    )]
    WriteAudioSummary,
    /// Adds a `GraphDef` message, serialized.
    #[op(input("tensor: string", "A scalar."))]
    WriteGraphSummary,
}
