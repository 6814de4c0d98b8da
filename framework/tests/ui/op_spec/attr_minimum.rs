extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("a: int >= x"),
    attr("b: int > 1"),
    attr("c: float >= 1"),
    attr("d: list(int) >= -1"),
    attr("e: int >= 2 = 1"),
    attr("f: list(int) >= 2 = [1]")
)]
pub struct Bad;

fn main() {}
