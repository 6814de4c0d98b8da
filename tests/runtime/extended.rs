//! Sessions of graphs that have grown.

use kernlink::graph::{FunctionBuilder, Output};
use kernlink::prelude::*;

fn graph() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

/// A function of one float, and a call of it named `call`.
fn call(graph: &mut Graph, function: &str, x: Output, result: impl Fn(&mut Graph, Output) -> Result<Output>) -> Output {
    let function =
        FunctionBuilder::new(function, [DataType::Float]).build(graph, |graph, [x]| result(graph, x)).unwrap();
    ops::call(graph, &function, [x]).build().unwrap()[0]
}

fn value(session: &Session, fetch: Output) -> f32 {
    session.callable_of(&[], &[fetch], &[]).unwrap().run(&[]).unwrap()[0].to_scalar().unwrap()
}

#[test]
fn an_extension_has_all_in_common_with_its_session_but_the_graph() {
    let mut graph = graph();
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let noise = ops::random_uniform(&mut graph, Vec::<i32>::new(), DataType::Float).seed(3).seed2(5).build().unwrap();
    let first = Session::new(graph.clone()).unwrap();
    let alone = Session::new(graph.clone()).unwrap();
    let expected = [value(&alone, noise), value(&alone, noise), value(&alone, noise)];
    assert_eq!(value(&first, noise), expected[0]);
    let negative = ops::neg(&mut graph, noise).build().unwrap();
    let second = first.extended(graph.clone()).unwrap();
    assert_eq!(value(&second, negative), -expected[1]);
    assert_eq!(value(&first, noise), expected[2]);
    assert!(first.callable_of(&[], &[negative], &[]).is_err());
    assert!(std::sync::Arc::ptr_eq(first.resources(), second.resources()));
    // It outlives the session.
    let doubled = ops::add_v2(&mut graph, x, x).build().unwrap();
    let third = second.extended(graph).unwrap();
    drop((first, second));
    let sum = third.callable_of(&[x], &[doubled], &[]).unwrap();
    assert_eq!(sum.run(&[Tensor::scalar(2f32)]).unwrap()[0].to_scalar::<f32>().unwrap(), 4.0);
    third.close();
    assert_eq!(sum.run(&[Tensor::scalar(2f32)]).unwrap_err().code(), Code::Cancelled);
}

#[test]
fn closing_one_closes_all() {
    let mut graph = graph();
    let one = ops::constant(&mut graph, 1f32).unwrap();
    let first = Session::new(graph.clone()).unwrap();
    let second = first.extended(graph).unwrap();
    first.close();
    let refused = second.callable_of(&[], &[one], &[]).and_then(|callable| callable.run(&[]));
    assert_eq!(refused.unwrap_err().code(), Code::Cancelled);
}

#[test]
fn graphs_that_did_not_grow_from_the_sessions_are_refused() {
    let mut graph = graph();
    ops::constant(&mut graph, 1f32).unwrap();
    let early = graph.clone();
    ops::constant(&mut graph, 2f32).unwrap();
    let session = Session::new(graph.clone()).unwrap();
    let mut other = early.clone();
    let foreign = ops::constant(&mut other, 2f32).unwrap();
    for graph in [early, other] {
        assert_eq!(session.extended(graph).err().unwrap().code(), Code::InvalidArgument);
    }
    assert_eq!(session.callable_of(&[], &[foreign], &[]).err().unwrap().code(), Code::InvalidArgument);
    session.extended(graph).unwrap();
}

#[test]
fn functions_are_added_and_never_change() {
    let mut graph = graph();
    let one = ops::constant(&mut graph, 1f32).unwrap();
    let twice = call(&mut graph, "Twice", one, |graph, x| ops::add_v2(graph, x, x).build());
    let before = graph.clone();
    let first = Session::new(graph.clone()).unwrap();
    assert_eq!(value(&first, twice), 2.0);
    let four = call(&mut graph, "More", twice, |graph, x| ops::add_v2(graph, x, x).build());
    let second = first.extended(graph).unwrap();
    assert_eq!((value(&second, four), value(&second, twice)), (4.0, 2.0));
    // Another function of a name that the session knows.
    let mut other = before;
    call(&mut other, "More", twice, |graph, x| ops::square(graph, x).build());
    assert_eq!(first.extended(other).err().unwrap().code(), Code::AlreadyExists);
    assert_eq!(value(&second, four), 4.0);
}
