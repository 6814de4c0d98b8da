//! Every rule of deadness and of loops, on layouts made by hand: no kernels, no threads.

mod flow;
mod loops;

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
                    Enter(name, parallel_iterations) => Some(LoopSpec { name: name.as_bytes(), parallel_iterations }),
                    EnterConstant(name) => Some(LoopSpec { name: name.as_bytes(), parallel_iterations: 1 }),
                    _ => None,
                };
                let has_references = !is_immediate;
                NodeSpec { name, role, enters, inputs, has_references, controls, outputs, may_be_static }
            })
            .collect();
        let layout = lay_out(&specs, &[source(fetched)], 0).unwrap();
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
