extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(attr("T: type"))]
pub struct Fields {
    field: i32,
}

#[register_op()]
pub struct Generic<T>;

#[register_op()]
pub union Union {
    field: i32,
}

#[register_op()]
fn function() {}

fn main() {}
