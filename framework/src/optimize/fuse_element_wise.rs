//! Makes one node of several that compute each element by itself: main memory is read and written once, and not for each.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::devices::{has_kernels, kernel_on, may_run_on};
use super::pass::{Ends, Pass};
use super::purity::Purity;
use crate::attr::AttrValue;
use crate::collect;
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{Created, CreatedFrom, Graph, GraphPatch, Node, NodeBuilder, NodeId, Output, colocated, created};
use crate::sort::CompactSort as _;

pub(super) struct FuseElementWise;

/// So many nodes at most become one.
const MOST: usize = 64;

impl Pass for FuseElementWise {
    fn name(&self) -> &'static str {
        "fuse-element-wise"
    }

    fn summary(&self) -> &'static str {
        "makes one node of several that compute each element by itself"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        let mut known = Known::default();
        nodes.iter().any(|&id| {
            let node = graph.node(id);
            known.may_be_fused(graph, node)
                && node.inputs.iter().any(|input| known.may_be_fused(graph, graph.node(input.node)))
        })
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let groups = groups(patch, ends);
        let mut replaced = HashMap::new();
        for group in &groups {
            let Some(&Member { id: root, .. }) = group.last() else { continue };
            if let Some(new) = fused(patch, ends, group, &replaced) {
                patch.replace_node(root, new);
                replaced.insert(root, new);
            }
        }
        Ok(replaced.len())
    }

    /// What is one node here is no more what rewrites look for.
    fn is_last(&self) -> bool {
        true
    }

    fn is_portable(&self) -> bool {
        false
    }

    fn creates(&self) -> &'static [Created] {
        static CREATED: OnceLock<Vec<Created>> = OnceLock::new();
        CREATED.get_or_init(|| {
            let mut ops: Vec<&'static str> = collect::linked_kernels()
                .filter(|kernel| kernel.element_wise.is_some())
                .map(|kernel| kernel.op)
                .collect();
            ops.compact_sort();
            ops.dedup();
            vec![Created { from: CreatedFrom::Several(ops.leak()), to: created::FUSED_ELEMENT_WISE }]
        })
    }
}

/// A node of a group.
#[derive(Clone, Copy)]
struct Member {
    id: NodeId,
    /// The value of the attr that is an argument of its function, if there is one.
    parameter: Option<f32>,
}

/// What was found out of ops, which many nodes have.
#[derive(Default)]
struct Known {
    /// By the address of the op's declaration, whether it has kernels that compute each element by itself.
    element_wise: HashMap<usize, bool>,
    purity: Purity,
}

impl Known {
    /// Whether a node has the form of those that are fused: a first look.
    fn may_be_fused(&mut self, graph: &Graph, node: &Node) -> bool {
        let [output] = &node.signature.outputs[..] else { return false };
        let inputs = &node.signature.inputs;
        let key = std::ptr::from_ref(node.op.def).addr();
        matches!(inputs.len(), 1 | 2)
            && inputs.iter().all(|input| input.dtype == output.dtype && !input.is_ref)
            && *self.element_wise.entry(key).or_insert_with(|| {
                graph.registry().kernels_of(&node.op.def.name).iter().any(|kernel| kernel.element_wise.is_some())
            })
    }

    /// A node as a member of a group, if it can be one.
    fn member(&mut self, graph: &Graph, ends: &Ends, id: NodeId) -> Option<Member> {
        let node = graph.node(id);
        let can_be = self.may_be_fused(graph, node)
            && node.attrs.get("_kernel").is_none()
            && node.inputs.iter().all(|input| input.node < id)
            && !ends.feeds_some_of(id)
            && self.purity.is_pure(graph, node);
        if !can_be {
            return None;
        }
        let mut attrs = Vec::new();
        for kind in may_run_on(graph, ends, node) {
            attrs.push(kernel_on(graph, node, &kind)?.element_wise?.parameter);
        }
        let first = *attrs.first()?;
        if attrs.iter().any(|&attr| attr != first) {
            return None;
        }
        let parameter = match first {
            None => None,
            Some(name) => match node.attrs.get(name) {
                Some(&AttrValue::Float(value)) => Some(value),
                _ => return None,
            },
        };
        Some(Member { id, parameter })
    }
}

/// The groups of nodes that become one node each: in the order of the graph, the one that others see last.
///
/// Beginning at the end of the graph, a node joins the group of all who use it, if nobody else sees it. So no way leads out
/// of a group and back into it, and whatever makes a node of it dead makes the last one dead.
fn groups(graph: &Graph, ends: &Ends) -> Vec<Vec<Member>> {
    let mut known = Known::default();
    let members: Vec<Option<Member>> = graph.ids().map(|id| known.member(graph, ends, id)).collect();
    let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); members.len()];
    let mut awaited = vec![false; members.len()];
    for id in graph.ids() {
        let node = graph.node(id);
        node.inputs.iter().for_each(|input| users[input.node.index()].push(id));
        node.control_inputs.iter().for_each(|control| awaited[control.index()] = true);
    }
    // By node, the last of its group.
    let mut group_of: HashMap<NodeId, NodeId> = HashMap::new();
    let mut groups: HashMap<NodeId, Vec<Member>> = HashMap::new();
    for member in members.iter().rev().flatten() {
        let id = member.id;
        let users = &users[id.index()];
        let root = users.first().and_then(|user| group_of.get(user)).copied().filter(|&root| {
            !awaited[id.index()]
                && !ends.holds(id)
                && graph.node(id).control_inputs.is_empty()
                && users.iter().all(|user| *user > id && group_of.get(user) == Some(&root))
                && groups[&root].len() < MOST
                && fit(graph, id, root)
        });
        group_of.insert(id, root.unwrap_or(id));
        groups.entry(root.unwrap_or(id)).or_default().push(*member);
    }
    let mut groups: Vec<Vec<Member>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.iter_mut().for_each(|group| group.compact_sort_by_key(|member| member.id));
    groups.compact_sort_by_key(|group| group.last().map(|last| last.id));
    groups
}

/// Whether two nodes may be in one group: they run at one place, and may have one shape.
fn fit(graph: &Graph, id: NodeId, root: NodeId) -> bool {
    let (node, last) = (graph.node(id), graph.node(root));
    let dtype = |node: &Node| node.signature.outputs.first().map(|output| output.dtype);
    dtype(node) == dtype(last)
        && node.device == last.device
        && colocated(node).eq(colocated(last))
        && node.output_shapes[0].is_compatible(&last.output_shapes[0])
}

/// Adds the node for a group, where other groups may have been `replaced`. `None` if there can be none.
fn fused(
    patch: &mut GraphPatch<'_>,
    ends: &Ends,
    group: &[Member],
    replaced: &HashMap<NodeId, NodeId>,
) -> Option<NodeId> {
    let root = group.last()?.id;
    let op = patch.registry().find_op(created::FUSED_ELEMENT_WISE)?.def;
    let now = |node: NodeId| replaced.get(&node).copied().unwrap_or(node);
    let places: HashMap<NodeId, usize> = group.iter().enumerate().map(|(place, member)| (member.id, place)).collect();
    let mut inputs: Vec<Output> = Vec::new();
    for input in group.iter().flat_map(|member| &patch.node(member.id).inputs) {
        if !places.contains_key(&input.node) && !inputs.contains(input) {
            inputs.push(*input);
        }
    }
    let number = |input: &Output| match places.get(&input.node) {
        Some(place) => inputs.len() + place,
        None => inputs.iter().position(|other| other == input).unwrap_or_default(),
    };
    // Two for each node.
    let mut operands: Vec<i64> = Vec::with_capacity(2 * group.len());
    for member in group {
        let given = &patch.node(member.id).inputs;
        operands.extend(given.iter().map(|input| number(input) as i64));
        operands.resize(operands.len().next_multiple_of(2), -1);
    }
    let last = patch.node(root).clone();
    let dtype: DataType = last.signature.outputs.first()?.dtype;
    let ops: Vec<String> = group.iter().map(|member| patch.node(member.id).op.def.name.to_string()).collect();
    let parameters: Vec<f32> = group.iter().map(|member| member.parameter.unwrap_or(0.0)).collect();
    let added = patch.nodes().len();
    patch.beside(root);
    let mut builder = NodeBuilder::new(patch, op);
    builder.input_list(inputs.iter().map(|&input| Output { node: now(input.node), ..input }));
    builder.attr("T", dtype).attr("ops", ops).attr("operands", operands).attr("parameters", parameters);
    for (name, value) in last.attrs.iter().filter(|(name, _)| name.starts_with('_')) {
        builder.attr(name, value.clone());
    }
    last.control_inputs.iter().for_each(|&control| _ = builder.control_input(now(control)));
    let new = builder.build().ok();
    let output = |node: NodeId| Output { node, index: 0 };
    let new = new.filter(|&new| {
        patch.shape(output(root)).is_compatible(patch.shape(output(new))) && has_kernels(patch, ends, root, added)
    });
    if new.is_none() && patch.nodes().len() > added {
        patch.take_back(added);
    }
    new
}
