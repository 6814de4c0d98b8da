//! Allocations of what programs and their models do by the million.

use std::sync::atomic::Ordering;

use kernlink::attr::AttrValue;
use kernlink::prelude::*;

use super::alone;
use super::counting::ALLOCATIONS;
use super::support::{graph, node};

/// The least number of allocations that `run` needs in many runs: threads that wake or end may add theirs to one.
fn fewest<T>(mut run: impl FnMut() -> T) -> usize {
    let count = |run: &mut dyn FnMut() -> T| {
        let before = ALLOCATIONS.load(Ordering::SeqCst);
        let kept = run();
        let after = ALLOCATIONS.load(Ordering::SeqCst);
        drop(kept);
        after - before
    };
    (0..100).map(|_| count(&mut run)).min().expect("there are runs")
}

/// A literal is made a tensor of its own dtype and one of the op's; the look at the other inputs takes no memory.
#[test]
fn literals_of_eager_calls_cost_no_more_than_the_tensor_of_the_literal() {
    let _turn = alone();
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let x = Tensor::new([1.0f32, 2.0]).unwrap();
    let tensor = fewest(|| Tensor::scalar(1.0f64));
    let typed = fewest(|| ops::add_v2(&mut eager, &x, 1.0f32).build().unwrap());
    let literal = fewest(|| ops::add_v2(&mut eager, &x, 1.0).build().unwrap());
    assert!(literal <= typed + tensor, "{literal} allocations with a literal, {typed} with 1.0f32, {tensor} a tensor");
}

/// A node whose op the program lacks is kept without a search for names like it, which would be words for nobody.
#[test]
fn nodes_of_missing_ops_cost_about_as_much_as_others() {
    let _turn = alone();
    let registry = kernlink::registry().unwrap();
    let import = |op: &str, from: Option<&str>| {
        let float = AttrValue::Type(DataType::Float);
        let x = node("x", "Placeholder", &[], &[("dtype", float.clone())]);
        let nodes = (0..1000).map(|index| node(&format!("n{index}"), op, from.as_slice(), &[("T", float.clone())]));
        let def = graph(std::iter::once(x).chain(nodes));
        fewest(|| Graph::import(&def, &registry).unwrap())
    };
    let (known, missing) = (import("Neg", Some("x")), import("Negg", Some("x")));
    assert!(missing < 3 * known, "{missing} allocations for 1000 missing nodes, {known} for 1000 others");
}
