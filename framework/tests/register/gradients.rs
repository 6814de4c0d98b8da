//! What `#[register_gradient]` and `not_differentiable!` produce, in every form that `registered_gradients!()` counts.

use kernlink::Result;
use kernlink::gradient::{GradientDef, GradientScope, NoGradient, Value, find_gradient};
use kernlink_macros::{not_differentiable, register_gradient, register_op};

#[register_op(input("x: float"), output("y: float"))]
pub enum Slopes {
    GradientOne,
    GradientTwo,
    GradientThree,
    GradientFour,
    FlatOne,
    FlatTwo,
    FlatThree,
    FlatFour,
    FlatFive,
}

#[register_gradient(op = GradientOne)]
fn one(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

// Further gradients have names, ops through which nothing flows, too.
#[register_gradient(op = GradientOne, name = "OneByName")]
#[register_gradient(op = FlatOne, name = "FlatByName")]
fn by_name(_: &mut GradientScope<'_>) -> Result<NoGradient> {
    Ok(NoGradient)
}

#[register_gradient(op = [GradientTwo, self::GradientThree])]
fn several(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

not_differentiable!(FlatOne, FlatTwo,);
kernlink_macros::not_differentiable! { FlatThree }
not_differentiable![self::FlatFour];

const _: () = {
    not_differentiable!(FlatFive);
};

/// Of several under conditions the compiler keeps one, wherever the condition stands.
#[cfg(test)]
#[register_gradient(op = GradientFour)]
fn four(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[cfg(not(test))]
not_differentiable!(GradientFour);

#[register_gradient(op = GradientFour)]
#[cfg(not(test))]
fn four(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[cfg_attr(not(test), register_gradient(op = GradientFour))]
fn _unregistered(_: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    Ok(d_y)
}

#[test]
fn gradients_are_found_by_op_and_by_name() {
    let flows = |gradient: &GradientDef| gradient.differentiation.is_some();
    for (name, op, expected) in [
        ("GradientOne", "GradientOne", true),
        ("OneByName", "GradientOne", true),
        ("GradientTwo", "GradientTwo", true),
        ("GradientThree", "GradientThree", true),
        ("GradientFour", "GradientFour", true),
        ("FlatOne", "FlatOne", false),
        ("FlatByName", "FlatOne", true),
        ("FlatFive", "FlatFive", false),
    ] {
        let found = find_gradient(name).unwrap_or_else(|| panic!("{name} is not there"));
        assert_eq!((&*found.op.name, flows(found)), (op, expected), "{name}");
        assert!(std::ptr::eq(found.provider, &crate::KERNLINK_PROVIDER), "{name}");
    }
}
