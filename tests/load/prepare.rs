//! What the first run of a model finds prepared. Kernels are counted for the whole process.

use std::sync::atomic::Ordering;

use kernlink::formats::{LoadOptions, SavedModel};
use kernlink::graph::FunctionBuilder;
use kernlink::prelude::{DataType, Graph, Session, SessionOptions, Tensor, ops};

use crate::alone;
use crate::support::path;

/// How many kernels were made so far.
fn kernels() -> u64 {
    let registry = kernlink::registry().unwrap();
    registry.kernels().map(|kernel| kernel.created.load(Ordering::Relaxed)).sum()
}

#[test]
fn the_first_run_of_a_prepared_signature_makes_no_kernel() {
    let _alone = alone();
    let registry = kernlink::registry().unwrap();
    let made = |options: &LoadOptions| {
        let model = SavedModel::load(path("tests/saved_model/data/tf2"), &registry, options).unwrap();
        let before = kernels();
        let x = Tensor::from_elements([1, 3], &[1f32, 2.0, 3.0]).unwrap();
        let run = || {
            let found = model.signature("serving_default").unwrap().run(&[("x", x.clone())]).unwrap();
            assert_eq!(found["scaled"].as_slice::<f32>().unwrap(), [1.5, -4.0, 12.0]);
            kernels() - before
        };
        let first = run();
        assert_eq!(run(), first, "a second run makes none");
        first
    };
    assert!(made(&LoadOptions::new()) > 0);
    assert_eq!(made(&LoadOptions::new().prepare("serving_default")), 0);
    let missing =
        SavedModel::load(path("tests/saved_model/data/tf2"), &registry, &LoadOptions::new().prepare("nowhere"));
    assert_eq!(missing.map(drop).unwrap_err().code(), kernlink::Code::NotFound);
}

#[test]
fn what_another_run_calls_is_not_prepared() {
    let _alone = alone();
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let function = |graph: &mut Graph, name: &str| {
        let built = FunctionBuilder::new(name, [DataType::Float]).build(graph, |g, [x]| ops::neg(g, x).build());
        let call = ops::call(graph, &built.unwrap(), [x]).build().unwrap()[0];
        ops::identity(graph, call).name(&name.to_lowercase()).build().unwrap();
    };
    function(&mut graph, "One");
    function(&mut graph, "Other");
    // In place of their calls the bodies would be nobody's to prepare.
    let options = SessionOptions::new().without_pass("inline-functions");
    let session = Session::with_options(graph, &options).unwrap();
    let (one, other) = (session.make_callable(&["x"], &["one"], &[]), session.make_callable(&["x"], &["other"], &[]));
    session.prepare(&["x"], &["one"], &[]).unwrap();
    let made = |callable: kernlink::Result<kernlink::runtime::Callable>| {
        let before = kernels();
        callable.unwrap().run(&[Tensor::scalar(1f32)]).unwrap();
        kernels() - before
    };
    assert_eq!(made(one), 0);
    assert!(made(other) > 0, "the other was prepared, too");
}

#[test]
fn branches_and_loops_are_prepared_too() {
    let _alone = alone();
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let big = ops::greater(&mut graph, x, 10f32).build().unwrap();
    let y = ops::cond(&mut graph, big, |g| ops::square(g, x).build(), |g| ops::neg(g, x).build()).build().unwrap();
    ops::identity(&mut graph, y).name("y").build().unwrap();
    let session = Session::new(graph).unwrap();
    let callable = session.prepare(&["x"], &["y"], &[]).unwrap();
    let before = kernels();
    for (x, y) in [(1f32, -1f32), (20.0, 400.0)] {
        assert_eq!(callable.run(&[Tensor::scalar(x)]).unwrap()[0].to_scalar::<f32>().unwrap(), y);
    }
    assert_eq!(kernels(), before);
}
