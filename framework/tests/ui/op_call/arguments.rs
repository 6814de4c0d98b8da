//! Calls of wrappers that are wrong: the errors show the specs of the parameters that are meant.

extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::graph::{Graph, Output};
use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(
    attr("T: {float, double}"),
    attr("k: int"),
    attr("depth: float"),
    attr("sorted: bool = true"),
    input("values: T"),
    input("weights: T"),
    output("y: T")
)]
pub struct Pick;

pub fn calls(graph: &mut Graph, x: Output) -> Result<()> {
    // No graph.
    pick(x, x, 1, 2.0).build()?;
    // Too few.
    pick(graph, x, x, 1).build()?;
    // Too many.
    pick(graph, x, x, x, 1, 2.0).build()?;
    // In another order.
    pick(graph, 1, 2.0, x, x).build()?;
    // Of another type.
    pick(graph, x, Some(x), "k", 2.0).sorted(1).build()?;
    // Without `build`.
    let picked = pick(graph, x, x, 1, 2.0);
    pick(graph, x, picked, 1, 2.0).build()?;
    Ok(())
}

fn main() {}
