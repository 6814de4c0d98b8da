//! Protobuf text format, through descriptors and reflection.

use std::borrow::Cow;
use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};

use super::{GraphDef, MetaGraphDef, SavedModel};
use crate::error::{Error, Result};

static POOL: LazyLock<Option<DescriptorPool>> =
    LazyLock::new(|| DescriptorPool::decode(include_bytes!("tensorflow.desc").as_slice()).ok());

fn descriptor(message: &str) -> Result<MessageDescriptor> {
    let found = POOL.as_ref().and_then(|pool| pool.get_message_by_name(&format!("tensorflow.{message}")));
    found.ok_or_else(|| Error::internal("the built-in descriptors are malformed"))
}

/// The deepest nesting of braces that is read; the parser recurses.
const MAX_NESTING: usize = 64;

/// The graph in protobuf text.
///
/// # Errors
/// INVALID_ARGUMENT if the text is malformed or has fields that a graph lacks.
pub fn graph_from_text(text: &str) -> Result<GraphDef> {
    message_from_text("GraphDef", text)
}

/// The MetaGraph in protobuf text.
///
/// # Errors
/// INVALID_ARGUMENT if the text is malformed or has fields that a MetaGraph lacks.
pub fn meta_graph_from_text(text: &str) -> Result<MetaGraphDef> {
    message_from_text("MetaGraphDef", text)
}

/// The SavedModel in protobuf text.
///
/// # Errors
/// INVALID_ARGUMENT if the text is malformed or has fields that a SavedModel lacks.
pub fn saved_model_from_text(text: &str) -> Result<SavedModel> {
    message_from_text("SavedModel", text)
}

fn message_from_text<M: Message + Default>(name: &str, text: &str) -> Result<M> {
    check_text_nesting(text)?;
    let message =
        DynamicMessage::parse_text_format(descriptor(name)?, &without_foreign_fields(text)).map_err(|error| {
            let place = place(text, &error);
            let place = place.map_or_else(String::new, |(line, column)| format!(" line {line}, column {column}:"));
            Error::invalid_argument(format!("this is no {name} in text format:{place} {error}"))
        })?;
    M::decode(message.encode_to_vec().as_slice()).map_err(|error| Error::invalid_argument(error.to_string()))
}

/// The line and column where the parser stopped, from 1, if that can be told.
fn place(text: &str, error: &prost_reflect::text_format::ParseError) -> Option<(usize, usize)> {
    // Of the error's kinds one is met at the end of the text. Most others have a span, the last of their fields, which the
    // crate gives out by a copy of the whole text for each error and another crate's traits, or in the debug text.
    let debug = format!("{error:?}");
    let span = debug.rsplit_once(" span: ").and_then(|(_, span)| span.split_once("..")?.0.parse::<usize>().ok());
    let at = span.or_else(|| debug.contains("UnexpectedEof").then_some(text.len()))?;
    let before = text.as_bytes().get(..at)?;
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    Some((line, String::from_utf8_lossy(&before[start..]).chars().count() + 1))
}

/// A graph as protobuf text.
///
/// # Errors
/// INTERNAL if the built-in descriptors do not fit the messages.
pub fn graph_to_text(graph: &GraphDef) -> Result<String> {
    let message = DynamicMessage::decode(descriptor("GraphDef")?, graph.encode_to_vec().as_slice())
        .map_err(|error| Error::internal(error.to_string()))?;
    let options = prost_reflect::text_format::FormatOptions::new().pretty(true);
    Ok(message.to_text_format_with_options(&options))
}

/// The fields of TensorFlow's messages that Kernlink's lack: what it knows of full types, of Python objects, and of where
/// a graph was made. All are messages, and but for `object_graph_def`, whose message here is a part of TensorFlow's, no
/// message of Kernlink's has a field of such a name.
const FOREIGN: &[&str] = &[
    "debug_info",
    "experimental_full_type",
    "experimental_type",
    "object_graph_def",
    "registered_gradients",
    "type_spec",
];

/// The text with [`FOREIGN`] fields replaced by spaces. The binary format skips unknown fields; in text they have names,
/// which the parser refuses.
fn without_foreign_fields(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut kept = Cow::Borrowed(bytes);
    let mut at = 0;
    while at < bytes.len() {
        let end = token_end(bytes, at);
        let is_foreign = FOREIGN.iter().any(|name| name.as_bytes() == &bytes[at..end]);
        let after = if is_foreign { value_end(bytes, end) } else { None };
        if let Some(after) = after {
            let line_breaks_stay = |byte: &mut u8| *byte = if *byte == b'\n' { b'\n' } else { b' ' };
            kept.to_mut()[at..after].iter_mut().for_each(line_breaks_stay);
        }
        at = after.unwrap_or(end);
    }
    match kept {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        // A removed field begins and ends with whole characters.
        Cow::Owned(kept) => String::from_utf8(kept).map_or(Cow::Borrowed(text), Cow::Owned),
    }
}

/// The end of the token that begins at `at`: a string, a comment, a name or number, or one byte of anything else.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let rest = &bytes[at..];
    let length = match rest[0] {
        b'#' => rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
        quote @ (b'"' | b'\'') => {
            let mut escaped = false;
            let closes = |byte: &u8| {
                let is_end = *byte == b'\n' || (*byte == quote && !escaped);
                escaped = *byte == b'\\' && !escaped;
                is_end
            };
            rest[1..].iter().position(closes).map_or(rest.len(), |length| length + 2)
        }
        byte if is_word(byte) => rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len()),
        _ => 1,
    };
    at + length
}

/// The end of the message, or list of messages, that follows a field's name, including the separator after it.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let (mut depth, mut is_whole, mut end) = (0, false, None);
    while at < bytes.len() {
        let next = token_end(bytes, at);
        match bytes[at] {
            byte if byte.is_ascii_whitespace() || byte == b'#' => {}
            b',' | b';' if is_whole => return Some(next),
            _ if is_whole => break,
            b'{' | b'<' | b'[' => depth += 1,
            b'}' | b'>' | b']' => {
                depth -= 1;
                is_whole = depth == 0;
                end = is_whole.then_some(next);
                if depth < 0 {
                    return None;
                }
            }
            b':' if depth == 0 => {}
            _ if depth == 0 => return None,
            _ => {}
        }
        at = next;
    }
    end
}

/// Whether text is nested no deeper than parsers of the text format, which recurse, can be given.
///
/// # Errors
/// INVALID_ARGUMENT if it is.
pub fn check_text_nesting(text: &str) -> Result<()> {
    let mut depth = 0usize;
    let mut quote = None;
    let (mut escaped, mut comment) = (false, false);
    for byte in text.bytes() {
        if comment || byte == b'\n' {
            (comment, quote, escaped) = (comment && byte != b'\n', None, false);
            continue;
        }
        match (quote, byte) {
            (None, b'#') => comment = true,
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{' | b'<' | b'[') => depth += 1,
            (None, b'}' | b'>' | b']') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if depth > MAX_NESTING {
            return Err(Error::invalid_argument(format!("the text is nested deeper than {MAX_NESTING} levels")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leads_back() {
        let text = r#"node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } }"#;
        let graph = graph_from_text(text).unwrap();
        assert_eq!(graph.node[0].op, "Const");
        assert_eq!(graph_from_text(&graph_to_text(&graph).unwrap()).unwrap(), graph);
    }

    #[test]
    fn fields_that_kernlink_lacks_are_passed_over() {
        let text = r#"
            node { name: "a{" op: 'b\'debug_info' # experimental_type: {
              experimental_type { type_id: TFT_PRODUCT args: [ { type_id: TFT_TENSOR }, { s: "}" } ] }; input: "c"
            }
            debug_info: < files: "experimental_type {" traces { key: "ä" value {} } > , # and more
            library { registered_gradients: [{ gradient_func: "g" }, <registered_op_type: "h">]
              function { signature { name: "f"
                input_arg { name: "x" experimental_full_type { type_id: TFT_VAR } type: DT_FLOAT }
              } } }"#;
        let graph = graph_from_text(text).unwrap();
        let node = &graph.node[0];
        assert_eq!((node.name.as_str(), node.op.as_str(), node.input.len()), ("a{", "b'debug_info", 1));
        let GraphDef { library, .. } = graph;
        let signature = library.unwrap().function[0].signature.clone().unwrap();
        assert_eq!((signature.input_arg[0].name.as_str(), signature.input_arg[0].r#type), ("x", 1));
        let text = r#"object_graph_def { nodes { variable { name: "v" } } } meta_info_def { tags: "t" }
            signature_def { key: "s" value { inputs { key: "i" value { composite_tensor { type_spec {} } } } } }"#;
        let meta_graph = meta_graph_from_text(text).unwrap();
        assert_eq!(meta_graph.meta_info_def.unwrap().tags, ["t"]);
        assert!(meta_graph.signature_def.contains_key("s"));
    }

    #[test]
    fn what_is_no_field_of_tensorflow_is_refused_still() {
        for text in
            ["debug_info: 3", "debug_info", "debug_info }", "debug_info { ", "debug_infos {}", "node { type_spec: x }"]
        {
            assert!(graph_from_text(text).is_err(), "{text}");
        }
        let error = graph_from_text("debug_info {\n}\nnode {\n nam: 3 }").unwrap_err();
        assert!(error.message().contains("'nam'"), "{error}");
    }

    #[test]
    fn malformed_text_says_where() {
        assert!(graph_from_text("node { nam: 3 }").unwrap_err().message().contains("nam"));
        let message = |text: &str| graph_from_text(text).unwrap_err().message().to_owned();
        let middle = message("node {\n  name: \"ä\"\n  name: \"é\" op: 3 span: 1..2\n}\nnode {\n}\n");
        assert!(middle.contains("format: line 3, column 9: 'name' is already set"), "{middle}");
        let field = message("node {\n  op: 'x'\n    nam: 3 }\n\n");
        assert!(field.contains("format: line 3, column 5: field 'nam' not found"), "{field}");
        let end = message("node {\n  op: 'x'\n ");
        assert!(end.contains("format: line 3, column 2: expected"), "{end}");
        for start in ["", "# \"\\\n", "# '\n", "a: \"\\\n"] {
            assert!(graph_from_text(&format!("{start}{}", "node {".repeat(10_000))).is_err());
        }
    }
}
