//! A misspelt argument, or the wrong item: what refers to it is not reported as well.

extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::graph::{Graph, Output};
use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(atr("T: {float, double}"), input("x: T"), output("y: T"))]
pub struct Pick;

#[register_op(input("x: float"), output("y: float"))]
pub struct Fields {
    pub size: usize,
}

pub fn call(graph: &mut Graph, x: Output) -> Result<Output> {
    let x = pick(graph, x).build()?;
    fields(graph, x).build()
}

fn main() {}
