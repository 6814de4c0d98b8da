//! How attr types print: as op specs write them.

use std::fmt;

use super::{AttrBase, AttrType};

impl AttrBase {
    /// The word of the spec grammar, such as `int`.
    pub const fn name(self) -> &'static str {
        match self {
            AttrBase::String => "string",
            AttrBase::Int => "int",
            AttrBase::Float => "float",
            AttrBase::Bool => "bool",
            AttrBase::Type => "type",
            AttrBase::Shape => "shape",
            AttrBase::Tensor => "tensor",
            AttrBase::Func => "func",
        }
    }
}

impl AttrType {
    /// The type that `int` or `list(int)` names.
    pub fn from_name(text: &str) -> Option<AttrType> {
        let (list, word) = match text.strip_prefix("list(").and_then(|rest| rest.strip_suffix(')')) {
            Some(word) => (true, word),
            None => (false, text),
        };
        let base = match word {
            "string" => AttrBase::String,
            "int" => AttrBase::Int,
            "float" => AttrBase::Float,
            "bool" => AttrBase::Bool,
            "type" => AttrBase::Type,
            "shape" => AttrBase::Shape,
            "tensor" => AttrBase::Tensor,
            "func" => AttrBase::Func,
            _ => return None,
        };
        Some(AttrType { base, list })
    }
}

impl fmt::Display for AttrType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list { write!(f, "list({})", self.base.name()) } else { f.write_str(self.base.name()) }
    }
}
