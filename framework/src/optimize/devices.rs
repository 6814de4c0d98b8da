//! The devices on which nodes may run: what takes the place of a node must have kernels there.

use super::pass::Ends;
use crate::device::{DeviceName, DeviceType};
use crate::graph::{Graph, Node, NodeClass, NodeId};
use crate::kernel::KernelDef;
use crate::registry::NodeQuery;

/// A type of device, with what devices of it can do.
pub(super) type Kind = (DeviceType, Vec<&'static str>);

/// The kernel of a node on a device, if it has one.
pub(super) fn kernel_on(graph: &Graph, node: &Node, (device, capabilities): &Kind) -> Option<&'static KernelDef> {
    let (name, op, attrs) = (&node.name, &node.op.def.name, &node.attrs);
    graph.registry().find_kernel_if_any(NodeQuery { node: name, op, attrs, device: *device, capabilities }).ok()?
}

/// The devices on which a node may run: of those for which it has kernels the ones that it asks for, or else all.
pub(super) fn may_run_on(graph: &Graph, ends: &Ends, node: &Node) -> Vec<Kind> {
    let unknown: Vec<Kind>;
    let devices = if ends.devices.is_empty() {
        unknown = possible_devices(graph, node);
        &unknown[..]
    } else {
        &ends.devices[..]
    };
    let asked = DeviceName::parse(&node.device).ok().and_then(|name| name.device_type);
    let may_run: Vec<&Kind> = devices.iter().filter(|kind| kernel_on(graph, node, kind).is_some()).collect();
    // Where it is to run it does, if it can.
    let is_asked = |(device, _): &Kind| asked.as_deref().is_some_and(|asked| asked == device.0);
    let only = may_run.iter().any(|kind| is_asked(kind));
    may_run.into_iter().filter(|kind| !only || is_asked(kind)).cloned().collect()
}

/// Whether the nodes that were added for another, from `added` on, have kernels wherever that one may run.
pub(super) fn has_kernels(graph: &Graph, ends: &Ends, root: NodeId, added: usize) -> bool {
    let may_run = may_run_on(graph, ends, graph.node(root));
    let has_kernel =
        |node: &Node, kind: &Kind| node.class == NodeClass::Constant || kernel_on(graph, node, kind).is_some();
    !may_run.is_empty() && may_run.iter().all(|kind| graph.nodes()[added..].iter().all(|node| has_kernel(node, kind)))
}

/// The types of devices for which there are kernels of a node's op, with all that any of them requires.
fn possible_devices(graph: &Graph, node: &Node) -> Vec<Kind> {
    let mut devices: Vec<Kind> = Vec::new();
    for kernel in graph.registry().kernels_of(&node.op.def.name) {
        match devices.iter_mut().find(|(device, _)| *device == kernel.device) {
            Some((_, requires)) => requires.extend_from_slice(kernel.requires),
            None => devices.push((kernel.device, kernel.requires.to_vec())),
        }
    }
    devices
}
