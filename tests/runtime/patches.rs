//! Patches: what they change, what they leave, and what they refuse.

use kernlink::graph::GraphPatch;
use kernlink::prelude::*;
use kernlink::shape::PartialShape;

use crate::control_flow::lines::{lines, scalar};

/// A graph as [`lines`] reads it, without attrs.
pub(crate) fn text(graph: &Graph) -> String {
    let line = |node: &kernlink::graph::Node| {
        let mut inputs: Vec<String> = node.inputs.iter().map(|&input| graph.output_name(input)).collect();
        inputs.extend(node.control_inputs.iter().map(|&control| format!("^{}", graph.node(control).name)));
        format!("{} = {}({})\n", node.name, node.op.def.name, inputs.join(", "))
    };
    graph.nodes().iter().map(line).collect()
}

/// Checks what a graph is, without spaces before its lines.
#[track_caller]
pub(crate) fn reads(graph: &Graph, expected: &str) {
    let expected: String =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    assert_eq!(text(graph), expected);
}

const SUMS: &str = "x = Placeholder()
    a = Neg(x)
    b = Neg(a)
    sum = AddV2(a, b)
    last = Neg(sum, ^b)";

fn sized(size: usize) -> PartialShape {
    PartialShape::from_known([Some(size)])
}

fn output(graph: &Graph, name: &str) -> Output {
    graph.output(name).unwrap()
}

fn id(graph: &Graph, name: &str) -> NodeId {
    graph.find(name).unwrap()
}

/// Runs `edit`, which must make a patch that fails, and checks that the graph stays as it was.
#[track_caller]
fn refuses(graph: &str, code: Code, words: &[&str], edit: impl FnOnce(&mut GraphPatch<'_>)) {
    let mut graph = lines(graph);
    let before = (text(&graph), graph.nodes().len());
    let mut patch = graph.patch();
    edit(&mut patch);
    let error = patch.apply().unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "`{word}` is not in: {error}"));
    assert_eq!((text(&graph), graph.nodes().len()), before);
    assert!(graph.find("new").is_none(), "the name is free again");
}

#[test]
fn a_node_is_put_between_an_output_and_its_users() {
    let mut graph = lines(SUMS);
    let a = output(&graph, "a");
    let mut patch = graph.patch();
    let new = ops::abs(&mut patch, a).name("new").build().unwrap();
    patch.replace_uses(a, new);
    let renumbering = patch.apply().unwrap();
    reads(
        &graph,
        "x = Placeholder()
         a = Neg(x)
         new = Abs(a)
         b = Neg(new)
         sum = AddV2(new, b)
         last = Neg(sum, ^b)",
    );
    let new = renumbering.output(new).unwrap();
    assert_eq!(new, output(&graph, "new"));
    assert_eq!(renumbering.used_for(a), Some(new));
    assert_eq!(renumbering.output(a), Some(output(&graph, "a")), "the output itself is there still");
    let session = Session::new(graph).unwrap();
    let last = session.run(&[("x", scalar(3.0))], &["last"], &[]).unwrap();
    assert_eq!(last[0].to_scalar::<f32>().unwrap(), 0.0);
}

#[test]
fn a_node_takes_the_place_and_the_name_of_another() {
    let mut graph = lines(SUMS);
    let (a, b) = (output(&graph, "a"), id(&graph, "b"));
    let mut patch = graph.patch();
    patch.keep_fetch(Output { node: b, index: 0 });
    patch.beside(b);
    let new = ops::abs(&mut patch, a).build().unwrap();
    patch.replace_node(b, new.node);
    let renumbering = patch.apply().unwrap();
    reads(
        &graph,
        "x = Placeholder()
         a = Neg(x)
         b = Abs(a)
         sum = AddV2(a, b)
         last = Neg(sum, ^b)",
    );
    assert_eq!(renumbering.node(b), None);
    assert_eq!(renumbering.awaited_for(b), [id(&graph, "b")]);
    assert_eq!(renumbering.added(), [(id(&graph, "b"), Some(b))]);
}

#[test]
fn replacements_follow_one_another() {
    let mut graph = lines(SUMS);
    let (x, a, b) = (output(&graph, "x"), output(&graph, "a"), output(&graph, "b"));
    let mut patch = graph.patch();
    patch.replace_uses(b, a).replace_uses(a, x).redirect_controls(b.node, &[a.node, x.node]);
    patch.apply().unwrap();
    reads(
        &graph,
        "x = Placeholder()
         a = Neg(x)
         b = Neg(x)
         sum = AddV2(x, x)
         last = Neg(sum, ^x, ^a)",
    );
}

#[test]
fn edges_are_set_and_nodes_removed() {
    let mut graph = lines(SUMS);
    let (x, b, sum, last) = (output(&graph, "x"), id(&graph, "b"), id(&graph, "sum"), id(&graph, "last"));
    let mut patch = graph.patch();
    patch.set_inputs(sum, vec![x, x]).set_control_inputs(last, vec![x.node, x.node]).remove(b);
    assert!(!patch.is_empty());
    let renumbering = patch.apply().unwrap();
    reads(
        &graph,
        "x = Placeholder()
         a = Neg(x)
         sum = AddV2(x, x)
         last = Neg(sum, ^x)",
    );
    assert_eq!(renumbering.node(last), Some(id(&graph, "last")));
    assert_eq!(graph.find("b"), None);
}

#[test]
fn shapes_follow_inputs_that_are_set() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let pair = ops::placeholder(&mut graph, DataType::Float).shape(sized(2)).build().unwrap();
    let triple = ops::placeholder(&mut graph, DataType::Float).shape(sized(3)).build().unwrap();
    let neg = ops::neg(&mut graph, pair).build().unwrap();
    let last = ops::neg(&mut graph, neg).build().unwrap();
    let mut patch = graph.patch();
    patch.set_inputs(neg.node, vec![triple]);
    let last = patch.apply().unwrap().output(last).unwrap();
    assert_eq!(graph.shape(last).to_string(), "[3]");
    // What no longer fits, further on, takes all of it back.
    let sum = ops::add_v2(&mut graph, last, triple).build().unwrap();
    let before = text(&graph);
    let mut patch = graph.patch();
    patch.set_inputs(neg.node, vec![pair]);
    let error = patch.apply().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert_eq!((text(&graph), graph.shape(sum).to_string()), (before, "[3]".to_owned()));
}

#[test]
fn what_is_dropped_has_no_effect() {
    let mut graph = lines(SUMS);
    let a = output(&graph, "a");
    let mut patch = graph.patch();
    let new = ops::abs(&mut patch, a).name("new").build().unwrap();
    assert_eq!(patch.find("new"), Some(new.node), "the patch is read as the graph that it will be");
    patch.replace_uses(a, new).remove(a.node);
    drop(patch);
    assert_eq!(text(&graph), text(&lines(SUMS)));
    assert!(graph.patch().is_empty());
    ops::abs(&mut graph, a).name("new").build().unwrap();
}

#[test]
fn what_does_not_fit_is_refused() {
    let two = "x = Placeholder()
        n = Placeholder() int32
        a = Neg(x)
        b = Neg(a)";
    let words = ["`n`, which is int32", "`a`, which is float"];
    refuses(two, Code::InvalidArgument, &words, |patch| {
        let (a, n) = (output(patch, "a"), output(patch, "n"));
        patch.replace_uses(a, n);
    });
    refuses(two, Code::InvalidArgument, &["`n`", "int32"], |patch| {
        let (b, n) = (id(patch, "b"), output(patch, "n"));
        patch.set_inputs(b, vec![n]);
    });
    refuses(two, Code::InvalidArgument, &["output 1 of `a` (op Neg) does not exist"], |patch| {
        let a = output(patch, "a");
        patch.replace_uses(Output { index: 1, ..a }, a);
    });
}

#[test]
fn shapes_that_contradict_each_other_are_refused() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let pair = ops::placeholder(&mut graph, DataType::Float).shape(sized(2)).name("pair").build().unwrap();
    let user = ops::neg(&mut graph, pair).build().unwrap();
    let mut patch = graph.patch();
    let triple = ops::placeholder(&mut patch, DataType::Float).shape(sized(3)).name("triple").build().unwrap();
    patch.replace_uses(pair, triple);
    let error = patch.apply().unwrap_err();
    assert!(error.message().contains("`triple` of shape [3] cannot replace `pair` of shape [2]"), "{error}");
    assert_eq!(graph.node(user.node).inputs, [pair]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    refuses(SUMS, Code::InvalidArgument, &["`a` are replaced twice"], |patch| {
        let (x, a, b) = (output(patch, "x"), output(patch, "a"), output(patch, "b"));
        patch.replace_uses(a, x).replace_uses(a, b);
    });
    refuses(SUMS, Code::InvalidArgument, &["`b` are redirected twice"], |patch| {
        let (x, a, b) = (id(patch, "x"), id(patch, "a"), id(patch, "b"));
        patch.redirect_controls(b, &[x]).redirect_controls(b, &[a]);
    });
    refuses(SUMS, Code::InvalidArgument, &["replaced in a circle"], |patch| {
        let (a, b) = (output(patch, "a"), output(patch, "b"));
        patch.replace_uses(a, b).replace_uses(b, a);
    });
    refuses(SUMS, Code::InvalidArgument, &["in a circle"], |patch| {
        let (a, b) = (id(patch, "a"), id(patch, "b"));
        patch.redirect_controls(a, &[b]).redirect_controls(b, &[a]);
    });
    refuses(SUMS, Code::InvalidArgument, &["`new` is no node of the graph"], |patch| {
        let a = output(patch, "a");
        let new = ops::abs(patch, a).name("new").build().unwrap();
        patch.replace_uses(new, a);
    });
}

#[test]
fn cycles_are_refused_with_their_nodes() {
    refuses(SUMS, Code::InvalidArgument, &["cycle", "`a`", "`b`", "needs"], |patch| {
        let (a, b) = (id(patch, "a"), output(patch, "b"));
        patch.set_inputs(a, vec![b]);
    });
    refuses(SUMS, Code::InvalidArgument, &["cycle", "`last`"], |patch| {
        let (a, last) = (id(patch, "a"), id(patch, "last"));
        patch.set_control_inputs(a, vec![last]);
    });
}

#[test]
fn what_is_used_fed_or_fetched_is_not_removed() {
    refuses(SUMS, Code::FailedPrecondition, &["`sum` uses or waits for `b`"], |patch| {
        let b = id(patch, "b");
        patch.remove(b);
    });
    refuses(SUMS, Code::FailedPrecondition, &["`new` uses or waits for `last`"], |patch| {
        let last = output(patch, "last");
        ops::abs(patch, last).name("new").build().unwrap();
        patch.remove(last.node);
    });
    refuses(SUMS, Code::FailedPrecondition, &["`last`", "fetched"], |patch| {
        let last = output(patch, "last");
        patch.keep_fetch(last).remove(last.node);
    });
    refuses(SUMS, Code::FailedPrecondition, &["`a` is fed"], |patch| {
        let (x, a) = (output(patch, "x"), output(patch, "a"));
        patch.keep_feed(a).replace_uses(a, x);
    });
}

const LOOP: &str = "n = Placeholder()
    two = Const() 2
    enter = Enter(n) while
    limit = Enter(two) while constant
    m = Merge(enter, next)
    more = Less(m, limit)
    cond = LoopCond(more)
    s = Switch(m, cond)
    body = AddV2(s:1, s:1)
    next = NextIteration(body)
    exit = Exit(s)";

#[test]
fn loops_stay_loops() {
    let mut graph = lines(LOOP);
    let body = output(&graph, "body");
    let mut patch = graph.patch();
    let new = ops::abs(&mut patch, body).name("new").build().unwrap();
    patch.replace_uses(body, new);
    patch.apply().unwrap();
    let session = Session::new(graph).unwrap();
    let exit = session.run(&[("n", scalar(0.5))], &["exit"], &[]).unwrap();
    assert_eq!(exit[0].to_scalar::<f32>().unwrap(), 2.0);
}

#[test]
fn values_do_not_leave_loops_but_by_an_exit() {
    refuses(LOOP, Code::InvalidArgument, &["different frames", "`body`", "`n`"], |patch| {
        let (body, n, s) = (id(patch, "body"), output(patch, "n"), output(patch, "s"));
        patch.set_inputs(body, vec![Output { index: 1, ..s }, n]);
    });
    refuses(LOOP, Code::InvalidArgument, &["different frames", "`new`"], |patch| {
        let (body, exit) = (output(patch, "body"), output(patch, "exit"));
        ops::add_v2(patch, body, exit).name("new").build().unwrap();
    });
}

#[test]
fn what_is_behind_an_edit_stays_in_a_loop_too() {
    let words = ["`exit`", "leave an iteration of a loop without being in one"];
    refuses(LOOP, Code::InvalidArgument, &words, |patch| {
        let (exit, n) = (id(patch, "exit"), output(patch, "n"));
        patch.set_inputs(exit, vec![n]);
    });
    refuses(LOOP, Code::InvalidArgument, &["different frames", "`more`"], |patch| {
        let (enter, n) = (output(patch, "enter"), output(patch, "n"));
        patch.replace_uses(enter, n);
    });
    // What is at fault without the patch is let be.
    let mut graph = lines(&format!("{LOOP}\nodd = AddV2(body, n)\nlast = Neg(odd)"));
    let (last, n) = (id(&graph, "last"), output(&graph, "n"));
    let mut patch = graph.patch();
    patch.set_inputs(last, vec![n]);
    patch.apply().unwrap();
}

#[test]
fn nodes_are_added_beside_a_node_of_the_graph() {
    let mut graph = lines(SUMS);
    let (x, other) = (output(&graph, "x"), lines(LOOP));
    let mut patch = graph.patch();
    patch.beside(other.ids().last().unwrap());
    let error = ops::neg(&mut patch, x).build().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("the node to add another one beside: this node belongs to another"), "{error}");
}

#[test]
fn a_graph_is_not_edited_while_a_closure_adds_to_it() {
    let mut graph = lines(SUMS);
    let before = text(&graph);
    let built = kernlink::graph::FunctionBuilder::new("F", [DataType::Float]).build(&mut graph, |g, [x]| {
        let y = ops::neg(g, x).build()?;
        let mut patch = g.patch();
        let z = ops::abs(&mut patch, y).build()?;
        patch.replace_uses(y, z);
        patch.apply().map(|_| y)
    });
    let error = built.unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(error.message().contains("edit the graph after that is built"), "{error}");
    assert_eq!(text(&graph), before);
}

#[test]
fn only_an_added_node_takes_the_name_of_another() {
    refuses(SUMS, Code::InvalidArgument, &["`a` cannot take the name of `b`", "replace_uses"], |patch| {
        let (a, b) = (id(patch, "a"), id(patch, "b"));
        patch.replace_node(b, a);
    });
}

#[test]
fn ids_of_a_body_name_no_node_of_the_graph() {
    let mut graph = lines(SUMS);
    let mut leaked = None;
    kernlink::graph::FunctionBuilder::new("F", [DataType::Float])
        .build(&mut graph, |_, [x]| {
            leaked = Some(x.node);
            Ok(x)
        })
        .unwrap();
    let sum = id(&graph, "sum");
    // A node of the graph stands where the argument stood.
    let x = output(&graph, "x");
    ops::neg(&mut graph, x).name("there").build().unwrap();
    let mut patch = graph.patch();
    patch.set_control_inputs(sum, vec![leaked.unwrap()]);
    assert_eq!(patch.apply().unwrap_err().code(), Code::InvalidArgument);
    let mut patch = graph.patch();
    patch.remove(leaked.unwrap());
    assert_eq!(patch.apply().unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn control_edges_are_redirected_over_many_paths() {
    const LAYERS: usize = 40;
    let mut text = String::from("x = Placeholder()\n");
    for layer in 0..LAYERS {
        text += &format!("a{layer} = Neg(x)\nb{layer} = Neg(x)\n");
    }
    let last = LAYERS - 1;
    text += &format!("y = Neg(x, ^a{last})");
    let mut graph = lines(&text);
    let pairs: Vec<[NodeId; 2]> =
        (0..LAYERS).map(|layer| ["a", "b"].map(|name| id(&graph, &format!("{name}{layer}")))).collect();
    let mut patch = graph.patch();
    for pair in pairs.windows(2) {
        pair[1].iter().for_each(|&node| _ = patch.redirect_controls(node, &pair[0]));
    }
    patch.apply().unwrap();
    let y = graph.node(id(&graph, "y"));
    assert_eq!(y.control_inputs, [id(&graph, "a0"), id(&graph, "b0")]);
}

#[test]
fn nodes_that_are_brought_forward_keep_their_order() {
    let mut graph = lines(
        "x = Placeholder()
         first = Neg(x)
         other = Abs(x)
         a = Neg(x)
         b = Neg(x)",
    );
    let (first, a, b) = (id(&graph, "first"), output(&graph, "a"), output(&graph, "b"));
    let mut patch = graph.patch();
    let sum = ops::add_v2(&mut patch, b, a).name("sum").build().unwrap();
    patch.set_inputs(first, vec![sum]);
    patch.apply().unwrap();
    reads(
        &graph,
        "x = Placeholder()
         a = Neg(x)
         b = Neg(x)
         sum = AddV2(b, a)
         first = Neg(sum)
         other = Abs(x)",
    );
}
