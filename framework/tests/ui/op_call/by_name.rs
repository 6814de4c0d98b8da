//! Calls of wrappers with attrs of one type, which are given by name.

extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::graph::{Graph, Output};
use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("ksize: list(int)"),
    attr("strides: list(int)"),
    attr("padding: {'SAME', 'VALID'}"),
    input("x: float"),
    output("y: float")
)]
pub struct Pool;

pub fn calls(graph: &mut Graph, x: Output) -> Result<()> {
    // By position.
    pool(graph, x, &[1, 2], &[1, 1], "SAME").build()?;
    // Without one.
    pool(graph, x, PoolRequired { ksize: &[1, 2], padding: "SAME" }).build()?;
    // Misspelt.
    pool(graph, x, PoolRequired { ksizes: &[1, 2], strides: &[1, 1], padding: "SAME" }).build()?;
    // Of another type.
    pool(graph, x, PoolRequired { ksize: [1, 2], strides: "SAME", padding: "SAME" }).build()?;
    // What kernels read.
    pool(graph, x, PoolAttrs { ksize: vec![1, 2], strides: vec![1, 1], padding: "SAME".into() }).build()?;
    Ok(())
}

fn main() {}
