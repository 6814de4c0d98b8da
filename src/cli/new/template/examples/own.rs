//! Writes own.pb, a graph with an op of this crate, for the command: `cargo run -- run own.pb --input 'x=[1, 2, 3]'`.

use kernlink::prelude::*;

use my_ops::zero_out;

fn main() -> Result<()> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Float)
        .shape([3])
        .name("x")
        .build()?;
    zero_out(&mut graph, x)
        .preserve_index(1)
        .name("y")
        .build()?;
    kernlink::proto::write_graph("own.pb", &graph.to_def()?)
}
