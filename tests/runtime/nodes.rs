//! Building nodes: what follows from the inputs, and every error that wrong inputs make, in TensorFlow's words.

use kernlink::attr::AttrValue;
use kernlink::graph::NodeBuilder;
use kernlink::op::{Op, OpDef};
use kernlink::prelude::*;

/// Every kind of input.
#[register_op(
    attr("T: {float, int32, string} = DT_STRING"),
    attr("U: type"),
    attr("N: int >= 0"),
    attr("M: int >= 0"),
    attr("L: list(type) >= 0"),
    input("one: T"),
    input("fixed: int32"),
    input("list: N * T"),
    input("others: M * U"),
    input("types: L"),
    input("floats: M * float"),
    output("out: T"),
    shape_fn = shape::unknown_shape
)]
pub(crate) struct Mixed;

/// A list alone.
#[register_op(attr("N: int >= 0"), attr("T: type = DT_HALF"), input("list: N * T"), output("out: T"), shape_fn = shape::unknown_shape)]
pub(crate) struct WithDefault;

/// Takes a reference.
#[register_op(attr("T: type"), input("ref: Ref(T)"), output("out: Ref(T)"), shape_fn = shape::unknown_shape)]
pub(crate) struct TakesRef;

/// Gives a reference.
#[register_op(attr("dtype: type"), output("ref: Ref(dtype)"), shape_fn = shape::unknown_shape)]
pub(crate) struct GivesRef;

fn graph() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

fn of(graph: &mut Graph, dtype: DataType) -> Output {
    ops::placeholder(graph, dtype).build().unwrap()
}

#[track_caller]
fn fails(graph: &mut Graph, op: &OpDef, give: impl FnOnce(&mut NodeBuilder<'_>), expected: &[&str]) {
    let before = graph.nodes().len();
    let mut node = NodeBuilder::new(graph, op);
    node.name("it");
    give(&mut node);
    let error = node.build().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for text in expected {
        assert!(error.message().contains(text), "no `{text}` in: {error}");
    }
    let place = format!("while building NodeDef 'it' using Op<name={}; signature=", op.name);
    assert!(error.message().contains(&place), "{error}");
    assert_eq!(error.node().map(|at| (&*at.node, &*at.op)), Some(("it", &*op.name)));
    assert_eq!(graph.nodes().len(), before, "a node that failed leaves nothing behind");
}

#[test]
fn all_faults_are_in_one_error() {
    let graph = &mut graph();
    let (float, int) = (of(graph, DataType::Float), of(graph, DataType::Int32));
    fails(
        graph,
        Mixed::DEF,
        |node| {
            node.input_list([float]).input(float).input(int).input_list([float, int]).input(float).input_list([int]);
        },
        &[
            "List provided to input 'one' when single Tensor expected\n",
            "Input 'fixed' passed float expected int32\n",
            "Single tensor passed to 'list', expected list\n",
            "Input 'others' passed int32 in element 1 expected float\n",
            "Single tensor passed to 'types', expected list\n",
            "Inconsistent values for attr 'M' 2 vs. 1: input 'others' implies the former, input 'floats' the latter\n",
            "Input 'floats' passed int32 in element 0 expected float\n",
            "7 errors while building NodeDef 'it' using Op<name=Mixed; signature=one: T, fixed: int32, list: N * T, \
             others: M * U, types: L, floats: M * float -> out: T; attr=T: {float, int32, string} = DT_STRING; attr=",
        ],
    );
}

#[test]
fn too_many_and_too_few_inputs() {
    let graph = &mut graph();
    let x = of(graph, DataType::Float);
    let many = |node: &mut NodeBuilder<'_>| _ = node.input(x).input(x).input(x);
    fails(graph, ops::AddV2::DEF, many, &["More Input() calls than the 2 input_args"]);
    fails(graph, ops::AddV2::DEF, |_| {}, &["0 inputs specified of 2 inputs in Op: 'x', 'y' missing"]);
}

#[test]
fn inputs_that_disagree() {
    let graph = &mut graph();
    let (float, int) = (of(graph, DataType::Float), of(graph, DataType::Int32));
    fails(
        graph,
        ops::AddV2::DEF,
        |node| _ = node.input(float).input(int),
        &["Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32: input 'x' implies the former, input 'y' the latter"],
    );
    fails(
        graph,
        ops::Relu::DEF,
        |node| _ = node.input(float).attr("T", DataType::Double),
        &["Inconsistent values for attr 'T' DT_DOUBLE vs. DT_FLOAT: the former is given, input 'features' implies the"],
    );
    fails(
        graph,
        ops::Pack::DEF,
        |node| _ = node.input_list([float, float]).attr("N", 3i64),
        &["Inconsistent values for attr 'N' 3 vs. 2: the former is given, input 'values' implies the latter"],
    );
    // What is given and true is no error.
    let mut node = NodeBuilder::new(graph, ops::Relu::DEF);
    node.input(float).attr("T", DataType::Float);
    node.build().unwrap();
}

#[test]
fn references() {
    let graph = &mut graph();
    let value = of(graph, DataType::Float);
    let reference = gives_ref(graph, DataType::Float).build().unwrap();
    fails(graph, TakesRef::DEF, |node| _ = node.input(value), &["Input 'ref' passed float expected ref type"]);
    fails(graph, TakesRef::DEF, |node| _ = node.input(1.0f32), &["Input 'ref' passed float expected ref type"]);
    takes_ref(graph, reference).build().unwrap();
    // A reference is a value too.
    ops::relu(graph, reference).build().unwrap();
}

#[test]
fn an_empty_list_says_nothing_of_its_dtype() {
    let graph = &mut graph();
    let none: [Output; 0] = [];
    let half = with_default(graph, none).build().unwrap();
    assert!(matches!(graph.node(half.node).attrs.get("T"), Some(AttrValue::Type(DataType::Half))));
    assert!(matches!(graph.node(half.node).attrs.get("N"), Some(AttrValue::Int(0))));
    let give = |node: &mut NodeBuilder<'_>| {
        node.input("s").input(1i32).input_list(none).input_list(none).input_list(none).input_list(none);
    };
    fails(graph, Mixed::DEF, give, &["attr 'U' does not follow from the empty list given to 'others'"]);
    let mut node = NodeBuilder::new(graph, Mixed::DEF);
    give(&mut node);
    node.attr("U", DataType::Bool);
    let node = node.build().unwrap();
    assert!(matches!(graph.node(node).attrs.get("U"), Some(AttrValue::Type(DataType::Bool))));
    assert!(matches!(graph.node(node).attrs.get("T"), Some(AttrValue::Type(DataType::String))));
}

#[test]
fn an_output_of_another_graph() {
    let mut other = graph();
    let far = (0..3).map(|_| of(&mut other, DataType::Float)).last().unwrap();
    fails(
        &mut graph(),
        ops::Relu::DEF,
        |node| _ = node.input(far),
        &["Input 'features' cannot be connected: this output belongs to another graph"],
    );
}

#[test]
fn constants_of_a_node_that_fails_are_removed() {
    let mut graph = graph();
    let x = Tensor::zeros(DataType::Float, [2, 3]).unwrap();
    let error = ops::mat_mul(&mut graph, &x, &x).build().unwrap_err();
    assert!(error.message().contains("must be equal"), "{error}");
    assert_eq!(graph.nodes().len(), 0);
    let y = ops::mat_mul(&mut graph, &x, &x).transpose_b(true).build().unwrap();
    let names: Vec<_> = graph.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["MatMul/a", "MatMul/b", "MatMul"]);
    assert_eq!(graph.shape(y).to_string(), "[2,2]");
}

#[test]
fn strings_that_are_not_allowed_name_the_nearest() {
    let graph = &mut graph();
    let x = of(graph, DataType::Float);
    let windows = ops::MaxPoolRequired { ksize: &[1, 2, 2, 1], strides: &[1, 1, 1, 1], padding: "same" };
    let error = ops::max_pool(graph, x, windows).build().unwrap_err();
    assert!(error.message().contains("attr `padding` is \"same\" but must be one of \"SAME\", \"VALID\""), "{error}");
    assert!(error.message().contains("did you mean \"SAME\"?"), "{error}");
}

#[test]
fn an_attr_that_the_op_lacks_is_refused() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let a = Tensor::from_elements([1, 1], &[1.0f32]).unwrap();
    let errors = [
        ops::mat_mul(&mut graph, &a, &a).attr("transpoze_a", true).build().unwrap_err(),
        ops::mat_mul(&mut eager, &a, &a).attr("transpoze_a", true).build().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code(), Code::InvalidArgument);
        for words in ["MatMul has no attr `transpoze_a`", "did you mean transpose_a"] {
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    ops::mat_mul(&mut graph, &a, &a).attr("_hint", true).build().unwrap();
}
