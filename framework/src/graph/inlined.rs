//! What a node was called in the function from which it was taken, for errors and traces to say.

use super::Node;
use crate::attr::AttrValue;

/// Where a node was before its function's body was put in the place of a call.
#[derive(Clone, Copy)]
pub(crate) struct Inlined<'n> {
    /// Its name in the body.
    pub(crate) node: &'n str,
    pub(crate) function: &'n str,
}

impl<'n> Inlined<'n> {
    /// The attrs that say so: the node's and the function's name.
    pub(crate) const ATTRS: [&'static str; 2] = ["_inlined_node", "_inlined_function"];

    pub(crate) fn attrs(self) -> [(&'static str, AttrValue); 2] {
        let text = |text: &str| AttrValue::String(text.into());
        [(Self::ATTRS[0], text(self.node)), (Self::ATTRS[1], text(self.function))]
    }

    /// Where a node was; `None` for one that was always in its graph.
    pub(crate) fn of(node: &'n Node) -> Option<Inlined<'n>> {
        let [name, function] = Self::ATTRS.map(|attr| match node.attrs.get(attr) {
            Some(AttrValue::String(text)) => std::str::from_utf8(text.as_bytes()).ok(),
            _ => None,
        });
        Some(Inlined { node: name?, function: function? })
    }
}
