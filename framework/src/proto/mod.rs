//! TensorFlow's messages: the generated structs, how they become Kernlink's values, and how files are read.

mod any;
mod attr;
mod compact;
mod file;
mod kernel;
mod op;
mod op_list;
mod shape;
mod string_content;
mod tensor;
#[cfg(feature = "text-format")]
mod text;
mod values;

#[allow(missing_docs, clippy::large_enum_variant, reason = "generated from framework/proto")]
mod tensorflow {
    #[rustfmt::skip]
    pub(super) mod checkpoint;
    #[rustfmt::skip]
    pub(super) mod graph;
    #[rustfmt::skip]
    pub(super) mod object_graph;
    #[rustfmt::skip]
    pub(super) mod saved_model;
}

pub use any::Any;
pub use attr::{attr_from_proto, attr_to_proto};
pub(crate) use compact::tensor_to_compact_proto;
pub use file::{
    graph_file, graph_from_bytes, meta_graph_from_bytes, read_graph, read_meta_graph, read_saved_model,
    saved_model_from_bytes, write_graph,
};
pub use kernel::kernel_to_proto;
pub(crate) use op::default_to_proto;
pub use op::{op_from_proto, op_to_proto};
pub use op_list::{OpListOptions, op_list_from_bytes, op_list_from_proto, op_list_to_proto};
pub use prost::Message;
pub use shape::{shape_from_proto, shape_to_proto};
pub(crate) use tensor::{content_of, from_content, variant_from_bytes, variant_to_bytes};
pub use tensor::{encoded, tensor_from_proto, tensor_to_attr_proto, tensor_to_proto};
pub use tensorflow::{checkpoint::*, graph::*, object_graph::*, saved_model::*};
#[cfg(feature = "text-format")]
pub use text::{check_text_nesting, graph_from_text, graph_to_text, meta_graph_from_text, saved_model_from_text};
pub(crate) use values::{number_of_values, put_values};
