//! A call of a function by its name: what an operation, or an op that runs at once, is whose op is the name of a function.

use std::collections::BTreeMap;

use kernlink::Result;
use kernlink::attr::{AttrMap, FunctionRef};
use kernlink::dtype::DataType;
use kernlink::graph::{Graph, NodeInput, NodeRequest, Operand};
use kernlink::op::OpDef;

/// A call of a function.
pub(crate) struct Call {
    /// What calls it.
    op: &'static OpDef,
    function: FunctionRef,
    /// The attrs that are the call's, and not the function's.
    own: AttrMap,
    /// The dtypes of the function's arguments.
    pub(crate) arguments: Vec<DataType>,
    results: Vec<DataType>,
}

impl Call {
    /// A call of the function that a library has by this name, with the attrs that are given to the op. Those of the runtime's
    /// own, which begin with an underscore, are the call's, and all others the function's.
    ///
    /// # Errors
    /// As [`Graph::function_dtypes`].
    pub(crate) fn new(library: &Graph, function: &str, attrs: &AttrMap) -> Result<Call> {
        let attrs = attrs.iter().map(|(name, value)| (name.to_owned(), value.clone()));
        let (own, attrs): (BTreeMap<_, _>, BTreeMap<_, _>) = attrs.partition(|(name, _)| name.starts_with('_'));
        let function = FunctionRef { name: function.to_owned(), attrs };
        let (arguments, results) = library.function_dtypes(&function)?;
        let is_stateful = library.is_stateful_function(&function.name);
        let op = library.registry().op(if is_stateful { "StatefulPartitionedCall" } else { "PartitionedCall" })?.def;
        Ok(Call { op, function, own: own.into_iter().collect(), arguments, results })
    }

    /// The call of these inputs.
    pub(crate) fn of<'a, V>(self, inputs: impl Iterator<Item = V>) -> NodeRequest<'a, V> {
        let mut request = NodeRequest::new(self.op);
        request.inputs.push(NodeInput::List(inputs.map(Operand::Value).collect()));
        request.attrs = self.own;
        request.attrs.insert("f", self.function);
        request.attrs.insert("Tin", self.arguments);
        request.attrs.insert("Tout", self.results);
        request
    }
}
