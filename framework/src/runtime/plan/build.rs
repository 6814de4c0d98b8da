//! From a graph to a plan.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

use super::draft::{Act, Draft};
use super::held;
use super::lay_out::{LaidOut, lay_out};
use super::layout::{Layout, LoopSpec, NodeSpec, ROOT, Role, Source};
use super::locate::{Places, Transfer, Uploads};
use super::{Action, FeedInfo, Plan, PlanNode, ReferenceInput, Request};
use crate::attr::AttrMap;
use crate::device::Device;
use crate::error::{Code, Error, Result};
use crate::graph::{Graph, Node, NodeId, Output};
use crate::kernel::{DynKernel, KernelDef, NodeMemory, RawConstruction, Surroundings};
use crate::op::{OpDef, Signature};
use crate::optimize::{Ends, Optimized, Optimizer, Origin};
use crate::registry::NodeQuery;
use crate::runtime::index::{FeedIndex, FrameIndex, Handle, NodeIndex, Table, kind};
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
            feeds: ends.feeds.iter().enumerate().map(|(i, &output)| (output, Handle::new(i))).collect(),
            sources: HashMap::new(),
            controls: HashMap::new(),
            drafts: Table::new(),
            constants: Table::new(),
            constant_nodes: Table::new(),
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

/// A kernel for a node, and what is known of the node's memory.
pub(super) type Made = (Arc<dyn DynKernel>, Option<Box<NodeMemory>>);

pub(super) struct Builder<'b> {
    pub(super) graph: &'b Graph,
    pub(super) options: &'b PlanOptions<'b>,
    /// Where the graph's nodes come from if it was optimised.
    origins: Option<&'b [Origin]>,
    /// What the fetches are called in the graph that was asked for.
    fetch_names: Vec<String>,
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
    pub(super) places: Places,
    /// What was brought somewhere, and what it is there.
    pub(super) transfers: HashMap<Transfer, Source>,
}

/// An input that comes from a node which is added later.
struct LateInput {
    draft: NodeIndex,
    position: usize,
    output: Output,
}

impl Builder<'_> {
    /// Adds a node, unless it is a constant that waits for nothing: what uses it has it from the start.
    fn add(&mut self, id: NodeId) -> Result<()> {
        let node = self.graph.node(id);
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
            *source = self.brought_to_input(*source, id, (device, slots.as_deref()), index)?;
        }
        if matches!(act, Act::Merge) {
            // What is there from the start arrives by an edge like all else, so that the merge runs once.
            for (index, source) in inputs.iter_mut().enumerate() {
                if matches!(source, Source::Constant(_) | Source::Feed(_)) {
                    let place = self.wanted_place(device, slots.as_deref(), index);
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

    pub(super) fn add_constant(&mut self, id: NodeId, value: Tensor) -> Source {
        self.constant_nodes.push(id);
        Source::Constant(self.constants.push(value))
    }

    /// Gives the outputs of a node without a kernel sources, of a plan that will not be.
    fn define_unknown(&mut self, id: NodeId) {
        for index in 0..self.graph.node(id).signature.outputs.len() {
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
            Source::Constant(index) if !node.op.def.is_stateful => Some(self.constants[*index].clone()),
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
        for LateInput { draft, position, output } in std::mem::take(&mut self.late) {
            if let Some(source) = self.source(output) {
                let Draft { id, device, ref slots, .. } = self.drafts[draft];
                let slots = slots.clone();
                let source = self.brought_to_input(source, id, (device, slots.as_deref()), position)?;
                self.drafts[draft].inputs[position] = source;
            }
        }
        Ok(())
    }

    /// Who waits for whom, and where tensors go.
    fn lay_out(
        &self,
        ends: &Ends,
        fetches: &[Source],
        references: &[Box<[ReferenceInput]>],
        waiting: &[Option<Arc<dyn DynKernel>>],
    ) -> Result<Layout> {
        let drafts = self.drafts.values().iter().zip(references).zip(waiting);
        let specs = drafts.map(|((draft, references), waiting)| {
            let node = self.graph.node(draft.id);
            let (role, enters) = match &draft.act {
                Act::Kernel(_) => (Role::Kernel, None),
                Act::Forward => (Role::Forward, None),
                Act::Switch { by_index } => (Role::Switch { by_index: *by_index }, None),
                Act::Merge => (Role::Merge, None),
                Act::Enter { name, constant, parallel_iterations } => (
                    Role::Enter { frame: FrameIndex::NONE, constant: *constant },
                    Some(LoopSpec { name, parallel_iterations: *parallel_iterations }),
                ),
                Act::Exit => (Role::Exit, None),
                Act::NextIteration => (Role::NextIteration, None),
                Act::ControlTrigger => (Role::ControlTrigger, None),
            };
            NodeSpec {
                name: &node.name,
                role,
                enters,
                inputs: &draft.inputs,
                has_references: !references.is_empty(),
                controls: &draft.controls,
                outputs: draft.own.as_ref().map_or(&node.signature, |own| &own.signature).outputs.len(),
                may_be_static: match &draft.act {
                    Act::Kernel(kernel) => !kernel.is_async() && !kernel.takes_dead_inputs() && waiting.is_none(),
                    _ => true,
                },
            }
        });
        let LaidOut { layout, frames } = lay_out(&specs.collect::<Vec<_>>(), fetches, ends.feeds.len())?;
        for (source, name) in fetches.iter().zip(&self.fetch_names) {
            if let Source::Node { node, .. } = source
                && frames[*node].outputs != ROOT
            {
                let message = format!("`{name}` is inside of a loop: fetch what leaves the loop by an Exit");
                return Err(Error::invalid_argument(message));
            }
        }
        Ok(layout)
    }

    /// What takes the place of a draft's kernel if a device may hold the variables that it takes.
    fn waiting(&self, draft: &Draft) -> Option<Arc<dyn DynKernel>> {
        let Act::Kernel(kernel) = &draft.act else { return None };
        let devices = self.options.devices;
        let op = draft.own.as_ref().map_or(self.graph.node(draft.id).op.def, |own| own.op);
        held::waiting(op, kernel, &*devices[draft.device as usize], devices)
    }

    fn finish(self, ends: &Ends, fetches: Vec<Source>) -> Result<Plan> {
        let references: Vec<Box<[ReferenceInput]>> =
            self.drafts.values().iter().map(|draft| self.references(draft, self.graph.node(draft.id))).collect();
        let waiting: Vec<_> = self.drafts.values().iter().map(|draft| self.waiting(draft)).collect();
        let layout = self.lay_out(ends, &fetches, &references, &waiting)?;
        // Nodes with equal signatures share one: a run of many nodes is bound by the memory that it touches.
        let mut signatures: HashMap<Arc<Signature>, Arc<Signature>> = HashMap::new();
        let drafts = self.drafts.values().iter().zip(layout.nodes.values()).zip(references).zip(waiting);
        let nodes = drafts.map(|(((draft, laid_out), references), waiting)| {
            let node = self.graph.node(draft.id);
            let (name, op, signature) = match &draft.own {
                Some(own) => (&own.name, own.op, &own.signature),
                None => (&node.name, node.op.def, &node.signature),
            };
            let action = match &draft.act {
                Act::Kernel(kernel) if kernel.is_async() => Action::Wait(kernel.clone()),
                Act::Kernel(kernel) => Action::Compute(kernel.clone()),
                _ => Action::Flow,
            };
            let is_expensive = matches!(&action, Action::Compute(kernel) if kernel.is_expensive());
            PlanNode {
                action,
                waiting,
                device: draft.device,
                cost: AtomicU32::new(if is_expensive { u32::MAX } else { 0 }),
                op,
                signature: signatures.entry(signature.clone()).or_insert_with_key(Arc::clone).clone(),
                name: name.clone(),
                references,
                unused_outputs: layout.unused_outputs(laid_out),
                memory: draft.memory.clone(),
            }
        });
        let nodes: Table<kind::Node, PlanNode> = nodes.collect();
        let mut initial: Vec<NodeIndex> = layout.initial().collect();
        // Expensive ones first: they go to the pool before this thread sets to work.
        initial.sort_by_key(|&index| !nodes[index].is_expensive());
        let feeds = ends.feeds.iter().map(|&feed| FeedInfo {
            name: self.graph.output_name(feed),
            dtype: self.graph.node(feed.node).signature.outputs[feed.index].dtype,
            shape: self.graph.shape(feed).clone(),
        });
        let is_waiting = |node: &PlanNode| node.waiting.is_some() || matches!(node.action, Action::Wait(_));
        let plan = Plan {
            waits: nodes.values().iter().any(is_waiting),
            layout,
            devices: self.options.devices.clone(),
            pools: self.options.devices.iter().map(|device| device.pool().cloned()).collect(),
            constants: self.constants,
            initial,
            fetches,
            feeds: feeds.collect(),
            has_expensive: AtomicBool::new(false),
            _functions: self.options.functions.clone(),
            nodes,
        };
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
        let draft = self.drafts.get(node)?;
        let outputs = &self.graph.node(draft.id).signature.outputs;
        let index = match &draft.own {
            None => output as usize,
            // One without a value goes as it is: its reader decides whether that is a fault.
            Some(_) => outputs.iter().position(|slot| slot.is_ref)?,
        };
        outputs.get(index)?.is_ref.then_some(Output { node: draft.id, index })
    }
}
