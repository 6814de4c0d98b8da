//! Datasets whose ops run one by one, and the functions that they call.

use kernlink::attr::AttrValue;
use kernlink::graph::{Function, FunctionBuilder, NodeBuilder};
use kernlink::ops;
use kernlink::prelude::*;

/// The first output of an op on tensors; `others` are what a function captured, of which these have none.
fn run(eager: &EagerContext, op: &str, inputs: &[Tensor], others: bool, attrs: &[(&str, AttrValue)]) -> Result<Tensor> {
    let mut scope = eager.clone();
    let mut node = NodeBuilder::new(&mut scope, eager.registry().op(op)?.def);
    inputs.iter().for_each(|input| _ = node.input(input.clone()));
    if others {
        node.input_list([] as [Tensor; 0]);
    }
    attrs.iter().for_each(|(name, value)| _ = node.attr(name, value.clone()));
    Ok(node.build_outputs()?.into_vec().into_iter().next().unwrap_or_else(|| Tensor::scalar(0i64)))
}

/// What elements of one number are.
fn numbers() -> Vec<(&'static str, AttrValue)> {
    vec![
        ("output_types", AttrValue::ListType(vec![DataType::Int64])),
        ("output_shapes", AttrValue::ListShape(vec![PartialShape::from_known([])])),
    ]
}

fn range(eager: &EagerContext, stop: i64) -> Tensor {
    run(eager, "RangeDataset", &[0, stop, 1].map(Tensor::scalar), false, &numbers()).unwrap()
}

fn mapped(eager: &EagerContext, op: &str, dataset: Tensor, function: &Function) -> Tensor {
    let attrs = [numbers(), vec![("f", AttrValue::Func(function.reference()))]].concat();
    run(eager, op, &[dataset], true, &attrs).unwrap()
}

fn iterator(eager: &EagerContext, dataset: &Tensor) -> Tensor {
    let iterator = run(eager, "AnonymousIteratorV3", &[], false, &numbers()).unwrap();
    run(eager, "MakeIterator", &[dataset.clone(), iterator.clone()], false, &[]).unwrap();
    iterator
}

fn next(eager: &EagerContext, iterator: &Tensor) -> Result<i64> {
    run(eager, "IteratorGetNext", std::slice::from_ref(iterator), false, &numbers())?.to_scalar()
}

/// The dataset that a function makes of a number, and what that calls.
fn functions() -> (Graph, Function, Function) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let doubled = FunctionBuilder::new("Doubled", [DataType::Int64])
        .build(&mut graph, |g, [x]| Ok([ops::add_v2(g, x, x).build()?]))
        .unwrap();
    let inner = doubled.clone();
    let several = FunctionBuilder::new("Several", [DataType::Int64])
        .build(&mut graph, |g, [x]| {
            let mut attrs = numbers();
            let mut node = NodeBuilder::new(g, g.registry().op("RangeDataset")?.def);
            node.input(0i64).input(x).input(1i64);
            attrs.iter().for_each(|(name, value)| _ = node.attr(name, value.clone()));
            let range = node.build_output()?;
            attrs.push(("f", AttrValue::Func(inner.reference())));
            let mut node = NodeBuilder::new(g, g.registry().op("MapDataset")?.def);
            node.input(range).input_list([] as [Output; 0]);
            attrs.iter().for_each(|(name, value)| _ = node.attr(name, value.clone()));
            Ok([node.build_output()?])
        })
        .unwrap();
    (graph, doubled, several)
}

fn known(eager: &EagerContext) -> Vec<String> {
    let mut names: Vec<_> = eager.function_library().function_names().into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

fn add(eager: &EagerContext, graph: &Graph) {
    let defs = graph.function_names().into_iter().map(|name| graph.function_def(name).unwrap().clone());
    eager.add_functions(&defs.collect::<Vec<_>>()).unwrap();
}

#[test]
fn functions_stay_as_long_as_datasets_and_iterators_need_them() {
    let (graph, doubled, several) = functions();
    let eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    add(&eager, &graph);
    let dataset = mapped(&eager, "MapDataset", range(&eager, 3), &doubled);
    eager.retain_functions(&[]);
    assert_eq!(known(&eager), ["Doubled"]);
    // An iterator that is made after the function was let go, and one that is at work then.
    let first = iterator(&eager, &dataset);
    assert_eq!(next(&eager, &first).unwrap(), 0);
    drop(dataset);
    eager.retain_functions(&[]);
    assert_eq!((next(&eager, &first).unwrap(), next(&eager, &first).unwrap()), (2, 4));
    assert_eq!(next(&eager, &first).unwrap_err().code(), Code::OutOfRange);
    drop(first);
    // The kernels that are kept for the next call hold nothing.
    eager.retain_functions(&[]);
    assert_eq!(known(&eager), [] as [&str; 0]);
    // What a function calls that makes datasets.
    add(&eager, &graph);
    let dataset = mapped(&eager, "FlatMapDataset", range(&eager, 3), &several);
    eager.retain_functions(&[]);
    assert_eq!(known(&eager), ["Doubled", "Several"]);
    let flat = iterator(&eager, &dataset);
    eager.retain_functions(&[]);
    assert_eq!([0; 3].map(|_| next(&eager, &flat).unwrap()), [0, 0, 2]);
    drop((flat, dataset));
    // The function's body goes first, and with it what holds the other.
    eager.retain_functions(&[]);
    eager.retain_functions(&[]);
    assert_eq!(known(&eager), [] as [&str; 0]);
}

#[test]
fn datasets_are_made_of_graphs_where_there_are_no_functions_yet() {
    let eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let graph = run(&eager, "DatasetToGraphV2", &[range(&eager, 3)], false, &[]).unwrap();
    let share = |dataset| {
        let attrs = [numbers(), vec![("auto_shard_policy", 2i64.into())]].concat();
        run(&eager, "AutoShardDataset", &[dataset, Tensor::scalar(2i64), Tensor::scalar(1i64)], false, &attrs).unwrap()
    };
    let again = run(&eager, "DatasetFromGraph", &[graph], false, &[]).unwrap();
    let (share, again) = (iterator(&eager, &share(range(&eager, 4))), iterator(&eager, &again));
    assert_eq!([0; 2].map(|_| next(&eager, &share).unwrap()), [1, 3]);
    assert_eq!([0; 3].map(|_| next(&eager, &again).unwrap()), [0, 1, 2]);
}

#[test]
fn a_function_that_is_removed_takes_the_kernels_with_it_that_call_it() {
    let (graph, doubled, several) = functions();
    let eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    add(&eager, &graph);
    assert_eq!(eager.call(&doubled, [3i64]).unwrap()[0].to_scalar::<i64>().unwrap(), 6);
    assert!(eager.call(&several, [3i64]).is_ok());
    let before = mapped(&eager, "MapDataset", range(&eager, 3), &doubled);
    eager.remove_function("Doubled").unwrap();
    assert_eq!(eager.call(&doubled, [3i64]).unwrap_err().code(), Code::NotFound);
    assert_eq!(eager.call(&several, [3i64]).unwrap_err().code(), Code::NotFound);
    // Another one of the name is another one.
    let mut other = Graph::new(&kernlink::registry().unwrap());
    FunctionBuilder::new("Doubled", [DataType::Int64])
        .build(&mut other, |g, [x]| Ok([ops::neg(g, x).build()?]))
        .unwrap();
    add(&eager, &other);
    assert_eq!(eager.call(&doubled, [3i64]).unwrap()[0].to_scalar::<i64>().unwrap(), -3);
    let dataset = eager.call(&several, [3i64]).unwrap().remove(0);
    let iterator = iterator(&eager, &dataset);
    assert_eq!([0; 3].map(|_| next(&eager, &iterator).unwrap()), [0, -1, -2]);
    // What was made before calls what there was.
    let former = self::iterator(&eager, &before);
    eager.remove_function("Doubled").unwrap();
    assert_eq!([0; 3].map(|_| next(&eager, &former).unwrap()), [0, 2, 4]);
}
