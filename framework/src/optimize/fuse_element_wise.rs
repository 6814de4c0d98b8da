//! Makes one node of several that compute each element by itself: main memory is read and written once, and not for each.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::devices::{has_kernels, kernel_on, may_run_on};
use super::pass::{Ends, Pass};
use crate::attr::AttrValue;
use crate::collect;
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{
    Created, CreatedFrom, Graph, GraphPatch, Inlined, Node, NodeBuilder, NodeId, Output, colocated, created,
};
use crate::kernel::{CPU, DeviceType, ElementWise, KernelDef, Meet};
use crate::op::{AllowedValues, AttrBase, AttrDefault};
use crate::sort::CompactSort as _;

pub(super) struct FuseElementWise;

/// So many nodes at most become one.
const MOST: usize = 64;

/// Elsewhere than on the host a kernel is bound to its tensors, and every device binds so many inputs and the output.
const MOST_BOUND: usize = 7;

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
            let Some(root) = group.last().map(|last| last.id) else { continue };
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
struct Member {
    id: NodeId,
    /// The value of the attr that is an argument of its function, if there is one.
    parameter: Option<f32>,
    meet: Meet,
    /// The types of devices on which it may run.
    devices: Vec<DeviceType>,
}

/// What was found out of ops and kernels, which many nodes have.
#[derive(Default)]
struct Known {
    /// By the address of the op's declaration, whether it has kernels that compute each element by itself.
    element_wise: HashMap<usize, bool>,
    /// By the address of the kernel's registration and dtypes, whether it has a function of such elements.
    functions: HashMap<(usize, Vec<DataType>), bool>,
}

impl Known {
    /// Whether a node has the form of those that are fused: a first look.
    fn may_be_fused(&mut self, graph: &Graph, node: &Node) -> bool {
        let [output] = &node.signature.outputs[..] else { return false };
        let inputs = &node.signature.inputs;
        let key = std::ptr::from_ref(node.op.def).addr();
        matches!(inputs.len(), 1..=3)
            && !output.is_ref
            && inputs.iter().all(|input| !input.is_ref)
            && *self.element_wise.entry(key).or_insert_with(|| {
                graph.registry().kernels_of(&node.op.def.name).iter().any(|kernel| kernel.element_wise.is_some())
            })
    }

    /// A node as a member of a group, if it can be one.
    fn member(&mut self, graph: &Graph, ends: &Ends, id: NodeId) -> Option<Member> {
        let node = graph.node(id);
        let can_be = self.may_be_fused(graph, node)
            && node.attrs.get("_kernel").is_none()
            && !node.op.def.is_stateful
            && node.inputs.iter().all(|input| input.node < id)
            && !ends.feeds_some_of(id);
        if !can_be {
            return None;
        }
        let mut devices = Vec::new();
        let mut found: Option<ElementWise> = None;
        for kind in may_run_on(graph, ends, node) {
            let kernel = kernel_on(graph, node, &kind)?;
            let own = kernel.element_wise?;
            let is_alike = found.is_none_or(|it| it.parameter == own.parameter && it.meet == own.meet);
            if !is_alike || !self.has_function(graph, node, kernel, own) {
                return None;
            }
            found = Some(own);
            if !devices.contains(&kind.0) {
                devices.push(kind.0);
            }
        }
        let ElementWise { parameter: named, meet, .. } = found?;
        let parameter = match named.map(|name| node.attrs.get(name)) {
            None => None,
            Some(Some(&AttrValue::Float(value))) => Some(value),
            Some(_) => return None,
        };
        says_nothing_else(node, named).then_some(Member { id, parameter, meet, devices })
    }

    /// Whether a kernel has a function of elements of a node's dtypes.
    fn has_function(&mut self, graph: &Graph, node: &Node, kernel: &'static KernelDef, own: ElementWise) -> bool {
        let slots = node.signature.inputs.iter().chain(&node.signature.outputs);
        let dtypes: Vec<DataType> = slots.map(|slot| slot.dtype).collect();
        let key = (std::ptr::from_ref(kernel).addr(), dtypes);
        *self.functions.entry(key).or_insert_with_key(|(_, dtypes)| match &dtypes[..] {
            [inputs @ .., output] => takes(graph, dtypes) && (own.function)(inputs, *output).is_some(),
            [] => false,
        })
    }
}

/// Whether the op that is made takes these dtypes.
fn takes(graph: &Graph, dtypes: &[DataType]) -> bool {
    let op = graph.registry().find_op(created::FUSED_ELEMENT_WISE);
    match op.and_then(|op| op.def.attr("T")).and_then(|attr| attr.allowed.as_ref()) {
        Some(AllowedValues::Types(allowed)) => dtypes.iter().all(|dtype| allowed.contains(dtype)),
        _ => false,
    }
}

/// Whether all attrs of a node but dtypes, numbers of inputs and the parameter of its function are the op's defaults.
fn says_nothing_else(node: &Node, parameter: Option<&str>) -> bool {
    let op = node.op.def;
    op.attrs.iter().all(|attr| {
        let is_known = attr.ty.base == AttrBase::Type || op.is_inferred(&attr.name) || parameter == Some(&*attr.name);
        is_known
            || match (node.attrs.get(&attr.name), &attr.default) {
                (Some(AttrValue::Bool(value)), Some(AttrDefault::Bool(default))) => value == default,
                (Some(AttrValue::Int(value)), Some(AttrDefault::Int(default))) => value == default,
                (Some(AttrValue::Float(value)), Some(AttrDefault::Float(default))) => {
                    value.to_bits() == default.to_bits()
                }
                (Some(AttrValue::String(value)), Some(AttrDefault::String(default))) => value.as_bytes() == &**default,
                _ => false,
            }
    })
}

/// Nodes that become one.
struct Group {
    /// Last the one that others see.
    members: Vec<Member>,
    /// What they take from others.
    inputs: HashSet<Output>,
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
    let mut groups: HashMap<NodeId, Group> = HashMap::new();
    for member in members.into_iter().rev().flatten() {
        let id = member.id;
        let users = &users[id.index()];
        let root = users.first().and_then(|user| group_of.get(user)).copied().filter(|&root| {
            !awaited[id.index()]
                && !ends.holds(id)
                && graph.node(id).control_inputs.is_empty()
                && users.iter().all(|user| *user > id && group_of.get(user) == Some(&root))
                && groups[&root].fits(graph, &member)
        });
        let inputs = graph.node(id).inputs.iter().copied();
        group_of.insert(id, root.unwrap_or(id));
        let group = groups.entry(root.unwrap_or(id));
        let group = group.or_insert_with(|| Group { members: Vec::new(), inputs: HashSet::new() });
        group.inputs.remove(&Output { node: id, index: 0 });
        group.inputs.extend(inputs);
        group.members.push(member);
    }
    let groups = groups.into_values().map(|group| group.members).filter(|members| members.len() > 1);
    let mut groups: Vec<Vec<Member>> = groups.collect();
    groups.iter_mut().for_each(|group| group.compact_sort_by_key(|member| member.id));
    groups.compact_sort_by_key(|group| group.last().map(|last| last.id));
    groups
}

impl Group {
    /// Whether a node may be in the group: it runs where the last one does, and may have its shape.
    fn fits(&self, graph: &Graph, member: &Member) -> bool {
        // The last one came first.
        let Some(last_member) = self.members.first() else { return false };
        let (node, last) = (graph.node(member.id), graph.node(last_member.id));
        let own = Output { node: member.id, index: 0 };
        let bound = self.inputs.iter().filter(|input| **input != own).chain(&node.inputs).collect::<HashSet<_>>().len();
        self.members.len() < MOST
            && member.devices == last_member.devices
            && (bound <= MOST_BOUND || member.devices == [CPU])
            && node.device == last.device
            && colocated(node).eq(colocated(last))
            && node.output_shapes[0].is_compatible(&last.output_shapes[0])
    }
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
    let last = patch.node(root).clone();
    let dtype: DataType = last.signature.outputs.first()?.dtype;
    let function = |node: &Node| Inlined::of(node).map(|inlined| inlined.function.to_owned());
    // Three for each node.
    let mut operands: Vec<i64> = Vec::with_capacity(3 * group.len());
    let (mut ops, mut types) = (Vec::<String>::new(), Vec::<DataType>::new());
    let (mut shapes, mut names) = (Vec::<i64>::new(), Vec::<String>::new());
    for member in group {
        let node = patch.node(member.id);
        operands.extend(node.inputs.iter().map(|input| number(input) as i64));
        operands.resize(operands.len().next_multiple_of(3), -1);
        ops.push(node.op.def.name.to_string());
        types.push(node.signature.outputs.first()?.dtype);
        shapes.push(member.meet.shape_of().map_or(-1, |place| place as i64));
        // Errors name the function of the last.
        let named = if function(node) == function(&last) { node } else { &last };
        names.push(Inlined::of(named).map_or(&*named.name, |inlined| inlined.node).to_owned());
    }
    let parameters: Vec<f32> = group.iter().map(|member| member.parameter.unwrap_or(0.0)).collect();
    let added = patch.nodes().len();
    patch.beside(root);
    let mut builder = NodeBuilder::new(patch, op);
    builder.input_list(inputs.iter().map(|&input| Output { node: now(input.node), ..input }));
    builder.attr("T", dtype).attr("ops", ops).attr("types", AttrValue::ListType(types)).attr("operands", operands);
    builder.attr("shapes", shapes).attr("parameters", parameters).attr("names", names);
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
