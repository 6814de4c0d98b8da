//! Variables: what is fed is assigned to them, and gradients are taken by their handles.

use kernlink::prelude::*;

use super::super::differences::Function;
use super::{Functions, doubles};

pub(super) fn functions(all: &mut Functions) {
    variable(all, "ReadVariableOp", |graph, handle, assigned| {
        ops::read_variable_op(graph, handle, DataType::Double).control_input(assigned).build()
    });
    variable(all, "ResourceGather", |graph, handle, assigned| {
        ops::resource_gather(graph, handle, [2, 0, 2], DataType::Double).control_input(assigned).build()
    });
    variable(all, "ResourceGatherNd", |graph, handle, assigned| {
        ops::resource_gather_nd(graph, handle, [[2, 1], [0, 0], [2, 1]], DataType::Double)
            .control_input(assigned)
            .build()
    });
    // A reference: gradients are taken by what the assignment hands on.
    all.add("RefIdentity", &[doubles(&[3, 2], 1)], |graph, xs| {
        let variable = ops::variable_v2(graph, [3, 2], DataType::Double).build()?;
        let assigned = ops::assign(graph, variable, xs[0]).build()?;
        Ok(vec![ops::ref_identity(graph, assigned).build()?])
    });
    let Function { graph, ys, xs, .. } = all.0.last_mut().unwrap();
    *xs = graph.node(ys[0].node).inputs.clone();
}

fn variable(all: &mut Functions, name: &str, read: impl FnOnce(&mut Graph, Output, NodeId) -> Result<Output>) {
    let mut handle = None;
    all.add(name, &[doubles(&[3, 2], 1)], |graph, xs| {
        let variable = ops::var_handle_op(graph, DataType::Double, [3, 2]).shared_name("variable").build()?;
        handle = Some(variable);
        let assigned = ops::assign_variable_op(graph, variable, xs[0]).build()?;
        let value = read(graph, variable, assigned)?;
        Ok(vec![ops::square(graph, value).build()?])
    });
    all.0.last_mut().unwrap().xs = handle.into_iter().collect();
}
