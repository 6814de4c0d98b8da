//! Text and compressed bytes.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// Each string without its compression.
#[register_op(
    attr("compression_type: string = ''", "`ZLIB`, `GZIP`, or nothing for strings that are not compressed."),
    input("bytes: string"),
    output("output: string", "Of the shape of `bytes`."),
    shape_fn = shapes::unchanged,
)]
pub struct DecodeCompressed;

/// The columns of records of comma-separated values, as RFC 4180 has them.
///
/// A field may be quoted, and has two quotes then for each of its own. White space around numbers does not count.
#[register_op(
    attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1", "The columns' dtypes."),
    attr("field_delim: string = ','", "What stands between fields: one byte."),
    attr("use_quote_delim: bool = true", "Whether quotes are quotes, rather than bytes as all others."),
    attr("na_value: string = ''", "What stands for a missing value, besides nothing at all."),
    attr("select_cols: list(int) = []", "Which columns are wanted, in ascending order; all of them if empty."),
    input("records: string", "One record each."),
    input("record_defaults: OUT_TYPE", "For each column the value of fields that miss, or an empty vector if none may."),
    output("output: OUT_TYPE", "The columns, each of the shape of `records`."),
    shape_fn = decode_csv_shape,
)]
pub struct DecodeCSV;

fn decode_csv_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for column in 1..c.num_inputs() {
        let default = c.with_rank_at_most(c.input(column), 1)?;
        ensure!(
            c.rank(default) != Some(1) || c.value(c.dim(default, 0)).is_none_or(|size| size <= 1),
            InvalidArgument,
            "Shape of a default must be a length-0 or length-1 vector, or a scalar."
        );
    }
    for column in 0..c.num_outputs() {
        c.set_output(column, c.input(0));
    }
    Ok(())
}

/// Serialized Examples of Examples in JSON.
#[register_op(
    input("json_examples: string", "One message each, in the mapping of protocol buffers to JSON."),
    output("binary_examples: string", "Of the shape of `json_examples`."),
    shape_fn = shapes::unchanged,
)]
pub struct DecodeJSONExample;
