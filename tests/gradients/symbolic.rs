//! `SymbolicGradient`: what it cannot have, and what TensorFlow has no answer for. The others are in `control_flow`.

use std::collections::HashSet;
use std::sync::Arc;

use kernlink::attr::FunctionRef;
use kernlink::gradient::derive_gradient;
use kernlink::graph::{Function, FunctionBuilder, Needs, NodeBuilder, NodeClass};
use kernlink::ops::builders::while_loop;
use kernlink::prelude::*;
use kernlink::proto::GraphDef;
use kernlink::registry::Registry;

use super::cases::{agree, each_control_flow_case};

fn builder(graph: &mut Graph) -> NodeBuilder<'_> {
    let op = graph.registry().op("SymbolicGradient").unwrap().def;
    NodeBuilder::new(graph, op)
}

/// A graph with a function of one float, `x`, and a node that asks for its gradient.
fn asking(build: impl FnOnce(&mut Graph, Output) -> Result<Output>, flows: usize) -> (Graph, Output, Output, Function) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let function = FunctionBuilder::new("asked", [DataType::Float])
        .build(&mut graph, |graph, [a]| Ok([build(graph, a)?]))
        .unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).shape(PartialShape::of_rank(0)).name("x").build().unwrap();
    let one = ops::constant(&mut graph, 1.0f32).unwrap();
    let inputs = [x].into_iter().chain(vec![one; flows]);
    let mut node = builder(&mut graph);
    node.name("asks").input_list(inputs).attr("f", function.reference()).attr("Tout", vec![DataType::Float]);
    let y = node.build_output().unwrap();
    (graph, x, y, function)
}

fn run(graph: Graph, x: Output, y: Output, value: f32) -> Result<f32> {
    super::cases::run(graph, &[(x, Tensor::scalar(value))], &[y])?[0].to_scalar()
}

/// The third power, by a loop.
fn cube_by_loop(graph: &mut Graph, a: Output) -> Result<Output> {
    let (zero, one) = (ops::constant(graph, 0i32)?, ops::ones_like(graph, a).build()?);
    let [_, power] = while_loop(
        graph,
        [zero, one],
        |graph, [i, _]| ops::less(graph, i, 3).build(),
        |graph, [i, b]| Ok([ops::add_v2(graph, i, 1).build()?, ops::mul(graph, b, a).build()?]),
    )
    .build()?;
    Ok(power)
}

/// Where TensorFlow has zeros.
#[test]
fn a_function_with_a_loop_has_a_gradient() {
    let (mut graph, x, y, _) = asking(cube_by_loop, 1);
    assert_eq!(run(graph.clone(), x, y, 2.0).unwrap(), 12.0);
    let second = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap()[0].unwrap();
    let second = second.dense(&mut graph).unwrap();
    assert_eq!(run(graph.clone(), x, second, 2.0).unwrap(), 12.0);
    assert_eq!(run(graph, x, y, 2.0).unwrap(), 12.0);
}

/// A gradient of a function that asks for that of another.
#[test]
fn gradients_that_ask_for_gradients() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let ask = |graph: &mut Graph, function: &Function, inputs: [Output; 2]| {
        let mut node = builder(graph);
        node.input_list(inputs).attr("f", function.reference()).attr("Tout", vec![DataType::Float]);
        node.build_output()
    };
    let cube = FunctionBuilder::new("cube", [DataType::Float]).build(&mut graph, |graph, [a]| {
        let square = ops::mul(graph, a, a).build()?;
        Ok([ops::mul(graph, square, a).build()?])
    });
    let cube = cube.unwrap();
    let slope = FunctionBuilder::new("slope", [DataType::Float]).build(&mut graph, |graph, [a]| {
        let one = ops::ones_like(graph, a).build()?;
        Ok([ask(graph, &cube, [a, one])?])
    });
    let slope = slope.unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let one = ops::ones_like(&mut graph, x).build().unwrap();
    let y = ask(&mut graph, &slope, [x, one]).unwrap();
    assert_eq!(run(graph, x, y, 2.0).unwrap(), 12.0);
}

#[test]
fn mistakes_are_named() {
    let check = |graph: Graph, x, y, code: Code, words: &[&str]| {
        let error = run(graph.clone(), x, y, 1.0).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        words.iter().for_each(|words| assert!(error.to_string().contains(words), "{error}"));
        let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph.clone()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        words.iter().for_each(|words| assert!(error.to_string().contains(words), "{error}"));
    };
    let (graph, x, y, _) = asking(|graph, a| ops::deep_copy(graph, a).build(), 1);
    check(graph, x, y, Code::NotFound, &["op DeepCopy has no registered gradient", "asked"]);
    let (graph, x, y, _) = asking(|graph, a| ops::exp(graph, a).build(), 2);
    check(graph, x, y, Code::InvalidArgument, &["`Tin` must be [float, float], and `Tout` [float]"]);
    let (mut graph, x, ..) = asking(|graph, a| ops::exp(graph, a).build(), 1);
    let mut node = builder(&mut graph);
    let missing = FunctionRef { name: "askd".to_owned(), ..FunctionRef::default() };
    node.input_list([x, x]).attr("f", missing).attr("Tout", vec![DataType::Float]);
    let y = node.build_output().unwrap();
    check(graph, x, y, Code::NotFound, &["no function `askd`", "asked"]);
}

/// The deepest calls that are differentiated are derived on whatever thread first needs them.
#[test]
fn deep_calls_are_derived_on_any_thread() {
    let check = |levels: usize| {
        let mut graph = Graph::new(&kernlink::registry().unwrap());
        for level in 0..levels {
            let build = |graph: &mut Graph, a: Output| match level {
                0 => ops::mul(graph, a, 2.0).build(),
                _ => {
                    let below = graph.function(&format!("level_{}", level - 1))?;
                    Ok(ops::builders::call(graph, &below, [a]).build()?[0])
                }
            };
            FunctionBuilder::new(&format!("level_{level}"), [DataType::Float])
                .build(&mut graph, |graph, [a]| Ok([build(graph, a)?]))
                .unwrap();
        }
        let top = graph.function(&format!("level_{}", levels - 1)).unwrap();
        // Within a function, it is prepared by whoever calls that first.
        let outer = FunctionBuilder::new("outer", [DataType::Float]).build(&mut graph, |graph, [a]| {
            let mut node = builder(graph);
            node.input_list([a, a]).attr("f", top.reference()).attr("Tout", vec![DataType::Float]);
            Ok([node.build_output()?])
        });
        let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
        let y = ops::builders::call(&mut graph, &outer.unwrap(), [x]).build().unwrap()[0];
        run(graph, x, y, 3.0)
    };
    assert_eq!(check(60).unwrap(), 6.0);
    let error = check(70).unwrap_err();
    assert!(error.code() == Code::ResourceExhausted && error.message().contains("64 deep"), "{error}");
}

/// A registry of the ops, with their kernels, that a selection for a graph keeps.
fn selected(def: &GraphDef, all: &Arc<Registry>) -> Arc<Registry> {
    let mut needs = Needs::new(all).with_created(kernlink::optimize::created()).with_gradients(derive_gradient);
    needs.add(def).unwrap();
    assert_eq!(needs.missing_gradients().collect::<Vec<_>>(), [] as [&str; 0]);
    let lines = needs.to_string();
    let kept: HashSet<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
    let ops = all.ops().filter(|entry| entry.system || kept.contains(&*entry.def.name));
    let ops: HashSet<&str> = ops.map(|entry| &*entry.def.name).collect();
    let entries = all.ops().filter(|entry| ops.contains(&*entry.def.name));
    Arc::new(Registry::new(entries, all.kernels().filter(|kernel| ops.contains(kernel.op))).unwrap())
}

/// A program that is built for a graph by its selection derives the gradients that the graph asks for.
#[test]
fn selections_have_what_derived_gradients_need() {
    let count = std::cell::Cell::new(0);
    each_control_flow_case(|case| {
        if case.graph.nodes().iter().all(|node| node.class != NodeClass::SymbolicGradient) {
            return Ok(());
        }
        count.set(count.get() + 1);
        let def = case.graph.to_def().unwrap();
        let graph = Graph::import(&def, &selected(&def, &case.registry)).unwrap();
        let same = |outputs: &[Output]| -> Vec<Output> {
            outputs.iter().map(|&output| graph.output(&case.graph.output_name(output)).unwrap()).collect()
        };
        let feeds: Vec<_> = same(&case.xs).into_iter().zip(case.values.iter().cloned()).collect();
        let ys = same(&case.ys);
        let found = super::cases::run(graph, &feeds, &ys).map_err(|error| error.to_string())?;
        let expected = super::cases::run(case.graph.clone(), &feeds_of(case), &case.ys).unwrap();
        let whole = |values: Vec<Tensor>| values.into_iter().map(Some).collect::<Vec<_>>();
        agree(&whole(found), &whole(expected))
    });
    assert!(count.get() >= 10, "{} cases", count.get());
    // Of a function that is called by name with a loop in it, and within a function.
    let (graph, x, y, _) = asking(cube_by_loop, 1);
    let (x, y) = (graph.output_name(x), graph.output_name(y));
    let def = graph.to_def().unwrap();
    let graph = Graph::import(&def, &selected(&def, graph.registry())).unwrap();
    let answers = Session::new(graph).unwrap().run(&[(&x, Tensor::scalar(2.0f32))], &[&y], &[]).unwrap();
    assert_eq!(answers[0].to_scalar::<f32>().unwrap(), 12.0);
}

fn feeds_of(case: &super::cases::Case) -> Vec<(Output, Tensor)> {
    case.xs.iter().copied().zip(case.values.iter().cloned()).collect()
}

/// What cannot be derived is told with its node; who does not say how gradients are derived is told to.
#[test]
fn needs_tell_of_gradients_that_cannot_be_derived() {
    let (graph, ..) = asking(|graph, a| ops::deep_copy(graph, a).build(), 1);
    let def = graph.to_def().unwrap();
    let mut needs = Needs::new(graph.registry()).with_gradients(derive_gradient);
    needs.add(&def).unwrap();
    let told: Vec<&str> = needs.missing_gradients().collect();
    assert!(
        told.len() == 1
            && told[0].contains("node `asks`")
            && told[0].contains("op DeepCopy has no registered gradient"),
        "{told:?}"
    );
    let error = Needs::new(graph.registry()).add(&def).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(error.to_string().contains("Needs::with_gradients") && error.to_string().contains("`asks`"), "{error}");
}
