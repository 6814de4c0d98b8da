//! TensorFlow's hash of the graph of a dataset: of the structure, not of names, nor of seeds.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use kernlink::attr::FunctionRef;
use kernlink::graph::Graph;
use kernlink::op::OpDef;
use kernlink::proto::{AttrValue, GraphDef, NameAttrList, NodeDef, attr_from_proto, attr_value, encoded};
use kernlink::registry::Registry;
use kernlink::{Error, Result};
use kernlink_kernels_common::hash64::hash64;

/// Ops whose seeds do not count, of all versions.
const WITH_SEEDS: [&str; 3] = ["AnonymousRandomSeedGenerator", "ShuffleDataset", "ShuffleAndRepeatDataset"];
const SEEDS: [&str; 3] = ["seed", "seed2", "seed_generator"];

/// How deeply functions may call each other.
const MOST_CALLS: u32 = 100;

/// The hash of the graph of a dataset, from its `_Retval`, with the functions that it has.
///
/// # Errors
/// INTERNAL if the graph has no `_Retval`, two nodes of one name or an input that it has not; NOT_FOUND for an op that the registry lacks;
/// INVALID_ARGUMENT for a function whose body is invalid.
pub(crate) fn hash_graph(def: &GraphDef, registry: &Arc<Registry>) -> Result<u64> {
    let sink = def.node.iter().find(|node| node.op == "_Retval");
    let sink = sink.ok_or_else(|| Error::internal("Cannot find sink node for dataset graph."))?;
    let mut functions = Graph::new(registry);
    functions.add_functions(def.library.as_ref().map_or(&[], |library| &library.function))?;
    let mut hasher = Hasher { functions, hashes: HashMap::new(), depth: 0 };
    hasher.graph(&def.node, sink, &mut HashMap::new())
}

/// The op without the number of its version, and whether it is one of those or one of their versions.
pub(crate) fn is_version_of(op: &str, prefix: &str) -> bool {
    let version = op.strip_prefix(prefix);
    version.is_some_and(|version| {
        let number = version.strip_prefix('V');
        version.is_empty()
            || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// `Hash64Combine`.
pub(crate) fn combined(one: u64, other: u64) -> u64 {
    let other = other.wrapping_add(0x9e37_79b9_7f4a_7800);
    one ^ other.wrapping_add(one << 10).wrapping_add(one >> 4)
}

/// `Hash64` of bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    hash64(bytes, 0x00DE_CAFC_AFFE)
}

struct Hasher {
    /// A graph without nodes, with the functions.
    functions: Graph,
    /// Those of functions, by name.
    hashes: HashMap<String, u64>,
    depth: u32,
}

/// What of the inputs of a node counts.
#[derive(Default)]
struct Inputs<'n> {
    /// Where they come from, with what stands behind the colon.
    data: Vec<(&'n NodeDef, &'n str)>,
    control: Vec<&'n NodeDef>,
}

impl Hasher {
    /// The hash of a graph from a node of it. What is known from another node of the same graph counts as it is known.
    fn graph<'n>(
        &mut self,
        nodes: &'n [NodeDef],
        root: &'n NodeDef,
        hashes: &mut HashMap<&'n str, u64>,
    ) -> Result<u64> {
        let mut by_name = HashMap::with_capacity(nodes.len());
        for node in nodes {
            if by_name.insert(&*node.name, node).is_some() {
                let message = format!("Encountered graph with duplicate node name '{}'", node.name);
                return Err(Error::internal(message));
            }
        }
        // In the order in which they are met, the nearest first. An input that was met already does not count.
        let mut met: HashSet<&str> = HashSet::new();
        let mut order: Vec<(&NodeDef, Inputs<'_>)> = Vec::new();
        let mut queue = VecDeque::from([root]);
        while let Some(node) = queue.pop_front() {
            if !met.insert(&node.name) {
                continue;
            }
            let ignores = self.ignored_inputs(&node.op);
            let mut inputs = Inputs::default();
            let counted = node.input.iter().enumerate().filter(|(index, _)| !ignores.contains(index));
            for (_, input) in counted {
                let (name, suffix) = input.split_once(':').unwrap_or((input, ""));
                let control = input.strip_prefix('^');
                let name = control.unwrap_or(name);
                let source = by_name.get(name).copied().ok_or_else(|| {
                    let at = &node.name;
                    Error::internal(format!("Graph node [{at}] has input [{name}] that doesn't exist in graph"))
                })?;
                if met.contains(name) {
                    continue;
                }
                if control.is_some() {
                    inputs.control.push(source);
                } else {
                    inputs.data.push((source, suffix));
                    queue.push_back(source);
                }
            }
            order.push((node, inputs));
        }
        // Who is met takes what is met later, but for what is taken twice before it is met.
        let by_name: HashMap<&str, &Inputs<'_>> = order.iter().map(|(node, inputs)| (&*node.name, inputs)).collect();
        let mut stack = vec![root];
        while let Some(&node) = stack.last() {
            if hashes.contains_key(&*node.name) {
                stack.pop();
                continue;
            }
            let inputs = by_name[&*node.name];
            let before = stack.len();
            stack
                .extend(inputs.data.iter().map(|(input, _)| *input).filter(|input| !hashes.contains_key(&*input.name)));
            if stack.len() > before {
                continue;
            }
            let own = self.node(node, true)?;
            let mut control = 0_u64;
            for input in &inputs.control {
                control = control.wrapping_add(self.node(input, false)?);
            }
            let data = inputs
                .data
                .iter()
                .fold(0, |sum, (input, suffix)| combined(sum, combined(hashes[&*input.name], hash(suffix.as_bytes()))));
            hashes.insert(&node.name, combined(own, combined(control, data)));
            stack.pop();
        }
        Ok(hashes[&*root.name])
    }

    /// The inputs of an op that are seeds.
    fn ignored_inputs(&self, op: &str) -> Vec<usize> {
        if !WITH_SEEDS.iter().any(|prefix| is_version_of(op, prefix)) {
            return Vec::new();
        }
        let Ok(op) = self.functions.registry().op(op) else { return Vec::new() };
        let inputs = op.def.inputs.iter().enumerate();
        inputs.filter(|(_, input)| SEEDS.contains(&&*input.name)).map(|(index, _)| index).collect()
    }

    /// The hash of a node without its inputs.
    fn node(&mut self, node: &NodeDef, with_functions: bool) -> Result<u64> {
        let registry = self.functions.registry().clone();
        let call = self.functions.function_def(&node.op).map(|function| function.signature.clone().unwrap_or_default());
        let (op, names): (u64, Vec<String>) = match call {
            Some(signature) => {
                let attrs = node.attr.iter().map(|(name, value)| (name.clone(), value.clone()));
                let call = NameAttrList { name: node.op.clone(), attr: attrs.collect() };
                let own = if with_functions { self.function(&call)? } else { 0 };
                (own, signature.attr.iter().map(|attr| attr.name.clone()).collect())
            }
            None => {
                let op = registry.op(&node.op)?.def;
                let counts = |name: &str| !(name == "metadata" && makes_dataset(op));
                let names = op.attrs.iter().map(|attr| attr.name.to_string()).filter(|name| counts(name));
                (hash(node.op.as_bytes()), names.collect())
            }
        };
        let mut attrs = 0;
        for name in &names {
            if let Some(value) = node.attr.get(name) {
                attrs = combined(attrs, combined(hash(name.as_bytes()), self.attr(value, with_functions)?));
            }
        }
        Ok(combined(op, combined(attrs, hash(node.device.as_bytes()))))
    }

    fn attr(&mut self, value: &AttrValue, with_functions: bool) -> Result<u64> {
        match &value.value {
            Some(attr_value::Value::Func(call)) if with_functions => self.function(call),
            Some(attr_value::Value::List(list)) if !list.func.is_empty() && with_functions => {
                let mut sum = 0;
                for call in &list.func {
                    sum = combined(sum, self.function(call)?);
                }
                Ok(sum)
            }
            Some(attr_value::Value::Func(_)) => Ok(0),
            Some(attr_value::Value::List(list)) if !list.func.is_empty() => Ok(0),
            _ => Ok(hash(&encoded(value)?)),
        }
    }

    /// The hash of a function's body.
    fn function(&mut self, call: &NameAttrList) -> Result<u64> {
        if let Some(known) = self.hashes.get(&call.name) {
            return Ok(*known);
        }
        if self.depth >= MOST_CALLS {
            return Err(Error::resource_exhausted(
                "functions of a dataset call each other too deeply to be told apart",
            ));
        }
        let attrs = call.attr.iter().map(|(name, value)| Ok((name.clone(), attr_from_proto(value)?)));
        let reference = FunctionRef { name: call.name.clone(), attrs: attrs.collect::<Result<_>>()? };
        let control_returns: Vec<String> = self
            .functions
            .function_def(&call.name)
            .map_or_else(Vec::new, |function| function.control_ret.values().cloned().collect());
        let body = self.functions.function_body(&reference)?;
        let mut nodes = body.graph.to_def()?.node;
        // Messages count as they were written: a tensor can be written in several ways.
        let written = self.functions.function_def(&call.name).map_or(&[][..], |function| &function.node_def);
        let written: HashMap<&str, &NodeDef> = written.iter().map(|node| (&*node.name, node)).collect();
        for node in &mut nodes {
            let Some(written) = written.get(&*node.name) else { continue };
            for (name, value) in &mut node.attr {
                let as_written = written.attr.get(name);
                if let Some(as_written) =
                    as_written.filter(|value| matches!(value.value, Some(attr_value::Value::Tensor(_))))
                {
                    value.clone_from(as_written);
                }
            }
        }
        self.depth += 1;
        let mut returns: Vec<(i64, &NodeDef)> = Vec::new();
        for node in nodes.iter().filter(|node| node.op == "_Retval") {
            let index = match node.attr.get("index").and_then(|value| value.value.as_ref()) {
                Some(attr_value::Value::I(index)) => *index,
                _ => 0,
            };
            returns.push((index, node));
        }
        returns.sort_by_key(|(index, _)| *index);
        let (mut sum, mut known) = (0, HashMap::new());
        for (_, node) in returns {
            sum = combined(sum, self.graph(&nodes, node, &mut known)?);
        }
        let mut control = 0_u64;
        for node in nodes.iter().filter(|node| control_returns.contains(&node.name)) {
            control = control.wrapping_add(self.node(node, false)?);
        }
        self.depth -= 1;
        let own = combined(sum, control);
        self.hashes.insert(call.name.clone(), own);
        Ok(own)
    }
}

/// Whether an op makes datasets, by its name and output.
fn makes_dataset(op: &OpDef) -> bool {
    let is_variant =
        |arg: &kernlink::op::ArgDef| matches!(arg.ty, kernlink::op::ArgType::Fixed(kernlink::dtype::DataType::Variant));
    let name = op.name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let name = name.strip_suffix('V').unwrap_or(&op.name);
    matches!(&op.outputs[..], [output] if is_variant(output)) && name.ends_with("Dataset")
}
