//! What of a graph a device has no kernels for.

use std::collections::{BTreeMap, HashSet};

use super::place::kernel_on;
use crate::attr::{AttrValue, FunctionRef};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeClass, NodeId};

/// How many functions are looked at: graphs can be written whose functions call each other with ever new attrs.
const MOST: usize = 10_000;

/// How many of these nodes, and of those in the functions that they call, a device has [no kernel](kernel_on) for, by their
/// ops with what dtypes they have: `Cast(SrcT=double, DstT=float)`.
///
/// # Errors
/// INVALID_ARGUMENT if several kernels match with equal right; as [`Graph::function_body`]; RESOURCE_EXHAUSTED if the
/// functions have no end.
pub fn without_kernel(
    graph: &Graph,
    nodes: impl IntoIterator<Item = NodeId>,
    device: &dyn Device,
) -> Result<BTreeMap<String, usize>> {
    let mut lacking = BTreeMap::new();
    let (mut seen, mut calls) = (HashSet::new(), Vec::new());
    for id in nodes {
        look(graph, id, device, &mut lacking, &mut calls)?;
    }
    while let Some(call) = calls.pop() {
        if !seen.insert(format!("{} {:?}", call.name, call.attrs)) {
            continue;
        }
        if seen.len() > MOST {
            return Err(Error::resource_exhausted(format!("the graph calls more than {MOST} functions")));
        }
        let body = graph.function_body(&call)?;
        for id in body.graph.needed(&[], &body.results, &body.targets) {
            look(&body.graph, id, device, &mut lacking, &mut calls)?;
        }
    }
    Ok(lacking)
}

/// Notes a node without a kernel, and what functions a node calls.
fn look(
    graph: &Graph,
    id: NodeId,
    device: &dyn Device,
    lacking: &mut BTreeMap<String, usize>,
    calls: &mut Vec<FunctionRef>,
) -> Result<()> {
    let node = graph.node(id);
    calls.extend(node.attrs.functions().cloned());
    // An op that is missing is missing everywhere.
    let is_end = matches!(node.class, NodeClass::Arg | NodeClass::Retval | NodeClass::Missing);
    if !is_end && kernel_on(graph, id, device)?.is_none() {
        *lacking.entry(with_dtypes(node)).or_default() += 1;
    }
    Ok(())
}

/// An op with the values of its attrs that are dtypes.
fn with_dtypes(node: &Node) -> String {
    let dtypes = node.op.def.attrs.iter().filter_map(|attr| match node.attrs.get(&attr.name) {
        Some(AttrValue::Type(dtype)) => Some(format!("{}={dtype}", attr.name)),
        _ => None,
    });
    let dtypes: Vec<String> = dtypes.collect();
    if dtypes.is_empty() {
        node.op.def.name.to_string()
    } else {
        format!("{}({})", node.op.def.name, dtypes.join(", "))
    }
}
