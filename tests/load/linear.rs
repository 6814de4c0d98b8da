//! Passes take time in proportion to the nodes of a graph.

use std::time::{Duration, Instant};

use kernlink::optimize::Optimizer;
use kernlink::testing::graph_from_lines;

use crate::alone;

/// The lesser time of two that all passes take on a graph of so many products with a bias and an activation.
fn passes(products: usize) -> Duration {
    let layers: String = (0..products)
        .map(|i| format!("m{i} = MatMul(r{i}, w)\nb{i} = BiasAdd(m{i}, b)\nr{} = Relu(b{i})\n", i + 1))
        .collect();
    let constants = "w = Const() dtype=float value=[[1, 2], [3, 4]]\nb = Const() dtype=float value=[1, 2]";
    let text = format!("r0 = Placeholder() dtype=float shape=[1,2]\n{constants}\n{layers}");
    let (graph, ends) = graph_from_lines(&text, &kernlink::registry().unwrap()).unwrap();
    let time = |_| {
        let (mut graph, mut ends) = (graph.clone(), ends.clone());
        let start = Instant::now();
        Optimizer::default().optimize(&mut graph, &mut ends).unwrap();
        assert_eq!(graph.nodes().len(), products + 3, "each product is one node");
        start.elapsed()
    };
    (0..2).map(time).min().unwrap()
}

#[test]
fn passes_take_time_in_proportion_to_the_nodes() {
    let _alone = alone();
    let (short, long) = (passes(1_000), passes(8_000));
    assert!(long < short * 16, "{short:?} for 1,000 products, {long:?} for 8,000");
}
