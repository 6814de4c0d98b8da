extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

// Shapes, tensors and functions are written as protobuf text.
#[register_op(
    attr("a: shape = { dim { size: x } }"),
    attr("b: shape = { rank: 3 }"),
    attr("c: shape = { dim { size: 3 } unknown_rank: true }"),
    attr("d: shape = { dim { size: -2 } }"),
    attr("e: shape = { dim { size: 3 }"),
    attr("f: shape = { dim: 3 }"),
    attr("g: tensor = { int_val: 5 }"),
    attr("h: tensor = { dtype: float }"),
    attr("i: tensor = { dtype: DT_INT32 int_val: 'five' }"),
    attr("j: tensor = { dtype: DT_INT32 tensor_shape: [] }"),
    attr("k: tensor = 5"),
    attr("l: tensor = { dtype: DT_INT32 dtype: DT_FLOAT }"),
    attr("m: func = 'f'"),
    attr("n: func = { name: f }"),
    attr("o: func = { nmae: 'f' }"),
    attr("p: func = { name: 'f' attr { key: 'T' value { typ: DT_FLOAT } } }"),
    attr("q: list(shape) = { dim { size: 3 } }"),
    attr("r: list(func) = ['f']")
)]
pub struct Bad;

fn main() {}
