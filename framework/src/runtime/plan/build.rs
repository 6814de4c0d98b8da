//! From a graph to a plan.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

use super::draft::{Act, Draft};
use super::frames::{self, Count, ROOT, Step};
use super::held;
use super::locate::{Places, Transfer, Uploads};
use super::{Action, Edge, External, FeedInfo, NONE, Plan, PlanNode, ReferenceInput, Request, Source};
use crate::attr::AttrMap;
use crate::device::Device;
use crate::error::{Code, Error, Result};
use crate::graph::{Graph, Node, NodeId, Output};
use crate::kernel::{DynKernel, KernelDef, NodeMemory, RawConstruction, Surroundings};
use crate::op::{OpDef, Signature};
use crate::optimize::{Ends, Optimized, Optimizer, Origin};
use crate::registry::NodeQuery;
use crate::step::{FunctionLibrary, SessionContext, lock};
use crate::tensor::Tensor;

/// The kernels that outlive a plan: those of stateful ops, by node.
pub(in crate::runtime) type StatefulKernels = Mutex<HashMap<NodeId, Arc<dyn DynKernel>>>;

/// What plans of one graph share.
pub(in crate::runtime) struct PlanOptions<'a> {
    pub(in crate::runtime) devices: &'a Arc<[Arc<dyn Device>]>,
    /// For each node of the graph, which of the devices it runs on. Empty if there is but one.
    pub(in crate::runtime) placement: &'a [u32],
    pub(in crate::runtime) kernels: &'a StatefulKernels,
    pub(in crate::runtime) uploads: &'a Uploads,
    pub(in crate::runtime) session: &'a Arc<SessionContext>,
    pub(in crate::runtime) functions: &'a Arc<dyn FunctionLibrary>,
    pub(in crate::runtime) optimizer: &'a Optimizer,
}

/// How many missing kernels an error names.
const SHOWN: usize = 50;

impl Plan {
    /// Lays out a plan.
    ///
    /// # Errors
    /// NOT_FOUND if nodes have no kernel, all in one error; INVALID_ARGUMENT if loops are not nested; whatever the
    /// construction of a kernel meets.
    pub(in crate::runtime) fn new(graph: &Graph, request: &Request, options: &PlanOptions<'_>) -> Result<Plan> {
        let mut needed = graph.needed(&request.ends.feeds, &request.ends.fetches, &request.ends.targets);
        let fetch_names = request.ends.fetches.iter().map(|&fetch| graph.output_name(fetch)).collect();
        let optimized = options.optimizer.for_run(graph, &needed, &request.ends)?;
        let (graph, origins, ends) = match &optimized {
            None => (graph, None, &request.ends),
            Some(Optimized { graph, ends, origins }) => {
                needed = graph.needed(&ends.feeds, &ends.fetches, &ends.targets);
                (graph, Some(&origins[..]), ends)
            }
        };
        let mut builder = Builder {
            graph,
            options,
            origins,
            fetch_names,
            feeds: ends.feeds.iter().enumerate().map(|(i, &output)| (output, i as u32)).collect(),
            sources: HashMap::new(),
            controls: HashMap::new(),
            drafts: Vec::new(),
            constants: Vec::new(),
            constant_nodes: Vec::new(),
            late: Vec::new(),
            places: Places::new(options.devices),
            transfers: HashMap::new(),
        };
        if request.is_partial {
            builder.feed_later(ends)?;
        }
        let mut missing = Vec::new();
        for id in needed {
            if let Err(error) = builder.add(id) {
                match error.code() {
                    Code::NotFound if error.node().is_none() => {
                        missing.push(error.message().to_owned());
                        // What uses it is looked at all the same, to name every missing kernel at once.
                        builder.define_unknown(id);
                    }
                    _ => return Err(error),
                }
            }
        }
        if !missing.is_empty() {
            let more = missing.len().saturating_sub(SHOWN);
            missing.truncate(SHOWN);
            if more > 0 {
                missing.push(format!("and {more} more nodes"));
            }
            return Err(Error::not_found(missing.join("\n")));
        }
        builder.close_loops()?;
        let fetches = if request.is_partial {
            builder.fetch_early(ends)?;
            Vec::new()
        } else {
            builder.fetches(ends)?
        };
        builder.finish(ends, fetches)
    }
}

/// See [`PlanNode::kept`].
fn kept(inputs: &[Source]) -> u64 {
    let constants = inputs.iter().take(64).enumerate().filter(|(_, source)| matches!(source, Source::Constant(_)));
    constants.fold(0, |kept, (index, _)| kept | 1 << index)
}

/// A kernel for a node, and what is known of the node's memory.
pub(super) type Made = (Arc<dyn DynKernel>, Option<Box<NodeMemory>>);

pub(super) struct Builder<'b> {
    pub(super) graph: &'b Graph,
    pub(super) options: &'b PlanOptions<'b>,
    /// Where the graph's nodes come from if it was optimised.
    origins: Option<&'b [Origin]>,
    /// What the fetches are called in the graph that was asked for.
    fetch_names: Vec<String>,
    pub(super) feeds: HashMap<Output, u32>,
    /// What each output of a node that was added is.
    sources: HashMap<Output, Source>,
    /// The plan nodes that stand for a node as a control input.
    controls: HashMap<NodeId, Vec<u32>>,
    pub(super) drafts: Vec<Draft>,
    pub(super) constants: Vec<Tensor>,
    /// The node of each constant.
    pub(super) constant_nodes: Vec<NodeId>,
    /// Inputs that come from nodes which are added later: draft, position, output.
    late: Vec<(usize, usize, Output)>,
    pub(super) places: Places,
    /// What was brought somewhere, and what it is there.
    pub(super) transfers: HashMap<Transfer, Source>,
}

impl Builder<'_> {
    /// Adds a node, unless it is a constant that waits for nothing: what uses it has it from the start.
    fn add(&mut self, id: NodeId) -> Result<()> {
        let node = self.graph.node(id);
        let mut late = Vec::new();
        let mut inputs: Vec<Source> = Vec::with_capacity(node.inputs.len());
        for (position, &input) in node.inputs.iter().enumerate() {
            inputs.push(self.source(input).unwrap_or_else(|| {
                late.push((self.drafts.len(), position, input));
                Source::Node { node: NONE, output: 0 }
            }));
        }
        let mut controls: Vec<u32> =
            node.control_inputs.iter().filter_map(|control| self.controls.get(control)).flatten().copied().collect();
        controls.sort_unstable();
        controls.dedup();
        let constant = self.graph.constant(Output { node: id, index: 0 });
        if let Some(value) = constant {
            let source = self.add_constant(id, value.clone());
            if controls.is_empty() {
                self.define(Output { node: id, index: 0 }, source);
                return Ok(());
            }
            inputs.push(source);
        }
        let mut memory = None;
        let act = match Act::of(node).map_err(|error| self.at(error, id))? {
            Some(act) => act,
            None if constant.is_some() => Act::Forward,
            None => {
                let kernel;
                (kernel, memory) = self.kernel(id, node, &inputs)?;
                Act::Kernel(kernel)
            }
        };
        let (device, slots) = match constant {
            None => (self.device_index(id), self.host_slots(id, node)?),
            // It is on the host until somebody wants it elsewhere.
            Some(_) => (self.places.host(self.device_index(id)), None),
        };
        for (index, source) in inputs.iter_mut().enumerate() {
            let drafts = self.drafts.len();
            *source = self.brought_to_input(*source, id, (device, slots.as_deref()), index)?;
            let added = self.drafts.len() - drafts;
            late.iter_mut().for_each(|(draft, ..)| *draft += added);
        }
        if matches!(act, Act::Merge) {
            // What is there from the start arrives by an edge like all else, so that the merge runs once.
            for (index, source) in inputs.iter_mut().enumerate() {
                if matches!(source, Source::Constant(_) | Source::Feed(_)) {
                    let place = self.wanted_place(device, slots.as_deref(), index);
                    self.drafts.push(Draft::of(id, Act::Forward, place, vec![*source], Vec::new()));
                    *source = Source::Node { node: self.drafts.len() as u32 - 1, output: 0 };
                }
            }
            late.iter_mut().for_each(|(draft, ..)| *draft = self.drafts.len());
        }
        let position = self.drafts.len() as u32;
        for index in 0..node.signature.outputs.len() {
            self.define(Output { node: id, index }, Source::Node { node: position, output: index as u32 });
        }
        self.controls.insert(id, vec![position]);
        self.late.extend(late);
        self.drafts.push(Draft { memory, slots, ..Draft::of(id, act, device, inputs, controls) });
        Ok(())
    }

    pub(super) fn add_constant(&mut self, id: NodeId, value: Tensor) -> Source {
        self.constants.push(value);
        self.constant_nodes.push(id);
        Source::Constant(self.constants.len() as u32 - 1)
    }

    /// Gives the outputs of a node without a kernel sources, of a plan that will not be.
    fn define_unknown(&mut self, id: NodeId) {
        for index in 0..self.graph.node(id).signature.outputs.len() {
            self.define(Output { node: id, index }, Source::Node { node: NONE, output: index as u32 });
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

    pub(super) fn at(&self, error: Error, id: NodeId) -> Error {
        let node = self.graph.node(id);
        error.at_node(&node.name, &node.op.def.name, self.device(id).name())
    }

    /// The node of the session's graph that a node is; `None` if a pass added it.
    pub(super) fn original(&self, id: NodeId) -> Option<NodeId> {
        match self.origins.and_then(|origins| origins.get(id.index())) {
            None => Some(id),
            Some(Origin::Node(original)) => Some(*original),
            Some(Origin::Beside(_)) => None,
        }
    }

    pub(super) fn device_index(&self, id: NodeId) -> u32 {
        let placed = match self.origins.and_then(|origins| origins.get(id.index())) {
            None => Some(id),
            Some(Origin::Node(original)) => Some(*original),
            Some(Origin::Beside(original)) => *original,
        };
        placed.and_then(|id| self.options.placement.get(id.index()).copied()).unwrap_or(0)
    }

    pub(super) fn device(&self, id: NodeId) -> &dyn Device {
        &*self.options.devices[self.device_index(id) as usize]
    }

    fn kernel(&self, id: NodeId, node: &Node, inputs: &[Source]) -> Result<Made> {
        // A node that a pass added is another one in each plan, and keeps nothing between them.
        let original = self.original(id).filter(|_| node.op.def.is_stateful);
        if let Some(kernel) = original.and_then(|id| lock(self.options.kernels).get(&id).cloned()) {
            let query = NodeQuery {
                node: &node.name,
                op: &node.op.def.name,
                attrs: &node.attrs,
                device: self.device(id).device_type(),
                capabilities: self.device(id).capabilities(),
            };
            let def = self.graph.registry().find_kernel(query)?;
            let memory = NodeMemory::of(def, node.op.def, &node.attrs, &node.signature);
            return Ok((kernel, memory.map(Box::new)));
        }
        // A stateful kernel outlives the plan, and in another plan the input may be fed.
        let constant = |source: &Source| match source {
            Source::Constant(index) if !node.op.def.is_stateful => Some(self.constants[*index as usize].clone()),
            _ => None,
        };
        let constants: Vec<Option<Tensor>> = inputs.iter().map(constant).collect();
        let (kernel, memory) =
            self.make_kernel(&node.name, node.op.def, &node.attrs, &node.signature, self.device(id), &constants)?;
        if let Some(id) = original {
            // Of two that were made at once, both plans take the first.
            return Ok((lock(self.options.kernels).entry(id).or_insert(kernel).clone(), memory));
        }
        Ok((kernel, memory))
    }

    pub(super) fn find_kernel(
        &self,
        name: &str,
        op: &OpDef,
        attrs: &AttrMap,
        device: &dyn Device,
    ) -> Result<&'static KernelDef> {
        self.graph.registry().find_kernel(NodeQuery {
            node: name,
            op: &op.name,
            attrs,
            device: device.device_type(),
            capabilities: device.capabilities(),
        })
    }

    pub(super) fn make_kernel(
        &self,
        name: &str,
        op: &'static OpDef,
        attrs: &AttrMap,
        signature: &Signature,
        device: &dyn Device,
        constants: &[Option<Tensor>],
    ) -> Result<Made> {
        let def = self.find_kernel(name, op, attrs, device)?;
        let construction = RawConstruction {
            node: name,
            op,
            attrs,
            signature,
            registry: self.graph.registry(),
            device: device.device_type(),
            constants,
            surroundings: Some(&Surroundings {
                session: self.options.session,
                functions: self.options.functions,
                device: device.name(),
                graph_def_version: self.graph.versions().producer,
            }),
        };
        let kernel = def.make(&construction).map_err(|error| error.at_node(name, &op.name, device.name()))?;
        Ok((kernel.into(), NodeMemory::of(def, op, attrs, signature).map(Box::new)))
    }

    /// What the fetches are, on the host.
    fn fetches(&mut self, ends: &Ends) -> Result<Vec<Source>> {
        let fetches = ends.fetches.iter().filter_map(|&fetch| self.source(fetch)).collect::<Vec<_>>();
        fetches.into_iter().map(|source| self.on_host(source)).collect()
    }

    /// Fills in the inputs whose nodes came later.
    fn close_loops(&mut self) -> Result<()> {
        for (draft, position, output) in std::mem::take(&mut self.late) {
            if let Some(source) = self.source(output) {
                let Draft { id, device, ref slots, .. } = self.drafts[draft];
                let slots = slots.clone();
                let source = self.brought_to_input(source, id, (device, slots.as_deref()), position)?;
                self.drafts[draft].inputs[position] = source;
            }
        }
        Ok(())
    }

    fn finish(self, ends: &Ends, fetches: Vec<Source>) -> Result<Plan> {
        let step = |draft: &'_ Draft| -> Step {
            match &draft.act {
                Act::Enter { name, parallel_iterations, .. } => Step::Into(name.clone(), *parallel_iterations),
                Act::Exit => Step::OutOf,
                Act::NextIteration => Step::Next,
                _ => Step::Stay,
            }
        };
        let name = |position: usize| self.graph.node(self.drafts[position].id).name.clone();
        let (mut frames, frame_of, leads_to) = frames::assign(&self.drafts, step, name)?;

        let mut users: HashMap<(u32, u32), Vec<Edge>> = HashMap::new();
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); self.drafts.len()];
        let (mut externals, mut only_uses) = (Vec::new(), Vec::new());
        let mut uses = vec![0; ends.feeds.len()];
        let sources = self.drafts.iter().flat_map(|draft| &draft.inputs).chain(&fetches);
        for source in sources {
            if let Source::Feed(feed) = source {
                uses[*feed as usize] += 1;
            }
        }
        let mut layout: Vec<(u32, Range<u32>, Range<u32>)> = Vec::with_capacity(self.drafts.len());
        for (position, draft) in self.drafts.iter().enumerate() {
            let frame = &mut frames[frame_of[position] as usize];
            let (first_slot, first_external) = (frame.slots, externals.len() as u32);
            let mut data = 0;
            for &source in &draft.inputs {
                match source {
                    Source::Node { node, output } => {
                        let edge = Edge { node: position as u32, slot: frame.slots };
                        users.entry((node, output)).or_default().push(edge);
                        data += 1;
                    }
                    Source::Feed(feed)
                        if uses[feed as usize] == 1
                            && frame_of[position] == ROOT
                            && !matches!(draft.act, Act::Merge) =>
                    {
                        only_uses.push((feed, frame.slots));
                    }
                    source => externals.push(External { slot: frame.slots, source }),
                }
                frame.kept.push(matches!(source, Source::Constant(_)));
                frame.slots += 1;
            }
            draft.controls.iter().for_each(|&control| waiting[control as usize].push(position as u32));
            let controls = draft.controls.len() as u32;
            let pending = if matches!(draft.act, Act::Merge) { 1 + 2 * controls } else { data + controls };
            let local = frame.counts.len() as u32;
            frame.counts.push(Count { pending, dead: 0 });
            layout.push((local, first_slot..frame.slots, first_external..externals.len() as u32));
        }
        let root = &mut frames[ROOT as usize];
        let fetch_slots = root.slots as usize;
        for (source, name) in fetches.iter().zip(&self.fetch_names) {
            if let Source::Node { node, output } = source {
                if leads_to[*node as usize] != ROOT {
                    let message = format!("`{name}` is inside of a loop: fetch what leaves the loop by an Exit");
                    return Err(Error::invalid_argument(message));
                }
                users.entry((*node, *output)).or_default().push(Edge { node: NONE, slot: root.slots });
            }
            root.kept.push(false);
            root.slots += 1;
        }
        let (mut edges, mut output_edges, mut controls) = (Vec::new(), Vec::new(), Vec::new());
        // Nodes with equal signatures share one: a run of many nodes is bound by the memory that it touches.
        let mut signatures: HashMap<Arc<Signature>, Arc<Signature>> = HashMap::new();
        let mut nodes: Vec<PlanNode> = Vec::with_capacity(self.drafts.len());
        for (position, (draft, (local, inputs, externals))) in self.drafts.iter().zip(layout).enumerate() {
            let node = self.graph.node(draft.id);
            let (name, op, node_signature) = match &draft.own {
                Some(own) => (&own.name, own.op, &own.signature),
                None => (&node.name, node.op.def, &node.signature),
            };
            let first_output = output_edges.len() as u32;
            let mut unused_outputs = 0;
            for output in 0..node_signature.outputs.len() {
                let start = edges.len() as u32;
                edges.extend(users.remove(&(position as u32, output as u32)).unwrap_or_default());
                output_edges.push(start..edges.len() as u32);
                if output < 64 && start == edges.len() as u32 {
                    unused_outputs |= 1 << output;
                }
            }
            let first_control = controls.len() as u32;
            controls.append(&mut waiting[position]);
            let action = match &draft.act {
                Act::Kernel(kernel) if kernel.is_async() => Action::Wait(kernel.clone()),
                Act::Kernel(kernel) => Action::Compute(kernel.clone()),
                Act::Forward => Action::Forward,
                Act::Switch { by_index } => Action::Switch { by_index: *by_index },
                Act::Merge => Action::Merge,
                Act::Enter { constant, .. } => Action::Enter { frame: leads_to[position], constant: *constant },
                Act::Exit => Action::Exit,
                Act::NextIteration => Action::NextIteration,
                Act::ControlTrigger => Action::ControlTrigger,
            };
            let cost = match &action {
                Action::Compute(kernel) if kernel.is_expensive() => u32::MAX,
                _ => 0,
            };
            let waiting = match &action {
                Action::Compute(kernel) => {
                    let devices = self.options.devices;
                    held::waiting(op, kernel, &*devices[draft.device as usize], devices)
                }
                _ => None,
            };
            let references = self.references(draft, node);
            let is_filled = externals.is_empty() && references.is_empty();
            let is_passed =
                is_filled && matches!(action, Action::Switch { .. } | Action::Merge | Action::NextIteration);
            let count = &mut frames[frame_of[position] as usize].counts[local as usize];
            if is_passed && !matches!(action, Action::Merge) {
                count.dead = Count::PASSED;
            }
            nodes.push(PlanNode {
                action,
                pending: count.pending,
                local,
                inputs,
                externals,
                outputs: first_output..output_edges.len() as u32,
                first_edges: output_edges.get(first_output as usize).cloned().unwrap_or(0..0),
                only_edge: Edge { node: NONE, slot: NONE },
                kept: kept(&draft.inputs),
                is_filled,
                is_passed,
                waiting,
                controls: first_control..controls.len() as u32,
                device: draft.device,
                cost: AtomicU32::new(cost),
                op,
                signature: signatures.entry(node_signature.clone()).or_insert_with_key(Arc::clone).clone(),
                name: name.clone(),
                references,
                unused_outputs,
                memory: draft.memory.clone(),
            });
        }
        let mut initial: Vec<u32> =
            (0..nodes.len() as u32).filter(|&position| nodes[position as usize].pending == 0).collect();
        // Expensive ones first: they go to the pool before this thread sets to work.
        initial.sort_by_key(|&position| !nodes[position as usize].is_expensive());
        let feeds = ends.feeds.iter().map(|&feed| FeedInfo {
            name: self.graph.output_name(feed),
            dtype: self.graph.node(feed.node).signature.outputs[feed.index].dtype,
            shape: self.graph.shape(feed).clone(),
        });
        let mut plan = Plan {
            branches: nodes
                .iter()
                .any(|node| !matches!(node.action, Action::Compute(_) | Action::Wait(_) | Action::Forward)),
            waits: nodes.iter().any(|node| node.waiting.is_some() || matches!(node.action, Action::Wait(_))),
            frames,
            devices: self.options.devices.clone(),
            pools: self.options.devices.iter().map(|device| device.pool().cloned()).collect(),
            edges,
            output_edges,
            controls,
            externals,
            only_uses,
            constants: self.constants,
            initial,
            fetches,
            fetch_slots,
            feeds: feeds.collect(),
            has_expensive: AtomicBool::new(false),
            runs: AtomicU32::new(0),
            _functions: self.options.functions.clone(),
            idle: Mutex::default(),
            nodes,
        };
        plan.find_only_edges();
        plan.find_straight_loops(&frame_of);
        plan.classify();
        Ok(plan)
    }

    /// The inputs of a node that come from references.
    fn references(&self, draft: &Draft, node: &Node) -> Box<[ReferenceInput]> {
        if draft.own.is_some() || draft.inputs.len() != node.inputs.len() {
            return Box::default();
        }
        let inputs = draft.inputs.iter().zip(&node.signature.inputs).enumerate();
        let references = inputs.filter_map(|(index, (&source, slot))| {
            let source = self.reference(source)?;
            Some(ReferenceInput {
                index: index as u32,
                is_read: !slot.is_ref,
                is_initialized: !slot.is_ref || !node.op.def.allows_uninitialized_input,
                source: self.graph.output_name(source),
            })
        });
        references.filter(|reference| reference.is_read || reference.is_initialized).collect()
    }
    /// The output that a source is, or was before it was brought over, if that is a reference.
    fn reference(&self, source: Source) -> Option<Output> {
        let Source::Node { node, output } = source else { return None };
        let draft = self.drafts.get(node as usize)?;
        let outputs = &self.graph.node(draft.id).signature.outputs;
        let index = match &draft.own {
            None => output as usize,
            // One without a value goes as it is: its reader decides whether that is a fault.
            Some(_) => outputs.iter().position(|slot| slot.is_ref)?,
        };
        outputs.get(index)?.is_ref.then_some(Output { node: draft.id, index })
    }
}
