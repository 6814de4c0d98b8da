//! What surrounds the nodes that a closure adds: a function's body, a branch, or a loop. Values from outside are brought
//! in when a node inside first takes them.
//!
//! Contexts nest. A node is inside a context if its id is not below the context's first one: nodes are only added at the
//! end. A body captures nothing while it is built: what its nodes take from outside becomes arguments when it is cut out
//! of the graph ([`Graph::trace`](super::Graph::trace)). Branches and loops stay in the graph, and the values are brought
//! in at once, through each surrounding context in turn.

use std::collections::HashMap;

use super::ids::{NodeId, Output};
use crate::attr::AttrMap;
use crate::op::OpDef;

/// The node that brings a value into a branch or loop.
#[derive(Clone)]
pub struct CaptureNode {
    /// Its op, which takes the value first.
    pub op: &'static OpDef,
    /// Its op where the value is a reference.
    pub ref_op: &'static OpDef,
    /// What it takes after the value.
    pub inputs: Vec<Output>,
    /// Its attrs, but for those that follow from the inputs.
    pub attrs: AttrMap,
    /// Which of its outputs the value is inside.
    pub output: usize,
}

/// A branch or a loop whose nodes stay in the graph.
#[derive(Clone)]
pub struct ControlFlowContext {
    pub(super) first: usize,
    pub(super) capture: CaptureNode,
    /// Runs when the inside does: nodes without inputs wait for it.
    pub(super) pivot: NodeId,
    /// The nodes by which a loop is entered; `None` for a branch.
    pub(super) entries: Option<Vec<NodeId>>,
    /// What was brought in, and what it is inside.
    pub(super) captured: HashMap<Output, Output>,
    /// The nodes that brought it in, in order.
    pub(super) captures: Vec<NodeId>,
}

/// One level of what surrounds the nodes that are being added.
#[derive(Clone)]
pub(super) enum Context {
    /// A function's body, from its first node on.
    Body {
        first: usize,
        /// The nodes outside that nodes of the body wait for.
        waits: Vec<NodeId>,
    },
    Surround(Box<ControlFlowContext>),
}

impl Context {
    pub(super) fn first(&self) -> usize {
        match self {
            Context::Body { first, .. } => *first,
            Context::Surround(context) => context.first,
        }
    }
}

/// Nodes for which those wait that are added from some node on.
#[derive(Clone)]
pub(super) struct Dependencies {
    pub(super) first: usize,
    pub(super) nodes: Vec<NodeId>,
}
