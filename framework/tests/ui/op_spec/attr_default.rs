extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("a: int = 0x10"),
    attr("b: int = 3 4"),
    attr("c: string = x"),
    attr("d: type = float"),
    attr("e: {float, double} = DT_INT32"),
    attr("f: {'SAME', 'VALID'} = 'same'"),
    attr("g: list(int) = 3"),
    attr("h: list(int) = [1,]"),
    attr("i: bool = yes"),
    attr("j: shape = [3]"),
    attr("k: tensor = { dtype: DT_INT32 int_vla: 5 }"),
    attr("l: func = {}"),
    attr("m: float = one"),
    attr("n: int =")
)]
pub struct Bad;

fn main() {}
