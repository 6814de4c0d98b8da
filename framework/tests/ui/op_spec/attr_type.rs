extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("a: int32"),
    attr("b: strnig"),
    attr("c: any"),
    attr("d: list(list(int))"),
    attr("e: list(int"),
    attr("f: float32"),
    attr("g:"),
    attr("h: int extra"),
    attr("i: list"),
    attr("j: half"),
    attr("k: typefoo"),
    attr("l: list()"),
    attr("m: list(int, float)"),
    attr("n: list[int]"),
    attr("o: {float} double")
)]
pub struct Bad;

fn main() {}
