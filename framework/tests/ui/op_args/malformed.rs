extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr = "T: type",
    input(x: T),
    output("y: float", "documentation", "more"),
    attr("T: type" "no comma"),
    stateful = true,
    deprecated = 9,
    name = Name,
    shape_fn,
    "T: type",
    commutative aggregate,
)]
pub struct Malformed;

#[register_op(deprecated("why", 9), shape_fn = )]
pub struct More;

fn main() {}
