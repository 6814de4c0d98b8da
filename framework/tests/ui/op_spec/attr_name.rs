extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr(" a: int"),
    attr("_b: int"),
    attr("c int"),
    attr(""),
    attr("3d: int")
)]
pub struct Bad;

fn main() {}
