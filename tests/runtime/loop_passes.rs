//! What leaves loops of TensorFlow 1: what is the same in all iterations is computed once.

use kernlink::optimize::{Ends, Optimizer};
use kernlink::prelude::*;

use crate::control_flow::lines::scalar;
use crate::passes::{by_on, same_on, standard};
use crate::patches::{reads, text};

/// What the pass makes of a graph.
fn hoisted(graph: &str, feeds: &[&str], fetches: &[&str]) -> Graph {
    by_on("hoist-invariants", standard(graph), feeds, fetches, true)
}

/// A loop for as long as `m` is below `limit`, with a body that adds `step`.
fn adding(limit: f32, body: &str) -> String {
    format!(
        "x = Placeholder()
         w = Placeholder()
         enter = Enter(x) while
         k = Enter(w) while constant
         m = Merge(enter, next)
         limit = Const(^m) {limit}
         more = Less(m, limit)
         cond = LoopCond(more)
         side = Switch(m, cond)
         pivot = Identity(side:1)
         {body}
         sum = AddV2(pivot, step)
         next = NextIteration(sum)
         exit = Exit(side)"
    )
}

/// Checks that a loop gives the same with and without passes, whether it runs or not.
fn same_for_all(graph: &str, fetches: &[&str]) {
    for x in [0.0, 100.0] {
        same_on(&standard(graph), &[("x", scalar(x)), ("w", scalar(4.5))], fetches);
    }
}

const SCALED: &str = "two = Const(^pivot) 2
    scaled = Mul(k, two)
    step = Sqrt(scaled)";

#[test]
fn what_is_the_same_in_all_iterations_is_computed_outside() {
    let graph = adding(50.0, SCALED);
    reads(
        &hoisted(&graph, &["x", "w"], &["exit"]),
        "x = Placeholder()
         w = Placeholder()
         enter = Enter(x)
         m = Merge(enter, next)
         limit = Const(^m)
         more = Less(m, limit)
         cond = LoopCond(more)
         side = Switch(m, cond)
         pivot = Identity(side:1)
         exit = Exit(side)
         Const = Const()
         scaled = Mul(w, Const)
         step = Sqrt(scaled)
         Enter_1 = Enter(step)
         sum = AddV2(pivot, Enter_1)
         next = NextIteration(sum)",
    );
    same_for_all(&graph, &["exit"]);
    // What is written has the loop's name and says that the value is constant there.
    let after = hoisted(&graph, &["x", "w"], &["exit"]);
    let enter = &after.node(after.find("Enter_1").unwrap()).attrs;
    assert!(enter.required::<bool>("is_constant").unwrap());
    assert_eq!(enter.required::<String>("frame_name").unwrap(), "while");
    same_on(&after, &[("x", scalar(1.0)), ("w", scalar(4.5))], &["exit"]);
}

#[test]
fn what_is_made_of_constants_that_enter_a_loop_is_a_constant() {
    let graph = adding(50.0, SCALED).replace("w = Placeholder()", "w = Const() 8");
    let after = by_on("fold-constants", standard(&graph), &["x"], &["exit"], true);
    assert!(text(&after).contains("step = Const(^k, ^pivot)\n"), "{}", text(&after));
    let value = after.constant(after.output("step").unwrap()).unwrap().to_scalar::<f32>().unwrap();
    assert_eq!(value, 4.0);
    for x in [0.0, 100.0] {
        same_on(&standard(&graph), &[("x", scalar(x))], &["exit"]);
        same_on(&after, &[("x", scalar(x))], &["exit"]);
        // What is fed is not the constant.
        same_on(&standard(&graph), &[("x", scalar(x)), ("w", scalar(2.0))], &["exit"]);
    }
    let (mut graph, ends) = (standard(&graph), |graph: &Graph| {
        Ends::new(vec![graph.output("x").unwrap()], vec![graph.output("exit").unwrap()], Vec::new())
    });
    let mut whole = ends(&graph);
    Optimizer::default().in_session(&mut graph, &mut whole).unwrap();
    // Who takes it is in the body by what else it takes.
    assert!(text(&graph).contains("step = Const()\n"), "{}", text(&graph));
}

#[test]
fn who_takes_what_is_outside_waits_for_what_it_would_have_waited_for() {
    // The remainder may fail and stays; it is dead in the last iteration, as what it takes was.
    let body = "two = Const(^pivot) 1.5
        scaled = Mul(k, two)
        step = FloorMod(scaled, k)";
    let after = hoisted(&adding(50.0, body), &["x", "w"], &["exit"]);
    assert!(text(&after).contains("step = FloorMod(Enter, k, ^pivot)\n"), "{}", text(&after));
    same_for_all(&adding(50.0, body), &["exit"]);
    same_for_all(&adding(50.0, body), &["step"]);
}

#[test]
fn what_could_fail_without_the_loop_stays() {
    // Scalars cannot be multiplied as matrices.
    let body = "product = MatMul(k, k, ^pivot)
        step = Neg(product)";
    let graph = adding(50.0, body);
    assert!(text(&hoisted(&graph, &["x", "w"], &["exit"])).contains("step = Neg(product)\n"));
    assert!(text(&hoisted(&graph, &["x", "w"], &["exit"])).contains("product = MatMul(k, k, ^pivot)\n"));
    same_for_all(&graph, &["exit"]);
    // Shapes that are not known may not go together.
    let sum = graph.replace("MatMul(k, k, ^pivot)", "AddV2(k, other, ^pivot)").replace(
        "k = Enter(w)",
        "v = Placeholder()
         other = Enter(v) while constant
         k = Enter(w)",
    );
    let after = hoisted(&sum, &["x", "w", "v"], &["exit"]);
    assert!(text(&after).contains("product = AddV2(k, other, ^pivot)\n"), "{}", text(&after));
    let values = |w: &[f32], v: &[f32]| [("w", Tensor::vector(w).unwrap()), ("v", Tensor::vector(v).unwrap())];
    for (x, [w, v]) in [(0.0, values(&[1.0], &[2.0])), (100.0, values(&[1.0; 2], &[2.0; 3]))] {
        same_on(&standard(&sum), &[("x", scalar(x)), w, v], &["exit"]);
    }
}

/// A loop whose condition adds to the greatest of the products of a matrix with itself, which has a certain shape if what is fed
/// has the shape that is declared.
fn squared(matrix: &[usize; 2]) -> Graph {
    let mut graph = Graph::new(crate::random_graphs::registry());
    let g = &mut graph;
    let x = ops::placeholder(g, DataType::Float).name("x").build().unwrap();
    let w = ops::placeholder(g, DataType::Float).shape(*matrix).name("w").build().unwrap();
    let one = ops::constant(g, 1.0f32).unwrap();
    let cond = |g: &mut Graph, [i]: [Output; 1]| {
        let products = ops::mat_mul(g, w, w).transpose_a(true).name("products").build()?;
        let most = ops::max(g, products, [0, 1]).build()?;
        ops::less(g, i, most).build()
    };
    let body = |g: &mut Graph, [i]: [Output; 1]| Ok([ops::add_v2(g, i, one).build()?]);
    let [i] = ops::v1::while_loop(g, [x], cond, body).build().unwrap();
    ops::identity(g, i).name("y").build().unwrap();
    graph
}

#[test]
fn what_fails_in_the_first_iteration_in_any_case_fails_outside() {
    let graph = squared(&[3, 2]);
    let after = by_on("hoist-invariants", graph.clone(), &["x", "w"], &["y"], true);
    assert!(text(&after).contains("= MatMul(w, w)\n"), "{}", text(&after));
    let matrix = |shape: &[usize]| Tensor::vector(&[2.0f32; 6]).unwrap().reshaped(shape.to_vec()).unwrap();
    for (x, shape) in [(-9.0, &[3, 2][..]), (100.0, &[3, 2]), (0.0, &[6]), (0.0, &[1, 6])] {
        same_on(&graph, &[("x", scalar(x)), ("w", matrix(shape))], &["y"]);
    }
    // An error has the node's name.
    let session = Session::new(graph).unwrap();
    let error = session.run(&[("x", scalar(0.0)), ("w", matrix(&[6]))], &["y"], &[]).unwrap_err();
    assert!(error.node().is_some_and(|node| node.node.ends_with("products")), "{error}");
}

#[test]
fn what_is_in_two_loops_leaves_both() {
    let graph = "x = Placeholder()
        w = Placeholder()
        enter = Enter(x) outer
        k = Enter(w) outer constant
        m = Merge(enter, next)
        limit = Const(^m) 90
        more = Less(m, limit)
        cond = LoopCond(more)
        side = Switch(m, cond)
        pivot = Identity(side:1)
        inner_enter = Enter(pivot) inner
        inner_k = Enter(k) inner constant
        inner_m = Merge(inner_enter, inner_next)
        inner_limit = Const(^inner_m) 40
        inner_more = Less(inner_m, inner_limit)
        inner_cond = LoopCond(inner_more)
        inner_side = Switch(inner_m, inner_cond)
        inner_pivot = Identity(inner_side:1)
        two = Const(^inner_pivot) 2
        half = Mul(inner_k, two)
        inner_sum = AddV2(inner_pivot, half)
        inner_next = NextIteration(inner_sum)
        inner_exit = Exit(inner_side)
        ten = Const(^pivot) 10
        sum = AddV2(inner_exit, ten)
        next = NextIteration(sum)
        exit = Exit(side)";
    let once = hoisted(graph, &["x", "w"], &["exit"]);
    assert!(text(&once).contains("half = Mul(k, "), "{}", text(&once));
    let after = by_on("hoist-invariants", once, &["x", "w"], &["exit"], true);
    assert!(text(&after).contains("half = Mul(w, "), "{}", text(&after));
    let enters = after.nodes().iter().filter(|node| &*node.op.def.name == "Enter").count();
    assert_eq!(enters, 4, "each loop has its variable and the product: {}", text(&after));
    same_for_all(graph, &["exit"]);
    for x in [0.0, 45.0, 100.0] {
        same_on(&after, &[("x", scalar(x)), ("w", scalar(3.0))], &["exit"]);
    }
    // What the inner loop is given leaves the outer one itself, first.
    let graph = &graph.replace("inner_k = Enter(k)", "kk = Abs(k)\n inner_k = Enter(kk)");
    let once = hoisted(graph, &["x", "w"], &["exit"]);
    assert!(text(&once).contains("kk = Abs(w)") && text(&once).contains("half = Mul(inner_k, "), "{}", text(&once));
    same_for_all(graph, &["exit"]);
    same_on(&once, &[("x", scalar(1.0)), ("w", scalar(3.0))], &["exit"]);
}

/// What a loop leaves in its variable, which `init` sets, with passes and without.
fn looks(graph: &str) -> f32 {
    let without = SessionOptions::new().without_pass("hoist-invariants");
    let counts = [SessionOptions::new(), without].map(|options| {
        let session = Session::with_options(standard(graph), &options).unwrap();
        session.run(&[], &[], &["init"]).unwrap();
        session.run(&[("x", scalar(-10.0)), ("w", scalar(-50.0))], &["exit"], &[]).unwrap();
        session.run(&[], &["read"], &[]).unwrap()[0].to_scalar::<f32>().unwrap()
    });
    assert_eq!(counts[0], counts[1]);
    counts[0]
}

#[test]
fn what_has_effects_is_waited_for_where_it_was() {
    // Each look at the condition adds to a variable, for which the bound waits alone.
    let body = "ten = Const(^pivot) 10\n step = Identity(ten)";
    let graph = adding(50.0, body).replace(
        "more = Less(m, limit)",
        "h = VarHandleOp() set
         eh = Enter(h) while constant resource
         d = Const(^m) 1
         set = AssignAddVariableOp(eh, d)
         bound = Neg(k, ^set)
         more = Less(m, bound)",
    );
    let graph = format!("{graph}\nzero = Const() 0\ninit = AssignVariableOp(h, zero)\nread = ReadVariableOp(h)");
    // From -10 in steps of 10 to 50.
    assert_eq!(looks(&graph), 7.0);
    let after = text(&hoisted(&graph, &["x", "w"], &["exit"]));
    let more = after.lines().find(|line| line.starts_with("more = "));
    assert!(after.contains("bound = Neg(w)\n") && more.is_some_and(|more| more.ends_with(", ^set)")), "{after}");
    // What can fail does not do so before what it waits for.
    let graph = graph.replace("Neg(k, ^set)", "FloorMod(k, k, ^set)");
    assert_eq!(looks(&graph), 2.0);
    let after = text(&hoisted(&graph, &["x", "w"], &["exit"]));
    assert!(after.contains("bound = FloorMod(k, k, ^set)\n"), "{after}");
}

/// That the pass leaves a loop alone.
#[track_caller]
fn stays(graph: &str, feeds: &[&str]) {
    let graph = standard(graph);
    let before = text(&graph);
    let after = by_on("hoist-invariants", graph, feeds, &["exit"], false);
    assert_eq!(text(&after), before);
}

#[test]
fn what_is_not_the_same_in_all_iterations_stays() {
    let graph = adding(50.0, SCALED);
    assert_ne!(text(&hoisted(&graph, &["x", "w"], &["exit"])), text(&standard(&graph)));
    // A value of the first iteration only.
    stays(
        &graph
            .replace("while constant", "while")
            .replace("Mul(k, two)", "Mul(m, two)")
            .replace("k = Enter(w) while\n", "")
            .replace("w = Placeholder()\n", ""),
        &["x"],
    );
    // What is fed where it is taken, or in the middle.
    stays(&graph, &["x", "w", "k"]);
    stays(
        &graph
            .replace("scaled = Mul(k, two)\n", "scaled = Mul(k, two)\nlast = Neg(scaled)\n")
            .replace("Sqrt(scaled)", "Sqrt(last)"),
        &["x", "w", "k"],
    );
    // Another one waits for it.
    stays(&graph.replace("step = Sqrt(scaled)", "step = Identity(pivot, ^scaled)"), &["x", "w"]);
    // It is merged with what is alive where it is dead.
    stays(&graph.replace("step = Sqrt(scaled)", "alive = Neg(side)\nstep = Merge(scaled, alive)"), &["x", "w"]);
}

#[test]
fn results_that_would_take_much_memory_stay() {
    let is_outside = |columns: usize| {
        let after = by_on("hoist-invariants", squared(&[1, columns]), &["x", "w"], &["y"], true);
        text(&after).contains("= MatMul(w, w)\n")
    };
    assert!(is_outside(1 << 10), "4 MiB");
    assert!(!is_outside(1 << 11), "16 MiB");
}
