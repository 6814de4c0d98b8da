extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    input(" a: float"),
    input("B: float"),
    input("c float"),
    input("d:"),
    input("e: N*"),
    input("f: Ref(float"),
    input("g: float double"),
    output("h: list(float)"),
    output("i: 3 * float"),
    output("j: Ref()"),
    output("k: Ref(Ref(float))"),
    output("l: Ref(N*float"),
    output(""),
    output("m: *float")
)]
pub struct Bad;

fn main() {}
