//! One way back through a graph.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::conditions::Conditions;
use super::control::{self, Shared};
use super::def::{GradientDef, find_gradient};
use super::differentiable::{GRADIENT_OP_TYPE, is_trainable, no_gradient, per_input, within};
use super::graph_node::GraphNode;
use super::place::Side;
use super::scope::GradientScope;
use super::stacks;
use super::value::{Gradient, IndexedSlices, Value};
use crate::attr::AttrValue;
use crate::dtype::DataType;
use crate::error::{Advice, Error, Result, shortened};
use crate::graph::{CLASS, Graph, Node, NodeClass, NodeId, Output};
use crate::shape::PartialShape;

/// The gradient with respect to an output of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputGradient {
    /// A tensor of its shape.
    Dense(Output),
    /// Some of its rows, those that are there several times counting as often.
    Slices {
        /// The rows.
        values: Output,
        /// Which rows they are.
        indices: Output,
        /// The shape of the whole, a vector.
        dense_shape: Output,
    },
}

/// How gradients are added.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) zeros_if_unconnected: bool,
    pub(super) colocate: bool,
    pub(super) sum_in_pairs: bool,
    /// What to do about an op without a gradient, if it is not to be registered.
    pub(super) advice: Option<&'static str>,
}

/// What the names of the nodes of gradients begin with that are added next: `gradients`, or `gradients_1`, `gradients_2`, ...,
/// whichever no name of a node begins with.
pub fn free_prefix(graph: &Graph) -> String {
    let begins = |prefix: &str| graph.nodes().iter().any(|node| is_below(&node.name, prefix));
    let numbered = (1..).map(|number| format!("gradients_{number}"));
    std::iter::once("gradients".to_owned()).chain(numbered).find(|prefix| !begins(prefix)).unwrap_or_default()
}

/// Whether a name is `prefix`, or begins with it and a `/`.
pub(super) fn is_below(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The way on which a node stands, from what is differentiated back to what it is differentiated by, and the other ops between
/// them that have no gradient either.
#[cold]
fn way(graph: &Graph, between: &[bool], id: NodeId) -> String {
    const SHOWN: usize = 4;
    let is_between = |id: NodeId| between.get(id.index()).copied().unwrap_or(false);
    let name = |id: NodeId| format!("`{}` ({})", shortened(&graph.node(id).name), graph.node(id).op.def.name);
    let users = std::iter::successors(Some(id), |&at| {
        let mut later = graph.ids().skip(at.index() + 1).filter(|id| is_between(*id));
        later.find(|&user| graph.node(user).inputs.iter().any(|input| input.node == at))
    });
    let mut before: Vec<String> = users.skip(1).map(name).collect();
    before.reverse();
    let sources = std::iter::successors(Some(id), |&at| {
        graph.node(at).inputs.iter().map(|input| input.node).find(|&source| is_between(source) && source < at)
    });
    let after: Vec<String> = sources.skip(1).map(name).collect();
    let cut = |names: &[String], skip_first: bool| match names.len() {
        0..=SHOWN => names.join(" ← "),
        length if skip_first => format!("... ← {}", names[length - SHOWN..].join(" ← ")),
        _ => format!("{} ← ...", names[..SHOWN].join(" ← ")),
    };
    let parts = [cut(&before, true), name(id), cut(&after, false)];
    let way: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let mut others: Vec<&str> = graph
        .ids()
        .filter(|&other| is_between(other) && other != id)
        .map(|other| graph.node(other))
        .filter(|node| {
            !control::is_for(node.class) && !node.inputs.is_empty() && find_gradient(&node.op.def.name).is_none()
        })
        .map(|node| &*node.op.def.name)
        .collect();
    others.sort_unstable();
    others.dedup();
    let others =
        if others.is_empty() { String::new() } else { format!("; without one are {}, too", others.join(", ")) };
    format!("; the way is {}{others}", way.join(" ← "))
}

/// The nodes that depend on one of the `xs`, and on which one of the `ys` depends.
fn both(needed: Vec<bool>, reached: &[bool]) -> Vec<bool> {
    needed.into_iter().zip(reached).map(|(needed, reached)| needed && *reached).collect()
}

/// The gradients of one call.
pub(super) struct Pass<'g> {
    pub(super) graph: &'g mut Graph,
    /// What the names of the nodes begin with.
    pub(super) prefix: String,
    /// What tells this call from others: its prefix, in the bodies of functions, too.
    pub(super) source: String,
    /// What the values of the gradients' functions are.
    pub(super) values: Vec<Output>,
    /// What flows back to each output, from each of its users.
    flows: HashMap<Output, Vec<Gradient>>,
    /// The nodes on a way from one of the `xs` to one of the `ys`.
    between: Vec<bool>,
    stop: HashSet<Output>,
    pub(super) options: Options,
    /// Under which conditions nodes run.
    pub(super) conditions: Conditions,
    /// The functions that are being differentiated, of which this graph is the last one's body.
    pub(super) functions: Vec<String>,
    /// What was made of functions so far.
    pub(super) shared: Rc<Shared>,
}

impl<'g> Pass<'g> {
    /// Lets the names of the nodes begin with this.
    pub(super) fn name_below(&mut self, prefix: &str) {
        self.prefix = prefix.to_owned();
        self.source = prefix.to_owned();
    }

    pub(super) fn new(graph: &'g mut Graph, options: Options, stop: impl IntoIterator<Item = Output>) -> Pass<'g> {
        let prefix = free_prefix(graph);
        Pass {
            source: prefix.clone(),
            prefix,
            values: Vec::new(),
            flows: HashMap::new(),
            between: Vec::new(),
            stop: stop.into_iter().collect(),
            options,
            conditions: Conditions::find(graph),
            functions: Vec::new(),
            shared: Rc::default(),
            graph,
        }
    }

    /// The gradients of the sum of `ys`. If that fails, the graph is as it was; the pass, which names functions that the graph no
    /// longer has, is consumed.
    pub(super) fn run(
        mut self,
        ys: &[Output],
        grad_ys: &[Option<Output>],
        xs: &[Output],
    ) -> Result<Vec<Option<OutputGradient>>> {
        let before = self.graph.savepoint();
        let found = self.find(ys, grad_ys, xs);
        if found.is_err() {
            self.graph.roll_back(before);
        }
        found
    }

    fn find(
        &mut self,
        ys: &[Output],
        grad_ys: &[Option<Output>],
        xs: &[Output],
    ) -> Result<Vec<Option<OutputGradient>>> {
        for &output in ys.iter().chain(xs).chain(&self.stop).chain(grad_ys.iter().flatten()) {
            self.dtype_of(output)?;
        }
        if !grad_ys.is_empty() && grad_ys.len() != ys.len() {
            let (given, wanted) = (grad_ys.len(), ys.len());
            let message = format!("there are {given} grad_ys for {wanted} ys: give one for each, `None` for ones");
            return Err(Error::invalid_argument(message));
        }
        let (needed, reached) = (self.needed(ys), self.reached(xs));
        stacks::check(self.graph, &needed, &reached)?;
        self.between = both(needed, &reached);
        for (index, &y) in ys.iter().enumerate() {
            self.seed(y, grad_ys.get(index).copied().flatten())?;
        }
        self.go_back()?;
        xs.iter().map(|&x| self.found_at(x)).collect()
    }

    /// What flows back to each of `xs` if `seeds` flow back to some outputs: in the body of a function, whose caller knows
    /// what flows.
    pub(super) fn run_seeded(&mut self, seeds: &[(Output, Output)], xs: &[Output]) -> Result<Vec<Option<Output>>> {
        let ys: Vec<Output> = seeds.iter().map(|(y, _)| *y).collect();
        self.between = both(self.needed(&ys), &self.reached(xs));
        for &(y, flow) in seeds {
            let flow = self.value_of(flow);
            self.flow_to(y, Gradient::Dense(flow));
        }
        self.go_back()?;
        let mut found = Vec::with_capacity(xs.len());
        for &x in xs {
            let dense = match self.sum_at(x)? {
                Some(gradient) => Some(self.in_scope_of(x.node, |scope| scope.dense(gradient))?),
                None => None,
            };
            found.push(dense.map(|value| self.values[value.0 as usize]));
        }
        Ok(found)
    }

    /// Nodes come after what they use, so that each is met when all that uses it has been.
    fn go_back(&mut self) -> Result<()> {
        let nodes: Vec<NodeId> = self.graph.ids().filter(|id| self.is_between(*id)).collect();
        nodes.into_iter().rev().try_for_each(|node| self.differentiate(node))
    }

    fn found_at(&mut self, x: Output) -> Result<Option<OutputGradient>> {
        if let Some(gradient) = self.sum_at(x)? {
            return Ok(Some(self.output_gradient(gradient)));
        }
        if !self.options.zeros_if_unconnected {
            return Ok(None);
        }
        let dtype = self.dtype_of(x)?;
        let zeros = self.in_scope_of(x.node, |scope| {
            let shape = scope.node.shape_of(Side::Output, x.index)?;
            scope.zeros(dtype, &shape)
        })?;
        Ok(Some(self.output_gradient(Gradient::Dense(zeros))))
    }

    /// Counts a body that is differentiated: functions can be written that call each other with ever new attrs.
    pub(super) fn count_body(&self) -> Result<()> {
        const MOST: usize = 4096;
        const DEEPEST: usize = 64;
        let bodies = &self.shared.bodies;
        bodies.set(bodies.get() + 1);
        if bodies.get() > MOST || self.functions.len() > DEEPEST {
            return Err(Error::resource_exhausted(format!(
                "functions are differentiated one by one, and these are more than {MOST}, or nested more than {DEEPEST} deep"
            )));
        }
        Ok(())
    }

    /// Of which dtypes some outputs are.
    pub(super) fn dtypes_of(&self, outputs: &[Option<Output>]) -> Vec<Option<DataType>> {
        outputs.iter().map(|output| self.dtype_of((*output)?).ok()).collect()
    }

    fn is_between(&self, id: NodeId) -> bool {
        self.between.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether gradients flow to an output at all. From one that counts as a constant they flow no further.
    fn can_flow(&self, output: Output) -> bool {
        self.dtype_of(output).is_ok_and(is_trainable)
    }

    fn flows_on(&self, output: Output) -> bool {
        self.can_flow(output) && !self.stop.contains(&output)
    }

    /// Whether somebody wants to know what flows back to an output.
    pub(super) fn is_wanted(&self, output: Output) -> bool {
        self.is_between(output.node) && self.can_flow(output)
    }

    /// The nodes that depend on some outputs.
    fn reached(&self, from: &[Output]) -> Vec<bool> {
        let nodes = self.graph.nodes();
        let mut reached = vec![false; nodes.len()];
        from.iter().for_each(|x| reached[x.node.index()] = true);
        // Behind what counts as a constant nobody is reached, unless it is asked for itself.
        let carries = |input: Output| self.flows_on(input) || (self.can_flow(input) && from.contains(&input));
        self.until_stable(&mut reached, |reached| {
            for (index, node) in nodes.iter().enumerate() {
                reached[index] |= node.inputs.iter().any(|input| reached[input.node.index()] && carries(*input));
            }
        });
        reached
    }

    /// Marks nodes once, or as often as that marks more if loops lead back.
    fn until_stable(&self, marks: &mut Vec<bool>, mark: impl Fn(&mut Vec<bool>)) {
        let leads_back = self.graph.nodes().iter().any(|node| node.class == NodeClass::NextIteration);
        loop {
            let before = marks.iter().filter(|mark| **mark).count();
            mark(marks);
            if !leads_back || marks.iter().filter(|mark| **mark).count() == before {
                return;
            }
        }
    }

    /// The nodes on which `ys` depend.
    fn needed(&self, ys: &[Output]) -> Vec<bool> {
        let nodes = self.graph.nodes();
        let mut needed = vec![false; nodes.len()];
        ys.iter().for_each(|y| needed[y.node.index()] = true);
        self.until_stable(&mut needed, |needed| {
            for index in (0..nodes.len()).rev() {
                if needed[index] {
                    let inputs = nodes[index].inputs.iter().filter(|input| self.can_flow(**input));
                    inputs.for_each(|input| needed[input.node.index()] = true);
                }
            }
        });
        needed
    }

    pub(super) fn dtype_of(&self, output: Output) -> Result<DataType> {
        let slot = self.graph.get(output.node).and_then(|node| node.signature.outputs.get(output.index));
        slot.map(|slot| slot.dtype).ok_or_else(|| Error::invalid_argument("an output that is not the graph's"))
    }

    /// Begins with what flows back to a `y`: ones, if nothing is given.
    fn seed(&mut self, y: Output, given: Option<Output>) -> Result<()> {
        let (dtype, name) = (self.dtype_of(y)?, self.graph.output_name(y));
        if let Some(given) = given {
            let flow = self.dtype_of(given)?;
            if flow != dtype {
                let message = format!("what flows back to `{name}` must be {dtype}, as that is, not {flow}");
                return Err(Error::invalid_argument(message));
            }
            let (shape, own) = (self.graph.shape(given), self.graph.shape(y));
            if !shape.is_compatible(own) {
                let message = format!("what flows back to `{name}` must have its shape {own}, not {shape}");
                return Err(Error::invalid_argument(message));
            }
            let value = self.value_of(given);
            self.flow_to(y, Gradient::Dense(value));
            return Ok(());
        }
        if dtype.is_complex() {
            return Err(Error::invalid_argument(format!(
                "`{name}` is {dtype}: its gradient depends on what flows back to it, which `grad_ys` says"
            )));
        }
        if is_trainable(dtype) {
            let may_lack = self.conditions.may_lack(self.graph, y);
            let ones = self.in_scope_of(y.node, |scope| {
                let mut shape = scope.node.shape_of(Side::Output, y.index)?;
                if may_lack {
                    // Its shape is there if it is.
                    shape.known = PartialShape::unknown();
                }
                scope.ones(dtype, &shape)
            })?;
            self.flow_to(y, Gradient::Dense(ones));
        }
        Ok(())
    }

    pub(super) fn value_of(&mut self, output: Output) -> Value {
        self.values.push(output);
        Value(self.values.len() as u32 - 1)
    }

    pub(super) fn output_of(&self, value: Value) -> Output {
        self.values[value.0 as usize]
    }

    fn flow_to(&mut self, output: Output, flow: Gradient) {
        self.flows.entry(output).or_default().push(flow);
    }

    /// All that flows back to an output: their sum, or the rows of all if all are slices.
    fn sum_at(&mut self, output: Output) -> Result<Option<Gradient>> {
        let Some(flows) = self.flows.get(&output).cloned() else { return Ok(None) };
        if let [flow] = flows[..] {
            return Ok(Some(flow));
        }
        let in_pairs = self.options.sum_in_pairs;
        let sum = self.in_scope_of(output.node, |scope| match (in_pairs, &flows[..]) {
            (true, [first, others @ ..]) => others.iter().try_fold(*first, |sum, flow| scope.sum(&[sum, *flow])),
            _ => scope.sum(&flows),
        })?;
        self.flows.insert(output, vec![sum]);
        Ok(Some(sum))
    }

    fn output_gradient(&self, gradient: Gradient) -> OutputGradient {
        let output = |value: Value| self.values[value.0 as usize];
        match gradient {
            Gradient::Dense(value) => OutputGradient::Dense(output(value)),
            Gradient::Slices(IndexedSlices { values, indices, dense_shape }) => OutputGradient::Slices {
                values: output(values),
                indices: output(indices),
                dense_shape: output(dense_shape),
            },
        }
    }

    /// Has what flows back to the outputs of a node flow on to its inputs.
    fn differentiate(&mut self, id: NodeId) -> Result<()> {
        let count = self.graph.node(id).signature.outputs.len();
        let mut flows = Vec::with_capacity(count);
        for index in 0..count {
            let output = Output { node: id, index };
            flows.push(if self.flows_on(output) { self.sum_at(output)? } else { None });
        }
        if flows.iter().all(Option::is_none) {
            return Ok(());
        }
        let inputs = self.graph.node(id).inputs.clone();
        if !inputs.iter().any(|&input| self.is_wanted(input)) {
            return Ok(());
        }
        let name = self.graph.node(id).name.clone();
        let prefix = format!("{}/{name}_grad/", self.prefix);
        let (signature, op) = (self.graph.node(id).signature.clone(), self.graph.node(id).op.def);
        let gradient = self.gradient_for(id)?;
        let found = match gradient {
            Some(gradient) => {
                let Some(differentiation) = gradient.differentiation.as_ref() else { return Ok(()) };
                let found = self.with_scope(id, prefix, flows, |scope| (differentiation.call)(scope));
                found.and_then(|found| per_input(op, &signature, found))
            }
            None => self.with_scope(id, prefix, flows, |scope| control::dense_flows(scope, count)).and_then(|flows| {
                let flows: Vec<Option<Output>> =
                    flows.into_iter().map(|flow| flow.map(|flow| self.values[flow.0 as usize])).collect();
                let found = control::differentiate(self, id, &flows)?;
                Ok(found.into_iter().map(|flow| flow.map(|flow| Gradient::Dense(self.value_of(flow)))).collect())
            }),
        };
        let found = found.map_err(|error| within(gradient, op, Some(&name), error))?;
        for (input, flow) in inputs.into_iter().zip(found) {
            if let Some(flow) = flow.filter(|_| self.is_wanted(input)) {
                self.flow_to(input, flow);
            }
        }
        Ok(())
    }

    /// The gradient that a node has; `None` if it calls functions, of whose bodies its gradient is made.
    fn gradient_for(&self, id: NodeId) -> Result<Option<&'static GradientDef>> {
        let node = self.graph.node(id);
        let asked = node.attrs.required::<String>(GRADIENT_OP_TYPE).ok();
        let name = asked.as_deref().unwrap_or(&node.op.def.name);
        let found = find_gradient(name);
        match node.class {
            // What a call asks for is known to the program alone that made it.
            class if found.is_none() && control::is_for(class) => Ok(None),
            NodeClass::Enter | NodeClass::Exit | NodeClass::NextIteration | NodeClass::LoopCond if found.is_none() => {
                Err(Error::failed_precondition(format!(
                    "`{}` is part of a loop of TensorFlow 1, which has no gradient as it is",
                    node.name
                ))
                .advise(": ", Advice::RaiseLoops, ""))
            }
            NodeClass::Missing => self.graph.check_present(&[id]).map(|()| None),
            _ => match found {
                Some(gradient) => Ok(Some(gradient)),
                None => {
                    let name = format!("node `{}`", shortened(&node.name));
                    let error = no_gradient(node.op.def, &name, asked.as_deref(), self.options.advice);
                    Err(error.append(way(self.graph, &self.between, id)))
                }
            },
        }
    }

    /// Adds a node for another one, on whose device it is; its inputs by argument.
    pub(super) fn add_for<'a>(
        &mut self,
        id: NodeId,
        op: &str,
        name: &str,
        inputs: &[&[Output]],
        attrs: impl IntoIterator<Item = (&'a str, AttrValue)>,
    ) -> Result<NodeId> {
        let Node { name: beside, device, .. } = self.graph.node(id);
        let (device, colocated) = (device.clone(), format!("loc:@{beside}"));
        let mut builder = control::emit::builder(self.graph, op, name, inputs, attrs)?;
        builder.device(&device);
        if self.options.colocate {
            builder.attr(CLASS, vec![colocated]);
        }
        builder.build()
    }

    /// A scope for nodes that belong to a node, but not to its gradient.
    pub(super) fn in_scope_of<T>(
        &mut self,
        id: NodeId,
        call: impl FnOnce(&mut GradientScope<'_>) -> Result<T>,
    ) -> Result<T> {
        let prefix = format!("{}/", self.prefix);
        self.with_scope(id, prefix, Vec::new(), call)
    }

    pub(super) fn with_scope<T>(
        &mut self,
        id: NodeId,
        prefix: String,
        flows: Vec<Option<Gradient>>,
        call: impl FnOnce(&mut GradientScope<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut node = GraphNode::new(self, id, prefix, flows);
        call(&mut GradientScope::new(&mut node))
    }
}
