extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("n: i64"),
    attr("scale: f32 = 1"),
    attr("is_fast: boolean"),
    attr("T: {f32, f64}"),
    attr("padding: {SAME, VALID}"),
    input("x: f32"),
    input("names: TString"),
    output("y: Complex32")
)]
pub struct Op;

fn main() {}
