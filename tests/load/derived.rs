//! Functions are differentiated as they are called on a tape, in time in proportion to how many there are.

use std::time::{Duration, Instant};

use kernlink::graph::FunctionBuilder;
use kernlink::prelude::*;

use crate::alone;

/// The time in which so many functions are called on a tape, and gone back through, for the first time. Each calls one that all
/// call.
fn derivations(count: usize) -> Duration {
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let common = FunctionBuilder::new("common", [DataType::Double])
        .build(&mut graph, |graph, [a]| Ok([ops::sin(graph, a).build()?]))
        .unwrap();
    let functions: Vec<_> = (0..count)
        .map(|number| {
            let function = FunctionBuilder::new(&format!("f{number}"), [DataType::Double]);
            let build = |graph: &mut Graph, [a]: [Output; 1]| {
                let sine = ops::builders::call(graph, &common, [a]).build()?[0];
                Ok([ops::mul(graph, sine, number as f64).build()?])
            };
            function.build(&mut graph, build).unwrap()
        })
        .collect();
    let context = EagerContext::new(&registry).unwrap().with_functions(&graph);
    let start = Instant::now();
    for (number, function) in functions.iter().enumerate() {
        let mut tape = GradientTape::new(&context);
        let x = tape.watch(0.5f64).unwrap();
        let y = tape.call(function, [&x]).unwrap();
        let found = tape.gradient(&y[0], [&x]).unwrap().remove(0).and_then(|found| found.dense()).unwrap();
        assert_eq!(found.to_scalar::<f64>().unwrap(), 0.5f64.cos() * number as f64);
    }
    start.elapsed()
}

#[test]
fn many_functions_are_differentiated_in_time_in_proportion_to_their_number() {
    let _alone = alone();
    let (few, many) = (derivations(100), derivations(800));
    println!("{few:?} for 100 functions, {many:?} for 800");
    assert!(many < few * 16, "{few:?} for 100 functions, {many:?} for 800");
}
