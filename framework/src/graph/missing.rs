//! Nodes whose ops the registry lacks. They keep their names, attrs and edges, so that all else of a graph can be used; a
//! run that needs one is refused.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::call::unknown;
use super::function::slots_of;
use super::node_def::node_attrs;
use super::order::Edges;
use super::{Graph, Node, NodeClass, NodeId, Output, created};
use crate::attr::AttrValue;
use crate::collect::OpEntry;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::kernel::{Location, Provider};
use crate::op::{InOutType, OpDef, Signature};
use crate::proto::{GraphDef, NodeDef};
use crate::registry::Registry;
use crate::shape::PartialShape;
use crate::sort::CompactSort as _;

/// The ops of a graph that a registry lacks, with the nodes that use them.
pub type MissingOps = BTreeMap<String, Vec<String>>;

/// Stands for every op that a registry lacks.
static ENTRY: OpEntry = OpEntry {
    def: &OpDef { name: Cow::Borrowed(created::MISSING), ..OpDef::EMPTY },
    shape_fn: None,
    system: true,
    selected: true,
    provider: &Provider::new(env!("CARGO_PKG_NAME"), HERE),
    location: HERE,
    writable: AtomicBool::new(false),
};

const HERE: Location = Location { file: file!(), line: line!() };

/// The attr that holds the op's name.
const NAME: &str = "_missing_op";

/// How many outputs the missing nodes of a graph may have together, beside a few for each edge: which ones there are is
/// known from those that are taken alone, and one name may say that it is the last of many. Each output takes memory that
/// cannot be refused; by these bounds an edge brings no more than a node of its own would.
const MAX_OUTPUTS: usize = 1 << 16;
const MAX_OUTPUTS_PER_EDGE: usize = 4;

/// How many outputs one missing node may have. Those of TensorFlow's models have some hundred at most.
const MAX_OUTPUTS_OF_NODE: usize = 1 << 12;

/// So many missing ops are told of in full, as the search for similar names takes a while for each.
const SHOWN: usize = 24;

/// The outputs of the nodes of a graph whose ops are missing, by the nodes' positions; `None` for those that nobody knows.
pub(super) type MissingOutputs = HashMap<usize, Vec<Option<InOutType>>>;

/// The outputs of the nodes whose ops are missing, as far as other nodes take them, with the types that those expect.
///
/// # Errors
/// NOT_FOUND for missing ops of TensorFlow 1's control flow, without which it is unknown what is alive and where loops
/// are; INVALID_ARGUMENT for more outputs than a graph would have.
pub(super) fn missing_outputs(def: &GraphDef, edges: &[Edges], registry: &Registry) -> Result<MissingOutputs> {
    let mut outputs = MissingOutputs::new();
    let mut needed_always = MissingOps::new();
    for (position, node) in def.node.iter().enumerate() {
        if registry.find_op(&node.op).is_none() {
            outputs.insert(position, Vec::new());
            if NodeClass::of(&node.op).is_control_flow() {
                needed_always.entry(node.op.clone()).or_default().push(node.name.clone());
            }
        }
    }
    if !needed_always.is_empty() {
        return Err(error("the graph", &needed_always, registry));
    }
    if outputs.is_empty() {
        return Ok(outputs);
    }
    let mut left = MAX_OUTPUTS + MAX_OUTPUTS_PER_EDGE * edges.iter().map(|edges| edges.data.len()).sum::<usize>();
    for (node, edges) in def.node.iter().zip(edges) {
        if !edges.data.iter().any(|(source, _)| outputs.contains_key(source)) {
            continue;
        }
        // A node that cannot be read says so when it is added.
        let op = registry.find_op(&node.op);
        let expected = op.and_then(|op| slots_of(node, op.def).ok()).unwrap_or_default().inputs;
        for (input, &(source, index)) in edges.data.iter().enumerate() {
            let Some(found) = outputs.get_mut(&source) else { continue };
            let more = (index + 1).saturating_sub(found.len());
            let is_plausible = index < MAX_OUTPUTS_OF_NODE;
            left = left.checked_sub(more).filter(|_| is_plausible).ok_or_else(|| {
                let message =
                    format!("it takes output {index} of `{}`, of which nothing is known", def.node[source].name);
                Error::invalid_argument(message).at_node(&node.name, &node.op, &node.device)
            })?;
            found.extend(std::iter::repeat_n(None, more));
            if let Some(expected) = expected.get(input) {
                let is_ref = found[index].is_some_and(|known| known.is_ref) || expected.is_ref;
                found[index] = Some(InOutType { dtype: expected.dtype, is_ref });
            }
        }
    }
    Ok(outputs)
}

/// The type of an output that nobody knows: it is never looked at.
const UNKNOWN: InOutType = InOutType { dtype: DataType::Variant, is_ref: false };

/// The error that something needs ops that are missing, which names them, or of many the first few.
pub(super) fn error(what: &str, missing: &MissingOps, registry: &Registry) -> Error {
    let shown = || missing.iter().take(SHOWN);
    let mut lines: Vec<String> = shown().map(|(op, nodes)| registry.missing_op(op, nodes)).collect();
    if missing.len() > SHOWN {
        lines.push(format!("and {} more", missing.len() - SHOWN));
    }
    lines.retain(|line| !line.is_empty());
    let error = Error::not_found(format!("{what} needs ops that are missing:\n  {}", lines.join("\n  ")));
    error.advise_all("\n  ", registry.advice(shown().map(|(op, _)| op.as_str())))
}

impl Node {
    /// The name of the node's op. It is [`op`](Node::op)'s, unless the registry lacks the op: then `op` only stands for
    /// it, and the node's class is [`NodeClass::Missing`].
    pub fn op_name(&self) -> Cow<'_, str> {
        match self.attrs.get(NAME) {
            Some(AttrValue::String(name)) if self.class == NodeClass::Missing => name.to_string_lossy(),
            _ => Cow::Borrowed(&self.op.def.name),
        }
    }

    /// What is wrong with the call of a function that the node is. That of a node of class [`NodeClass::Missing`] refuses the
    /// runs that need the node. Any other comes from what shape inference knows, and refuses none, as in TensorFlow: feeds
    /// may have other shapes, and if not, a kernel meets what is wrong.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_deref()
    }

    /// The dtype of an output; `None` if there is no such output, or the op is missing and nothing that takes the output says
    /// what it is. The signature has `Variant` for it then.
    pub fn output_dtype(&self, index: usize) -> Option<DataType> {
        let known = self.signature.outputs.get(index).filter(|_| self.unknown_outputs.binary_search(&index).is_err());
        known.map(|slot| slot.dtype)
    }

    /// The attrs, without what only stands for the op's name.
    pub(super) fn own_attrs(&self) -> impl Iterator<Item = (&str, &AttrValue)> {
        self.attrs.iter().filter(|(name, _)| self.class != NodeClass::Missing || *name != NAME)
    }
}

impl Graph {
    /// Whether the registry lacks an op of a node of the graph, or of any function in its library.
    pub fn lacks_ops(&self) -> bool {
        let functions = self.functions.as_deref();
        let is_missing = |op: &str| {
            self.registry.find_op(op).is_none() && functions.is_none_or(|functions| functions.find(op).is_none())
        };
        let bodies = functions.into_iter().flat_map(|functions| functions.iter());
        self.nodes.iter().any(|node| node.class == NodeClass::Missing)
            || bodies.flat_map(|function| &function.node_def).any(|node| is_missing(&node.op))
    }

    /// Adds a node whose op is missing, or that calls a function as it cannot be called, which `fault` says.
    pub(super) fn add_missing(
        &mut self,
        node: &NodeDef,
        inputs: Vec<Output>,
        mut control_inputs: Vec<NodeId>,
        outputs: Vec<Option<InOutType>>,
        fault: Option<Error>,
    ) -> Result<NodeId> {
        let context = |error: Error| error.at_node(&node.name, &node.op, &node.device);
        control_inputs.compact_sort();
        control_inputs.dedup();
        let given = inputs.iter().map(|&input| {
            self.slot(input).ok_or_else(|| Error::invalid_argument(format!("an input: {}", self.absent(input))))
        });
        let given = given.collect::<Result<Vec<_>>>().map_err(context)?;
        let mut attrs = node_attrs(node, ENTRY.def)?;
        attrs.insert(NAME, node.op.as_str());
        let unknown_outputs = (0..outputs.len()).filter(|&index| outputs[index].is_none()).collect();
        let outputs = outputs.into_iter().map(|output| output.unwrap_or(UNKNOWN)).collect();
        let signature = Signature { inputs: given, outputs, ..Signature::default() };
        let output_shapes = vec![PartialShape::unknown(); signature.outputs.len()];
        let id = self.push(Node {
            name: node.name.clone(),
            op: &ENTRY,
            class: NodeClass::Missing,
            attrs,
            signature: Arc::new(signature),
            inputs,
            control_inputs,
            device: node.device.clone(),
            output_shapes,
            fault: fault.map(Box::new),
            unknown_outputs,
        });
        let mut symbols = self.next_symbol;
        for index in 0..self.node(id).signature.outputs.len() {
            self.note(Output { node: id, index }, unknown(&mut symbols));
        }
        self.next_symbol = symbols;
        Ok(id)
    }

    /// Refuses nodes whose ops are missing, all in one error, and those that call functions as they cannot be called.
    pub(crate) fn check_present(&self, nodes: &[NodeId]) -> Result<()> {
        let mut missing = MissingOps::new();
        let lacking = || nodes.iter().map(|&id| self.node(id)).filter(|node| node.class == NodeClass::Missing);
        for node in lacking().filter(|node| node.fault.is_none()) {
            missing.entry(node.op_name().into_owned()).or_default().push(node.name.clone());
        }
        if missing.is_empty() {
            let fault = lacking().find_map(Node::fault);
            return fault.map_or(Ok(()), |fault| Err(fault.clone()));
        }
        Err(error("the run", &missing, &self.registry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::op::OpDef;

    fn node(name: &str, op: &str, input: &[&str]) -> NodeDef {
        let input = input.iter().map(|input| (*input).to_owned()).collect();
        NodeDef { name: name.to_owned(), op: op.to_owned(), input, ..NodeDef::default() }
    }

    fn graph(nodes: Vec<NodeDef>) -> Result<Graph> {
        let registry = Arc::new(Registry::from_ops([OpDef { name: "Op".into(), ..OpDef::EMPTY }]).unwrap());
        Graph::import(&GraphDef { node: nodes, ..GraphDef::default() }, &registry)
    }

    #[test]
    fn a_node_has_no_more_outputs_than_an_op_would_have() {
        let taking = |last: &str| graph(vec![node("x", "PlaceholderX", &[]), node("y", "TakesX", &[last])]);
        let graph = taking("x:4095").unwrap();
        let x = graph.node(graph.find("x").unwrap());
        assert_eq!((x.signature.outputs.len(), x.output_dtype(4095), x.output_dtype(0)), (4096, None, None));
        for last in ["x:4096", "x:65535", "x:16000000"] {
            let error = taking(last).err().expect("nothing has so many outputs");
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().contains("of `x`, of which nothing is known"), "{error}");
        }
    }

    #[test]
    fn an_edge_brings_few_outputs_beside_those_that_every_graph_may_have() {
        let nodes = |count: usize| {
            let sources = (0..count).map(|n| node(&format!("x{n}"), "X", &[]));
            let takers = (0..count).map(|n| node(&format!("y{n}"), "Y", &[&format!("x{n}:4095")]));
            graph(sources.chain(takers).collect())
        };
        assert!(nodes(16).is_ok());
        assert_eq!(nodes(17).err().expect("only 16 * 4096 are free").code(), Code::InvalidArgument);
    }

    #[test]
    fn of_many_missing_ops_the_first_few_are_told() {
        let graph = graph((0..100_000).map(|n| node(&format!("n{n}"), &format!("Unknown{n:05}"), &[])).collect());
        let graph = graph.unwrap();
        let ids: Vec<NodeId> = graph.ids().collect();
        let error = graph.check_present(&ids).unwrap_err();
        let lines = error.message().lines().filter(|line| line.contains("is not linked into this program"));
        assert_eq!(lines.count(), SHOWN, "{error}");
        assert!(
            error.message().contains("op `Unknown00023`") && error.message().contains("\n  and 99976 more"),
            "{error}"
        );
        let error = graph.check_present(&ids[..SHOWN]).unwrap_err();
        assert!(!error.message().contains(" more"), "{error}");
    }
}
