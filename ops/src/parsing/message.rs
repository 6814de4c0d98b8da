//! Fields of serialized messages of any type.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Fields of serialized messages.
///
/// | field | dtypes |
/// |---|---|
/// | `double` | double |
/// | `float` | float, double |
/// | `int32`, `sint32`, `sfixed32` | int32, int64 |
/// | `int64`, `sint64`, `sfixed64` | int64 |
/// | `uint32`, `fixed32` | uint32, uint64 |
/// | `uint64`, `fixed64` | uint64 |
/// | `bool` | bool |
/// | enums | int32 |
/// | `string`, `bytes`, messages, groups | string, serialized still |
///
/// Fields that a message lacks have the default that its declaration says; `sizes` tells which these are.
#[register_op(
    attr("message_type: string", "The full name of the messages' type."),
    attr("field_names: list(string)", "The fields, or full names of extensions."),
    attr("output_types: list(type) >= 0", "A dtype for each field."),
    attr(
        "descriptor_source: string = 'local://'",
        "Where types are declared: `local://` for those of TensorFlow, `bytes://` with a serialized FileDescriptorSet, or \
         the name of a file that holds one.",
    ),
    attr("message_format: string = 'binary'", "`binary` or `text`."),
    attr("sanitize: bool = false", "Whether messages are parsed wholly before, and serialized anew."),
    input("bytes: string", "The messages, of any shape that is not empty."),
    output("sizes: int32", "How many values each message has of each field: `[..., fields]`."),
    output("values: output_types", "The values of each field, `[..., n]` with the greatest number that a message has, or 1."),
    shape_fn = decode_proto_shape,
)]
pub struct DecodeProtoV2;

fn decode_proto_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let messages = c.input(0);
    let dtypes: Vec<DataType> = c.attr("output_types")?;
    c.set_output(0, c.concatenate(messages, c.vector(dtypes.len() as i64))?);
    for field in 0..dtypes.len() {
        c.set_output(field + 1, c.concatenate(messages, c.vector(c.unknown_dim()))?);
    }
    Ok(())
}

/// Serialized messages of fields.
///
/// The dtypes of fields are those of [`DecodeProtoV2`].
#[register_op(
    attr("field_names: list(string)", "The fields that are written."),
    attr("message_type: string", "The full name of the messages' type."),
    attr("descriptor_source: string = 'local://'", "As in `DecodeProtoV2`."),
    attr("Tinput_types: list(type) >= 1"),
    input("sizes: int32", "How many values each message has of each field: `[..., fields]`."),
    input("values: Tinput_types", "The values of each field: `[..., n]`, of which the first ones are written."),
    output("bytes: string", "The messages, `[...]`."),
    shape_fn = encode_proto_shape,
)]
pub struct EncodeProto;

fn encode_proto_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut messages = c.unknown_shape();
    for field in (1..c.num_inputs()).rev() {
        let values = c.with_rank_at_least(c.input(field), 2)?;
        messages = c.merge(c.subshape_range(values, 0, -1)?, messages)?;
    }
    shapes::output_shape(c, messages)
}
