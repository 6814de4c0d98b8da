//! The placer: which device each node of a graph runs on.
//!
//! The rules are TensorFlow's. Nodes that must be together (by the attr `_class`, by references, by resources) form a
//! group, which goes to the first device that its requests allow and that has kernels for all of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::attr::AttrValue;
use crate::device::{Device, DeviceName};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::kernel::{CPU, DeviceType, GPU};
use crate::registry::NodeQuery;

/// What the prefix of a colocation in the attr `_class` is.
const COLOCATED: &str = "loc:@";

/// The devices to place nodes on.
pub(super) struct Placer<'p> {
    pub(super) devices: &'p [Arc<dyn Device>],
    /// Whether a request that cannot be met is given up.
    pub(super) is_soft: bool,
    /// Where nodes go that ask for nothing: the device of the call, for the nodes of a function.
    pub(super) default: Option<u32>,
}

/// What is known of a group of nodes that must be together.
struct Group {
    /// A node of the group, for errors.
    node: NodeId,
    requested: DeviceName,
    /// A node that asks for the device.
    asks: Option<NodeId>,
    /// The types of devices that have kernels, with the kernels' least priority there; `None` for any.
    types: Option<Vec<(DeviceType, i32)>>,
}

impl Placer<'_> {
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
        for id in graph.ids() {
            let node = graph.node(id);
            let mut join = |other: usize| {
                let (a, b) = (root(&mut parents, id.index()), root(&mut parents, other));
                parents[a.max(b)] = a.min(b);
            };
            let empty = Vec::new();
            let classes = match node.attrs.get("_class") {
                Some(AttrValue::ListString(classes)) => classes,
                _ => &empty,
            };
            for class in classes {
                let text = String::from_utf8_lossy(class.as_bytes());
                let Some(other) = text.strip_prefix(COLOCATED) else { continue };
                let other = graph.find(other).ok_or_else(|| {
                    let message = format!("Node '{}' expects to be colocated with unknown node '{other}'", node.name);
                    Error::invalid_argument(message)
                })?;
                join(other.index());
            }
            for (input, slot) in node.inputs.iter().zip(&node.signature.inputs) {
                if slot.is_ref || slot.dtype == DataType::Resource {
                    join(input.node.index());
                }
            }
        }
        Ok((0..parents.len()).map(|node| root(&mut parents, node)).collect())
    }

    fn group_of_one(&self, graph: &Graph, id: NodeId) -> Result<Group> {
        let node = graph.node(id);
        let requested = DeviceName::parse(&node.device)
            .map_err(|error| error.at_node(&node.name, &node.op.def.name, &node.device))?;
        let mut types: Vec<DeviceType> = Vec::new();
        for device in self.devices {
            if !types.contains(&device.device_type()) {
                types.push(device.device_type());
            }
        }
        let query =
            NodeQuery { node: &node.name, op: &node.op.def.name, attrs: &node.attrs, device: CPU, capabilities: &[] };
        let supported = graph.registry().supported_devices(query, &types)?;
        // What has no kernel at all is reported when it is to run.
        let types = (!supported.is_empty()).then_some(supported);
        let asks = (requested != DeviceName::default()).then_some(id);
        Ok(Group { node: id, requested, asks, types })
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
        let types = match (a.types, b.types) {
            (Some(of_a), Some(of_b)) => {
                let both = of_a.iter().filter_map(|&(kind, priority)| {
                    let other = of_b.iter().find(|(other, _)| *other == kind)?;
                    Some((kind, priority.min(other.1)))
                });
                let both: Vec<_> = both.collect();
                if both.is_empty() {
                    return Err(Error::invalid_argument(format!(
                        "Cannot colocate nodes '{}' and '{}' because no device type supports both of those nodes and the \
                         other nodes colocated with them.\n  {}\n  {}",
                        name(a.node),
                        name(b.node),
                        describe(graph, a.node, &of_a),
                        describe(graph, b.node, &of_b),
                    )));
                }
                Some(both)
            }
            (a, b) => a.or(b),
        };
        Ok(Group { node: a.node, requested, asks: a.asks.or(b.asks), types })
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
        let is_there = names.iter().any(|name| group.requested.matches(name));
        let message = if is_there {
            let kind = group.requested.device_type.clone().unwrap_or_default();
            let types = group.types.as_deref().unwrap_or_default();
            format!(
                "Could not satisfy explicit device specification '{}' because no supported kernel for {kind} devices is \
                 available.\n  {}",
                group.requested,
                describe(graph, group.node, types)
            )
        } else {
            format!(
                "Operation was explicitly assigned to {} but available devices are [ {} ]. Make sure the device \
                 specification refers to a valid device.",
                group.requested,
                available.join(", ")
            )
        };
        let message = format!("Cannot assign a device for operation {}: {message}", node.name);
        Err(Error::invalid_argument(message).at_node(&node.name, &node.op.def.name, &node.device))
    }

    /// The first device that a name means and that has kernels for a group.
    fn first(&self, group: &Group, requested: &DeviceName, names: &[DeviceName]) -> Option<u32> {
        let priority = |kind: DeviceType| match &group.types {
            None => Some(0),
            Some(types) => types.iter().find(|(other, _)| *other == kind).map(|&(_, priority)| priority),
        };
        let default = self.default.filter(|_| *requested == DeviceName::default());
        let suits =
            |index: &usize| requested.matches(&names[*index]) && priority(self.devices[*index].device_type()).is_some();
        let rank = |&index: &usize| {
            let kind = self.devices[index].device_type();
            let is_default = default == Some(index as u32);
            (is_default, priority(kind), device_priority(kind), std::cmp::Reverse(index))
        };
        (0..self.devices.len()).filter(suits).max_by_key(rank).map(|index| index as u32)
    }

    /// Moves nodes that ask for nothing to where it saves a copy: what has no inputs and one user goes to the user, what
    /// only looks at its input's shape or hands it on goes to the input.
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
            let kind = self.devices[to as usize].device_type();
            sizes[&groups_of[id.index()]] == 1
                && group.requested == DeviceName::default()
                && group.types.as_ref().is_none_or(|types| types.iter().any(|(other, _)| *other == kind))
        };
        for id in graph.ids() {
            let node = graph.node(id);
            let follows = matches!(&*node.op.def.name, "Shape" | "ShapeN" | "Size" | "Rank" | "Identity");
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

/// A node with the types of devices that have kernels for it.
fn describe(graph: &Graph, id: NodeId, types: &[(DeviceType, i32)]) -> String {
    let node = graph.node(id);
    let types: Vec<String> = types.iter().map(|(kind, _)| kind.to_string()).collect();
    format!("{} ({}) has kernels for: [ {} ]", node.name, node.op.def.name, types.join(", "))
}
