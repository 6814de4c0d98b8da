extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("a: int"),
    attr("a: int"),
    attr("float: int"),
    attr("N: int = 0"),
    input("a: float"),
    input("x: N * float"),
    output("x: float")
)]
pub struct Bad;

#[register_op()]
pub struct not_camel_case;

#[register_op(name = "ns>op")]
pub struct BadName;

fn main() {}
