//! Graphs infer what TensorFlow infers, of every declared op and of the common shape functions. `generate.py` draws the
//! cases.

mod calls;
mod extremes;
mod functions;
mod inference;
mod more_ops;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;
use std::sync::Arc;

use kernlink::Code;
use kernlink::attr::AttrValue;
use kernlink::graph::Graph;
use kernlink::proto::{self, GraphDef, Message as _, NodeDef, VersionDef};
use kernlink::registry::Registry;
use kernlink::shape::PartialShape;

/// Ops that TensorFlow does not have.
const OWN: [&str; 12] = [
    "RemoveKernel",
    "_FusedBatchMatMulV2",
    "_FusedElementWise",
    "_FusedPaddedDepthwiseConv2dNative",
    "_GeluApproximate",
    "_GeluExact",
    "_HardSwish",
    "_LayerNorm",
    "_PaddedAvgPool",
    "_PaddedMaxPool",
    "_ScaledMaskedSoftmax",
    "_Swish",
];

/// Ops of which TensorFlow infers that there are as many images and channels as in input 1, where its kernels give as many as input 0 has.
const RESIZED_BACK: [&str; 3] = ["ResizeBicubicGrad", "ResizeBilinearGrad", "ScaleAndTranslateGrad"];

/// Ops of which TensorFlow infers as many columns as the input has dimensions, where its kernels give two at most.
const COUNTED: [&str; 3] = ["DenseCountSparseOutput", "RaggedCountSparseOutput", "SparseCountSparseOutput"];

/// A shape without dimensions that are too large.
fn of_two_columns(shape: &PartialShape) -> PartialShape {
    let Some(dims) = shape.dims() else { return shape.clone() };
    let dims: Vec<i64> = dims.iter().map(|dim| dim.filter(|&size| size <= 2).map_or(-1, |size| size as i64)).collect();
    PartialShape::from_dims(&dims).unwrap()
}

/// The shape of images like these, as many and of as many channels as the gradient says, where it says something.
fn resized_back(images: &PartialShape, grads: &PartialShape) -> PartialShape {
    let (Some(&[own, rows, columns, of]), Some(&[batch, _, _, channels])) = (images.dims(), grads.dims()) else {
        return images.clone();
    };
    let dims = [batch.or(own), rows, columns, channels.or(of)];
    PartialShape::from_dims(&dims.map(|dim| dim.map_or(-1, |dim| dim as i64))).unwrap()
}

/// What TensorFlow made of a case: the shapes of its outputs, or a refusal.
fn expected(node: &NodeDef) -> Option<Result<Vec<PartialShape>, String>> {
    let attr = |name| node.attr.get(name).map(|value| proto::attr_from_proto(value).expect("the attr is well-formed"));
    match (attr("_shapes"), attr("_error")) {
        (Some(AttrValue::ListShape(shapes)), _) => Some(Ok(shapes)),
        (Some(_), _) => Some(Ok(Vec::new())),
        (None, Some(error)) => Some(Err(error.to_string())),
        (None, None) => None,
    }
}

fn unpack(packed: &[u8]) -> GraphDef {
    let mut file = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut file).expect("the file is compressed");
    GraphDef::decode(&*file).expect("a GraphDef")
}

/// A node with all that its inputs come from.
fn with_inputs(node: &NodeDef, nodes: &HashMap<&str, &NodeDef>, versions: &Option<VersionDef>) -> GraphDef {
    let mut names = BTreeSet::from([node.name.as_str()]);
    let mut found = vec![node.clone()];
    found[0].attr.retain(|name, _| !matches!(&**name, "_shapes" | "_error"));
    let mut next = 0;
    while let Some(node) = found.get(next).cloned() {
        for input in &node.input {
            let source = nodes[input.split(':').next().unwrap_or_default().trim_start_matches('^')];
            if names.insert(&source.name) {
                found.push(source.clone());
            }
        }
        next += 1;
    }
    GraphDef { node: found, versions: versions.clone(), ..GraphDef::default() }
}

fn infer(name: &str, def: &GraphDef, registry: &Arc<Registry>) -> kernlink::Result<Vec<PartialShape>> {
    let graph = Graph::import(def, registry)?;
    Ok(graph.node(graph.find(name).expect("the case is in its graph")).output_shapes.clone())
}

/// How many cases there are of each op.
type Count<'f> = BTreeMap<&'f str, usize>;

/// Holds what graphs infer against the cases of a file; what is refused, with this code if there is one.
fn compare<'f>(file: &'f GraphDef, registry: &Arc<Registry>, code: Option<Code>) -> Count<'f> {
    let nodes: HashMap<&str, &NodeDef> = file.node.iter().map(|node| (node.name.as_str(), node)).collect();
    let (mut cases, mut refused, mut different) = (0, 0, Vec::new());
    let mut ops = Count::new();
    for node in &file.node {
        let Some(expected) = expected(node) else { continue };
        if registry.op(&node.op).is_err() {
            continue;
        }
        cases += 1;
        refused += usize::from(expected.is_err());
        *ops.entry(&node.op).or_default() += 1;
        let graph = with_inputs(node, &nodes, &file.versions);
        let ours = infer(&node.name, &graph, registry);
        let expected = match expected {
            Ok(shapes) if RESIZED_BACK.contains(&&*node.op) => {
                let grads = Graph::import(&graph, registry).map(|graph| {
                    let node = graph.node(graph.find(&node.name).expect("the case is in its graph"));
                    graph.shape(node.inputs[0]).clone()
                });
                Ok(shapes.iter().map(|images| resized_back(images, grads.as_ref().unwrap())).collect())
            }
            Ok(shapes) if COUNTED.contains(&&*node.op) => Ok(shapes.iter().map(of_two_columns).collect()),
            expected => expected,
        };
        let same = match (&ours, &expected) {
            (Ok(ours), Ok(expected)) => ours == expected,
            (Err(error), Err(_)) => code.is_none_or(|code| error.code() == code),
            _ => false,
        };
        if !same {
            let graph: Vec<String> = graph.node.iter().rev().map(describe).collect();
            different.push(format!("{}: {ours:?}\n  TensorFlow: {expected:?}\n  {}", node.name, graph.join("\n  ")));
        }
    }
    println!("{cases} cases of {} ops, {refused} of them refused by TensorFlow", ops.len());
    let shown = different.iter().take(30).map(String::as_str).collect::<Vec<_>>();
    assert!(different.is_empty(), "{} of {cases} differ:\n{}", different.len(), shown.join("\n"));
    ops
}

#[test]
fn graphs_infer_what_tensorflow_infers() {
    let registry = kernlink::registry().unwrap();
    let more = std::env::var_os("KERNLINK_SHAPES").map(|path| std::fs::read(path).expect("KERNLINK_SHAPES is a file"));
    let file = unpack(more.as_deref().unwrap_or(include_bytes!("../../shapes/cases.pb.gz")));
    let ops = compare(&file, &registry, None);
    let declared = registry.ops().filter(|op| std::ptr::eq(op.provider, &kernlink_ops::KERNLINK_PROVIDER));
    // TensorFlow cannot be asked of ops that it does not have.
    let declared = declared.map(|op| &*op.def.name).filter(|name| !OWN.contains(name));
    let untested: Vec<&str> = declared.filter(|name| !ops.contains_key(name)).collect();
    assert!(untested.is_empty(), "there are no cases of {untested:?}: run tests/shapes/generate.py");
    let cases: usize = ops.values().sum();
    assert!(more.is_some() || cases >= 5000, "only {cases} cases were found");
}

/// Windows that are negative or do not fit, ranks that are unknown, sizes that are too few: see `edges.py`.
#[test]
fn graphs_infer_what_tensorflow_infers_at_edges() {
    let file = unpack(include_bytes!("../../shapes/edges.pb.gz"));
    let ops = compare(&file, &kernlink::registry().unwrap(), Some(Code::InvalidArgument));
    assert!(ops.values().all(|&cases| cases > 90), "{ops:?}");
}

fn describe(node: &NodeDef) -> String {
    let attrs = node.attr.iter().map(|(name, value)| match proto::attr_from_proto(value) {
        Ok(value) => format!("{name}={value}"),
        Err(error) => format!("{name}: {error}"),
    });
    format!("{} = {}({}) {}", node.name, node.op, node.input.join(", "), attrs.collect::<Vec<_>>().join(" "))
}
