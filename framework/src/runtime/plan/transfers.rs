//! The second step: where tensors are, on the host or in the memory of a device that has its own, and what takes them from
//! one place to another, once for each place.

use std::collections::HashMap;
use std::sync::Arc;

use super::context::{Context, ToMake};
use super::draft::{Act, Draft, Drafts, Own};
use super::layout::Source;
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{NodeId, Output, created};
use crate::op::Signature;
use crate::runtime::index::{ConstantIndex, FeedIndex, NodeIndex, Table, kind};
use crate::step::lock;
use crate::tensor::Tensor;

/// Has every node find its inputs where it wants them, and fetches on the host.
///
/// # Errors
/// NOT_FOUND if there is nothing that sends or receives; what devices meet.
pub(super) fn bring(context: &Context<'_>, feeds: &[Output], drafts: Drafts) -> Result<Drafts> {
    let Drafts { nodes, constants, constant_nodes, fetches } = drafts;
    let count = nodes.len();
    if context.options.devices.len() == 1 && !context.places.has_own(0) {
        return Ok(Drafts { nodes, constants, constant_nodes, fetches });
    }
    let (brought, transfers) = (Table::new(), HashMap::new());
    let mut transfers = Transfers { context, feeds, nodes: brought, constants, constant_nodes, transfers };
    // Where each node is now that others stand between them.
    let mut moved: Vec<NodeIndex> = Vec::with_capacity(count);
    let mut late: Vec<(NodeIndex, usize)> = Vec::new();
    for mut draft in nodes {
        draft.controls.iter_mut().for_each(|control| *control = moved[control.position()]);
        let mut later = Vec::new();
        for index in 0..draft.inputs.len() {
            match moved_source(draft.inputs[index], &moved) {
                Some(source) => {
                    let place = context.wanted_place(draft.device, draft.slots.as_deref(), index);
                    draft.inputs[index] = match draft.own {
                        Some(_) => transfers.on_host(source)?,
                        None => transfers.brought_to_input(source, draft.id, index, place)?,
                    };
                }
                None => later.push(index),
            }
        }
        let node = transfers.nodes.push(draft);
        late.extend(later.into_iter().map(|index| (node, index)));
        moved.push(node);
    }
    for (node, index) in late {
        let Some(source) = moved_source(transfers.nodes[node].inputs[index], &moved) else { continue };
        let Draft { id, device, ref slots, .. } = transfers.nodes[node];
        let place = context.wanted_place(device, slots.as_deref(), index);
        transfers.nodes[node].inputs[index] = transfers.brought_to_input(source, id, index, place)?;
    }
    let fetches = fetches.into_iter().map(|fetch| {
        let fetch = moved_source(fetch, &moved).ok_or_else(|| Error::internal("a fetch was not planned"))?;
        transfers.on_host(fetch)
    });
    let fetches = fetches.collect::<Result<_>>()?;
    let Transfers { nodes, constants, constant_nodes, .. } = transfers;
    Ok(Drafts { nodes, constants, constant_nodes, fetches })
}

/// A source by where its node is now; `None` if that is still to come.
fn moved_source(source: Source, moved: &[NodeIndex]) -> Option<Source> {
    match source {
        Source::Node { node, output } if node.is_none() => Some(Source::Node { node, output }),
        Source::Node { node, output } => Some(Source::Node { node: *moved.get(node.position())?, output }),
        source => Some(source),
    }
}

struct Transfers<'b> {
    context: &'b Context<'b>,
    feeds: &'b [Output],
    nodes: Table<kind::Node, Draft>,
    constants: Table<kind::Constant, Tensor>,
    constant_nodes: Table<kind::Constant, NodeId>,
    /// What was brought somewhere, and what it is there.
    transfers: HashMap<Transfer, Source>,
}

/// What was brought somewhere: the source and the place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Transfer {
    Constant(ConstantIndex, u32),
    Feed(FeedIndex, u32),
    Output(NodeIndex, u32, u32),
}

impl Transfers<'_> {
    /// Where a draft has an output.
    fn place_of(&self, node: NodeIndex, output: u32) -> Option<u32> {
        let draft = self.nodes.get(node)?;
        let is_on_host = draft.slots.as_ref().is_some_and(|slots| slots.outputs.get(output as usize) == Some(&true));
        Some(if is_on_host { self.context.places.host(draft.device) } else { draft.device })
    }

    /// A source as a node wants it for an input.
    fn brought_to_input(&mut self, source: Source, id: NodeId, input: usize, place: u32) -> Result<Source> {
        let node = self.context.graph.node(id);
        let Some(slot) = node.signature.inputs.get(input) else { return Ok(source) };
        // A copy of a reference is none, and a shape is the same everywhere.
        if slot.is_ref || node.class.looks_at_shapes() {
            let from = match source {
                Source::Node { node, output } => self.place_of(node, output).unwrap_or(place),
                _ => self.context.places.host,
            };
            if self.context.places.has_own(from) || self.context.places.has_own(place) {
                return Ok(source);
            }
        }
        self.brought(source, place)
    }

    /// A source as it is found at a place: what is elsewhere is sent and received, a constant is there from the start.
    fn brought(&mut self, source: Source, to: u32) -> Result<Source> {
        match source {
            Source::Constant(index) if self.context.places.has_own(to) => self.constant_at(index, to),
            Source::Feed(index) if self.context.places.has_own(to) => self.feed_at(index, to),
            Source::Constant(_) | Source::Feed(_) => Ok(source),
            Source::Node { node, output } => self.output_at(node, output, to),
        }
    }

    /// A source as the host sees it.
    fn on_host(&mut self, source: Source) -> Result<Source> {
        match source {
            Source::Node { node, output } => match self.place_of(node, output) {
                Some(place) => self.brought(source, self.context.places.host(place)),
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
        let key = self.context.original(id).map(|original| (original, to));
        let known = key.and_then(|key| lock(self.context.options.uploads).get(&key).cloned());
        let uploaded = match known {
            Some(uploaded) => uploaded,
            None => {
                let uploaded = self.context.options.devices[to as usize]
                    .to_device(value)
                    .map_err(|error| self.context.at(error, id))?;
                match key {
                    Some(key) => lock(self.context.options.uploads).entry(key).or_insert(uploaded).clone(),
                    None => uploaded,
                }
            }
        };
        self.constant_nodes.push(id);
        let source = Source::Constant(self.constants.push(uploaded));
        self.transfers.insert(Transfer::Constant(index, to), source);
        Ok(source)
    }

    fn feed_at(&mut self, index: FeedIndex, to: u32) -> Result<Source> {
        let feed = *self.feeds.get(index.position()).ok_or_else(|| Error::internal("a feed is unknown"))?;
        let dtype = self.context.graph.node(feed.node).signature.outputs[feed.index].dtype;
        if !dtype.is_pod() {
            return Ok(Source::Feed(index));
        }
        let key = Transfer::Feed(index, to);
        self.handed_over(key, Source::Feed(index), feed, dtype, (self.context.places.host, to))
    }

    fn output_at(&mut self, node: NodeIndex, output: u32, to: u32) -> Result<Source> {
        let source = Source::Node { node, output };
        let Some(from) = self.place_of(node, output).filter(|from| *from != to) else { return Ok(source) };
        let key = Transfer::Output(node, output, to);
        if let Some(source) = self.transfers.get(&key) {
            return Ok(*source);
        }
        let draft = &self.nodes[node];
        let id = draft.id;
        if let (Act::Forward, [Source::Constant(constant)], true) =
            (&draft.act, &draft.inputs[..], self.context.places.has_own(to))
        {
            // It waits for what the constant waits for, and is there already.
            let (constant, controls) = (*constant, draft.controls.clone());
            let inputs = vec![self.constant_at(constant, to)?];
            let node = self.nodes.push(Draft::of(id, Act::Forward, to, inputs, controls));
            let source = Source::Node { node, output: 0 };
            self.transfers.insert(key, source);
            return Ok(source);
        }
        let signature = draft.own.as_ref().map_or(&self.context.graph.node(id).signature, |own| &own.signature);
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
        let edge = format!("edge_{}_{}_{}", self.nodes.len(), self.context.graph.node(id).name, output.index);
        let name = |index: u32| self.context.options.devices[index as usize].name();
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
        let op = self.context.graph.registry().op(op)?.def;
        let signature = Arc::new(Signature::new(op, attrs)?);
        let name = format!("{}/{}", self.context.graph.node(id).name, op.name);
        let place = &*self.context.options.devices[device as usize];
        let to_make = ToMake { name: &name, op, attrs, signature: &signature, device: place, id: None };
        let (kernel, memory) = self.context.make_kernel(&to_make, &[])?;
        let own = Some(Box::new(Own { name, op, signature }));
        Ok(self.nodes.push(Draft { memory, own, ..Draft::of(id, Act::Kernel(kernel), device, inputs, controls) }))
    }
}
