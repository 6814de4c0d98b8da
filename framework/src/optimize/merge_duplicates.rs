//! Has one node compute what several would: those of one op with the same attrs, inputs and device.

use std::collections::{HashMap, HashSet};

use prost::Message;
use smallvec::SmallVec;

use super::pass::{Ends, Pass};
use super::purity::{Purity, outputs};
use crate::attr::AttrValue;
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, Inlined, Node, NodeId, Output};
use crate::proto;
use crate::shape::Shape;
use crate::sort::CompactSort as _;
use crate::tensor::Tensor;

pub(super) struct MergeDuplicates;

impl Pass for MergeDuplicates {
    fn name(&self) -> &'static str {
        "merge-duplicates"
    }

    fn summary(&self) -> &'static str {
        "has one node compute what several would"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        let mut seen = HashSet::with_capacity(nodes.len());
        let mut purity = Purity::default();
        // Attrs are looked at later, and so are nodes that take duplicates.
        nodes.iter().any(|&id| {
            let node = graph.node(id);
            let inputs =
                node.inputs.iter().map(|&input| small(graph, input).map_or(Operand::Output(input), Operand::Constant));
            !node.inputs.is_empty()
                && !seen.insert((
                    node.op.def.name.as_ref(),
                    inputs.collect::<SmallVec<[Operand<'_>; 2]>>(),
                    &node.control_inputs,
                ))
                && purity.is_pure(graph, node)
        })
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let duplicates = duplicates(patch, ends);
        for &(duplicate, first) in &duplicates {
            for output in outputs(patch, duplicate) {
                patch.replace_uses(output, Output { node: first, ..output });
            }
            patch.redirect_controls(duplicate, &[first]);
        }
        Ok(duplicates.len())
    }
}

/// Constants of more bytes are not compared.
const MAX_BYTES: usize = 1 << 12;

/// Of nodes that differ in their attrs alone, so many are compared.
const MAX_ALIKE: usize = 8;

/// An input, for a first look.
#[derive(PartialEq, Eq, Hash)]
enum Operand<'g> {
    Output(Output),
    Constant((&'g Shape, &'g [u8])),
}

/// The elements of an output that is a constant of few bytes.
fn small(graph: &Graph, output: Output) -> Option<(&Shape, &[u8])> {
    graph.constant(output).filter(|_| graph.node(output.node).control_inputs.is_empty()).and_then(content)
}

fn content(value: &Tensor) -> Option<(&Shape, &[u8])> {
    let bytes = value.bytes().ok().filter(|bytes| bytes.len() <= MAX_BYTES)?;
    Some((value.shape(), bytes))
}

/// What two nodes must have in common before their attrs are compared.
#[derive(PartialEq, Eq, Hash)]
struct Key<'g> {
    op: &'g str,
    inputs: SmallVec<[Output; 2]>,
    controls: Vec<NodeId>,
    device: &'g str,
    constant: Option<(&'g Shape, &'g [u8])>,
}

/// The nodes that compute what one before them does, with that one.
fn duplicates(graph: &Graph, ends: &Ends) -> Vec<(NodeId, NodeId)> {
    let mut first: HashMap<Key<'_>, SmallVec<[NodeId; 1]>> = HashMap::new();
    let mut merged: HashMap<NodeId, NodeId> = HashMap::new();
    let (mut found, mut purity) = (Vec::new(), Purity::default());
    let is_named = |id: NodeId| ends.is_written && ends.holds(id);
    for id in graph.ids() {
        let node = graph.node(id);
        let value = graph.constant(Output { node: id, index: 0 });
        let constant = value.and_then(content);
        if ends.feeds_some_of(id) || node.inputs.iter().any(|input| input.node >= id) {
            continue;
        }
        if (value.is_some() && constant.is_none()) || (value.is_none() && node.inputs.is_empty()) {
            continue;
        }
        let now = |node: NodeId| merged.get(&node).copied().unwrap_or(node);
        let mut controls: Vec<NodeId> = node.control_inputs.iter().map(|&control| now(control)).collect();
        controls.compact_sort();
        controls.dedup();
        let inputs = node.inputs.iter().map(|&input| Output { node: now(input.node), ..input }).collect();
        let key = Key { op: &node.op.def.name, inputs, controls, device: &node.device, constant };
        let alike = first.entry(key).or_default();
        let same = alike.iter().copied().find(|&other| {
            let other_node = graph.node(other);
            purity.is_pure(graph, node)
                && has_attrs_of(node, other_node)
                && node.output_shapes.iter().zip(&other_node.output_shapes).all(|(a, b)| a.is_compatible(b))
        });
        match same {
            // One whose name is asked for stays, but others may take what it computes.
            Some(same) if !is_named(id) => {
                merged.insert(id, same);
                found.push((id, same));
            }
            Some(_) => {}
            None if alike.len() < MAX_ALIKE => alike.push(id),
            None => {}
        }
    }
    found
}

/// Whether two nodes of one op have the same attrs. The values of constants are compared before.
fn has_attrs_of(a: &Node, b: &Node) -> bool {
    let bytes = |(name, value): (&str, &AttrValue)| {
        let value = proto::attr_to_proto(value).ok()?;
        Some((name.to_owned(), value.encode_to_vec()))
    };
    // Of the nodes of several calls one may speak for all.
    let (mut a, mut b) = (a.attrs.iter().filter(says_what), b.attrs.iter().filter(says_what));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a.0 == b.0 && bytes(a).zip(bytes(b)).is_some_and(|(a, b)| a == b) => {}
            _ => return false,
        }
    }
}

/// Whether an attr says what a node computes, and not where it was.
fn says_what((name, _): &(&str, &AttrValue)) -> bool {
    !Inlined::ATTRS.contains(name)
}
