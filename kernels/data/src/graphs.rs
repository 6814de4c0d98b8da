//! Datasets as graphs of what they were made of, and the fingerprints of these.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use kernlink::dtype::TString;
use kernlink::graph::Graph;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::proto::{GraphDef, Message as _, attr_value, encoded};
use kernlink::registry::Registry;
use kernlink::runtime::functions_of;
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::{Dataset, input_dataset, with_inputs};
use crate::hash::hash_graph;
use crate::nodes::Nodes;
use crate::whole::options_of;

/// What is said of a dataset that depends on a state: 0 and 1 let it be, 2 refuses it.
const FAIL: i64 = 2;

struct ToGraph {
    policy: i64,
    strips_devices: bool,
}

impl KernelState for ToGraph {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let policy = match ctx.attrs.get("allow_stateful") {
            Some(_) if ctx.attrs.required("allow_stateful")? => 0,
            Some(_) => FAIL,
            None => ctx.attrs.required("external_state_policy")?,
        };
        Ok(Self { policy, strips_devices: ctx.attrs.required("strip_device_assignment")? })
    }
}

/// What of an `OptionsProto` counts here.
#[derive(Clone, PartialEq, prost::Message)]
struct Options {
    #[prost(int32, optional, tag = "6")]
    external_state_policy: Option<i32>,
}

#[register_kernel(device = Cpu, op = [ops::DatasetToGraph, ops::DatasetToGraphV2])]
fn to_graph(state: &ToGraph, ctx: &mut RawContext<'_>) -> Result<()> {
    let dataset = input_dataset(ctx, 0)?;
    let options = Options::decode(&options_of(&dataset)?[..]).unwrap_or_default();
    let policy = options.external_state_policy.map_or(state.policy, i64::from);
    let graph = || -> Result<GraphDef> {
        if policy == FAIL {
            ensure_stateless(&dataset)?;
        }
        Nodes::of(&dataset)?.to_def()
    };
    let mut graph = graph().map_err(not_serialized)?;
    if state.strips_devices {
        let functions = graph.library.iter_mut().flat_map(|library| &mut library.function);
        for node in functions.flat_map(|function| &mut function.node_def) {
            // Who computes in Python does so where that is.
            if !node.device.is_empty() && node.op != "PyFunc" {
                node.device = local_name(&node.device);
            }
        }
    }
    ctx.set_output_at(0, Tensor::scalar(TString::from(encoded(&graph)?)))
}

#[cold]
fn not_serialized(error: Error) -> Error {
    let message = format!("Failed to serialize the input pipeline graph: {}", error.message());
    // There may be enough memory another time.
    let code = if error.code() == Code::ResourceExhausted { error.code() } else { Code::FailedPrecondition };
    Error::new(code, message)
}

/// The name of a device without the task that it belongs to.
fn local_name(device: &str) -> String {
    device.rfind("/device:").map_or_else(String::new, |at| device[at..].to_owned())
}

/// Refuses a dataset whose functions keep a state.
fn ensure_stateless(dataset: &Arc<dyn Dataset>) -> Result<()> {
    let mut met = HashSet::new();
    for dataset in with_inputs(dataset) {
        let Some(made) = dataset.head().made() else { continue };
        let Some(library) = made.node.library.as_ref().and_then(Weak::upgrade) else { continue };
        let functions = functions_of(&*library)?;
        made.node
            .attrs
            .functions()
            .try_for_each(|function| ensure_stateless_function(&functions, &function.name, &mut met))?;
    }
    Ok(())
}

/// The functions that a node calls as branches or loops.
const BODIES: [&str; 5] = ["then_branch", "else_branch", "cond", "body", "f"];

/// How many functions are looked at within each other, at most.
const MOST_FUNCTIONS: usize = 500;

/// `met` are the functions that were looked at already, or are being looked at.
fn ensure_stateless_function(functions: &Graph, name: &str, met: &mut HashSet<String>) -> Result<()> {
    let Some(function) = functions.function_def(name) else { return Ok(()) };
    if !function.signature.as_ref().is_some_and(|signature| signature.is_stateful) || !met.insert(name.to_owned()) {
        return Ok(());
    }
    ensure!(
        met.len() <= MOST_FUNCTIONS,
        ResourceExhausted,
        "more than {MOST_FUNCTIONS} functions with a state are called for the elements of a dataset"
    );
    for node in &function.node_def {
        if functions.has_function(&node.op) {
            ensure_stateless_function(functions, &node.op, met)?;
            continue;
        }
        let is_stateful = functions.registry().op(&node.op).is_ok_and(|op| op.def.is_stateful);
        if !is_stateful || node.op == "Assert" {
            continue;
        }
        let mut bodies = BODIES.iter().filter_map(|attr| match node.attr.get(*attr)?.value.as_ref()? {
            attr_value::Value::Func(call) => Some(&*call.name),
            _ => None,
        });
        let Some(first) = bodies.next() else { bail!(FailedPrecondition, "{} is stateful.", node.op) };
        ensure_stateless_function(functions, first, met)?;
        bodies.try_for_each(|body| ensure_stateless_function(functions, body, met))?;
    }
    Ok(())
}

/// The ops that there are.
struct Ops(Arc<Registry>);

impl KernelState for Ops {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self(ctx.registry.clone()))
    }
}

#[register_kernel(device = Cpu)]
fn fingerprint(state: &Ops, ctx: &mut KernelContext<'_, ops::DatasetFingerprint>) -> Result<()> {
    let graph = Nodes::of(&input_dataset(ctx, 0)?).and_then(|nodes| nodes.to_def()).map_err(not_serialized)?;
    ctx.set_output_at(0, Tensor::scalar(hash_graph(&graph, &state.0)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kernlink::dtype::DataType;
    use kernlink::proto::{AttrValue, NodeDef};
    use kernlink::runtime::Session;

    use super::*;
    use crate::dataset::MOST_NESTED;

    fn node(name: &str, op: &str, inputs: &[&str], attrs: &[(&str, attr_value::Value)]) -> NodeDef {
        let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), AttrValue { value: Some(value.clone()) }));
        let input = inputs.iter().map(|&input| input.to_owned()).collect();
        NodeDef { name: name.to_owned(), op: op.to_owned(), input, attr: attrs.collect(), ..NodeDef::default() }
    }

    /// What makes a dataset of a graph that is fed, with what is asked of it, and a worker's share.
    fn session(policy: i64) -> Session {
        use attr_value::Value::{I, List, Type};
        let types = attr_value::ListValue { r#type: vec![DataType::Int64.number()], ..Default::default() };
        let shape = kernlink::proto::shape_to_proto(&kernlink::shape::PartialShape::unknown());
        let shapes = attr_value::ListValue { shape: vec![shape], ..Default::default() };
        let fed = |name: &str, dtype: DataType| node(name, "Placeholder", &[], &[("dtype", Type(dtype.number()))]);
        let mut nodes = vec![
            fed("graph", DataType::String),
            fed("workers", DataType::Int64),
            fed("index", DataType::Int64),
            node("dataset", "DatasetFromGraph", &["graph"], &[]),
            node(
                "share",
                "AutoShardDataset",
                &["dataset", "workers", "index"],
                &[
                    ("auto_shard_policy", I(policy)),
                    ("num_replicas", I(2)),
                    ("output_types", List(types)),
                    ("output_shapes", List(shapes)),
                ],
            ),
        ];
        for source in ["dataset", "share"] {
            nodes.push(node(&format!("{source}_fingerprint"), "DatasetFingerprint", &[source], &[]));
            nodes.push(node(&format!("{source}_batch"), "ComputeBatchSize", &[source], &[]));
            nodes.push(node(&format!("{source}_graph"), "DatasetToGraphV2", &[source], &[]));
        }
        let registry = Arc::new(Registry::linked(&[]).unwrap());
        let graph = Graph::import(&GraphDef { node: nodes, ..GraphDef::default() }, &registry).unwrap();
        Session::new(graph).unwrap()
    }

    /// What counts of a graph that TensorFlow makes: not the names that it thinks of, and not the order of functions.
    fn structure(text: &[u8]) -> (Vec<NodeDef>, Vec<String>) {
        let mut graph = GraphDef::decode(text).unwrap();
        // Nothing takes what this gives.
        graph.node.retain(|node| !node.name.starts_with("FileIdentity/"));
        let names: BTreeMap<String, String> =
            graph.node.iter().enumerate().map(|(place, node)| (node.name.clone(), place.to_string())).collect();
        let nodes = graph.node.into_iter().map(|mut node| {
            node.attr.remove("metadata");
            // Each has handles of its own.
            let is_handle = |value: &AttrValue| {
                matches!(&value.value, Some(attr_value::Value::Tensor(tensor)) if !tensor.resource_handle_val.is_empty())
            };
            node.attr.retain(|_, value| !is_handle(value));
            node.name = names[&node.name].clone();
            node.input.iter_mut().for_each(|input| *input = names[input].clone());
            node
        });
        let functions = graph.library.unwrap_or_default().function;
        let mut functions: Vec<String> =
            functions.into_iter().map(|function| function.signature.unwrap().name).collect();
        functions.sort();
        (nodes.collect(), functions)
    }

    struct Known<'t> {
        name: &'t str,
        fingerprint: u64,
        batch: i64,
        graph: Vec<u8>,
    }

    /// What TensorFlow says of datasets, and of workers' shares of them.
    fn known() -> (Vec<Known<'static>>, Vec<Vec<&'static str>>) {
        let (graphs, shares) = include_str!("../tests/data/graphs.txt").split_once("\n\n").unwrap();
        let graphs = graphs.lines().map(|line| {
            let parts: Vec<&str> = line.split(' ').collect();
            let hex = parts[3].as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            Known {
                name: parts[0],
                fingerprint: parts[1].parse().unwrap(),
                batch: parts[2].parse().unwrap(),
                graph: hex.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect(),
            }
        });
        (graphs.collect(), shares.lines().map(|line| line.split(' ').collect()).collect())
    }

    /// The datasets for whose graph TensorFlow gives several numbers: with several functions it may take one for another, which was
    /// in the same place of memory.
    fn unsteady(graphs: &[Known<'static>], shares: &[Vec<&'static str>]) -> Vec<&'static str> {
        let unchanged = shares.iter().filter(|share| share[1] == "3" && share[0] != "hint");
        let differs = |share: &&Vec<&str>| {
            graphs.iter().any(|known| known.name == share[0] && known.fingerprint.to_string() != share[4])
        };
        unchanged.filter(differs).map(|share| share[0]).collect()
    }

    fn fed(graph: &[u8]) -> (&'static str, Tensor) {
        ("graph", Tensor::scalar(TString::from(graph)))
    }

    #[test]
    fn graphs_and_fingerprints_are_those_of_tensorflow() {
        let session = session(0);
        let mut wrong = Vec::new();
        let (graphs, shares) = known();
        let unsteady = unsteady(&graphs, &shares);
        for Known { name, fingerprint, batch, graph } in graphs {
            let fetches = ["dataset_fingerprint", "dataset_batch", "dataset_graph"];
            let found = match session.run(&[fed(&graph)], &fetches, &[]) {
                Ok(found) => found,
                Err(error) => {
                    wrong.push(format!("{name}: {error}"));
                    continue;
                }
            };
            let (own, size): (u64, i64) = (found[0].to_scalar().unwrap(), found[1].to_scalar().unwrap());
            let text: TString = found[2].to_scalar().unwrap();
            let (own_graph, expected) = (structure(text.as_bytes()), structure(&graph));
            if own_graph != expected {
                let differ = own_graph.0.iter().zip(&expected.0).find(|(own, expected)| own != expected);
                wrong.push(format!("{name}: {differ:?} {} {}", own_graph.0.len(), expected.0.len()));
            }
            if size != batch || (own != fingerprint && !unsteady.contains(&name)) {
                wrong.push(format!("{name}: fingerprint {own}, not {fingerprint}; size {size}, not {batch}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn shares_are_made_as_tensorflow_makes_them() {
        let sessions: Vec<Session> = (0..4).map(session).collect();
        let (graphs, shares) = known();
        let unsteady = unsteady(&graphs, &shares);
        let graphs: BTreeMap<&str, Vec<u8>> = graphs.into_iter().map(|known| (known.name, known.graph)).collect();
        let mut wrong = Vec::new();
        for share in shares {
            let [name, policy, workers, index, expected] = share[..] else { panic!("{share:?}") };
            let number = |text: &str| Tensor::scalar(text.parse::<i64>().unwrap());
            let feeds = [fed(&graphs[name]), ("workers", number(workers)), ("index", number(index))];
            let found = match sessions[policy.parse::<usize>().unwrap()].run(&feeds, &["share_fingerprint"], &[]) {
                Ok(found) => found[0].to_scalar::<u64>().unwrap().to_string(),
                Err(error) => format!("{:?}: {}", error.code(), error.message()),
            };
            let is_number = expected.parse::<u64>().is_ok() && found.parse::<u64>().is_ok();
            if found.split(':').next() != Some(expected) && !(is_number && unsteady.contains(&name)) {
                wrong.push(format!("{name} by policy {policy}, {index} of {workers}: {found}, not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn datasets_in_tensors_are_told_only_so_deeply() {
        use attr_value::Value::{List, Type};
        let range: [String; 3] = std::array::from_fn(|place| format!("n{place}"));
        let number = |name: &String, value: i64| {
            let value = kernlink::proto::tensor_to_attr_proto(&Tensor::scalar(value)).unwrap();
            let value = ("value", attr_value::Value::Tensor(value));
            node(name, "Const", &[], &[("dtype", Type(DataType::Int64.number())), value])
        };
        let elements = |dtype: DataType| {
            let types = attr_value::ListValue { r#type: vec![dtype.number()], ..Default::default() };
            let shape = kernlink::proto::shape_to_proto(&kernlink::shape::PartialShape::of_rank(0));
            [List(types), List(attr_value::ListValue { shape: vec![shape], ..Default::default() })]
        };
        let most = MOST_NESTED as usize + 1;
        for (depth, is_told) in [(100, true), (most, true), (most + 1, false), (5_000, false)] {
            let mut nodes: Vec<NodeDef> =
                range.iter().zip([0, 3, 1]).map(|(name, value)| number(name, value)).collect();
            let [types, shapes] = elements(DataType::Int64);
            let inputs = range.each_ref().map(String::as_str);
            nodes.push(node("d0", "RangeDataset", &inputs, &[("output_types", types), ("output_shapes", shapes)]));
            for level in 1..depth {
                let [types, shapes] = elements(DataType::Variant);
                let (name, inner) = (format!("d{level}"), format!("d{}", level - 1));
                let attrs = [("Toutput_types", types), ("output_shapes", shapes)];
                nodes.push(node(&name, "TensorDataset", &[&inner], &attrs));
            }
            let outer = format!("d{}", depth - 1);
            nodes.push(node("told", "DatasetToGraphV2", &[&outer], &[]));
            nodes.push(node("number", "DatasetFingerprint", &[&outer], &[]));
            let registry = Arc::new(Registry::linked(&[]).unwrap());
            let graph = Graph::import(&GraphDef { node: nodes, ..GraphDef::default() }, &registry).unwrap();
            let told = Session::new(graph).unwrap().run(&[], &["told", "number"], &[]);
            match told {
                Ok(told) => {
                    let text: TString = told[0].to_scalar().unwrap();
                    let graph = GraphDef::decode(text.as_bytes()).unwrap();
                    assert!(is_told && graph.node.len() == depth + 4, "{depth}: {} nodes", graph.node.len());
                }
                Err(error) => assert!(!is_told && error.message().contains("one of the other"), "{depth}: {error}"),
            }
        }
    }
}
