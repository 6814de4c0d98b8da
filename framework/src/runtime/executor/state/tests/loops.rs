//! Loops: their iterations, what enters and leaves them, static ones.

use super::flow::{merge_of, switch};
use super::*;

/// Counts from 1 to 3, with so many iterations at once: the Merge of what enters and of what comes back, a condition, and a
/// body.
fn counting(parallel_iterations: u32) -> Vec<Node> {
    vec![
        Node("x", Kernel(1), &[]),
        Node("enter", Enter("loop", parallel_iterations), &["x"]),
        Node("merge", Merge, &["enter", "next"]),
        Node("below3", Kernel(1), &["merge"]),
        Node("switch", Switch, &["merge", "below3"]),
        Node("add", Kernel(1), &["switch:1"]),
        Node("next", Next, &["add"]),
        Node("exit", Exit, &["switch:0"]),
        Node("after", Kernel(1), &["exit"]),
    ]
}

#[test]
fn a_loop_goes_round_until_its_exit_is_alive() {
    for is_immediate in [true, false] {
        for parallel in [1, 2, 10] {
            let mut bench = Bench::with(counting(parallel), "after", is_immediate, false);
            let ran = bench.run_all();
            let alive: Vec<&str> = ran.iter().map(String::as_str).filter(|name| !name.ends_with("dead")).collect();
            assert_eq!(alive, ["x", "below3#0", "add#0", "below3#1", "add#1", "below3#2", "after"], "{parallel}");
            assert_eq!(Bench::count(&ran, "add#2 dead"), 1, "the body of the last iteration is dead: {ran:?}");
            assert_eq!(Bench::count(&ran, "after dead"), 0, "an Exit that is dead in some iterations is not: {ran:?}");
            assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
        }
    }
}

#[test]
fn a_next_iteration_that_is_dead_begins_nothing() {
    let mut bench = Bench::new(counting(10), "after");
    bench.run_all();
    let frame = bench.layout.frames.handles().nth(1).unwrap();
    assert!(bench.state.free_iterations[frame].len() <= 3, "the fourth iteration never began");
    assert!(bench.is_idle());
}

#[test]
fn a_loop_that_is_dead_as_it_begins_leaves_dead_once() {
    let mut nodes = switch("false");
    nodes.extend(counting(1).into_iter().skip(1).map(|node| match node.0 {
        "enter" => Node("enter", Enter("loop", 1), &["switch_x:1"]),
        _ => node,
    }));
    nodes[2].0 = "switch_x";
    let mut bench = Bench::new(nodes, "after");
    let ran = bench.run_all();
    assert_eq!(["below3#0 dead", "add#0 dead", "after dead"].map(|name| Bench::count(&ran, name)), [1; 3], "{ran:?}");
    assert_eq!((Bench::count(&ran, "after"), bench.fetched(), bench.is_idle()), (0, None, true));
}

#[test]
fn a_constant_enters_every_iteration_and_what_is_none_the_first() {
    let mut nodes = counting(2);
    nodes.extend([
        Node("c", Kernel(1), &[]),
        Node("constant", EnterConstant("loop"), &["c"]),
        Node("all", Kernel(1), &["constant"]),
        Node("d", Kernel(1), &[]),
        Node("once", Enter("loop", 2), &["d"]),
        Node("first", Kernel(1), &["once"]),
    ]);
    let mut bench = Bench::new(nodes, "after");
    let ran = bench.run_all();
    for name in ["all#0", "all#1", "all#2", "first#0"] {
        assert_eq!(Bench::count(&ran, name), 1, "{name}: {ran:?}");
    }
    assert!(!ran.iter().any(|name| name.starts_with("first#1") || name.starts_with("first#2")), "{ran:?}");
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
}

#[test]
fn a_constant_that_is_dead_is_so_in_every_iteration() {
    let mut nodes = switch("false");
    nodes[2].0 = "switch_x";
    nodes.extend(counting(2).into_iter().skip(1));
    nodes.extend([Node("constant", EnterConstant("loop"), &["switch_x:1"]), Node("all", Kernel(1), &["constant"])]);
    let mut bench = Bench::new(nodes, "after");
    let ran = bench.run_all();
    for name in ["all#0 dead", "all#1 dead", "all#2 dead"] {
        assert_eq!(Bench::count(&ran, name), 1, "{name}: {ran:?}");
    }
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
}

#[test]
fn a_late_constant_enters_the_iterations_that_have_begun() {
    let mut nodes = counting(10);
    nodes.extend([
        Node("c", Kernel(1), &[]),
        Node("constant", EnterConstant("loop"), &["c"]),
        Node("all", Kernel(1), &["constant"]),
    ]);
    let mut bench = Bench::new(nodes, "after");
    for name in ["x", "enter", "below3#0", "add#0", "below3#1", "add#1"] {
        bench.run(name);
    }
    assert_eq!(bench.ready(), ["below3#2", "c"]);
    bench.run("c");
    bench.run("constant");
    assert_eq!(bench.ready(), ["all#0", "all#1", "all#2", "below3#2"]);
    bench.run_all();
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
}

/// A loop whose Exit takes what is odd.
fn leaving(parallel_iterations: u32) -> Vec<Node> {
    let mut nodes = counting(parallel_iterations);
    nodes.retain(|node| !matches!(node.0, "exit" | "after"));
    nodes.extend([
        Node("odd", Kernel(1), &["merge"]),
        Node("choose", Switch, &["merge", "odd"]),
        Node("exit", Exit, &["choose:1"]),
        Node("after", Kernel(1), &["exit"]),
    ]);
    nodes
}

#[test]
fn an_exit_that_is_alive_in_two_iterations_is_an_error() {
    // 1 and 3 are odd.
    let mut bench = Bench::new(leaving(1), "after");
    let error = std::iter::from_fn(|| bench.state.next().map(|tagged| bench.step(tagged))).find_map(Result::err);
    let error = error.expect("it leaves twice");
    assert!(error.message().contains("has left its loop"), "{error}");
}

#[test]
fn an_exit_that_was_alive_stays_so() {
    // 1 is odd, and then 2 is not; it ends before 3.
    for parallel in [1, 4] {
        let mut nodes = leaving(parallel);
        // The body leads on as long as it is odd.
        for node in &mut nodes {
            if node.0 == "switch" {
                node.2 = &["merge", "odd"];
            }
        }
        let mut bench = Bench::new(nodes, "after");
        let ran = bench.run_all();
        assert_eq!(["add#0", "add#1 dead", "after", "after dead"].map(|name| Bench::count(&ran, name)), [1, 1, 1, 0]);
        assert_eq!((bench.fetched(), bench.is_idle()), (Some(2), true));
    }
}

#[test]
fn an_exit_that_is_dead_in_the_last_iteration_is_dead_once_the_loop_ends() {
    let mut nodes = counting(1);
    nodes.extend([
        // Below 3 it never leaves, and what is not below leads nowhere.
        Node("never", Kernel(1), &["switch:1"]),
        Node("exit2", Exit, &["never"]),
        Node("after2", Kernel(1), &["exit2"]),
    ]);
    // Alive in the first two iterations: that is an error. Behind a Switch it is dead in all.
    let nodes: Vec<Node> = nodes
        .into_iter()
        .flat_map(|node| match node.0 {
            "exit2" => vec![
                Node("false", Kernel(1), &["never"]),
                Node("choose", Switch, &["never", "false"]),
                Node("exit2", Exit, &["choose:1"]),
            ],
            _ => vec![node],
        })
        .collect();
    let mut bench = Bench::new(nodes, "after");
    let ran = bench.run_all();
    assert_eq!(["after", "after2 dead", "after2"].map(|name| Bench::count(&ran, name)), [1, 1, 0], "{ran:?}");
    let last = ran.iter().position(|name| name == "below3#2");
    assert!(ran.iter().position(|name| name == "after2 dead") > last, "not before the loop has ended: {ran:?}");
    assert!(bench.is_idle());
}

/// Runs all but what begins with a name.
fn run_all_but(bench: &mut Bench, name: &str) {
    while let Some(other) = bench.ready().into_iter().find(|other| !other.starts_with(name)) {
        bench.run(&other);
    }
}

#[test]
fn an_exit_that_was_alive_is_not_dead_as_well_when_the_loop_ends() {
    // What takes it waits for something else, too, and would be dead by a second, dead edge.
    let mut nodes = leaving_once(1);
    nodes.extend([Node("w", Kernel(1), &[]), Node("both", Kernel(1), &["exit", "w"])]);
    let mut bench = Bench::new(nodes, "both");
    run_all_but(&mut bench, "w");
    assert_eq!(bench.ready(), ["w"]);
    assert_eq!((bench.run_all(), bench.fetched()), (vec!["w".to_owned(), "both".to_owned()], Some(3)));
}

#[test]
fn an_exit_that_is_dead_in_many_iterations_is_dead_once() {
    let mut nodes = counting(10);
    nodes.extend([
        Node("false", Kernel(1), &["merge"]),
        Node("choose", Switch, &["merge", "false"]),
        Node("slow", Kernel(1), &["choose:1"]),
        Node("exit2", Exit, &["slow"]),
        Node("w", Kernel(1), &[]),
        Node("both", Kernel(1), &["exit2", "w"]),
    ]);
    let mut bench = Bench::new(nodes, "after");
    // That it is dead in the first iterations is known when the others have begun.
    while let Some(name) = bench.ready().into_iter().find(|name| !name.starts_with("slow") && name != "w") {
        bench.run(&name);
    }
    assert_eq!(bench.ready(), ["slow#0 dead", "slow#1 dead", "slow#2 dead", "w"]);
    run_all_but(&mut bench, "w");
    assert_eq!((bench.ready(), bench.is_idle()), (vec!["w".to_owned()], false));
    assert_eq!(bench.run_all(), ["w", "both dead"]);
    assert!(bench.is_idle());
}

#[test]
fn so_many_iterations_are_under_way_as_the_loop_says() {
    for (parallel, expected) in [(1, 1), (2, 2), (10, 3)] {
        let mut nodes = counting(parallel);
        // Something slow, for which nothing in the loop waits.
        nodes.push(Node("slow", Kernel(1), &["merge"]));
        let mut bench = Bench::new(nodes, "after");
        let mut most = 0;
        while let Some(name) = bench.ready().into_iter().find(|name| !name.starts_with("slow")) {
            bench.run(&name);
            most = most.max(bench.under_way());
        }
        assert_eq!(most, expected, "{parallel} at once");
        let ran = bench.run_all();
        assert_eq!(
            ["slow#0", "slow#1", "slow#2"].map(|name| Bench::count(&ran, name)).iter().sum::<usize>(),
            3.min(ran.len())
        );
        assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
    }
}

#[test]
fn iterations_are_used_again_as_if_they_were_new() {
    let mut nodes = counting(1);
    // Waits for what comes in the first iteration alone: in the others something arrives, and it does not run.
    nodes.extend([
        Node("d", Kernel(1), &[]),
        Node("once", Enter("loop", 1), &["d"]),
        Node("both", Kernel(1), &["once", "merge"]),
    ]);
    let mut bench = Bench::new(nodes, "after");
    let ran = bench.run_all();
    assert_eq!(bench.state.iterations.len(), 2, "the top one, and one that is used three times");
    assert_eq!((Bench::count(&ran, "both#0"), Bench::count(&ran, "both#2")), (1, 0), "{ran:?}");
    let frame = bench.layout.frames.handles().nth(1).unwrap();
    let index = bench.state.new_iteration(&bench.layout, Handle::NONE, frame, 0);
    let again = &bench.state.iterations[index];
    assert!(again.slots.values().iter().all(Option::is_none), "what did not run leaves nothing");
    let begun = bench.layout.frames[frame].counts.values().iter().map(|count| (count.pending, count.dead));
    assert!(again.counts.values().iter().map(|count| (count.pending, count.dead)).eq(begun));
}

/// A loop in the body of another, which counts to 3 from where that one is.
fn nested() -> Vec<Node> {
    vec![
        Node("x", Kernel(1), &[]),
        Node("enter", Enter("outer", 1), &["x"]),
        Node("merge", Merge, &["enter", "next"]),
        Node("below3", Kernel(1), &["merge"]),
        Node("switch", Switch, &["merge", "below3"]),
        Node("inner_enter", Enter("inner", 1), &["switch:1"]),
        Node("inner_merge", Merge, &["inner_enter", "inner_next"]),
        Node("below3_inner", Kernel(1), &["inner_merge"]),
        Node("inner_switch", Switch, &["inner_merge", "below3_inner"]),
        Node("inner_add", Kernel(1), &["inner_switch:1"]),
        Node("inner_next", Next, &["inner_add"]),
        Node("inner_exit", Exit, &["inner_switch:0"]),
        Node("add", Kernel(1), &["switch:1", "^inner_exit"]),
        Node("next", Next, &["add"]),
        Node("exit", Exit, &["switch:0"]),
        Node("after", Kernel(1), &["exit"]),
    ]
}

#[test]
fn a_loop_in_a_loop_begins_anew_in_each_iteration_and_keeps_it_from_ending() {
    let mut bench = Bench::new(nested(), "after");
    for name in ["x", "enter", "below3#0", "inner_enter#0"] {
        bench.run(name);
    }
    assert_eq!((bench.ready(), bench.under_way()), (vec!["below3_inner#0".to_owned()], 2));
    let tagged = *bench.state.ready.last().unwrap();
    let first = bench.state.position(tagged.iteration);
    assert_eq!(bench.state.position(TOP), Position { frame: 0, iteration: 0 });
    let mut frames = vec![first.frame];
    while let Some(tagged) = bench.state.next() {
        if bench.nodes[tagged.node.position()].0 == "below3_inner" && !tagged.is_dead {
            frames.push(bench.state.position(tagged.iteration).frame);
        }
        bench.step(tagged).unwrap();
    }
    // From 1 it takes three iterations, from 2 two.
    frames.remove(0);
    assert_eq!(frames.len(), 5);
    assert!(frames[0] == frames[2] && frames[3] == frames[4] && frames[2] != frames[3], "{frames:?}");
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
}

#[test]
fn a_loop_in_what_is_dead_ends_dead() {
    let mut bench = Bench::new(nested(), "after");
    let ran = bench.run_all();
    // In the last iteration of the outer loop the inner one is dead, and the body that waits for it.
    for name in ["inner_enter#2 dead", "add#2 dead"] {
        assert_eq!(Bench::count(&ran, name), 1, "{name}: {ran:?}");
    }
    assert!(bench.is_idle());
}

// ---- runs, one after another ----

#[test]
fn a_state_that_is_reset_runs_again_like_a_new_one() {
    for nodes in [counting, leaving_once, |_| nested(), |_| merge_of(&["dead", "live", "^z"])] {
        let mut bench =
            Bench::new(nodes(2), if nodes(2).iter().any(|node| node.0 == "after") { "after" } else { "value" });
        let first = bench.run_all();
        let value = bench.fetched();
        for _ in 0..2 {
            bench.state.reset(&bench.layout);
            bench.begin();
            assert_eq!(bench.run_all(), first);
            assert_eq!(bench.fetched(), value);
        }
    }
}

/// [`leaving`] that leaves once.
fn leaving_once(parallel_iterations: u32) -> Vec<Node> {
    let mut nodes = leaving(parallel_iterations);
    nodes.iter_mut().filter(|node| node.0 == "switch").for_each(|node| node.2 = &["merge", "odd"]);
    nodes
}

#[test]
fn a_loop_that_did_not_end_is_gone_after_a_reset() {
    let mut nodes = counting(1);
    // What leads into it is never begun: the loop waits for it.
    nodes.extend([Node("never", Kernel(1), &["after"]), Node("late", Enter("loop", 1), &["never"])]);
    let mut bench = Bench::new(nodes, "exit");
    let first = bench.run_all();
    bench.state.loops[Handle::FIRST].as_mut().unwrap_or_else(|| panic!("{first:?}"));
    assert!(!bench.is_idle());
    bench.state.reset(&bench.layout);
    assert!(bench.is_idle());
    assert_eq!(bench.state.iterations.len(), 1);
    bench.begin();
    assert_eq!(bench.run_all(), first);
}

// ---- static loops ----

#[test]
fn a_static_loop_begins_its_second_iteration_when_all_has_entered() {
    let mut bench = Bench::with(counting(10), "after", true, true);
    assert!(bench.layout.frames[bench.layout.frames.handles().nth(1).unwrap()].static_loop.is_some());
    for name in ["x", "enter", "below3#0", "add#0"] {
        bench.run(name);
    }
    // One of the loop's Merges stands for all of the iteration.
    assert_eq!(bench.ready(), ["merge#1"]);
    let tagged = bench.state.next().unwrap();
    let static_loop = bench.state.static_loop(&bench.layout, tagged.iteration).unwrap();
    let mut lent = bench.state.lend(tagged.iteration);
    let value = lent.slots[static_loop.back[0].slot].take().unwrap();
    assert_eq!(value.to_scalar::<i32>().unwrap(), 2);
    // As if one more iteration had run, and the condition then said to end.
    bench.state.advance(tagged.iteration);
    assert_eq!(bench.state.position(tagged.iteration).iteration, 2);
    lent.slots[static_loop.exits[0].slot] = Some(Tensor::scalar(30i32));
    bench.state.end_static(&bench.layout, static_loop, tagged.iteration, lent);
    bench.state.done(&bench.layout, tagged.iteration);
    bench.run_all();
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(31), true));
}

#[test]
fn a_static_loop_can_count_from_any_iteration_on() {
    let mut bench = Bench::with(counting(10), "after", true, true);
    // See `Bench::step`: the second iteration is static, and counted from there.
    let ran = bench.run_all();
    assert_eq!(["below3#1", "below3#2", "add#2 dead"].map(|name| Bench::count(&ran, name)), [1; 3], "{ran:?}");
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
}

#[test]
fn a_static_loop_that_cannot_go_on_without_its_iterations_is_deferred() {
    // What enters last waits for the second iteration.
    let mut nodes = counting(10);
    nodes.extend([
        Node("c", Kernel(1), &[]),
        Node("constant", EnterConstant("loop"), &["c"]),
        Node("all", Kernel(1), &["constant"]),
    ]);
    let mut bench = Bench::with(nodes, "after", true, true);
    for name in ["x", "enter", "below3#0", "add#0"] {
        bench.run(name);
    }
    assert_eq!(bench.ready(), ["c"], "the iteration waits for the constant");
    assert_eq!(bench.state.deferred.len(), 1);
    assert!(bench.state.begin_deferred(&bench.layout));
    // Now its Merge runs like any other: what arrives is counted.
    assert_eq!(bench.ready(), ["c", "merge#1"]);
    let merge = bench.state.ready.iter().find(|tagged| bench.describe(tagged) == "merge#1").unwrap().iteration;
    assert!(bench.state.static_loop(&bench.layout, merge).is_none());
    assert!(!bench.state.begin_deferred(&bench.layout), "once");
    bench.run_all();
    assert_eq!((bench.fetched(), bench.is_idle()), (Some(4), true));
}
