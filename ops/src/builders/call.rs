//! Calls of functions.

use kernlink::graph::{Function, Graph, IntoOperand, NodeId, NodeInput, Operand, Output};
use kernlink::{Error, Result};

use super::{Building, CallSite, def};
use crate::{PartitionedCall, StatefulPartitionedCall};

/// A call.
pub struct Call {
    function: Function,
    arguments: Result<Vec<Operand<Output>>>,
}

/// Calls a function of the graph's library, with what it captures after the arguments. The node is a
/// `StatefulPartitionedCall` if the function keeps a state or has effects, and a `PartitionedCall` if not.
pub fn call<'g>(
    graph: &'g mut Graph,
    function: &Function,
    arguments: impl IntoIterator<Item = impl IntoOperand<Output>>,
) -> Building<'g, Call> {
    let arguments = arguments.into_iter().map(IntoOperand::into_operand).collect();
    Building::new(graph, Call { function: function.clone(), arguments })
}

impl Building<'_, Call> {
    /// Adds the node; returns the function's results.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the arguments are not what the function takes, or the body does not fit them.
    pub fn build(self) -> Result<Vec<Output>> {
        self.build_node().map(|(_, results)| results)
    }

    /// As [`build`](Self::build); returns the node too.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_node(self) -> Result<(NodeId, Vec<Output>)> {
        let Building { graph, name, device, control_inputs, kind: Call { function, arguments } } = self;
        let mut arguments = arguments?;
        arguments.extend(function.captures().iter().map(|&capture| Operand::Value(capture)));
        let expected = function.argument_dtypes();
        let within =
            |message: String| Error::invalid_argument(format!("call of function `{}`: {message}", function.name()));
        if arguments.len() != expected.len() {
            let captured = function.captures().len();
            let (given, expected) = (arguments.len() - captured, expected.len().saturating_sub(captured));
            return Err(within(format!("{given} arguments are given and it takes {expected}")));
        }
        arguments = arguments.into_iter().zip(expected).map(|(argument, &dtype)| argument.with_dtype(dtype)).collect();
        for (index, (argument, expected)) in arguments.iter().zip(expected).enumerate() {
            let given = match argument {
                Operand::Value(output) => super::dtype_of(graph, *output)?,
                Operand::Constant(tensor) | Operand::Literal(tensor) => tensor.dtype(),
            };
            if given != *expected {
                return Err(within(format!("argument {index} is {given} and must be {expected}")));
            }
        }
        let op = if function.is_stateful() { def::<StatefulPartitionedCall>() } else { def::<PartitionedCall>() };
        let site = CallSite { name, device, control_inputs };
        let node = site.build(graph, op, std::slice::from_ref(&function), |node| {
            node.operands(NodeInput::List(arguments));
            node.attr("f", function.reference()).attr("Tout", function.result_dtypes().to_vec());
        })?;
        Ok((node, graph.outputs_of(node, 0)))
    }
}
