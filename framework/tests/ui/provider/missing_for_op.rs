extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

#[register_op(input("x: float"))]
pub struct Op;

fn main() {}
