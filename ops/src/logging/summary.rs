//! Summaries: `Summary` messages, serialized, for TensorBoard.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(attr("T: realnumbertype"), output("summary: string", "A scalar."), shape_fn = shapes::scalar)]
pub enum Summaries {
    /// A summary with one number for each tag.
    #[op(input("tags: string"), input("values: T", "As many as `tags`, in the same shape."))]
    ScalarSummary,
    /// A summary with a histogram of all values, which must be finite.
    #[op(attr("T: realnumbertype = DT_FLOAT"), input("tag: string", "A scalar."), input("values: T"))]
    HistogramSummary,
    /// A summary with images, as PNG. Its kernel comes with the feature `image_codecs`.
    #[op(
        attr("max_images: int >= 1 = 3", "The largest number of images.", before = "T"),
        attr("T: {uint8, float, half, double} = DT_FLOAT"),
        attr(
            "bad_color: tensor = { dtype: DT_UINT8 tensor_shape: { dim { size: 4 } } int_val: 255 int_val: 0 int_val: \
             0 int_val: 255 }",
            "The color of pixels that are not finite.",
        ),
        input("tag: string", "A scalar."),
        input("tensor: T", "Shape [images, height, width, channels], with 1, 3 or 4 channels.")
    )]
    ImageSummary,
}

#[register_op(attr("T: type"), input("tensor: T"), output("summary: string", "A scalar."), shape_fn = shapes::scalar)]
pub enum TensorSummaries {
    /// A summary with a whole tensor and no tag.
    #[op(
        attr("description: string = ''", "Not used."),
        attr("labels: list(string) = []", "Not used."),
        attr("display_name: string = ''", "Not used.")
    )]
    TensorSummary,
    /// A summary with a whole tensor, a tag and what a plugin wants to know.
    #[op(
        input("tag: string", "A scalar.", before = "tensor"),
        input("serialized_summary_metadata: string", "A `SummaryMetadata` message, serialized; a scalar.")
    )]
    TensorSummaryV2,
}

/// The values of several summaries in one; no tag may stand twice.
#[register_op(
    attr("N: int >= 1"),
    input("inputs: N * string", "Summaries, in any shape."),
    output("summary: string", "A scalar."),
    shape_fn = shapes::scalar,
)]
pub struct MergeSummary;

#[register_op(
    attr("max_outputs: int >= 1 = 3", "The largest number of sounds."),
    input("tag: string", "A scalar."),
    input("tensor: float", "Shape [sounds, frames] or [sounds, frames, channels], from −1 to 1."),
    output("summary: string", "A scalar."),
    shape_fn = shapes::scalar,
)]
pub enum AudioSummaries {
    /// A summary with sounds, as WAV; the sample rate is an attr.
    #[op(attr("sample_rate: float", "In hertz.", before = "max_outputs"), deprecated(15, "Use AudioSummaryV2."))]
    AudioSummary,
    /// A summary with sounds, as WAV; the sample rate is an input.
    #[op(input("sample_rate: float", "In hertz, a scalar."))]
    AudioSummaryV2,
}
