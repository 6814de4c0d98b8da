extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::gradient::{GradientScope, Value};
use kernlink_macros::{not_differentiable, register_gradient, register_op};

kernlink::provider!();

#[register_op(input("x: float"), output("y: float"))]
pub enum Slopes {
    Twice,
    Thrice,
    Flat,
    Flatter,
    Fine,
}

#[register_gradient(op = Twice)]
fn of_twice(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[register_gradient(op = [Thrice, Twice])]
fn thrice_and_twice(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

// Both ways round.
not_differentiable!(Thrice, Flat);

#[register_gradient(op = Flat)]
fn of_flat(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

not_differentiable!(Flatter);

not_differentiable!(Fine, Flatter);

#[register_gradient(op = Twice, name = "Clipped")]
fn clipped_twice(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[register_gradient(op = Thrice, name = "Clipped")]
fn clipped_thrice(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[register_gradient(op = [Twice, Thrice], name = "Clipped")]
fn clipped(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

// What only looks the same, has a name of its own, or stands under a condition.
pub mod other {
    use super::*;

    #[register_op(name = "Other>Twice", input("x: float"), output("y: float"))]
    pub struct Twice;

    #[register_gradient(op = Twice)]
    #[register_gradient(op = Fine, name = "Steep")]
    fn gradient(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
        Ok(d_y)
    }

    #[cfg(any())]
    not_differentiable!(Fine);

    #[register_gradient(op = Fine)]
    #[cfg(any())]
    fn under_a_condition(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
        Ok(d_y)
    }
}

fn main() {}
