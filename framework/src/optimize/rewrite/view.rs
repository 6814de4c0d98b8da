//! A graph as the rewrites so far leave it: what is used in the place of what, and by how many.

use std::cell::OnceCell;
use std::collections::HashMap;

use smallvec::SmallVec;

use crate::graph::{Graph, Node, NodeClass, NodeId, Output};
use crate::optimize::pass::Ends;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// The graph of a patch, with the replacements that were noted. Nodes are counted that a run needs, and those that were
/// added since.
pub(super) struct View<'g> {
    graph: &'g Graph,
    state: &'g State,
    ends: &'g Ends,
}

/// What is known besides the graph; kept while nodes are added.
pub(super) struct State {
    /// For each node, how often each of its outputs is used. Empty for nodes that no run needs.
    uses: Vec<SmallVec<[u32; 1]>>,
    /// For each node, how many wait for it.
    waits: Vec<u32>,
    /// What is used in the place of outputs.
    replaced: HashMap<Output, Output>,
    /// What is waited for in the place of nodes.
    redirected: HashMap<NodeId, Vec<NodeId>>,
    /// For each node, whether it or something that it depends on must not be left out: it has effects, may be dead, or
    /// takes a feed that is still to come.
    matters: Vec<bool>,
    /// For each node, what is certain of its shapes, once somebody asks.
    shapes: OnceCell<Vec<Vec<PartialShape>>>,
    is_partial: bool,
    /// Whether something in the graph may be dead, or in a loop.
    pub(super) has_flow: bool,
    pub(super) has_loops: bool,
}

impl<'g> View<'g> {
    pub(super) fn new(graph: &'g Graph, state: &'g State, ends: &'g Ends) -> View<'g> {
        View { graph, state, ends }
    }

    pub(super) fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// What is used in the place of an output.
    pub(super) fn used_for(&self, output: Output) -> Output {
        self.state.used_for(output)
    }

    pub(super) fn is_constant(&self, output: Output) -> bool {
        self.state.constant(self.graph, self.ends, output).is_some()
    }
}

impl State {
    pub(super) fn new(graph: &Graph, needed: &[NodeId], ends: &Ends) -> State {
        let mut state = State {
            uses: Vec::with_capacity(graph.nodes().len()),
            waits: Vec::with_capacity(graph.nodes().len()),
            replaced: HashMap::new(),
            redirected: HashMap::new(),
            matters: Vec::with_capacity(graph.nodes().len()),
            shapes: OnceCell::new(),
            is_partial: ends.is_partial,
            has_flow: graph.nodes().iter().any(|node| node.class.is_control_flow()),
            has_loops: graph.nodes().iter().any(|node| node.class == NodeClass::Enter),
        };
        graph.ids().for_each(|id| state.look(graph, id, ends));
        for &id in needed {
            let node = graph.node(id);
            node.inputs.iter().for_each(|&input| state.count(input, 1));
            node.control_inputs.iter().for_each(|control| state.waits[control.index()] += 1);
        }
        state
    }

    /// Learns of a node, in their order; its own inputs do not count as uses yet.
    fn look(&mut self, graph: &Graph, id: NodeId, ends: &Ends) {
        let node = graph.node(id);
        self.uses.push(SmallVec::from_elem(0, node.signature.outputs.len()));
        self.waits.push(0);
        let takes_feed = |output: &Output| self.is_partial && ends.is_fed(*output);
        // What goes back in a loop is not known yet; the node that takes it matters anyway.
        let known = |id: NodeId| self.matters.get(id.index()).copied().unwrap_or(true);
        let matters = node.op.def.is_stateful
            || node.class.is_control_flow()
            || node.class.is_call()
            || (self.is_partial && node.class.is_placeholder())
            || node.inputs.iter().any(|input| takes_feed(input) || known(input.node))
            || node.control_inputs.iter().any(|&control| known(control));
        self.matters.push(matters);
    }

    fn count(&mut self, output: Output, more: u32) {
        if let Some(uses) = self.uses[output.node.index()].get_mut(output.index) {
            *uses += more;
        }
    }

    pub(super) fn used_for(&self, output: Output) -> Output {
        self.replaced.get(&output).copied().unwrap_or(output)
    }

    /// The value of an output in every run, if it is a constant's.
    pub(super) fn constant<'g>(&self, graph: &'g Graph, ends: &Ends, output: Output) -> Option<&'g Tensor> {
        let node = graph.get(output.node)?;
        // One that waits may be dead.
        let is_certain = !ends.is_fed(output) && (node.control_inputs.is_empty() || !self.has_flow);
        is_certain.then(|| graph.constant(output)).flatten()
    }

    /// What is waited for in the place of a node.
    pub(super) fn awaited_for(&self, id: NodeId) -> Vec<NodeId> {
        self.redirected.get(&id).cloned().unwrap_or_else(|| vec![id])
    }

    /// How often an output is used.
    pub(super) fn uses(&self, output: Output) -> u32 {
        self.uses[output.node.index()].get(output.index).copied().unwrap_or(0)
    }

    /// How often the outputs of a node are used.
    pub(super) fn all_uses(&self, id: NodeId) -> u32 {
        self.uses[id.index()].iter().sum()
    }

    /// How many wait for a node.
    pub(super) fn waits(&self, id: NodeId) -> u32 {
        self.waits[id.index()]
    }

    /// Whether an output may be left out where nothing else needs it.
    pub(super) fn is_dispensable(&self, output: Output, ends: &Ends) -> bool {
        !(self.matters[output.node.index()] || self.is_partial && ends.is_fed(output))
    }

    /// What is certain of the shape of an output, whatever is fed.
    pub(super) fn shape(&self, graph: &Graph, ends: &Ends, output: Output) -> PartialShape {
        let is_open = |id: NodeId, node: &Node| {
            node.class.is_placeholder()
                || node.class == NodeClass::PlaceholderWithDefault
                || node.op.def.is_stateful
                || ends.feeds_some_of(id)
        };
        // Nodes that a rewrite has just added may be taken back, and others get their ids.
        let certain = || graph.certain_shapes(is_open).into_iter().take(self.uses.len()).collect();
        let shapes: &Vec<Vec<PartialShape>> = self.shapes.get_or_init(certain);
        let shape = shapes.get(output.node.index()).and_then(|shapes| shapes.get(output.index));
        shape.cloned().unwrap_or_else(PartialShape::unknown)
    }

    /// Takes in nodes that were added behind those that are known.
    pub(super) fn learn(&mut self, graph: &Graph, ends: &Ends) {
        for id in (self.uses.len()..graph.nodes().len()).map(|position| graph.id_at(position)) {
            self.look(graph, id, ends);
            graph.node(id).inputs.iter().for_each(|&input| self.count(input, 1));
            graph.node(id).control_inputs.iter().for_each(|control| self.waits[control.index()] += 1);
        }
    }

    /// Notes that other outputs are used in the place of those of a node, and others waited for, and forgets what nobody
    /// uses any more.
    pub(super) fn replace(
        &mut self,
        graph: &Graph,
        ends: &Ends,
        old: NodeId,
        outputs: &[(Output, Output)],
        awaited: Option<Vec<NodeId>>,
    ) {
        for &(from, to) in outputs {
            let count = std::mem::take(&mut self.uses[from.node.index()][from.index]);
            self.count(to, count);
            self.replaced.insert(from, to);
        }
        if let Some(awaited) = awaited {
            let count = std::mem::take(&mut self.waits[old.index()]);
            awaited.iter().for_each(|id| self.waits[id.index()] += count);
            self.redirected.insert(old, awaited);
        }
        let mut unused = vec![old];
        while let Some(id) = unused.pop() {
            let node = graph.node(id);
            let mut release = |state: &State, id: NodeId| {
                let is_unused = state.all_uses(id) == 0 && state.waits(id) == 0;
                if is_unused && (!ends.holds(id) || state.is_replaced(id)) {
                    unused.push(id);
                }
            };
            for input in &node.inputs {
                let input = self.used_for(*input);
                if let Some(uses) = self.uses[input.node.index()].get_mut(input.index).filter(|uses| **uses > 0) {
                    *uses -= 1;
                    release(self, input.node);
                }
            }
            for control in &node.control_inputs {
                for control in self.awaited_for(*control) {
                    if self.waits[control.index()] > 0 {
                        self.waits[control.index()] -= 1;
                        release(self, control);
                    }
                }
            }
        }
    }

    /// Whether the outputs of a node were replaced.
    fn is_replaced(&self, id: NodeId) -> bool {
        self.replaced.contains_key(&Output { node: id, index: 0 })
    }
}
