//! `kernlink inspect`

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::attr::{AttrMap, AttrValue};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result, escaped};
use crate::formats::{self, CheckpointReader, SignatureTensor};
use crate::gradient::derive_gradient;
use crate::graph::{self, Graph, MissingOps, Needs, NodeClass};
use crate::kernel::CPU;
use crate::proto::{self, GraphDef, MetaGraphDef, NodeDef};
use crate::registry::{Absence, NodeQuery, Registry};
use crate::runtime::without_kernel;
use crate::shape::PartialShape;
use crate::sort::CompactSort as _;
use clap::Args;

use crate::cli::job::ENVIRONMENT;
use crate::cli::words::count;
use crate::cli::{lacking, model, output, unknown};

/// The tensor of a checkpoint that is no variable: it describes the model's objects.
const OBJECTS: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

#[derive(Args)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Inspect {
    /// The model: the folder of a SavedModel, a MetaGraph (.meta), or a graph as .pb or .pbtxt
    model: PathBuf,
    /// Prints the graph in Graphviz's DOT language instead
    #[arg(long)]
    dot: bool,
    /// Says what the graph is made of after the passes of a session that runs the default signature, or computes what
    /// nothing else uses, and what each pass and rewrite did
    #[arg(long, conflicts_with_all = ["dot", "device"])]
    optimized: bool,
    /// Says what this device (gpu, or gpu:K for the adapter number K) has no kernels for, so that the CPU would run it
    #[arg(long, value_name = "D")]
    device: Option<String>,
}

/// Whether everything in the model can run here, as far as can be seen without a run.
pub(crate) fn inspect(args: &Inspect) -> Result<bool> {
    let graphs = model::read(&args.model)?;
    if args.dot {
        let dots = graphs.iter().filter_map(|graph| graph.graph_def.as_ref()).map(graph::to_dot);
        return output::print_bytes(dots.collect::<String>().as_bytes()).map(|()| true);
    }
    if args.optimized {
        let mut text = String::new();
        graphs.iter().try_for_each(|meta| after_passes(&mut text, meta, &args.model))?;
        return output::print(&text).map(|()| true);
    }
    let device = match &args.device {
        Some(name) => crate::cli::device::devices(name, 1)?.into_iter().next(),
        None => None,
    };
    let (mut text, mut is_whole) = (String::new(), true);
    for graph in &graphs {
        is_whole &= describe(&mut text, graph, &args.model, device.as_deref())?;
    }
    output::print_verdict(&text)?;
    Ok(is_whole)
}

/// Says what passes leave of a graph, and what they did.
fn after_passes(text: &mut String, meta: &MetaGraphDef, model: &Path) -> Result<()> {
    let def = meta.graph_def.as_ref();
    let def = def.ok_or_else(|| Error::not_found(format!("{} holds no graph", model.display())))?;
    let mut graph = Graph::import(def, &crate::registry()?)?;
    *text += &super::optimize::in_session(meta, &mut graph)?;
    graph.remove_unused_functions();
    ops(text, &graph.to_def()?);
    Ok(())
}

/// How many nodes there are of each op, those of functions included.
fn ops(text: &mut String, def: &GraphDef) {
    let functions: Vec<_> = def.library.iter().flat_map(|library| &library.function).collect();
    let nodes = || def.node.iter().chain(functions.iter().flat_map(|function| &function.node_def));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    nodes().for_each(|node| *counts.entry(node.op.as_str()).or_default() += 1);
    let mut ops: Vec<_> = counts.into_iter().collect();
    ops.compact_sort_by_key(|&(op, count)| (std::cmp::Reverse(count), op));
    let within = match functions.len() {
        0 => String::new(),
        number => format!(", those of {} included,", count(number, "function")),
    };
    let _ = writeln!(text, "{}{within} of {}:", count(nodes().count(), "node"), count(ops.len(), "op"));
    for (op, number) in ops {
        let _ = writeln!(text, "  {number:>6}  {}", escaped(op));
    }
}

/// Describes one graph of the model in a file or folder. Whether it can be imported and nothing is missing.
fn describe(text: &mut String, meta: &MetaGraphDef, model: &Path, device: Option<&dyn Device>) -> Result<bool> {
    let info = meta.meta_info_def.as_ref();
    if let Some(info) = info {
        let mut words = Vec::new();
        if !info.tags.is_empty() {
            words.push(format!("tags: {}", escaped(&info.tags.join(", "))));
        }
        if !info.tensorflow_version.is_empty() {
            words.push(format!("(TensorFlow {})", escaped(&info.tensorflow_version)));
        }
        if !words.is_empty() {
            let _ = writeln!(text, "{}", words.join(" "));
        }
    }
    signatures(text, meta)?;
    let Some(def) = &meta.graph_def else {
        let _ = writeln!(text, "no graph");
        return Ok(false);
    };
    let registry = crate::registry()?;
    let graph = Graph::import(def, &registry);
    // Signatures describe inputs and outputs better than placeholders do.
    if meta.signature_def.is_empty() {
        endpoints(text, def, graph.as_ref().ok());
    }
    ops(text, def);
    let _ = write!(text, "parameters: {} in constants", count(parameter_bytes(def), "byte"));
    let variables = variables(def, model);
    let _ = writeln!(text, "{}", variables.as_deref().unwrap_or_default());
    if let Err(error) = &variables {
        let _ = writeln!(text, "the variables cannot be read: {error}");
    }
    let missing_ops = Graph::missing_ops(def, &registry);
    let missing = missing(def, &registry, &missing_ops);
    if missing.is_empty() {
        let _ = writeln!(text, "missing: nothing, every op and kernel is linked");
    } else {
        let _ = writeln!(text, "missing:");
        missing.iter().for_each(|line| {
            let _ = writeln!(text, "  {}", line.replace('\n', "\n    "));
        });
        // Of the ops that are told.
        let advice = registry.advice(missing_ops.keys().take(lacking::MOST).map(String::as_str));
        if !advice.is_empty() {
            let _ = writeln!(text, "  {advice}");
        }
        if missing_ops.keys().any(|op| registry.absence(op) == Some(Absence::Unknown)) {
            let _ = writeln!(text, "  a library of ops that has it is loaded by `--library FILE`");
        }
        if let (Ok(graph), false) = (&graph, missing_ops.is_empty()) {
            for line in lacking::signatures(graph, meta, &formats::signatures(meta)?).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    let unknown = unknown::attrs(def, &registry);
    if !unknown.is_empty() {
        let _ = writeln!(text, "passed over:\n  {}", unknown.join("\n  "));
    }
    match (&graph, device) {
        (Err(error), _) if missing.is_empty() => {
            let _ = writeln!(text, "the graph cannot be imported: {error}");
        }
        (Ok(graph), Some(device)) => elsewhere(text, graph, device)?,
        _ => {}
    }
    Ok(graph.is_ok() && missing.is_empty() && variables.is_ok())
}

/// The nodes for which a device has no kernel.
fn elsewhere(text: &mut String, graph: &Graph, device: &dyn Device) -> Result<()> {
    let lacking = without_kernel(graph, graph.ids(), device)?;
    let name = device.name();
    if lacking.is_empty() {
        let _ = writeln!(text, "on {name}: everything");
        return Ok(());
    }
    let _ = writeln!(text, "on the CPU, as {name} has no kernel for it:");
    let mut lacking: Vec<_> = lacking.into_iter().collect();
    lacking.compact_sort_by_key(|(_, nodes)| std::cmp::Reverse(*nodes));
    for (op, nodes) in lacking {
        let _ = writeln!(text, "  {nodes:>6}  {op}");
    }
    Ok(())
}

/// The signatures' inputs and outputs.
fn signatures(text: &mut String, meta: &MetaGraphDef) -> Result<()> {
    for (name, signature) in formats::signatures(meta)? {
        let method =
            if signature.method_name.is_empty() { String::new() } else { format!(" ({})", signature.method_name) };
        let _ = writeln!(text, "signature {}{}:", escaped(&name), escaped(&method));
        for (kind, tensors) in [("input ", &signature.inputs), ("output", &signature.outputs)] {
            for (name, tensor) in tensors {
                let optional = if signature.defaults.contains_key(name) { ", optional" } else { "" };
                let SignatureTensor { tensor, dtype, shape } = tensor;
                let (name, tensor) = (escaped(name), escaped(tensor));
                let _ = writeln!(text, "  {kind} {name}: {dtype} {shape}, {tensor}{optional}");
            }
        }
    }
    Ok(())
}

/// The placeholders, and the outputs that no node uses.
fn endpoints(text: &mut String, def: &GraphDef, graph: Option<&Graph>) {
    let used: BTreeSet<&str> = def
        .node
        .iter()
        .flat_map(|node| &node.input)
        .map(|input| input.strip_prefix('^').unwrap_or(input))
        .map(|input| input.rsplit_once(':').map_or(input, |(node, _)| node))
        .collect();
    let describe = |node: &NodeDef| {
        let Some((graph, id)) = graph.and_then(|graph| Some((graph, graph.find(&node.name)?))) else {
            return String::new();
        };
        let node = graph.node(id);
        if node.class == NodeClass::Missing && node.signature.outputs.is_empty() {
            return " unknown".to_owned();
        }
        let output = |(index, shape)| match node.output_dtype(index) {
            Some(dtype) => format!(" {dtype} {shape}"),
            None => " unknown".to_owned(),
        };
        node.output_shapes.iter().enumerate().map(output).collect::<Vec<_>>().join(",")
    };
    let mut section = |title: &str, wanted: &dyn Fn(&NodeDef) -> bool| {
        let _ = writeln!(text, "{title}:");
        for node in def.node.iter().filter(|node| wanted(node)) {
            let _ = writeln!(text, "  {} ({}){}", escaped(&node.name), escaped(&node.op), describe(node));
        }
    };
    let is_input = |node: &NodeDef| node.op.starts_with("Placeholder");
    section("inputs", &is_input);
    section("outputs", &|node| !used.contains(node.name.as_str()) && !is_input(node));
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
fn variables(def: &GraphDef, model: &Path) -> Result<String> {
    let (mut number, mut bytes, mut unknown) = (0, 0usize, 0);
    let mut add = |dtype: DataType, shape: &PartialShape| match shape.to_shape() {
        Some(shape) if dtype.is_pod() => {
            number += 1;
            bytes = bytes.saturating_add(shape.num_elements().saturating_mul(dtype.size()));
        }
        _ => unknown += 1,
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
    let mut text = String::new();
    if number > 0 {
        let _ = write!(text, ", {} in {}", count(bytes, "byte"), count(number, "variable"));
    }
    if unknown > 0 {
        let _ = write!(text, ", and {} of unknown size", count(unknown, "variable"));
    }
    Ok(text)
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
