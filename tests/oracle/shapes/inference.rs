//! What graphs know beyond one node: identities, values, what resources hold, functions, loops; and what they refuse.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernlink::Code;
use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::dtype::DataType;
use kernlink::graph::{Graph, NodeBuilder};
use kernlink::op::OpDefBuilder;
use kernlink::prelude::*;
use kernlink::proto::{self, FunctionDef, FunctionDefLibrary, GraphDef, NodeDef};
use kernlink::shape::PartialShape;
use kernlink::shape_inference::{InferenceContext, LinkedDim};

const FLOAT: AttrValue = AttrValue::Type(DataType::Float);

/// Counts how often its kernel runs.
#[register_op(input("x: int32"), output("y: int32"), shape_fn = shape::unchanged)]
pub(crate) struct Counted;

static RUNS: AtomicUsize = AtomicUsize::new(0);

struct CountedKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Counted> for CountedKernel {
    fn new(_: &KernelConstruction<Counted>) -> Result<Self> {
        Ok(CountedKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Counted>) -> Result<()> {
        RUNS.fetch_add(1, Ordering::Relaxed);
        let x = ctx.input(Counted::X)?.clone();
        ctx.set_output(Counted::Y, x)
    }
}

static ABS_RUNS: AtomicUsize = AtomicUsize::new(0);

/// Stands in for a standard kernel.
struct AbsKernel;

#[register_kernel(device = Cpu, T = [int32], label = "counted", priority = 1)]
impl OpKernel<kernlink_ops::Abs> for AbsKernel {
    fn new(_: &KernelConstruction<kernlink_ops::Abs>) -> Result<Self> {
        Ok(AbsKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<kernlink_ops::Abs>) -> Result<()> {
        ABS_RUNS.fetch_add(1, Ordering::Relaxed);
        let x = ctx.input(kernlink_ops::Abs::X)?.clone();
        ctx.set_output(kernlink_ops::Abs::Y, x)
    }
}

/// Counts how often its shape function runs in a thread.
#[register_op(input("x: float"), output("y: float"), shape_fn = look)]
#[allow(dead_code, reason = "graphs name it")]
pub(crate) struct Looked;

thread_local! {
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn look(c: &mut InferenceContext<'_>) -> Result<()> {
    LOOKS.set(LOOKS.get() + 1);
    shape::unchanged(c)
}

fn node(name: &str, op: &str, inputs: &[&str], attrs: &[(&str, AttrValue)]) -> NodeDef {
    let attr = |(name, value): &(&str, AttrValue)| ((*name).to_owned(), proto::attr_to_proto(value).unwrap());
    NodeDef {
        name: name.to_owned(),
        op: op.to_owned(),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        attr: attrs.iter().map(attr).collect(),
        ..NodeDef::default()
    }
}

fn placeholder(name: &str, dims: &[i64]) -> NodeDef {
    let shape = PartialShape::from_dims(dims).unwrap();
    node(name, "Placeholder", &[], &[("dtype", FLOAT), ("shape", AttrValue::Shape(shape))])
}

fn constant(name: &str, value: Tensor) -> NodeDef {
    node(name, "Const", &[], &[("dtype", AttrValue::Type(value.dtype())), ("value", AttrValue::Tensor(value))])
}

fn ints(values: &[i32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn import(nodes: Vec<NodeDef>, functions: Vec<FunctionDef>) -> Result<Graph> {
    let library = Some(FunctionDefLibrary { function: functions, gradient: Vec::new() });
    Graph::import(&GraphDef { node: nodes, library, ..GraphDef::default() }, &kernlink::registry()?)
}

fn shape(graph: &Graph, name: &str) -> String {
    graph.shape(graph.output(name).unwrap()).to_string()
}

#[track_caller]
fn refused(result: Result<Graph>, code: Code, words: &[&str]) {
    let Err(error) = result else { panic!("the graph is not refused") };
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

/// A graph is imported, and a run of `c` refused.
#[track_caller]
fn refused_run(graph: Result<Graph>, x: &Tensor, code: Code, words: &[&str]) {
    let session = Session::new(graph.unwrap()).unwrap();
    refused(session.run(&[("x", x.clone())], &["c"], &[]).map(|_| session.graph().clone()), code, words);
}

/// A function of floats: arguments `x0`, `x1`, ..., and results by name and source.
fn function(name: &str, args: usize, nodes: Vec<NodeDef>, results: &[(&str, &str)]) -> FunctionDef {
    let arg = |name: String| proto::op_def::ArgDef { name, r#type: DataType::Float.number(), ..Default::default() };
    FunctionDef {
        signature: Some(proto::OpDef {
            name: name.to_owned(),
            input_arg: (0..args).map(|i| arg(format!("x{i}"))).collect(),
            output_arg: results.iter().map(|(name, _)| arg((*name).to_owned())).collect(),
            ..Default::default()
        }),
        node_def: nodes,
        ret: results.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned())).collect(),
        ..FunctionDef::default()
    }
}

fn call(name: &str, f: &str, inputs: &[&str], results: usize) -> NodeDef {
    let floats = |count| AttrValue::ListType(vec![DataType::Float; count]);
    let function = AttrValue::Func(FunctionRef { name: f.to_owned(), attrs: BTreeMap::new() });
    let attrs = [("Tin", floats(inputs.len())), ("Tout", floats(results)), ("f", function)];
    node(name, "PartitionedCall", inputs, &attrs)
}

fn relu(name: &str, input: &str) -> NodeDef {
    node(name, "Relu", &[input], &[("T", FLOAT)])
}

#[test]
fn unknown_dimensions_keep_their_identity() {
    let nodes = vec![
        placeholder("x", &[-1, 3]),
        placeholder("w", &[3, 5]),
        placeholder("other", &[-1, 5]),
        constant("half", Tensor::scalar(0.5f32)),
        node("product", "MatMul", &["x", "w"], &[("T", FLOAT)]),
        node("sizes", "Shape", &["product"], &[("T", FLOAT)]),
        node("twice", "Cast", &["sizes"], &[("SrcT", DataType::Int32.into()), ("DstT", DataType::Int64.into())]),
        node("back", "Fill", &["twice", "half"], &[("T", FLOAT), ("index_type", DataType::Int64.into())]),
        call("called", "f", &["back"], 1),
    ];
    let f = function("f", 1, vec![relu("r", "x0")], &[("y", "r:activations:0")]);
    let graph = import(nodes, vec![f]).unwrap();
    let dims = |name: &str| graph.linked_shape(graph.output(name).unwrap()).dims().unwrap().to_vec();
    let batch = dims("x")[0];
    assert!(matches!(batch, LinkedDim::Symbol(_)));
    for name in ["product", "back", "called"] {
        assert_eq!(dims(name), [batch, LinkedDim::Known(5)], "{name}");
    }
    assert_ne!(dims("other")[0], batch);
}

#[test]
fn a_users_op_is_not_run_to_learn_a_shape() {
    let nodes = |op: &str, attrs: &[(&str, AttrValue)]| {
        vec![
            placeholder("x", &[6]),
            constant("to", ints(&[2, 3])),
            node("sizes", op, &["to"], attrs),
            node("y", "Reshape", &["x", "sizes"], &[("T", FLOAT)]),
        ]
    };
    let ours = import(nodes("Abs", &[("T", DataType::Int32.into())]), Vec::new()).unwrap();
    assert_eq!(shape(&ours, "y"), "[2,3]");
    let theirs = import(nodes("Counted", &[]), Vec::new()).unwrap();
    assert_eq!(shape(&theirs, "y"), "[?,?]");
    assert_eq!(RUNS.load(Ordering::Relaxed), 0);
}

#[test]
fn a_users_kernel_is_not_run_to_learn_a_shape() {
    let infer = |kernel: &[(&str, AttrValue)]| {
        let attrs = [&[("T", DataType::Int32.into())], kernel].concat();
        let nodes = vec![
            placeholder("x", &[6]),
            constant("to", ints(&[2, 3])),
            node("sizes", "Abs", &["to"], &attrs),
            node("y", "Reshape", &["x", "sizes"], &[("T", FLOAT)]),
        ];
        shape(&import(nodes, Vec::new()).unwrap(), "y")
    };
    assert_eq!(infer(&[]), "[2,3]");
    assert_eq!(infer(&[("_kernel", "counted".into())]), "[?,?]");
    assert_eq!(ABS_RUNS.load(Ordering::Relaxed), 0);
}

#[test]
fn arguments_have_the_dtypes_that_a_function_takes() {
    let f = || vec![function("f", 1, vec![relu("r", "x0")], &[("y", "r:activations:0")])];
    let ints = |dims: &[i64]| {
        let mut x = placeholder("x", dims);
        x.attr.insert("dtype".to_owned(), proto::attr_to_proto(&DataType::Int32.into()).unwrap());
        x
    };
    let mut called = call("c", "f", &["x"], 1);
    called.attr.insert("Tin".to_owned(), proto::attr_to_proto(&vec![DataType::Int32].into()).unwrap());
    let words = ["argument 0 of function `f` must be float, not int32", "`c`"];
    refused_run(
        import(vec![ints(&[2]), called.clone()], f()),
        &Tensor::vector(&[1i32, 2]).unwrap(),
        Code::InvalidArgument,
        &words,
    );

    // What only may be called is not refused, but stays unknown.
    let go =
        node("go", "Placeholder", &[], &[("dtype", DataType::Bool.into()), ("shape", PartialShape::of_rank(0).into())]);
    let mut choice = called.clone();
    choice.op = "StatelessIf".to_owned();
    choice.input.insert(0, "go".to_owned());
    let branch = choice.attr.remove("f").unwrap();
    choice.attr.insert("then_branch".to_owned(), branch.clone());
    choice.attr.insert("else_branch".to_owned(), branch);
    choice.attr.insert("Tcond".to_owned(), proto::attr_to_proto(&DataType::Bool.into()).unwrap());
    assert_eq!(shape(&import(vec![ints(&[2]), go.clone(), choice.clone()], f()).unwrap(), "c"), "<unknown>");
    choice.attr.insert("Tin".to_owned(), proto::attr_to_proto(&vec![DataType::Float].into()).unwrap());
    assert_eq!(shape(&import(vec![placeholder("x", &[2]), go, choice], f()).unwrap(), "c"), "[2]");
}

#[test]
fn shapes_of_too_many_sizes_are_refused() {
    let pack = |count: usize, sizes: &str| {
        let nodes = vec![
            node(
                "one",
                "Placeholder",
                &[],
                &[("dtype", DataType::Int32.into()), ("shape", PartialShape::of_rank(0).into())],
            ),
            placeholder("x", &[-1]),
            node(
                "to",
                "Pack",
                &vec!["one"; count],
                &[("T", DataType::Int32.into()), ("N", AttrValue::Int(count as i64))],
            ),
            constant("zero", ints(&[0])),
            constant("two", ints(&[2])),
            constant("step", ints(&[1])),
            node(
                "some",
                "StridedSlice",
                &["to", "zero", "two", "step"],
                &[("T", DataType::Int32.into()), ("Index", DataType::Int32.into())],
            ),
            node("y", "Reshape", &["x", sizes], &[("T", FLOAT)]),
            node("z", "Fill", &[sizes, "half"], &[("T", FLOAT), ("index_type", DataType::Int32.into())]),
            constant("half", Tensor::scalar(0.5f32)),
        ];
        import(nodes, Vec::new())
    };
    assert_eq!(shape(&pack(3, "to").unwrap(), "y"), "[?,?,?]");
    assert_eq!(shape(&pack(3, "some").unwrap(), "y"), "[?,?]");
    refused(pack(300, "to"), Code::InvalidArgument, &["a shape of rank 300", "`y`"]);
    assert!(pack(300, "some").is_ok(), "its slice is small");
}

#[test]
fn variables_are_known_through_calls() {
    let handle = node(
        "v",
        "VarHandleOp",
        &[],
        &[("dtype", FLOAT), ("shape", AttrValue::Shape(PartialShape::from_dims(&[2, -1]).unwrap()))],
    );
    let mut f =
        function("read", 1, vec![node("r", "ReadVariableOp", &["x0"], &[("dtype", FLOAT)])], &[("y", "r:value:0")]);
    f.signature.as_mut().unwrap().input_arg[0].r#type = DataType::Resource.number();
    let mut read = call("read", "read", &["v"], 1);
    read.attr.insert("Tin".to_owned(), proto::attr_to_proto(&vec![DataType::Resource].into()).unwrap());
    let graph = import(vec![handle, read], vec![f]).unwrap();
    assert_eq!(shape(&graph, "read"), "[2,?]");
    let held = graph.handle_shapes_and_types(graph.output("v").unwrap()).unwrap();
    assert_eq!((held[0].shape.to_partial().to_string(), held[0].dtype), ("[2,?]".to_owned(), Some(DataType::Float)));
}

#[test]
fn what_a_body_gets_wrong_names_the_function() {
    let product = node("p", "MatMul", &["x0", "x0"], &[("T", FLOAT)]);
    let f = || vec![function("square", 1, vec![product.clone()], &[("y", "p:product:0")])];
    let graph = |dims: &[i64]| import(vec![placeholder("x", dims), call("c", "square", &["x"], 1)], f());
    assert_eq!(shape(&graph(&[3, 3]).unwrap(), "c"), "[3,3]");
    let x = Tensor::from_elements([3, 4], &[1f32; 12]).unwrap();
    refused_run(
        graph(&[3, 4]),
        &x,
        Code::InvalidArgument,
        &["the matrices do not fit", "node `p`", "in function `square`"],
    );
    // While a graph is built, faults are told at once.
    let mut built = import(vec![placeholder("x", &[3, 4])], f()).unwrap();
    let (op, x) = (built.registry().op("PartitionedCall").unwrap().def, built.output("x").unwrap());
    let square = FunctionRef { name: "square".to_owned(), attrs: BTreeMap::new() };
    let mut call_of = NodeBuilder::new(&mut built, op);
    call_of.name("c").input_list([x]).attr("f", square).attr("Tout", vec![DataType::Float]);
    let words = ["in function `square`", "Dimensions must be equal", "`p`", "`c`"];
    refused(call_of.build().map(|_| graph(&[3, 3]).unwrap()), Code::InvalidArgument, &words);

    let absent = function("absent", 1, vec![node("n", "NoSuchOp", &["x0"], &[])], &[("y", "n:y:0")]);
    let called = import(vec![placeholder("x", &[1]), call("c", "absent", &["x"], 1)], vec![absent.clone()]);
    let x = Tensor::vector(&[1f32]).unwrap();
    refused_run(called, &x, Code::NotFound, &["NoSuchOp", "in function `absent`", "node `n`"]);
    assert!(import(vec![placeholder("x", &[1])], vec![absent]).is_ok());

    let nowhere = function("f", 1, Vec::new(), &[("y", "n:y:0")]);
    let called = import(vec![placeholder("x", &[1]), call("c", "f", &["x"], 1)], vec![nowhere]);
    refused_run(called, &x, Code::InvalidArgument, &["in function `f`", "the result `y` comes from `n:y:0`"]);
    let identity = function("f", 1, Vec::new(), &[("y", "x0")]);
    let wrong = import(vec![placeholder("x", &[1]), call("c", "f", &["x"], 2)], vec![identity.clone()]);
    refused_run(wrong, &x, Code::InvalidArgument, &["gives [float] and not [float, float]"]);
    let wrong = import(vec![placeholder("x", &[1]), call("c", "f", &["x", "x"], 1)], vec![identity]);
    assert!(wrong.is_ok(), "an argument too many is the runtime's to refuse");
}

#[test]
fn functions_that_call_themselves_or_too_many_others_stay_unknown() {
    let endless = function("f", 1, vec![call("again", "f", &["x0"], 1)], &[("y", "again:output:0")]);
    let graph = import(vec![placeholder("x", &[1]), call("c", "f", &["x"], 1)], vec![endless]).unwrap();
    assert_eq!(shape(&graph, "c"), "<unknown>");

    // Each calls the next one four times: 4^30 calls.
    let functions = (0..30).map(|i| {
        let next = format!("f{}", i + 1);
        let nodes = (0..4).map(|k| call(&format!("c{k}"), &next, &["x0"], 1)).collect();
        function(&format!("f{i}"), 1, nodes, &[("y", "c3:output:0")])
    });
    let last = function("f30", 1, Vec::new(), &[("y", "x0")]);
    let functions = functions.chain([last]).collect();
    assert!(import(vec![placeholder("x", &[1]), call("c", "f0", &["x"], 1)], functions).is_ok());
}

fn func(name: &str, attrs: &[(&str, AttrValue)]) -> AttrValue {
    let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    AttrValue::Func(FunctionRef { name: name.to_owned(), attrs })
}

/// What is known of a call of the first of `calls` functions, each of which calls the next and hands it `given` as `A`.
fn handed_on(calls: usize, given: &AttrValue) -> String {
    let calling = |name: &str, next: &str, input: &str, given: &AttrValue| {
        let mut node = call(name, next, &[input], 1);
        node.attr.insert("f".to_owned(), proto::attr_to_proto(&func(next, &[("A", given.clone())])).unwrap());
        node
    };
    let functions = (0..calls).map(|i| {
        let node = calling("c", &format!("f{}", i + 1), "x0", given);
        function(&format!("f{i}"), 1, vec![node], &[("y", "c:output:0")])
    });
    let last = function(&format!("f{calls}"), 1, Vec::new(), &[("y", "x0")]);
    let nodes = vec![placeholder("x", &[1]), calling("c", "f0", "x", &func("g", &[]))];
    shape(&import(nodes, functions.chain([last]).collect()).unwrap(), "c")
}

#[test]
fn a_users_op_that_is_called_like_a_loop_may_give_more_than_it_takes() {
    let standard = kernlink::registry().unwrap();
    let standard = ["Placeholder", "_Arg", "_Retval"].map(|name| standard.op(name).unwrap().def.clone());
    let theirs = OpDefBuilder::new("While").input("x: float").output("a: float").output("b: float").attr("body: func");
    let ops = standard.into_iter().chain([theirs.build().unwrap()]);
    let registry = std::sync::Arc::new(kernlink::registry::Registry::from_ops(ops).unwrap());
    let f = function("f", 1, Vec::new(), &[("y", "x0"), ("z", "x0")]);
    let library = Some(FunctionDefLibrary { function: vec![f], gradient: Vec::new() });
    let nodes = vec![placeholder("x", &[1]), node("w", "While", &["x"], &[("body", func("f", &[]))])];
    let graph = GraphDef { node: nodes, library, ..GraphDef::default() };
    let graph = Graph::import(&graph, &registry).unwrap();
    assert_eq!([shape(&graph, "w"), shape(&graph, "w:1")], ["<unknown>", "<unknown>"]);
}

#[test]
fn attrs_that_grow_from_call_to_call_stay_unknown() {
    let placeholder = || AttrValue::Placeholder("A".to_owned());
    let four = func("g", &["a", "b", "c", "d"].map(|name| (name, placeholder())));
    assert_eq!(handed_on(3, &four), "[1]");
    assert_eq!(handed_on(8, &four), "<unknown>", "4^8 functions are handed on");

    let deep = (0..20).fold(placeholder(), |inner, _| func("g", &[("a", inner)]));
    assert_eq!(handed_on(1, &deep), "[1]");
    assert_eq!(handed_on(2, &deep), "<unknown>", "40 functions are handed to each other");
}

#[test]
fn bodies_with_too_much_in_them_stay_unknown() {
    // One element that is repeated: 16 GB if it were read.
    let many = |elements: i64| {
        let splat = proto::TensorProto {
            dtype: DataType::Float.number(),
            tensor_shape: Some(proto::shape_to_proto(&PartialShape::from_dims(&[elements]).unwrap())),
            float_val: vec![1.0],
            ..Default::default()
        };
        let mut constant = node("n", "Const", &[], &[("dtype", FLOAT)]);
        let value = proto::AttrValue { value: Some(proto::attr_value::Value::Tensor(splat)) };
        constant.attr.insert("value".to_owned(), value);
        let f = function("f", 1, vec![constant], &[("y", "n:output:0")]);
        shape(&import(vec![placeholder("x", &[1]), call("c", "f", &["x"], 1)], vec![f]).unwrap(), "c")
    };
    assert_eq!(many(1 << 10), "[1024]");
    assert_eq!(many(1 << 32), "<unknown>");
}

/// A loop over `x` whose body is `op` on it, with one input to read in each iteration.
fn looped(op: NodeDef, result: &str) -> Vec<NodeDef> {
    let frame = ("frame_name", AttrValue::from("loop"));
    let of_floats = [("T", FLOAT)];
    vec![
        placeholder("x", &[2, 3]),
        node("go", "Placeholder", &[], &[("dtype", DataType::Bool.into()), ("shape", PartialShape::of_rank(0).into())]),
        node("enter", "Enter", &["x"], &[("T", FLOAT), frame.clone()]),
        node("merge", "Merge", &["enter", "next"], &[("T", FLOAT), ("N", AttrValue::Int(2))]),
        node("enter_go", "Enter", &["go"], &[("T", DataType::Bool.into()), frame, ("is_constant", true.into())]),
        node("cond", "LoopCond", &["enter_go"], &[]),
        node("switch", "Switch", &["merge", "cond"], &of_floats),
        op,
        node("next", "NextIteration", &[result], &of_floats),
        node("exit", "Exit", &["switch"], &of_floats),
    ]
}

#[test]
fn loops_know_what_every_iteration_keeps() {
    let graph = import(looped(relu("body", "switch:1"), "body"), Vec::new()).unwrap();
    assert_eq!(shape(&graph, "exit"), "[2,3]");
    assert_eq!(shape(&graph, "merge:1"), "[]");

    let zero = constant("axis", Tensor::scalar(0i32));
    let join = node("body", "ConcatV2", &["switch:1", "switch:1", "axis"], &[("T", FLOAT), ("N", AttrValue::Int(2))]);
    let mut nodes = looped(join, "body");
    nodes.push(zero);
    let graph = import(nodes, Vec::new()).unwrap();
    assert_eq!(shape(&graph, "exit"), "[?,3]");
    let back = Graph::import(&graph.to_def().unwrap(), &kernlink::registry().unwrap()).unwrap();
    assert_eq!(shape(&back, "exit"), "[?,3]");

    // What the first round makes of the shape does not hold in the others.
    let join = node("body", "ConcatV2", &["switch:1", "switch:1", "axis"], &[("T", FLOAT), ("N", AttrValue::Int(2))]);
    let mut nodes = looped(join, "body");
    nodes.extend([
        constant("axis", Tensor::scalar(0i32)),
        constant("one", Tensor::scalar(1i32)),
        node("size", "Size", &["switch:1"], &[("T", FLOAT)]),
        node("range", "Range", &["axis", "size", "one"], &[("Tidx", DataType::Int32.into())]),
        node("back_size", "Size", &["body"], &[("T", FLOAT)]),
        node("back_range", "Range", &["axis", "back_size", "one"], &[("Tidx", DataType::Int32.into())]),
        node("back_floats", "Cast", &["back_range"], &[("SrcT", DataType::Int32.into()), ("DstT", FLOAT)]),
        node("back_sum", "Sum", &["back_floats", "axis"], &[("T", FLOAT)]),
        node("scaled", "Mul", &["body", "back_sum"], &[("T", FLOAT)]),
    ]);
    nodes[8].input[0] = "scaled".to_owned();
    let graph = import(nodes, Vec::new()).unwrap();
    assert_eq!(shape(&graph, "merge"), "[?,3]");
    assert_eq!(shape(&graph, "range"), "[?]");
    assert_eq!(shape(&graph, "back_range"), "[?]");

    // An iteration would fail, but there may be none: what the first pass knew stays.
    let product = node("body", "MatMul", &["switch:1", "w"], &[("T", FLOAT)]);
    let mut nodes = looped(product, "body");
    nodes.push(placeholder("w", &[4, 4]));
    let graph = import(nodes, Vec::new()).unwrap();
    assert_eq!(shape(&graph, "exit"), "<unknown>");

    let rank = node("body", "ExpandDims", &["switch:1", "axis"], &[("T", FLOAT)]);
    let mut nodes = looped(rank, "body");
    nodes.push(constant("axis", Tensor::scalar(0i32)));
    assert_eq!(shape(&import(nodes, Vec::new()).unwrap(), "exit"), "<unknown>");
}

#[test]
fn loops_are_inferred_no_oftener_than_needed() {
    let rounds = || LOOKS.take();
    let mut nodes = looped(node("body", "Looked", &["switch:1"], &[]), "body");
    nodes.push(node("before", "Looked", &["x"], &[]));
    rounds();
    import(nodes.clone(), Vec::new()).unwrap();
    let inside = rounds() - 1;
    nodes.extend((0..10).map(|i| node(&format!("after{i}"), "Looked", &["exit"], &[])));
    import(nodes, Vec::new()).unwrap();
    assert_eq!(rounds(), 1 + inside + 20, "behind a loop nodes are looked at twice");

    // Variables that are passed on: each round changes one more.
    const VARIABLES: usize = 60;
    let mut nodes = looped(node("body", "Looked", &["switch_1:1"], &[]), "body");
    nodes.retain(|node| matches!(&*node.name, "x" | "go" | "enter_go" | "cond" | "body"));
    nodes.push(placeholder("other", &[4, 3]));
    for i in 0..VARIABLES {
        let named = |name: &str| format!("{name}_{i}");
        let from = if i + 1 < VARIABLES { "x" } else { "other" };
        let passed = if i > 0 { format!("switch_{}:1", (i + 1).min(VARIABLES - 1)) } else { "body".to_owned() };
        let frame = ("frame_name", AttrValue::from("loop"));
        let inputs = [named("enter"), named("next"), named("merge"), named("switch")];
        let [enter, next, merge, switch] = inputs.each_ref().map(String::as_str);
        nodes.push(node(enter, "Enter", &[from], &[("T", FLOAT), frame]));
        nodes.push(node(merge, "Merge", &[enter, next], &[("T", FLOAT), ("N", AttrValue::Int(2))]));
        nodes.push(node(switch, "Switch", &[merge, "cond"], &[("T", FLOAT)]));
        nodes.push(node(next, "NextIteration", &[&passed], &[("T", FLOAT)]));
    }
    rounds();
    let graph = import(nodes, Vec::new()).unwrap();
    assert_eq!(shape(&graph, "merge_0"), "<unknown>");
    assert!(rounds() < 25);
}

#[test]
fn loops_are_checked_and_run() {
    let graph = import(looped(relu("body", "switch:1"), "body"), Vec::new()).unwrap();
    let session = Session::new(graph).unwrap();
    let (x, go) = (Tensor::zeros(DataType::Float, [2, 3]).unwrap(), Tensor::scalar(false));
    let exit = session.run(&[("x", x), ("go", go)], &["exit"], &[]).unwrap();
    assert_eq!(exit[0].shape()[..], [2, 3]);

    let mut nodes = looped(relu("body", "switch:1"), "body");
    nodes[3].op = "AddN".to_owned();
    nodes[3].attr.remove("N");
    nodes[3].attr.insert("N".to_owned(), proto::attr_to_proto(&AttrValue::Int(2)).unwrap());
    refused(import(nodes, Vec::new()), Code::InvalidArgument, &["the graph has a cycle", "merge", "next"]);

    let mut nodes = looped(node("body", "IsNan", &["switch:1"], &[("T", FLOAT)]), "body");
    nodes[8] = node("next", "NextIteration", &["body"], &[("T", DataType::Bool.into())]);
    refused(import(nodes, Vec::new()), Code::InvalidArgument, &["`merge`", "bool", "float"]);

    let mut nodes = looped(relu("body", "switch:1"), "body");
    nodes[3].input[1] = "next:7".to_owned();
    refused(import(nodes, Vec::new()), Code::InvalidArgument, &["`merge`", "does not exist"]);
}

#[test]
fn shapes_that_a_graph_claims_are_merged() {
    let claim = |dims: &[i64]| {
        let mut y = relu("y", "x");
        let shapes = AttrValue::ListShape(vec![PartialShape::from_dims(dims).unwrap()]);
        y.attr.insert("_output_shapes".to_owned(), proto::attr_to_proto(&shapes).unwrap());
        import(vec![placeholder("x", &[-1, 3]), y], Vec::new())
    };
    assert_eq!(shape(&claim(&[2, -1]).unwrap(), "y"), "[2,3]");
    // What contradicts the graph is left behind by programs that changed it.
    for stale in [&[2, 4][..], &[3], &[]] {
        assert_eq!(shape(&claim(stale).unwrap(), "y"), "[?,3]");
    }
}

#[test]
fn long_chains_of_constants_are_evaluated_once() {
    let mut nodes = vec![placeholder("x", &[6]), constant("s0", ints(&[2, 3])), constant("zero", ints(&[0, 0]))];
    for i in 0..2000 {
        let before = format!("s{i}");
        nodes.push(node(&format!("s{}", i + 1), "AddV2", &[&before, "zero"], &[("T", DataType::Int32.into())]));
        nodes.push(node(&format!("y{i}"), "Reshape", &["x", &before], &[("T", FLOAT)]));
    }
    // A chain that no value is known of, too.
    nodes.push(node("u0", "Placeholder", &[], &[("dtype", DataType::Int32.into())]));
    for i in 0..2000 {
        let before = format!("u{i}");
        nodes.push(node(&format!("u{}", i + 1), "AddV2", &[&before, "zero"], &[("T", DataType::Int32.into())]));
        nodes.push(node(&format!("z{i}"), "Reshape", &["x", &before], &[("T", FLOAT)]));
    }
    let graph = import(nodes, Vec::new()).unwrap();
    assert_eq!(shape(&graph, "y1999"), "[2,3]");
}

#[test]
fn the_shape_of_a_lists_elements_may_be_the_scalar_that_stands_for_unknown() {
    let int = DataType::Int32;
    let nodes = || {
        vec![
            constant("any", Tensor::scalar(-1i32)),
            constant("count", Tensor::scalar(2i32)),
            node(
                "list",
                "TensorListReserve",
                &["any", "count"],
                &[("element_dtype", FLOAT), ("shape_type", int.into())],
            ),
            node("of", "TensorListElementShape", &["list"], &[("shape_type", int.into())]),
            placeholder("x", &[6]),
            // TensorFlow gives no shape, and computes it.
            node("y", "Reshape", &["x", "of"], &[("T", FLOAT)]),
        ]
    };
    let graph = import(nodes(), Vec::new()).unwrap();
    assert_eq!(shape(&graph, "y"), "<unknown>");
    let session = Session::new(graph).unwrap();
    let six = Tensor::vector(&[1f32; 6]).unwrap();
    assert_eq!(session.run(&[("x", six)], &["of"], &[]).unwrap()[0].to_scalar::<i32>().unwrap(), -1);
}

#[test]
fn a_function_runs_what_its_shape_functions_cannot_tell_without_the_call() {
    // What an optimiser step inside a function knows of its variable is in the call's handle.
    let resource = AttrValue::Type(DataType::Resource);
    let scalar = |name: &str| constant(name, Tensor::scalar(0.5f32));
    let step = node(
        "step",
        "ResourceApplyProximalAdagrad",
        &["x0", "x1", "half:output:0", "half:output:0", "half:output:0", "x2"],
        &[("T", FLOAT)],
    );
    let mut train = function("train", 3, vec![scalar("half"), step], &[("y", "x2")]);
    for arg in &mut train.signature.as_mut().unwrap().input_arg[..2] {
        arg.r#type = DataType::Resource.number();
    }
    train.control_ret.insert("step".to_owned(), "step".to_owned());
    let variable = |name: &str| {
        let shape = AttrValue::Shape(PartialShape::from_dims(&[2]).unwrap());
        node(name, "VarHandleOp", &[], &[("dtype", FLOAT), ("shape", shape), ("shared_name", name.into())])
    };
    let assign = |name: &str, to: &str| node(name, "AssignVariableOp", &[to, "ones"], &[("dtype", FLOAT)]);
    let mut call = call("trained", "train", &["v", "acc", "ones"], 1);
    call.op = "StatefulPartitionedCall".to_owned();
    let tin = vec![DataType::Resource, DataType::Resource, DataType::Float];
    call.attr.insert("Tin".to_owned(), proto::attr_to_proto(&tin.into()).unwrap());
    let nodes = vec![
        variable("v"),
        variable("acc"),
        constant("ones", Tensor::vector(&[1f32, 1.0]).unwrap()),
        assign("init_v", "v"),
        assign("init_acc", "acc"),
        call,
        node("read", "ReadVariableOp", &["v"], &[("dtype", FLOAT)]),
        node("handle", "Identity", &["v"], &[("T", resource)]),
    ];
    let session = Session::new(import(nodes, vec![train]).unwrap()).unwrap();
    session.run(&[], &[], &["init_v", "init_acc"]).unwrap();
    session.run(&[], &["trained"], &[]).unwrap();
    let read = session.run(&[], &["read"], &[]).unwrap();
    // As TensorFlow has it.
    assert!(read[0].as_slice::<f32>().unwrap().iter().all(|value| (value - 0.39911556).abs() < 1e-6), "{:?}", read[0]);
}
