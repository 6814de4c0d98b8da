//! Editing a graph: changes that are noted first, checked as a whole, and made together or not at all.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Deref;

use super::budget::Budget;
use super::colocation::ends_of_chains;
use super::frames::{FrameFault, Frames, Passage};
use super::infer::Scope;
use super::renumber::{Renumbering, outputs};
use super::scope::{Applied, NodeRequest, OpScope};
use super::{Graph, Node, NodeClass, NodeId, Output};
use crate::attr::AttrValue;
use crate::error::{Error, Result};
use crate::sort::CompactSort as _;

/// Changes to a graph, which [`GraphPatch::apply`] makes together; if it fails, or the patch is dropped, the graph stays
/// as it was.
///
/// The patch is read as the graph itself, and ops are added to it by the same functions ([`OpScope`]): what is added may
/// use every output of the graph. Everything else is noted, and names nodes and outputs as the graph has them now. Nodes
/// that the patch adds keep the inputs that they were given, so that they can be put between an output and its users:
///
/// ```ignore
/// let mut patch = graph.patch();
/// let relu = ops::relu(&mut patch, x).build()?;
/// patch.replace_uses(x, relu);
/// let renumbering = patch.apply()?;
/// let relu = renumbering.output(relu);
/// ```
pub struct GraphPatch<'g> {
    graph: &'g mut Graph,
    /// How many nodes the graph had, and its next symbol.
    before: (usize, u64),
    beside: Option<NodeId>,
    /// For each added node, the node that it stands beside.
    origins: Vec<Option<NodeId>>,
    replaced: HashMap<Output, Output>,
    redirected: HashMap<NodeId, Vec<NodeId>>,
    inputs: HashMap<NodeId, Vec<Output>>,
    control_inputs: HashMap<NodeId, Vec<NodeId>>,
    removed: BTreeSet<NodeId>,
    /// For added nodes, the removed nodes whose names they take.
    named_after: HashMap<NodeId, NodeId>,
    kept: HashSet<Output>,
    fed: HashSet<Output>,
    /// The first call that contradicts an earlier one.
    fault: Option<Error>,
}

impl Graph {
    /// Begins to edit the graph.
    pub fn patch(&mut self) -> GraphPatch<'_> {
        let before = (self.nodes.len(), self.next_symbol);
        GraphPatch {
            graph: self,
            before,
            beside: None,
            origins: Vec::new(),
            replaced: HashMap::new(),
            redirected: HashMap::new(),
            inputs: HashMap::new(),
            control_inputs: HashMap::new(),
            removed: BTreeSet::new(),
            named_after: HashMap::new(),
            kept: HashSet::new(),
            fed: HashSet::new(),
            fault: None,
        }
    }
}

impl Deref for GraphPatch<'_> {
    type Target = Graph;

    /// The graph as it is, with the nodes that were added at its end.
    fn deref(&self) -> &Graph {
        self.graph
    }
}

impl OpScope for GraphPatch<'_> {
    type Output = Output;
    type Node = NodeId;

    /// Adds a node, as to a [`Graph`]. If it asks for no device, it takes that of the node that it stands
    /// [beside](GraphPatch::beside).
    #[track_caller]
    fn apply(&mut self, mut request: NodeRequest<'_, Output>) -> Result<Applied<Self>> {
        if let Some(beside) = self.beside {
            self.graph.check_node(beside).map_err(|error| error.context("the node to add another one beside"))?;
            if request.device.is_empty() {
                request.device.clone_from(&self.graph.node(beside).device);
            }
        }
        let Applied { node, outputs } = self.graph.apply(request)?;
        self.origins.resize(self.graph.nodes.len() - self.before.0, self.beside);
        Ok(Applied { node, outputs })
    }
}

impl GraphPatch<'_> {
    /// Nodes that are added from now on stand beside this one: they ask for its device, and a session whose placer has
    /// put it somewhere puts them there. If there is no such node, adding one fails.
    pub fn beside(&mut self, node: NodeId) -> &mut Self {
        self.beside = Some(node);
        self
    }

    /// Has all that uses `old` use `new` instead, but for nodes that the patch adds. `new` must have the dtype of `old` and
    /// a shape that agrees with what is known of the shape of `old`: it stands for the same values.
    pub fn replace_uses(&mut self, old: Output, new: Output) -> &mut Self {
        if self.replaced.insert(old, new).is_some_and(|other| other != new) {
            let name = self.describe(old.node);
            self.contradiction(format!("the uses of output {} of {name} are replaced twice", old.index));
        }
        self
    }

    /// Has all that waits for `old` by a control edge wait for all of `new` instead, but for nodes that the patch adds.
    pub fn redirect_controls(&mut self, old: NodeId, new: &[NodeId]) -> &mut Self {
        if self.redirected.insert(old, new.to_vec()).is_some_and(|other| other != new) {
            let message = format!("the control edges from {} are redirected twice", self.describe(old));
            self.contradiction(message);
        }
        self
    }

    /// Has a node that the patch adds take the place of `old`: its outputs those of `old`, position by position, its
    /// control edges and its name. `old` is removed.
    pub fn replace_node(&mut self, old: NodeId, new: NodeId) -> &mut Self {
        let count = self.graph.nodes.get(old.index()).map_or(0, |node| node.signature.outputs.len());
        for index in 0..count {
            self.replace_uses(Output { node: old, index }, Output { node: new, index });
        }
        self.redirect_controls(old, &[new]).remove_for(old, new)
    }

    /// Removes a node, whose name goes to one that the patch adds.
    pub(crate) fn remove_for(&mut self, old: NodeId, new: NodeId) -> &mut Self {
        self.named_after.insert(new, old);
        self.remove(old)
    }

    /// Gives a node of the graph these inputs, as they are: [`GraphPatch::replace_uses`] does not change them. What is
    /// known of shapes is inferred again from there.
    pub fn set_inputs(&mut self, node: NodeId, inputs: Vec<Output>) -> &mut Self {
        self.inputs.insert(node, inputs);
        self
    }

    /// Has a node of the graph wait for these nodes, as they are, and no others.
    pub fn set_control_inputs(&mut self, node: NodeId, mut nodes: Vec<NodeId>) -> &mut Self {
        nodes.compact_sort();
        nodes.dedup();
        self.control_inputs.insert(node, nodes);
        self
    }

    /// Removes a node. Nothing that stays may use it or wait for it. Nodes that ask to be on its device (`_class`) ask to be
    /// together.
    pub fn remove(&mut self, node: NodeId) -> &mut Self {
        self.removed.insert(node);
        self
    }

    /// Has the patch fail if it removes an output that is fetched, unless a node takes the place and the name.
    pub fn keep_fetch(&mut self, output: Output) -> &mut Self {
        self.kept.insert(output);
        self
    }

    /// Has the patch fail if it removes an output that is fed, or replaces its uses: the feed would not reach them.
    pub fn keep_feed(&mut self, output: Output) -> &mut Self {
        self.fed.insert(output);
        self
    }

    /// Takes back added nodes: only the first `length` nodes stay. Nothing that was noted may name the others.
    pub(crate) fn take_back(&mut self, length: usize) {
        self.graph.truncate(length.max(self.before.0));
        self.origins.truncate(self.graph.nodes.len() - self.before.0);
    }

    /// Whether the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        self.graph.nodes.len() == self.before.0
            && self.replaced.is_empty()
            && self.redirected.is_empty()
            && self.inputs.is_empty()
            && self.control_inputs.is_empty()
            && self.removed.is_empty()
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a node or output does not exist, dtypes or shapes do not fit, calls contradict each other, the
    /// graph would have a cycle that is no loop, or a node inputs from different frames; FAILED_PRECONDITION if something
    /// that is removed is used, fed or fetched, or a closure is adding nodes to the graph, whose ids must not change.
    /// Whatever it is, the graph stays as it was.
    pub fn apply(mut self) -> Result<Renumbering> {
        if !self.graph.contexts.is_empty() || !self.graph.dependencies.is_empty() {
            let message = "a graph cannot be edited by a closure that builds a function, branch or loop of it: edit the \
                           graph after that is built";
            return Err(Error::failed_precondition(message));
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.check_names()?;
        let (replaced, circle) = ends_of_chains(&self.replaced);
        if let Some(output) = circle {
            let name = self.graph.output_name(output);
            return Err(Error::invalid_argument(format!("the uses of `{name}` are replaced in a circle")));
        }
        let redirected = self.awaited()?;
        for (&old, &new) in &replaced {
            self.check_replacement(old, new)?;
        }
        let edits = self.edits(&replaced, &redirected)?;
        self.check_removed(&edits)?;
        let order = self.order(&edits)?;
        self.check_frames(&edits, &order)?;
        self.commit(edits, &order, &replaced, &redirected)
    }

    fn contradiction(&mut self, message: String) {
        self.fault.get_or_insert_with(|| Error::invalid_argument(message));
    }

    /// A node by its name, also one that does not exist.
    fn describe(&self, id: NodeId) -> String {
        match self.graph.nodes.get(id.index()).filter(|_| self.graph.has(id)) {
            Some(node) => format!("`{}`", node.name),
            None => format!("node {}", id.index()),
        }
    }

    /// Checks that everything that was named exists, and that what changes is of the graph and not of the patch.
    fn check_names(&self) -> Result<()> {
        let own = self.before.0;
        let changed = self.replaced.keys().map(|output| output.node).chain(self.redirected.keys().copied());
        let changed = changed.chain(self.inputs.keys().chain(self.control_inputs.keys()).copied());
        if let Some(id) =
            changed.chain(self.removed.iter().copied()).find(|&id| id.index() >= own || !self.graph.has(id))
        {
            self.graph.check_node(id).map_err(|error| error.context("a node that the patch changes"))?;
            let what = self.describe(id);
            return Err(Error::invalid_argument(format!("{what} is no node of the graph that the patch changes")));
        }
        if let Some((&new, &old)) = self.named_after.iter().find(|(new, _)| new.index() < own || !self.graph.has(**new))
        {
            let (new, old) = (self.describe(new), self.describe(old));
            let message = format!("{new} cannot take the name of {old}: the patch does not add it; use replace_uses");
            return Err(Error::invalid_argument(message));
        }
        let outputs = self.replaced.iter().flat_map(|(old, new)| [old, new]);
        let outputs = outputs.chain(self.inputs.values().flatten()).chain(&self.kept).chain(&self.fed);
        for &output in outputs {
            self.graph.check_output(output).map_err(|error| error.context("an output that the patch names"))?;
        }
        let mut awaited = self.redirected.values().chain(self.control_inputs.values()).flatten();
        awaited.try_for_each(|&id| self.graph.check_node(id)).map_err(|error| error.context("a node to wait for"))
    }

    /// What is waited for in the end, for each node from which control edges are redirected.
    fn awaited(&self) -> Result<HashMap<NodeId, Vec<NodeId>>> {
        let mut awaited: HashMap<NodeId, Vec<NodeId>> = HashMap::with_capacity(self.redirected.len());
        let mut begun: HashSet<NodeId> = HashSet::new();
        for &root in self.redirected.keys() {
            let mut path = vec![root];
            while let Some(&id) = path.last() {
                let Some(next) = self.redirected.get(&id).filter(|_| !awaited.contains_key(&id)) else {
                    path.pop();
                    continue;
                };
                if begun.insert(id) {
                    // What is begun and not done led here.
                    let open = |id: &&NodeId| self.redirected.contains_key(id) && !awaited.contains_key(id);
                    for &next in next.iter().filter(open) {
                        if begun.contains(&next) {
                            let name = self.describe(next);
                            let message = format!("the control edges from {name} are redirected in a circle");
                            return Err(Error::invalid_argument(message));
                        }
                        path.push(next);
                    }
                    continue;
                }
                let ends = next.iter().flat_map(|id| awaited.get(id).map_or(std::slice::from_ref(id), Vec::as_slice));
                let ends: BTreeSet<NodeId> = ends.copied().collect();
                awaited.insert(id, ends.into_iter().collect());
            }
        }
        Ok(awaited)
    }

    fn check_replacement(&self, old: Output, new: Output) -> Result<()> {
        let name = |output| self.graph.output_name(output);
        if self.fed.contains(&old) {
            let message = format!("`{}` is fed, and its uses cannot be replaced", name(old));
            return Err(Error::failed_precondition(message));
        }
        let (Some(was), Some(is)) = (self.graph.slot(old), self.graph.slot(new)) else { return Ok(()) };
        if was.dtype != is.dtype {
            let (old, new) = (name(old), name(new));
            let message = format!("`{new}`, which is {}, cannot replace `{old}`, which is {}", is.dtype, was.dtype);
            return Err(Error::invalid_argument(message));
        }
        let (was, is) = (self.graph.shape(old), self.graph.shape(new));
        if !was.is_compatible(is) {
            let (old, new) = (name(old), name(new));
            let message = format!("`{new}` of shape {is} cannot replace `{old}` of shape {was}");
            return Err(Error::invalid_argument(message));
        }
        Ok(())
    }

    /// The nodes of the graph whose edges change, with their new ones.
    fn edits(
        &self,
        replaced: &HashMap<Output, Output>,
        redirected: &HashMap<NodeId, Vec<NodeId>>,
    ) -> Result<HashMap<NodeId, Edges>> {
        let mut edits = HashMap::new();
        for id in self.graph.ids().take(self.before.0).filter(|id| !self.removed.contains(id)) {
            let node = self.graph.node(id);
            let is_replaced = node.inputs.iter().any(|input| replaced.contains_key(input));
            let is_redirected = node.control_inputs.iter().any(|control| redirected.contains_key(control));
            let (inputs, controls) = (self.inputs.get(&id), self.control_inputs.get(&id));
            if !is_replaced && !is_redirected && inputs.is_none() && controls.is_none() {
                continue;
            }
            let used = |input: &Output| *replaced.get(input).unwrap_or(input);
            let inputs = inputs.cloned().unwrap_or_else(|| node.inputs.iter().map(used).collect());
            let controls = controls.cloned().unwrap_or_else(|| {
                let awaited = node.control_inputs.iter().flat_map(|control| match redirected.get(control) {
                    Some(nodes) => nodes.as_slice(),
                    None => std::slice::from_ref(control),
                });
                let awaited: BTreeSet<NodeId> = awaited.copied().collect();
                awaited.into_iter().collect()
            });
            let context = |error: Error| error.at_node(&node.name, &node.op.def.name, &node.device);
            self.graph.check_inputs(node.op.def, node.class, &node.signature, &inputs).map_err(context)?;
            edits.insert(id, Edges { inputs, controls });
        }
        Ok(edits)
    }

    /// Refuses to remove what is used, fed or fetched.
    fn check_removed(&self, edits: &HashMap<NodeId, Edges>) -> Result<()> {
        for id in self.live() {
            let (inputs, controls) = self.edges(edits, id);
            let mut sources = inputs.iter().map(|input| input.node).chain(controls.iter().copied());
            if let Some(source) = sources.find(|source| self.removed.contains(source)) {
                let (user, source) = (self.describe(id), self.describe(source));
                let message = format!("{user} uses or waits for {source}, which the patch removes");
                return Err(Error::failed_precondition(message));
            }
        }
        let heirs: HashMap<NodeId, NodeId> = self.named_after.iter().map(|(&new, &old)| (old, new)).collect();
        let takes_over = |output: &Output| {
            heirs.get(&output.node).is_some_and(|&node| self.graph.slot(Output { node, ..*output }).is_some())
        };
        let fetched = self.kept.iter().filter(|output| !takes_over(output));
        match fetched.chain(&self.fed).find(|output| self.removed.contains(&output.node)) {
            Some(output) => {
                let name = self.graph.output_name(*output);
                Err(Error::failed_precondition(format!("`{name}` is fed or fetched, and the patch removes it")))
            }
            None => Ok(()),
        }
    }

    /// The nodes that stay and those that are added.
    fn live(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.graph.ids().filter(|id| !self.removed.contains(id))
    }

    fn edges<'a>(&'a self, edits: &'a HashMap<NodeId, Edges>, id: NodeId) -> (&'a [Output], &'a [NodeId]) {
        match edits.get(&id) {
            Some(edges) => (&edges.inputs, &edges.controls),
            None => {
                let node = self.graph.node(id);
                (&node.inputs, &node.control_inputs)
            }
        }
    }

    /// The nodes that a node must come after.
    fn sources<'a>(&'a self, edits: &'a HashMap<NodeId, Edges>, id: NodeId) -> impl Iterator<Item = NodeId> + 'a {
        let (inputs, controls) = self.edges(edits, id);
        let closes_loops = self.graph.node(id).class == NodeClass::Merge;
        let goes_back =
            move |source: &NodeId| closes_loops && self.graph.node(*source).class == NodeClass::NextIteration;
        inputs.iter().map(|input| input.node).filter(move |source| !goes_back(source)).chain(controls.iter().copied())
    }

    /// The nodes in their order, but that what a node needs and stands behind it is brought before it, in its order too.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none, with a cycle.
    fn order(&self, edits: &HashMap<NodeId, Edges>) -> Result<Vec<NodeId>> {
        if self.live().all(|id| self.sources(edits, id).all(|source| source < id)) {
            return Ok(self.live().collect());
        }
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        // The last is taken first.
        let sources = |id: NodeId| {
            let mut sources: Vec<NodeId> = self.sources(edits, id).collect();
            sources.compact_sort_by_key(|&source| Reverse(source));
            sources
        };
        let mut marks = vec![Mark::New; self.graph.nodes.len()];
        let mut order = Vec::with_capacity(marks.len());
        let mut path: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        for root in self.live() {
            if marks[root.index()] == Mark::New {
                marks[root.index()] = Mark::Open;
                path.push((root, sources(root)));
            }
            while let Some((id, open)) = path.last_mut() {
                let Some(source) = open.pop() else {
                    marks[id.index()] = Mark::Done;
                    order.push(*id);
                    path.pop();
                    continue;
                };
                match marks[source.index()] {
                    Mark::Done => {}
                    Mark::New => {
                        marks[source.index()] = Mark::Open;
                        path.push((source, sources(source)));
                    }
                    Mark::Open => {
                        let start = path.iter().position(|(id, _)| *id == source).unwrap_or(0);
                        let names: Vec<_> = path[start..].iter().map(|(id, _)| self.describe(*id)).collect();
                        let message = format!("the patch makes a cycle: {}", names.join(" needs "));
                        return Err(Error::invalid_argument(message));
                    }
                }
            }
        }
        Ok(order)
    }

    /// Checks that all nodes are in the loops that their inputs are in. What is at fault without the patch is let be.
    fn check_frames(&self, edits: &HashMap<NodeId, Edges>, order: &[NodeId]) -> Result<()> {
        if !self.graph.nodes.iter().any(|node| node.class == NodeClass::Enter) {
            return Ok(());
        }
        let Err(fault) = self.frames(edits, order) else { return Ok(()) };
        let before: Vec<NodeId> = self.graph.ids().take(self.before.0).collect();
        if self.frames(&HashMap::new(), &before).is_err() {
            return Ok(());
        }
        let name = |index: usize| self.describe(self.graph.id_at(index));
        Err(Error::invalid_argument(match fault {
            FrameFault::Different { node, inputs: [(first, _), (other, _)] } => {
                let (node, first, other) = (name(node), name(first), name(other));
                format!("the patch gives {node} inputs from different frames: {first} and {other}")
            }
            FrameFault::NoLoop { node } => {
                format!("the patch has {} leave an iteration of a loop without being in one", name(node))
            }
        }))
    }

    fn frames(&self, edits: &HashMap<NodeId, Edges>, order: &[NodeId]) -> Result<Frames<'_>, FrameFault> {
        let sources = |index: usize| {
            let (inputs, controls) = self.edges(edits, self.graph.id_at(index));
            inputs.iter().map(|input| input.node).chain(controls.iter().copied()).map(NodeId::index)
        };
        let passage = |index: usize| {
            let node = &self.graph.nodes[index];
            match (node.class, node.attrs.get("frame_name")) {
                (NodeClass::Enter, Some(AttrValue::String(name))) => Passage::Enters(name.as_bytes()),
                (NodeClass::Exit, _) => Passage::Exits,
                (NodeClass::NextIteration, _) => Passage::GoesBack,
                (NodeClass::Constant, _) => Passage::Anywhere,
                _ => Passage::Stays,
            }
        };
        Frames::find(order.iter().map(|id| id.index()), self.graph.nodes.len(), sources, passage)
    }

    fn commit(
        mut self,
        edits: HashMap<NodeId, Edges>,
        order: &[NodeId],
        replaced: &HashMap<Output, Output>,
        redirected: &HashMap<NodeId, Vec<NodeId>>,
    ) -> Result<Renumbering> {
        let added = self.before.0..self.graph.nodes.len();
        let epochs = self.graph.epochs.clone();
        // What is inferred again may turn out not to fit.
        let backup = (!self.inputs.is_empty()).then(|| self.graph.clone());
        for (id, Edges { inputs, controls }) in edits {
            let node = &mut self.graph.nodes[id.index()];
            (node.inputs, node.control_inputs) = (inputs, controls);
        }
        for (new, old) in &self.named_after {
            let name = self.graph.node(*old).name.clone();
            self.graph.nodes[new.index()].name = name;
        }
        self.graph.recolocate(&self.removed, &self.named_after.values().copied().collect());
        let map = self.graph.retain(order)?;
        let changed: Vec<NodeId> = self.inputs.keys().filter_map(|id| map[id.index()]).collect();
        if let (Some(backup), Err(error)) = (backup, self.graph.infer_from(&changed)) {
            *self.graph = backup;
            return Err(error);
        }
        // There is nothing to take back.
        self.before.0 = self.graph.nodes.len();
        let moved = |id: NodeId| map[id.index()];
        let output = |output: Output| Some(Output { node: moved(output.node)?, ..output });
        let own = added.start;
        let origin = |index: usize| self.origins.get(index - own).copied().flatten();
        Ok(Renumbering {
            epochs,
            replaced: replaced.iter().filter_map(|(&old, &new)| Some((old, output(new)?))).collect(),
            redirected: redirected
                .iter()
                .map(|(&old, new)| (old, new.iter().filter_map(|&id| moved(id)).collect()))
                .collect(),
            added: added.filter_map(|index| Some((map[index]?, origin(index)))).collect(),
            nodes: map,
        })
    }
}

impl Drop for GraphPatch<'_> {
    fn drop(&mut self) {
        if self.graph.nodes.len() > self.before.0 {
            self.graph.truncate(self.before.0);
            self.graph.next_symbol = self.before.1;
        }
    }
}

/// The edges to a node.
struct Edges {
    inputs: Vec<Output>,
    controls: Vec<NodeId>,
}

impl Graph {
    /// Infers nodes again whose inputs changed, and all that depends on them.
    fn infer_from(&mut self, changed: &[NodeId]) -> Result<()> {
        let mut touched: HashSet<NodeId> = changed.iter().copied().collect();
        let budget = Budget::new();
        let scope = Scope::root(&budget);
        let mut symbols = self.next_symbol;
        for id in self.ids() {
            let node = self.node(id);
            if !touched.contains(&id) && !node.inputs.iter().any(|input| touched.contains(&input.node)) {
                continue;
            }
            let at = |node: &Node, error: Error| error.at_node(&node.name, &node.op.def.name, &node.device);
            let known = self.infer_again(id, &scope, &mut symbols).map_err(|error| at(node, error))?;
            touched.insert(id);
            outputs(self, id).zip(known).for_each(|(output, known)| self.note(output, known));
        }
        self.next_symbol = symbols;
        self.close_loops(&scope)
    }
}
