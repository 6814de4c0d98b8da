extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("Type: type"),
    attr("N: float"),
    attr("M: int >= -1"),
    attr("L: list(type)"),
    attr("K: int"),
    input("a: Tpye"),
    input("b: N"),
    input("c: N * float"),
    input("d: M * float"),
    input("e: K * L"),
    input("f: float_ref"),
    output("g: flaot"),
    output("h: Unknown * float")
)]
pub struct Bad;

// A spec that does not parse is reported once, not again where it is referred to.
#[register_op(attr("T: tpye"), input("x: T"))]
pub struct Once;

fn main() {}
