//! Gradients through branches, loops, functions, lists and arrays of tensors.

use kernlink::gradient::OutputGradient;
use kernlink::prelude::*;

use super::cases::{Case, agree, each_control_flow_case, run};

/// Every case, with the gradients of its gradients where TensorFlow has some.
#[test]
fn gradients_through_control_flow_are_those_of_tensorflow() {
    each_control_flow_case(|case| check(case).map_err(|error| format!("{error:?}")).and_then(|result| result));
}

fn check(case: &Case) -> Result<std::result::Result<(), String>> {
    let Case { graph, xs, ys, flows, values, expected, forward, second, .. } = case;
    let mut graph = graph.clone();
    let asked = Gradients::of(ys.iter().copied()).with_respect_to(xs.iter().copied());
    let found = dense(asked.grad_ys(flows.iter().copied().map(Some)).add_to(&mut graph)?);
    let feeds: Vec<_> = xs.iter().copied().zip(values.iter().cloned()).collect();
    // What the graph gave before, it gives still.
    let mut before = run(case.graph.clone(), &feeds, ys)?;
    for (found, expected) in before.iter().zip(forward) {
        if let Err(error) = kernlink::golden::compare(found, expected, Some((1e-12, 1e-12))) {
            return Ok(Err(format!("a y is not TensorFlow's: {error}")));
        }
    }
    let fetches: Vec<Output> = found.iter().flatten().chain(ys).copied().collect();
    let mut answers = run(graph.clone(), &feeds, &fetches)?.into_iter();
    let first: Vec<_> = found.iter().map(|output| output.and_then(|_| answers.next())).collect();
    for after in answers {
        if let Err(error) = kernlink::golden::compare(&after, &before.remove(0), None) {
            return Ok(Err(format!("a y is another: {error}")));
        }
    }
    if let Err(error) = agree(&first, expected) {
        return Ok(Err(error));
    }
    let Some(second) = second else { return Ok(Ok(())) };
    let asked = Gradients::of(found.iter().flatten().copied()).with_respect_to(xs.iter().copied());
    let found = dense(asked.add_to(&mut graph)?);
    let fetches: Vec<Output> = found.iter().flatten().copied().collect();
    let mut answers = run(graph, &feeds, &fetches)?.into_iter();
    let found: Vec<_> = found.iter().map(|output| output.and_then(|_| answers.next())).collect();
    Ok(agree(&found, second).map_err(|error| format!("second order: {error}")))
}

fn dense(found: Vec<Option<OutputGradient>>) -> Vec<Option<Output>> {
    let dense = found.into_iter().map(|found| match found? {
        OutputGradient::Dense(output) => Some(output),
        OutputGradient::Slices { .. } => panic!("no case gathers"),
    });
    dense.collect()
}

/// A graph with a branch whose body has an op without a gradient, behind one that has one.
#[test]
fn what_fails_leaves_the_graph_as_it_was() {
    use kernlink::ops::builders::cond;

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let holds = ops::constant(&mut graph, true).unwrap();
    let copied = cond(&mut graph, holds, |graph| ops::deep_copy(graph, x).build(), |_| Ok(x)).build().unwrap();
    let y = cond(&mut graph, holds, |graph| ops::sin(graph, copied).build(), |_| Ok(copied)).build().unwrap();
    let before = graph.to_def().unwrap();
    let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    for words in ["in function `cond_true", "op DeepCopy has no registered gradient"] {
        assert!(error.message().contains(words), "{error}");
    }
    assert_eq!(graph.to_def().unwrap(), before);
}

#[test]
fn loops_of_tensorflow_1_are_raised_first() {
    use kernlink::ops::builders::v1::while_loop;

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let looped = while_loop(
        &mut graph,
        [x],
        |graph, [a]| ops::less(graph, a, 100.0).build(),
        |graph, [a]| Ok([ops::mul(graph, a, a).build()?]),
    );
    let [y] = looped.build().unwrap();
    let name = graph.output_name(y);
    let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert!(error.code() == Code::FailedPrecondition && error.message().contains("raise_loops"), "{error}");
    let renumbering = graph.raise_loops().unwrap();
    let (x, y) = (graph.output("x").unwrap(), graph.output(&name).unwrap());
    assert_eq!(renumbering.used_for(x), Some(x));
    let found = dense(Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap());
    let answers = run(graph, &[(x, Tensor::scalar(2.0f32))], &[y, found[0].unwrap()]).unwrap();
    // 2, 4, 16, 256: the eighth power.
    let answers: Vec<f32> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
    assert_eq!(answers, [256.0, 8.0 * 128.0]);
}

/// What comes back into a loop stands behind what takes it.
#[test]
fn a_loop_that_leads_back_is_no_missing_way() {
    use kernlink::ops::builders::v1::while_loop;

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).shape(PartialShape::of_rank(0)).build().unwrap();
    let one = ops::constant(&mut graph, 1.0f32).unwrap();
    let looped = while_loop(
        &mut graph,
        [one],
        |graph, [a]| ops::less(graph, a, 100.0).build(),
        |graph, [a]| Ok([ops::mul(graph, a, x).build()?]),
    );
    let [y] = looped.build().unwrap();
    let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
}

#[test]
fn recursion_is_refused() {
    use kernlink::graph::{Function, FunctionBuilder};
    use kernlink::ops::builders::{call, cond};

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let own = Function::declare("again", [DataType::Float], [DataType::Float], false);
    let again = FunctionBuilder::new("again", [DataType::Float]).build(&mut graph, |graph, [a]| {
        let small = ops::less(graph, a, 1.0).build()?;
        let half = ops::mul(graph, a, 0.5).build()?;
        let result = cond(graph, small, |_| Ok(a), |graph| Ok(call(graph, &own, [half]).build()?[0])).build()?;
        Ok([result])
    });
    let again = again.unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let y = call(&mut graph, &again, [x]).build().unwrap()[0];
    let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert!(error.code() == Code::Unimplemented && error.message().contains("`again` calls itself"), "{error}");
}

/// A branch of TensorFlow 1 whose values are constants is known by what they wait for, in a loop that is raised, too.
#[test]
fn branches_of_constants_stay_branches_in_loops_that_are_raised() {
    use kernlink::ops::builders::v1::{cond, while_loop};

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).shape(PartialShape::of_rank(0)).name("x").build().unwrap();
    let looped = while_loop(
        &mut graph,
        [x],
        |graph, [a]| ops::less(graph, a, 10.0).build(),
        |graph, [a]| {
            let small = ops::less(graph, a, 3.0).build()?;
            let factor = cond(graph, small, |graph| ops::constant(graph, 2.0f32), |graph| ops::constant(graph, 5.0f32));
            let factor = factor.build()?;
            Ok([ops::mul(graph, a, factor).build()?])
        },
    );
    let [y] = looped.build().unwrap();
    let name = graph.output_name(y);
    graph.raise_loops().unwrap();
    let (x, y) = (graph.output("x").unwrap(), graph.output(&name).unwrap());
    let found = dense(Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap());
    for _ in 0..20 {
        // 1, 2, 4, 20.
        let answers = run(graph.clone(), &[(x, Tensor::scalar(1.0f32))], &[y, found[0].unwrap()]).unwrap();
        let answers: Vec<f32> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
        assert_eq!(answers, [20.0, 20.0]);
    }
}

/// What hands on and has a gradient of its own does not make a variable the same in all iterations.
#[test]
fn a_variable_that_stops_gradients_is_no_invariant() {
    use kernlink::ops::builders::while_loop;

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).shape(PartialShape::of_rank(0)).build().unwrap();
    let zero = ops::constant(&mut graph, 0i32).unwrap();
    let looped = while_loop(
        &mut graph,
        [zero, x],
        |graph, [i, _]| ops::less(graph, i, 3).build(),
        |graph, [i, a]| Ok([ops::add_v2(graph, i, 1).build()?, ops::stop_gradient(graph, a).build()?]),
    );
    let [_, y] = looped.build().unwrap();
    let asked = Gradients::of([y]).with_respect_to([x]).zeros_if_unconnected();
    let found = dense(asked.add_to(&mut graph).unwrap());
    let answers = run(graph, &[(x, Tensor::scalar(1.5f32))], &[found[0].unwrap()]).unwrap();
    assert_eq!(answers[0].to_scalar::<f32>().unwrap(), 0.0);
}

/// Whoever rolls a graph back has nodes back that handed out more meanwhile.
#[test]
fn nodes_that_handed_out_more_are_rolled_back() {
    use kernlink::graph::FunctionBuilder;
    use kernlink::ops::builders::{call, jacobian};

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let function = FunctionBuilder::new("twice", [DataType::Float]).build(&mut graph, |graph, [a]| {
        let first = ops::exp(graph, a).build()?;
        Ok([ops::exp(graph, first).build()?])
    });
    let x = ops::placeholder(&mut graph, DataType::Float).shape([2]).build().unwrap();
    let steps = ops::floor(&mut graph, x).build().unwrap();
    let y = call(&mut graph, &function.unwrap(), [steps]).build().unwrap()[0];
    let before = graph.to_def().unwrap();
    assert_eq!(jacobian(&mut graph, y, x).unwrap(), None);
    assert_eq!(graph.to_def().unwrap(), before);
    assert!(run(graph, &[(x, Tensor::vector(&[0.5f32, 1.5]).unwrap())], &[y]).is_ok());
}

/// A graph whose functions do not fit the nodes that call them is refused.
#[test]
fn functions_that_do_not_fit_are_refused() {
    use kernlink::graph::FunctionBuilder;
    use kernlink::ops::builders::call;

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let function = FunctionBuilder::new("two", [DataType::Float])
        .build(&mut graph, |graph, [a]| Ok([ops::exp(graph, a).build()?, a]))
        .unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    call(&mut graph, &function, [x]).name("y").build().unwrap();
    let mut def = graph.to_def().unwrap();
    let node = def.node.iter_mut().find(|node| node.name == "y").unwrap();
    let kernlink::proto::attr_value::Value::List(list) = node.attr.get_mut("Tout").unwrap().value.as_mut().unwrap()
    else {
        panic!("a list");
    };
    list.r#type.pop();
    let mut graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    let (x, y) = (graph.output("x").unwrap(), graph.output("y").unwrap());
    let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert!(error.code() == Code::InvalidArgument && error.message().contains("function `two`"), "{error}");
}

/// What counts as a constant has a gradient itself, as in TensorFlow.
#[test]
fn constants_by_request_have_gradients_themselves() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let a = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let b = ops::mul(&mut graph, a, 2.0).build().unwrap();
    let y = ops::add_v2(&mut graph, a, b).build().unwrap();
    let found = dense(Gradients::of([y]).with_respect_to([a, b]).stop_gradients([a, b]).add_to(&mut graph).unwrap());
    let fetches: Vec<Output> = found.into_iter().flatten().collect();
    let answers = run(graph, &[(a, Tensor::scalar(7.0f32))], &fetches).unwrap();
    let answers: Vec<f32> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
    assert_eq!(answers, [1.0, 1.0]);
}

/// A loop over a range refuses what it did before its node was differentiated.
#[test]
fn ranges_that_lead_nowhere_are_refused() {
    use kernlink::graph::{FunctionBuilder, NodeBuilder};

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let body = FunctionBuilder::new("body", [DataType::Int32, DataType::Float])
        .build(&mut graph, |graph, [_, a]| Ok([ops::mul(graph, a, a).build()?]))
        .unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let limit = ops::placeholder(&mut graph, DataType::Int32).name("limit").build().unwrap();
    let def = graph.registry().op("For").unwrap().def;
    let mut builder = NodeBuilder::new(&mut graph, def);
    builder.input(0i32).input(limit).input(1i32).input_list([x]).attr("body", body.reference());
    let y = builder.build_output().unwrap();
    let found = dense(Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap());
    let of = |count: i32| {
        run(graph.clone(), &[(x, Tensor::scalar(2.0f32)), (limit, Tensor::scalar(count))], &[y, found[0].unwrap()])
    };
    let answers: Vec<f32> = of(2).unwrap().iter().map(|answer| answer.to_scalar().unwrap()).collect();
    assert_eq!(answers, [16.0, 32.0]);
    assert_eq!(of(-1).unwrap_err().code(), Code::InvalidArgument);
}
