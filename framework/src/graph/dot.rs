//! A graph in Graphviz's DOT language.

use std::fmt::Write;

use super::NodeClass;
use crate::proto::{GraphDef, NodeDef};

/// The graph as DOT: a box a node, solid edges for tensors, dashed ones for control. Const nodes and their edges are
/// left out.
pub fn to_dot(def: &GraphDef) -> String {
    let mut text = String::from("digraph graph_def {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    let constants: std::collections::HashSet<&str> =
        def.node.iter().filter(|node| is_constant(node)).map(|node| node.name.as_str()).collect();
    for node in def.node.iter().filter(|node| !is_constant(node)) {
        let _ = writeln!(text, "  {} [label={}];", quote(&node.name), quote(&format!("{}\n{}", node.op, node.name)));
        for input in &node.input {
            let (source, style) = match input.strip_prefix('^') {
                Some(control) => (control, " [style=dashed]"),
                None => (input.rsplit_once(':').map_or(input.as_str(), |(source, _)| source), ""),
            };
            if !constants.contains(source) {
                let _ = writeln!(text, "  {} -> {}{style};", quote(source), quote(&node.name));
            }
        }
    }
    text.push_str("}\n");
    text
}

fn is_constant(node: &NodeDef) -> bool {
    NodeClass::of(&node.op) == NodeClass::Constant
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
