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
        // It would make one of those that stay.
        let optimizer = optimizer.and_without(["fuse-element-wise"]).unwrap();
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

/// A vector that is a constant.
fn vector(name: &str, entries: &str) -> String {
    format!("{name} = Const() dtype=int32 value=[{entries}]\n")
}

/// `x`, of which it is certain that it has rank 2.
const X2: &str = "p = Placeholder() dtype=float
    s = Const() dtype=int32 value=[-1, 2]
    x = Reshape(p, s)\n";

#[test]
fn moves_that_lead_nowhere_are_left_out() {
    let one = |rewrite: &str, constants: &str, line: &str| {
        let text = format!("{X2}{constants}y = {line}\nz = Neg(y)");
        makes(rewrite, &text, &format!("{X2}z = Neg(x)"));
        // Nothing is certain of what is fed, whatever a placeholder declares.
        let fed = format!("x = Placeholder() dtype=float shape=[3,2]\n{constants}y = {line}\nz = Neg(y)");
        let registry = kernlink::registry().unwrap();
        let (graph, _) = graph_from_lines(&fed, &registry).unwrap();
        assert_eq!(rewritten(rewrite, &fed), graph_to_lines(&graph), "{rewrite}");
    };
    one("drop-transpose", &vector("c", "0, 1"), "Transpose(x, c)");
    one("drop-tile", &vector("c", "1, 1"), "Tile(x, c)");
    one("drop-pad", "c = Const() dtype=int32 value=[[0, 0], [0, 0]]\n", "Pad(x, c)");
    one("drop-slice", &(vector("b", "0, 0") + &vector("c", "-1, 2")), "Slice(x, b, c)");
    one("drop-reshape", &vector("c", "-1, 2"), "Reshape(x, c)");
    for (rewrite, constants, line) in [
        ("drop-transpose", vector("c", "1, 0"), "Transpose(x, c)"),
        ("drop-transpose", vector("c", "0, -1"), "Transpose(x, c)"),
        ("drop-tile", vector("c", "1, 2"), "Tile(x, c)"),
        ("drop-tile", vector("c", "1"), "Tile(p, c)"),
        ("drop-pad", "c = Const() dtype=int32 value=[[0, 0], [0, 1]]\n".to_owned(), "Pad(x, c)"),
        ("drop-slice", vector("b", "0, 1") + &vector("c", "-1, -1"), "Slice(x, b, c)"),
        ("drop-slice", vector("b", "0, 0") + &vector("c", "-1, 1"), "Slice(x, b, c)"),
        ("drop-reshape", vector("c", "2, -1"), "Reshape(x, c)"),
        ("drop-reshape", vector("c", "-1"), "Reshape(x, c)"),
        ("drop-reduction", vector("c", "0"), "Sum(x, c)"),
    ] {
        leaves(rewrite, &format!("{X2}{constants}y = {line}\nz = Neg(y)"));
    }
}

#[test]
fn what_is_written_is_what_tensorflow_computes() {
    let registry = kernlink::registry().unwrap();
    let written = |dtype: &str, rest: &str| {
        let filter = "[[[[1], [2]]]]";
        let head =
            format!("x = Placeholder() dtype={dtype} shape=[1,2,2,2]\nw = Const() dtype={dtype} value={filter}\n");
        let vector = format!("b = Const() dtype={dtype} value=[1, 2]\n");
        let conv = "c = DepthwiseConv2dNative(x, w) strides=[1, 1, 1, 1] padding=SAME\n";
        let (mut graph, mut ends) =
            graph_from_lines(&format!("{head}{vector}{conv}{rest}\nz = Neg(y)"), &registry).unwrap();
        ends.is_written = true;
        Optimizer::default().optimize(&mut graph, &mut ends).unwrap();
        graph_to_lines(&graph)
    };
    let norm = "n = FusedBatchNormV3(c, b, b, b, b) is_training=false\ny = Relu(n)";
    assert!(!written("float", norm).contains("_Fused"));
    let leaky = written("float", "a = BiasAdd(c, b)\ny = LeakyRelu(a)");
    assert!(leaky.contains("fused_ops=[BiasAdd]") && leaky.contains("LeakyRelu("), "{leaky}");
    let relu = written("float", "a = BiasAdd(c, b)\ny = Relu(a)");
    assert!(relu.contains("fused_ops=[BiasAdd, Relu]"), "{relu}");
    assert!(!written("double", "a = BiasAdd(c, b)\ny = Relu(a)").contains("_Fused"));
}

#[test]
fn stacks_of_stacks_are_one() {
    let known = "i = Placeholder() dtype=float\ns = Const() dtype=int32 value=[2, 2]\nx = Reshape(i, s)\n";
    let stacks = |first: &str, second: &str, last: &str| {
        let of_two = format!("a = Pack([x, p{first}])\nb = Pack([q, p{second}])\ny = Pack([a, b]){last}");
        format!("{known}p = Neg(x)\nq = Exp(x)\n{of_two}\nz = Neg(y)")
    };
    for (first, second, last, values, dims) in [
        ("", "", "", "[x, p, q, p]", "[2, 2, 2, 2]"),
        ("", "", " axis=1", "[x, q, p, p]", "[2, 2, 2, 2]"),
        (", q", ", x", " axis=1", "[x, q, p, p, q, x]", "[3, 2, 2, 2]"),
        (", q", ", x", "", "[x, p, q, q, p, x]", "[2, 3, 2, 2]"),
    ] {
        let after = rewritten("merge-packs", &stacks(first, second, last));
        assert!(after.matches("Pack(").count() == 1 && after.contains(&format!("Pack({values})")), "{after}");
        assert!(after.contains(&format!("value={dims}")) && after.contains("Reshape("), "{after}");
    }
    // Of different lengths, along the last dimension, waited for, on another device, or used by others they stay.
    let text = stacks("", "", " axis=1");
    for (from, to) in [
        ("Pack([q, p])", "Pack([q, p]) axis=-1"),
        (" axis=1", " axis=-1"),
        ("Pack([q, p])", "Pack([q, p], ^x)"),
        ("z = Neg(y)", "z = Neg(y)\nw = Neg(b)"),
    ] {
        leaves("merge-packs", &text.replacen(from, to, 1));
    }
    // Shapes that nobody knows are computed.
    let after = rewritten("merge-packs", &text.replacen(known, "x = Placeholder() dtype=float\n", 1));
    assert!(
        after.contains("Shape(x)") && after.contains("ConcatV2([") && after.matches("Pack(").count() == 1,
        "{after}"
    );
}

#[test]
fn pairs_of_moves_are_none_or_one() {
    let perms = |a: &str, b: &str| vector("a", a) + &vector("b", b);
    let transposed =
        |a: &str, b: &str| format!("{X}\n{}t = Transpose(x, a)\ny = Transpose(t, b)\nz = Neg(y)", perms(a, b));
    // That the rank is right is still to be checked.
    for (a, b, both) in [("1, 2, 0", "2, 0, 1", "0, 1, 2"), ("1, 2, 0", "1, 2, 0", "2, 0, 1")] {
        let after = rewritten("merge-transposes", &transposed(a, b));
        assert!(after.contains(&format!("value=[{both}]")) && after.matches("Transpose(").count() == 1, "{after}");
    }
    let square = |constants: String, lines: &str| format!("{X2}{constants}{lines}\nz = Neg(y)");
    makes(
        "merge-transposes",
        &square(perms("1, 0", "1, 0"), "t = Transpose(x, a)\ny = Transpose(t, b)"),
        &format!("{X2}z = Neg(x)"),
    );
    makes(
        "drop-reversals",
        &square(perms("0, -1", "1, 0"), "t = ReverseV2(x, a)\ny = ReverseV2(t, b)"),
        &format!("{X2}z = Neg(x)"),
    );
    leaves("drop-reversals", &square(perms("0, 1", "1"), "t = ReverseV2(x, a)\ny = ReverseV2(t, b)"));
    let reshaped = |flat: &str| {
        format!("{X}\n{}f = Reshape(x, a)\nv = Abs(f)\ny = Reshape(f, b)\nz = Neg(y)\nfetch z", perms(flat, "2, 3"))
    };
    makes(
        "merge-reshapes",
        &reshaped("-1").replace("v = Abs(f)\n", ""),
        &format!("{X}\n{}Reshape = Reshape(x, b)\nz = Neg(Reshape)", vector("b", "2, 3"))
            .replace("Reshape =", "y =")
            .replace("(Reshape)", "(y)"),
    );
    assert!(rewritten("merge-reshapes", &reshaped("6")).contains("y = Reshape(f, b)"));
    let squeezed = |at: &str, removed: &str| {
        format!(
            "{X}\nd = Const() dtype=int32 value={at}\ne = ExpandDims(x, d)\ny = Squeeze(e) squeeze_dims=[{removed}]\nz = Neg(y)"
        )
    };
    makes("drop-expand-squeeze", &squeezed("-1", "-1"), &format!("{X}\nz = Neg(x)"));
    for (at, removed) in [("0", "1"), ("1", "1"), ("0", "0, 1")] {
        leaves("drop-expand-squeeze", &squeezed(at, removed));
    }
}

#[test]
fn sums_of_nothing_and_casts_to_and_fro_are_left_out() {
    for op in ["Sum", "Prod", "Max", "Min", "Mean"] {
        let text = format!("{X}\nc = Const() dtype=int32 value=[]\ny = {op}(x, c)\nz = Neg(y)");
        makes("drop-reduction", &text, &format!("{X}\nz = Neg(x)"));
    }
    makes("drop-sum-of-one", &format!("{X}\ny = AddN([x])\nz = Neg(y)"), &format!("{X}\nz = Neg(x)"));
    leaves("drop-sum-of-one", &format!("{X}\ny = AddN([x, x])\nz = Neg(y)"));
    let casts = |from: &str, by: &str| {
        format!("x = Placeholder() dtype={from}\na = Cast(x) DstT={by}\ny = Cast(a) DstT={from}\nz = Abs(y)")
    };
    let none = |dtype: &str| format!("x = Placeholder() dtype={dtype}\nz = Abs(x)");
    for (from, by) in
        [("float", "double"), ("half", "float"), ("int32", "double"), ("int32", "int64"), ("bfloat16", "float")]
    {
        makes("drop-casts", &casts(from, by), &none(from));
    }
    for (from, by) in
        [("float", "half"), ("int32", "float"), ("int64", "double"), ("int64", "uint64"), ("double", "float")]
    {
        leaves("drop-casts", &casts(from, by));
    }
    makes("drop-cast", "x = Placeholder() dtype=int32\ny = Cast(x) DstT=int32\nz = Abs(y)", &none("int32"));
    leaves("drop-cast", "x = Placeholder() dtype=int32\ny = Cast(x) DstT=int64\nz = Abs(y)");
}

/// Checks that a session with rewrites gives the same bits as one without.
#[track_caller]
fn same_bits(text: &str, feeds: &[(&str, Tensor)]) {
    let (graph, _) = graph_from_lines(text, &kernlink::registry().unwrap()).unwrap();
    let [with, without] = [SessionOptions::new(), SessionOptions::new().without_pass("rewrite")].map(|options| {
        let values = Session::with_options(graph.clone(), &options).unwrap().run(feeds, &["z"], &[]).unwrap();
        (
            values[0].shape().clone(),
            values[0].as_slice::<f32>().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        )
    });
    assert_eq!(with, without, "{text}");
}

#[test]
fn every_bit_stays_of_zeros_infinities_and_tiny_numbers() {
    let special =
        [0.0, -0.0, 1.5, -2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, f32::MAX, f32::MIN_POSITIVE];
    for line in [
        "Mul(x, one)",
        "Mul(one, x)",
        "RealDiv(x, one)",
        "DivNoNan(x, one)",
        "AddV2(x, minus)",
        "Sub(x, zero)",
        "Pow(x, one)",
        "AddV2(x, zero)",
        "Sub(x, minus)",
        "Maximum(x, x)",
        "Minimum(x, x)",
        "Sum(x, none)",
        "Prod(x, none)",
        "Mean(x, none)",
        "Max(x, none)",
        "Min(x, none)",
        "AddN([x])",
        "Mul(x, ones)",
    ] {
        let text = format!(
            "x = Placeholder() dtype=float
             one = Const() dtype=float value=1
             ones = Const() dtype=float value=[1]
             zero = Const() dtype=float value=0
             minus = Const() dtype=float value=-0
             none = Const() dtype=int32 value=[]
             y = {line}
             z = Identity(y)"
        );
        for x in [Tensor::vector(&special).unwrap(), Tensor::vector::<f32>(&[]).unwrap(), Tensor::scalar(-0.0f32)] {
            same_bits(&text, &[("x", x)]);
        }
    }
}

/// The page says of each rewrite what it does; `KERNLINK_UPDATE=1` writes it.
#[test]
fn the_page_lists_all_rewrites() {
    const BEGIN: &str =
        "<!-- The rewrites: written by `KERNLINK_UPDATE=1 cargo test --features cli --test runtime rewrites`. -->\n";
    const END: &str = "<!-- The end of the rewrites. -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/optimizing.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let mut own: Vec<_> = rewrites().iter().filter(|rewrite| rewrite.provider.name.starts_with("kernlink-")).collect();
    own.sort_unstable_by_key(|rewrite| rewrite.name);
    let mut table = String::from("\n| rewrite | what it does | where |\n|---|---|---|\n");
    for rewrite in own {
        let place = if rewrite.is_portable { "everywhere" } else { "sessions only" };
        let asked = if rewrite.is_inexact { ", only if asked for" } else { "" };
        table += &format!("| `{}` | {} | {place}{asked} |\n", rewrite.name, rewrite.summary);
    }
    table.push('\n');
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else if cfg!(all(feature = "nn", feature = "array", feature = "math")) {
        assert_eq!(written, table, "KERNLINK_UPDATE=1 writes it anew");
    }
}
