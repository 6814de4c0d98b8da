//! Under which conditions the nodes of a graph run: in which branches of TensorFlow 1 they are.

use std::rc::Rc;

use crate::graph::{Graph, NodeClass, NodeId, Output};

/// A value and which output of a `Switch` that it chooses.
type Condition = (Output, usize);

/// For each node, what must be chosen for it to run.
pub(super) struct Conditions {
    /// In order of the nodes; empty if the graph has no branches.
    of: Vec<Rc<[Condition]>>,
}

impl Conditions {
    pub(super) fn find(graph: &Graph) -> Conditions {
        if !graph.nodes().iter().any(|node| node.class.is_switch()) {
            return Conditions { of: Vec::new() };
        }
        let none: Rc<[Condition]> = Rc::new([]);
        let mut of: Vec<Rc<[Condition]>> = Vec::with_capacity(graph.nodes().len());
        for node in graph.nodes() {
            let mut conditions: Option<Rc<[Condition]>> = None;
            let controls = node.control_inputs.iter().map(|&node| Output { node, index: usize::MAX });
            // What leads back comes later.
            let sources = node.inputs.iter().copied().chain(controls).filter(|source| source.node.index() < of.len());
            for source in sources {
                let given = of_output(graph, &of, source);
                conditions = Some(match conditions {
                    None => given,
                    Some(known) if known == given => known,
                    // A merge runs if one of its inputs is there.
                    Some(known) if node.class == NodeClass::Merge => {
                        known.iter().filter(|condition| given.contains(condition)).copied().collect()
                    }
                    Some(known) => {
                        let more = given.iter().filter(|condition| !known.contains(condition));
                        known.iter().chain(more).copied().collect()
                    }
                });
            }
            of.push(conditions.unwrap_or_else(|| none.clone()));
        }
        Conditions { of }
    }

    /// Whether the node may not run.
    pub(super) fn has_any(&self, node: NodeId) -> bool {
        self.of.get(node.index()).is_some_and(|conditions| !conditions.is_empty())
    }

    /// Whether the output may not be there.
    pub(super) fn may_lack(&self, graph: &Graph, output: Output) -> bool {
        !self.of.is_empty() && (graph.node(output.node).class.is_switch() || self.has_any(output.node))
    }
}

fn of_output(graph: &Graph, of: &[Rc<[Condition]>], output: Output) -> Rc<[Condition]> {
    let own = &of[output.node.index()];
    let node = graph.node(output.node);
    match node.inputs.get(1) {
        Some(&chosen) if node.class.is_switch() && output.index != usize::MAX => {
            let condition = (chosen, output.index);
            own.iter().copied().chain([condition].into_iter().filter(|condition| !own.contains(condition))).collect()
        }
        _ => own.clone(),
    }
}
