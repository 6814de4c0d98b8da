//! Branches of TensorFlow 1.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::{not_differentiable, register_gradient};

use crate::*;

not_differentiable!(ControlTrigger);

/// What flows back comes from the branch that ran. Through one that gives nothing, zeros do.
#[register_gradient(op = Switch)]
fn switch_gradient(
    g: &mut GradientScope<'_>,
    data: Value,
    pred: Value,
    d_output_false: Option<Value>,
    d_output_true: Option<Value>,
) -> Result<(Option<Value>, NoGradient)> {
    // What flows back to a handle is for the value of its variable.
    let flowing = d_output_false.or(d_output_true).map(|flow| g.dtype(flow)).transpose()?;
    let mut zeros = || {
        let zeros = match (g.dtype(data)?, flowing) {
            (DataType::Resource, Some(dtype)) => g.zeros_of_variable(data, dtype)?,
            _ => zeros_like(g, data).build()?,
        };
        switch(g, zeros, pred).build()
    };
    let (of_false, of_true) = match (d_output_false, d_output_true) {
        (None, None) => return Ok((None, NoGradient)),
        (Some(of_false), Some(of_true)) => (of_false, of_true),
        (Some(of_false), None) => (of_false, zeros()?.output_true),
        (None, Some(of_true)) => (zeros()?.output_false, of_true),
    };
    Ok((Some(merge(g, [of_false, of_true]).build()?.output), NoGradient))
}

/// What flows back goes to the input that was there, whose index the node gave.
#[register_gradient(op = Merge)]
fn merge_gradient(
    g: &mut GradientScope<'_>,
    inputs: Vec<kernlink::gradient::ShapeOf>,
    value_index: Value,
    d_output: Value,
) -> Result<Vec<Value>> {
    if inputs.len() == 2 {
        let is_second = equal(g, value_index, 1).build()?;
        let chosen = switch(g, d_output, is_second).build()?;
        return Ok(vec![chosen.output_false, chosen.output_true]);
    }
    let mut flows = Vec::with_capacity(inputs.len());
    for index in 0..inputs.len() {
        let is_it = equal(g, value_index, index as i32).build()?;
        flows.push(switch(g, d_output, is_it).build()?.output_true);
    }
    Ok(flows)
}
