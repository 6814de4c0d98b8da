//! Where tensors are: on the host, or in the memory of a device that has its own; and what takes them from one place to
//! another, once for each place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::build::Builder;
use super::draft::{Act, Draft, Own};
use super::layout::Source;
use crate::attr::{AttrMap, AttrValue};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{Node, NodeId, Output, created};
use crate::kernel::HostSlots;
use crate::op::Signature;
use crate::runtime::index::{ConstantIndex, FeedIndex, NodeIndex};
use crate::step::lock;
use crate::tensor::Tensor;

/// Constants in the memory of devices, by node and device: the plans of one graph share them.
pub(in crate::runtime) type Uploads = Mutex<HashMap<(NodeId, u32), Tensor>>;

/// Where each device of a plan has its tensors. A place is named by a device: itself if it has memory of its own or is of
/// the host, and the host's first if a device has something in host memory.
pub(super) struct Places {
    has_own: Box<[bool]>,
    /// The first device of the host.
    host: u32,
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

/// What was brought somewhere: the source and the place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Transfer {
    Constant(ConstantIndex, u32),
    Feed(FeedIndex, u32),
    Output(NodeIndex, u32, u32),
}

impl Builder<'_> {
    /// What a node has in host memory; `None` on a device without memory of its own.
    pub(super) fn host_slots(&self, id: NodeId, node: &Node) -> Result<Option<Box<HostSlots>>> {
        if !self.places.has_own(self.device_index(id)) {
            return Ok(None);
        }
        let def = self.find_kernel(&node.name, node.op.def, &node.attrs, self.device(id))?;
        Ok(Some(Box::new(def.host_slots(node.op.def, &node.signature))))
    }

    /// Where a draft has an output.
    fn place_of(&self, node: NodeIndex, output: u32) -> Option<u32> {
        let draft = self.drafts.get(node)?;
        let is_on_host = draft.slots.as_ref().is_some_and(|slots| slots.outputs.get(output as usize) == Some(&true));
        Some(if is_on_host { self.places.host(draft.device) } else { draft.device })
    }

    /// Where a draft wants an input.
    pub(super) fn wanted_place(&self, device: u32, slots: Option<&HostSlots>, input: usize) -> u32 {
        let is_on_host = slots.is_some_and(|slots| slots.inputs.get(input) == Some(&true));
        if is_on_host { self.places.host(device) } else { device }
    }

    /// A source as a node wants it for an input.
    pub(super) fn brought_to_input(
        &mut self,
        source: Source,
        id: NodeId,
        (device, slots): (u32, Option<&HostSlots>),
        input: usize,
    ) -> Result<Source> {
        let place = self.wanted_place(device, slots, input);
        let node = self.graph.node(id);
        let Some(slot) = node.signature.inputs.get(input) else { return Ok(source) };
        // A copy of a reference is none, and a shape is the same everywhere.
        if slot.is_ref || node.class.looks_at_shapes() {
            let from = match source {
                Source::Node { node, output } => self.place_of(node, output).unwrap_or(place),
                _ => self.places.host,
            };
            if self.places.has_own(from) || self.places.has_own(place) {
                return Ok(source);
            }
        }
        self.brought(source, place)
    }

    /// A source as it is found at a place: what is elsewhere is sent and received, a constant is there from the start.
    pub(super) fn brought(&mut self, source: Source, to: u32) -> Result<Source> {
        match source {
            Source::Constant(index) if self.places.has_own(to) => self.constant_at(index, to),
            Source::Feed(index) if self.places.has_own(to) => self.feed_at(index, to),
            Source::Constant(_) | Source::Feed(_) => Ok(source),
            Source::Node { node, output } => self.output_at(node, output, to),
        }
    }

    /// A source as the host sees it.
    pub(super) fn on_host(&mut self, source: Source) -> Result<Source> {
        match source {
            Source::Node { node, output } => match self.place_of(node, output) {
                Some(place) => self.brought(source, self.places.host(place)),
                None => Ok(source),
            },
            _ => Ok(source),
        }
    }

    fn constant_at(&mut self, index: ConstantIndex, to: u32) -> Result<Source> {
        let value = &self.constants[index];
        if !value.dtype().is_pod() {
            return Ok(Source::Constant(index));
        }
        if let Some(source) = self.transfers.get(&Transfer::Constant(index, to)) {
            return Ok(*source);
        }
        let id = self.constant_nodes[index];
        let key = self.original(id).map(|original| (original, to));
        let known = key.and_then(|key| lock(self.options.uploads).get(&key).cloned());
        let uploaded = match known {
            Some(uploaded) => uploaded,
            None => {
                let uploaded =
                    self.options.devices[to as usize].to_device(value).map_err(|error| self.at(error, id))?;
                match key {
                    Some(key) => lock(self.options.uploads).entry(key).or_insert(uploaded).clone(),
                    None => uploaded,
                }
            }
        };
        let source = self.add_constant(id, uploaded);
        self.transfers.insert(Transfer::Constant(index, to), source);
        Ok(source)
    }

    fn feed_at(&mut self, index: FeedIndex, to: u32) -> Result<Source> {
        let Some((&feed, _)) = self.feeds.iter().find(|(_, fed)| **fed == index) else {
            return Err(Error::internal("a feed is unknown"));
        };
        let dtype = self.graph.node(feed.node).signature.outputs[feed.index].dtype;
        if !dtype.is_pod() {
            return Ok(Source::Feed(index));
        }
        let key = Transfer::Feed(index, to);
        self.handed_over(key, Source::Feed(index), feed, dtype, (self.places.host, to))
    }

    fn output_at(&mut self, node: NodeIndex, output: u32, to: u32) -> Result<Source> {
        let source = Source::Node { node, output };
        let Some(from) = self.place_of(node, output).filter(|from| *from != to) else { return Ok(source) };
        let key = Transfer::Output(node, output, to);
        if let Some(source) = self.transfers.get(&key) {
            return Ok(*source);
        }
        let draft = &self.drafts[node];
        let id = draft.id;
        if let (Act::Forward, [Source::Constant(constant)], true) =
            (&draft.act, &draft.inputs[..], self.places.has_own(to))
        {
            // It waits for what the constant waits for, and is there already.
            let (constant, controls) = (*constant, draft.controls.clone());
            let inputs = vec![self.constant_at(constant, to)?];
            let node = self.drafts.push(Draft::of(id, Act::Forward, to, inputs, controls));
            let source = Source::Node { node, output: 0 };
            self.transfers.insert(key, source);
            return Ok(source);
        }
        let signature = draft.own.as_ref().map_or(&self.graph.node(id).signature, |own| &own.signature);
        let Some(slot) = signature.outputs.get(output as usize) else { return Ok(source) };
        let (dtype, output) = (slot.dtype, Output { node: id, index: output as usize });
        self.handed_over(key, source, output, dtype, (from, to))
    }

    /// Sends and receives a source, which is known by the name of an output.
    fn handed_over(
        &mut self,
        key: Transfer,
        source: Source,
        output: Output,
        dtype: DataType,
        (from, to): (u32, u32),
    ) -> Result<Source> {
        if let Some(source) = self.transfers.get(&key) {
            return Ok(*source);
        }
        let id = output.node;
        let edge = format!("edge_{}_{}_{}", self.drafts.len(), self.graph.node(id).name, output.index);
        let name = |index: u32| self.options.devices[index as usize].name();
        let (sender, receiver) = (name(from).to_owned(), name(to).to_owned());
        let attrs = |dtype_attr: &str| {
            let attrs = [
                (dtype_attr, AttrValue::Type(dtype)),
                ("tensor_name", edge.as_str().into()),
                ("send_device", sender.as_str().into()),
                ("send_device_incarnation", AttrValue::Int(1)),
                ("recv_device", receiver.as_str().into()),
                ("client_terminated", AttrValue::Bool(false)),
            ];
            attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<AttrMap>()
        };
        let sent = self.transfer(id, created::SEND, &attrs("T"), from, vec![source], Vec::new())?;
        // It waits for the sender, and not for something that may never be sent.
        let received = self.transfer(id, created::RECV, &attrs("tensor_type"), to, Vec::new(), vec![sent])?;
        let source = Source::Node { node: received, output: 0 };
        self.transfers.insert(key, source);
        Ok(source)
    }

    /// Adds a node that the graph does not have.
    fn transfer(
        &mut self,
        id: NodeId,
        op: &str,
        attrs: &AttrMap,
        device: u32,
        inputs: Vec<Source>,
        controls: Vec<NodeIndex>,
    ) -> Result<NodeIndex> {
        let op = self.graph.registry().op(op)?.def;
        let signature = Arc::new(Signature::new(op, attrs)?);
        let name = format!("{}/{}", self.graph.node(id).name, op.name);
        let place = &*self.options.devices[device as usize];
        let (kernel, memory) = self.make_kernel(&name, op, attrs, &signature, place, &[])?;
        let own = Some(Box::new(Own { name, op, signature }));
        Ok(self.drafts.push(Draft { memory, own, ..Draft::of(id, Act::Kernel(kernel), device, inputs, controls) }))
    }
}
