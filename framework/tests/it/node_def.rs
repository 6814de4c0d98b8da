//! The rules for nodes as messages.

use kernlink_framework::dtype::DataType;
use kernlink_framework::graph::{
    add_defaults, in_out_types, name_ranges, remove_new_default_attrs, strip_defaults, validate_node_def,
};
use kernlink_framework::op::{InOutType, OpDef, OpDefBuilder, find_op, types_compatible};
use kernlink_framework::proto::attr_value::{ListValue, Value};
use kernlink_framework::proto::{AttrValue, FunctionDef, FunctionDefLibrary, GraphDef, NodeDef, OpDef as ProtoOp};

const FLOAT: i32 = 1;
const INT32: i32 = 3;
const STRING: i32 = 7;

fn node(op: &str, inputs: &[&str], attrs: &[(&str, Value)]) -> NodeDef {
    NodeDef {
        name: "n".into(),
        op: op.into(),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        attr: attrs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), AttrValue { value: Some(value.clone()) }))
            .collect(),
        ..NodeDef::default()
    }
}

fn types(types: &[i32]) -> Value {
    Value::List(ListValue { r#type: types.to_vec(), ..ListValue::default() })
}

/// `T` one dtype, `N` of them, a list of any, a string with a default.
fn op() -> OpDef {
    OpDefBuilder::new("Mix")
        .attr("T: {float, int32}")
        .attr("N: int >= 0")
        .attr("L: list(type) >= 0")
        .attr("mode: {'a', 'b'} = 'a'")
        .input("x: T")
        .input("xs: N * T")
        .input("any: L")
        .output("ref: Ref(T)")
        .output("refs: Ref(N * int64)")
        .output("all: L")
        .build()
        .unwrap()
}

fn attrs() -> Vec<(&'static str, Value)> {
    vec![("T", Value::Type(FLOAT)), ("N", Value::I(2)), ("L", types(&[STRING])), ("mode", Value::S("b".into()))]
}

#[track_caller]
fn bad(node: &NodeDef, message: &str) {
    let error = validate_node_def(node, &op()).expect_err("an error");
    assert!(error.message().contains(message), "{error}");
    assert_eq!(error.node().map(|context| context.node.as_str()), Some("n"));
}

/// The good node with one attr changed.
fn with(name: &'static str, value: Value) -> NodeDef {
    let mut node = node("Mix", &["a", "b", "c:1", "d"], &attrs());
    node.attr.insert(name.to_owned(), AttrValue { value: Some(value) });
    node
}

#[test]
fn good_nodes() {
    let good = |node: &NodeDef| validate_node_def(node, &op()).unwrap_or_else(|error| panic!("{error}"));
    good(&node("Mix", &["a", "b", "c:1", "d"], &attrs()));
    good(&node("Mix", &["a", "b", "c:1", "d", "^e", "^f"], &attrs()));
    // Attrs that the op does not know are tolerated, and those that begin with `_` may be anything.
    good(&with("unknown", Value::I(1)));
    good(&with("_class", Value::Type(9999)));
    good(&with("unknown", Value::Type(9999)));
    let mut none = node("Mix", &["a"], &attrs());
    none.attr.insert("N".into(), AttrValue { value: Some(Value::I(0)) });
    // No value at all is an empty list.
    none.attr.insert("L".into(), AttrValue { value: None });
    good(&none);
}

#[test]
fn nodes_of_functions_hold_placeholders() {
    let placeholder = |name: &str| Value::Placeholder(name.to_owned());
    for name in ["T", "N", "L", "mode"] {
        let node = with(name, placeholder("T"));
        validate_node_def(&node, &op()).unwrap_or_else(|error| panic!("{error}"));
    }
    // The dtype is open, the number of inputs is not.
    let mut few = with("T", placeholder("T"));
    few.input.pop();
    bad(&few, "3 inputs are given but the op takes 4");
}

#[test]
fn bad_nodes() {
    bad(
        &node("Other", &["a", "b", "c:1", "d"], &attrs()),
        "NodeDef op `Other` does not match Op<name=Mix; signature=x: T",
    );
    bad(&node("Mix", &["a", "^e", "b"], &attrs()), "input `b` stands after a control input");
    bad(&node("Mix", &["a", "^e:1"], &attrs()), "control input `^e:1` must not have `:`");
    bad(&with("T", Value::Type(STRING)), "attr `T` (the dtype of input `x`) is string but must be one of float, int32");
    bad(&with("T", Value::I(1)), "attr `T` (the dtype of input `x`) must be type, not int");
    bad(&with("T", Value::Type(101)), "attr `T`: AttrValue must not have reference type value of float_ref");
    bad(&with("T", Value::Type(77)), "attr `T`: AttrValue has invalid DataType: 77");
    bad(&with("L", types(&[FLOAT, 103])), "attr `L`: AttrValue must not have reference type value of int32_ref");
    let mut unset = with("T", Value::Type(FLOAT));
    unset.attr.insert("T".into(), AttrValue { value: None });
    bad(&unset, "attr `T`: an attr has no value");
    bad(&with("T", types(&[FLOAT])), "attr `T` (the dtype of input `x`) must be type, not list(type)");
    bad(&with("N", Value::I(-1)), "attr `N` (the number of tensors in input `xs`) is -1 but must be at least 0");
    bad(&with("N", Value::I(1 << 40)), "cannot be a list of 1099511627776 tensors");
    bad(&with("mode", Value::S("c".into())), "attr `mode` is \"c\" but must be one of \"a\", \"b\"");
    bad(&with("L", Value::Type(FLOAT)), "attr `L` (the dtypes of input `any`) must be list(type), not type");
    bad(&node("Mix", &["a", "b"], &attrs()), "2 inputs are given but the op takes 4 (x, xs, any)");
    bad(&node("Mix", &["a", "b", "c", "d", "e"], &attrs()), "5 inputs are given");
    // A default does not stand for an attr that is missing: `add_defaults` does that.
    bad(&node("Mix", &["a", "b", "c", "d"], &attrs()[..3]), "NodeDef missing attr `mode` from Op<name=Mix");
    bad(&node("Mix", &[], &attrs()[..1]), "NodeDef missing attrs `N`, `L`, `mode` from Op<name=Mix");
    // The order of the rules: op, inputs, values and missing attrs together, the number of inputs.
    let mut all = node("Mix", &["^a", "b"], &[("T", Value::I(1))]);
    bad(&all, "stands after a control input");
    all.input.clear();
    bad(&all, "attr `T` (the dtype of input `x`) must be type, not int; NodeDef missing attrs `N`, `L`, `mode`");
}

#[test]
fn defaults_come_and_go() {
    let op = OpDefBuilder::new("Op")
        .attr("a: int = 1")
        .attr("b: string = 'x'")
        .attr("c: tensor = { dtype: DT_INT32 tensor_shape {} int_val: 5 }")
        .attr("d: list(float) = []")
        .attr("e: float = nan")
        .attr("f: int")
        .build()
        .unwrap();
    let bare = node("Op", &[], &[("b", Value::S("y".into())), ("_g", Value::I(1))]);
    let mut full = bare.clone();
    add_defaults(&mut full, &op).unwrap();
    assert_eq!(full.attr.keys().collect::<Vec<_>>(), ["_g", "a", "b", "c", "d", "e"]);
    assert_eq!(full.attr["a"].value, Some(Value::I(1)));
    assert_eq!(full.attr["b"].value, Some(Value::S("y".into())));
    let again = full.clone();
    add_defaults(&mut full, &op).unwrap();
    assert_eq!(full.attr.len(), again.attr.len());
    // The same tensor may be written in another way, and an empty list as no value.
    let Some(Value::Tensor(tensor)) = &mut full.attr.get_mut("c").unwrap().value else { panic!("no tensor") };
    tensor.int_val.clear();
    tensor.tensor_content = 5i32.to_le_bytes().to_vec().into();
    full.attr.get_mut("d").unwrap().value = None;
    strip_defaults(&mut full, &op).unwrap();
    assert_eq!(full, bare);
    let mut other = node("Op", &[], &[("a", Value::I(2)), ("d", Value::F(1.0)), ("e", Value::F(0.0))]);
    strip_defaults(&mut other, &op).unwrap();
    assert_eq!(other.attr.len(), 3);
}

#[test]
fn attrs_that_a_consumer_does_not_know() {
    let ops = |attrs: &[&str]| {
        let build = |name: &str| attrs.iter().fold(OpDefBuilder::new(name), |op, attr| op.attr(*attr)).build().unwrap();
        [build("A"), build("B")]
    };
    let consumer = ops(&["old: int"]);
    let producer = ops(&["old: int", "new: int = 1", "more: string = 'x'"]);
    let sample = |new: i64| {
        node(
            "A",
            &[],
            &[("old", Value::I(0)), ("new", Value::I(new)), ("more", Value::S("x".into())), ("_x", Value::I(0))],
        )
    };
    let function = FunctionDef {
        signature: Some(ProtoOp { name: "f".into(), ..ProtoOp::default() }),
        node_def: vec![sample(1)],
        ..FunctionDef::default()
    };
    let mut graph = GraphDef {
        node: vec![sample(1), sample(2), node("f", &[], &[("whatever", Value::I(1))])],
        library: Some(FunctionDefLibrary { function: vec![function], ..FunctionDefLibrary::default() }),
        ..GraphDef::default()
    };
    let remove = |graph: &mut GraphDef| {
        remove_new_default_attrs(graph, |name| find_op(&consumer, name), |name| find_op(&producer, name))
    };
    let removed = remove(&mut graph).unwrap();
    let pairs: Vec<_> = removed.iter().map(|(op, attr)| (op.as_str(), attr.as_str())).collect();
    assert_eq!(pairs, [("A", "more"), ("A", "new")]);
    let names = |node: &NodeDef| node.attr.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&graph.node[0]), ["_x", "old"]);
    // Another value than the default stays: the consumer must be told.
    assert_eq!(names(&graph.node[1]), ["_x", "new", "old"]);
    assert_eq!(names(&graph.node[2]), ["whatever"]);
    let GraphDef { library, .. } = &graph;
    assert_eq!(names(&library.as_ref().unwrap().function[0].node_def[0]), ["_x", "old"]);
    let of = |node: NodeDef| remove(&mut GraphDef { node: vec![node], ..GraphDef::default() }).unwrap_err();
    let error = of(node("C", &[], &[]));
    assert!(error.message().contains("the producer has no op C"), "{error}");
    let error = of(node("A", &[], &[("strange", Value::I(1))]));
    assert!(error.message().contains("attr `strange` is missing in the producer's Op<name=A"), "{error}");
}

#[test]
fn types_and_ranges() {
    let node = node("Mix", &[], &attrs());
    let (inputs, outputs) = in_out_types(&node, &op()).unwrap();
    let texts = |types: &[InOutType]| types.iter().map(InOutType::to_string).collect::<Vec<_>>();
    assert_eq!(texts(&inputs), ["float", "float", "float", "string"]);
    assert_eq!(texts(&outputs), ["float_ref", "int64_ref", "int64_ref", "string"]);
    let ranges = name_ranges(&node, &op()).unwrap();
    assert_eq!(
        (ranges.inputs["x"].clone(), ranges.inputs["xs"].clone(), ranges.inputs["any"].clone()),
        (0..1, 1..3, 3..4)
    );
    assert_eq!((ranges.outputs["refs"].clone(), ranges.outputs["all"].clone()), (1..3, 3..4));
    let mut empty = with("N", Value::I(0));
    assert_eq!(name_ranges(&empty, &op()).unwrap().inputs["xs"], 1..1);
    for value in [Value::I(-1), Value::I(i64::from(i32::MAX) + 1), Value::Type(INT32)] {
        empty.attr.insert("N".into(), AttrValue { value: Some(value) });
        assert!(in_out_types(&empty, &op()).unwrap_err().message().contains("`N`"));
    }
    empty.attr.remove("N");
    assert!(name_ranges(&empty, &op()).unwrap_err().message().contains("attr `N` is missing"));
}

#[test]
fn references_suit_values_but_not_the_other_way() {
    let of = |dtype, is_ref| InOutType { dtype, is_ref };
    let (value, reference) = (of(DataType::Float, false), of(DataType::Float, true));
    assert!(types_compatible(value, value) && types_compatible(reference, reference));
    assert!(types_compatible(value, reference));
    assert!(!types_compatible(reference, value));
    assert!(!types_compatible(value, of(DataType::Int32, false)));
}
