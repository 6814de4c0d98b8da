//! Calls.

use std::collections::HashMap;

use super::emit;
use super::joint::{Joint, Plan};
use crate::attr::{AttrMap, FunctionRef};
use crate::dtype::DataType;
use crate::error::Result;
use crate::gradient::pass::Pass;
use crate::graph::{NodeId, Output, created};

/// Has a node call a function, which takes what the node does and returns these, first what the node gives.
pub(super) fn call_instead(
    pass: &mut Pass<'_>,
    id: NodeId,
    function: FunctionRef,
    returns: Vec<DataType>,
) -> Result<()> {
    let node = pass.graph.node(id);
    let own = node.attrs.iter().filter(|(name, _)| name.starts_with('_') && *name != "_output_shapes");
    let mut attrs: AttrMap = own.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    attrs.insert("Tin", node.signature.inputs.iter().map(|slot| slot.dtype).collect::<Vec<_>>());
    attrs.insert("Tout", returns);
    let is_stateful = pass.graph.is_stateful_function(&function.name);
    attrs.insert("f", function);
    let op = pass.graph.registry().op(if is_stateful { created::STATEFUL_CALL } else { created::CALL })?;
    pass.graph.supersede(id, op, attrs)
}

pub(super) fn differentiate(pass: &mut Pass<'_>, id: NodeId, flows: &[Option<Output>]) -> Result<Vec<Option<Output>>> {
    let inputs = pass.graph.node(id).inputs.clone();
    let function: FunctionRef = pass.graph.node(id).attrs.required("f")?;
    let wanted: Vec<bool> = inputs.iter().map(|input| pass.is_wanted(*input)).collect();
    let plan = Plan { flows: pass.dtypes_of(flows), wanted };
    let joint = Joint::called(pass, &function, id, 0, |_| plan)?;
    if joint.found.iter().all(Option::is_none) {
        return Ok(joint.found);
    }
    let cut = joint.cut(|_| true)?;
    // What is a result already is handed out.
    let extra: Vec<Output> = cut.saved.iter().copied().filter(|saved| !joint.results.contains(saved)).collect();
    if !extra.is_empty() {
        let specs = joint.specs(joint.arguments.iter().copied())?;
        let base = format!("{}_forward", function.name);
        let (forward, _) = emit::function(pass.graph, &base, specs, |graph, arguments| {
            let values = joint.emit_forward(&cut, graph, &arguments)?;
            Ok(joint.results.iter().chain(&extra).map(|output| values[output]).collect())
        })?;
        let node = pass.graph.node(id);
        let (op, mut attrs) = (node.op, node.attrs.clone());
        attrs.remove("_output_shapes");
        attrs.insert("f", forward.reference());
        attrs.insert("Tout", forward.result_dtypes().to_vec());
        pass.graph.supersede(id, op, attrs)?;
    }
    let outputs: Vec<Output> = joint.results.iter().chain(&extra).copied().collect();
    let given: Vec<(Output, Output)> = joint
        .flows
        .iter()
        .zip(flows)
        .filter_map(|(inside, flow)| Some(((*inside)?, (*flow)?)))
        .chain(cut.arguments.iter().map(|&place| (joint.arguments[place], inputs[place])))
        .chain(cut.saved.iter().filter_map(|saved| {
            let index = outputs.iter().position(|output| output == saved)?;
            Some((*saved, Output { node: id, index }))
        }))
        .collect();
    let specs = joint.specs(given.iter().map(|(inside, _)| *inside))?;
    let base = format!("{}_backward", function.name);
    let (backward, _) = emit::function(pass.graph, &base, specs, |graph, arguments| {
        let known: HashMap<Output, Output> = given.iter().map(|(inside, _)| *inside).zip(arguments).collect();
        Ok(joint.emit_backward(&cut, graph, known)?.into_iter().flatten().collect())
    })?;
    let op = if backward.is_stateful() { created::STATEFUL_CALL } else { created::CALL };
    let name = format!("{}/{}_grad/{op}", pass.prefix, pass.graph.node(id).name);
    let arguments: Vec<Output> = given.iter().map(|(_, outside)| *outside).collect();
    let attrs = [("f", backward.reference().into()), ("Tout", backward.result_dtypes().to_vec().into())];
    let call = pass.add_for(id, op, &name, &[&arguments], attrs)?;
    let mut results = (0..).map(|index| Output { node: call, index });
    Ok(joint.found.iter().map(|found| found.and_then(|_| results.next())).collect())
}
