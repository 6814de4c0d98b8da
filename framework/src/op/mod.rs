//! Ops: what a node of a graph may be. An [`OpDef`] states an op's inputs, outputs and attrs; `#[register_op]` makes
//! one from TensorFlow's spec strings when the crate is compiled, an [`OpDefBuilder`] while the program runs.

mod builder;
mod compatibility;
#[doc(hidden)]
pub mod constant;
mod def;
mod display;
mod doc;
mod signature;
mod typed;
mod validate;

pub use crate::attr::{AttrBase, AttrType, FromAttrValue};
pub use builder::OpDefBuilder;
pub use compatibility::{added_defaults_unchanged, attr_defaults_unchanged, broken_promises, op_def_compatible};
pub use def::{AllowedValues, ArgDef, ArgType, AttrDef, AttrDefault, Deprecation, List, OpDef, Str, find_op};
pub use signature::{InOutType, Signature, types_compatible};
pub use typed::{DeclaresOneOpOfEachName, InputArg, InputListArg, Op, OutputArg, OutputListArg};
pub(crate) use validate::{MISSING_OP, ValueFacts};
