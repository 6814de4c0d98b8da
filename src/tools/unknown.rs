//! What a graph has that the linked ops do not know: attrs beside those of an op's declaration.

use std::fmt::Write as _;

use crate::error::shortened;
use crate::proto::{GraphDef, NodeDef};
use crate::registry::{Registry, did_you_mean};

/// So many are told.
const MOST: usize = 10;

/// The attrs of nodes that their ops do not have, a line each: a graph runs without them, and means something else if they
/// are misspelt. Those that begin with `_` are notes for a runtime.
pub fn unknown_attrs(def: &GraphDef, registry: &Registry) -> Vec<String> {
    let functions = def.library.iter().flat_map(|library| &library.function);
    let nodes = def.node.iter().chain(functions.flat_map(|function| &function.node_def));
    let mut unknown = nodes.flat_map(|node| of_node(node, registry));
    let mut lines: Vec<String> = unknown.by_ref().take(MOST).collect();
    let more = unknown.count();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn of_node<'n>(node: &'n NodeDef, registry: &Registry) -> impl Iterator<Item = String> + use<'n> {
    let entry = registry.find_op(&node.op);
    let names = node.attr.keys().filter(|name| !name.starts_with('_'));
    names.filter_map(move |name| {
        let known = || entry.into_iter().flat_map(|entry| entry.def.attrs.iter()).map(|attr| &*attr.name);
        if entry.is_none() || known().any(|attr| attr == name) {
            return None;
        }
        let mut line = format!("op {} has no attr `{}`", shortened(&node.op), shortened(name));
        let _ = write!(line, " (node `{}`){}", shortened(&node.name), did_you_mean(name, known()));
        Some(line)
    })
}
