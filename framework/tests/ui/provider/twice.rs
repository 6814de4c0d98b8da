//! A crate is one provider.

extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!(ops = 1);

#[register_op(input("x: float"))]
pub struct Op;

kernlink::provider!(kernels = 2);

fn main() {}
