extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("a: {flaot, double}"),
    attr("b: {DT_FLOAT}"),
    attr("c: {}"),
    attr("d: {float"),
    attr("e: {'a', float}"),
    attr("f: {'a' 'b'}"),
    attr("g: {'a', 'a'}"),
    attr("h: {float_ref}"),
    attr("i: {'unclosed}"),
    attr("j: {'\\q'}")
)]
pub struct Bad;

fn main() {}
