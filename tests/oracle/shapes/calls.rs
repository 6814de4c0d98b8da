//! What is remembered of functions that are called several times within one that is inferred.

use kernlink::graph::{Function, FunctionBuilder, TensorSpec};
use kernlink::prelude::*;
use kernlink::shape_inference::{LinkedDim, LinkedShape};

fn vector(dim: Option<usize>) -> TensorSpec {
    TensorSpec::new(DataType::Float).shape(PartialShape::from_known([dim]))
}

fn once(graph: &mut Graph, function: &Function, inputs: &[Output]) -> Result<Output> {
    Ok(ops::call(graph, function, inputs.iter().copied()).build()?[0])
}

#[test]
fn calls_of_one_function_have_unknown_sizes_of_their_own() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let found = FunctionBuilder::new("found", [TensorSpec::new(DataType::Float)])
        .build(&mut graph, |graph, [a]| Ok([ops::where_(graph, a).build()?]))
        .unwrap();
    let same = FunctionBuilder::new("same", [TensorSpec::new(DataType::Float)])
        .build(&mut graph, |graph, [a]| Ok([ops::relu(graph, a).build()?]))
        .unwrap();
    let around = FunctionBuilder::new("around", [TensorSpec::new(DataType::Float), TensorSpec::new(DataType::Float)])
        .build(&mut graph, |graph, [a, b]| {
            Ok([
                once(graph, &found, &[a])?,
                once(graph, &found, &[b])?,
                once(graph, &found, &[a])?,
                once(graph, &same, &[a])?,
                once(graph, &same, &[b])?,
            ])
        })
        .unwrap();
    let mut argument = || {
        let shape = PartialShape::from_known([None]);
        ops::placeholder(&mut graph, DataType::Float).shape(shape).build().unwrap()
    };
    let (a, b) = (argument(), argument());
    let results = ops::call(&mut graph, &around, [a, b]).build().unwrap();
    let shapes: Vec<LinkedShape> = results.iter().map(|result| graph.linked_shape(*result)).collect();
    let rows: Vec<LinkedDim> = shapes[..3].iter().map(|shape| shape.dims().unwrap()[0]).collect();
    assert!(rows.iter().all(|row| matches!(row, LinkedDim::Symbol(_))), "{rows:?}");
    assert!(rows[0] != rows[1] && rows[0] != rows[2] && rows[1] != rows[2], "{rows:?}");
    assert_eq!(shapes[3..], [graph.linked_shape(a), graph.linked_shape(b)]);
    assert_ne!(shapes[3], shapes[4]);
}

#[test]
fn calls_with_other_values_have_other_shapes() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let dims = || TensorSpec::new(DataType::Int32).shape(PartialShape::from_known([Some(2)]));
    let shaped = FunctionBuilder::new("shaped", [vector(Some(6)), dims()])
        .build(&mut graph, |graph, [a, dims]| Ok([ops::reshape(graph, a, dims).build()?]))
        .unwrap();
    // The one whose dimensions are unknown comes first: that nothing is known of it says nothing of the others.
    let around = FunctionBuilder::new("around", [vector(Some(6)), dims(), dims()])
        .build(&mut graph, |graph, [a, unknown, known]| {
            let constant = ops::constant(graph, [2i32, 3])?;
            Ok([
                once(graph, &shaped, &[a, unknown])?,
                once(graph, &shaped, &[a, constant])?,
                once(graph, &shaped, &[a, known])?,
                once(graph, &shaped, &[a, unknown])?,
            ])
        })
        .unwrap();
    let a = ops::placeholder(&mut graph, DataType::Float).shape(PartialShape::from_known([Some(6)])).build().unwrap();
    let unknown =
        ops::placeholder(&mut graph, DataType::Int32).shape(PartialShape::from_known([Some(2)])).build().unwrap();
    let known = ops::constant(&mut graph, [3i32, 2]).unwrap();
    let results = ops::call(&mut graph, &around, [a, unknown, known]).build().unwrap();
    let shapes: Vec<PartialShape> = results.iter().map(|result| graph.shape(*result).clone()).collect();
    let of = |dims: [Option<usize>; 2]| PartialShape::from_known(dims);
    let expected = [of([None, None]), of([Some(2), Some(3)]), of([Some(3), Some(2)]), of([None, None])];
    assert_eq!(shapes, expected);
}

/// Without what is remembered, each level would take twice the time of the one below.
#[test]
fn functions_that_call_each_other_twice_are_inferred_to_the_end() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let mut function = FunctionBuilder::new("level_0", [TensorSpec::new(DataType::Float)])
        .build(&mut graph, |graph, [a]| Ok([ops::relu(graph, a).build()?]))
        .unwrap();
    for level in 1..=30 {
        let below = function;
        function = FunctionBuilder::new(&format!("level_{level}"), [TensorSpec::new(DataType::Float)])
            .build(&mut graph, |graph, [a]| {
                let half = once(graph, &below, &[a])?;
                Ok([once(graph, &below, &[half])?])
            })
            .unwrap();
    }
    let shape = PartialShape::from_known([Some(3), None]);
    let x = ops::placeholder(&mut graph, DataType::Float).shape(shape).build().unwrap();
    let y = once(&mut graph, &function, &[x]).unwrap();
    assert_eq!(graph.linked_shape(y), graph.linked_shape(x));
}
