extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::{not_differentiable, register_gradient, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), attr("N: int"), input("x: T"), input("others: N * T"), output("y: T"))]
pub struct Twice;

#[register_gradient(op = Twice)]
fn no_such_name(_: &mut GradientScope<'_>, z: Value, d_y: Value) -> Result<(Value, Vec<Value>)> {
    Ok((z, vec![d_y]))
}

#[register_gradient(op = Twice, name = "flow")]
fn no_such_output(_: &mut GradientScope<'_>, d_x: Value) -> Result<(Value, Vec<NoGradient>)> {
    Ok((d_x, Vec::new()))
}

#[register_gradient(op = Twice, name = "list")]
fn a_list(_: &mut GradientScope<'_>, others: Value) -> Result<(Value, Vec<NoGradient>)> {
    Ok((others, Vec::new()))
}

#[register_gradient(op = Twice, name = "attr")]
fn a_wrong_attr(_: &mut GradientScope<'_>, N: bool, d_y: Value) -> Result<(Option<Value>, Vec<NoGradient>)> {
    Ok((N.then_some(d_y), Vec::new()))
}

#[register_gradient(op = Twice, name = "shape")]
fn a_shape_of_what_flows(_: &mut GradientScope<'_>, d_y: ShapeOf) -> Result<(Option<Value>, Vec<NoGradient>)> {
    drop(d_y);
    Ok((None, Vec::new()))
}

#[register_gradient(op = Twice, name = "few")]
fn too_few(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[register_gradient(op = Twice, name = "one")]
fn one_for_a_list(_: &mut GradientScope<'_>, d_y: Value) -> Result<[Value; 2]> {
    Ok([d_y; 2])
}

#[register_gradient(op = Twice, name = "type")]
fn a_type_of_nothing(_: &mut GradientScope<'_>, d_y: Value, x: usize) -> Result<(Value, Vec<NoGradient>)> {
    _ = x;
    Ok((d_y, Vec::new()))
}

#[register_gradient(op = Twice, named = "x")]
fn arguments(_: &mut GradientScope<'_>, d_y: Value) -> Result<(Value, Vec<NoGradient>)> {
    Ok((d_y, Vec::new()))
}

#[register_gradient]
fn no_op(_: &mut GradientScope<'_>, d_y: Value) -> Result<(Value, Vec<NoGradient>)> {
    Ok((d_y, Vec::new()))
}

#[register_gradient(op = Twice)]
struct NoFunction;

not_differentiable!("Twice");

fn main() {}
