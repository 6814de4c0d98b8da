//! Model files: `.pb` (binary) and, with feature `text-format`, `.pbtxt`.

use std::path::Path;

use bytes::Bytes;
use prost::Message;

use super::{GraphDef, MetaGraphDef, SavedModel};
use crate::error::{Code, Error, Result};
use crate::tensor::{FileBytes, may_request};

/// A message that is a file's whole content.
trait FileMessage: Message + Default {
    /// Its name in messages to people.
    const NAME: &'static str;
    /// What to do with a text in the place of a binary message.
    const TEXT_HINT: &'static str;
    #[cfg(feature = "text-format")]
    fn from_text(text: &str) -> Result<Self>;
}

macro_rules! file_messages {
    ($($message:ident: $from_text:ident, $text_hint:literal;)*) => {$(
        impl FileMessage for $message {
            const NAME: &'static str = stringify!($message);
            const TEXT_HINT: &'static str = $text_hint;
            #[cfg(feature = "text-format")]
            fn from_text(text: &str) -> Result<Self> {
                super::$from_text(text)
            }
        }
    )*};
}

file_messages! {
    GraphDef: graph_from_text, ": it is text; the name of a graph in text ends in .pbtxt";
    MetaGraphDef: meta_graph_from_text, ": it is text; the name of a MetaGraph in text ends in .meta.pbtxt";
    SavedModel: saved_model_from_text, ": it is text; a SavedModel in text is called saved_model.pbtxt";
}

fn from_bytes<M: FileMessage>(bytes: Bytes) -> Result<M> {
    let head = bytes.slice(..bytes.len().min(HEAD));
    M::decode(bytes).map_err(|error| {
        let hint = if is_printable(&head) { M::TEXT_HINT } else { "" };
        Error::invalid_argument(format!("this is no {} ({error}){hint}", M::NAME))
    })
}

/// So many bytes show whether a file is text.
const HEAD: usize = 256;

/// Whether bytes are the head of a text: UTF-8 without control characters, but for a character that may be cut.
fn is_printable(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or("\0"),
        Err(_) => return false,
    };
    !text.chars().any(|c| c.is_control() && !c.is_whitespace())
}

/// The graph in a binary message. Tensor contents share `bytes`.
///
/// # Errors
/// INVALID_ARGUMENT if the message is truncated, corrupt or nested too deeply.
pub fn graph_from_bytes(bytes: impl Into<Bytes>) -> Result<GraphDef> {
    from_bytes(bytes.into())
}

/// The MetaGraph in a binary message. Tensor contents share `bytes`.
///
/// # Errors
/// As [`graph_from_bytes`].
pub fn meta_graph_from_bytes(bytes: impl Into<Bytes>) -> Result<MetaGraphDef> {
    from_bytes(bytes.into())
}

/// The SavedModel in a binary message. Tensor contents share `bytes`.
///
/// # Errors
/// As [`graph_from_bytes`].
pub fn saved_model_from_bytes(bytes: impl Into<Bytes>) -> Result<SavedModel> {
    from_bytes(bytes.into())
}

/// The message in a file; `malformed` is the code if there is none.
fn read<M: FileMessage>(path: &Path, malformed: Code) -> Result<M> {
    let bytes = FileBytes::open(path)?;
    let message = if is_text(path) { from_text(&bytes) } else { from_bytes(Bytes::from_owner(bytes)) };
    message.map_err(|error| {
        let error = match error.code() {
            Code::InvalidArgument => Error::new(malformed, error.message()),
            _ => error,
        };
        error.context(path.display())
    })
}

/// Reads a graph from a file: text if its name ends in `.pbtxt`, else binary. Large files are mapped: they must not be
/// changed in place while the graph lives.
///
/// # Errors
/// [`Error::from_io`]'s if the file cannot be read; INVALID_ARGUMENT if it holds no graph; UNIMPLEMENTED
/// for text without feature `text-format`.
pub fn read_graph(path: impl AsRef<Path>) -> Result<GraphDef> {
    read(path.as_ref(), Code::InvalidArgument)
}

/// Reads a MetaGraph (`.meta`) from a file; see [`read_graph`].
///
/// # Errors
/// As [`read_graph`].
pub fn read_meta_graph(path: impl AsRef<Path>) -> Result<MetaGraphDef> {
    read(path.as_ref(), Code::InvalidArgument)
}

/// Reads a SavedModel (`saved_model.pb`) from a file; see [`read_graph`].
///
/// # Errors
/// As [`read_graph`], and DATA_LOSS if it holds no SavedModel.
pub fn read_saved_model(path: impl AsRef<Path>) -> Result<SavedModel> {
    read(path.as_ref(), Code::DataLoss)
}

/// The most bytes of a message: readers count them in 31 bits.
const MAX_MESSAGE: usize = i32::MAX as usize;

/// The content of a graph's file of this name: text if it ends in `.pbtxt`, else binary.
///
/// # Errors
/// RESOURCE_EXHAUSTED if the binary message is larger than 2 GiB or there is not enough memory for it or its text; UNIMPLEMENTED for text
/// without feature `text-format`.
pub fn graph_file(name: impl AsRef<Path>, graph: &GraphDef) -> Result<Vec<u8>> {
    let size = graph.encoded_len();
    if size > MAX_MESSAGE {
        let message = format!("the graph takes {size} bytes, and a message has at most {MAX_MESSAGE}");
        return Err(Error::resource_exhausted(message));
    }
    // Text escapes a byte with up to four, and grows by doubling.
    let needed = if is_text(name.as_ref()) { size.saturating_mul(8) } else { size };
    if !may_request(needed) {
        return Err(Error::resource_exhausted(format!("there is not enough memory for the {size} bytes of the graph")));
    }
    if is_text(name.as_ref()) { to_text(graph) } else { Ok(graph.encode_to_vec()) }
}

/// Writes a graph to a file: text if its name ends in `.pbtxt`, else binary.
///
/// # Errors
/// As [`graph_file`]; [`Error::from_io`]'s if the file cannot be written.
pub fn write_graph(path: impl AsRef<Path>, graph: &GraphDef) -> Result<()> {
    let path = path.as_ref();
    let bytes = graph_file(path, graph)?;
    std::fs::write(path, bytes).map_err(|error| Error::from_io(format!("cannot write {}", path.display()), &error))
}

fn is_text(path: &Path) -> bool {
    // A file may be called `.PBTXT`, which has no extension.
    path.file_name().is_some_and(|name| name.to_ascii_lowercase().as_encoded_bytes().ends_with(b".pbtxt"))
}

#[cfg(feature = "text-format")]
fn from_text<M: FileMessage>(bytes: &[u8]) -> Result<M> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Error::invalid_argument("the text is not UTF-8: the name of a binary file ends otherwise, a graph's in .pb")
    })?;
    M::from_text(text)
}

#[cfg(feature = "text-format")]
fn to_text(graph: &GraphDef) -> Result<Vec<u8>> {
    Ok(super::graph_to_text(graph)?.into_bytes())
}

#[cfg(not(feature = "text-format"))]
fn from_text<M: FileMessage>(_: &[u8]) -> Result<M> {
    Err(no_text())
}

#[cfg(not(feature = "text-format"))]
fn to_text(_: &GraphDef) -> Result<Vec<u8>> {
    Err(no_text())
}

#[cfg(not(feature = "text-format"))]
fn no_text() -> Error {
    Error::unimplemented("protobuf text needs Kernlink's Cargo feature `text-format`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::proto::{AttrValue, NodeDef, TensorProto, attr_value::Value};

    #[test]
    fn a_graph_larger_than_a_message_can_be_is_refused() {
        let tensor = TensorProto { tensor_content: vec![0; 1 << 26].into(), ..TensorProto::default() };
        let value = AttrValue { value: Some(Value::Tensor(tensor)) };
        let attr = [("value".to_owned(), value)].into_iter().collect();
        // The nodes share one content.
        let graph = GraphDef { node: vec![NodeDef { attr, ..NodeDef::default() }; 32], ..GraphDef::default() };
        let error = graph_file("large.pb", &graph).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.message().contains("a message has at most 2147483647"), "{error}");
    }
}
