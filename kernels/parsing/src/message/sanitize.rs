//! Whole messages, parsed and serialized anew.

use kernlink::error::Result;
use kernlink::proto::check_text_nesting;
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage, Value};

use super::malformed;

/// The message that bytes, or text, hold, as bytes.
///
/// # Errors
/// DATA_LOSS if they hold none, or one that lacks a required field.
pub(super) fn reserialize(descriptor: &MessageDescriptor, bytes: &[u8], is_text: bool) -> Result<Vec<u8>> {
    let message = if is_text {
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("the text is no UTF-8"))?;
        check_text_nesting(text).map_err(|error| malformed(error.message()))?;
        DynamicMessage::parse_text_format(descriptor.clone(), text).map_err(|error| malformed(&error.to_string()))?
    } else {
        DynamicMessage::decode(descriptor.clone(), bytes).map_err(|error| malformed(&error.to_string()))?
    };
    if !has_required(&message) {
        return Err(malformed("a required field is missing"));
    }
    Ok(message.encode_to_vec())
}

/// Whether a message has all required fields, and those in it have theirs.
fn has_required(message: &DynamicMessage) -> bool {
    let is_whole = |value: &Value| value.as_message().is_none_or(has_required);
    message.descriptor().fields().all(|field| !field.is_required() || message.has_field(&field))
        && message.fields().all(|(_, value)| match value {
            Value::List(values) => values.iter().all(is_whole),
            Value::Map(values) => values.values().all(is_whole),
            value => is_whole(value),
        })
}
