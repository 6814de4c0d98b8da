//! Lists, maps and optionals that are values.

mod composite;
mod optional;
mod tensor_list;
mod tensor_map;

pub use composite::*;
pub use optional::*;
pub use tensor_list::*;
pub use tensor_map::*;
