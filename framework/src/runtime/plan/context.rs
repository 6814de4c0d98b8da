//! What every step from a graph to a plan asks: the graph, where its nodes come from and run, and their kernels.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::attr::AttrMap;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::{Graph, Inlined, Node, NodeId};
use crate::kernel::{DynKernel, GraphNode, HostSlots, KernelDef, NodeMemory, RawConstruction, Surroundings};
use crate::op::{OpDef, Signature};
use crate::optimize::{Optimizer, Origin};
use crate::registry::NodeQuery;
use crate::step::{FunctionLibrary, SessionContext};
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
    /// The function whose body the graph is; empty for a session's.
    pub(in crate::runtime) function: &'a str,
}

/// Constants in the memory of devices, by node and device: the plans of one graph share them.
pub(in crate::runtime) type Uploads = Mutex<HashMap<(NodeId, u32), Tensor>>;

/// Where each device of a plan has its tensors. A place is named by a device: itself if it has memory of its own or is of
/// the host, and the host's first if a device has something in host memory.
pub(super) struct Places {
    has_own: Box<[bool]>,
    /// The first device of the host.
    pub(super) host: u32,
}

impl Places {
    pub(super) fn new(devices: &[Arc<dyn Device>]) -> Places {
        let has_own: Box<[bool]> = devices.iter().map(|device| device.has_own_memory()).collect();
        let host = has_own.iter().position(|has_own| !has_own).unwrap_or(0) as u32;
        Places { has_own, host }
    }

    /// Whether a device has memory that the host does not see.
    pub(super) fn has_own(&self, device: u32) -> bool {
        self.has_own[device as usize]
    }

    /// Where a device has what is in host memory.
    pub(super) fn host(&self, device: u32) -> u32 {
        if self.has_own(device) { self.host } else { device }
    }
}

/// A kernel for a node, and what is known of the node's memory.
pub(super) type Made = (Arc<dyn DynKernel>, Option<Box<NodeMemory>>);

/// What the steps share.
pub(super) struct Context<'b> {
    pub(super) graph: &'b Graph,
    pub(super) options: &'b PlanOptions<'b>,
    /// Where the graph's nodes come from if it was optimised.
    pub(super) origins: Option<&'b [Origin]>,
    pub(super) places: Places,
}

impl Context<'_> {
    pub(super) fn at(&self, error: Error, id: NodeId) -> Error {
        let node = self.graph.node(id);
        self.of_function(error.at_node(called(node), &node.op.def.name, self.device(id).name()), id)
    }

    /// Says with an error of a node from which function that was taken, if it was.
    pub(super) fn of_function(&self, error: Error, id: NodeId) -> Error {
        match Inlined::of(self.graph.node(id)) {
            Some(inlined) if error.node().is_some() => error.in_function(inlined.function),
            _ => error,
        }
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

    /// What a node has in host memory; `None` on a device without memory of its own.
    pub(super) fn host_slots(&self, id: NodeId, node: &Node) -> Result<Option<Box<HostSlots>>> {
        if !self.places.has_own(self.device_index(id)) {
            return Ok(None);
        }
        let def = self.find_kernel(called(node), node.op.def, &node.attrs, self.device(id))?;
        Ok(Some(Box::new(def.host_slots(node.op.def, &node.signature))))
    }

    /// Where a draft wants an input.
    pub(super) fn wanted_place(&self, device: u32, slots: Option<&HostSlots>, input: usize) -> u32 {
        let is_on_host = slots.is_some_and(|slots| slots.inputs.get(input) == Some(&true));
        if is_on_host { self.places.host(device) } else { device }
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

    pub(super) fn make_kernel(&self, node: &ToMake<'_>, constants: &[Option<Tensor>]) -> Result<Made> {
        let &ToMake { name, op, attrs, signature, device, id } = node;
        let def = self.find_kernel(name, op, attrs, device)?;
        let in_graph = id.map(|id| InGraph { graph: self.graph, id });
        let construction = RawConstruction {
            node: name,
            op,
            attrs,
            signature,
            registry: self.graph.registry(),
            device: device.device_type(),
            constants,
            surroundings: Some(&Surroundings {
                keeps_library: &Cell::default(),
                session: self.options.session,
                functions: self.options.functions,
                device,
                kernel: def,
                graph_def_version: self.graph.versions().producer,
                node: in_graph.as_ref().map(|node| node as &dyn GraphNode),
                memory: &std::cell::OnceCell::new(),
            }),
        };
        let kernel = def.make(&construction).map_err(|error| error.at_node(name, &op.name, device.name()))?;
        Ok((kernel.into(), NodeMemory::of(def, op, attrs, signature).map(Box::new)))
    }
}

/// What a node is called to others: in the function that it was taken from, if it was.
pub(super) fn called(node: &Node) -> &str {
    Inlined::of(node).map_or(&*node.name, |inlined| inlined.node)
}

/// A node that is to have a kernel.
pub(super) struct ToMake<'n> {
    pub(super) name: &'n str,
    pub(super) op: &'static OpDef,
    pub(super) attrs: &'n AttrMap,
    pub(super) signature: &'n Signature,
    pub(super) device: &'n dyn Device,
    /// `None` if the plan adds it.
    pub(super) id: Option<NodeId>,
}

/// A node of the graph, for its kernel to ask.
struct InGraph<'g> {
    graph: &'g Graph,
    id: NodeId,
}

impl GraphNode for InGraph<'_> {
    fn requested_device(&self) -> &str {
        &self.graph.node(self.id).device
    }

    fn inputs(&self) -> Vec<String> {
        self.graph.input_names(self.graph.node(self.id))
    }
}
