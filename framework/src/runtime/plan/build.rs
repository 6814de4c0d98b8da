//! From a graph to a plan, in steps that each hand [`Drafts`] to the next: passes leave the graph less to do, `resolve` says
//! what each node takes, `transfers` brings that to where it is wanted, and the layout says who waits for whom.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use super::context::{Context, Places, PlanOptions, called};
use super::draft::{Act, Draft, Drafts};
use super::lay_out::lay_out;
use super::layout::{Layout, LoopSpec, NodeSpec, Role, Source};
use super::{Action, FeedInfo, Plan, PlanNode, ReferenceInput};
use super::{held, leave_loops, resolve, transfers};
use crate::error::Result;
use crate::graph::{Graph, Inlined, Node, Output};
use crate::kernel::{DynKernel, GPU};
use crate::op::Signature;
use crate::optimize::{Ends, Optimized};
use crate::runtime::index::{FrameIndex, NodeIndex, Table, kind};
use crate::sort::CompactSort as _;

impl Plan {
    /// Lays out a plan.
    ///
    /// # Errors
    /// NOT_FOUND if ops of nodes are missing, or else kernels, all in one error; INVALID_ARGUMENT if loops are not nested; whatever the
    /// construction of a kernel meets.
    pub(in crate::runtime) fn new(graph: &Graph, ends: &Ends, options: &PlanOptions<'_>) -> Result<Plan> {
        let mut needed = graph.needed(ends.feeds(), ends.fetches(), ends.targets());
        let fetch_names: Vec<String> = ends.fetches().iter().map(|&fetch| graph.output_name(fetch)).collect();
        let optimized = options.optimizer.for_run(graph, &needed, ends, options.devices)?;
        let (graph, origins, ends) = match &optimized {
            None => (graph, None, ends),
            Some(Optimized { graph, ends, origins }) => {
                needed = graph.needed(ends.feeds(), ends.fetches(), ends.targets());
                (graph, Some(&origins[..]), ends)
            }
        };
        graph.check_present(&needed)?;
        let context = Context { graph, options, origins, places: Places::new(options.devices) };
        let mut drafts = resolve::resolve(&context, &needed, ends)?;
        leave_loops::leave_loops(&context, ends.fetches(), &fetch_names, &mut drafts);
        let drafts = transfers::bring(&context, ends.feeds(), drafts)?;
        Finish { context, drafts }.finish(ends)
    }
}

/// The last step.
struct Finish<'b> {
    context: Context<'b>,
    drafts: Drafts,
}

impl Finish<'_> {
    /// Who waits for whom, and where tensors go.
    fn lay_out(
        &self,
        ends: &Ends,
        references: &[Box<[ReferenceInput]>],
        waiting: &[Option<Arc<dyn DynKernel>>],
    ) -> Result<Layout> {
        let drafts = self.drafts.nodes.values().iter().zip(references).zip(waiting);
        let specs = drafts.map(|((draft, references), waiting)| {
            let node = self.context.graph.node(draft.id);
            let (role, enters) = match &draft.act {
                Act::Kernel(_) => (Role::Kernel, None),
                Act::Forward => (Role::Forward, None),
                Act::Switch { by_index } => (Role::Switch { by_index: *by_index }, None),
                Act::Merge => (Role::Merge, None),
                Act::Enter { name, constant, parallel_iterations } => (
                    Role::Enter { frame: FrameIndex::NONE, constant: *constant },
                    Some(LoopSpec { name: name.as_bytes(), parallel_iterations: *parallel_iterations }),
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
        lay_out(&specs.collect::<Vec<_>>(), &self.drafts.fetches, ends.feeds().len())
    }

    /// What takes the place of a draft's kernel if a device may hold the variables that it takes.
    fn waiting(&self, draft: &Draft) -> Option<Arc<dyn DynKernel>> {
        let Act::Kernel(kernel) = &draft.act else { return None };
        let devices = self.context.options.devices;
        let op = draft.own.as_ref().map_or(self.context.graph.node(draft.id).op.def, |own| own.op);
        held::waiting(op, kernel, &*devices[draft.device as usize], devices)
    }

    fn finish(self, ends: &Ends) -> Result<Plan> {
        let references: Vec<Box<[ReferenceInput]>> = self
            .drafts
            .nodes
            .values()
            .iter()
            .map(|draft| self.references(draft, self.context.graph.node(draft.id)))
            .collect();
        let waiting: Vec<_> = self.drafts.nodes.values().iter().map(|draft| self.waiting(draft)).collect();
        let layout = self.lay_out(ends, &references, &waiting)?;
        // Nodes with equal signatures share one: a run of many nodes is bound by the memory that it touches.
        let mut signatures: HashMap<Arc<Signature>, Arc<Signature>> = HashMap::new();
        let drafts = self.drafts.nodes.values().iter().zip(layout.nodes.values()).zip(references).zip(waiting);
        let nodes = drafts.map(|(((draft, laid_out), references), waiting)| {
            let node = self.context.graph.node(draft.id);
            let (name, op, signature) = match &draft.own {
                Some(own) => (own.name.as_str(), own.op, &own.signature),
                None => (called(node), node.op.def, &node.signature),
            };
            let action = match &draft.act {
                Act::Kernel(kernel) if kernel.is_async() => Action::Wait(kernel.clone()),
                Act::Kernel(kernel) => Action::Compute(kernel.clone()),
                _ => Action::Flow,
            };
            let is_on_gpu = self.context.options.devices[draft.device as usize].device_type() == GPU;
            let is_expensive = matches!(&action, Action::Compute(kernel) if !is_on_gpu && kernel.is_expensive());
            PlanNode {
                action,
                waiting,
                device: draft.device,
                cost: AtomicU32::new(if is_expensive { u32::MAX } else { 0 }),
                op,
                signature: signatures.entry(signature.clone()).or_insert_with_key(Arc::clone).clone(),
                name: name.to_owned(),
                function: Inlined::of(node).map(|inlined| inlined.function.into()),
                references,
                unused_outputs: layout.unused_outputs(laid_out),
                memory: draft.memory.clone(),
                #[cfg(debug_assertions)]
                inferred: match (&draft.act, &draft.own) {
                    (Act::Kernel(_), None) => crate::shape_inference::Inferred::new(node.op.shape_fn, &node.attrs),
                    _ => None,
                },
            }
        });
        let nodes: Table<kind::Node, PlanNode> = nodes.collect();
        let mut initial: Vec<NodeIndex> = layout.initial().collect();
        // Expensive ones first: they go to the pool before this thread sets to work.
        initial.compact_sort_by_key(|&index| !nodes[index].is_expensive());
        let feeds = ends.feeds().iter().map(|&feed| FeedInfo {
            name: self.context.graph.output_name(feed),
            dtype: self.context.graph.node(feed.node).signature.outputs[feed.index].dtype,
        });
        let feeds = feeds.collect();
        let is_waiting = |node: &PlanNode| node.waiting.is_some() || matches!(node.action, Action::Wait(_));
        let plan = Plan {
            function: self.context.options.function.into(),
            waits: nodes.values().iter().any(is_waiting),
            layout,
            devices: self.context.options.devices.clone(),
            pools: self.context.options.devices.iter().map(|device| device.pool().cloned()).collect(),
            constants: self.drafts.constants,
            initial,
            fetches: self.drafts.fetches,
            feeds,
            has_expensive: AtomicBool::new(false),
            _functions: self.context.options.functions.clone(),
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
                source: self.context.graph.output_name(source),
            })
        });
        references.filter(|reference| reference.is_read || reference.is_initialized).collect()
    }

    /// The output that a source is, or was before it was brought over, if that is a reference.
    fn reference(&self, source: Source) -> Option<Output> {
        let Source::Node { node, output } = source else { return None };
        let draft = self.drafts.nodes.get(node)?;
        let outputs = &self.context.graph.node(draft.id).signature.outputs;
        let index = match &draft.own {
            None => output as usize,
            // One without a value goes as it is: its reader decides whether that is a fault.
            Some(_) => outputs.iter().position(|slot| slot.is_ref)?,
        };
        outputs.get(index)?.is_ref.then_some(Output { node: draft.id, index })
    }
}
