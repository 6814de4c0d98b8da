//! Graph passes: graphs before and after, and that they compute the same.

use std::sync::Arc;

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::graph::{FunctionBuilder, NodeBuilder};
use kernlink::optimize::{Ends, Optimizer, PASSES};
use kernlink::prelude::*;
use kernlink::registry::{KernelFilter, Registry};
use kernlink::shape::PartialShape;

use crate::control_flow::lines::{lines, scalar};
use crate::graphs::node;
use crate::patches::{reads, text};

/// What is fed and fetched, by names.
fn ends(graph: &Graph, feeds: &[&str], fetches: &[&str]) -> Ends {
    let outputs = |names: &[&str]| names.iter().map(|name| graph.output(name).unwrap()).collect();
    Ends::new(outputs(feeds), outputs(fetches), Vec::new())
}

/// What one pass, with pruning, makes of a graph.
fn by(pass: &str, graph: &str, feeds: &[&str], fetches: &[&str], is_written: bool) -> Graph {
    by_on(pass, lines(graph), feeds, fetches, is_written)
}

pub(crate) fn by_on(pass: &str, mut graph: Graph, feeds: &[&str], fetches: &[&str], is_written: bool) -> Graph {
    let others = PASSES.iter().map(|pass| pass.name()).filter(|name| *name != pass && *name != "prune");
    let optimizer = Optimizer::without(others).unwrap();
    let mut ends = ends(&graph, feeds, fetches);
    ends.is_written = is_written;
    optimizer.optimize(&mut graph, &mut ends).unwrap();
    graph
}

/// Checks that runs of a graph give the same with all passes and without any, or the same error.
#[track_caller]
fn same(graph: &str, feeds: &[(&str, Tensor)], fetches: &[&str]) {
    same_on(&lines(graph), feeds, fetches);
}

#[track_caller]
pub(crate) fn same_on(graph: &Graph, feeds: &[(&str, Tensor)], fetches: &[&str]) {
    let none = PASSES.iter().fold(SessionOptions::new(), |options, pass| options.without_pass(pass.name()));
    let run = |options: &SessionOptions| {
        let session = Session::with_options(graph.clone(), options).unwrap();
        let values = session.run(feeds, fetches, &[]);
        values.map(|values| values.iter().map(|value| value.values_text()).collect::<Vec<_>>())
    };
    match (run(&SessionOptions::new()), run(&none)) {
        (Ok(with), Ok(without)) => assert_eq!(with, without),
        (Err(with), Err(without)) => assert_eq!(with.code(), without.code(), "{with}\n{without}"),
        (with, without) => panic!("{with:?}, without passes {without:?}"),
    }
}

const UNUSED: &str = "x = Placeholder()
    y = Neg(x)
    z = Neg(y)
    other = Neg(x)";

#[test]
fn pruning_leaves_what_is_needed() {
    let before = "x = Placeholder()
        y = Neg(x)
        z = Neg(y)";
    reads(&by("prune", UNUSED, &["x"], &["z"], true), before);
    // What is fed must be there to be fed, and what it needs to be there.
    reads(&by("prune", UNUSED, &["y"], &["z"], true), before);
}

const IDENTITIES: &str = "x = Placeholder()
    c = Const() 2
    i = Identity(x)
    k = StopGradient(c)
    j = Identity(i, ^k)
    y = AddV2(j, k, ^j)
    z = Identity(y)";

#[test]
fn identities_are_left_out() {
    let graph = by("elide-identities", IDENTITIES, &["x"], &["z"], false);
    reads(
        &graph,
        "x = Placeholder()
         c = Const()
         y = AddV2(x, c)",
    );
    // A graph that is written keeps the names of what is fetched.
    let graph = by("elide-identities", IDENTITIES, &["x"], &["z"], true);
    assert!(text(&graph).ends_with("y = AddV2(x, c)\nz = Identity(y)\n"), "{}", text(&graph));
    same(IDENTITIES, &[("x", scalar(3.0))], &["z", "j", "y"]);
    same(IDENTITIES, &[("i", scalar(3.0))], &["z", "j"]);
    same(IDENTITIES, &[("x", scalar(3.0)), ("y", scalar(1.0))], &["z", "k"]);
}

#[test]
fn an_identity_of_many_values_stays_for_those_who_wait_for_it() {
    let text = |count: usize| {
        let x: String = (0..count).map(|i| format!("x{i} = Placeholder()\nn{i} = Neg(x{i})\n")).collect();
        let values: Vec<String> = (0..count).map(|i| format!("n{i}")).collect();
        let y: String = (0..count).map(|i| format!("y{i} = Neg(all:{i}, ^all)\n")).collect();
        format!("{x}all = IdentityN({})\n{y}", values.join(", "))
    };
    let graph = by("elide-identities", &text(50), &[], &["y0", "y49"], false);
    assert_eq!(graph.nodes().iter().map(|node| node.control_inputs.len()).sum::<usize>(), 2);
    // One value is waited for in its place, by whatever way it comes.
    let twice = "x = Placeholder()
        n = Neg(x)
        all = IdentityN(n, n)
        y = AddV2(all, all:1, ^all)";
    let graph = by("elide-identities", twice, &[], &["y"], false);
    reads(&graph, "x = Placeholder()\nn = Neg(x)\ny = AddV2(n, n, ^n)");
    same(twice, &[("x", scalar(2.0))], &["y"]);
}

#[test]
fn identities_that_are_fed_stay() {
    let graph = by("elide-identities", IDENTITIES, &["i"], &["z"], false);
    assert!(text(&graph).contains("i = Identity(x)\n"), "{}", text(&graph));
    assert!(text(&graph).contains("y = AddV2(i, c)\n"), "{}", text(&graph));
}

/// Who waits for the identity waits for the side of a switch that it is.
const SIDE: &str = "x = Placeholder()
    p = Placeholder() bool
    s = Switch(x, p)
    t = Identity(s:1)
    c = Const(^t) 7
    late = Neg(x, ^t)
    other = Neg(s)
    m = Merge(late, other)
    n = Merge(c, other)";

#[test]
fn identities_that_stand_for_a_side_of_a_switch_stay() {
    let graph = by("elide-identities", SIDE, &["x", "p"], &["m"], false);
    assert!(text(&graph).contains("t = Identity(s:1)\n"), "{}", text(&graph));
    for side in [true, false] {
        same(SIDE, &[("x", scalar(3.0)), ("p", Tensor::scalar(side))], &["m", "n"]);
        same(SIDE, &[("x", scalar(3.0)), ("p", Tensor::scalar(side))], &["late"]);
    }
}

#[test]
fn constants_that_a_merge_takes_wait_for_their_side() {
    let graph = by("free-constants", SIDE, &["x", "p"], &["n"], false);
    assert!(text(&graph).contains("c = Const(^t)\n"), "{}", text(&graph));
    let used = SIDE.replace("n = Merge(c, other)", "n = AddV2(t, c)");
    let graph = by("free-constants", &used, &["x", "p"], &["n"], false);
    assert!(text(&graph).contains("c = Const()\n"), "{}", text(&graph));
    let graph = by("free-constants", &used, &["x", "p"], &["n"], true);
    assert!(text(&graph).contains("c = Const(^t)\n"), "TensorFlow wants it in its frame: {}", text(&graph));
}

#[test]
fn constants_that_wait_for_many_nodes_go_on_waiting() {
    let waiting_for = |count: usize| {
        let ids: String = (0..count).map(|i| format!("i{i} = Identity(s:1)\n")).collect();
        let waits: Vec<String> = (0..count).map(|i| format!("^i{i}")).collect();
        let head = "x = Placeholder()\np = Placeholder() bool\nn = Neg(x)\ns = Switch(n, p)\n";
        let graph = format!("{head}{ids}c = Const({}) 7\ny = AddV2(c, s:1)\nz = Sub(s:1, c)\n", waits.join(", "));
        by("free-constants", &graph, &["x", "p"], &["y", "z"], false)
    };
    let waits = |graph: &Graph| graph.nodes().iter().find(|node| &*node.name == "c").unwrap().control_inputs.len();
    assert_eq!(waits(&waiting_for(8)), 0);
    assert_eq!(waits(&waiting_for(9)), 9);
}

/// As [`lines`] has it, with no kernels but the standard ones: those that these tests have for a device of their own keep ops
/// from being folded and merged.
pub(crate) fn standard(text: &str) -> Graph {
    let def = lines(text).to_def().unwrap();
    Graph::import(&def, crate::random_graphs::registry()).unwrap()
}

const SUM_OF_CONSTANTS: &str = "x = Placeholder()
    a = Const() 2
    b = Const() 3
    sum = AddV2(a, b)
    twice = AddV2(sum, sum)
    y = Mul(x, twice)
    z = Mul(y, sum)";

#[test]
fn nodes_of_constants_are_computed() {
    let graph = by_on("fold-constants", standard(SUM_OF_CONSTANTS), &["x"], &["z"], true);
    reads(
        &graph,
        "x = Placeholder()
         twice = Const()
         y = Mul(x, twice)
         sum = Const()
         z = Mul(y, sum)",
    );
    let value = |name: &str| graph.constant(graph.output(name).unwrap()).unwrap().to_scalar::<f32>().unwrap();
    assert_eq!((value("sum"), value("twice")), (5.0, 10.0));
    // What is only a step on the way is not kept, and what is fetched keeps its name.
    let graph = by_on("fold-constants", standard(SUM_OF_CONSTANTS), &["x"], &["y"], true);
    reads(&graph, "x = Placeholder()\ntwice = Const()\ny = Mul(x, twice)");
    let graph = by_on("fold-constants", standard(SUM_OF_CONSTANTS), &[], &["twice"], true);
    reads(&graph, "twice = Const()");
}

#[test]
fn what_is_fed_is_not_folded() {
    for (feed, left) in [("a", "sum = AddV2(a, b)\n"), ("sum", "twice = AddV2(sum, sum)\n")] {
        let graph = by_on("fold-constants", standard(SUM_OF_CONSTANTS), &["x", feed], &["z"], true);
        assert!(text(&graph).contains(left), "{}", text(&graph));
        let feeds = [("x", scalar(3.0)), (feed, scalar(7.0))];
        same_on(&standard(SUM_OF_CONSTANTS), &feeds, &["z", "twice"]);
    }
}

#[test]
fn a_node_of_constants_that_fails_stays_for_the_run_to_say_why() {
    let mut graph = Graph::new(crate::random_graphs::registry());
    let (a, zero) = (ops::constant(&mut graph, 1i32).unwrap(), ops::constant(&mut graph, 0i32).unwrap());
    ops::floor_div(&mut graph, a, zero).name("y").build().unwrap();
    let session = Session::new(graph.clone()).unwrap();
    let error = session.run(&[], &["y"], &[]).unwrap_err();
    assert!(error.to_string().contains("zero") && error.node().is_some_and(|node| node.node == "y"), "{error}");
    same_on(&graph, &[], &["y"]);
}

/// Adds a node that passes must leave.
#[track_caller]
fn stays(pass: &str, build: impl FnOnce(&mut Graph) -> Result<Output>) {
    let mut graph = Graph::new(crate::random_graphs::registry());
    let output = build(&mut graph).unwrap();
    let (name, before) = (graph.output_name(output), text(&graph));
    let after = by_on(pass, graph, &[], &[&name], false);
    assert_eq!(text(&after), before);
}

#[test]
fn what_is_random_or_large_or_reads_files_is_not_folded() {
    stays("fold-constants", |g| ops::random_uniform(g, [2], DataType::Float).seed(1).build());
    stays("fold-constants", |g| {
        let value = ops::constant(g, 1.0f32)?;
        ops::fill(g, [1 << 20, 2], value).build()
    });
    stays("fold-constants", |g| ops::read_file(g, "Cargo.toml").build());
    // A default may be fed another time.
    stays("fold-constants", |g| ops::placeholder_with_default(g, 1.0f32, PartialShape::unknown()).build());
    let large = |rows: i32| {
        let mut graph = Graph::new(crate::random_graphs::registry());
        let value = ops::constant(&mut graph, 1.0f32).unwrap();
        ops::fill(&mut graph, [1 << 10, rows], value).name("y").build().unwrap();
        text(&by_on("fold-constants", graph, &[], &["y"], false)).contains("Fill")
    };
    assert!(!large(1 << 10) && large(1 << 11), "4 MiB are kept");
}

/// Whether the output named `y` is a constant once constants are folded.
fn is_folded(build: impl FnOnce(&mut Graph) -> Result<Output>) -> bool {
    let mut graph = Graph::new(crate::random_graphs::registry());
    let y = build(&mut graph).unwrap();
    let name = graph.output_name(y);
    text(&by_on("fold-constants", graph, &[], &[&name], false)).lines().all(|line| line.contains(" = Const("))
}

#[test]
fn constants_do_not_double_from_node_to_node() {
    let mebibyte = |g: &mut Graph| ops::constant(g, Tensor::zeros(DataType::Float, [1 << 18])?);
    let doubled = |times: usize, negated: bool| {
        is_folded(|g| {
            let mut x = mebibyte(g)?;
            for _ in 0..times {
                let y = if negated { ops::neg(g, x).build()? } else { x };
                x = ops::concat_v2(g, [x, y], 0i32).build()?;
            }
            Ok(x)
        })
    };
    assert!(doubled(2, false) && !doubled(8, false));
    assert!(doubled(2, true) && !doubled(8, true));
    // Parts of one constant are no more than it.
    assert!(is_folded(|g| {
        let whole = ops::constant(g, Tensor::zeros(DataType::Float, [20, 1 << 20])?)?;
        let part = |g: &mut Graph, first: i32| {
            let part = ops::slice(g, whole, [first, 0], [5, -1]).build()?;
            ops::sum(g, part, [0, 1]).build()
        };
        let sums = [part(g, 0)?, part(g, 5)?, part(g, 10)?, part(g, 15)?];
        ops::pack(g, sums).build()
    }));
}

#[test]
fn ops_and_kernels_of_a_users_own_are_not_folded() {
    stays("fold-constants", |g| crate::kernels::counted(g, 1i32).build());
    // This registry has a kernel of these tests for it.
    let graph = by("fold-constants", SUM_OF_CONSTANTS, &["x"], &["z"], false);
    assert!(text(&graph).contains("sum = AddV2(a, b)\n"), "{}", text(&graph));
}

#[test]
fn what_a_variable_begins_with_is_made_for_it() {
    let filled = |rows: i32| {
        let mut graph = Graph::new(crate::random_graphs::registry());
        let g = &mut graph;
        let zero = ops::constant(g, 0.0f32).unwrap();
        let value = ops::fill(g, [rows], zero).build().unwrap();
        let v = ops::var_handle_op(g, DataType::Float, PartialShape::unknown()).shared_name("v").build().unwrap();
        let start = ops::assign_variable_op(g, v, value).build().unwrap();
        let mut ends = Ends::new(Vec::new(), Vec::new(), vec![start]);
        Optimizer::default().optimize(&mut graph, &mut ends).unwrap();
        text(&graph).contains("= Fill(")
    };
    assert!(!filled(1 << 10) && filled(1 << 11));
}

#[test]
fn constants_in_a_branch_that_are_folded_wait_for_it() {
    let graph = "x = Placeholder()
        p = Placeholder() bool
        s = Switch(x, p)
        t = Identity(s:1)
        a = Const(^t) 2
        b = Const() 3
        sum = AddV2(a, b)
        other = Neg(s)
        m = Merge(sum, other)";
    let after = by_on("fold-constants", standard(graph), &["x", "p"], &["m"], true);
    assert!(text(&after).contains("sum = Const(^t)\n"), "{}", text(&after));
    for p in [false, true] {
        same_on(&standard(graph), &[("x", scalar(3.0)), ("p", Tensor::scalar(p))], &["m"]);
        same_on(&standard(graph), &[("x", scalar(3.0)), ("p", Tensor::scalar(p))], &["sum"]);
    }
}

#[test]
fn a_long_chain_of_constants_is_folded_in_no_time() {
    let mut chain = String::from("x = Placeholder()\na0 = Const() 1\n");
    (1..20_000).for_each(|i| chain += &format!("a{i} = Neg(a{})\n", i - 1));
    chain += "y = Mul(x, a19999)";
    let graph = standard(&chain);
    let start = std::time::Instant::now();
    let after = by_on("fold-constants", graph, &["x"], &["y"], false);
    assert_eq!(after.nodes().len(), 3);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

const TWINS: &str = "x = Placeholder()
    c = Const() 2
    d = Const() 2
    a = Mul(x, c)
    b = Mul(x, d)
    n = Neg(a)
    m = Neg(b, ^a)
    o = Neg(a, ^b)
    y = AddV2(n, o)
    z = Sub(y, m)";

#[test]
fn nodes_that_compute_the_same_are_one() {
    let graph = by_on("merge-duplicates", standard(TWINS), &["x"], &["z"], true);
    reads(
        &graph,
        "x = Placeholder()
         c = Const()
         a = Mul(x, c)
         n = Neg(a)
         m = Neg(a, ^a)
         y = AddV2(n, m)
         z = Sub(y, m)",
    );
    same_on(&standard(TWINS), &[("x", scalar(3.0))], &["z", "o", "m", "b"]);
    // What is fed is no duplicate, and what is fetched keeps its name in a graph that is written.
    let graph = by_on("merge-duplicates", standard(TWINS), &["x", "b"], &["z"], true);
    assert!(text(&graph).contains("m = Neg(b, ^a)\n"), "{}", text(&graph));
    same_on(&standard(TWINS), &[("x", scalar(3.0)), ("b", scalar(1.0))], &["z", "o", "m"]);
    same_on(&standard(TWINS), &[("x", scalar(3.0)), ("d", scalar(1.0))], &["z", "o", "m"]);
    let graph = by_on("merge-duplicates", standard(TWINS), &["x"], &["a", "b"], true);
    assert!(graph.find("b").is_some(), "{}", text(&graph));
}

#[test]
fn what_is_random_or_differs_is_not_merged() {
    stays("merge-duplicates", |g| {
        let shape = ops::constant(g, [2])?;
        let a = ops::random_uniform(g, shape, DataType::Float).seed(1).build()?;
        let b = ops::random_uniform(g, shape, DataType::Float).seed(1).build()?;
        ops::sub(g, a, b).build()
    });
    stays("merge-duplicates", |g| {
        let x = ops::constant(g, [[1.0f32, 2.0]])?;
        let axis = ops::constant(g, [0])?;
        let a = ops::sum(g, x, axis).keep_dims(true).build()?;
        let b = ops::sum(g, x, axis).build()?;
        ops::sub(g, a, b).build()
    });
    // Zeros of both signs are different constants, and what asks for another device is another node.
    stays("merge-duplicates", |g| {
        let (a, b) = (ops::constant(g, 0.0f32)?, ops::constant(g, -0.0f32)?);
        let a = ops::neg(g, a).device("/cpu:0").build()?;
        let b = ops::neg(g, b).build()?;
        ops::sub(g, a, b).build()
    });
}

/// TensorFlow 1's `cond` of a constant.
const COND: &str = "x = Placeholder()
    p = Const() true
    sp = Switch(p, p) bool
    t = Identity(sp:1) bool
    f = Identity(sp) bool
    pred = Identity(p) bool
    s = Switch(x, pred)
    two = Const(^t) 2
    then = Mul(s:1, two)
    three = Const(^f) 3
    else = Mul(s, three)
    m = Merge(then, else)
    y = Neg(m)";

#[test]
fn branches_that_a_constant_never_takes_are_removed() {
    reads(
        &by("fold-branches", COND, &["x"], &["y"], true),
        "x = Placeholder()
         p = Const()
         t = Identity(p)
         two = Const(^t)
         then = Mul(x, two)
         y = Neg(then)",
    );
    same(COND, &[("x", scalar(3.0))], &["y", "m"]);
    same(&COND.replace("true", "false"), &[("x", scalar(3.0))], &["y", "m"]);
    // What is dead has no value, with passes as without.
    same(COND, &[("x", scalar(3.0))], &["else"]);
    same(COND, &[("x", scalar(3.0))], &["then", "m:1", "y"]);
    same(COND, &[("x", scalar(3.0)), ("pred", Tensor::scalar(false))], &["y"]);
    same(COND, &[("x", scalar(3.0)), ("p", Tensor::scalar(false))], &["y", "else"]);
    same(COND, &[("x", scalar(1.0)), ("then", scalar(3.0))], &["y"]);
}

#[test]
fn who_asks_which_branch_it_was_is_told() {
    let asks = format!("{COND}\n    i = Neg(m:1) int32");
    let graph = by("fold-branches", &asks, &["x"], &["y", "i"], true);
    assert!(text(&graph).contains("m = Merge(then, else)\n"), "{}", text(&graph));
    same(&asks, &[("x", scalar(3.0))], &["y", "i"]);
}

#[test]
fn loops_in_a_branch_that_is_never_taken_go_with_it() {
    let graph = "x = Placeholder()
        p = Const() true
        s = Switch(x, p)
        enter = Enter(s) while
        m = Merge(enter, next)
        more = Less(m, m)
        cond = LoopCond(more)
        side = Switch(m, cond)
        next = NextIteration(side:1)
        exit = Exit(side)
        then = Neg(s:1)
        y = Merge(then, exit)
        z = Neg(y)";
    reads(
        &by("fold-branches", graph, &["x"], &["z"], true),
        "x = Placeholder()
         then = Neg(x)
         z = Neg(then)",
    );
    same(graph, &[("x", scalar(3.0))], &["z"]);
    same(&graph.replace("true", "false"), &[("x", scalar(3.0))], &["z"]);
}

#[test]
fn switches_that_wait_stay() {
    let graph = COND.replace("s = Switch(x, pred)", "wait = Neg(x)\n    s = Switch(x, pred, ^wait)");
    let after = by("fold-branches", &graph, &["x"], &["y"], true);
    assert!(text(&after).contains("s = Switch(x, pred, ^wait)\n"), "{}", text(&after));
    same(&graph, &[("x", scalar(3.0))], &["y"]);
}

#[test]
fn passes_are_switched_off_by_their_names() {
    let error = Optimizer::without(["elide-identity"]).err().unwrap();
    assert_eq!(error.code(), Code::InvalidArgument);
    for word in ["`elide-identity`", "did you mean", "elide-identities", "fold-branches"] {
        assert!(error.message().contains(word), "{error}");
    }
    let options = SessionOptions::new().without_pass("nonsense");
    let session = Session::with_options(lines(UNUSED), &options).unwrap();
    let error = session.run(&[("x", scalar(1.0))], &["y"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    let names: std::collections::HashSet<&str> = PASSES.iter().map(|pass| pass.name()).collect();
    assert_eq!(names.len(), PASSES.len(), "each pass has a name of its own");
    assert!(PASSES.iter().all(|pass| !pass.summary().is_empty()));
}

#[test]
fn reports_count_nodes() {
    let mut graph = lines(COND);
    let mut ends = ends(&graph, &["x"], &["y"]);
    ends.is_written = true;
    let reports = Optimizer::default().optimize(&mut graph, &mut ends).unwrap();
    // Those that are for sessions alone do not run.
    assert_eq!(reports.len(), PASSES.iter().filter(|pass| pass.is_portable()).count());
    assert_eq!(reports[0].nodes_before, 13);
    let branches = reports.iter().find(|report| report.name == "fold-branches").unwrap();
    assert!(branches.changes > 0 && branches.nodes_after < branches.nodes_before, "{reports:?}");
    assert!(reports.windows(2).all(|pair| pair[0].nodes_after == pair[1].nodes_before), "{reports:?}");
    assert_eq!(reports.last().unwrap().nodes_after, graph.nodes().len());
    assert_eq!(ends.fetches(), [graph.output("y").unwrap()], "the ends are those of the graph as it is");
}

/// Functions of a float: twice it, and the product of a matrix with itself.
fn with_functions(mut graph: Graph) -> Graph {
    FunctionBuilder::new("Twice", [DataType::Float]).build(&mut graph, |g, [x]| ops::add_v2(g, x, x).build()).unwrap();
    FunctionBuilder::new("Minus", [DataType::Float]).build(&mut graph, |g, [x]| ops::neg(g, x).build()).unwrap();
    FunctionBuilder::new("Product", [DataType::Float])
        .build(&mut graph, |g, [x]| ops::mat_mul(g, x, x).build())
        .unwrap();
    graph
}

fn function(name: &str) -> FunctionRef {
    FunctionRef { name: name.to_owned(), ..FunctionRef::default() }
}

/// Adds an `If` or a `Case` of a float.
fn conditional(graph: &mut Graph, op: &str, inputs: [Output; 2], attrs: &[(&str, AttrValue)]) -> Result<Output> {
    let op = graph.registry().op(op)?.def;
    let mut builder = NodeBuilder::new(graph, op);
    builder.name("y").input(inputs[0]).input_list([inputs[1]]);
    builder.attr("Tout", AttrValue::ListType(vec![DataType::Float]));
    attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
    builder.build_output()
}

fn branches(then_branch: &str, else_branch: &str) -> Vec<(&'static str, AttrValue)> {
    let function = |name| AttrValue::Func(function(name));
    vec![("then_branch", function(then_branch)), ("else_branch", function(else_branch))]
}

#[test]
fn an_if_that_a_constant_decides_is_a_call() {
    for (p, function, value) in [("true", "Twice", 6.0), ("false", "Minus", -3.0)] {
        let mut graph = with_functions(lines(&format!(
            "x = Placeholder()
             p = Const() {p}"
        )));
        let inputs = [graph.output("p").unwrap(), graph.output("x").unwrap()];
        let mut attrs = branches("Twice", "Minus");
        attrs.push(("_class", AttrValue::ListString(vec!["loc:@x".into()])));
        attrs.push(("_lower_using_switch_merge", AttrValue::Bool(true)));
        conditional(&mut graph, "StatelessIf", inputs, &attrs).unwrap();
        same_on(&graph, &[("x", scalar(3.0))], &["y"]);
        same_on(&graph, &[("x", scalar(3.0)), ("p", Tensor::scalar(p != "true"))], &["y"]);
        let graph = by_on("fold-branches", graph, &["x"], &["y"], true);
        reads(&graph, "x = Placeholder()\ny = PartitionedCall(x)");
        let y = graph.node(graph.find("y").unwrap());
        assert!(matches!(y.attrs.get("f"), Some(AttrValue::Func(f)) if f.name == function), "{:?}", y.attrs.get("f"));
        assert!(matches!(y.attrs.get("_class"), Some(AttrValue::ListString(classes)) if classes.len() == 1));
        assert!(y.attrs.get("_lower_using_switch_merge").is_none());
        let y = Session::new(graph).unwrap().run(&[("x", scalar(3.0))], &["y"], &[]).unwrap();
        assert_eq!(y[0].to_scalar::<f32>().unwrap(), value);
    }
}

#[test]
fn a_case_takes_its_last_branch_for_an_index_out_of_range() {
    for (index, function) in [(0, "Twice"), (1, "Minus"), (2, "Minus"), (-1, "Minus")] {
        let mut graph = with_functions(lines("x = Placeholder()"));
        let index = ops::constant(&mut graph, index).unwrap();
        let x = graph.output("x").unwrap();
        let functions = AttrValue::ListFunc(vec![self::function("Twice"), self::function("Minus")]);
        conditional(&mut graph, "StatelessCase", [index, x], &[("branches", functions)]).unwrap();
        same_on(&graph, &[("x", scalar(3.0))], &["y"]);
        let graph = by_on("fold-branches", graph, &["x"], &["y"], true);
        let y = graph.node(graph.find("y").unwrap());
        assert!(matches!(y.attrs.get("f"), Some(AttrValue::Func(f)) if f.name == function), "{:?}", y.attrs.get("f"));
    }
}

/// `x`, a matrix of 2 rows and 3 columns, which `Product` does not take, and the `true` that chooses it.
fn matrix() -> (Graph, [Output; 2]) {
    let mut graph = with_functions(lines("p = Const() true\nq = Placeholder() bool"));
    let shape = PartialShape::from_known([Some(2), Some(3)]);
    let x = ops::placeholder(&mut graph, DataType::Float).shape(shape).name("x").build().unwrap();
    let p = graph.output("p").unwrap();
    (graph, [p, x])
}

fn ones() -> Tensor {
    Tensor::vector(&[1f32; 6]).unwrap().reshaped([2, 3]).unwrap()
}

#[test]
fn an_if_whose_branch_fails_is_left_to_fail_if_it_runs() {
    let (mut graph, [p, x]) = matrix();
    let q = graph.output("q").unwrap();
    let switch = node(&mut graph, "Switch", "s", &[x, q], &[]);
    let taken = Output { index: 1, ..switch };
    let y = conditional(&mut graph, "StatelessIf", [p, taken], &branches("Product", "Minus")).unwrap();
    let op = graph.registry().op("Merge").unwrap().def;
    let mut merge = NodeBuilder::new(&mut graph, op);
    merge.input_list([switch, y]).name("m");
    merge.build().unwrap();
    for q in [false, true] {
        same_on(&graph, &[("x", ones()), ("q", Tensor::scalar(q))], &["m"]);
    }
    let session = Session::new(graph.clone()).unwrap();
    session.run(&[("x", ones()), ("q", Tensor::scalar(false))], &["m"], &[]).unwrap();
    let graph = by_on("fold-branches", graph, &["x", "q"], &["m"], true);
    assert!(text(&graph).contains("y = StatelessIf(p, s:1)\n"), "{}", text(&graph));
    assert!(!text(&graph).contains("PartitionedCall"), "what cannot be used is taken back: {}", text(&graph));
}

#[test]
fn an_if_that_promises_other_shapes_than_its_branch_stays() {
    let (mut graph, inputs) = matrix();
    let mut attrs = branches("Minus", "Twice");
    attrs.push(("output_shapes", AttrValue::ListShape(vec![PartialShape::from_known([Some(3), Some(2)])])));
    conditional(&mut graph, "StatelessIf", inputs, &attrs).unwrap();
    same_on(&graph, &[("x", ones())], &["y"]);
    Session::new(graph.clone()).unwrap().run(&[("x", ones())], &["y"], &[]).unwrap();
    let before = text(&graph);
    let none = by_on("fold-branches", graph, &["x", "q"], &["y"], false);
    assert_eq!(text(&none), before);
}

#[test]
fn an_if_whose_branch_keeps_a_state_stays() {
    let mut graph = with_functions(lines("x = Placeholder()\np = Const() true"));
    FunctionBuilder::new("Keeps", [DataType::Float])
        .build(&mut graph, |g, [x]| {
            let v = ops::var_handle_op(g, DataType::Float, []).shared_name("v").build()?;
            ops::assign_variable_op(g, v, x).build()?;
            Ok(x)
        })
        .unwrap();
    let inputs = [graph.output("p").unwrap(), graph.output("x").unwrap()];
    conditional(&mut graph, "If", inputs, &branches("Keeps", "Twice")).unwrap();
    let graph = by_on("fold-branches", graph, &["x"], &["y"], false);
    assert!(text(&graph).contains("y = If(p, x)\n"), "{}", text(&graph));
}

#[test]
fn an_if_stays_where_calls_have_no_kernel() {
    let registry = Arc::new(Registry::linked(&[]).unwrap());
    registry.remove_kernels(&KernelFilter::op("PartitionedCall")).unwrap();
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let p = ops::constant(&mut graph, true).unwrap();
    ops::cond(&mut graph, p, |g| ops::neg(g, x).build(), |g| ops::square(g, x).build()).name("y").build().unwrap();
    let y = Session::new(graph.clone()).unwrap().run(&[("x", scalar(3.0))], &["y"], &[]).unwrap();
    assert_eq!(y[0].to_scalar::<f32>().unwrap(), -3.0);
    let graph = by_on("fold-branches", graph, &["x"], &["y"], true);
    assert_eq!(graph.node(graph.find("y").unwrap()).op.def.name, "StatelessIf");
}

#[test]
fn an_if_that_waits_for_another_waits_for_its_call() {
    let mut graph = with_functions(lines("x = Placeholder()\np = Const() true"));
    let (p, x) = (graph.output("p").unwrap(), graph.output("x").unwrap());
    let first = ops::cond(&mut graph, p, |g| ops::neg(g, x).build(), |g| ops::square(g, x).build()).build().unwrap();
    let then = |g: &mut Graph| ops::neg(g, first).build();
    ops::cond(&mut graph, p, then, |g| ops::square(g, first).build()).control_input(first).name("y").build().unwrap();
    same_on(&graph, &[("x", scalar(3.0))], &["y"]);
    let graph = by_on("fold-branches", graph, &["x"], &["y"], true);
    assert_eq!(text(&graph).matches("PartitionedCall(").count(), 2, "{}", text(&graph));
}

#[test]
fn a_written_graph_waits_for_what_an_if_gives() {
    // TensorFlow would not run an `If` of which nobody takes anything.
    let mut graph = with_functions(lines("x = Placeholder()\np = Placeholder() bool"));
    let (p, x) = (graph.output("p").unwrap(), graph.output("x").unwrap());
    let first = ops::cond(&mut graph, p, |g| ops::neg(g, x).build(), |g| ops::square(g, x).build()).build().unwrap();
    let guard = ops::identity(&mut graph, first).name("guard").build().unwrap();
    ops::neg(&mut graph, x).control_input(guard).name("y").build().unwrap();
    let waits = |is_written| {
        let graph = by_on("elide-identities", graph.clone(), &["x", "p"], &["y"], is_written);
        graph.node(graph.find("y").unwrap()).control_inputs.iter().map(|&id| graph.node(id).name.clone()).next()
    };
    assert_eq!(waits(true).as_deref(), Some("guard"));
    assert_ne!(waits(false).as_deref(), Some("guard"));
}

#[test]
fn branches_stay_that_take_what_has_effects() {
    let mut graph = lines("x = Placeholder()\np = Const() true");
    let (p, x) = (graph.output("p").unwrap(), graph.output("x").unwrap());
    let random = ops::random_uniform(&mut graph, [2], DataType::Float).name("r").seed(1).build().unwrap();
    let other = |g: &mut Graph| ops::add_v2(g, x, random).build();
    ops::v1::cond(&mut graph, p, |g| ops::neg(g, x).build(), other).name("y").build().unwrap();
    let fetch = graph.nodes().last().unwrap().name.clone();
    let graph = by_on("fold-branches", graph, &["x"], &[&fetch], true);
    assert!(graph.find("r").is_some(), "each run takes a number: {}", text(&graph));
}

/// A graph of `x`, in which `Outer` calls `Inner` and adds a constant.
fn nested(attr: Option<&str>, effects: bool) -> Graph {
    let mut graph = Graph::new(crate::random_graphs::registry());
    let g = &mut graph;
    let x = ops::placeholder(g, DataType::Float).name("x").build().unwrap();
    let mut inner = FunctionBuilder::new("Inner", [DataType::Float]);
    if let Some(attr) = attr {
        inner = inner.attr(attr, true);
    }
    let inner = inner.build(g, |g, [x]| {
        if effects {
            let shape = ops::constant(g, [2])?;
            let random = ops::random_uniform(g, shape, DataType::Float).seed(1).build()?;
            return ops::add_v2(g, x, random).build();
        }
        ops::reshape(g, x, [1]).name("checked").build()
    });
    let inner = inner.unwrap();
    let outer = FunctionBuilder::new("Outer", [DataType::Float]).build(g, |g, [x]| {
        let y = ops::call(g, &inner, [x]).build()?[0];
        ops::mul(g, y, 2.0f32).build()
    });
    let y = ops::call(g, &outer.unwrap(), [x]).name("y").build().unwrap()[0];
    ops::neg(g, y).name("z").build().unwrap();
    graph
}

#[test]
fn bodies_stand_where_they_are_called() {
    let graph = by_on("inline-functions", nested(None, false), &["x"], &["z"], false);
    let ops: Vec<&str> = graph.nodes().iter().map(|node| &*node.op.def.name).collect();
    assert_eq!(ops, ["Placeholder", "Const", "Const", "Reshape", "Mul", "Neg"]);
    let graph = by_on("inline-functions", nested(None, false), &["x"], &["z"], true);
    assert!(text(&graph).contains("PartitionedCall(x)"), "what is written keeps its functions: {}", text(&graph));
    same_on(&nested(None, false), &[("x", scalar(3.0))], &["z", "y"]);
    same_on(&nested(None, false), &[("x", scalar(3.0)), ("y", scalar(1.0))], &["z"]);
    // An error names the node as the function has it.
    let session = Session::new(nested(None, false)).unwrap();
    let error = session.run(&[("x", ones())], &["z"], &[]).unwrap_err();
    let at = error.node().unwrap();
    assert_eq!((&*at.node, &*at.op, &*at.function), ("checked", "Reshape", "Inner"), "{error}");
}

#[test]
fn functions_that_ask_for_it_or_have_effects_stay_functions() {
    let left = |graph: Graph, feeds: &[&str]| text(&by_on("inline-functions", graph, feeds, &["z"], false));
    let after = left(nested(Some("_noinline"), false), &["x"]);
    assert!(after.contains("PartitionedCall(x)") && after.contains("Mul("), "the outer one is inlined: {after}");
    let after = left(nested(None, true), &["x"]);
    assert!(after.contains("y = StatefulPartitionedCall(x)\n"), "{after}");
    same_on(&nested(None, true), &[("x", scalar(3.0))], &["z"]);
    // What is fed is no call.
    let after = left(nested(None, false), &["x", "y"]);
    assert!(after.contains("z = Neg(y)\n"), "{after}");
}

#[test]
fn calls_stay_where_nodes_may_be_dead_or_run_on_a_device() {
    let mut graph = nested(None, false);
    let g = &mut graph;
    let (x, p) = (g.output("x").unwrap(), ops::constant(g, true).unwrap());
    ops::v1::cond(g, p, |g| ops::neg(g, x).build(), |g| ops::square(g, x).build()).name("c").build().unwrap();
    let fetch = g.nodes().last().unwrap().name.clone();
    let graph = by_on("inline-functions", graph, &["x"], &["z", &fetch], false);
    assert!(text(&graph).contains("y = PartitionedCall(x)\n"), "{}", text(&graph));
    // One whose nodes ask for a device.
    let mut graph = lines("x = Placeholder()");
    let body = FunctionBuilder::new("Placed", [DataType::Float])
        .build(&mut graph, |g, [x]| ops::neg(g, x).device("/device:CPU:0").build());
    let x = graph.output("x").unwrap();
    ops::call(&mut graph, &body.unwrap(), [x]).name("y").build().unwrap();
    let graph = by_on("inline-functions", graph, &["x"], &["y"], false);
    reads(&graph, "x = Placeholder()\ny = PartitionedCall(x)");
}

#[test]
fn a_body_that_reads_a_variable_reads_it_when_the_call_would() {
    let mut graph = Graph::new(crate::random_graphs::registry());
    let g = &mut graph;
    let x = ops::placeholder(g, DataType::Float).name("x").build().unwrap();
    let v = ops::var_handle_op(g, DataType::Float, PartialShape::unknown()).shared_name("v").build().unwrap();
    let start = ops::assign_variable_op(g, v, x).name("start").build().unwrap();
    let reads = FunctionBuilder::new("Reads", [DataType::Resource])
        .build(g, |g, [v]| {
            let read = ops::read_variable_op(g, v, DataType::Float).build()?;
            ops::neg(g, read).build()
        })
        .unwrap();
    let (call, y) = ops::call(g, &reads, [v]).name("y").control_input(start).build_node().unwrap();
    let twice = ops::add_v2(g, x, x).build().unwrap();
    let after = ops::assign_variable_op(g, v, twice).name("after").control_input(call).build().unwrap();
    ops::read_variable_op(g, v, DataType::Float).name("last").control_input(after).build().unwrap();
    ops::add_v2(g, y[0], y[0]).name("z").build().unwrap();
    same_on(&graph, &[("x", scalar(3.0))], &["z", "last"]);
    let graph = by_on("inline-functions", graph, &["x"], &["z", "last"], false);
    assert!(!text(&graph).contains("Call("), "{}", text(&graph));
}

/// A switch that a constant decides by way of so many identities.
fn far(identities: usize) -> String {
    let chain: String = (0..identities).map(|i| format!("p{} = Identity(p{i}) bool\n", i + 1)).collect();
    format!("x = Placeholder()\np0 = Const() true\n{chain}s = Switch(x, p{identities})\ny = Neg(s:1)")
}

#[test]
fn a_constant_is_found_by_way_of_so_many_identities_that_work_is_linear() {
    let is_folded = |identities: usize| {
        same(&far(identities), &[("x", scalar(3.0))], &["y"]);
        by("fold-branches", &far(identities), &["x"], &["y"], true).find("s").is_none()
    };
    assert!(is_folded(0) && is_folded(10) && !is_folded(100));
}

#[test]
fn branches_are_removed_in_functions_too() {
    let mut graph = with_functions(lines("x = Placeholder()"));
    let outer = FunctionBuilder::new("Outer", [DataType::Float]).build(&mut graph, |g, [x]| {
        let p = ops::constant(g, false)?;
        conditional(g, "StatelessIf", [p, x], &branches("Product", "Twice"))
    });
    let x = graph.output("x").unwrap();
    ops::call(&mut graph, &outer.unwrap(), [x]).name("z").build().unwrap();
    same_on(&graph, &[("x", scalar(3.0))], &["z"]);
    let z = Session::new(graph).unwrap().run(&[("x", scalar(3.0))], &["z"], &[]).unwrap();
    assert_eq!(z[0].to_scalar::<f32>().unwrap(), 6.0);
}

#[test]
fn who_waits_for_a_feed_of_a_partial_run_waits_for_it() {
    let graph = "x = Placeholder()
        y = Placeholder()
        i = Identity(x)
        j = Identity(i)
        n = Neg(y, ^j)
        u = Neg(j)";
    let none = PASSES.iter().fold(SessionOptions::new(), |options, pass| options.without_pass(pass.name()));
    for options in [SessionOptions::new(), none] {
        let session = Session::with_options(lines(graph), &options).unwrap();
        let run = session.partial_run_setup(&["x", "y"], &["n", "u"], &[]).unwrap();
        let error = run.run(&[("y", scalar(2.0))], &["n"]).unwrap_err();
        assert!(error.message().contains("a fetch depends on a feed that was not fed yet"), "{error}");
        let both = run.run(&[("x", scalar(3.0))], &["n", "u"]).unwrap();
        assert_eq!(both.iter().map(|value| value.to_scalar::<f32>().unwrap()).collect::<Vec<_>>(), [-2.0, -3.0]);
    }
}

/// An identity `i` on a device, and two nodes that ask to be with it.
fn colocated() -> Graph {
    let mut graph = lines("x = Placeholder()");
    let x = graph.output("x").unwrap();
    let i = ops::identity(&mut graph, x).name("i").device("/cpu:0").build().unwrap();
    let class = [("_class", AttrValue::ListString(vec!["loc:@i".into()]))];
    let a = node(&mut graph, "Neg", "a", &[i], &class);
    node(&mut graph, "Neg", "b", &[a], &class);
    graph
}

#[test]
fn who_is_to_be_with_a_removed_node_stays_with_its_group() {
    // `i` goes because the feed stands for what it would give.
    let mut graph = colocated();
    let before = graph.output("x").unwrap();
    let (a, b) = (graph.find("a").unwrap(), graph.find("b").unwrap());
    let i = graph.find("i").unwrap();
    let mut patch = graph.patch();
    patch.replace_uses(Output { node: i, index: 0 }, before).remove(i);
    let renumbering = patch.apply().unwrap();
    let node = |graph: &Graph, id| graph.node(renumbering.node(id).unwrap()).clone();
    let (a, b) = (node(&graph, a), node(&graph, b));
    assert!(a.attrs.get("_class").is_none());
    assert!(matches!(b.attrs.get("_class"), Some(AttrValue::ListString(c)) if c[..] == ["loc:@a".into()]));
    assert_eq!((a.device.as_str(), b.device.as_str()), ("/cpu:0", "/cpu:0"));

    // Pruning alone removes it, too.
    let mut graph = colocated();
    let x = graph.output("x").unwrap();
    let class = [("_class", AttrValue::ListString(vec!["loc:@i".into()]))];
    self::node(&mut graph, "Neg", "y", &[x], &class);
    let graph = by_on("prune", graph, &["x"], &["y"], true);
    reads(&graph, "x = Placeholder()\ny = Neg(x)");
    assert!(graph.node(graph.find("y").unwrap()).attrs.get("_class").is_none());
}
