//! Gradients, as nodes of a graph, and the values that are known without a run.

use std::collections::HashSet;
use std::ffi::{c_char, c_int};
use std::ptr;

use kernlink::gradient::Gradients;
use kernlink::graph::{Graph, NodeId, Output};
use kernlink::{Error, Result};
use kernlink_library::host::{CTensor, report, text};

use super::output_in;
use crate::abi::{TF_Graph, TF_Output, TF_Status, TF_Tensor};
use crate::pointer::{borrow, put, slice, slice_mut};

/// As [`TF_AddGradientsWithPrefix`], with a prefix that no node has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_AddGradients(
    g: *mut TF_Graph,
    y: *mut TF_Output,
    ny: c_int,
    x: *mut TF_Output,
    nx: c_int,
    dx: *mut TF_Output,
    status: *mut TF_Status,
    dy: *mut TF_Output,
) {
    // SAFETY: as said in `pointer`.
    unsafe { TF_AddGradientsWithPrefix(g, ptr::null(), y, ny, x, nx, dx, status, dy) };
}

/// Adds the gradients of the sum of the `y` with respect to each `x`, which are written to `dy`. `dx` are what flows back to
/// each `y`: null for ones. The names of the nodes begin with `prefix`: null for `gradients`, `gradients_1`, ..., whichever is
/// free. Where a `y` depends on an `x` and nothing flows back, as through `StopGradient`, it is null and -1. On failure the
/// graph and `dy` stay as they were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_AddGradientsWithPrefix(
    g: *mut TF_Graph,
    prefix: *const c_char,
    y: *mut TF_Output,
    ny: c_int,
    x: *mut TF_Output,
    nx: c_int,
    dx: *mut TF_Output,
    status: *mut TF_Status,
    dy: *mut TF_Output,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let graph = borrow(g.cast_const())?;
            let (ys, xs) = (slice("y", y.cast_const(), ny)?, slice("x", x.cast_const(), nx)?);
            let flows = if dx.is_null() { &[] } else { slice("dx", dx.cast_const(), ny)? };
            if dy.is_null() && !xs.is_empty() {
                return Err(Error::invalid_argument("dy is a null pointer"));
            }
            let added = graph.change(|state| {
                let outputs = |of: &[TF_Output]| {
                    of.iter().map(|&output| output_in(graph, state, output)).collect::<Result<Vec<Output>>>()
                };
                let (ys, xs) = (outputs(ys)?, outputs(xs)?);
                let flows = flows.iter().map(|&flow| match flow.oper.is_null() {
                    true => Ok(None),
                    false => output_in(graph, state, flow).map(Some),
                });
                let flows = flows.collect::<Result<Vec<_>>>()?;
                let mut gradients =
                    Gradients::of(ys.iter().copied()).with_respect_to(xs.iter().copied()).grad_ys(flows);
                if !prefix.is_null() {
                    gradients = gradients.prefix(text("the prefix", prefix)?);
                }
                state.all_or_nothing(|state| {
                    let found = gradients.add_to(state)?;
                    let dense = found.into_iter().zip(&xs).map(|(gradient, x)| match gradient {
                        Some(gradient) => gradient.dense(state).map(Some),
                        None => nothing_flows(state, &ys, *x).map(|()| None),
                    });
                    dense.collect::<Result<Vec<_>>>()
                })
            })?;
            let state = graph.read();
            // Not before all else is read: it may be the same array.
            for (place, output) in slice_mut("dy", dy, nx)?.iter_mut().zip(added) {
                *place = output.map_or(TF_Output::NONE, |output| state.output_to_c(output));
            }
            Ok(())
        });
    }
}

/// The ops that TensorFlow's C++ gradients register as ones through which nothing flows (`REGISTER_NO_GRADIENT_OP`). For the
/// others that are not differentiable they have no gradient at all, which is an error.
const STOPPING: &[&str] = &[
    "BroadcastGradientArgs",
    "ConcatOffset",
    "Const",
    "EditDistance",
    "Equal",
    "Greater",
    "GreaterEqual",
    "InvertPermutation",
    "Less",
    "LessEqual",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "NotEqual",
    "OneHot",
    "Rank",
    "Shape",
    "ShapeN",
    "Size",
    "StopGradient",
    "ZerosLike",
];

/// Whether it is right that nothing flows back from the outputs to another one: nothing takes it, or an op on every way stops
/// what flows.
fn nothing_flows(graph: &Graph, ys: &[Output], x: Output) -> Result<()> {
    let name = &graph.node(x.node).name;
    let flows_to = taken_for(graph, ys, STOPPING);
    if flows_to.contains(&x) {
        return Err(Error::not_found(format!(
            "No gradient defined for the ops between the outputs and node '{name}'."
        )));
    }
    if !taken_for(graph, ys, &[]).iter().any(|taken| taken.node == x.node) {
        return Err(Error::invalid_argument(format!(
            "Cannot compute the partial derivative for node '{name}' as it's unreachable from the output node(s)."
        )));
    }
    Ok(())
}

/// The outputs, and those that their nodes take, through any number of others that are none of these ops.
fn taken_for(graph: &Graph, ys: &[Output], stopping: &[&str]) -> HashSet<Output> {
    let mut taken: HashSet<Output> = ys.iter().copied().collect();
    let mut seen = HashSet::new();
    let mut open: Vec<NodeId> = ys.iter().map(|y| y.node).collect();
    while let Some(next) = open.pop() {
        let node = graph.node(next);
        if seen.insert(next) && !stopping.contains(&&*node.op.def.name) {
            taken.extend(&node.inputs);
            open.extend(node.inputs.iter().map(|input| input.node));
        }
    }
    taken
}

/// The value that an output has in every run, if there is one and it is found with little work: 1 with a tensor for the caller
/// to delete, or else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_TryEvaluateConstant(
    graph: *mut TF_Graph,
    output: TF_Output,
    result: *mut *mut TF_Tensor,
    status: *mut TF_Status,
) -> u8 {
    // SAFETY: as said in `pointer`.
    unsafe {
        put(result, ptr::null_mut());
        report(status, 0, || {
            let graph = borrow(graph.cast_const())?;
            let state = graph.read();
            let output = output_in(graph, &state.graph, output)?;
            let Some(mut value) = state.graph.constant_value(output)? else { return Ok(0) };
            value.make_unique()?;
            if !result.is_null() {
                result.write(CTensor::new(value)?.into_c());
            }
            Ok(1)
        })
    }
}
