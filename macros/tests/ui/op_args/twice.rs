extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(stateful, stateful, name = "A", name = "B")]
pub struct Twice;

fn main() {}
