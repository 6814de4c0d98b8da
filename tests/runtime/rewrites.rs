//! Rewrites: what they make of a graph, what keeps them from it, and how they are switched off.

use kernlink::optimize::rewrite::rewrites;
use kernlink::optimize::{Ends, Optimizer};
use kernlink::prelude::*;
use kernlink::registry::{KernelFilter, Registry};
use kernlink::testing::{graph_from_lines, graph_to_lines, rewritten, rewritten_by};

/// Without spaces before the lines.
fn plain(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// Checks what a rewrite makes of a graph.
#[track_caller]
pub(super) fn makes(rewrite: &str, before: &str, after: &str) {
    assert_eq!(rewritten(rewrite, before), plain(after));
}

/// Checks that a rewrite leaves a graph as it is.
#[track_caller]
pub(super) fn leaves(rewrite: &str, before: &str) {
    let graph = plain(before);
    let nodes: String = graph.lines().filter(|line| line.contains(" = ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(rewritten(rewrite, before), nodes);
}

const X: &str = "x = Placeholder() dtype=float";

#[test]
fn lines_of_text_are_read_as_they_are_written() {
    let text = plain(
        "x = Placeholder() dtype=float shape=[?,2]
         b = Const() dtype=float value=[[1, 2.5], [-0, 3]]
         both = IdentityN([x, b])
         y = MatMul(both, both:1, ^x) transpose_a=true device=/cpu:0",
    );
    let registry = kernlink::registry().unwrap();
    let (graph, ends) = graph_from_lines(&text, &registry).unwrap();
    let written = graph_to_lines(&graph);
    let (again, _) = graph_from_lines(&written, &registry).unwrap();
    assert_eq!(written, graph_to_lines(&again));
    for line in ["x = Placeholder() dtype=float shape=[?,2]", "y = MatMul(both, both:1, ^x) transpose_a=true"] {
        assert!(written.contains(line), "{written}");
    }
    assert_eq!((ends.feeds().len(), ends.fetches().len()), (1, 1));
    for wrong in ["y = Neg x", "y = Neg(z)", "y", "y = Const() dtype=float value=[1, [2]]"] {
        assert!(graph_from_lines(wrong, &registry).is_err(), "{wrong}");
    }
}

#[test]
fn names_are_distinct_and_say_what_they_do() {
    let names: std::collections::BTreeSet<&str> = rewrites().iter().map(|rewrite| rewrite.name).collect();
    assert_eq!(names.len(), rewrites().len());
    for rewrite in rewrites() {
        assert!(!rewrite.summary.is_empty(), "{} has no documentation", rewrite.name);
        assert!(!kernlink::optimize::PASSES.iter().any(|pass| pass.name() == rewrite.name), "{}", rewrite.name);
    }
    let order: Vec<_> = rewrites().iter().map(|rewrite| (-rewrite.benefit, rewrite.name)).collect();
    assert!(order.is_sorted(), "{order:?}");
    let error = Optimizer::without(["multiply-by-on"]).err().unwrap();
    assert!(error.message().contains("did you mean multiply-by-one?"), "{error}");
}

#[test]
fn neutral_elements_are_left_out() {
    let with = |op: &str, dtype: &str, value: &str| {
        let text = format!(
            "x = Placeholder() dtype={dtype}
             c = Const() dtype={dtype} value={value}
             y = {op}(x, c)
             z = Abs(y)"
        );
        plain(&text)
    };
    let after = |dtype: &str| format!("x = Placeholder() dtype={dtype}\nz = Abs(x)\n");
    for (rewrite, op, dtype, value) in [
        ("multiply-by-one", "Mul", "float", "1"),
        ("multiply-by-one", "Mul", "half", "1"),
        ("multiply-by-one", "Mul", "int64", "1"),
        ("divide-by-one", "RealDiv", "double", "1"),
        ("divide-by-one", "Div", "int32", "1"),
        ("add-zero", "AddV2", "float", "-0"),
        ("add-zero", "AddV2", "int32", "0"),
        ("subtract-zero", "Sub", "float", "0"),
        ("power-of-one", "Pow", "float", "1"),
    ] {
        makes(rewrite, &with(op, dtype, value), &after(dtype));
    }
    for (rewrite, op, dtype, value) in [
        ("multiply-by-one", "Mul", "float", "2"),
        ("multiply-by-one", "Mul", "float", "[1]"),
        ("multiply-by-one", "Mul", "float", "[]"),
        ("divide-by-one", "RealDiv", "float", "NaN"),
        ("add-zero", "AddV2", "float", "0"),
        ("subtract-zero", "Sub", "float", "-0"),
        ("power-of-one", "Pow", "float", "2"),
    ] {
        let (graph, _) = graph_from_lines(&with(op, dtype, value), &kernlink::registry().unwrap()).unwrap();
        assert_eq!(rewritten(rewrite, &with(op, dtype, value)), graph_to_lines(&graph), "{op} {value}");
    }
    // The inputs of a quotient are not exchanged, those of a product are.
    makes(
        "multiply-by-one",
        &format!("{X}\nc = Const() dtype=float value=1\ny = Mul(c, x)\nz = Neg(y)"),
        &format!("{X}\nz = Neg(x)"),
    );
    leaves("divide-by-one", &format!("{X}\nc = Const() dtype=float value=1.0\ny = RealDiv(c, x)\nz = Neg(y)"));
}

#[test]
fn functions_that_undo_themselves_are_left_out() {
    makes("undo-twice", &format!("{X}\na = Neg(x)\nb = Neg(a)\nz = Abs(b)"), &format!("{X}\nz = Abs(x)"));
    // What others use stays.
    makes(
        "undo-twice",
        &format!("{X}\na = Neg(x)\nb = Neg(a)\nz = AddV2(a, b)"),
        &format!("{X}\na = Neg(x)\nz = AddV2(a, x)"),
    );
    let bits = "x = Placeholder() dtype=int32";
    leaves("undo-twice", &format!("{bits}\na = Neg(x)\nb = Invert(a)\nz = Abs(b)"));
    makes(
        "repeat-once",
        &format!("{X}\na = Floor(x)\nb = Floor(a)\nz = Neg(b)"),
        &format!("{X}\na = Floor(x)\nz = Neg(a)"),
    );
    leaves("repeat-once", &format!("{X}\na = Floor(x)\nb = Ceil(a)\nz = Neg(b)"));
    makes("same-operands", &format!("{X}\na = Maximum(x, x)\nz = Neg(a)"), &format!("{X}\nz = Neg(x)"));
    leaves("same-operands", &format!("{X}\ny = Placeholder() dtype=float\na = Maximum(x, y)\nz = Neg(a)"));
}

#[test]
fn long_chains_are_rewritten_in_one_go() {
    let chain: String = (1..=2001).map(|i| format!("n{i} = Neg(n{})\n", i - 1)).collect();
    let text = format!("n0 = Placeholder() dtype=float\n{chain}");
    assert_eq!(rewritten("undo-twice", &text).lines().last(), Some("n2001 = Neg(n0)"));
}

const ONE: &str = "c = Const() dtype=float value=1.0";

#[test]
fn what_is_fed_stays() {
    leaves("multiply-by-one", &format!("{X}\n{ONE}\ny = Mul(x, c)\nz = Neg(y)\nfeed c\nfetch z"));
    let graph = format!("{X}\n{ONE}\ny = Mul(x, c)\nz = Neg(y)\nfeed y\nfetch z");
    assert!(rewritten("multiply-by-one", &graph).contains("y = Mul(x, c)"));
    let graph = format!("{X}\na = Neg(x)\nb = Neg(a)\nz = Abs(b)\nfeed a\nfetch z");
    assert!(rewritten("undo-twice", &graph).contains("b = Neg(a)"));
}

#[test]
fn control_edges_are_kept_or_keep_nodes() {
    // The root waits: nothing that is added could.
    leaves(
        "multiply-by-one",
        &format!("{X}\n{ONE}\nw = Placeholder() dtype=float\nv = Neg(w)\ny = Mul(x, c, ^v)\nz = Neg(y)\nfetch z"),
    );
    // Who waits for the root waits for what takes its place.
    makes(
        "multiply-by-one",
        &format!("{X}\n{ONE}\na = Abs(x)\ny = Mul(a, c)\nz = Neg(x, ^y)\nfetch z"),
        &format!("{X}\na = Abs(x)\nz = Neg(x, ^a)"),
    );
    // A node in the middle that waits is not passed over.
    leaves("undo-twice", &format!("{X}\nv = Abs(x)\na = Neg(x, ^v)\nb = Neg(a)\nz = Abs(b)\nfetch z"));
}

#[test]
fn nodes_on_different_devices_are_not_mixed() {
    leaves("undo-twice", &format!("{X}\na = Neg(x) device=/cpu:0\nb = Neg(a)\nz = Abs(b)"));
    leaves("undo-twice", &format!("{X}\na = Neg(x) device=/cpu:0\nb = Neg(a) device=/cpu:1\nz = Abs(b)"));
    makes(
        "undo-twice",
        &format!("{X}\na = Neg(x) device=/cpu:0\nb = Neg(a) device=/cpu:0\nz = Abs(b)"),
        &format!("{X}\nz = Abs(x)"),
    );
}

/// A kernel that does more than its op says.
struct OwnNeg;

impl OpKernel<ops::Neg> for OwnNeg {
    fn new(_: &KernelConstruction<'_, ops::Neg>) -> Result<OwnNeg> {
        Ok(OwnNeg)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Neg>) -> Result<()> {
        let x = ctx.input(ops::Neg::X)?.clone();
        ctx.set_output(ops::Neg::Y, x)
    }
}

#[test]
fn kernels_of_a_users_own_are_not_rewritten() {
    use kernlink::kernel::{CPU, KernelDefBuilder};
    let before = format!("{X}\na = Neg(x)\nb = Neg(a)\nz = Abs(b)");
    let registry = std::sync::Arc::new(Registry::linked(&[]).unwrap());
    assert_eq!(rewritten_by(&registry, "undo-twice", &before), plain(&format!("{X}\nz = Abs(x)")));
    registry.remove_kernels(&KernelFilter::op("Neg").device("CPU")).unwrap();
    let own = KernelDefBuilder::new("Neg", CPU).types("T", &[DataType::Float]).kernel::<ops::Neg, OwnNeg>().unwrap();
    registry.register_kernel(own).unwrap();
    assert_eq!(rewritten_by(&registry, "undo-twice", &before), plain(&before));
}

#[test]
fn names_of_fetches_stay_in_graphs_that_are_written() {
    let registry = kernlink::registry().unwrap();
    // The devices of these tests have kernels of their own for `Mul`.
    let text = format!("{X}\na = Abs(x)\ny = Maximum(a, a)\nfetch y");
    let run = |is_written: bool| {
        let (mut graph, mut ends): (Graph, Ends) = graph_from_lines(&text, &registry).unwrap();
        ends.is_written = is_written;
        Optimizer::only(["same-operands"]).unwrap().optimize(&mut graph, &mut ends).unwrap();
        graph_to_lines(&graph)
    };
    assert!(run(true).contains("y = Maximum(a, a)"));
    assert!(!run(false).contains("y = "));
}

#[test]
fn rewrites_are_counted_and_switched_off_by_name() {
    let registry = kernlink::registry().unwrap();
    let text = format!("{X}\na = Maximum(x, x)\nb = Neg(a)\nd = Maximum(b, b)\nz = Abs(d)");
    let run = |optimizer: Optimizer| {
        let (mut graph, mut ends) = graph_from_lines(&text, &registry).unwrap();
        let reports = optimizer.optimize(&mut graph, &mut ends).unwrap();
        let parts: Vec<_> = reports.into_iter().flat_map(|report| report.parts).collect();
        (parts, graph.nodes().len())
    };
    assert_eq!(run(Optimizer::default()), (vec![("same-operands", 2)], 3));
    assert_eq!(run(Optimizer::without(["same-operands"]).unwrap()), (vec![], 5));
    assert_eq!(run(Optimizer::without(["rewrite"]).unwrap()), (vec![], 5));
    // As options of a session.
    let (graph, _) = graph_from_lines(&text, &registry).unwrap();
    for options in [SessionOptions::new(), SessionOptions::new().without_pass("same-operands")] {
        let session = Session::with_options(graph.clone(), &options).unwrap();
        let values = session.run(&[("x", Tensor::scalar(-2.0f32))], &["z", "d"], &[]).unwrap();
        assert_eq!(values.iter().map(|value| value.values_text()).collect::<Vec<_>>(), ["2.0", "2.0"]);
    }
}
