//! `TF_NewWhile`: loops whose condition and body are described as graphs of their own.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use kernlink::graph::{Graph, ImportOptions, NodeRequest, OpScope, Output};
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
    /// Written by C.
    body_outputs: Box<[UnsafeCell<TF_Output>]>,
}

// SAFETY: the operations that it points to are those of graphs that it owns.
unsafe impl Send for Loop {}
// SAFETY: as above.
unsafe impl Sync for Loop {}

const NO_PARAMS: TF_WhileParams = TF_WhileParams {
    ninputs: 0,
    cond_graph: ptr::null_mut(),
    cond_inputs: ptr::null(),
    cond_output: TF_Output::NONE,
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
        cond_output: TF_Output::NONE,
        body_graph: crate::pointer::share_with_c(body.clone()),
        body_inputs: ptr::null(),
        body_outputs: ptr::null_mut(),
        name: ptr::null(),
    };
    let body_outputs = (0..count).map(|_| UnsafeCell::new(TF_Output::NONE)).collect();
    let kept = cond.keep_loop(Loop { parent, variables, cond_inputs, body, body_inputs, body_outputs });
    Ok(TF_WhileParams {
        cond_inputs: kept.cond_inputs.as_ptr(),
        body_inputs: kept.body_inputs.as_ptr(),
        body_outputs: kept.body_outputs.as_ptr().cast_mut().cast(),
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

/// Adds the nodes of a condition or a body to the graph of the loop, with the loop's variables for its placeholders. Nodes that take
/// nothing else of it wait for a variable, so that they run in each iteration.
fn add(graph: &mut Graph, part: &Graph, variables: &[Output], base: &str, results: &[Output]) -> Result<Vec<Output>> {
    let mut def = part.to_def()?;
    let placeholders = def.node.drain(..variables.len()).map(|node| node.name).zip(variables);
    let mut options = ImportOptions { prefix: base.to_owned(), uniquify_prefix: true, ..ImportOptions::default() };
    for (name, &variable) in placeholders {
        options.control_map.insert(name.clone(), variable.node);
        options.input_map.insert((name, 0), variable);
    }
    options.control_dependencies.extend(variables.first().map(|variable| variable.node));
    let named = |result: &Output| (part.node(result.node).name.clone(), result.index);
    options.return_outputs = results.iter().map(named).collect();
    Ok(graph.import_into(def, &options)?.outputs)
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
