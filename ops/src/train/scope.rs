//! Where one trains.

use kernlink::Result;
use kernlink::graph::{Graph, NodeId, OpScope, Output};
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor;

/// Where one trains: a [`Graph`], to which the nodes of a step are added once, or an [`EagerContext`], in which each step runs at
/// once.
pub trait TrainingScope: OpScope<Node: Clone> + Sized {
    /// The node of an output.
    fn node_of(output: &Self::Output) -> Self::Node;

    /// A name that nothing in the scope has yet.
    fn free_name(&mut self, base: &str) -> String;

    /// Has all that `build` adds run after some nodes.
    ///
    /// # Errors
    /// Those of `build`.
    fn after<R>(&mut self, nodes: Vec<Self::Node>, build: impl FnOnce(&mut Self) -> Result<R>) -> Result<R>;

    /// One node that stands for several: it runs when all have.
    ///
    /// # Errors
    /// NOT_FOUND if op NoOp or its kernel is missing.
    fn group(&mut self, nodes: Vec<Self::Node>, name: &str) -> Result<Self::Node> {
        let name = self.free_name(name);
        self.after(nodes, |scope| crate::no_op(scope).name(&name).build())
    }
}

impl TrainingScope for Graph {
    fn node_of(output: &Output) -> NodeId {
        output.node
    }

    fn free_name(&mut self, base: &str) -> String {
        Graph::free_name(self, base)
    }

    fn after<R>(&mut self, nodes: Vec<NodeId>, build: impl FnOnce(&mut Graph) -> Result<R>) -> Result<R> {
        self.control_dependencies(nodes, build)
    }
}

/// What comes later runs later.
impl TrainingScope for EagerContext {
    fn node_of(_output: &Tensor) {}

    fn free_name(&mut self, base: &str) -> String {
        base.to_owned()
    }

    fn after<R>(&mut self, _nodes: Vec<()>, build: impl FnOnce(&mut EagerContext) -> Result<R>) -> Result<R> {
        build(self)
    }
}
