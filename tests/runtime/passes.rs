//! Graph passes: graphs before and after, and that they compute the same.

use kernlink::optimize::{Ends, Optimizer, PASSES};
use kernlink::prelude::*;

use crate::control_flow::lines::{lines, scalar};
use crate::patches::{reads, text};

/// What is fed and fetched, by names.
fn ends(graph: &Graph, feeds: &[&str], fetches: &[&str]) -> Ends {
    let outputs = |names: &[&str]| names.iter().map(|name| graph.output(name).unwrap()).collect();
    Ends::new(outputs(feeds), outputs(fetches), Vec::new())
}

/// What one pass, with pruning, makes of a graph.
fn by(pass: &str, graph: &str, feeds: &[&str], fetches: &[&str], is_written: bool) -> Graph {
    let others = PASSES.iter().map(|pass| pass.name()).filter(|name| *name != pass && *name != "prune");
    let optimizer = Optimizer::without(others).unwrap();
    let mut graph = lines(graph);
    let mut ends = ends(&graph, feeds, fetches);
    ends.is_written = is_written;
    optimizer.optimize(&mut graph, &mut ends).unwrap();
    graph
}

/// Checks that runs of a graph give the same with all passes and without any, or the same error.
#[track_caller]
fn same(graph: &str, feeds: &[(&str, Tensor)], fetches: &[&str]) {
    let none = PASSES.iter().fold(SessionOptions::new(), |options, pass| options.without_pass(pass.name()));
    let run = |options: &SessionOptions| {
        let session = Session::with_options(lines(graph), options).unwrap();
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
    assert_eq!(reports.len(), PASSES.len());
    assert_eq!(reports[0].nodes_before, 13);
    assert_eq!(reports[1].name, "fold-branches");
    assert!(reports[1].changes > 0 && reports[1].nodes_after < reports[1].nodes_before, "{reports:?}");
    assert!(reports.windows(2).all(|pair| pair[0].nodes_after == pair[1].nodes_before), "{reports:?}");
    assert_eq!(reports.last().unwrap().nodes_after, graph.nodes().len());
    assert_eq!(ends.fetches, [graph.output("y").unwrap()], "the ends are those of the graph as it is");
}
