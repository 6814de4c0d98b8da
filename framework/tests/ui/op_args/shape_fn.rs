extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

fn wrong(_: i32) -> bool {
    true
}

#[register_op(shape_fn = wrong)]
pub struct WrongType;

fn main() {}
