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
    let Case { graph, xs, ys, flows, values, expected, second, .. } = case;
    let mut graph = graph.clone();
    let asked = Gradients::of(ys.iter().copied()).with_respect_to(xs.iter().copied());
    let found = dense(asked.grad_ys(flows.iter().copied().map(Some)).add_to(&mut graph)?);
    let feeds: Vec<_> = xs.iter().copied().zip(values.iter().cloned()).collect();
    // What the graph gave before, it gives still.
    let mut before = run(case.graph.clone(), &feeds, ys)?;
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
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
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
