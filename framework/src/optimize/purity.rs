//! What nodes do beside computing their outputs: whether a pass may compute them once, early or not at all.

use std::collections::HashMap;

use crate::attr::AttrValue;
use crate::dtype::DataType;
use crate::graph::{Graph, Node, NodeClass, Output, created};

/// Finds pure nodes, and asks once for each op what kernels it has.
#[derive(Default)]
pub(super) struct Purity {
    /// By the address of the op's entry.
    standard: HashMap<usize, bool>,
}

impl Purity {
    /// As [`is_pure`].
    pub(super) fn is_pure(&mut self, graph: &Graph, node: &Node) -> bool {
        if node.attrs.get("_kernel").is_some() {
            return is_pure(graph, node);
        }
        let key = std::ptr::from_ref(node.op).addr();
        may_be_pure(graph, node) && *self.standard.entry(key).or_insert_with(|| graph.has_standard_kernels(node))
    }
}

/// Whether a node computes the same of the same inputs whenever it runs, and does nothing else. So do stateless ops of the
/// crate that declares `Const` with kernels of its crate: what a user's op or kernel does is unknown. Nodes that call
/// functions, take references or control what is alive are not looked into, and count as impure.
pub(super) fn is_pure(graph: &Graph, node: &Node) -> bool {
    may_be_pure(graph, node) && graph.has_standard_kernels(node)
}

/// Whether a node is pure if its kernels are standard.
fn may_be_pure(graph: &Graph, node: &Node) -> bool {
    let op = node.op.def;
    let plain = match node.class {
        NodeClass::Missing
        | NodeClass::NoOp
        | NodeClass::LoopCond
        | NodeClass::Placeholder
        | NodeClass::PlaceholderWithDefault
        | NodeClass::Arg
        | NodeClass::Retval
        | NodeClass::Send
        | NodeClass::Recv
        | NodeClass::Variable
        | NodeClass::VarHandle
        | NodeClass::ReadVariable
        | NodeClass::AssignVariable
        | NodeClass::VariableShape
        | NodeClass::ReadsFiles => false,
        class => !class.is_call() && !class.is_control_flow(),
    };
    plain
        && !op.is_stateful
        && !op.is_distributed_communication
        // What is kept under a name is kept between runs.
        && !op.attrs.iter().any(|attr| attr.name == "shared_name")
        && !node.attrs.iter().any(|(_, value)| matches!(value, AttrValue::Func(_) | AttrValue::ListFunc(_)))
        && node.signature.inputs.iter().chain(&node.signature.outputs).all(|slot| is_plain(slot.is_ref, slot.dtype))
        && is_standard(graph, node)
}

/// Whether what goes over an edge is a value: neither a reference nor what stands for something else.
fn is_plain(is_ref: bool, dtype: DataType) -> bool {
    !is_ref && !matches!(dtype, DataType::Resource | DataType::Variant)
}

/// Whether an op is of the crate that declares `Const`.
fn is_standard(graph: &Graph, node: &Node) -> bool {
    let standard = graph.registry().op(created::CONSTANT);
    standard.is_ok_and(|standard| std::ptr::eq(standard.provider, node.op.provider))
}

/// Whether something beside the outputs may come of a run of the node, so that it must run if it would have: it changes a
/// state, or goes on from where its last run ended. What only reads a variable or gives its handle has no effects.
pub(super) fn has_effects(graph: &Graph, node: &Node) -> bool {
    let reads = matches!(
        node.class,
        NodeClass::Variable | NodeClass::VarHandle | NodeClass::ReadVariable | NodeClass::VariableShape
    );
    match node.class.is_call() {
        true => node.attrs.functions().any(|function| graph.function_acts(&function.name)),
        false => node.op.def.is_stateful && !reads,
    }
}

/// The outputs of a node.
pub(super) fn outputs(graph: &Graph, node: crate::graph::NodeId) -> impl Iterator<Item = Output> + use<> {
    (0..graph.node(node).signature.outputs.len()).map(move |index| Output { node, index })
}
