//! Gradients, held against TensorFlow's; see generate.py, which writes what is in `data`.

mod cases;
mod checker;
mod control_flow;
mod derivatives;
mod numerical;
mod own;
mod shared;
mod symbolic;
mod taped_calls;
mod tapes;

use std::collections::BTreeMap;

use kernlink::gradient::OutputGradient;
use kernlink::prelude::*;

use self::cases::{Case, agree, each_case, run};

kernlink::provider!();

/// Every case as a graph.
#[test]
fn gradients_of_graphs_are_those_of_tensorflow() {
    each_case(|case| {
        let Case { graph, xs, ys, flows, values, expected, .. } = case;
        let (xs, ys) = (xs.iter().copied(), ys.iter().copied());
        let mut graph = graph.clone();
        let asked = Gradients::of(ys).with_respect_to(xs.clone()).grad_ys(flows.iter().copied().map(Some));
        let found = asked.add_to(&mut graph).map_err(|error| error.to_string())?;
        let dense = found.iter().map(|found| match found {
            Some(OutputGradient::Dense(output)) => Ok(Some(*output)),
            Some(OutputGradient::Slices { values, indices, dense_shape }) => {
                cases::dense(&mut graph, *values, *indices, *dense_shape).map(Some)
            }
            None => Ok(None),
        });
        let dense = dense.collect::<Result<Vec<_>>>().map_err(|error| error.to_string())?;
        let feeds: Vec<_> = xs.zip(values.iter().cloned()).collect();
        let fetches: Vec<Output> = dense.iter().flatten().copied().collect();
        let mut answers = run(graph, &feeds, &fetches).map_err(|error| error.to_string())?.into_iter();
        let found: Vec<_> = dense.into_iter().map(|output| output.and_then(|_| answers.next())).collect();
        agree(&found, expected)
    });
}

/// What an op without a gradient, and other mistakes, are told.
#[test]
fn mistakes_are_named() {
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let rounded = ops::bucketize(&mut graph, x, &[1.0f32][..]).build().unwrap();
    let y = ops::cast(&mut graph, rounded, DataType::Float).build().unwrap();
    // No gradient flows through integers, so that Bucketize is not asked for one.
    assert_eq!(Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap(), [None]);
    let copy = ops::deep_copy(&mut graph, x).build().unwrap();
    let error = Gradients::of([copy]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    for words in [
        "op DeepCopy has no registered gradient",
        "#[register_gradient(op = DeepCopy)]",
        "not_differentiable!",
        "the way is `DeepCopy` (DeepCopy) ← `Placeholder` (Placeholder)",
    ] {
        assert!(error.message().contains(words), "{error}");
    }
    let z = ops::exp(&mut graph, x).build().unwrap();
    let double = ops::constant(&mut graph, 1.0f64).unwrap();
    let error = Gradients::of([z]).with_respect_to([x]).grad_ys([Some(double)]).add_to(&mut graph).unwrap_err();
    assert!(error.code() == Code::InvalidArgument && error.message().contains("must be float"), "{error}");
    let error = Gradients::of([z]).with_respect_to([x]).grad_ys([None, None]).add_to(&mut graph).unwrap_err();
    assert!(error.message().contains("2 grad_ys for 1 ys"), "{error}");
    let complex = ops::complex(&mut graph, x, x).build().unwrap();
    let error = Gradients::of([complex]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert!(error.message().contains("grad_ys"), "{error}");
}

/// A node may ask for the gradient of another op, if it has what that takes.
#[test]
fn a_node_may_ask_for_the_gradient_of_another_op() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let asks = |graph: &mut Graph, name: &str| ops::sign(graph, x).attr("_gradient_op_type", name).build().unwrap();
    let straight_through = asks(&mut graph, "Identity");
    let found = Gradients::of([straight_through]).with_respect_to([x]).add_to(&mut graph).unwrap();
    let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
    for (name, code, words) in [
        (
            "Conv2D",
            Code::InvalidArgument,
            "in the gradient of op Conv2D, for which `Sign_1` (Sign) asks by `Conv2D`: op Sign has no argument \
             that could be the gradient's `filter`",
        ),
        ("LeakyRelu", Code::InvalidArgument, "`Sign_2` (Sign) asks by `LeakyRelu`: attr `alpha` is missing"),
        (
            "Mine",
            Code::NotFound,
            "node `Sign_3` asks: register it with `#[register_gradient(op = Sign, name = \"Mine\")]`; the way",
        ),
    ] {
        let y = asks(&mut graph, name);
        let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
        assert!(error.code() == code && error.message().contains(words), "{error}");
    }
    let answers = run(graph, &[(x, Tensor::scalar(-2.0f32))], &[found]).unwrap();
    assert_eq!(answers[0].to_scalar::<f32>().unwrap(), 1.0);
}

/// A long chain is differentiated without recursion, and constants on the way cost nothing.
#[test]
fn long_chains_are_differentiated() {
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let mut y = x;
    for _ in 0..20_000 {
        y = ops::neg(&mut graph, y).build().unwrap();
    }
    let found = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap();
    let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
    let answers = run(graph, &[(x, Tensor::scalar(2.0f32))], &[found]).unwrap();
    assert_eq!(answers[0].to_scalar::<f32>().unwrap(), 1.0);
}

/// Gradients of gradients, by name and by hand.
#[test]
fn gradients_of_gradients() {
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Double).build().unwrap();
    let cube = ops::pow(&mut graph, x, 3.0).build().unwrap();
    let mut y = cube;
    let mut values = BTreeMap::new();
    for order in 1..=3 {
        let found = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap();
        let Some(OutputGradient::Dense(next)) = found[0] else { panic!("{found:?}") };
        values.insert(order, next);
        y = next;
    }
    let fetches: Vec<Output> = values.into_values().collect();
    let answers = run(graph, &[(x, Tensor::scalar(2.0f64))], &fetches).unwrap();
    let answers: Vec<f64> = answers.iter().map(|answer| answer.to_scalar::<f64>().unwrap()).collect();
    assert_eq!(answers, [12.0, 12.0, 6.0]);
}

/// Rows that are gathered by indices of both dtypes are joined.
#[test]
fn rows_by_indices_of_both_dtypes_are_joined() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).shape([3, 1]).build().unwrap();
    let a = ops::gather(&mut graph, x, &[0i32, 2][..]).build().unwrap();
    let b = ops::gather(&mut graph, x, &[2i64, 2][..]).build().unwrap();
    let y = ops::add_v2(&mut graph, a, b).build().unwrap();
    let found = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap()[0].unwrap();
    assert!(matches!(found, OutputGradient::Slices { .. }));
    let found = found.dense(&mut graph).unwrap();
    let answers = run(graph, &[(x, Tensor::zeros(DataType::Float, [3, 1]).unwrap())], &[found]).unwrap();
    assert_eq!(answers[0].as_slice::<f32>().unwrap(), [1.0, 0.0, 3.0]);
}

/// What is registered: each gradient by the name of its op, and what nothing flows through.
#[test]
fn gradients_are_listed() {
    use kernlink::gradient::{find_gradient, registered_gradients};
    let all = registered_gradients();
    let names: Vec<&str> = all.iter().map(|gradient| gradient.name).collect();
    assert!(names.is_sorted() && all.iter().all(|gradient| gradient.name == gradient.op.name), "{names:?}");
    assert!(find_gradient("Shape").is_some_and(|gradient| gradient.differentiation.is_none()));
    assert!(find_gradient("MatMul").is_some_and(|gradient| gradient.differentiation.is_some()));
    assert!(find_gradient("MatMull").is_none());
    let count = all.iter().filter(|gradient| gradient.differentiation.is_some()).count();
    assert!(count >= 317, "{count} ops have gradients");
}
