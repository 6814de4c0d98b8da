//! Wrappers: functions that add nodes to graphs.

use std::sync::Arc;

use kernlink::Result;
use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::dtype::DataType;
use kernlink::graph::{Graph, Output};
use kernlink::registry::Registry;
use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::ops::zero_out;

fn unknown(c: &mut InferenceContext<'_>) -> Result<()> {
    kernlink::shape_inference::common::unknown_shape(c)
}

/// Makes a tensor.
#[register_op(attr("dtype: type"), attr("shape: shape = { unknown_rank: true }"), output("output: dtype"), shape_fn = unknown)]
pub(crate) struct Source;

/// Takes lists, gives lists.
#[register_op(
    attr("N: int"),
    attr("T: type"),
    attr("num_split: int >= 1"),
    attr("Tout: list(type) >= 0 = [DT_INT32]"),
    attr("names: list(string) = []"),
    attr("name: string = 'n'"),
    attr("sizes: list(int) = []"),
    attr("f: func"),
    input("graph: N * T"),
    input("mod: T"),
    output("first: T"),
    output("split: num_split * T"),
    output("rest: Tout"),
    output("last: int64"),
    shape_fn = unknown
)]
pub(crate) struct ListsV2;

/// Has no outputs.
#[register_op(shape_fn = unknown)]
pub(crate) struct Where;

/// One list.
#[register_op(attr("N: int"), output("outputs: N * float"), shape_fn = unknown)]
pub(crate) struct FIFOQueue;

/// Two outputs.
#[register_op(attr("k: int = 1"), attr("T: type"), input("input: T"), output("values: T"), output("indices: int32"), shape_fn = unknown)]
pub(crate) struct TopKV2;

/// In a namespace.
#[register_op(name = "Ns>MyOp", input("x: float"), output("y: float"), shape_fn = unknown)]
pub(crate) struct NsMyOp;

/// Internal.
#[register_op(output("y: float"), shape_fn = unknown)]
pub(crate) struct _Hid;

/// Names that differ in case alone, or are Rust's own.
#[register_op(
    attr("X: int"),
    attr("Scope: int"),
    attr("y: int = 1"),
    attr("Y: int = 2"),
    attr("attr: int = 3"),
    attr("type: int = 4"),
    input("x: float"),
    input("scope: float"),
    input("required: float"),
    output("self: float"),
    output("in: float"),
    shape_fn = unknown
)]
pub(crate) struct S;

/// Attrs that could be exchanged, of every type that a field has.
#[register_op(
    name = "Ns>Window",
    attr("sizes: list(int)"),
    attr("strides: list(int)"),
    attr("padding: string"),
    attr("names: list(string)"),
    attr("types: list(type)"),
    attr("shape: shape"),
    attr("type: float"),
    attr("body: func"),
    attr("rates: list(int) = [1]"),
    input("x: float"),
    output("y: float"),
    shape_fn = unknown
)]
pub(crate) struct NsWindow;

/// Nothing that a struct would borrow.
#[register_op(attr("first: type"), attr("second: type"), shape_fn = unknown)]
pub(crate) struct TwoTypes;

fn graph() -> Graph {
    Graph::new(&Arc::new(Registry::linked(&[&crate::KERNLINK_PROVIDER]).unwrap()))
}

fn float(graph: &mut Graph) -> Output {
    source(graph, DataType::Float).build().unwrap()
}

#[test]
fn one_output() {
    let mut graph = graph();
    let x =
        source(&mut graph, DataType::Float).shape(PartialShape::from_known([Some(2), None])).name("x").build().unwrap();
    let y = zero_out(&mut graph, x).preserve_index(2).device("/device:CPU:0").build().unwrap();
    let node = graph.node(y.node);
    assert_eq!((node.name.as_str(), node.device.as_str(), y.index), ("ZeroOut", "/device:CPU:0", 0));
    assert_eq!(node.inputs, [x]);
    assert!(matches!(node.attrs.get("preserve_index"), Some(AttrValue::Int(2))));
    assert!(matches!(node.attrs.get("T"), Some(AttrValue::Type(DataType::Float))));
    assert_eq!(graph.node(x.node).name, "x");
}

#[test]
fn no_output_and_a_keyword() {
    let mut graph = graph();
    let first = where_(&mut graph).build().unwrap();
    let second = where_(&mut graph).control_input(first).build().unwrap();
    assert_eq!(graph.node(second).control_inputs, [first]);
}

#[test]
fn several_outputs() {
    let mut graph = graph();
    let x = float(&mut graph);
    let TopKV2Output { values, indices } = top_kv2(&mut graph, x).k(3).build().unwrap();
    assert_eq!((values.index, indices.index, values.node), (0, 1, indices.node));
}

#[test]
fn lists() {
    let mut graph = graph();
    let (x, y) = (float(&mut graph), float(&mut graph));
    let f = FunctionRef { name: "f".into(), ..FunctionRef::default() };
    let out = lists_v2(&mut graph, [x, y], y, 3, f)
        .tout([DataType::Int32, DataType::String])
        .names(["a", "b"])
        .name_("other")
        .sizes(vec![1, 2])
        .name("lists")
        .build()
        .unwrap();
    assert_eq!((out.first.index, out.last.index), (0, 6));
    assert_eq!(out.split.iter().map(|output| output.index).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(out.rest.iter().map(|output| output.index).collect::<Vec<_>>(), [4, 5]);
    let node = graph.node(out.first.node);
    assert_eq!(node.inputs, [x, y, y]);
    assert!(matches!(node.attrs.get("N"), Some(AttrValue::Int(2))));
    assert!(matches!(node.attrs.get("names"), Some(AttrValue::ListString(names)) if names.len() == 2));
    let outputs = fifo_queue(&mut graph, 2).build().unwrap();
    assert_eq!(outputs.len(), 2);
}

#[test]
fn errors_name_the_callers_line() {
    let mut graph = graph();
    let x = source(&mut graph, DataType::String).build().unwrap();
    let error = zero_out(&mut graph, x).build().unwrap_err();
    assert!(error.location().file().ends_with("wrappers.rs"), "{error:?}");
}

#[test]
fn namespaces_and_internal_ops() {
    let mut graph = graph();
    let x = __hid(&mut graph).build().unwrap();
    let y = ns_my_op(&mut graph, x).build().unwrap();
    assert_eq!(graph.node(x.node).name, "Hid");
    assert_eq!((graph.node(y.node).name.as_str(), &*graph.node(y.node).op.def.name), ("Ns>MyOp", "Ns>MyOp"));
}

#[test]
fn names_that_clash() {
    let mut graph = graph();
    let x = float(&mut graph);
    let SOutput { self_, r#in } =
        s(&mut graph, x, x, x, SRequired { x: 10, scope: 20 }).y(11).y_(12).attr_(13).type_(14).build().unwrap();
    assert_eq!((self_.index, r#in.index), (0, 1));
    let attrs = &graph.node(self_.node).attrs;
    let values = ["X", "Scope", "y", "Y", "attr", "type"].map(|name| attrs.required::<i64>(name).unwrap());
    assert_eq!(values, [10, 20, 11, 12, 13, 14]);
}

#[test]
fn attrs_of_one_type_are_given_by_name() {
    let mut graph = graph();
    let x = float(&mut graph);
    let names = ["a".to_owned(), "b".to_owned()];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let required = NsWindowRequired {
        strides: &[1, 2],
        sizes: &[3, 4],
        padding: "SAME",
        names: &names,
        types: &[DataType::Int32],
        shape: [2, 3].into(),
        type_: 0.5,
        body: FunctionRef { name: "f".into(), ..FunctionRef::default() },
    };
    let y = ns_window(&mut graph, x, required.clone()).rates([5]).build().unwrap();
    let attrs = &graph.node(y.node).attrs;
    let ints = ["sizes", "strides", "rates"].map(|name| attrs.required::<Vec<i64>>(name).unwrap());
    assert_eq!(ints, [vec![3, 4], vec![1, 2], vec![5]]);
    assert_eq!(attrs.required::<String>("padding").unwrap(), "SAME");
    assert_eq!(attrs.required::<Vec<String>>("names").unwrap(), ["a", "b"]);
    assert_eq!(attrs.required::<Vec<DataType>>("types").unwrap(), [DataType::Int32]);
    assert_eq!(attrs.required::<PartialShape>("shape").unwrap(), PartialShape::from([2, 3]));
    assert_eq!(attrs.required::<f32>("type").unwrap(), 0.5);
    assert_eq!(attrs.required::<FunctionRef>("body").unwrap().name, "f");

    let types = TwoTypesRequired { second: DataType::Int8, first: DataType::Half };
    let node = two_types(&mut graph, types).build().unwrap();
    let types = ["first", "second"].map(|name| graph.node(node).attrs.required::<DataType>(name).unwrap());
    assert_eq!(types, [DataType::Half, DataType::Int8]);
}
