//! What a pass is, and what it is told of the run that the graph is for.

use crate::error::Result;
use crate::graph::{Created, Graph, GraphPatch, NodeId, Output};

/// A way to make a graph compute the same with less to do.
///
/// A pass holds no state. It never changes what a run gives: neither values nor errors of nodes that have effects, nor
/// which outputs can be fed and fetched, which [`Ends`] names.
pub trait Pass: Sync {
    /// The name by which the pass is switched off, such as `fuse-conv-bias`.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn summary(&self) -> &'static str;

    /// Whether there may be something to do in a graph, of which a run needs `nodes`. It looks at each node once at most:
    /// where no pass has anything to do, the graph is not copied.
    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool;

    /// Notes the changes in a patch of the graph, of which a run needs all nodes. Returns how many places it changes, of
    /// the kind that [`Pass::summary`] speaks of.
    ///
    /// # Errors
    /// Whatever keeps the graph from being run at all.
    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize>;

    /// Whether the result is a graph that TensorFlow runs too. A pass that leaves one which only Kernlink lays out does not
    /// run when a graph is optimised to be written.
    fn is_portable(&self) -> bool {
        true
    }

    /// The ops of which the pass may make nodes: a build for selected ops keeps these with those that they replace.
    fn creates(&self) -> &'static [Created] {
        &[]
    }
}

/// What goes into a graph and what comes out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ends {
    /// The outputs that are fed: what uses them takes the feed.
    pub feeds: Vec<Output>,
    /// The outputs that are computed.
    pub fetches: Vec<Output>,
    /// The nodes that run besides.
    pub targets: Vec<NodeId>,
    /// Whether the graph is written afterwards: feeds, fetches and targets keep their names, and only passes run whose
    /// results are [portable](Pass::is_portable).
    pub is_written: bool,
}

impl Ends {
    /// What a run is fed, and what it fetches and runs.
    pub fn new(feeds: Vec<Output>, fetches: Vec<Output>, targets: Vec<NodeId>) -> Ends {
        Ends { feeds, fetches, targets, is_written: false }
    }

    /// Whether an output is fed.
    pub fn is_fed(&self, output: Output) -> bool {
        self.feeds.contains(&output)
    }

    /// Whether an output is fetched.
    pub fn is_fetched(&self, output: Output) -> bool {
        self.fetches.contains(&output)
    }

    /// Whether something of a node is fed or fetched, or it is to run: what it computes is seen from outside.
    pub fn holds(&self, node: NodeId) -> bool {
        self.feeds.iter().chain(&self.fetches).any(|output| output.node == node) || self.targets.contains(&node)
    }
}
