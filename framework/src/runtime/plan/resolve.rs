//! The first step: which nodes a plan has, and what each takes. What an input is does not depend on where it is yet.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::context::{Context, Made, ToMake, called};
use super::draft::{Act, Draft, Drafts};
use super::layout::Source;
use crate::attr::AttrValue;
use crate::error::{Code, Error, Result};
use crate::graph::{Graph, Node, NodeClass, NodeId, Output};
use crate::kernel::NodeMemory;
use crate::optimize::Ends;
use crate::registry::NodeQuery;
use crate::runtime::index::{FeedIndex, Handle, NodeIndex, Table, kind};
use crate::sort::CompactSort as _;
use crate::step::lock;
use crate::tensor::Tensor;

/// How many missing kernels an error names.
const SHOWN: usize = 50;

/// Constants of so many bytes take long to pack.
const LARGE: usize = 64 * 1024;

/// Resolves the nodes that a run needs, inputs before their users. If it is partial, feeds and fetches are nodes, too.
///
/// # Errors
/// NOT_FOUND if nodes have no kernel, all in one error; INVALID_ARGUMENT if a node would change a variable in whose place
/// something is fed; whatever the construction of a kernel meets.
pub(super) fn resolve(context: &Context<'_>, needed: &[NodeId], ends: &Ends) -> Result<Drafts> {
    ensure_no_fed_references(context, needed, ends)?;
    let mut resolver = Resolver {
        context,
        feeds: ends.feeds().iter().enumerate().map(|(i, &output)| (output, Handle::new(i))).collect(),
        sources: HashMap::new(),
        controls: HashMap::new(),
        drafts: Table::new(),
        constants: Table::new(),
        constant_nodes: Table::new(),
        late: Vec::new(),
        unmade: Vec::new(),
    };
    if ends.is_partial {
        resolver.feed_later(ends)?;
    }
    resolver.add_all(needed)?;
    resolver.close_loops();
    let mut fetches = Vec::new();
    if ends.is_partial {
        resolver.fetch_early(ends)?;
    } else {
        fetches.extend(ends.fetches().iter().filter_map(|&fetch| resolver.source(fetch)));
    }
    let Resolver { drafts, constants, constant_nodes, .. } = resolver;
    Ok(Drafts { nodes: drafts, constants, constant_nodes, fetches })
}

/// What is fed for a variable's reference is a value: who reads it can take that, who changes the variable cannot.
fn ensure_no_fed_references(context: &Context<'_>, needed: &[NodeId], ends: &Ends) -> Result<()> {
    let is_reference = |feed: &&Output| context.graph.node(feed.node).signature.outputs[feed.index].is_ref;
    let fed: Vec<Output> = ends.feeds().iter().filter(is_reference).copied().collect();
    if fed.is_empty() {
        return Ok(());
    }
    for &id in needed {
        let node = context.graph.node(id);
        for (index, (input, slot)) in node.inputs.iter().zip(&node.signature.inputs).enumerate() {
            if slot.is_ref && fed.contains(input) {
                let name = context.graph.output_name(*input);
                let message = format!(
                    "{} takes a variable, not the value that is fed for `{name}`",
                    node.signature.input_called(node.op.def, index)
                );
                return Err(context.at(Error::invalid_argument(message), id));
            }
        }
    }
    Ok(())
}

/// Whether a node's kernel keeps something between runs. A loop keeps what its functions keep.
fn keeps_state(graph: &Graph, node: &Node) -> bool {
    let is_stateful = |(_, value): (&str, &AttrValue)| match value {
        AttrValue::Func(function) => graph.is_stateful_function(&function.name),
        _ => false,
    };
    node.op.def.is_stateful && (node.class != NodeClass::While || node.attrs.iter().any(is_stateful))
}

pub(super) struct Resolver<'b> {
    pub(super) context: &'b Context<'b>,
    pub(super) feeds: HashMap<Output, FeedIndex>,
    /// What each output of a node that was added is.
    sources: HashMap<Output, Source>,
    /// The plan nodes that stand for a node as a control input.
    controls: HashMap<NodeId, Vec<NodeIndex>>,
    pub(super) drafts: Table<kind::Node, Draft>,
    pub(super) constants: Table<kind::Constant, Tensor>,
    /// The node of each constant.
    pub(super) constant_nodes: Table<kind::Constant, NodeId>,
    /// Inputs that come from nodes which are added later.
    late: Vec<LateInput>,
    /// Nodes whose kernels are still to be made.
    unmade: Vec<NodeIndex>,
}

/// An input that comes from a node which is added later.
struct LateInput {
    draft: NodeIndex,
    position: usize,
    output: Output,
}

impl Resolver<'_> {
    fn add_all(&mut self, needed: &[NodeId]) -> Result<()> {
        let mut missing = Vec::new();
        for &id in needed {
            if let Err(error) = self.add(id) {
                match error.code() {
                    Code::NotFound if error.node().is_none() => {
                        missing.push(error.message().to_owned());
                        // What uses it is looked at all the same, to name every missing kernel at once.
                        self.define_unknown(id);
                    }
                    _ => return Err(error),
                }
            }
        }
        self.make_rest(&mut missing)?;
        if missing.is_empty() {
            return Ok(());
        }
        let more = missing.len().saturating_sub(SHOWN);
        missing.truncate(SHOWN);
        if more > 0 {
            missing.push(format!("and {more} more nodes"));
        }
        Err(Error::not_found(missing.join("\n")))
    }

    /// Adds a node, unless it is a constant that waits for nothing: what uses it has it from the start.
    fn add(&mut self, id: NodeId) -> Result<()> {
        let node = self.context.graph.node(id);
        let mut late = Vec::new();
        let mut inputs: Vec<Source> = Vec::with_capacity(node.inputs.len());
        for (position, &input) in node.inputs.iter().enumerate() {
            inputs.push(self.source(input).unwrap_or_else(|| {
                late.push(LateInput { draft: Handle::NONE, position, output: input });
                Source::Node { node: Handle::NONE, output: 0 }
            }));
        }
        let mut controls: Vec<NodeIndex> =
            node.control_inputs.iter().filter_map(|control| self.controls.get(control)).flatten().copied().collect();
        controls.compact_sort();
        controls.dedup();
        let constant = self.context.graph.constant(Output { node: id, index: 0 });
        if let Some(value) = constant {
            let source = self.add_constant(id, value.clone());
            if controls.is_empty() {
                self.define(Output { node: id, index: 0 }, source);
                return Ok(());
            }
            inputs.push(source);
        }
        let mut memory = None;
        let act = match Act::of(node).map_err(|error| self.context.at(error, id))? {
            Some(act) => act,
            None if constant.is_some() => Act::Forward,
            None if self.is_made_later(node, &inputs) => {
                self.unmade.push(self.drafts.end());
                Act::Forward
            }
            None => {
                let kernel;
                (kernel, memory) = self.kernel(id, node, &inputs)?;
                Act::Kernel(kernel)
            }
        };
        let (device, slots) = match constant {
            None => (self.context.device_index(id), self.context.host_slots(id, node)?),
            // It is on the host until somebody wants it elsewhere.
            Some(_) => (self.context.places.host(self.context.device_index(id)), None),
        };
        if matches!(act, Act::Merge) {
            // What is there from the start arrives by an edge like all else, so that the merge runs once.
            for (index, source) in inputs.iter_mut().enumerate() {
                if matches!(source, Source::Constant(_) | Source::Feed(_)) {
                    let place = self.context.wanted_place(device, slots.as_deref(), index);
                    let node = self.drafts.push(Draft::of(id, Act::Forward, place, vec![*source], Vec::new()));
                    *source = Source::Node { node, output: 0 };
                }
            }
        }
        let position = self.drafts.push(Draft { memory, slots, ..Draft::of(id, act, device, inputs, controls) });
        for index in 0..node.signature.outputs.len() {
            self.define(Output { node: id, index }, Source::Node { node: position, output: index as u32 });
        }
        self.controls.insert(id, vec![position]);
        self.late.extend(late.into_iter().map(|input| LateInput { draft: position, ..input }));
        Ok(())
    }

    fn add_constant(&mut self, id: NodeId, value: Tensor) -> Source {
        self.constant_nodes.push(id);
        Source::Constant(self.constants.push(value))
    }

    /// Gives the outputs of a node without a kernel sources, of a plan that will not be.
    fn define_unknown(&mut self, id: NodeId) {
        for index in 0..self.context.graph.node(id).signature.outputs.len() {
            self.define(Output { node: id, index }, Source::Node { node: Handle::NONE, output: index as u32 });
        }
    }

    /// Says what an output is, unless a partial run feeds it: its node may run for the sake of another output.
    pub(super) fn define(&mut self, output: Output, source: Source) {
        self.sources.entry(output).or_insert(source);
    }

    /// What an output is; `None` if its node is still to come.
    pub(super) fn source(&self, output: Output) -> Option<Source> {
        match self.feeds.get(&output) {
            Some(&feed) => Some(Source::Feed(feed)),
            None => self.sources.get(&output).copied(),
        }
    }

    fn kernel(&self, id: NodeId, node: &Node, inputs: &[Source]) -> Result<Made> {
        let keeps_state = keeps_state(self.context.graph, node);
        // A node that a pass added is another one in each plan, and keeps nothing between them.
        let original = self.context.original(id).filter(|_| keeps_state);
        if let Some(kernel) = original.and_then(|id| lock(self.context.options.kernels).get(&id).cloned()) {
            let query = NodeQuery {
                node: &node.name,
                op: &node.op.def.name,
                attrs: &node.attrs,
                device: self.context.device(id).device_type(),
                capabilities: self.context.device(id).capabilities(),
            };
            let def = self.context.graph.registry().find_kernel(query)?;
            let memory = NodeMemory::of(def, node.op.def, &node.attrs, &node.signature);
            return Ok((kernel, memory.map(Box::new)));
        }
        // A stateful kernel outlives the plan, and in another plan the input may be fed.
        let constant = |source: &Source| match source {
            // The functions of a loop keep it, as the plan does; others make something of it.
            Source::Constant(index) if !keeps_state && node.class == NodeClass::While => {
                Some(self.constants[*index].clone())
            }
            Source::Constant(index) if !keeps_state => Some(self.constants[*index].for_once()),
            _ => None,
        };
        let constants: Vec<Option<Tensor>> = inputs.iter().map(constant).collect();
        let to_make = ToMake {
            name: called(node),
            op: node.op.def,
            attrs: &node.attrs,
            signature: &node.signature,
            device: self.context.device(id),
            id: Some(id),
        };
        let made = self.context.make_kernel(&to_make, &constants);
        let (kernel, memory) = made.map_err(|error| self.context.of_function(error, id))?;
        // What it wanted of them it has packed.
        constants.iter().flatten().for_each(Tensor::release_pages);
        if let Some(id) = original {
            // Of two that were made at once, both plans take the first.
            return Ok((lock(self.context.options.kernels).entry(id).or_insert(kernel).clone(), memory));
        }
        Ok((kernel, memory))
    }

    /// Whether a kernel may take long to make, as it packs a large constant, and can be made beside others: it keeps nothing
    /// between runs, and knows no functions.
    fn is_made_later(&self, node: &Node, inputs: &[Source]) -> bool {
        let is_large = |source: &Source| match source {
            Source::Constant(index) => self.constants[*index].num_bytes() >= LARGE,
            _ => false,
        };
        !node.op.def.is_stateful
            && inputs.iter().any(is_large)
            && !node.attrs.iter().any(|(_, attr)| matches!(attr, AttrValue::Func(_) | AttrValue::ListFunc(_)))
    }

    /// Makes the kernels that were left, on all threads; those that are missing are noted.
    fn make_rest(&mut self, missing: &mut Vec<String>) -> Result<()> {
        let unmade = std::mem::take(&mut self.unmade);
        let made: Vec<OnceLock<Result<Made>>> = unmade.iter().map(|_| OnceLock::new()).collect();
        let make = |position: usize| {
            let draft = &self.drafts[unmade[position]];
            _ = made[position].set(self.kernel(draft.id, self.context.graph.node(draft.id), &draft.inputs));
        };
        match self.context.options.devices.iter().find_map(|device| device.pool()) {
            Some(pool) => pool.for_each(unmade.len(), true, make),
            None => (0..unmade.len()).for_each(make),
        }
        for (index, made) in unmade.into_iter().zip(made) {
            match made.into_inner() {
                Some(Ok((kernel, memory))) => {
                    let draft = &mut self.drafts[index];
                    (draft.act, draft.memory) = (Act::Kernel(kernel), memory);
                }
                Some(Err(error)) if error.code() == Code::NotFound && error.node().is_none() => {
                    missing.push(error.message().to_owned());
                }
                Some(Err(error)) => return Err(error),
                None => return Err(Error::internal("a kernel was not made")),
            }
        }
        Ok(())
    }

    /// Fills in the inputs whose nodes came later.
    fn close_loops(&mut self) {
        for LateInput { draft, position, output } in std::mem::take(&mut self.late) {
            if let (Some(source), Some(draft)) = (self.source(output), self.drafts.get_mut(draft)) {
                draft.inputs[position] = source;
            }
        }
    }
}
