//! What nodes and their outputs are called by.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use smallvec::SmallVec;

/// A node of a graph.
///
/// An id names one node of one graph, and the same node in clones of that graph. Where another graph gets it, or its own
/// graph after the node was removed or [renumbered](super::Renumbering), it names no node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId {
    pub(super) position: u32,
    /// Tells nodes apart that stand in the same place of different graphs, or at different times.
    pub(super) epoch: u32,
}

impl NodeId {
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

/// What can be waited for: a node, or the node of an output.
impl From<Output> for NodeId {
    fn from(output: Output) -> NodeId {
        output.node
    }
}

/// The epochs of a graph's nodes. Each epoch counts for the places from one on, and belongs to one graph and those that
/// were cloned from it.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// From which place on each epoch counts, in order.
    current: SmallVec<[(u32, u32); 1]>,
    /// Those of nodes that were removed, for messages.
    ended: Vec<u32>,
    /// Whether the next node begins an epoch.
    is_over: bool,
}

impl Clone for Epochs {
    /// Nodes that the clone adds, and those that the original adds, are different ones.
    fn clone(&self) -> Epochs {
        Epochs { current: self.current.clone(), ended: self.ended.clone(), is_over: true }
    }
}

impl Epochs {
    /// Ends the epochs from this place on: its nodes are removed, or nodes that are added there are others than before.
    pub(super) fn end(&mut self, from: usize) {
        let kept = self.current.partition_point(|(first, _)| (*first as usize) < from);
        self.ended.extend(self.current.drain(kept..).map(|(_, epoch)| epoch));
        self.is_over = true;
    }

    /// Makes sure that nodes from this place on, behind all others, have an epoch.
    pub(super) fn begin(&mut self, from: usize) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if self.is_over || self.current.is_empty() {
            self.end(from);
            self.current.push((from as u32, NEXT.fetch_add(1, Ordering::Relaxed)));
            self.is_over = false;
        }
    }

    /// The id of the node in this place.
    pub(super) fn id(&self, position: usize) -> NodeId {
        id_in(&self.current, position)
    }

    /// The ids of the nodes at these places.
    pub(super) fn ids(&self, places: Range<usize>) -> impl Iterator<Item = NodeId> + use<> {
        let current = self.current.clone();
        places.map(move |position| id_in(&current, position))
    }

    /// Whether the node with this id can only be of another graph.
    pub(super) fn is_foreign(&self, id: NodeId) -> bool {
        !self.ended.contains(&id.epoch) && self.current.iter().all(|(_, epoch)| *epoch != id.epoch)
    }
}

#[inline]
fn id_in(epochs: &[(u32, u32)], position: usize) -> NodeId {
    let position = position as u32;
    let epoch = match epochs {
        [(_, epoch)] => *epoch,
        _ => {
            let after = epochs.partition_point(|(first, _)| *first <= position);
            after.checked_sub(1).map_or(u32::MAX, |index| epochs[index].1)
        }
    };
    NodeId { position, epoch }
}
