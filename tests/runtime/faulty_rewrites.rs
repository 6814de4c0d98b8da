//! Rewrites with the faults that their authors make: each is told, and the graph computes what it did.

use kernlink::optimize::{Optimizer, PassReport};
use kernlink::prelude::*;
use kernlink::testing::{graph_from_lines, graph_to_lines, rewritten};

/// Gives what it takes; the fault of its rewrite is the attr.
#[register_op(
    attr("fault: string"),
    attr("times: int = 0"),
    input("x: float"),
    output("y: float"),
    shape_fn = shape::unchanged
)]
pub(crate) struct Faulty;

#[register_kernel(device = Cpu)]
fn pass_on(ctx: &mut KernelContext<'_, Faulty>) -> Result<()> {
    let x = ctx.input(Faulty::X)?.clone();
    ctx.set_output(Faulty::Y, x)
}

/// Panics.
#[register_rewrite(name = "faulty-panic", pattern = Faulty { x, fault = "panic" })]
fn panics(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    panic!("a fault with {}", x.index)
}

/// Panics when it has added a node.
#[register_rewrite(name = "faulty-late-panic", pattern = Faulty { x, fault = "late panic" }, creates = [Faulty])]
fn panics_late(m: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    let added = faulty(m, x, "none").build()?;
    panic!("a fault with {}", added.index)
}

/// Gives another dtype.
#[register_rewrite(name = "faulty-dtype", pattern = Faulty { x, fault = "dtype" }, creates = [ops::Cast])]
fn gives_another_dtype(m: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    ops::cast(m, x, DataType::Int32).build().map(Some)
}

/// Gives more outputs than there are.
#[register_rewrite(name = "faulty-count", pattern = Faulty { x, fault = "count" })]
fn gives_too_many(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Vec<Output>>> {
    Ok(Some(vec![x, x]))
}

/// Gives no output.
#[register_rewrite(name = "faulty-none", pattern = Faulty { x: _, fault = "none of all" })]
fn gives_none(_: &mut Rewrite<'_, '_>) -> Result<Option<Vec<Output>>> {
    Ok(Some(Vec::new()))
}

/// Gives an output that does not exist.
#[register_rewrite(name = "faulty-output", pattern = Faulty { x, fault = "output" })]
fn gives_no_output(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(Output { index: 7, ..x }))
}

/// Gives an output of another graph.
#[register_rewrite(name = "faulty-graph", pattern = Faulty { x: _, fault = "graph" })]
fn gives_another_graphs(m: &mut Rewrite<'_, '_>) -> Result<Option<Output>> {
    ops::placeholder(&mut Graph::new(m.graph().registry()), DataType::Float).build().map(Some)
}

/// Gives what it replaces.
#[register_rewrite(name = "faulty-itself", pattern = root @ Faulty { x: _, fault = "itself" })]
fn gives_itself(_: &mut Rewrite<'_, '_>, root: &Matched<Faulty>) -> Result<Option<Output>> {
    Ok(Some(root.output(0)))
}

/// Adds a node that it does not say it creates.
#[register_rewrite(name = "faulty-creates", pattern = Faulty { x, fault = "creates" })]
fn creates_what_it_does_not_say(m: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    ops::neg(m, x).build().map(Some)
}

/// Makes again what it takes.
#[register_rewrite(name = "faulty-endless", pattern = Faulty { x, fault = "endless" }, creates = [Faulty])]
fn makes_what_it_takes(m: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    faulty(m, x, "endless").build().map(Some)
}

/// Makes twice what it takes.
#[register_rewrite(name = "faulty-growth", pattern = node @ Faulty { x, fault = "growth" }, creates = [Faulty])]
fn makes_more_than_it_takes(m: &mut Rewrite<'_, '_>, node: &Matched<Faulty>, x: Output) -> Result<Option<Output>> {
    let inner = faulty(m, x, "growth").times(2 * node.attrs().times).build()?;
    faulty(m, inner, "growth").times(2 * node.attrs().times + 1).build().map(Some)
}

fn lines(fault: &str) -> String {
    format!("x = Placeholder() dtype=float\ny = Faulty(x) fault=\"{fault}\"\nz = Neg(y)\nfetch z")
}

/// What the passes say of a graph with a fault, and the graph afterwards.
fn optimized(fault: &str) -> (Vec<PassReport>, Graph) {
    let (mut graph, mut ends) = graph_from_lines(&lines(fault), &kernlink::registry().unwrap()).unwrap();
    (Optimizer::default().optimize(&mut graph, &mut ends).unwrap(), graph)
}

/// Checks the error of a rewrite, and that a session runs without it.
#[track_caller]
fn told(fault: &str, error: &[&str]) {
    let (reports, _) = optimized(fault);
    let failed: Vec<_> = reports.iter().flat_map(|report| &report.failed).collect();
    let [(name, found)] = failed[..] else { panic!("{failed:?}") };
    assert!(name.starts_with("faulty-"), "{name}");
    assert_eq!(found.code(), Code::Internal);
    for part in error {
        assert!(found.message().contains(part), "{found}");
    }
    let (graph, _) = graph_from_lines(&lines(fault), &kernlink::registry().unwrap()).unwrap();
    let session = Session::new(graph).unwrap();
    let z = session.run(&[("x", Tensor::scalar(2.0f32))], &["z"], &[]).unwrap();
    assert_eq!(z[0].to_scalar::<f32>().unwrap(), -2.0);
}

#[test]
fn faults_are_told_and_leave_the_graph_as_it_was() {
    kernlink::error::watch_panics();
    for (fault, error) in [
        ("panic", &["the function of the rewrite panicked at", "faulty_rewrites.rs", "a fault with 0"][..]),
        ("late panic", &["panicked at", "a fault with 0"]),
        ("dtype", &["int32 in the place of float, the dtype of `y`"]),
        ("count", &["2 outputs for the 1 of `y`"]),
        ("none of all", &["0 outputs for the 1 of `y`"]),
        ("output", &["in the place of `y` is no output of a node of this graph"]),
        ("graph", &["in the place of `y` is no output of a node of this graph"]),
        ("itself", &["`y` in its own place", "returns None"]),
        ("creates", &["makes a node of Neg, which its `creates` does not list"]),
    ] {
        told(fault, error);
        let (_, after) = optimized(fault);
        let (before, _) = graph_from_lines(&lines(fault), &kernlink::registry().unwrap()).unwrap();
        assert_eq!(graph_to_lines(&after), graph_to_lines(&before));
    }
}

#[test]
fn rewrites_that_make_what_they_take_end() {
    told("endless", &["it still applies after 64 rounds", "make again what it takes"]);
    told("growth", &["it still applies after", "make again what it takes"]);
    let (_, graph) = optimized("growth");
    assert!(graph.nodes().len() < 10_000, "{}", graph.nodes().len());
}

#[test]
#[should_panic(expected = "rewrite faulty-endless failed")]
fn tests_of_endless_rewrites_fail() {
    rewritten("faulty-endless", &lines("endless"));
}
