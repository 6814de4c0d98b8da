//! A function's body with the nodes of its gradient, and where it is cut in two.

use std::collections::{BTreeSet, HashMap};

use super::emit;
use crate::attr::FunctionRef;
use crate::dtype::DataType;
use crate::error::{Error, Result, shortened};
use crate::gradient::conditions::Conditions;
use crate::gradient::pass::Pass;
use crate::graph::{FunctionBody, Graph, Node, NodeBuilder, NodeClass, NodeId, Output, TensorSpec, copy_node, created};

/// A function's body and its gradient.
pub(super) struct Joint {
    pub(super) graph: Graph,
    pub(super) arguments: Vec<Output>,
    pub(super) results: Vec<Output>,
    /// What runs whether or not a result needs it.
    targets: Vec<NodeId>,
    /// How many nodes are the body's own.
    own: usize,
    /// What flows back to each result.
    pub(super) flows: Vec<Option<Output>>,
    /// What flows on to each argument.
    pub(super) found: Vec<Option<Output>>,
}

/// What of a function is differentiated.
#[derive(Clone)]
pub(in crate::gradient) struct Plan {
    /// To which results something flows back, and of which dtype: to a handle, what the variable holds.
    pub(in crate::gradient) flows: Vec<Option<DataType>>,
    /// On to which arguments it is to flow.
    pub(in crate::gradient) wanted: Vec<bool>,
}

/// How a body is cut.
#[derive(Default)]
pub(super) struct Cut {
    /// The arguments that the backward part is given as they are.
    pub(super) arguments: BTreeSet<usize>,
    /// What the forward part has to hand out.
    pub(super) saved: Vec<Output>,
    /// The nodes of the backward part.
    backward: BTreeSet<usize>,
}

impl Joint {
    /// The body of a function that takes and returns these dtypes, nothing of which is differentiated.
    pub(super) fn body(
        graph: &Graph,
        function: &FunctionRef,
        takes: &[DataType],
        returns: Option<&[DataType]>,
    ) -> Result<Joint> {
        let (argument_dtypes, result_dtypes) = graph.function_dtypes(function)?;
        // Of a condition, one result is looked at, whatever its dtype.
        if argument_dtypes != takes || returns.map_or(result_dtypes.len() != 1, |returns| result_dtypes != returns) {
            return Err(Error::invalid_argument(format!(
                "function `{}` takes and returns other tensors than its node gives it and expects of it",
                shortened(&function.name)
            )));
        }
        let FunctionBody { mut graph, mut arguments, mut results, mut targets } = graph.function_body(function)?;
        if arguments.len() != argument_dtypes.len() || results.len() != result_dtypes.len() {
            let name = shortened(&function.name);
            return Err(Error::invalid_argument(format!("the body of function `{name}` does not fit its signature")));
        }
        let renumbering = graph.raise_loops()?;
        let lost = || Error::internal("a loop took what a function returns");
        for output in arguments.iter_mut().chain(&mut results) {
            *output = renumbering.used_for(*output).ok_or_else(lost)?;
        }
        targets = targets.into_iter().flat_map(|target| renumbering.awaited_for(target)).collect();
        let own = graph.nodes().len();
        Ok(Joint { graph, arguments, results, targets, own, flows: Vec::new(), found: Vec::new() })
    }

    /// The body of a function that a node calls, with its gradient, of which `plan` says what it is to be. The function takes the
    /// inputs of the node but for the first `skipped`.
    pub(super) fn called(
        pass: &mut Pass<'_>,
        function: &FunctionRef,
        node: NodeId,
        skipped: usize,
        plan: impl FnOnce(&Joint) -> Plan,
    ) -> Result<Joint> {
        let signature = pass.graph.node(node).signature.clone();
        let (takes, returns) = (emit::dtypes(&signature.inputs[skipped..]), emit::dtypes(&signature.outputs));
        Joint::find(pass, function, (&takes, &returns), plan)
    }

    /// The body of a function that takes and returns these dtypes with its gradient, of which `plan` says what it is to be.
    pub(super) fn find(
        pass: &mut Pass<'_>,
        function: &FunctionRef,
        (takes, returns): (&[DataType], &[DataType]),
        plan: impl FnOnce(&Joint) -> Plan,
    ) -> Result<Joint> {
        if pass.functions.contains(&function.name) {
            let name = shortened(&function.name);
            return Err(Error::unimplemented(format!(
                "function `{name}` calls itself: there is no gradient of recursion"
            )));
        }
        pass.count_body()?;
        let mut joint = Joint::body(pass.graph, function, takes, Some(returns))?;
        let Plan { flows, wanted } = plan(&joint);
        joint.flows = (0..joint.results.len())
            .map(|index| flows[index].map(|dtype| joint.add_flow(index, dtype)).transpose())
            .collect::<Result<_>>()?;
        let places: Vec<usize> = (0..joint.arguments.len()).filter(|&index| wanted[index]).collect();
        let xs: Vec<Output> = places.iter().map(|&index| joint.arguments[index]).collect();
        let seeds = joint.results.iter().zip(&joint.flows).filter_map(|(result, flow)| Some((*result, (*flow)?)));
        let seeds: Vec<(Output, Output)> = seeds.collect();
        let mut inner = Pass::new(&mut joint.graph, pass.options, []);
        inner.shared = pass.shared.clone();
        inner.functions.clone_from(&pass.functions);
        inner.source.clone_from(&pass.source);
        inner.functions.push(function.name.clone());
        let within = |error: Error| error.context(format!("in function `{}`", shortened(&function.name)));
        let found = inner.run_seeded(&seeds, &xs).map_err(within)?;
        pass.shared.note_ops(&joint.graph);
        joint.found = vec![None; joint.arguments.len()];
        places.into_iter().zip(found).for_each(|(index, found)| joint.found[index] = found);
        pass.graph.adopt_functions(&mut joint.graph);
        Ok(joint)
    }

    /// Stands for what flows back to a result.
    fn add_flow(&mut self, index: usize, dtype: DataType) -> Result<Output> {
        let result = self.results[index];
        let shape = self.graph.shape(result).clone();
        let op = self.graph.registry().op(created::ARG)?.def;
        let name = self.graph.free_name("flow");
        let mut argument = NodeBuilder::new(&mut self.graph, op);
        argument.name(&name).attr("T", dtype).attr("index", (self.arguments.len() + index) as i64);
        let flow = argument.build_output()?;
        if dtype == self.dtype(result) {
            self.graph.set_shape(flow, &shape)?;
        }
        Ok(flow)
    }

    pub(super) fn dtype(&self, output: Output) -> DataType {
        self.graph.node(output.node).signature.outputs[output.index].dtype
    }

    /// What an argument of another function must be to stand for an output.
    pub(super) fn specs(&self, outputs: impl IntoIterator<Item = Output>) -> Result<Vec<TensorSpec>> {
        let spec = |output: Output| Ok(TensorSpec::like(&self.graph, output)?.name(&self.graph.node(output.node).name));
        outputs.into_iter().map(spec).collect()
    }

    /// Where to cut; `is_given` says which arguments the backward part can be given as they are.
    pub(super) fn cut(&self, is_given: impl Fn(usize) -> bool) -> Result<Cut> {
        let conditions = Conditions::find(&self.graph);
        let mut cutting = Cutting {
            joint: self,
            conditions,
            places: self.arguments.iter().enumerate().map(|(index, argument)| (*argument, index)).collect(),
            arguments: BTreeSet::new(),
            saved: BTreeSet::new(),
            backward: BTreeSet::new(),
            pending: Vec::new(),
        };
        for found in self.found.iter().flatten() {
            cutting.want(*found, &is_given);
        }
        while let Some(id) = cutting.pending.pop() {
            cutting.visit(id, &is_given)?;
        }
        let Cutting { arguments, saved, backward, .. } = cutting;
        Ok(Cut { arguments, saved: saved.into_iter().collect(), backward })
    }

    /// Adds the forward part; returns where its values are.
    pub(super) fn emit_forward(
        &self,
        cut: &Cut,
        graph: &mut Graph,
        arguments: &[Output],
    ) -> Result<HashMap<Output, Output>> {
        let fetches: Vec<Output> = self.results.iter().chain(&cut.saved).copied().collect();
        let needed = self.graph.needed(&[], &fetches, &self.targets);
        let known = self.arguments.iter().copied().zip(arguments.iter().copied()).collect();
        self.emit(graph, needed.into_iter(), known)
    }

    /// Adds the backward part; `known` says where the values are that it is given. Returns what flows on to each argument.
    pub(super) fn emit_backward(
        &self,
        cut: &Cut,
        graph: &mut Graph,
        known: HashMap<Output, Output>,
    ) -> Result<Vec<Option<Output>>> {
        let nodes: Vec<NodeId> = self.graph.ids().filter(|id| cut.backward.contains(&id.index())).collect();
        let values = self.emit(graph, nodes.into_iter(), known)?;
        self.found_in(&values)
    }

    /// Adds the body with its gradient, and what runs whether or not a result needs it; `known` says where the arguments are, and
    /// what flows back. Returns what flows on to each argument.
    pub(super) fn emit_whole(&self, graph: &mut Graph, known: HashMap<Output, Output>) -> Result<Vec<Option<Output>>> {
        let fetches: Vec<Output> = self.found.iter().flatten().copied().collect();
        let needed = self.graph.needed(&[], &fetches, &self.targets);
        let values = self.emit(graph, needed.into_iter(), known)?;
        self.found_in(&values)
    }

    fn found_in(&self, values: &HashMap<Output, Output>) -> Result<Vec<Option<Output>>> {
        let value = |found: &Output| {
            values.get(found).copied().ok_or_else(|| Error::internal("a gradient that was not copied"))
        };
        self.found.iter().map(|found| found.as_ref().map(value).transpose()).collect()
    }

    fn emit(
        &self,
        graph: &mut Graph,
        nodes: impl Iterator<Item = NodeId>,
        mut values: HashMap<Output, Output>,
    ) -> Result<HashMap<Output, Output>> {
        let mut copies: HashMap<NodeId, NodeId> = HashMap::new();
        for id in nodes {
            let node = self.graph.node(id);
            if matches!(node.class, NodeClass::Arg | NodeClass::Retval) {
                continue;
            }
            let missing = || Error::internal(format!("`{}` was copied without what it takes", node.name));
            let inputs = node.inputs.iter().map(|input| values.get(input).copied().ok_or_else(missing));
            let inputs = inputs.collect::<Result<Vec<_>>>()?;
            let controls: Vec<NodeId> =
                node.control_inputs.iter().filter_map(|control| copies.get(control).copied()).collect();
            let name = graph.free_name(&node.name);
            let copy = copy_node(graph, node, Some(&name), &inputs, &controls, [])?;
            copies.insert(id, copy);
            for index in 0..node.signature.outputs.len() {
                // What is given stays what it is.
                values.entry(Output { node: id, index }).or_insert(Output { node: copy, index });
            }
        }
        Ok(values)
    }
}

/// Finds where to cut.
struct Cutting<'j> {
    joint: &'j Joint,
    conditions: Conditions,
    places: HashMap<Output, usize>,
    arguments: BTreeSet<usize>,
    saved: BTreeSet<Output>,
    backward: BTreeSet<usize>,
    pending: Vec<NodeId>,
}

impl Cutting<'_> {
    /// Notes how the backward part comes to have a value.
    fn want(&mut self, output: Output, is_given: &impl Fn(usize) -> bool) {
        if let Some(&place) = self.places.get(&output) {
            match is_given(place) {
                true => _ = self.arguments.insert(place),
                false => _ = self.saved.insert(output),
            }
            return;
        }
        let node = self.joint.graph.node(output.node);
        let is_own = output.node.index() < self.joint.own;
        // What a branch gives that may not run cannot be handed out: it is computed again.
        if is_own && !is_copied(node) && !self.conditions.may_lack(&self.joint.graph, output) {
            self.saved.insert(output);
        } else if node.class != NodeClass::Arg {
            self.need(output.node);
        }
    }

    fn need(&mut self, id: NodeId) {
        if self.backward.insert(id.index()) {
            self.pending.push(id);
        }
    }

    fn visit(&mut self, id: NodeId, is_given: &impl Fn(usize) -> bool) -> Result<()> {
        let (joint, node) = (self.joint, self.joint.graph.node(id));
        let is_own = id.index() < joint.own;
        if is_own && !is_copied(node) && node.op.def.is_stateful {
            return Err(Error::unimplemented(format!(
                "`{}` (op {}) keeps a state or has effects, and stands in a branch of TensorFlow 1 within a function, whose \
                 gradient would run it again",
                node.name, node.op.def.name
            )));
        }
        let from_body = |input: &Output| {
            let is_direct = self.places.get(input).is_some_and(|place| is_given(*place));
            input.node.index() < joint.own && !is_direct && !self.conditions.may_lack(&joint.graph, *input)
        };
        if !is_own && node.class.looks_at_shapes() && node.inputs.iter().all(from_body) {
            // It looks at a shape, and the forward part does so without keeping the tensor.
            self.backward.remove(&id.index());
            self.saved.extend((0..node.signature.outputs.len()).map(|index| Output { node: id, index }));
            return Ok(());
        }
        for &input in &node.inputs {
            self.want(input, is_given);
        }
        for &control in &node.control_inputs {
            if control.index() >= joint.own || self.conditions.has_any(control) {
                self.need(control);
            }
        }
        Ok(())
    }
}

/// Whether a node costs nothing, so that both parts have one.
fn is_copied(node: &Node) -> bool {
    matches!(node.class, NodeClass::Constant | NodeClass::VarHandle)
}
