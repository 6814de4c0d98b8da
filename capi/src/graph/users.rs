//! Who takes a node's outputs, and who waits for it.

use kernlink::graph::{Graph, NodeId};

/// An input that takes an output of a node.
pub(crate) struct Taker {
    /// Which output.
    pub(crate) output: u32,
    /// The position of the node that takes it.
    pub(crate) node: u32,
    /// Which of its inputs.
    pub(crate) input: u32,
}

/// The users of one node.
#[derive(Default)]
pub(crate) struct NodeUsers {
    /// The inputs that take its outputs.
    pub(crate) taking: Vec<Taker>,
    /// The positions of the nodes that wait for it.
    pub(crate) waiting: Vec<u32>,
}

/// The users of all nodes of a graph that only grows.
#[derive(Default)]
pub(crate) struct Users {
    nodes: Vec<NodeUsers>,
    none: NodeUsers,
}

impl Users {
    /// Notes what the nodes take and wait for that were added since the last call.
    pub(crate) fn follow(&mut self, graph: &Graph) {
        let known = self.nodes.len();
        self.nodes.resize_with(graph.nodes().len(), NodeUsers::default);
        for (position, node) in graph.nodes().iter().enumerate().skip(known) {
            for (input, output) in node.inputs.iter().enumerate() {
                if let Some(users) = self.nodes.get_mut(output.node.index()) {
                    let taker = Taker { output: output.index as u32, node: position as u32, input: input as u32 };
                    users.taking.push(taker);
                }
            }
            for control in &node.control_inputs {
                if let Some(users) = self.nodes.get_mut(control.index()) {
                    users.waiting.push(position as u32);
                }
            }
        }
    }

    /// The users of a node.
    pub(crate) fn of(&self, id: NodeId) -> &NodeUsers {
        self.nodes.get(id.index()).unwrap_or(&self.none)
    }
}
