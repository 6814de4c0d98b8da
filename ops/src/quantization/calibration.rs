//! What is learned of values before they are quantized.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Passes values on, with their range and how many of them lie where in it.
///
/// Parts of the range are as wide as a power of two, and begin at a multiple of it.
#[register_op(
    input("input: float"),
    output("output: float", "`input`"),
    output("min: float", "The least value, a scalar."),
    output("max: float", "The greatest value, a scalar."),
    output("histogram: int64", "How many values lie in each part."),
    attr("id: string", "What the values are called."),
    attr("calibration_method: int = 0", "How ranges will be chosen; it must not be 0."),
    attr("num_bins: int = 0", "The parts."),
    attr("min_percentile: float = 0.0", "For those who choose ranges."),
    attr("max_percentile: float = 0.0", "For those who choose ranges."),
    shape_fn = aggregator_shape,
)]
pub struct CustomAggregator;

/// Puts together what [`CustomAggregator`] says of several batches, and saves it to a file when the session ends.
///
/// The file is a binary `CalibrationStatisticsMap`.
#[register_op(
    input("args: Tin", "For each of the values its least, its greatest and the histogram, which may be empty."),
    attr("Tin: list(type) >= 0", "`float`, `float` and `int64` for each of the values."),
    attr("ids: list(string) >= 1", "What the values are called."),
    attr(
        "calibration_methods: list(int) >= 1",
        "How the range of each will be chosen: by what is greatest, by the average (2), by the histogram (3 to 6)."
    ),
    attr("output_file_path: string", "The file."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub struct CalibrationStatisticsSaver;

fn aggregator_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.input(0));
    c.set_output(1, c.scalar());
    c.set_output(2, c.scalar());
    c.set_output(3, c.make_shape([c.make_dim(c.attr::<i64>("num_bins")?)]));
    Ok(())
}
