//! What a model is made of, and what is missing to run it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::attr::{AttrMap, AttrValue};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Advice, Error, Result, escaped};
use crate::formats::{self, CheckpointReader, Signature, SignatureTensor};
use crate::gradient::derive_gradient;
use crate::graph::{self, Graph, MissingOps, Needs, NodeClass};
use crate::kernel::CPU;
use crate::proto::{self, GraphDef, MetaGraphDef, NodeDef};
use crate::registry::{Absence, NodeQuery, Registry};
use crate::runtime::without_kernel;
use crate::shape::PartialShape;
use crate::sort::CompactSort as _;

use crate::tools::words::count;
use crate::tools::{lacking, unknown_attrs};

/// The tensor of a checkpoint that is no variable: it describes the model's objects.
const OBJECTS: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// What one graph of a model is made of. As text it is what the command prints.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The tags of the graph.
    pub tags: Vec<String>,
    /// The version of TensorFlow that wrote it; may be empty.
    pub tensorflow_version: String,
    /// The signatures.
    pub signatures: BTreeMap<String, Signature>,
    /// Whether there is a graph; if not, nothing of what follows is said.
    pub has_graph: bool,
    /// The placeholders of a graph without signatures.
    pub inputs: Vec<Endpoint>,
    /// What nothing else uses in a graph without signatures.
    pub outputs: Vec<Endpoint>,
    /// How many nodes there are of each op, those of functions included, the most first.
    pub ops: Vec<(String, usize)>,
    /// How many functions there are.
    pub functions: usize,
    /// The bytes of constants.
    pub constant_bytes: usize,
    /// The variables, or why they cannot be read.
    pub variables: Result<VariableSizes>,
    /// What the program lacks of what the graph needs, a text each.
    pub missing: Vec<String>,
    /// What to do about that, and what runs without it.
    pub advice: Vec<Advice>,
    /// The attrs of nodes that their ops do not have.
    pub passed_over: Vec<String>,
    /// Why the graph cannot be imported.
    pub import_error: Option<Error>,
    /// What a device that was asked about has no kernel for, with the numbers of nodes, and the device's name.
    pub elsewhere: Option<(String, Vec<(String, usize)>)>,
}

/// A node that is fed, or that nothing else uses.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Endpoint {
    /// Its name.
    pub name: String,
    /// Its op.
    pub op: String,
    /// The dtypes and shapes of its outputs; `None` for one of which nothing is known.
    pub outputs: Vec<Option<(DataType, PartialShape)>>,
}

/// How many variables there are, and how large they are.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct VariableSizes {
    /// Those of a known size.
    pub count: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Those of an unknown size.
    pub of_unknown_size: usize,
}

/// What one graph of the model at a path is made of, and what of it `device` has no kernels for.
///
/// # Errors
/// INVALID_ARGUMENT for a malformed signature; those of [`registry`](crate::registry()). What is wrong with the graph is in the result.
pub fn inspect(meta: &MetaGraphDef, model: &Path, device: Option<&dyn Device>) -> Result<Inspection> {
    let info = meta.meta_info_def.clone().unwrap_or_default();
    let mut found = Inspection {
        tags: info.tags,
        tensorflow_version: info.tensorflow_version,
        signatures: formats::signatures(meta)?,
        has_graph: false,
        inputs: Vec::new(),
        outputs: Vec::new(),
        ops: Vec::new(),
        functions: 0,
        constant_bytes: 0,
        variables: Ok(VariableSizes::default()),
        missing: Vec::new(),
        advice: Vec::new(),
        passed_over: Vec::new(),
        import_error: None,
        elsewhere: None,
    };
    let Some(def) = &meta.graph_def else { return Ok(found) };
    let registry = crate::registry()?;
    let graph = Graph::import(def, &registry);
    found.has_graph = true;
    // Signatures describe inputs and outputs better than placeholders do.
    if found.signatures.is_empty() {
        (found.inputs, found.outputs) = endpoints(def, graph.as_ref().ok());
    }
    found.ops = count_ops(def);
    found.functions = def.library.as_ref().map_or(0, |library| library.function.len());
    found.constant_bytes = parameter_bytes(def);
    found.variables = variables(def, model);
    let missing_ops = Graph::missing_ops(def, &registry);
    found.missing = missing(def, &registry, &missing_ops);
    if !found.missing.is_empty() {
        // Of the ops that are told.
        found.advice = registry.advice(missing_ops.keys().take(lacking::MOST).map(String::as_str));
        if missing_ops.keys().any(|op| registry.absence(op) == Some(Absence::Unknown)) {
            found.advice.push(Advice::LoadLibrary);
        }
        if let (Ok(graph), false) = (&graph, missing_ops.is_empty()) {
            found.advice.extend(
                lacking::signatures(graph, meta, &found.signatures).lines().map(|line| Advice::Said(line.to_owned())),
            );
        }
    }
    found.passed_over = unknown_attrs(def, &registry);
    if let (Ok(graph), Some(device)) = (&graph, device) {
        found.elsewhere = Some((device.name().to_owned(), elsewhere(graph, device)?));
    }
    found.import_error = graph.err();
    Ok(found)
}

impl Inspection {
    /// Whether the graph can be imported and nothing is missing: whether it runs here, as far as can be seen without a run.
    pub fn is_whole(&self) -> bool {
        self.has_graph && self.import_error.is_none() && self.missing.is_empty() && self.variables.is_ok()
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if !self.tags.is_empty() {
            words.push(format!("tags: {}", escaped(&self.tags.join(", "))));
        }
        if !self.tensorflow_version.is_empty() {
            words.push(format!("(TensorFlow {})", escaped(&self.tensorflow_version)));
        }
        if !words.is_empty() {
            writeln!(f, "{}", words.join(" "))?;
        }
        signatures(f, &self.signatures)?;
        if !self.has_graph {
            return writeln!(f, "no graph");
        }
        if self.signatures.is_empty() {
            section(f, "inputs", &self.inputs)?;
            section(f, "outputs", &self.outputs)?;
        }
        write_ops(f, &self.ops, self.functions)?;
        write!(f, "parameters: {} in constants", count(self.constant_bytes, "byte"))?;
        match &self.variables {
            Ok(sizes) => writeln!(f, "{sizes}")?,
            Err(error) => writeln!(f, "\nthe variables cannot be read: {error}")?,
        }
        if self.missing.is_empty() {
            writeln!(f, "missing: nothing, every op and kernel is linked")?;
        } else {
            writeln!(f, "missing:")?;
            for line in &self.missing {
                writeln!(f, "  {}", line.replace('\n', "\n    "))?;
            }
            for line in &self.advice {
                writeln!(f, "  {line}")?;
            }
        }
        if !self.passed_over.is_empty() {
            writeln!(f, "passed over:\n  {}", self.passed_over.join("\n  "))?;
        }
        if let Some(error) = self.import_error.as_ref().filter(|_| self.missing.is_empty()) {
            writeln!(f, "the graph cannot be imported: {error}")?;
        }
        match &self.elsewhere {
            None => Ok(()),
            Some((name, lacking)) if lacking.is_empty() => writeln!(f, "on {name}: everything"),
            Some((name, lacking)) => {
                writeln!(f, "on the CPU, as {name} has no kernel for it:")?;
                lacking.iter().try_for_each(|(op, nodes)| writeln!(f, "  {nodes:>6}  {op}"))
            }
        }
    }
}

impl fmt::Display for VariableSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count > 0 {
            write!(f, ", {} in {}", count(self.bytes, "byte"), count(self.count, "variable"))?;
        }
        if self.of_unknown_size > 0 {
            write!(f, ", and {} of unknown size", count(self.of_unknown_size, "variable"))?;
        }
        Ok(())
    }
}

/// The signatures' inputs and outputs.
fn signatures(f: &mut fmt::Formatter<'_>, signatures: &BTreeMap<String, Signature>) -> fmt::Result {
    for (name, signature) in signatures {
        let method =
            if signature.method_name.is_empty() { String::new() } else { format!(" ({})", signature.method_name) };
        writeln!(f, "signature {}{}:", escaped(name), escaped(&method))?;
        for (kind, tensors) in [("input ", &signature.inputs), ("output", &signature.outputs)] {
            for (name, tensor) in tensors {
                let optional = if signature.defaults.contains_key(name) { ", optional" } else { "" };
                let SignatureTensor { tensor, dtype, shape } = tensor;
                let (name, tensor) = (escaped(name), escaped(tensor));
                writeln!(f, "  {kind} {name}: {dtype} {shape}, {tensor}{optional}")?;
            }
        }
    }
    Ok(())
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, endpoints: &[Endpoint]) -> fmt::Result {
    writeln!(f, "{title}:")?;
    for Endpoint { name, op, outputs } in endpoints {
        let output = |output: &Option<(DataType, PartialShape)>| match output {
            Some((dtype, shape)) => format!(" {dtype} {shape}"),
            None => " unknown".to_owned(),
        };
        let outputs = outputs.iter().map(output).collect::<Vec<_>>().join(",");
        writeln!(f, "  {} ({}){outputs}", escaped(name), escaped(op))?;
    }
    Ok(())
}

/// How many nodes there are of each op, of a graph with so many functions.
pub(crate) fn write_ops(f: &mut dyn fmt::Write, ops: &[(String, usize)], functions: usize) -> fmt::Result {
    let within = match functions {
        0 => String::new(),
        number => format!(", those of {} included,", count(number, "function")),
    };
    let nodes = ops.iter().map(|(_, number)| number).sum::<usize>();
    writeln!(f, "{}{within} of {}:", count(nodes, "node"), count(ops.len(), "op"))?;
    ops.iter().try_for_each(|(op, number)| writeln!(f, "  {number:>6}  {}", escaped(op)))
}

/// How many nodes of a graph there are of each op, those of functions included, the most first.
pub fn count_ops(def: &GraphDef) -> Vec<(String, usize)> {
    let functions = def.library.iter().flat_map(|library| &library.function);
    let nodes = def.node.iter().chain(functions.flat_map(|function| &function.node_def));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    nodes.for_each(|node| *counts.entry(node.op.as_str()).or_default() += 1);
    let mut ops: Vec<_> = counts.into_iter().collect();
    ops.compact_sort_by_key(|&(op, count)| (std::cmp::Reverse(count), op));
    ops.into_iter().map(|(op, count)| (op.to_owned(), count)).collect()
}

/// The nodes for which a device has no kernel, by op, the most first.
fn elsewhere(graph: &Graph, device: &dyn Device) -> Result<Vec<(String, usize)>> {
    let mut lacking: Vec<_> = without_kernel(graph, graph.ids(), device)?.into_iter().collect();
    lacking.compact_sort_by_key(|(_, nodes)| std::cmp::Reverse(*nodes));
    Ok(lacking)
}

/// The placeholders, and the outputs that no node uses.
fn endpoints(def: &GraphDef, graph: Option<&Graph>) -> (Vec<Endpoint>, Vec<Endpoint>) {
    let used: BTreeSet<&str> = def
        .node
        .iter()
        .flat_map(|node| &node.input)
        .map(|input| input.strip_prefix('^').unwrap_or(input))
        .map(|input| input.rsplit_once(':').map_or(input, |(node, _)| node))
        .collect();
    let outputs = |node: &NodeDef| {
        let Some((graph, id)) = graph.and_then(|graph| Some((graph, graph.find(&node.name)?))) else {
            return Vec::new();
        };
        let node = graph.node(id);
        if node.class == NodeClass::Missing && node.signature.outputs.is_empty() {
            return vec![None];
        }
        let output = |(index, shape): (usize, &PartialShape)| Some((node.output_dtype(index)?, shape.clone()));
        node.output_shapes.iter().enumerate().map(output).collect()
    };
    let select = |wanted: &dyn Fn(&NodeDef) -> bool| {
        let nodes = def.node.iter().filter(|node| wanted(node));
        nodes.map(|node| Endpoint { name: node.name.clone(), op: node.op.clone(), outputs: outputs(node) }).collect()
    };
    let is_input = |node: &NodeDef| node.op.starts_with("Placeholder");
    (select(&is_input), select(&|node| !used.contains(node.name.as_str()) && !is_input(node)))
}

fn parameter_bytes(def: &GraphDef) -> usize {
    let constants = def.node.iter().filter(|node| node.op == "Const");
    let tensors = constants.filter_map(|node| match node.attr.get("value")?.value.as_ref()? {
        proto::attr_value::Value::Tensor(tensor) => Some(tensor),
        _ => None,
    });
    tensors.filter_map(|tensor| Some(proto::tensor_from_proto(tensor).ok()?.num_bytes())).sum()
}

/// How many bytes the variables of a model take: of a SavedModel those of its checkpoint, in which each stands once, and of
/// others those that its graph makes.
fn variables(def: &GraphDef, model: &Path) -> Result<VariableSizes> {
    let mut sizes = VariableSizes::default();
    let mut add = |dtype: DataType, shape: &PartialShape| match shape.to_shape() {
        Some(shape) if dtype.is_pod() => {
            sizes.count += 1;
            sizes.bytes = sizes.bytes.saturating_add(shape.num_elements().saturating_mul(dtype.size()));
        }
        _ => sizes.of_unknown_size += 1,
    };
    let checkpoint = model.join("variables").join("variables");
    if CheckpointReader::exists(&checkpoint) {
        for (name, entry) in CheckpointReader::open(checkpoint)?.tensors() {
            if name != OBJECTS {
                add(entry.dtype, &PartialShape::from(&entry.shape));
            }
        }
    } else {
        let functions = def.library.iter().flat_map(|library| &library.function);
        let nodes = def.node.iter().chain(functions.flat_map(|function| &function.node_def));
        let is_variable =
            |node: &&NodeDef| matches!(NodeClass::of(&node.op), NodeClass::Variable | NodeClass::VarHandle);
        let mut names = HashSet::new();
        for node in nodes.filter(is_variable) {
            let attr = |name: &str| node.attr.get(name).and_then(|value| proto::attr_from_proto(value).ok());
            let text = |name: &str| match attr(name) {
                Some(AttrValue::String(text)) => text.to_string_lossy().into_owned(),
                _ => String::new(),
            };
            // Nodes of one name are handles of one variable.
            let name = Some(text("shared_name")).filter(|name| !name.is_empty()).unwrap_or_else(|| node.name.clone());
            if !names.insert((text("container"), name)) {
                continue;
            }
            match (attr("dtype"), attr("shape")) {
                (Some(AttrValue::Type(dtype)), Some(AttrValue::Shape(shape))) => add(dtype, &shape),
                _ => add(DataType::Variant, &PartialShape::unknown()),
            }
        }
    }
    Ok(sizes)
}

/// The ops and kernels that the graph needs and the program lacks, and the gradients that it cannot derive, a line each.
fn missing(def: &GraphDef, registry: &Arc<Registry>, ops: &MissingOps) -> Vec<String> {
    let of_op = |op: &str, nodes: &[String]| format!("{} ({})", registry.unknown_op(op), count(nodes.len(), "node"));
    let mut lines = lacking::lines(ops, of_op);
    let kernels = missing_kernels(def, registry);
    lines.extend(kernels.iter().take(lacking::MOST).cloned());
    if kernels.len() > lacking::MOST {
        lines.push(format!("and {}", count(kernels.len() - lacking::MOST, "more kernel")));
    }
    lines
}

fn missing_kernels(def: &GraphDef, registry: &Arc<Registry>) -> BTreeSet<String> {
    // What functions need depends on their attrs.
    let mut needs = Needs::new(registry).with_gradients(derive_gradient);
    if needs.add(def).is_ok() {
        return needs.missing_kernels().chain(needs.missing_gradients()).map(str::to_owned).collect();
    }
    let mut lines = BTreeSet::new();
    for node in &def.node {
        let Ok(entry) = registry.op(&node.op) else { continue };
        let values =
            node.attr.iter().filter_map(|(name, value)| Some((name.clone(), proto::attr_from_proto(value).ok()?)));
        let mut attrs: AttrMap = values.collect();
        if graph::complete_attrs(entry.def, &mut attrs).is_err() {
            continue;
        }
        let query = NodeQuery { node: &node.name, op: &node.op, attrs: &attrs, device: CPU, capabilities: &[] };
        if let Err(error) = registry.find_kernel(query) {
            lines.insert(error.message().to_owned());
        }
    }
    lines
}
