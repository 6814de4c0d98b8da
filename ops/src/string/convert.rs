//! Numbers as text and as bytes, and back.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Each element as text.
#[register_op(
    attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64, \
         complex128, bool, variant, string}",
    ),
    attr("precision: int = -1", "For floats the digits after the point, or with `shortest` all digits; 6 if negative."),
    attr("scientific: bool = false", "Whether floats have an exponent, such as 1.5e+00."),
    attr("shortest: bool = false", "Whether floats have an exponent only where that is shorter."),
    attr("width: int = -1", "The least number of bytes of the text; spaces, or `fill`, stand before shorter ones."),
    attr("fill: string = ''", "One byte: `0` fills with zeros, `-` fills with spaces after the text."),
    input("input: T"),
    output("output: string"),
    shape_fn = shapes::unchanged,
)]
pub struct AsString;

/// The number that each string holds.
#[register_op(
    attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT"),
    input("string_tensor: string", "Numbers in decimal; white space around them does not count."),
    output("output: out_type"),
    shape_fn = shapes::unchanged,
)]
pub struct StringToNumber;

/// The bytes of each string as numbers, along a new last dimension.
#[register_op(
    attr(
        "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, \
         bfloat16}",
    ),
    attr("little_endian: bool = true", "Whether the least byte of a number comes first."),
    input("bytes: string", "Strings of one length, a multiple of `out_type`'s size."),
    output("output: out_type"),
    shape_fn = |c| shapes::output_shape(c, c.concatenate(c.input(0), c.vector(c.unknown_dim()))?),
)]
pub struct DecodeRaw;

/// The bytes of each string as numbers, along a new last dimension; strings are cut, or filled with zeros, to one
/// length.
#[register_op(
    attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}"),
    attr("little_endian: bool = true", "Whether the least byte of a number comes first."),
    input("input_bytes: string"),
    input("fixed_length: int32", "The length in bytes, a scalar: a multiple of `out_type`'s size."),
    output("output: out_type"),
    shape_fn = decode_padded_raw_shape,
)]
pub struct DecodePaddedRaw;

fn decode_padded_raw_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dtype: kernlink::dtype::DataType = c.attr("out_type")?;
    let width = c.divide(c.make_dim_for_scalar_input(1)?, dtype.size() as i64, true)?;
    shapes::output_shape(c, c.concatenate(c.input(0), c.vector(width))?)
}

#[register_op(input("input: string"), output("output: string"), shape_fn = shapes::unchanged)]
pub enum Base64 {
    /// Each string in base64, in the alphabet that is safe in URLs.
    #[op(attr("pad: bool = false", "Whether `=` fills the text to a multiple of four."))]
    EncodeBase64,
    /// Each string from base64, in the alphabet that is safe in URLs.
    #[op(input("input: string", "With or without `=` at the end."))]
    DecodeBase64,
}
