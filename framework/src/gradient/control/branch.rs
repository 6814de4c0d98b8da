//! Branches: a choice between functions.

use std::collections::{BTreeSet, HashMap};

use super::emit;
use super::joint::{Cut, Joint, Plan};
use super::shared::Key;
use crate::attr::{AttrMap, AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::Result;
use crate::gradient::pass::Pass;
use crate::graph::{NodeId, Output, created};
use crate::shape::PartialShape;

/// A branch and its gradient.
struct Branch {
    name: String,
    joint: Joint,
    cut: Cut,
}

/// Branches that are cut in two.
struct Parts {
    /// What is called in their places, and returns what the gradients need in an optional; empty if they need nothing.
    forward: Vec<FunctionRef>,
    backward: Backward,
    /// For each argument to which something flows on in some branch, the dtype of that.
    found: Vec<Option<DataType>>,
}

/// `names` are the attrs that name the branches.
pub(super) fn differentiate(
    pass: &mut Pass<'_>,
    id: NodeId,
    flows: &[Option<Output>],
    names: &[&str],
) -> Result<Vec<Option<Output>>> {
    let inputs = pass.graph.node(id).inputs.clone();
    let wanted: Vec<bool> = inputs.iter().skip(1).map(|input| pass.is_wanted(*input)).collect();
    let (functions, signature) = (functions(&pass.graph.node(id).attrs, names)?, pass.graph.node(id).signature.clone());
    let plan = Plan { flows: pass.dtypes_of(flows), wanted };
    let key = Key::new("branches").functions(&functions).slots(&signature.inputs).slots(&signature.outputs).plan(&plan);
    let parts = pass.once(key, |pass| parts(pass, id, functions, &plan))?;
    let mut results = vec![None; inputs.len()];
    let Some(Parts { forward, backward, found }) = &*parts else { return Ok(results) };
    let saved = match forward.is_empty() {
        true => None,
        false => Some(hand_out(pass, id, names, forward.clone())?),
    };
    let given: Vec<Output> = flows
        .iter()
        .flatten()
        .copied()
        .chain(backward.arguments.iter().map(|&place| inputs[place + 1]))
        .chain(saved)
        .collect();
    let mut attrs = AttrMap::new();
    set_functions(&mut attrs, names, backward.functions.clone());
    attrs.insert("Tout", found.iter().flatten().copied().collect::<Vec<_>>());
    let op = pass.graph.node(id).op.def;
    let name = format!("{}/{}_grad/{}", pass.prefix, pass.graph.node(id).name, op.name);
    let attrs = attrs.iter().map(|(name, value)| (name, value.clone()));
    let node = pass.add_for(id, &op.name, &name, &[&inputs[..1], &given], attrs)?;
    let mut outputs = (0..).map(|index| Output { node, index });
    for (result, _) in results[1..].iter_mut().zip(found).filter(|(_, found)| found.is_some()) {
        *result = outputs.next();
    }
    Ok(results)
}

/// `None` if nothing flows on to any argument.
fn parts(pass: &mut Pass<'_>, id: NodeId, functions: Vec<FunctionRef>, plan: &Plan) -> Result<Option<Parts>> {
    let mut branches = Vec::new();
    for function in functions {
        let joint = Joint::called(pass, &function, id, 1, |_| plan.clone())?;
        let cut = joint.cut(|_| true)?;
        branches.push(Branch { name: function.name, joint, cut });
    }
    let found: Vec<Option<DataType>> = (0..plan.wanted.len())
        .map(|place| {
            branches.iter().find_map(|Branch { joint, .. }| joint.found[place].map(|found| joint.dtype(found)))
        })
        .collect();
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    let forward = match branches.iter().any(|branch| !branch.cut.saved.is_empty()) {
        true => forward(pass, &branches)?,
        false => Vec::new(),
    };
    let backward = backward(pass, &branches, &found)?;
    Ok(Some(Parts { forward, backward, found }))
}

/// The branches as functions that also return, in an optional, what their gradients need of their values.
fn forward(pass: &mut Pass<'_>, branches: &[Branch]) -> Result<Vec<FunctionRef>> {
    let mut forward = Vec::new();
    for Branch { name, joint, cut } in branches {
        let specs = joint.specs(joint.arguments.iter().copied())?;
        let (function, _) = emit::function(pass.graph, &format!("{name}_forward"), specs, |graph, arguments| {
            let values = joint.emit_forward(cut, graph, &arguments)?;
            let saved: Vec<Output> = cut.saved.iter().map(|saved| values[saved]).collect();
            let saved = match saved[..] {
                [] => emit::output(graph, created::OPTIONAL_NONE, &[], [])?,
                _ => emit::output(graph, created::OPTIONAL_FROM_VALUE, &[&saved], [])?,
            };
            Ok(joint.results.iter().map(|result| values[result]).chain([saved]).collect())
        })?;
        forward.push(function.reference());
    }
    Ok(forward)
}

/// Has a node call branches that return one result more; returns the output that is this.
fn hand_out(pass: &mut Pass<'_>, id: NodeId, names: &[&str], branches: Vec<FunctionRef>) -> Result<Output> {
    let node = pass.graph.node(id);
    let (op, mut attrs, index) = (node.op, node.attrs.clone(), node.signature.outputs.len());
    attrs.remove("_output_shapes");
    let mut dtypes: Vec<DataType> = attrs.required("Tout")?;
    dtypes.push(DataType::Variant);
    attrs.insert("Tout", dtypes);
    let mut shapes: Vec<PartialShape> = attrs.required("output_shapes").unwrap_or_default();
    if !shapes.is_empty() {
        shapes.push(PartialShape::of_rank(0));
        attrs.insert("output_shapes", shapes);
    }
    set_functions(&mut attrs, names, branches);
    pass.graph.supersede(id, op, attrs)?;
    Ok(Output { node: id, index })
}

/// The gradients of the branches as functions, which all take the same: what flows back, these arguments, and what was saved.
struct Backward {
    functions: Vec<FunctionRef>,
    arguments: Vec<usize>,
}

fn backward(pass: &mut Pass<'_>, branches: &[Branch], found: &[Option<DataType>]) -> Result<Backward> {
    let mut arguments: BTreeSet<usize> = BTreeSet::new();
    for Branch { joint, cut, .. } in branches {
        arguments.extend(&cut.arguments);
        // Zeros are made like the argument.
        let zeros = found.iter().zip(&joint.found).enumerate();
        arguments
            .extend(zeros.filter(|(_, (dtype, found))| dtype.is_some() && found.is_none()).map(|(place, _)| place));
    }
    let has_saved = branches.iter().any(|branch| !branch.cut.saved.is_empty());
    let mut functions = Vec::new();
    for Branch { name, joint, cut } in branches {
        let given: Vec<Output> = joint
            .flows
            .iter()
            .flatten()
            .copied()
            .chain(arguments.iter().map(|&place| joint.arguments[place]))
            .collect();
        let mut specs = joint.specs(given.iter().copied())?;
        if has_saved {
            specs.push(emit::optional());
        }
        let (function, _) = emit::function(pass.graph, &format!("{name}_backward"), specs, |graph, inputs| {
            let mut known: HashMap<Output, Output> = given.iter().copied().zip(inputs.iter().copied()).collect();
            if let (false, Some(&optional)) = (cut.saved.is_empty(), inputs.last()) {
                known.extend(emit::opened(graph, joint, &cut.saved, optional)?);
            }
            let flows = joint.emit_backward(cut, graph, known.clone())?;
            let mut results = Vec::new();
            for ((flow, dtype), argument) in flows.into_iter().zip(found).zip(&joint.arguments) {
                match (flow, dtype) {
                    (Some(flow), _) => results.push(flow),
                    (None, Some(dtype)) => results.push(emit::zeros_like(graph, known[argument], *dtype)?),
                    (None, None) => {}
                }
            }
            Ok(results)
        })?;
        functions.push(function.reference());
    }
    Ok(Backward { functions, arguments: arguments.into_iter().collect() })
}

fn functions(attrs: &AttrMap, names: &[&str]) -> Result<Vec<FunctionRef>> {
    let mut all = Vec::new();
    for name in names {
        match attrs.get(name) {
            Some(AttrValue::ListFunc(functions)) => all.extend(functions.iter().cloned()),
            _ => all.push(attrs.required(name)?),
        }
    }
    Ok(all)
}

fn set_functions(attrs: &mut AttrMap, names: &[&str], functions: Vec<FunctionRef>) {
    match names {
        [name] => _ = attrs.insert(*name, functions),
        _ => names.iter().zip(functions).for_each(|(name, function)| _ = attrs.insert(*name, function)),
    }
}
