//! Adding nodes by the names of their ops.

use super::joint::Joint;
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{Function, Graph, NodeBuilder, NodeId, Output, TensorSpec, Trace, complete_attrs, created};
use crate::op::{InOutType, OpDef, Signature};
use crate::shape::{PartialShape, Shape};
use crate::tensor::{IntoTensor, Tensor};

/// A node of a name that begins so, its inputs by argument: one if the argument is one, or all of its list.
pub(in crate::gradient) fn builder<'g, 'a>(
    graph: &'g mut Graph,
    op: &str,
    name: &str,
    inputs: &[&[Output]],
    attrs: impl IntoIterator<Item = (&'a str, AttrValue)>,
) -> Result<NodeBuilder<'g>> {
    let op = graph.registry().op(op)?.def;
    let name = graph.free_name(name);
    let mut builder = NodeBuilder::new(graph, op);
    builder.name(&name);
    for (argument, given) in op.inputs.iter().zip(inputs) {
        match (argument.is_list(), given) {
            (false, [input]) => builder.input(*input),
            _ => builder.input_list(given.iter().copied()),
        };
    }
    attrs.into_iter().for_each(|(name, value)| _ = builder.attr(name, value));
    Ok(builder)
}

/// As [`builder`]; adds the node.
pub(super) fn node<'a>(
    graph: &mut Graph,
    op: &str,
    name: &str,
    inputs: &[&[Output]],
    attrs: impl IntoIterator<Item = (&'a str, AttrValue)>,
) -> Result<NodeId> {
    builder(graph, op, name, inputs, attrs)?.build()
}

/// As [`node`], for an op whose first output is wanted.
pub(super) fn output<'a>(
    graph: &mut Graph,
    op: &str,
    inputs: &[&[Output]],
    attrs: impl IntoIterator<Item = (&'a str, AttrValue)>,
) -> Result<Output> {
    Ok(Output { node: node(graph, op, op, inputs, attrs)?, index: 0 })
}

pub(super) fn constant(graph: &mut Graph, value: impl IntoTensor) -> Result<Output> {
    let value: Tensor = value.into_tensor()?;
    output(graph, created::CONSTANT, &[], [("dtype", value.dtype().into()), ("value", value.into())])
}

/// Zeros like a value of a body: those of the variable, if it is the handle of one with elements of `dtype`.
pub(super) fn zeros_like(graph: &mut Graph, value: Output, dtype: DataType) -> Result<Output> {
    let is_handle = graph.node(value.node).signature.outputs[value.index].dtype == DataType::Resource;
    if !is_handle {
        return output(graph, created::ZEROS_LIKE, &[&[value]], []);
    }
    let dims = output(graph, created::VARIABLE_SHAPE, &[&[value]], [])?;
    let zero = Tensor::zeros(dtype, Shape::scalar())?;
    let zero = constant(graph, zero)?;
    output(graph, created::FILL, &[&[dims], &[zero]], [])
}

/// A function of a name that begins like another one's, and what it returns.
pub(super) fn function(
    graph: &mut Graph,
    base: &str,
    specs: Vec<TensorSpec>,
    build: impl FnOnce(&mut Graph, Vec<Output>) -> Result<Vec<Output>>,
) -> Result<(Function, Trace)> {
    let (trace, _) = graph.trace(specs, build)?;
    let name = graph.free_function_name(base);
    // A body takes nothing from outside: all is given to it.
    let function = graph.define(&name, &trace, &[], &AttrMap::new())?;
    Ok((function, trace))
}

/// A node of an op as a function.
pub(in crate::gradient) fn function_of(graph: &mut Graph, op: &'static OpDef, attrs: &AttrMap) -> Result<Function> {
    let mut complete = attrs.clone();
    complete_attrs(op, &mut complete)?;
    let signature = Signature::new(op, &complete)?;
    let specs = signature.inputs.iter().map(|slot| TensorSpec::new(slot.dtype)).collect();
    let (function, _) = function(graph, &op.name, specs, |graph, arguments| {
        let inputs: Vec<&[Output]> = signature.input_ranges.iter().map(|range| &arguments[range.clone()]).collect();
        let attrs = attrs.iter().map(|(name, value)| (name, value.clone()));
        let node = node(graph, &op.name, &op.name, &inputs, attrs)?;
        Ok((0..signature.outputs.len()).map(|index| Output { node, index }).collect())
    })?;
    Ok(function)
}

/// The op that calls a function.
pub(in crate::gradient) fn call_of(function: &Function) -> &'static str {
    if function.is_stateful() { created::STATEFUL_CALL } else { created::CALL }
}

/// The dtypes of inputs or outputs.
pub(in crate::gradient) fn dtypes(slots: &[InOutType]) -> Vec<DataType> {
    slots.iter().map(|slot| slot.dtype).collect()
}

/// What an optional is as an argument.
pub(super) fn optional() -> TensorSpec {
    TensorSpec::new(DataType::Variant).shape(PartialShape::of_rank(0)).name("saved")
}

/// What an optional holds: values of a body, with where they are.
pub(super) fn opened(
    graph: &mut Graph,
    joint: &Joint,
    saved: &[Output],
    optional: Output,
) -> Result<Vec<(Output, Output)>> {
    let dtypes: Vec<DataType> = saved.iter().map(|saved| joint.dtype(*saved)).collect();
    // A handle is a scalar, whatever TensorFlow's shape functions say: of arrays, `[2]`.
    let shape_of = |saved: &Output| match joint.dtype(*saved) {
        DataType::Resource => PartialShape::unknown(),
        _ => joint.graph.shape(*saved).clone(),
    };
    let shapes: Vec<PartialShape> = saved.iter().map(shape_of).collect();
    let attrs = [("output_types", dtypes.into()), ("output_shapes", shapes.into())];
    let opened = node(graph, created::OPTIONAL_GET_VALUE, created::OPTIONAL_GET_VALUE, &[&[optional]], attrs)?;
    Ok(saved.iter().enumerate().map(|(index, saved)| (*saved, Output { node: opened, index })).collect())
}
