//! Loops.
//!
//! The forward loop counts its iterations and keeps, in a list, what the gradient of each iteration needs; the backward loop takes
//! that from the end of the list. The node becomes a call of a function around the forward loop, which begins with an empty list:
//! so the node needs no further inputs.

use std::collections::HashMap;

use super::joint::{Cut, Joint, Plan};
use super::shared::Key;
use super::{call, emit};
use crate::attr::{AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::gradient::differentiable::{GRADIENT_OP_TYPE, is_trainable};
use crate::gradient::pass::Pass;
use crate::graph::{Function, Graph, Node, NodeId, Output, TensorSpec, created};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A loop and the gradient of its body.
struct Loop {
    joint: Joint,
    cut: Cut,
    /// Which variables are the same in all iterations.
    is_invariant: Vec<bool>,
}

pub(super) fn differentiate(pass: &mut Pass<'_>, id: NodeId, flows: &[Option<Output>]) -> Result<Vec<Option<Output>>> {
    let node = pass.graph.node(id).clone();
    let inputs = &node.inputs;
    let wanted: Vec<bool> = inputs.iter().map(|input| pass.is_wanted(*input)).collect();
    let specs = inputs.iter().map(|&input| TensorSpec::like(pass.graph, input)).collect::<Result<Vec<_>>>()?;
    let plan = Plan { flows: pass.dtypes_of(flows), wanted };
    let key = || Key::new("loop").text(&node.op.def.name).attrs(&node.attrs).specs(&specs).plan(&plan);
    let inner = pass.once(key(), |pass| find(pass, id, &plan))?;
    let mut results = vec![None; inputs.len()];
    if inner.is_needed() {
        let around = pass.once(key().text("around"), |pass| count_and_keep(pass, &node, specs.clone(), &inner))?;
        let own = inner.own_specs();
        call::call_instead(pass, id, around.reference(), around.result_dtypes().to_vec(), around.is_stateful())?;
        let output = |index: usize| Output { node: id, index: inputs.len() + index };
        let forward = Forward { count: output(0), list: (own.len() > 1).then(|| output(1)) };
        go_back(pass, id, (&inner, &key), (inputs, flows), forward, &mut results)?;
    }
    for (place, result) in results.iter_mut().enumerate().filter(|(place, _)| inner.is_invariant[*place]) {
        *result = match (*result, flows[place]) {
            (Some(sum), Some(flow)) => Some(emit::output(pass.graph, created::ADD_N, &[&[sum, flow]], [])?),
            (sum, flow) => sum.or(flow),
        };
    }
    Ok(results)
}

/// The gradient of a loop's body.
fn find(pass: &mut Pass<'_>, id: NodeId, Plan { flows, wanted }: &Plan) -> Result<Loop> {
    let body: FunctionRef = pass.graph.node(id).attrs.required("body")?;
    let places = 0..wanted.len();
    let mut is_invariant = Vec::new();
    let joint = Joint::called(pass, &body, id, 0, |joint| {
        is_invariant = places.clone().map(|place| joint.passes_on(place)).collect();
        let flows: Vec<bool> = flows.iter().map(Option::is_some).collect();
        let varying = varying(joint, wanted, &is_invariant, &flows);
        let dtype = |place: usize| joint.dtype(joint.arguments[place]);
        let flows = places.clone().map(|place| varying[place].then(|| dtype(place))).collect();
        let wanted = places.clone().map(|place| varying[place] || (is_invariant[place] && wanted[place])).collect();
        Plan { flows, wanted }
    })?;
    for (place, flow) in flows.iter().enumerate() {
        if flow.is_some() && !is_invariant[place] && joint.dtype(joint.arguments[place]) == DataType::Resource {
            let message =
                format!("variable {place} of the loop is a handle that changes: there is no gradient through it");
            return Err(Error::unimplemented(message));
        }
    }
    let mut cut = joint.cut(|place| is_invariant[place])?;
    // Where nothing flows on, there are zeros like the variable.
    for (place, argument) in joint.arguments.iter().enumerate() {
        if joint.flows[place].is_some() && joint.found[place].is_none() && !cut.saved.contains(argument) {
            cut.saved.push(*argument);
        }
    }
    Ok(Loop { joint, cut, is_invariant })
}

impl Joint {
    /// Whether a result is the argument in the same place.
    fn passes_on(&self, place: usize) -> bool {
        let mut result = self.results[place];
        loop {
            if result == self.arguments[place] {
                return true;
            }
            // Others that hand on have a gradient of their own.
            match self.graph.node(result.node) {
                node if &*node.op.def.name == created::IDENTITY && node.attrs.get(GRADIENT_OP_TYPE).is_none() => {
                    result = node.inputs[0];
                }
                _ => return false,
            }
        }
    }

    /// Which nodes depend on some of the arguments by what can be differentiated.
    fn reached(&self, arguments: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.graph.nodes().len()];
        arguments.for_each(|place| reached[self.arguments[place].node.index()] = true);
        for (index, node) in self.graph.nodes().iter().enumerate() {
            let carries = |input: &&Output| is_trainable(self.dtype(**input));
            reached[index] |= node.inputs.iter().filter(carries).any(|input| reached[input.node.index()]);
        }
        reached
    }

    /// Which nodes some of the results depend on by what can be differentiated.
    fn needed(&self, results: impl Iterator<Item = usize>) -> Vec<bool> {
        let nodes = self.graph.nodes();
        let mut needed = vec![false; nodes.len()];
        results.for_each(|place| needed[self.results[place].node.index()] = true);
        for index in (0..nodes.len()).rev() {
            if needed[index] {
                let carries = nodes[index].inputs.iter().filter(|input| is_trainable(self.dtype(**input)));
                carries.for_each(|input| needed[input.node.index()] = true);
            }
        }
        needed
    }
}

/// Which variables change, depend on an input that is wanted, and lead to one to which something flows back.
fn varying(joint: &Joint, wanted: &[bool], is_invariant: &[bool], flows: &[bool]) -> Vec<bool> {
    let can_vary = |place: usize| {
        let dtype = joint.dtype(joint.arguments[place]);
        !is_invariant[place] && is_trainable(dtype) && dtype != DataType::Resource
    };
    let all = |some: &dyn Fn(usize) -> bool| (0..wanted.len()).filter(|&place| some(place)).collect::<Vec<_>>();
    let begins = |place: usize| wanted[place] && (is_invariant[place] || can_vary(place));
    let grown = |mut from: Vec<usize>, next: &dyn Fn(&[usize]) -> Vec<usize>| loop {
        let more: Vec<usize> = next(&from).into_iter().filter(|place| !from.contains(place)).collect();
        if more.is_empty() {
            return from;
        }
        from.extend(more);
    };
    let depend = grown(all(&begins), &|from| {
        let reached = joint.reached(from.iter().copied());
        all(&|place| can_vary(place) && reached[joint.results[place].node.index()])
    });
    let lead = grown(all(&|place| flows[place] && can_vary(place)), &|from| {
        let needed = joint.needed(from.iter().copied());
        all(&|place| can_vary(place) && needed[joint.arguments[place].node.index()])
    });
    (0..wanted.len()).map(|place| can_vary(place) && depend.contains(&place) && lead.contains(&place)).collect()
}

/// What the forward loop hands out beside its variables.
#[derive(Clone, Copy)]
struct Forward {
    count: Output,
    list: Option<Output>,
}

impl Loop {
    fn is_needed(&self) -> bool {
        self.joint.found.iter().any(Option::is_some) || self.joint.flows.iter().any(Option::is_some)
    }

    /// What the loops have beside other variables: a counter, and a list.
    fn own_specs(&self) -> Vec<TensorSpec> {
        let scalar = |dtype: DataType, name: &str| TensorSpec::new(dtype).shape(PartialShape::of_rank(0)).name(name);
        let list = (!self.cut.saved.is_empty()).then(|| scalar(DataType::Variant, "saved"));
        [scalar(DataType::Int32, "count")].into_iter().chain(list).collect()
    }
}

/// A function around a loop that counts and keeps, which takes what a node does.
fn count_and_keep(pass: &mut Pass<'_>, node: &Node, taken: Vec<TensorSpec>, inner: &Loop) -> Result<Function> {
    let own = inner.own_specs();
    let Loop { joint: inner, cut, .. } = inner;
    let cond: FunctionRef = node.attrs.required("cond")?;
    let body: FunctionRef = node.attrs.required("body")?;
    let dtypes: Vec<DataType> = node.signature.outputs.iter().map(|slot| slot.dtype).collect();
    let holds = Joint::body(pass.graph, &cond, &dtypes, None)?;
    let specs = |joint: &Joint| -> Result<Vec<TensorSpec>> {
        Ok(joint.specs(joint.arguments.iter().copied())?.into_iter().chain(own.iter().cloned()).collect())
    };
    let (new_cond, _) =
        emit::function(pass.graph, &format!("{}_forward", cond.name), specs(&holds)?, |graph, arguments| {
            let values = holds.emit_forward(&Cut::default(), graph, &arguments[..holds.arguments.len()])?;
            Ok(holds.results.iter().map(|result| values[result]).collect())
        })?;
    let count = inner.arguments.len();
    let (new_body, _) =
        emit::function(pass.graph, &format!("{}_forward", body.name), specs(inner)?, |graph, arguments| {
            let values = inner.emit_forward(cut, graph, &arguments[..count])?;
            let mut results: Vec<Output> = inner.results.iter().map(|result| values[result]).collect();
            let one = emit::constant(graph, 1i32)?;
            results.push(emit::output(graph, created::ADD_V2, &[&[arguments[count]], &[one]], [])?);
            if let Some(&list) = arguments.get(count + 1) {
                let saved: Vec<Output> = cut.saved.iter().map(|saved| values[saved]).collect();
                let saved = emit::output(graph, created::OPTIONAL_FROM_VALUE, &[&saved], [])?;
                results.push(emit::output(graph, created::PUSH_BACK, &[&[list], &[saved]], [])?);
            }
            Ok(results)
        })?;
    let mut attrs = node.attrs.clone();
    attrs.remove("_output_shapes");
    attrs.insert("cond", new_cond.reference());
    attrs.insert("body", new_body.reference());
    attrs.insert("T", dtypes.iter().copied().chain(own.iter().map(TensorSpec::dtype)).collect::<Vec<_>>());
    let mut shapes: Vec<PartialShape> = attrs.required("output_shapes").unwrap_or_default();
    if !shapes.is_empty() {
        shapes.extend(own.iter().map(|spec| spec.partial_shape().clone()));
        attrs.insert("output_shapes", shapes);
    }
    let base = format!("{}_forward", node.name);
    let (around, _) = emit::function(pass.graph, &base, taken, |graph, mut arguments| {
        arguments.push(emit::constant(graph, 0i32)?);
        if own.len() > 1 {
            let (shape, any) = (emit::constant(graph, Tensor::vector::<i32>(&[])?)?, emit::constant(graph, -1i32)?);
            let attrs = [("element_dtype", AttrValue::from(DataType::Variant))];
            arguments.push(emit::output(graph, created::EMPTY_TENSOR_LIST, &[&[shape], &[any]], attrs)?);
        }
        let attrs = attrs.iter().map(|(name, value)| (name, value.clone()));
        let node = emit::node(graph, &node.op.def.name, "while", &[&arguments], attrs)?;
        Ok((0..arguments.len()).map(|index| Output { node, index }).collect())
    })?;
    Ok(around)
}

/// What a variable of the backward loop is.
#[derive(Clone, Copy)]
enum Variable {
    /// What flows back to a variable that changes.
    Flow(usize),
    /// What has flowed on so far to a variable that does not change.
    Sum(usize),
    /// A variable that does not change.
    Given(usize),
}

/// Adds the backward loop.
fn go_back(
    pass: &mut Pass<'_>,
    id: NodeId,
    (inner, key): (&Loop, &dyn Fn() -> Key),
    (inputs, flows): (&[Output], &[Option<Output>]),
    forward: Forward,
    results: &mut [Option<Output>],
) -> Result<()> {
    let Loop { joint, cut, is_invariant } = inner;
    let places = 0..inputs.len();
    let variables: Vec<Variable> = places
        .clone()
        .filter(|&place| joint.flows[place].is_some())
        .map(Variable::Flow)
        .chain(places.filter(|&place| is_invariant[place] && joint.found[place].is_some()).map(Variable::Sum))
        .chain(cut.arguments.iter().copied().map(Variable::Given))
        .collect();
    let zero = emit::constant(pass.graph, 0i32)?;
    let mut arguments: Vec<Output> = [zero, forward.count].into_iter().chain(forward.list).collect();
    let own = arguments.len();
    for variable in &variables {
        let zeros_of = |place: usize| joint.found[place].map_or(DataType::Float, |found| joint.dtype(found));
        arguments.push(match *variable {
            Variable::Flow(place) => match flows[place] {
                Some(flow) => flow,
                None => emit::zeros_like(pass.graph, Output { node: id, index: place }, zeros_of(place))?,
            },
            Variable::Sum(place) => emit::zeros_like(pass.graph, inputs[place], zeros_of(place))?,
            Variable::Given(place) => inputs[place],
        });
    }
    let specs = specs(pass.graph, inner, &arguments[..own], &variables, &arguments[own..])?;
    let name = pass.graph.node(id).name.clone();
    let shapes: Vec<PartialShape> = specs.iter().map(|spec| spec.partial_shape().clone()).collect();
    let functions = pass.once(key().text("backward").specs(&specs), |pass| {
        let base = format!("{name}_backward_cond");
        let (cond, _) = emit::function(pass.graph, &base, specs.clone(), |graph, arguments| {
            Ok(vec![emit::output(graph, created::LESS, &[&arguments[..1], &arguments[1..2]], [])?])
        })?;
        let (body, _) = emit::function(pass.graph, &format!("{name}_backward_body"), specs, |graph, arguments| {
            step_back(graph, inner, &variables, arguments, own)
        })?;
        Ok((cond, body))
    })?;
    let (cond, body) = &*functions;
    let op = if body.is_stateful() { created::WHILE } else { created::STATELESS_WHILE };
    let attrs = [
        ("cond", AttrValue::from(cond.reference())),
        ("body", body.reference().into()),
        ("output_shapes", shapes.into()),
    ];
    let name = format!("{}/{name}_grad/{op}", pass.prefix);
    let node = pass.add_for(id, op, &name, &[&arguments], attrs)?;
    for (index, variable) in variables.iter().enumerate() {
        if let Variable::Flow(place) | Variable::Sum(place) = *variable {
            results[place] = Some(Output { node, index: own + index });
        }
    }
    Ok(())
}

/// What the arguments of the backward loop's functions are.
fn specs(
    graph: &Graph,
    Loop { joint, .. }: &Loop,
    own: &[Output],
    variables: &[Variable],
    given: &[Output],
) -> Result<Vec<TensorSpec>> {
    let mut specs = own.iter().map(|&output| TensorSpec::like(graph, output)).collect::<Result<Vec<_>>>()?;
    for (variable, &given) in variables.iter().zip(given) {
        let spec = TensorSpec::like(graph, given)?;
        specs.push(match *variable {
            Variable::Flow(place) => {
                // A variable may have another shape in each iteration.
                let [before, after] = [joint.arguments[place], joint.results[place]].map(|end| joint.graph.shape(end));
                TensorSpec::new(spec.dtype())
                    .shape(if before == after { before.clone() } else { PartialShape::unknown() })
                    .name("flow")
            }
            Variable::Sum(_) => spec.name("sum"),
            Variable::Given(_) => spec.name("given"),
        });
    }
    Ok(specs)
}

/// The body of the backward loop: the gradient of one iteration.
fn step_back(
    graph: &mut Graph,
    Loop { joint, cut, .. }: &Loop,
    variables: &[Variable],
    arguments: Vec<Output>,
    own: usize,
) -> Result<Vec<Output>> {
    let one = emit::constant(graph, 1i32)?;
    let count = emit::output(graph, created::ADD_V2, &[&arguments[..1], &[one]], [])?;
    let mut results = vec![count, arguments[1]];
    let mut known: HashMap<Output, Output> = HashMap::new();
    for (variable, &argument) in variables.iter().zip(&arguments[own..]) {
        match *variable {
            Variable::Flow(place) => known.extend(joint.flows[place].map(|flow| (flow, argument))),
            Variable::Given(place) => _ = known.insert(joint.arguments[place], argument),
            Variable::Sum(_) => {}
        }
    }
    if own > 2 {
        let shape = emit::constant(graph, Tensor::vector::<i32>(&[])?)?;
        let attrs = [("element_dtype", AttrValue::from(DataType::Variant))];
        let popped = emit::node(graph, created::POP_BACK, created::POP_BACK, &[&arguments[2..3], &[shape]], attrs)?;
        results.push(Output { node: popped, index: 0 });
        known.extend(emit::opened(graph, joint, &cut.saved, Output { node: popped, index: 1 })?);
    }
    let found = joint.emit_backward(cut, graph, known.clone())?;
    for (variable, &argument) in variables.iter().zip(&arguments[own..]) {
        let lost = || Error::internal("a gradient of a loop that was lost");
        results.push(match *variable {
            Variable::Flow(place) => match found[place] {
                Some(found) => found,
                None => {
                    let variable = joint.arguments[place];
                    emit::zeros_like(graph, *known.get(&variable).ok_or_else(lost)?, joint.dtype(variable))?
                }
            },
            Variable::Sum(place) => {
                let found = found[place].ok_or_else(lost)?;
                emit::output(graph, created::ADD_N, &[&[argument, found]], [])?
            }
            Variable::Given(_) => argument,
        });
    }
    Ok(results)
}
