//! Every rule of deadness and of loops, on layouts made by hand: no kernels, no threads.

use super::*;
use crate::runtime::plan::lay_out::lay_out;
use crate::runtime::plan::layout::{LoopSpec, NodeSpec, Source};

/// A node of a test: its name, what it does, and where its inputs come from: `a`, `a:1` for another output than the first,
/// and `^a` for a control edge.
struct Node(&'static str, Does, &'static [&'static str]);

/// What a node of a test does.
#[derive(Clone, Copy)]
enum Does {
    /// Runs what [`compute`] says, with so many outputs.
    Kernel(usize),
    Forward,
    Switch,
    /// A Switch by an index, with so many outputs.
    SwitchN(usize),
    Merge,
    /// Leads into a loop with so many parallel iterations.
    Enter(&'static str, u32),
    /// Leads a constant into a loop.
    EnterConstant(&'static str),
    Exit,
    Next,
    Trigger,
}
use Does::*;

/// What the kernel of a node computes, by the beginning of its name; by default one more than the sum of its inputs.
fn compute(name: &str, inputs: &[Option<Tensor>]) -> Tensor {
    let sum: i32 = inputs.iter().map(|input| input.as_ref().expect("it arrived").to_scalar::<i32>().unwrap_or(0)).sum();
    match name {
        _ if name.starts_with("true") => Tensor::scalar(true),
        _ if name.starts_with("false") => Tensor::scalar(false),
        _ if name.starts_with("below3") => Tensor::scalar(sum < 3),
        _ if name.starts_with("odd") => Tensor::scalar(sum % 2 == 1),
        _ if name.starts_with("vector") => Tensor::vector(&[true, false]).unwrap(),
        _ => Tensor::scalar(sum + 1),
    }
}

/// A state under test, with its layout.
struct Bench {
    nodes: Vec<Node>,
    layout: Layout,
    state: State,
}

impl Bench {
    /// Every node without inputs begins. `fetched` keeps its value to the end.
    fn new(nodes: Vec<Node>, fetched: &str) -> Bench {
        Bench::with(nodes, fetched, true, false)
    }

    /// Whether nodes without kernels hand on their values at once, and whether loops may be static.
    fn with(nodes: Vec<Node>, fetched: &str, is_immediate: bool, may_be_static: bool) -> Bench {
        let index = |name: &str| {
            let found = nodes.iter().position(|node| node.0 == name);
            NodeIndex::new(found.unwrap_or_else(|| panic!("there is no node `{name}`")))
        };
        let source = |input: &str| {
            let (name, output) = input.split_once(':').unwrap_or((input, "0"));
            Source::Node { node: index(name), output: output.parse().unwrap() }
        };
        let (mut inputs, mut controls) = (Vec::new(), Vec::new());
        for Node(_, _, given) in &nodes {
            inputs.push(
                given.iter().filter(|input| !input.starts_with('^')).map(|input| source(input)).collect::<Vec<_>>(),
            );
            controls.push(given.iter().filter_map(|input| input.strip_prefix('^').map(index)).collect::<Vec<_>>());
        }
        let specs: Vec<NodeSpec<'_>> = nodes
            .iter()
            .zip(inputs.iter().zip(&controls))
            .map(|(Node(name, does, _), (inputs, controls))| {
                let enter = |constant| Role::Enter { frame: Handle::NONE, constant };
                let (role, outputs) = match *does {
                    Kernel(outputs) => (Role::Kernel, outputs),
                    Forward => (Role::Forward, inputs.len()),
                    Switch => (Role::Switch { by_index: false }, 2),
                    SwitchN(outputs) => (Role::Switch { by_index: true }, outputs),
                    Merge => (Role::Merge, 2),
                    Enter(..) => (enter(false), 1),
                    EnterConstant(_) => (enter(true), 1),
                    Exit => (Role::Exit, 1),
                    Next => (Role::NextIteration, 1),
                    Trigger => (Role::ControlTrigger, 0),
                };
                let enters = match *does {
                    Enter(name, parallel_iterations) => Some(LoopSpec { name, parallel_iterations }),
                    EnterConstant(name) => Some(LoopSpec { name, parallel_iterations: 1 }),
                    _ => None,
                };
                let has_references = !is_immediate;
                NodeSpec { name, role, enters, inputs, has_references, controls, outputs, may_be_static }
            })
            .collect();
        let layout = lay_out(&specs, &[source(fetched)], 0).unwrap().layout;
        let mut bench = Bench { state: State::new(&layout), layout, nodes };
        bench.begin();
        bench
    }

    fn begin(&mut self) {
        self.layout.initial().for_each(|node| self.state.begin(node));
    }

    fn describe(&self, tagged: &TaggedNode) -> String {
        let number = match self.state.iterations[tagged.iteration] {
            Iteration { in_loop, .. } if in_loop.is_none() => String::new(),
            Iteration { number, .. } => format!("#{number}"),
        };
        format!("{}{number}{}", self.nodes[tagged.node.position()].0, if tagged.is_dead { " dead" } else { "" })
    }

    /// What is ready: names, with `#2` in the iteration 2 of a loop.
    fn ready(&self) -> Vec<String> {
        let mut ready: Vec<String> = self.state.ready.iter().map(|tagged| self.describe(tagged)).collect();
        ready.sort();
        ready
    }

    /// Runs a node that is ready, as [`Bench::ready`] names it.
    fn run(&mut self, name: &str) {
        let found = self.state.ready.iter().position(|tagged| self.describe(tagged) == name);
        let found = found.unwrap_or_else(|| panic!("`{name}` is not ready, but {:?}", self.ready()));
        let tagged = self.state.ready.remove(found);
        self.step(tagged).unwrap();
    }

    fn step(&mut self, tagged: TaggedNode) -> Result<()> {
        let (layout, node) = (&self.layout, &self.layout.nodes[tagged.node]);
        let state = &mut self.state;
        if tagged.is_dead {
            state.run_dead(layout, tagged, node);
        } else if node.role == Role::Kernel {
            let value = compute(self.nodes[tagged.node.position()].0, node.inputs_of(state.slots(tagged.iteration)));
            node.clear(node.inputs_of(state.slots(tagged.iteration)));
            for output in 0..node.outputs.len() {
                state.deliver(layout, layout.edges_of(node, output), tagged.iteration, &mut Some(value.clone()));
            }
            state.serve_controls(layout, node, tagged.iteration, false);
        } else if let Some(static_loop) = state.static_loop(layout, tagged.iteration) {
            state.count_from_here(static_loop, tagged.iteration);
        } else {
            state.run_flow(layout, tagged, node)?;
        }
        state.done(layout, tagged.iteration);
        Ok(())
    }

    /// Runs all that gets ready, and says what has a kernel or is dead.
    fn run_all(&mut self) -> Vec<String> {
        let mut ran = Vec::new();
        loop {
            while let Some(tagged) = self.state.next() {
                if tagged.is_dead || self.layout.nodes[tagged.node].role == Role::Kernel {
                    ran.push(self.describe(&tagged));
                }
                self.step(tagged).unwrap();
            }
            if !self.state.begin_deferred(&self.layout) {
                return ran;
            }
        }
    }

    /// How often a node ran, alive or dead as its name says.
    fn count(ran: &[String], name: &str) -> usize {
        ran.iter().filter(|other| *other == name).count()
    }

    /// The value that was fetched.
    fn fetched(&mut self) -> Option<i32> {
        let slot = self.layout.fetches.start;
        self.state.slots(TOP)[slot].take().map(|tensor| tensor.to_scalar().unwrap())
    }

    /// How many iterations of loops are under way.
    fn under_way(&self) -> usize {
        self.state.loops.values().iter().flatten().map(|l| l.iterations.len()).sum()
    }

    fn is_idle(&self) -> bool {
        !self.state.has_ready() && self.state.loops.len() == self.state.free_loops.len()
    }
}

// ---- outside of loops ----

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
fn switch(choice: &'static str) -> Vec<Node> {
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
fn merge_of(inputs: &'static [&'static str]) -> Vec<Node> {
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

// ---- loops ----

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
