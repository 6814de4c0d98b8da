//! Ops: what a node of a graph may be. An [`OpDef`] states an op's inputs, outputs and attrs; `#[register_op]` makes
//! one from TensorFlow's spec strings when the crate is compiled.

mod def;
mod display;
mod signature;
mod typed;

pub use def::{
    AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrDefault, AttrType, Deprecation, List, OpDef, Str,
};
pub use signature::{InOutType, Signature};
pub use typed::{FromAttrValue, InputArg, InputListArg, Op, OutputArg, OutputListArg};
