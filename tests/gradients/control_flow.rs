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
