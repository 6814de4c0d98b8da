extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(input("x: float"))]
pub enum Family {
    First,
    #[register_op(output("y: float"))]
    Second,
}

fn main() {}
