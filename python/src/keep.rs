//! What can keep a value beyond the call or the run that gives it: Python may change the memory of an array afterwards.

use std::collections::HashSet;

use kernlink::dtype::DataType;
use kernlink::graph::{Graph, Node, NodeId};
use kernlink::op::{ArgDef, ArgType, OpDef};

use crate::eager::CALLS;

/// Whether tensors of a dtype have other tensors in them or behind them.
pub(crate) fn holds(dtype: DataType) -> bool {
    matches!(dtype, DataType::Resource | DataType::Variant)
}

/// Whether an op has state, or takes or gives what holds tensors, whatever its attrs are.
pub(crate) fn can_keep(op: &OpDef) -> bool {
    op.is_stateful || op.inputs.iter().chain(&*op.outputs).any(|arg| arg.is_ref || is_holder(arg))
}

fn is_holder(arg: &ArgDef) -> bool {
    matches!(arg.ty, ArgType::Fixed(dtype) if holds(dtype))
}

/// The nodes of a graph whose outputs may come, through others, to one that can keep them.
pub(crate) fn kept(graph: &Graph) -> HashSet<NodeId> {
    let mut left: Vec<NodeId> = graph.ids().filter(|&id| node_keeps(graph, graph.node(id))).collect();
    let mut kept: HashSet<NodeId> = left.iter().copied().collect();
    while let Some(id) = left.pop() {
        left.extend(graph.node(id).inputs.iter().map(|input| input.node).filter(|&input| kept.insert(input)));
    }
    kept
}

fn node_keeps(graph: &Graph, node: &Node) -> bool {
    let op = node.op.def;
    if node.signature.inputs.iter().all(|input| holds(input.dtype)) {
        return false;
    }
    let gives_holders = node.signature.outputs.iter().any(|output| holds(output.dtype));
    if !CALLS.contains(&&*op.name) {
        return gives_holders || can_keep(op) || node.signature.inputs.iter().any(|input| holds(input.dtype));
    }
    // Calls take the resources of what they call, which may only read them.
    let names: Vec<&str> = node.attrs.functions().map(|function| function.name.as_str()).collect();
    gives_holders || graph.functions_called(&names).iter().any(|function| function_keeps(graph, function))
}

fn function_keeps(graph: &Graph, function: &str) -> bool {
    graph.function_ops(function).any(|name| match graph.registry().op(name) {
        Ok(op) => !CALLS.contains(&name) && can_keep(op.def) && op.def.inputs.iter().any(|input| !is_holder(input)),
        // What is called by its name is among the functions that are called.
        Err(_) => !graph.has_function(name),
    })
}
