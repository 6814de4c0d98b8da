//! The grammar of TensorFlow's op specs, as plain data.
//!
//! An op is declared with strings such as `"T: {float, int32} = DT_FLOAT"` for an attr and `"values: N * T"` for an
//! input or output. [`parse_attr`] and [`parse_arg`] read one of them; [`check_op`] then checks them together, as the
//! references between them need, and fills in what the grammar implies; [`parse_op`] does all of it. Every error says where in the string it is,
//! what was expected and what to do about it.
//!
//! `#[register_op]` calls this while a crate is compiled; nothing here runs in a finished program unless it declares
//! ops at run time.
//!
//! Where TensorFlow's own parser is sloppy this one is not: a keyword ends where the word ends (`int32` is not `int`
//! with `32` left over), and nothing may follow a default (`= 3 4` is not 3).

mod arg;
mod attr;
mod check;
mod cursor;
mod default;
mod dtype;
mod error;
mod name;
mod op;
mod print;
mod selection;
mod text;
mod wire;
mod wire_text;

pub use arg::{ArgSpec, Word, parse_arg};
pub use attr::{Allowed, AttrSpec, AttrType, Base, parse_attr};
pub use check::{ArgType, CheckedArg, CheckedOp, OpError, OpSpec, Place, check_op};
pub use default::{DefaultValue, Scalar};
pub use dtype::{DTYPES, Dtype, Kind, NUMBER, QUANTIZED, REAL_NUMBER, SETS, dtype_from_word, dtype_set};
pub use error::{Misspelt, Span, SpecError, near, nearest};
pub use name::{constant_name, function_name, is_op_name};
pub use op::parse_op;
pub use print::{float_text, list_text, shape_text, string_text};
pub use selection::{SelectedKernel, SelectedLine, SelectedValue, Selection, SelectionError};
pub use text::{TextField, TextKind, TextValue, parse_message};
pub use wire_text::{func_text, tensor_text};
