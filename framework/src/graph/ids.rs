//! What nodes and their outputs are called by.

/// A node of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId {
    pub(super) position: u32,
    /// 0, but for nodes of a function's body while a closure builds it: an id that outlives its body names no node.
    pub(super) epoch: u32,
}

impl NodeId {
    /// That of the node in this place of a graph.
    pub(crate) fn at(position: usize) -> NodeId {
        NodeId { position: position as u32, epoch: 0 }
    }

    /// The position of the node in [`Graph::nodes`](super::Graph::nodes).
    pub fn index(self) -> usize {
        self.position as usize
    }
}

/// An output of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Output {
    /// The node.
    pub node: NodeId,
    /// Which of its outputs.
    pub index: usize,
}
