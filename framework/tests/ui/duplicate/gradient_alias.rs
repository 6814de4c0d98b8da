extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::gradient::{GradientScope, Value};
use kernlink_macros::{not_differentiable, register_gradient, register_op};

kernlink::provider!();

#[register_op(input("x: float"), output("y: float"))]
pub struct Twice;

#[register_gradient(op = Twice)]
fn of_twice(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

type Double = Twice;

// Another word for the op: the compiler tells in words of its own.
not_differentiable!(Double);

fn main() {}
