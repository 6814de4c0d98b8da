//! Which inputs of which ops a gradient flows through.

use std::collections::BTreeSet;

use kernlink::gradient::find_gradient;
use kernlink::graph::{Graph, NodeId, Output};
use kernlink::op::{ArgDef, OpDef};
use kernlink::prelude::DataType;

use super::differences::Precision;

/// An input of a node that a gradient flows through.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Step {
    pub(super) node: NodeId,
    /// The position of the op's argument.
    pub(super) argument: usize,
    pub(super) from: Output,
}

/// Whether gradients flow through tensors of this dtype.
pub(super) fn is_trainable(dtype: DataType) -> bool {
    dtype.is_floating() || dtype.is_complex() || matches!(dtype, DataType::Resource | DataType::Variant)
}

/// All such inputs from `x` to the `ys`, but for those, by their op and argument, that let nothing through.
pub(super) fn steps(
    graph: &Graph,
    x: Output,
    ys: &[Output],
    is_cut: impl Fn(&OpDef, &ArgDef) -> bool,
) -> BTreeSet<Step> {
    let nodes = graph.nodes();
    let lets_through = |id: NodeId| {
        let found = find_gradient(&graph.node(id).op.def.name);
        found.is_none_or(|gradient| gradient.differentiation.is_some())
    };
    let can_flow = |output: Output| is_trainable(graph.node(output.node).signature.outputs[output.index].dtype);
    let flows_on = |id: NodeId, reached: &[bool]| -> Vec<Step> {
        let node = graph.node(id);
        let arguments = node.op.def.inputs.iter().zip(&node.signature.input_ranges).enumerate();
        let open = arguments.filter(|(_, (argument, _))| !is_cut(node.op.def, argument));
        let steps = open.flat_map(|(argument, (_, range))| {
            node.inputs[range.clone()].iter().map(move |&from| Step { node: id, argument, from })
        });
        // Other outputs of the node of `x` are none of its users.
        let is_reached = |from: Output| if from.node == x.node { from == x } else { reached[from.node.index()] };
        steps.filter(|step| is_reached(step.from) && can_flow(step.from)).collect()
    };
    let mut reached = vec![false; nodes.len()];
    reached[x.node.index()] = true;
    for id in graph.ids().filter(|id| lets_through(*id)) {
        reached[id.index()] |= !flows_on(id, &reached).is_empty();
    }
    let mut needed = vec![false; nodes.len()];
    ys.iter().for_each(|y| needed[y.node.index()] = true);
    let mut found = BTreeSet::new();
    for id in graph.ids().collect::<Vec<_>>().into_iter().rev() {
        if needed[id.index()] && reached[id.index()] && id != x.node && lets_through(id) {
            let steps = flows_on(id, &reached);
            steps.iter().for_each(|step| needed[step.from.node.index()] = true);
            found.extend(steps);
        }
    }
    found
}

/// What the dtypes on the way let differences tell; `None` if something is too short.
pub(super) fn precision(graph: &Graph, steps: &BTreeSet<Step>) -> Option<Precision> {
    let mut found = Precision::Double;
    for step in steps {
        let node = graph.node(step.node);
        let name = &*node.op.def.name;
        let argument = &*node.op.def.inputs[step.argument].name;
        // What orders the uses of an array is a float without a value.
        let orders = |argument: &str| name.starts_with("TensorArray") && argument.starts_with("flow");
        let outputs = node.signature.output_ranges.iter().zip(node.op.def.outputs.iter());
        let results = outputs.filter(|(_, result)| !orders(&result.name)).flat_map(|(range, _)| range.clone());
        let own = (!orders(argument)).then(|| graph.node(step.from.node).signature.outputs[step.from.index].dtype);
        for dtype in results.map(|index| node.signature.outputs[index].dtype).chain(own) {
            match dtype {
                DataType::Float | DataType::Complex64 => found = Precision::Float,
                DataType::Double | DataType::Complex128 => {}
                dtype if dtype.is_floating() => return None,
                _ => {}
            }
        }
    }
    Some(found)
}
