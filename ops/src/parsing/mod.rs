//! Messages and text to tensors: Examples, tensors, records of other messages, CSV, JSON, compressed bytes.

mod example;
mod message;
mod sequence;
mod tensor;
mod text;

pub use example::*;
pub use message::*;
pub use sequence::*;
pub use tensor::*;
pub use text::*;
