//! Outside of loops: what waits, Switches, Merges, control edges.

use super::*;

#[test]
fn a_node_runs_when_all_its_edges_are_served_and_once() {
    let nodes = [
        Node("a", Kernel(1), &[]),
        Node("b", Kernel(1), &[]),
        Node("c", Kernel(1), &[]),
        Node("y", Kernel(1), &["a", "b", "a", "^c"]),
    ];
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
        let mut bench =
            Bench::new(nodes.iter().map(|Node(name, does, inputs)| Node(name, *does, inputs)).collect(), "y");
        for name in order {
            assert!(!bench.ready().contains(&"y".to_owned()), "before {name} of {order:?}");
            bench.run(name);
        }
        assert_eq!(bench.ready(), ["y"]);
        bench.run("y");
        assert_eq!((bench.fetched(), bench.ready()), (Some(4), vec![]));
    }
}

/// A Switch of `x`, by a kernel of the name.
pub(super) fn switch(choice: &'static str) -> Vec<Node> {
    vec![
        Node("x", Kernel(1), &[]),
        Node(choice, Kernel(1), &[]),
        Node("switch", Switch, if choice == "true" { &["x", "true"] } else { &["x", "false"] }),
    ]
}

#[test]
fn a_switch_hands_on_by_one_output_and_the_other_is_dead() {
    for is_immediate in [true, false] {
        for (choice, alive, dead) in [("true", "on", "off dead"), ("false", "off", "on dead")] {
            let mut nodes = switch(choice);
            nodes.extend([Node("off", Kernel(1), &["switch:0"]), Node("on", Kernel(1), &["switch:1"])]);
            let ran = Bench::with(nodes, "on", is_immediate, false).run_all();
            assert_eq!((Bench::count(&ran, alive), Bench::count(&ran, dead)), (1, 1), "{ran:?}");
            assert_eq!(ran.len(), 4, "{ran:?}");
        }
    }
}

#[test]
fn a_switch_by_index_hands_on_by_the_last_output_what_is_out_of_range() {
    // `index` is 1, `far` is 4.
    let index = [Node("index", Kernel(1), &[])];
    let far = [
        Node("0", Kernel(1), &[]),
        Node("1", Kernel(1), &["0"]),
        Node("2", Kernel(1), &["1"]),
        Node("far", Kernel(1), &["2"]),
    ];
    let by = |name: &'static [&'static str], before: Vec<Node>| {
        let mut nodes = vec![Node("x", Kernel(1), &[])];
        nodes.extend(before);
        nodes.push(Node("switch", SwitchN(3), name));
        nodes.extend([
            Node("zeroth", Kernel(1), &["switch:0"]),
            Node("first", Kernel(1), &["switch:1"]),
            Node("second", Kernel(1), &["switch:2"]),
        ]);
        let ran = Bench::new(nodes, "second").run_all();
        ["zeroth", "first", "second"].map(|name| Bench::count(&ran, name) == 1)
    };
    assert_eq!(by(&["x", "index"], index.into()), [false, true, false]);
    assert_eq!(by(&["x", "far"], far.into()), [false, false, true]);
}

#[test]
fn a_switch_by_no_scalar_says_so_in_its_turn_and_hands_nothing_on() {
    let nodes = vec![
        Node("x", Kernel(1), &[]),
        Node("vector", Kernel(1), &[]),
        Node("switch", Switch, &["x", "vector"]),
        Node("on", Kernel(1), &["switch:1"]),
    ];
    let mut bench = Bench::new(nodes, "on");
    bench.run("x");
    bench.run("vector");
    assert_eq!(bench.ready(), ["switch"]);
    let tagged = bench.state.next().unwrap();
    let error = bench.step(tagged).unwrap_err();
    assert!(error.message().contains("should be a scalar"), "{error}");
    assert!(bench.ready().is_empty());
}

#[test]
fn what_waits_for_something_dead_is_dead_once_all_is_served() {
    let mut nodes = switch("false");
    nodes.extend([
        Node("z", Kernel(1), &[]),
        Node("both", Kernel(2), &["switch:1", "z"]),
        Node("behind", Kernel(1), &["both:1"]),
        Node("control", Kernel(1), &["z", "^behind"]),
        Node("alive", Kernel(1), &["switch:0"]),
    ]);
    let mut bench = Bench::new(nodes, "alive");
    bench.run("x");
    bench.run("false");
    // The other input is still to come.
    assert_eq!(bench.ready(), ["alive", "z"]);
    bench.run("z");
    assert_eq!(bench.ready(), ["alive", "both dead"]);
    let both = bench.layout.nodes.iter().find(|(index, _)| bench.nodes[index.position()].0 == "both").unwrap().1.inputs;
    assert!(bench.state.slots(TOP)[both].iter().any(Option::is_some));
    assert_eq!(bench.run_all(), ["both dead", "behind dead", "control dead", "alive"]);
    assert!(bench.state.slots(TOP)[both].iter().all(Option::is_none), "what arrived at a dead node is dropped");
}

/// Two Switches, one of which takes each branch, and a Merge of what is behind them.
pub(super) fn merge_of(inputs: &'static [&'static str]) -> Vec<Node> {
    let mut nodes = switch("false");
    nodes.extend([
        Node("z", Kernel(1), &[]),
        Node("live", Kernel(1), &["switch:0"]),
        Node("dead", Kernel(1), &["switch:1"]),
        Node("dead2", Kernel(1), &["switch:1"]),
        Node("merge", Merge, inputs),
        Node("value", Kernel(1), &["merge"]),
        Node("index", Kernel(1), &["merge:1"]),
    ]);
    nodes
}

#[test]
fn a_merge_hands_on_the_first_live_input_and_drops_the_others() {
    for is_immediate in [true, false] {
        // Of `live` (2) and `z` (1) the first to run counts.
        for (first, second, expected) in [("live", "z", 3), ("z", "live", 2)] {
            let mut bench = Bench::with(merge_of(&["dead", "live", "z"]), "value", is_immediate, false);
            bench.run("x");
            bench.run("false");
            if !is_immediate {
                bench.run("switch");
            }
            bench.run("dead dead");
            assert!(!bench.ready().iter().any(|name| name.starts_with("value")), "one dead input is not all");
            bench.run(first);
            if !is_immediate {
                bench.run("merge");
            }
            let index = bench.run_all();
            assert_eq!(Bench::count(&index, "value") + Bench::count(&index, "value dead"), 1, "{index:?}");
            assert!(index.contains(&second.to_owned()));
            assert_eq!(bench.fetched(), Some(expected));
        }
    }
}

#[test]
fn a_merge_says_which_input_it_handed_on() {
    let mut bench = Bench::new(merge_of(&["dead", "dead2", "live"]), "index");
    bench.run_all();
    assert_eq!(bench.fetched(), Some(3), "one more than the position");
}

#[test]
fn a_merge_is_dead_when_all_its_inputs_are() {
    let mut bench = Bench::new(merge_of(&["dead", "dead2"]), "value");
    bench.run("x");
    bench.run("false");
    bench.run("dead dead");
    assert!(!bench.ready().contains(&"merge dead".to_owned()));
    bench.run("dead2 dead");
    let ran = bench.run_all();
    assert_eq!(["merge dead", "value dead", "index dead"].map(|name| Bench::count(&ran, name)), [1; 3], "{ran:?}");
}

#[test]
fn a_merge_waits_for_its_control_edges_whatever_they_are() {
    for (control, is_dead) in [("z", false), ("dead", true)] {
        let inputs: &'static [&'static str] = if is_dead { &["live", "z", "^dead"] } else { &["live", "dead", "^z"] };
        let control = if is_dead { format!("{control} dead") } else { control.to_owned() };
        for control_first in [true, false] {
            let mut bench = Bench::new(merge_of(inputs), "value");
            bench.run("x");
            bench.run("false");
            let order = if control_first { [control.as_str(), "live"] } else { ["live", control.as_str()] };
            bench.run(order[0]);
            assert!(!bench.ready().iter().any(|name| name.starts_with("value")), "{order:?}");
            bench.run(order[1]);
            if !control_first {
                bench.run("merge");
            }
            assert!(bench.ready().contains(&"value".to_owned()), "{order:?}: {:?}", bench.ready());
            let ran = bench.run_all();
            assert_eq!((Bench::count(&ran, "value"), bench.fetched()), (1, Some(3)), "{order:?}");
        }
    }
}

#[test]
fn a_dead_merge_waits_for_its_control_edges_and_is_dead_once() {
    let order = [
        ["dead dead", "dead2 dead", "z", "live"],
        ["z", "dead dead", "live", "dead2 dead"],
        ["live", "z", "dead2 dead", "dead dead"],
    ];
    for order in order {
        let mut bench = Bench::new(merge_of(&["dead", "dead2", "^z", "^live"]), "value");
        bench.run("x");
        bench.run("false");
        for name in order {
            assert!(!bench.ready().iter().any(|name| name.starts_with("merge")), "before {name} of {order:?}");
            bench.run(name);
        }
        assert_eq!(bench.ready(), ["merge dead"], "{order:?}");
        let ran = bench.run_all();
        assert_eq!(Bench::count(&ran, "value dead"), 1, "{order:?}: {ran:?}");
    }
}

#[test]
fn a_control_trigger_runs_whatever_is_dead_and_what_waits_for_it_is_alive() {
    let mut nodes = switch("false");
    nodes.extend([
        Node("dead", Kernel(1), &["switch:1"]),
        Node("dead2", Kernel(1), &["switch:1"]),
        Node("z", Kernel(1), &[]),
        Node("trigger", Trigger, &["^dead", "^z", "^dead2"]),
        Node("after", Kernel(1), &["^trigger"]),
        Node("plain", Forward, &["^dead"]),
        Node("not", Kernel(1), &["^plain"]),
    ]);
    let mut bench = Bench::new(nodes, "after");
    bench.run("x");
    bench.run("false");
    bench.run("dead dead");
    bench.run("z");
    assert!(!bench.ready().contains(&"trigger".to_owned()), "it waits for all");
    bench.run("dead2 dead");
    assert!(bench.ready().contains(&"trigger".to_owned()), "{:?}", bench.ready());
    let ran = bench.run_all();
    assert_eq!(["after", "after dead", "not dead"].map(|name| Bench::count(&ran, name)), [1, 0, 1], "{ran:?}");
}

#[test]
fn only_so_many_nodes_hand_on_at_once() {
    // Each Switch leads to the next: so many calls one within the other would need a stack without bounds.
    const NAMES: [&str; 12] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11"];
    const INPUTS: [&[&str]; 12] = [
        &["x", "true"],
        &["s0:1", "true"],
        &["s1:1", "true"],
        &["s2:1", "true"],
        &["s3:1", "true"],
        &["s4:1", "true"],
        &["s5:1", "true"],
        &["s6:1", "true"],
        &["s7:1", "true"],
        &["s8:1", "true"],
        &["s9:1", "true"],
        &["s10:1", "true"],
    ];
    let mut nodes = vec![Node("x", Kernel(1), &[]), Node("true", Kernel(1), &[])];
    nodes.extend(NAMES.into_iter().zip(INPUTS).map(|(name, inputs)| Node(name, Switch, inputs)));
    let mut bench = Bench::new(nodes, "s11:1");
    bench.run("true");
    bench.run("x");
    assert_eq!(bench.ready(), [NAMES[MAX_IMMEDIATE as usize]]);
    bench.run_all();
    assert_eq!(bench.fetched(), Some(1));
    assert_eq!(bench.state.immediate, 0);
}

#[test]
fn each_that_waits_has_its_turn() {
    let mut bench =
        Bench::new(vec![Node("a", Kernel(1), &[]), Node("b", Kernel(1), &[]), Node("c", Kernel(1), &[])], "c");
    let mut seen = Vec::new();
    for _ in 0..6 {
        bench.state.take_turns();
        seen.push(bench.describe(bench.state.ready.last().unwrap()));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["a", "b", "c"]);
}
