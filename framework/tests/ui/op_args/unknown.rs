extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(atr("T: type"), statefull, shape_function = f, wherever)]
pub struct Unknown;

fn main() {}
