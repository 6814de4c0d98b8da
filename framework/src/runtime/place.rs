//! The placer: which device each node of a graph runs on.
//!
//! The rules are TensorFlow's. Nodes that must be together (by the attr `_class`, by references, by resources) form a
//! group, which goes to the first device that its requests allow and that has kernels for all of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::attr::AttrValue;
use crate::device::{CpuDevice, Device, DeviceName};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeClass, NodeId, colocated};
use crate::kernel::{CPU, DeviceType, GPU, KernelDef};
use crate::registry::NodeQuery;

/// The devices to place nodes on.
pub(super) struct Placer<'p> {
    pub(super) devices: &'p [Arc<dyn Device>],
    /// Whether a request that cannot be met is given up.
    pub(super) is_soft: bool,
    /// Of devices of one type, where nodes go that ask for nothing: the device of the call, for the nodes of a function.
    pub(super) default: Option<u32>,
    /// Nodes that give resources, and the devices that hold these: the arguments of a function.
    pub(super) held: HashMap<NodeId, u32>,
    /// Whether the graph is the body of a function. There nodes may ask to be with nodes that are elsewhere, such as the
    /// variable that an argument is: those that ask for the same one are together.
    pub(super) is_body: bool,
    /// The devices of the first nodes, which stay there.
    pub(super) placed: &'p [u32],
}

/// Adds a device of the host's, without threads of its own, if there is none: not every kernel is for another one.
pub(super) fn add_host(devices: &mut Vec<Arc<dyn Device>>) {
    if devices.iter().all(|device| device.has_own_memory()) {
        devices.push(Arc::new(CpuDevice::on_caller()));
    }
}

/// What is known of a group of nodes that must be together.
struct Group {
    /// A node of the group, for errors.
    node: NodeId,
    requested: DeviceName,
    /// A node that asks for the device.
    asks: Option<NodeId>,
    /// The devices that have kernels, with the kernels' least priority there; `None` for any.
    devices: Option<Vec<(u32, i32)>>,
}

impl<'p> Placer<'p> {
    pub(super) fn new(devices: &'p [Arc<dyn Device>], is_soft: bool) -> Placer<'p> {
        Placer { devices, is_soft, default: None, held: HashMap::new(), is_body: false, placed: &[] }
    }

    /// For each node of a graph, its device.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a request is malformed, or cannot be met, or nodes that must be together cannot be.
    pub(super) fn place(&self, graph: &Graph) -> Result<Vec<u32>> {
        if self.devices.len() == 1 && self.is_soft {
            // All requests end there, but for those that nobody can read.
            for node in graph.nodes().iter().filter(|node| !node.device.is_empty()) {
                let at_node = |error: Error| error.at_node(&node.name, &node.op.def.name, &node.device);
                DeviceName::parse(&node.device).map_err(at_node)?;
            }
            return Ok(vec![0; graph.nodes().len()]);
        }
        let names = self.devices.iter().map(|device| full_name(device.name())).collect::<Result<Vec<_>>>()?;
        let groups_of = self.together(graph)?;
        let mut groups: HashMap<usize, Group> = HashMap::new();
        let mut order: Vec<usize> = Vec::new();
        for id in graph.ids() {
            let root = groups_of[id.index()];
            let own = self.group_of_one(graph, id)?;
            match groups.remove(&root) {
                None => {
                    order.push(root);
                    groups.insert(root, own);
                }
                Some(group) => {
                    groups.insert(root, self.merged(graph, group, own)?);
                }
            }
        }
        let mut chosen: HashMap<usize, u32> = HashMap::new();
        for &root in &order {
            let group = &groups[&root];
            chosen.insert(root, self.choose(graph, group, &names)?);
        }
        let mut placement: Vec<u32> = groups_of.iter().map(|root| chosen[root]).collect();
        self.follow_neighbours(graph, &groups, &groups_of, &mut placement);
        Ok(placement)
    }

    /// For each node, one that stands for all that must be with it.
    fn together(&self, graph: &Graph) -> Result<Vec<usize>> {
        fn root(parents: &mut [usize], mut node: usize) -> usize {
            while parents[node] != node {
                parents[node] = parents[parents[node]];
                node = parents[node];
            }
            node
        }
        let mut parents: Vec<usize> = (0..graph.nodes().len()).collect();
        // A resource has its tensors in one memory.
        let mut resources: HashMap<(&[u8], &[u8]), usize> = HashMap::new();
        let mut elsewhere: HashMap<Cow<'_, str>, usize> = HashMap::new();
        let are_apart = self.has_own_memory();
        for id in graph.ids() {
            let node = graph.node(id);
            let mut join = |other: usize| {
                let (a, b) = (root(&mut parents, id.index()), root(&mut parents, other));
                parents[a.max(b)] = a.min(b);
            };
            for name in colocated(node) {
                match graph.find(&name) {
                    Some(other) => join(other.index()),
                    None if self.is_body => join(*elsewhere.entry(name).or_insert(id.index())),
                    None => {
                        let message =
                            format!("Node '{}' expects to be colocated with unknown node '{name}'", node.name);
                        return Err(Error::invalid_argument(message));
                    }
                }
            }
            if let Some(resource) = named_resource(node).filter(|_| are_apart) {
                join(*resources.entry(resource).or_insert(id.index()));
            }
            for (input, slot) in node.inputs.iter().zip(&node.signature.inputs) {
                if slot.is_ref || slot.dtype == DataType::Resource {
                    join(input.node.index());
                }
            }
        }
        Ok((0..parents.len()).map(|node| root(&mut parents, node)).collect())
    }

    fn has_own_memory(&self) -> bool {
        self.devices.iter().any(|device| device.has_own_memory())
    }

    fn group_of_one(&self, graph: &Graph, id: NodeId) -> Result<Group> {
        let node = graph.node(id);
        let mut requested = DeviceName::parse(&node.device)
            .map_err(|error| error.at_node(&node.name, &node.op.def.name, &node.device))?;
        if let Some(&holder) = self.held.get(&id).filter(|_| self.has_own_memory()) {
            requested = full_name(self.devices[holder as usize].name())?;
        }
        let mut devices = Vec::new();
        let placed = self.placed.get(id.index());
        for (index, device) in self.devices.iter().enumerate() {
            if placed.is_some_and(|&placed| placed as usize != index) {
                continue;
            }
            if let Some(kernel) = kernel_on(graph, id, &**device)? {
                devices.push((index as u32, kernel.priority));
            }
        }
        // What has no kernel at all is reported when it is to run.
        let devices = (!devices.is_empty()).then_some(devices);
        let asks = (requested != DeviceName::default()).then_some(id);
        Ok(Group { node: id, requested, asks, devices })
    }

    fn merged(&self, graph: &Graph, a: Group, b: Group) -> Result<Group> {
        let name = |id: NodeId| graph.node(id).name.as_str();
        let requested = match a.requested.merged(&b.requested) {
            Some(requested) => requested,
            None => {
                let less = a.requested.without_device().merged(&b.requested.without_device());
                less.filter(|_| self.is_soft).ok_or_else(|| {
                    Error::invalid_argument(format!(
                        "Cannot colocate nodes '{}' and '{}': Cannot merge devices with incompatible names: '{}' and '{}'",
                        name(a.node),
                        name(b.node),
                        a.requested,
                        b.requested
                    ))
                })?
            }
        };
        let devices = match (a.devices, b.devices) {
            (Some(of_a), Some(of_b)) => {
                let both = of_a.iter().filter_map(|&(device, priority)| {
                    let other = of_b.iter().find(|(other, _)| *other == device)?;
                    Some((device, priority.min(other.1)))
                });
                let both: Vec<_> = both.collect();
                if both.is_empty() {
                    return Err(Error::invalid_argument(format!(
                        "Cannot colocate nodes '{}' and '{}' because no device type supports both of those nodes and the \
                         other nodes colocated with them.\n  {}\n  {}",
                        name(a.node),
                        name(b.node),
                        self.describe(graph, a.node, &of_a),
                        self.describe(graph, b.node, &of_b),
                    )));
                }
                Some(both)
            }
            (a, b) => a.or(b),
        };
        Ok(Group { node: a.node, requested, asks: a.asks.or(b.asks), devices })
    }

    /// The device of a group.
    fn choose(&self, graph: &Graph, group: &Group, names: &[DeviceName]) -> Result<u32> {
        let requests = [Some(group.requested.clone()), self.is_soft.then(|| group.requested.without_device())];
        let any = self.is_soft.then(DeviceName::default);
        for requested in requests.into_iter().chain([any]).flatten() {
            if let Some(device) = self.first(group, &requested, names) {
                return Ok(device);
            }
        }
        let node = graph.node(group.asks.unwrap_or(group.node));
        let available: Vec<String> = self.devices.iter().map(|device| device.name().to_owned()).collect();
        let meant = names.iter().position(|name| group.requested.matches(name));
        let message = match meant {
            Some(meant) => {
                let device = &self.devices[meant];
                let why = graph.registry().find_kernel(query(graph.node(group.node), &**device)).err();
                let why = why.map(|error| format!("\n  {}", error.message())).unwrap_or_default();
                format!(
                    "Could not satisfy explicit device specification '{}' because no supported kernel for {} devices is \
                     available.\n  {}{why}",
                    group.requested,
                    group.requested.device_type.clone().unwrap_or_default(),
                    self.describe(graph, group.node, group.devices.as_deref().unwrap_or_default())
                )
            }
            None => format!(
                "Operation was explicitly assigned to {} but available devices are [ {} ]. Make sure the device \
                 specification refers to a valid device.",
                group.requested,
                available.join(", ")
            ),
        };
        let message = format!("Cannot assign a device for operation {}: {message}", node.name);
        Err(Error::invalid_argument(message).at_node(&node.name, &node.op.def.name, &node.device))
    }

    /// The first device that a name means and that has kernels for a group.
    fn first(&self, group: &Group, requested: &DeviceName, names: &[DeviceName]) -> Option<u32> {
        let priority = |index: usize| match &group.devices {
            None => Some(0),
            Some(devices) => devices.iter().find(|(other, _)| *other as usize == index).map(|&(_, priority)| priority),
        };
        let default = self.default.filter(|_| *requested == DeviceName::default());
        let suits = |index: &usize| requested.matches(&names[*index]) && priority(*index).is_some();
        let rank = |&index: &usize| {
            let kind = device_priority(self.devices[index].device_type());
            (priority(index), kind, default == Some(index as u32), std::cmp::Reverse(index))
        };
        (0..self.devices.len()).filter(suits).max_by_key(rank).map(|index| index as u32)
    }

    /// A node with the types of devices that have kernels for it.
    fn describe(&self, graph: &Graph, id: NodeId, devices: &[(u32, i32)]) -> String {
        let node = graph.node(id);
        let mut types: Vec<String> = Vec::new();
        for (device, _) in devices {
            let kind = self.devices[*device as usize].device_type().to_string();
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        format!("{} ({}) has kernels for: [ {} ]", node.name, node.op.def.name, types.join(", "))
    }

    /// Moves nodes that ask for nothing to where it saves a copy: what has no inputs and one user goes to the user, what
    /// only looks at its input's shape or hands it on goes to the input, if that is computed.
    fn follow_neighbours(
        &self,
        graph: &Graph,
        groups: &HashMap<usize, Group>,
        groups_of: &[usize],
        placement: &mut [u32],
    ) {
        let mut sizes: HashMap<usize, usize> = HashMap::new();
        groups_of.iter().for_each(|root| *sizes.entry(*root).or_default() += 1);
        let may_move = |id: NodeId, to: u32| {
            let group = &groups[&groups_of[id.index()]];
            sizes[&groups_of[id.index()]] == 1
                && group.requested == DeviceName::default()
                && group.devices.as_ref().is_none_or(|devices| devices.iter().any(|(other, _)| *other == to))
        };
        for id in graph.ids() {
            let node = graph.node(id);
            let is_computed = node.inputs.first().is_some_and(|input| !graph.node(input.node).inputs.is_empty());
            let follows = node.class.looks_at_shapes() || (is_computed && node.class.hands_on());
            if let (true, Some(input)) = (follows, node.inputs.first())
                && may_move(id, placement[input.node.index()])
            {
                placement[id.index()] = placement[input.node.index()];
            }
        }
        let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes().len()];
        for id in graph.ids() {
            graph.node(id).inputs.iter().for_each(|input| users[input.node.index()].push(id));
        }
        for id in graph.ids() {
            let node = graph.node(id);
            let is_source = node.inputs.is_empty() && node.signature.outputs.len() == 1;
            if let (true, [user]) = (is_source, &users[id.index()][..])
                && may_move(id, placement[user.index()])
            {
                placement[id.index()] = placement[user.index()];
            }
        }
    }
}

/// The kernel with which a device runs a node; `None` if it has no kernel for it, or cannot hold what the node would have in
/// its memory.
///
/// # Errors
/// INVALID_ARGUMENT if several kernels match with equal right.
pub fn kernel_on(graph: &Graph, id: NodeId, device: &dyn Device) -> Result<Option<&'static KernelDef>> {
    let node = graph.node(id);
    let kernel = graph.registry().find_kernel_if_any(query(node, device))?;
    Ok(kernel.filter(|kernel| holds_all(device, node, kernel)))
}

/// A device's name with what a program that is not distributed leaves out.
fn full_name(name: &str) -> Result<DeviceName> {
    let name = DeviceName::parse(name)?;
    Ok(DeviceName {
        job: name.job.or_else(|| Some("localhost".to_owned())),
        replica: name.replica.or(Some(0)),
        task: name.task.or(Some(0)),
        ..name
    })
}

/// Which types of devices come first if kernels are equal.
fn device_priority(kind: DeviceType) -> i32 {
    match kind {
        GPU => 210,
        CPU => 60,
        _ => 50,
    }
}

/// Whether a device can hold what a node would have in its memory.
fn holds_all(device: &dyn Device, node: &Node, kernel: &KernelDef) -> bool {
    if !device.has_own_memory() || node.class == NodeClass::Constant {
        // A constant is where it is wanted.
        return true;
    }
    let slots = kernel.host_slots(node.op.def, &node.signature);
    let inputs = node.signature.inputs.iter().zip(&slots.inputs);
    let looks_at_shapes = node.class.looks_at_shapes();
    let mut kept = inputs.filter(|_| !looks_at_shapes).chain(node.signature.outputs.iter().zip(&slots.outputs));
    kept.all(|(slot, is_on_host)| *is_on_host || device.holds(slot.dtype))
}

/// What a node asks of a device's kernels.
fn query<'a>(node: &'a Node, device: &'a dyn Device) -> NodeQuery<'a> {
    NodeQuery {
        node: &node.name,
        op: &node.op.def.name,
        attrs: &node.attrs,
        device: device.device_type(),
        capabilities: device.capabilities(),
    }
}

/// The container and the name of the resource that a node makes handles of.
fn named_resource(node: &Node) -> Option<(&[u8], &[u8])> {
    /// What TensorFlow calls a resource that has no name.
    const ANONYMOUS: &[u8] = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347";
    let is_handle = node.inputs.is_empty() && node.signature.outputs.first()?.dtype == DataType::Resource;
    let text = |attr: &str| match node.attrs.get(attr) {
        Some(AttrValue::String(text)) => Some(text.as_bytes()),
        _ => None,
    };
    let name = text("shared_name").filter(|name| is_handle && !name.is_empty() && *name != ANONYMOUS)?;
    Some((text("container").unwrap_or_default(), name))
}
