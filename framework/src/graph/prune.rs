//! Which nodes a run needs.

use std::collections::HashSet;

use super::{Graph, NodeId, Output};

impl Graph {
    /// The nodes that must run to compute `fetches` and run `targets` when `feeds` are given, inputs before their
    /// users.
    ///
    /// As in TensorFlow, feeding an output spares its node's run but for one exception: a node that is not a
    /// placeholder still runs where another one waits for it by a control input.
    pub fn needed(&self, feeds: &[Output], fetches: &[Output], targets: &[NodeId]) -> Vec<NodeId> {
        let fed: HashSet<Output> = feeds.iter().copied().collect();
        let fed_placeholders: HashSet<NodeId> =
            feeds.iter().map(|feed| feed.node).filter(|&id| self.is_placeholder(id)).collect();
        let mut needed = vec![false; self.nodes().len()];
        let mut stack: Vec<NodeId> = fetches.iter().filter(|fetch| !fed.contains(fetch)).map(|o| o.node).collect();
        stack.extend(targets);
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut needed[id.index()], true) {
                continue;
            }
            let node = self.node(id);
            stack.extend(node.inputs.iter().filter(|input| !fed.contains(input)).map(|input| input.node));
            stack.extend(node.control_inputs.iter().filter(|control| !fed_placeholders.contains(control)));
        }
        self.ids().filter(|id| needed[id.index()]).collect()
    }

    /// Whether a node only stands for a value that a run must feed.
    pub fn is_placeholder(&self, id: NodeId) -> bool {
        self.node(id).class.is_placeholder()
    }
}
