//! `TF_NewWhile`: loops whose condition and body are described as graphs of their own.

use std::collections::HashMap;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use kernlink::graph::{Graph, NodeId, NodeInput, NodeRequest, OpScope, Operand, Output};
use kernlink::ops::builders::v1::while_loop;
use kernlink::{Error, Result};
use kernlink_library::host::{guarded, report, text};

use super::{CGraph, output_in};
use crate::abi::{TF_Graph, TF_Output, TF_Status, TF_WhileParams};
use crate::pointer::{borrow, shared, slice, slice_mut};

/// What a loop keeps until it is finished or given up. Its condition's graph owns it.
pub(crate) struct Loop {
    parent: Arc<CGraph>,
    variables: Vec<Output>,
    cond_inputs: Vec<TF_Output>,
    body: Arc<CGraph>,
    body_inputs: Vec<TF_Output>,
    body_outputs: Box<[TF_Output]>,
}

// SAFETY: the operations that it points to are those of graphs that it owns.
unsafe impl Send for Loop {}
// SAFETY: as above.
unsafe impl Sync for Loop {}

const UNSET: TF_Output = TF_Output { oper: ptr::null_mut(), index: -1 };

const NO_PARAMS: TF_WhileParams = TF_WhileParams {
    ninputs: 0,
    cond_graph: ptr::null_mut(),
    cond_inputs: ptr::null(),
    cond_output: UNSET,
    body_graph: ptr::null_mut(),
    body_inputs: ptr::null(),
    body_outputs: ptr::null_mut(),
    name: ptr::null(),
};

/// A graph with a placeholder for each of the loop's variables, which are called `cond_input0` or `body_input0` and so on.
fn variables_of(parent: &Graph, variables: &[Output], base: &str) -> Result<Arc<CGraph>> {
    let mut graph = Graph::new(parent.registry());
    let placeholder = graph.registry().op("Placeholder")?.def;
    for (position, &variable) in variables.iter().enumerate() {
        let mut request = NodeRequest::new(placeholder);
        let slot = parent.node(variable.node).signature.outputs[variable.index];
        request.attrs.insert("dtype", slot.dtype);
        request.attrs.insert("shape", parent.shape(variable).clone());
        request.name = Some(format!("{base}{position}"));
        graph.apply(request)?;
    }
    Ok(CGraph::of(graph))
}

fn begin(parent: Arc<CGraph>, inputs: &[TF_Output]) -> Result<TF_WhileParams> {
    if inputs.is_empty() {
        return Err(Error::invalid_argument("TF_NewWhile() must be passed at least one input"));
    }
    let (variables, cond, body) = {
        let state = parent.read();
        // SAFETY: as said in `pointer`.
        let variables = inputs.iter().map(|&input| unsafe { output_in(&parent, &state.graph, input) });
        let variables = variables.collect::<Result<Vec<_>>>()?;
        let cond = variables_of(&state.graph, &variables, "cond_input")?;
        let body = variables_of(&state.graph, &variables, "body_input")?;
        (variables, cond, body)
    };
    let inputs_of = |graph: &CGraph| {
        let state = graph.read();
        (0..variables.len()).map(|position| TF_Output { oper: state.at(position), index: 0 }).collect::<Vec<_>>()
    };
    let count = variables.len();
    let (cond_inputs, body_inputs) = (inputs_of(&cond), inputs_of(&body));
    let params = TF_WhileParams {
        ninputs: count as c_int,
        cond_graph: crate::pointer::share_with_c(cond.clone()),
        cond_inputs: ptr::null(),
        cond_output: UNSET,
        body_graph: crate::pointer::share_with_c(body.clone()),
        body_inputs: ptr::null(),
        body_outputs: ptr::null_mut(),
        name: ptr::null(),
    };
    let body_outputs = vec![UNSET; count].into_boxed_slice();
    let kept = cond.keep_loop(Loop { parent, variables, cond_inputs, body, body_inputs, body_outputs });
    Ok(TF_WhileParams {
        cond_inputs: kept.cond_inputs.as_ptr(),
        body_inputs: kept.body_inputs.as_ptr(),
        body_outputs: kept.body_outputs.as_ptr().cast_mut(),
        ..params
    })
}

/// Begins a loop over `inputs`: the caller adds its condition and its body to the graphs that are returned, and says which
/// outputs they come to. All of it is freed by [`TF_FinishWhile`] or [`TF_AbortWhile`]. On failure all of it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewWhile(
    g: *mut TF_Graph,
    inputs: *mut TF_Output,
    ninputs: c_int,
    status: *mut TF_Status,
) -> TF_WhileParams {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, NO_PARAMS, || begin(shared(g)?, slice("inputs", inputs.cast_const(), ninputs)?)) }
}

/// Adds the nodes of a condition or a body to the graph of the loop, with the loop's variables for its placeholders.
fn add(graph: &mut Graph, part: &Graph, variables: &[Output], base: &str, results: &[Output]) -> Result<Vec<Output>> {
    let mut places: HashMap<Output, Output> = HashMap::new();
    let mut nodes: HashMap<NodeId, NodeId> = HashMap::new();
    let ids: Vec<NodeId> = part.ids().collect();
    for (&id, &variable) in ids.iter().zip(variables) {
        places.insert(Output { node: id, index: 0 }, variable);
        nodes.insert(id, variable.node);
    }
    // Inputs of merges that are still to come.
    let mut closing: Vec<(NodeId, Output)> = Vec::new();
    for &id in ids.iter().skip(variables.len()) {
        let node = part.node(id);
        let first = node.inputs.first().and_then(|input| places.get(input)).copied();
        let mut back = None;
        let mut sources = Vec::with_capacity(node.inputs.len());
        for &input in &node.inputs {
            match (places.get(&input), first) {
                (Some(&place), _) => sources.push(place),
                (None, Some(first)) => {
                    back = Some(input);
                    sources.push(first);
                }
                (None, None) => return Err(Error::internal("a node stands before its input")),
            }
        }
        let mut request = NodeRequest::new(node.op.def);
        let ranges = node.op.def.inputs.iter().zip(&node.signature.input_ranges);
        for (arg, range) in ranges {
            let mut operands = sources[range.clone()].iter().copied().map(Operand::Value);
            let is_list = arg.number_attr.is_some() || matches!(arg.ty, kernlink::op::ArgType::ListAttr(_));
            request.inputs.push(match operands.len() {
                1 if !is_list => NodeInput::Single(operands.next().ok_or_else(|| Error::internal("an input"))?),
                _ => NodeInput::List(operands.collect()),
            });
        }
        request.attrs = node.attrs.clone();
        request.device = node.device.clone();
        request.name = Some(graph.free_name(&format!("{base}/{}", node.name)));
        request.control_inputs = node.control_inputs.iter().filter_map(|control| nodes.get(control)).copied().collect();
        let added = graph.apply(request)?.node;
        nodes.insert(id, added);
        for index in 0..node.signature.outputs.len() {
            places.insert(Output { node: id, index }, Output { node: added, index });
        }
        closing.extend(back.map(|input| (added, input)));
    }
    let place =
        |output: &Output| places.get(output).copied().ok_or_else(|| Error::internal("an output that was added"));
    for (merge, input) in closing {
        graph.close_loop(merge, place(&input)?)?;
    }
    results.iter().map(place).collect()
}

fn finish(params: &TF_WhileParams, cond: &CGraph) -> Result<Vec<TF_Output>> {
    let kept = cond.kept_loop().ok_or_else(|| Error::invalid_argument("the loop was not begun by TF_NewWhile"))?;
    let unset = |what: &str| Error::invalid_argument(format!("TF_WhileParams `{what}` field isn't set"));
    if params.cond_output.oper.is_null() {
        return Err(unset("cond_output"));
    }
    let count = kept.variables.len();
    // SAFETY: the array is the loop's own, which C fills.
    let body_outputs = unsafe { slice("body_outputs", params.body_outputs.cast_const(), count) }?;
    if let Some(position) = body_outputs.iter().position(|output| output.oper.is_null()) {
        return Err(unset(&format!("body_outputs[{position}]")));
    }
    if params.name.is_null() {
        return Err(Error::invalid_argument("TF_WhileParams `name` field is null"));
    }
    // SAFETY: as said in `pointer`.
    let name = unsafe { text("the loop's name", params.name) }?;
    let (cond_state, body_state) = (cond.read(), kept.body.read());
    // SAFETY: as said in `pointer`.
    let (holds, next) = unsafe {
        let holds = output_in(cond, &cond_state.graph, params.cond_output)?;
        let next = body_outputs.iter().map(|&output| output_in(&kept.body, &body_state.graph, output));
        (holds, next.collect::<Result<Vec<_>>>()?)
    };
    let exits = kept.parent.change(|graph| {
        let (of_cond, of_body) = (format!("{name}/cond"), format!("{name}/body"));
        let looped = while_loop(
            graph,
            kept.variables.clone(),
            |graph, variables: Vec<Output>| {
                let holds = add(graph, &cond_state.graph, &variables, &of_cond, &[holds])?;
                holds.first().copied().ok_or_else(|| Error::internal("a condition"))
            },
            |graph, variables: Vec<Output>| add(graph, &body_state.graph, &variables, &of_body, &next),
        );
        looped.name(name).build()
    })?;
    let state = kept.parent.read();
    Ok(exits.into_iter().map(|exit| state.output_to_c(exit)).collect())
}

/// Frees the graphs of a loop, and what it kept.
///
/// # Safety
/// As said in `pointer`.
unsafe fn free(params: *const TF_WhileParams) {
    guarded((), || {
        // SAFETY: as the caller says.
        let Some(params) = (unsafe { params.as_ref() }) else { return };
        // SAFETY: as the caller says.
        unsafe {
            crate::pointer::release(params.cond_graph);
            crate::pointer::release(params.body_graph);
        }
    });
}

/// Adds the loop to the graph, and writes what its variables come to; frees what [`TF_NewWhile`] gave in any case.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FinishWhile(
    params: *const TF_WhileParams,
    status: *mut TF_Status,
    outputs: *mut TF_Output,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let params = params.as_ref().ok_or_else(|| Error::invalid_argument("the params are a null pointer"))?;
            let cond = borrow(params.cond_graph.cast_const())?;
            for (place, exit) in slice_mut("outputs", outputs, params.ninputs)?.iter_mut().zip(finish(params, cond)?) {
                *place = exit;
            }
            Ok(())
        });
        free(params);
    }
}

/// Gives up a loop, and frees what [`TF_NewWhile`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_AbortWhile(params: *const TF_WhileParams) {
    // SAFETY: as said in `pointer`.
    unsafe { free(params) };
}
