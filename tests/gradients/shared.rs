//! What many nodes that call the same functions share.

use kernlink::gradient::OutputGradient;
use kernlink::graph::{FunctionBuilder, TensorSpec};
use kernlink::ops::builders::{call, cond, while_loop};
use kernlink::prelude::*;

use super::cases::run;

/// Differentiates what `step` does to a value so many times; returns how many functions the library has before and after that,
/// what is computed at 0.5, and its gradient.
fn differentiated(
    count: usize,
    define: impl FnOnce(&mut Graph),
    step: impl Fn(&mut Graph, Output) -> Result<Output>,
) -> (usize, usize, [f64; 2]) {
    let (mut graph, x) = begun();
    define(&mut graph);
    let y = (0..count).try_fold(x, |value, _| step(&mut graph, value)).unwrap();
    solved(graph, x, y)
}

/// A graph with a scalar.
fn begun() -> (Graph, Output) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Double).shape(PartialShape::of_rank(0)).name("x").build().unwrap();
    (graph, x)
}

/// Differentiates; returns how many functions the library has before and after that, what is computed at 0.5, and its gradient.
fn solved(mut graph: Graph, x: Output, y: Output) -> (usize, usize, [f64; 2]) {
    let before = graph.function_names().len();
    let found = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap();
    let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
    let after = graph.function_names().len();
    let answers = run(graph, &[(x, Tensor::scalar(0.5f64))], &[y, found]).unwrap();
    let answers: Vec<f64> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
    (before, after, [answers[0], answers[1]])
}

/// `sin(sin(...))`, `count` times, and its slope.
fn sines(count: usize) -> [f64; 2] {
    (0..count).fold([0.5, 1.0], |[value, slope]: [f64; 2], _| [value.sin(), slope * value.cos()])
}

fn assert_close(found: [f64; 2], expected: [f64; 2]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} {expected}");
    }
}

fn sine(graph: &mut Graph) {
    let sine =
        FunctionBuilder::new("sine", [DataType::Double]).build(graph, |graph, [a]| Ok([ops::sin(graph, a).build()?]));
    sine.unwrap();
}

#[test]
fn calls_of_one_function_share_its_gradient() {
    let step = |graph: &mut Graph, value: Output| {
        let sine = graph.function("sine")?;
        Ok(call(graph, &sine, [value]).build()?[0])
    };
    let (before, after, found) = differentiated(100, sine, step);
    // What flows back is all that the gradient needs beside the argument.
    assert_eq!((before, after), (1, 2));
    assert_close(found, sines(100));
}

/// So small that a million steps lead from 0.5 to one.
const PART: f64 = 1.0 / (1 << 20) as f64;

/// Functions of which each calls the one below twice: `level_0` computes `a + PART a²`, and `level_n` that so many times.
fn levels(graph: &mut Graph, count: usize) {
    FunctionBuilder::new("level_0", [TensorSpec::new(DataType::Double).shape(PartialShape::of_rank(0))])
        .build(graph, |graph, [a]| {
            let square = ops::square(graph, a).build()?;
            let part = ops::mul(graph, square, PART).build()?;
            Ok([ops::add_v2(graph, a, part).build()?])
        })
        .unwrap();
    for level in 1..=count {
        let below = graph.function(&format!("level_{}", level - 1)).unwrap();
        FunctionBuilder::new(&format!("level_{level}"), [DataType::Double])
            .build(graph, |graph, [a]| {
                let once = call(graph, &below, [a]).build()?[0];
                Ok([call(graph, &below, [once]).build()?[0]])
            })
            .unwrap();
    }
}

/// What the function of a level is at 0.5, and its slope.
fn at_level(level: u32) -> [f64; 2] {
    (0..1usize << level).fold([0.5, 1.0], |[value, slope]: [f64; 2], _| {
        [value + value * value * PART, slope * (1.0 + 2.0 * value * PART)]
    })
}

/// The call of the top level, and its gradient.
fn of_levels(count: usize) -> (Graph, [Output; 3]) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    levels(&mut graph, count);
    let x = ops::placeholder(&mut graph, DataType::Double).shape(PartialShape::of_rank(0)).build().unwrap();
    let top = graph.function(&format!("level_{count}")).unwrap();
    let y = call(&mut graph, &top, [x]).build().unwrap()[0];
    let found = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap();
    let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
    (graph, [x, y, found])
}

/// A million calls of the last in 21 functions: what each adds is two, neither of which hands out or takes more for each level.
#[test]
fn functions_that_call_each_other_twice_stay_small() {
    let (graph, _) = of_levels(20);
    let names = graph.function_names();
    assert!(names.len() <= 3 * 21, "{} functions", names.len());
    for name in names {
        let function = graph.function(name).unwrap();
        let (takes, gives) = (function.argument_dtypes().len(), function.result_dtypes().len());
        assert!(takes <= 12 && gives <= 10, "`{name}` takes {takes} and gives {gives}");
    }
}

#[test]
fn what_functions_hand_out_together_comes_back() {
    let (graph, [x, y, found]) = of_levels(12);
    let packs = graph
        .to_def()
        .unwrap()
        .library
        .unwrap()
        .function
        .iter()
        .any(|function| function.node_def.iter().any(|node| node.op == "OptionalFromValue"));
    assert!(packs);
    let answers = run(graph, &[(x, Tensor::scalar(0.5f64))], &[y, found]).unwrap();
    let answers: Vec<f64> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
    assert_close([answers[0], answers[1]], at_level(12));
}

/// The second gradient goes through the optionals.
#[test]
fn what_functions_hand_out_together_has_a_gradient() {
    let (mut graph, [x, _, slope]) = of_levels(6);
    let found = Gradients::of([slope]).with_respect_to([x]).add_to(&mut graph).unwrap();
    let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
    let answer = run(graph, &[(x, Tensor::scalar(0.5f64))], &[found]).unwrap()[0].to_scalar::<f64>().unwrap();
    let [.., expected] = (0..1 << 6).fold([0.5, 1.0, 0.0], |[value, slope, second]: [f64; 3], _| {
        let factor = 1.0 + 2.0 * PART * value;
        [value + value * value * PART, slope * factor, second * factor + 2.0 * PART * slope * slope]
    });
    assert!((answer - expected).abs() <= 1e-11 * expected.abs(), "{answer} {expected}");
}

#[test]
fn branches_and_loops_with_the_same_functions_share_their_gradients() {
    use kernlink::graph::NodeBuilder;

    // The nodes that one call of a builder makes, again with the functions of the first.
    let of = |op: &str, count: usize, define: &dyn Fn(&mut Graph, Output) -> Result<Output>| {
        let (mut graph, x) = begun();
        let mut y = define(&mut graph, x).unwrap();
        let node = graph.ids().find(|id| graph.node(*id).op.def.name.ends_with(op)).unwrap();
        let first = graph.node(node).clone();
        let place = first.inputs.iter().position(|input| *input == x).unwrap();
        let result = y.index;
        for _ in 1..count {
            let mut builder = NodeBuilder::new(&mut graph, first.op.def);
            let mut inputs = first.inputs.clone();
            inputs[place] = y;
            for (argument, range) in first.op.def.inputs.iter().zip(&first.signature.input_ranges) {
                match argument.is_list() {
                    true => builder.input_list(inputs[range.clone()].to_vec()),
                    false => builder.input(inputs[range.start]),
                };
            }
            first.attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
            y = Output { node: builder.build().unwrap(), index: result };
        }
        let (before, after, answers) = solved(graph, x, y);
        (after - before, answers)
    };
    let branch = |graph: &mut Graph, a: Output| {
        let holds = ops::greater(graph, a, 0.0).build()?;
        cond(graph, holds, |graph| ops::sin(graph, a).build(), |_| Ok(a)).build()
    };
    let (count, found) = of("If", 100, &branch);
    assert_eq!(of("If", 1, &branch).0, count);
    assert_close(found, sines(100));
    let twice = |graph: &mut Graph, a: Output| {
        let zero = ops::constant(graph, 0i32)?;
        let [_, result] = while_loop(
            graph,
            [zero, a],
            |graph, [i, _]| ops::less(graph, i, 2).build(),
            |graph, [i, b]| Ok([ops::add_v2(graph, i, 1).build()?, ops::sin(graph, b).build()?]),
        )
        .build()?;
        Ok(result)
    };
    let (count, found) = of("While", 50, &twice);
    assert_eq!(of("While", 1, &twice).0, count);
    assert_close(found, sines(100));
}

/// Gradients of which some were made when they fail: nothing of them stays, and the next are made anew.
#[test]
fn what_fails_leaves_nothing_that_others_would_use() {
    let (mut graph, x) = begun();
    sine(&mut graph);
    let copies = FunctionBuilder::new("copies", [DataType::Double])
        .build(&mut graph, |graph, [a]| Ok([ops::deep_copy(graph, a).build()?]))
        .unwrap();
    let sine = graph.function("sine").unwrap();
    let copied = call(&mut graph, &copies, [x]).build().unwrap()[0];
    let first = call(&mut graph, &sine, [copied]).build().unwrap()[0];
    let y = call(&mut graph, &sine, [first]).build().unwrap()[0];
    let before = graph.to_def().unwrap();
    // The gradient of `sine` is there by the time that `copies` is found to have none.
    let failing = Gradients::of([y]).with_respect_to([x]);
    for _ in 0..2 {
        let error = failing.add_to(&mut graph).unwrap_err();
        assert!(error.code() == Code::NotFound && error.message().contains("in function `copies`"), "{error}");
        assert_eq!(graph.to_def().unwrap(), before);
    }
    // Up to the op that has none there are gradients, in the same graph, by the same names as in one that saw no failure.
    let mut other = Graph::import(&before, graph.registry()).unwrap();
    let names = [y, copied].map(|output| graph.output_name(output));
    let [other_y, other_copied] = names.map(|name| other.output(&name).unwrap());
    Gradients::of([other_y]).with_respect_to([other_copied]).add_to(&mut other).unwrap();
    let found = Gradients::of([y]).with_respect_to([copied]).add_to(&mut graph).unwrap()[0];
    let Some(OutputGradient::Dense(found)) = found else { panic!("{found:?}") };
    assert_eq!(graph.to_def().unwrap(), other.to_def().unwrap());
    let answers = run(graph, &[(x, Tensor::scalar(0.5f64))], &[y, found]).unwrap();
    let answers: Vec<f64> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
    assert_close([answers[0], answers[1]], sines(2));
}
