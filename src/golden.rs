//! Golden cases: graphs that carry TensorFlow's answers.
//!
//! For each case `NAME` a graph holds a node `NAME/actual/K` (the K-th value under test) and a Const
//! `NAME/expected/K` (what TensorFlow computed). Optional are a Const `NAME/tolerance` (float `[rtol, atol]`, or four of
//! which the last two are those of devices with memory of their own) and a
//! Const string `NAME/error`: the canonical code with which fetching `NAME/actual/0` must fail.
//! Integers, bools and strings must match exactly; NaN equals NaN; floats within the case's tolerance, or else that of
//! their dtype.
//!
//! On a device with memory of its own a case passes only if its op, which its name begins with, runs there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kernlink_framework::attr::AttrValue;
use kernlink_framework::device::Device;
use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::error::{Code, Error, Result};
use kernlink_framework::graph::{Graph, Node, NodeId, Output, called_functions};
use kernlink_framework::kernel::KernelDef;
use kernlink_framework::op::{ArgType, AttrBase, AttrDef, OpDef};
use kernlink_framework::proto::{GraphDef, NodeDef};
use kernlink_framework::registry::Registry;
use kernlink_framework::runtime::{Session, SessionOptions, kernel_on};
use kernlink_framework::tensor::Tensor;
use kernlink_framework::testing::{self, Tolerance};

/// Stack of a thread that runs cases: that of a program's main thread.
#[cfg(feature = "command")]
const STACK_BYTES: usize = 8 << 20;

/// What came of verifying.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases there were.
    pub cases: usize,
    /// The cases that failed, and why.
    pub failures: Vec<(String, String)>,
    /// The cases that say nothing of the device, with their ops: it has no kernel for the op with these attrs, or the
    /// import refuses the case as it must.
    pub skipped: BTreeMap<String, usize>,
    /// The ops that passed cases contain, with the dtypes of their [`dtype_attr`] (or first output); of a device with
    /// memory of its own, those that ran there.
    pub covered: BTreeSet<(String, String)>,
    /// Ops that cases need and the program lacks.
    pub missing_ops: BTreeSet<String>,
}

impl Report {
    /// The ops that are covered.
    pub fn ops(&self) -> BTreeSet<&str> {
        self.covered.iter().map(|(op, _)| op.as_str()).collect()
    }

    /// How many cases passed.
    pub fn passed(&self) -> usize {
        self.cases - self.failures.len() - self.skipped.values().sum::<usize>()
    }

    /// Takes in another report.
    pub fn merge(&mut self, other: Report) {
        self.cases += other.cases;
        self.failures.extend(other.failures);
        self.covered.extend(other.covered);
        self.missing_ops.extend(other.missing_ops);
        other.skipped.into_iter().for_each(|(op, cases)| *self.skipped.entry(op).or_default() += cases);
    }
}

/// Runs every case of a graph by itself, on `device`; with the feature `command` several side by side. If that has memory of its own, the host does what it has no kernels
/// for, and a case whose own op is among that is skipped.
///
/// # Errors
/// INVALID_ARGUMENT if the graph holds no case.
pub fn verify(def: &GraphDef, registry: &Arc<Registry>, device: &Arc<dyn Device>) -> Result<Report> {
    let cases = Cases::find(def);
    if cases.names.is_empty() {
        return Err(Error::invalid_argument("the graph holds no golden case: no node `NAME/actual/K`"));
    }
    let mut report = Report::default();
    let names: Vec<_> = cases.names.iter().collect();
    let verified = each(&names, device, |&(name, &outputs)| {
        let mut report = Report { cases: 1, ..Report::default() };
        let case = cases.extract(name, outputs);
        let missing = Graph::missing_ops(&case, registry);
        if !missing.is_empty() {
            let ops: Vec<_> = missing.into_keys().collect();
            report.failures.push((name.to_string(), format!("ops are missing: {}", ops.join(", "))));
            report.missing_ops.extend(ops);
            return report;
        }
        match check(&case, name, outputs, registry, device) {
            Ok(Outcome::Passed(covered)) => report.covered.extend(covered),
            Ok(Outcome::Skipped) => _ = report.skipped.insert(op_of(name).to_owned(), 1),
            Err(error) => report.failures.push((name.to_string(), error)),
        }
        report
    });
    verified.into_iter().for_each(|verified| report.merge(verified));
    Ok(report)
}

/// What comes of each item, in their order: computed side by side, on as many threads as the device has, unless it has memory
/// of its own, which cases then need not share.
#[cfg(feature = "command")]
fn each<T: Sync, R: Send>(items: &[T], device: &Arc<dyn Device>, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use rayon::prelude::*;

    let threads = device.pool().map_or(1, |pool| pool.threads()).min(items.len());
    let is_parallel = threads > 1 && !device.has_own_memory();
    // Where there can be no threads, one does it all.
    let pool =
        is_parallel.then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build().ok());
    match pool.flatten() {
        Some(pool) => pool.install(|| items.par_iter().map(&work).collect()),
        None => items.iter().map(work).collect(),
    }
}

/// What comes of each item.
#[cfg(not(feature = "command"))]
fn each<T, R>(items: &[T], _device: &Arc<dyn Device>, work: impl Fn(&T) -> R) -> Vec<R> {
    items.iter().map(work).collect()
}

/// The cases of a graph.
struct Cases<'a> {
    def: &'a GraphDef,
    by_name: HashMap<&'a str, &'a NodeDef>,
    /// The names, with the number of values under test.
    names: BTreeMap<&'a str, usize>,
}

impl<'a> Cases<'a> {
    fn find(def: &'a GraphDef) -> Cases<'a> {
        let by_name = def.node.iter().map(|node| (node.name.as_str(), node)).collect();
        let mut names = BTreeMap::new();
        for node in &def.node {
            let numbered = node.name.rsplit_once('/').and_then(|(rest, k)| Some((rest, k.parse::<usize>().ok()?)));
            if let Some((name, k)) = numbered.and_then(|(rest, k)| Some((rest.strip_suffix("/actual")?, k))) {
                // A number beyond the count of nodes means a gap.
                let count = names.entry(name).or_insert(0);
                *count = (*count).max(k.min(def.node.len()) + 1);
            }
        }
        Cases { def, by_name, names }
    }

    /// The nodes that a case needs, as a graph of their own.
    fn extract(&self, name: &str, outputs: usize) -> GraphDef {
        let mut stack: Vec<String> = vec![format!("{name}/tolerance"), format!("{name}/error")];
        stack.extend((0..outputs).flat_map(|k| [format!("{name}/actual/{k}"), format!("{name}/expected/{k}")]));
        let mut seen = BTreeSet::new();
        let GraphDef { library, versions, .. } = self.def;
        let mut graph = GraphDef { versions: versions.clone(), ..GraphDef::default() };
        while let Some(next) = stack.pop() {
            let Some(node) = self.by_name.get(next.as_str()) else { continue };
            if seen.insert(next) {
                graph.node.push((*node).clone());
                stack.extend(node.input.iter().map(|input| {
                    let input = input.strip_prefix('^').unwrap_or(input);
                    input.rsplit_once(':').map_or(input, |(node, _)| node).to_owned()
                }));
            }
        }
        // The functions that only other cases call would be read anew for each case.
        graph.library = library.as_ref().map(|library| called_functions(library, &graph.node));
        graph
    }
}

/// The outcome of a case that does not fail.
enum Outcome {
    /// With the ops that it covers.
    Passed(Vec<(String, String)>),
    Skipped,
}

/// The op that a case is for.
fn op_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// A case whose nodes are placed on a device with memory of its own.
struct Placed {
    graph: Graph,
    covered: Vec<(String, String)>,
}

/// Requests for every node of a case, except its inputs and results, a device that has a kernel for it. `None` if the
/// device under test has none for the case's op.
fn place(case: &GraphDef, name: &str, graph: &Graph, device: &Arc<dyn Device>) -> Result<Option<Placed>> {
    let prefix = format!("{name}/");
    let is_end = |node: &Node| {
        let part = node.name.strip_prefix(&prefix).and_then(|rest| rest.split('/').next());
        let is_source = matches!(&*node.op.def.name, "Const" | "Placeholder" | "PlaceholderWithDefault");
        is_source || matches!(part, Some("actual" | "expected" | "tolerance" | "error"))
    };
    let mut asking: HashMap<&str, (NodeId, &KernelDef)> = HashMap::new();
    for id in graph.ids() {
        let node = graph.node(id);
        if is_end(node) {
            continue;
        }
        match kernel_on(graph, id, &**device)? {
            Some(kernel) => {
                asking.insert(node.name.as_str(), (id, kernel));
            }
            // Ops on a variable run on the variable's device.
            None if node.op.def.name == op_of(name) || shares(node) => return Ok(None),
            None => {}
        }
    }
    // A kernel with all arguments in host memory says nothing of the device.
    let is_there = |id: NodeId, kernel: &KernelDef| {
        let node = graph.node(id);
        let slots = kernel.host_slots(node.op.def, &node.signature);
        kernel.device == device.device_type() || slots.inputs.iter().chain(&slots.outputs).any(|is_on_host| !is_on_host)
    };
    let there = asking.values().filter(|(id, kernel)| is_there(*id, kernel));
    let covered: Vec<_> = there.map(|(id, _)| pair(graph.node(*id))).collect();
    // Some cases are named after a family, such as all steps of Adam.
    let is_op = graph.registry().op(op_of(name)).is_ok();
    if covered.is_empty() || (is_op && !covered.iter().any(|(op, _)| op == op_of(name))) {
        return Ok(None);
    }
    let mut case = case.clone();
    for node in case.node.iter_mut().filter(|node| asking.contains_key(node.name.as_str())) {
        node.device = device.name().to_owned();
    }
    Ok(Some(Placed { graph: Graph::import(&case, graph.registry())?, covered }))
}

/// Whether a node has inputs or outputs that are references or resources.
fn shares(node: &Node) -> bool {
    let mut slots = node.signature.inputs.iter().chain(&node.signature.outputs);
    slots.any(|slot| slot.is_ref || slot.dtype == DataType::Resource)
}

/// Runs one case.
fn check(
    case: &GraphDef,
    name: &str,
    outputs: usize,
    registry: &Arc<Registry>,
    device: &Arc<dyn Device>,
) -> Result<Outcome, String> {
    let constant = |graph: &Graph, suffix: &str| -> Option<Tensor> {
        let node = graph.find(&format!("{name}/{suffix}"))?;
        graph.constant(Output { node, index: 0 }).cloned()
    };
    let expected_code = expected_code(case, name)?;
    let graph = match (Graph::import(case, registry), expected_code) {
        (Ok(graph), _) => graph,
        // The case ran on no device.
        (Err(error), Some(code)) if error.code() == code && device.has_own_memory() => return Ok(Outcome::Skipped),
        (Err(error), Some(code)) if error.code() == code => return Ok(Outcome::Passed(Vec::new())),
        (Err(error), _) => return Err(format!("the case cannot be imported: {error}")),
    };
    let tolerance = match constant(&graph, "tolerance") {
        None => None,
        Some(tensor) => match tensor.as_slice::<f32>().map_err(|error| error.to_string())? {
            &[_, _, rtol, atol] if device.has_own_memory() => Some((f64::from(rtol), f64::from(atol))),
            &[rtol, atol] | &[rtol, atol, _, _] => Some((f64::from(rtol), f64::from(atol))),
            _ => return Err("the tolerance is neither [rtol, atol] nor has it two more for devices".to_owned()),
        },
    };
    let (graph, covered) = if device.has_own_memory() {
        match place(case, name, &graph, device).map_err(|error| error.to_string())? {
            Some(Placed { graph, covered }) => (graph, covered),
            None => return Ok(Outcome::Skipped),
        }
    } else {
        let covered = graph.nodes().iter().map(pair).collect();
        (graph, covered)
    };
    // Cases are of constants, and it is the kernels of the device that are to compute them, in the run.
    let options = SessionOptions::new().strict_placement(device.has_own_memory()).without_pass("fold-constants");
    let session = Session::on_devices(graph.clone(), [device.clone()], &options);
    if let Some(code) = expected_code {
        return match session.run(&[], &[&format!("{name}/actual/0")], &[]) {
            Err(error) if error.code() == code => Ok(Outcome::Passed(covered)),
            Err(error) => Err(format!("expected {code}, but the error is {error}")),
            Ok(values) => Err(format!("expected {code}, but the answer is {}", values[0])),
        };
    }
    let fetches: Vec<String> = (0..outputs).map(|k| format!("{name}/actual/{k}")).collect();
    let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
    let actual = session.run(&[], &fetches, &[]).map_err(|error| error.to_string())?;
    for (k, actual) in actual.iter().enumerate() {
        let expected = constant(&graph, &format!("expected/{k}")).ok_or_else(|| format!("there is no expected/{k}"))?;
        compare(actual, &expected, tolerance).map_err(|difference| format!("value {k}: {difference}"))?;
    }
    Ok(Outcome::Passed(covered))
}

fn expected_code(case: &GraphDef, name: &str) -> Result<Option<Code>, String> {
    let name = format!("{name}/error");
    let Some(node) = case.node.iter().find(|node| node.name == name) else { return Ok(None) };
    let value = node.attr.get("value").and_then(|value| kernlink_framework::proto::attr_from_proto(value).ok());
    let Some(AttrValue::Tensor(tensor)) = value else { return Err(format!("`{name}` is no Const")) };
    let text = tensor.to_scalar::<TString>().map_err(|error| error.to_string())?.to_string_lossy().into_owned();
    Code::from_name(&text).map(Some).ok_or_else(|| format!("`{name}` holds `{text}`, which is no canonical code"))
}

/// The attr that says with which dtype an op is covered: the first that is one, unless it is that of axes and indices, which
/// no output has.
pub fn dtype_attr(op: &OpDef) -> Option<&AttrDef> {
    let is_data = |attr: &AttrDef| {
        attr.name != "Tidx" || op.outputs.iter().any(|output| output.ty == ArgType::Attr(attr.name.clone()))
    };
    op.attrs.iter().find(|attr| attr.ty.base == AttrBase::Type && !attr.ty.list && is_data(attr))
}

/// The op and the dtype of a node.
fn pair(node: &Node) -> (String, String) {
    let dtype = dtype_attr(node.op.def).and_then(|attr| match node.attrs.get(&attr.name) {
        Some(AttrValue::Type(dtype)) => Some(*dtype),
        _ => None,
    });
    let dtype = dtype.or_else(|| node.signature.outputs.first().map(|slot| slot.dtype));
    (node.op.def.name.to_string(), dtype.map_or_else(String::new, |dtype| dtype.to_string()))
}

/// Compares two tensors; `tolerance` is (rtol, atol), by default that of the dtype.
///
/// # Errors
/// Says where they differ, and by how much.
pub fn compare(actual: &Tensor, expected: &Tensor, tolerance: Option<(f64, f64)>) -> Result<(), String> {
    let given = tolerance.map(|(relative, absolute)| Tolerance { relative, absolute });
    testing::compare(actual, expected, given.unwrap_or_else(|| Tolerance::of(expected.dtype())))
}
