//! Loops over ranges of numbers: `For`.

use super::shared::Key;
use super::{call, emit};
use crate::attr::{AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::gradient::pass::Pass;
use crate::graph::{Function, Graph, NodeId, Output, TensorSpec, created};
use crate::shape::PartialShape;

/// The node becomes a call of a function around a loop that counts, which is differentiated as any.
pub(super) fn differentiate(pass: &mut Pass<'_>, id: NodeId, flows: &[Option<Output>]) -> Result<Vec<Option<Output>>> {
    let node = pass.graph.node(id).clone();
    let body: FunctionRef = node.attrs.required("body")?;
    if node.inputs.len() < 3 {
        return Err(Error::invalid_argument("a loop over a range has no range"));
    }
    let specs = node.inputs.iter().map(|&input| TensorSpec::like(pass.graph, input)).collect::<Result<Vec<_>>>()?;
    let key = Key::new("range").functions([&body]).specs(&specs);
    let around = pass.once(key, |pass| counting(pass.graph, &node.name, &body, specs))?;
    call::call_instead(pass, id, around.reference(), around.result_dtypes().to_vec(), around.is_stateful())?;
    call::differentiate(pass, id, flows)
}

/// A function around a loop that counts, which takes what a node does.
fn counting(graph: &mut Graph, node: &str, body: &FunctionRef, specs: Vec<TensorSpec>) -> Result<Function> {
    let is_stateful = graph.is_stateful_function(&body.name);
    let own = [DataType::Int32; OWN].map(|dtype| TensorSpec::new(dtype).shape(PartialShape::of_rank(0)));
    // A value may have another shape in each iteration.
    let values = specs[3..].iter().map(|spec| TensorSpec::new(spec.dtype()));
    let variables: Vec<TensorSpec> = own.into_iter().chain(values).collect();
    let (cond, _) = emit::function(graph, &format!("{}_goes_on", body.name), variables.clone(), |graph, variables| {
        Ok(vec![emit::output(graph, created::LESS, &[&variables[..1], &variables[1..2]], [])?])
    })?;
    let dtypes: Vec<DataType> = specs[3..].iter().map(TensorSpec::dtype).collect();
    let (step, _) = emit::function(graph, &format!("{}_step", body.name), variables, |graph, variables| {
        let ([done, count, number, delta], values) = of_loop(&variables)?;
        let one = emit::constant(graph, 1i32)?;
        let done = emit::output(graph, created::ADD_V2, &[&[done], &[one]], [])?;
        let next = emit::output(graph, created::ADD_V2, &[&[number], &[delta]], [])?;
        let arguments: Vec<Output> = [number].into_iter().chain(values.iter().copied()).collect();
        let op = if is_stateful { created::STATEFUL_CALL } else { created::CALL };
        let attrs = [("f", AttrValue::from(body.clone())), ("Tout", dtypes.clone().into())];
        let node = emit::node(graph, op, op, &[&arguments], attrs)?;
        let results = (0..values.len()).map(|index| Output { node, index });
        Ok([done, count, next, delta].into_iter().chain(results).collect())
    })?;
    let (around, _) = emit::function(graph, &format!("{node}_range"), specs, |graph, inputs| {
        let [start, limit, delta] = [inputs[0], inputs[1], inputs[2]];
        let count = count_of(graph, [start, limit, delta])?;
        let zero = emit::constant(graph, 0i32)?;
        let variables: Vec<Output> =
            [zero, count, start, delta].into_iter().chain(inputs[3..].iter().copied()).collect();
        let op = if is_stateful { created::WHILE } else { created::STATELESS_WHILE };
        let attrs = [("cond", AttrValue::from(cond.reference())), ("body", step.reference().into())];
        let node = emit::node(graph, op, op, &[&variables], attrs)?;
        Ok((OWN..variables.len()).map(|index| Output { node, index }).collect())
    })?;
    Ok(around)
}

/// How many variables the loop has beside those of the node: how often it ran, how often it is to run, the number, and the step.
const OWN: usize = 4;

fn of_loop(variables: &[Output]) -> Result<([Output; OWN], &[Output])> {
    let own = variables.first_chunk().ok_or_else(|| Error::internal("a loop lost its variables"))?;
    Ok((*own, &variables[OWN..]))
}

/// How many numbers a range has; `Range` refuses the ranges that `For` does, but for an empty one whose step is zero.
fn count_of(graph: &mut Graph, [start, limit, delta]: [Output; 3]) -> Result<Output> {
    let one = emit::constant(graph, 1i32)?;
    let is_empty = emit::output(graph, created::EQUAL, &[&[start], &[limit]], [])?;
    let step = emit::output(graph, created::SELECT_V2, &[&[is_empty], &[one], &[delta]], [])?;
    let numbers = emit::output(graph, created::RANGE, &[&[start], &[limit], &[step]], [])?;
    emit::output(graph, created::SIZE, &[&[numbers]], [])
}
