//! Bad input gets an error that names the node and what was expected, never a panic.

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::ops;
use kernlink::proto::{self, GraphDef, graph_from_bytes};
use kernlink::runtime::{EagerContext, Session};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result};

use crate::support;
use crate::support::random_op::is_fault;
use crate::support::{constant, graph, node};

fn import(def: &GraphDef) -> Result<Graph> {
    Graph::import(def, &kernlink::registry()?)
}

fn session(def: &GraphDef) -> Session {
    Session::new(import(def).unwrap()).unwrap()
}

/// Checks an error's code, and that its text holds all of these words.
#[track_caller]
fn expect<T>(result: Result<T>, code: Code, words: &[&str]) {
    let Err(error) = result else { panic!("no error, but {code} was expected") };
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

fn ty(dtype: DataType) -> AttrValue {
    AttrValue::Type(dtype)
}

fn placeholder(name: &str, dims: &[i64]) -> proto::NodeDef {
    let shape = AttrValue::Shape(PartialShape::from_dims(dims).unwrap());
    node(name, "Placeholder", &[], &[("dtype", ty(DataType::Float)), ("shape", shape)])
}

fn float(values: &[f32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn abs(name: &str, input: &str) -> proto::NodeDef {
    node(name, "Abs", &[input], &[("T", ty(DataType::Float))])
}

// ---- messages ----

fn digits() -> Vec<u8> {
    std::fs::read(support::path("examples/digits/digits.pb")).unwrap()
}

#[test]
fn truncated_messages() {
    let bytes = digits();
    let lengths = (0..400).chain((400..bytes.len()).step_by(997)).chain([bytes.len() - 1]);
    let mut refused = 0;
    for length in lengths {
        // A cut between two nodes leaves a valid message: of a smaller graph, in which names may be missing.
        match graph_from_bytes(bytes[..length].to_vec()).and_then(|def| import(&def)) {
            Ok(_) => {}
            Err(error) => {
                is_fault(&error).unwrap();
                assert_eq!(error.code(), Code::InvalidArgument, "{length}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "only {refused} were refused");
}

#[test]
fn corrupt_messages() {
    let bytes = digits();
    let structure = (0..600).chain((600..bytes.len()).step_by(211));
    for position in structure {
        for bit in [0, 3, 7] {
            let mut bytes = bytes.clone();
            bytes[position] ^= 1 << bit;
            if let Err(error) = graph_from_bytes(bytes).and_then(|def| import(&def)) {
                is_fault(&error).unwrap();
                assert_ne!(error.code(), Code::Internal, "byte {position}, bit {bit}: {error}");
            }
        }
    }
}

#[test]
fn what_is_no_graph_at_all() {
    expect(graph_from_bytes(b"\x89PNG\r\n".to_vec()), Code::InvalidArgument, &["no GraphDef"]);
    expect(proto::read_graph("nowhere/model.pb"), Code::NotFound, &["nowhere/model.pb"]);
    // A thousand functions, each in an attr of the last: an AttrValue's field 10, that one's field 2, the entry's field 2.
    let mut nested = Vec::new();
    for tag in (0..1000).flat_map(|_| [0x52, 0x12, 0x12]).chain([0x52, 0x12, 0x2a, 0x0a]) {
        let mut outer = vec![tag];
        prost::encoding::encode_varint(nested.len() as u64, &mut outer);
        outer.append(&mut nested);
        nested = outer;
    }
    expect(graph_from_bytes(nested), Code::InvalidArgument, &["recursion"]);
}

#[cfg(feature = "text-format")]
#[test]
fn malformed_text() {
    for text in ["node {", "node { name: 3 }", "nod { }", "node { op: \"x }", "{", "\u{0}"] {
        expect(proto::graph_from_text(text), Code::InvalidArgument, &[]);
    }
    let deep = "node { attr { value { func { attr { value { func {".repeat(1000);
    expect(proto::graph_from_text(&deep), Code::InvalidArgument, &[]);
    expect(proto::graph_from_text(&"library { ".repeat(100_000)), Code::InvalidArgument, &[]);
}

// ---- names and edges ----

#[test]
fn a_cycle_is_shown() {
    let def = graph([abs("a", "c"), abs("b", "a"), abs("c", "b")]);
    expect(import(&def), Code::InvalidArgument, &["cycle", "b -> c -> a -> b"]);
    expect(import(&graph([abs("self", "self")])), Code::InvalidArgument, &["cycle", "self -> self"]);
    let def = graph([node("x", "NoOp", &["^y"], &[]), node("y", "NoOp", &["^x"], &[])]);
    expect(import(&def), Code::InvalidArgument, &["cycle"]);
}

#[test]
fn duplicate_and_illegal_names() {
    let def = graph([node("twice", "NoOp", &[], &[]), node("twice", "NoOp", &[], &[])]);
    expect(import(&def), Code::InvalidArgument, &["twice"]);
    for name in ["", "a b", "_a", "a:0", "^a", "\u{e4}", "a\0"] {
        expect(import(&graph([node(name, "NoOp", &[], &[])])), Code::InvalidArgument, &["illegal name", "NoOp"]);
    }
}

#[test]
fn what_other_readers_may_read_is_kept() {
    let mut def = graph([placeholder("x", &[2])]);
    let versions = |producer, min_consumer, bad_consumers: &[i32]| {
        Some(proto::VersionDef { producer, min_consumer, bad_consumers: bad_consumers.to_vec() })
    };
    let library = proto::FunctionDefLibrary { function: vec![proto::FunctionDef::default()], ..Default::default() };
    def = GraphDef { versions: versions(400, 12, &[1, 2]), library: Some(library), ..def };
    let GraphDef { versions: their_versions, library: their_library, .. } = import(&def).unwrap().to_def().unwrap();
    assert_eq!(GraphDef { versions: their_versions, library: their_library, ..def.clone() }, def);
    def.versions = versions(9999, 9998, &[]);
    expect(import(&def), Code::InvalidArgument, &["9998"]);
    def.versions = versions(400, 0, &[kernlink::graph::GRAPH_DEF_VERSION]);
    expect(import(&def), Code::InvalidArgument, &["must not"]);
}

#[test]
fn references_to_what_does_not_exist() {
    let one = || constant("weights", Tensor::scalar(1.0f32));
    let lost = "`weigths`";
    expect(import(&graph([one(), abs("y", "weigths")])), Code::InvalidArgument, &[lost, "`y`", "did you mean weights"]);
    expect(import(&graph([one(), abs("y", "weights:1")])), Code::InvalidArgument, &["`y`", "does not exist"]);
    expect(import(&graph([node("y", "NoOp", &["^gone"], &[])])), Code::InvalidArgument, &["`^gone`", "`y`"]);
    for bad in ["weights:", "weights:x", "weights:-1", "weights:01", "weights:99999999999999999999", ":0", ""] {
        expect(import(&graph([one(), abs("y", bad)])), Code::InvalidArgument, &["`y`"]);
    }
    let late = node("y", "Abs", &["^weights", "weights"], &[("T", ty(DataType::Float))]);
    expect(import(&graph([one(), late])), Code::InvalidArgument, &["`y`", "after a control input"]);
}

#[test]
fn inputs_of_the_wrong_number_or_dtype() {
    let one = || constant("x", Tensor::scalar(1.0f32));
    let none = node("y", "Abs", &[], &[("T", ty(DataType::Float))]);
    expect(import(&graph([one(), none])), Code::InvalidArgument, &["`y`", "0 inputs", "takes 1 (x)"]);
    let two = node("y", "Abs", &["x", "x"], &[("T", ty(DataType::Float))]);
    expect(import(&graph([one(), two])), Code::InvalidArgument, &["`y`", "2 inputs"]);
    let other = node("y", "Abs", &["x"], &[("T", ty(DataType::Int32))]);
    expect(import(&graph([one(), other])), Code::InvalidArgument, &["`y`", "is float", "expects int32"]);
}

#[test]
fn unknown_ops_are_named_all_at_once() {
    let def = graph([node("a", "Matmull", &[], &[]), node("b", "Nonsense", &[], &[]), node("c", "Matmull", &[], &[])]);
    let words = ["`Matmull`", "did you mean MatMul", "node `a` and 1 more", "`Nonsense`", "node `b`"];
    expect(session(&def).run(&[], &[], &["a", "b", "c"]), Code::NotFound, &words);
}

#[test]
fn a_missing_op_says_whose_it_is_and_what_to_do() {
    let error = |op: &str| {
        let run = session(&graph([node("a", op, &[], &[])])).run(&[], &[], &["a"]);
        run.err().map_or(String::new(), |error| error.to_string())
    };
    let advice = "a crate that declares it must be named in the program: `use that_crate as _;`";
    let holds = |op: &str, words: &[&str], not: &[&str]| {
        let error = error(op);
        let start = format!("op `{op}` is not linked into this program");
        assert!(error.contains(&start) && words.iter().all(|word| error.contains(word)), "{error}");
        assert!(!not.iter().any(|word| error.contains(word)), "{error}");
    };
    holds("SqlDataset", &["TensorFlow has it, but Kernlink lacks it", advice], &["did you mean"]);
    holds("TFText>RoundRobinTrim", &["an op of TensorFlow Text", advice], &["did you mean"]);
    holds("Frobnicate", &["no crate in it knows the name", advice], &["did you mean", "TensorFlow"]);
    holds("Sbu", &["no crate in it knows the name; did you mean Sub?", advice], &["Abs"]);
    let registry = kernlink::registry().unwrap();
    expect(registry.op("SqlDataset"), Code::NotFound, &["Kernlink lacks it", advice]);
    expect(registry.op("Frobnicate"), Code::NotFound, &[advice]);
}

// ---- attrs ----

#[test]
fn attrs_that_are_missing_or_wrong() {
    let x = || constant("x", Tensor::scalar(1.0f32));
    let words = ["`y`", "attr `T`", "missing"];
    expect(import(&graph([x(), node("y", "Abs", &["x"], &[])])), Code::InvalidArgument, &words);
    for (value, words) in [
        (AttrValue::Int(1), ["must be type", "int"]),
        (AttrValue::ListType(vec![DataType::Float]), ["must be type", "list(type)"]),
        (ty(DataType::String), ["string", "must be one of"]),
    ] {
        let def = graph([x(), node("y", "Abs", &["x"], &[("T", value)])]);
        expect(import(&def), Code::InvalidArgument, &[&["`y`", "`T`"], &words[..]].concat());
    }
    let count = |n: i64| node("y", "AddN", &["x"], &[("N", AttrValue::Int(n)), ("T", ty(DataType::Float))]);
    expect(import(&graph([x(), count(0)])), Code::InvalidArgument, &["`y`", "`N`", "at least 1"]);
    expect(import(&graph([x(), count(i64::MAX)])), Code::InvalidArgument, &["`y`"]);
    let mut unknown = abs("y", "x");
    let number = proto::AttrValue { value: Some(proto::attr_value::Value::Type(12_345)) };
    unknown.attr.insert("T".to_owned(), number);
    expect(import(&graph([x(), unknown])), Code::InvalidArgument, &["`y`", "`T`", "12345"]);
    let mut empty = abs("y", "x");
    empty.attr.insert("T".to_owned(), proto::AttrValue { value: None });
    expect(import(&graph([x(), empty])), Code::InvalidArgument, &["`y`", "`T`"]);
}

#[test]
fn tensors_that_contradict_themselves() {
    use proto::{TensorProto, TensorShapeProto, tensor_shape_proto::Dim};
    let shape = |dims: &[i64]| TensorShapeProto {
        dim: dims.iter().map(|&size| Dim { size, name: String::new() }).collect(),
        unknown_rank: false,
    };
    let value = |shape: TensorShapeProto, content: &'static [u8], values: Vec<f32>| {
        let tensor = TensorProto {
            dtype: DataType::Float.number(),
            tensor_shape: Some(shape),
            tensor_content: content.into(),
            float_val: values,
            ..TensorProto::default()
        };
        let mut def = node("big", "Const", &[], &[("dtype", ty(DataType::Float))]);
        let value = proto::attr_value::Value::Tensor(tensor);
        def.attr.insert("value".to_owned(), proto::AttrValue { value: Some(value) });
        graph([def])
    };
    let bad = Code::InvalidArgument;
    expect(import(&value(shape(&[2]), &[0; 7], vec![])), bad, &["`big`", "7 bytes"]);
    expect(import(&value(shape(&[-1]), &[], vec![1.0])), bad, &["`big`", "fully known"]);
    expect(import(&value(shape(&[-2]), &[], vec![1.0])), bad, &["`big`"]);
    expect(import(&value(shape(&[1 << 62, 1 << 62]), &[], vec![1.0])), bad, &["`big`"]);
    // One value may stand for all elements: these are 4 PiB of them.
    expect(import(&value(shape(&[1 << 50]), &[], vec![1.0])), Code::ResourceExhausted, &["`big`"]);
    let unknown = TensorShapeProto { dim: vec![], unknown_rank: true };
    expect(import(&value(unknown, &[], vec![1.0])), bad, &["`big`"]);
}

// ---- runs ----

#[test]
fn feeds_fetches_and_targets() {
    let session = session(&graph([placeholder("images", &[-1, 2]), abs("y", "images")]));
    let x = || Tensor::zeros(DataType::Float, [3, 2]).unwrap();
    assert_eq!(session.run(&[("images", x())], &["y"], &[]).unwrap()[0].shape().dims(), [3, 2]);
    let bad = Code::InvalidArgument;
    let ints = Tensor::zeros(DataType::Int32, [3, 2]).unwrap();
    expect(session.run(&[("images", ints)], &["y"], &[]), bad, &["`images`", "float", "int32"]);
    // As with TensorFlow's sessions in C++, a graph's word on a feed's shape is none on what it may be fed.
    let flat = Tensor::zeros(DataType::Float, [6]).unwrap();
    assert_eq!(session.run(&[("images", flat)], &["y"], &[]).unwrap()[0].shape().dims(), [6]);
    expect(session.run(&[], &["y"], &[]), bad, &["`images`", "float"]);
    expect(session.run(&[("images", x()), ("images:0", x())], &["y"], &[]), bad, &["`images`", "twice"]);
    expect(session.run(&[("images", x())], &["images"], &[]), bad, &["`images`", "fed and fetched"]);
    expect(session.run(&[("image", x())], &["y"], &[]), Code::NotFound, &["`image`", "did you mean images"]);
    expect(session.run(&[("images", x())], &["z"], &[]), Code::NotFound, &["fetch", "`z`"]);
    expect(session.run(&[("images", x())], &["y:1"], &[]), bad, &["`y`", "not 1"]);
    expect(session.run(&[("images", x())], &["y:b"], &[]), bad, &["`y:b`"]);
    expect(session.run(&[("images", x())], &[], &["nobody"]), Code::NotFound, &["target", "`nobody`"]);
    expect(session.run(&[], &[], &[]), bad, &["nothing to run"]);
    let callable = session.make_callable(&["images"], &["y"], &[]).unwrap();
    expect(callable.run(&[]), bad, &["0 feeds", "not 1"]);
    expect(callable.run(&[x(), x()]), bad, &["2 feeds"]);
}

/// Runs one op on constants, hidden from shape inference, so that the kernel itself must see what is wrong.
fn run(op: &str, attrs: &[(&str, AttrValue)], inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let hidden = |(i, input): (usize, &Tensor)| {
        let attrs = [("dtype", ty(input.dtype())), ("shape", AttrValue::Shape(PartialShape::unknown()))];
        node(&format!("input{i}"), "Placeholder", &[], &attrs)
    };
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("input{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tested = node("tested", op, &names, attrs);
    let graph = import(&graph(inputs.iter().enumerate().map(hidden).chain([tested])))?;
    let feeds: Vec<(&str, Tensor)> = names.iter().copied().zip(inputs.iter().cloned()).collect();
    Session::new(graph)?.run(&feeds, &["tested"], &[])
}

fn ints(values: &[i32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn longs(values: &[i64]) -> Tensor {
    Tensor::vector(values).unwrap()
}

#[test]
fn more_elements_than_there_can_be() {
    let t = ("T", ty(DataType::Float));
    let index = ("index_type", ty(DataType::Int64));
    let fill = |dims: &[i64]| run("Fill", &[t.clone(), index.clone()], &[longs(dims), Tensor::scalar(1.0f32)]);
    expect(fill(&[1 << 40, 1 << 40]), Code::InvalidArgument, &["`tested`"]);
    expect(fill(&[1 << 20, 1 << 30]), Code::ResourceExhausted, &["`tested`"]);
    expect(fill(&[3, -1]), Code::InvalidArgument, &["`tested`", "-1"]);
    assert_eq!(fill(&[0, 1 << 40]).unwrap()[0].num_elements(), 0);
    let to = |dims: &[i64]| {
        run("BroadcastTo", &[t.clone(), ("Tidx", ty(DataType::Int64))], &[Tensor::scalar(1.0f32), longs(dims)])
    };
    expect(to(&[1 << 40, 1 << 40]), Code::InvalidArgument, &["`tested`"]);
    expect(to(&[1 << 50]), Code::ResourceExhausted, &["`tested`"]);
    expect(to(&[-1]), Code::InvalidArgument, &["`tested`"]);
    let tile = [t.clone(), ("Tmultiples", ty(DataType::Int64))];
    expect(run("Tile", &tile, &[float(&[1.0]), longs(&[1 << 50])]), Code::ResourceExhausted, &["`tested`"]);
    expect(run("Tile", &tile, &[float(&[1.0, 2.0]), longs(&[i64::MAX])]), Code::InvalidArgument, &["`tested`"]);
    let text = run(
        "Fill",
        &[("T", ty(DataType::String)), index.clone()],
        &[longs(&[1 << 45]), Tensor::scalar(kernlink::dtype::TString::from("x"))],
    );
    expect(text, Code::ResourceExhausted, &["`tested`"]);
}

#[test]
fn indices_out_of_range() {
    let x = || float(&[1.0, 2.0, 3.0]);
    let bad = Code::InvalidArgument;
    let gather = [("Tparams", ty(DataType::Float)), ("Tindices", ty(DataType::Int32)), ("Taxis", ty(DataType::Int32))];
    let at = |index: i32, axis: i32| run("GatherV2", &gather, &[x(), ints(&[index]), Tensor::scalar(axis)]);
    expect(at(3, 0), bad, &["`tested`", "3"]);
    expect(at(-1, 0), bad, &["`tested`", "-1"]);
    expect(at(0, 1), bad, &["`tested`"]);
    expect(at(0, i32::MIN), bad, &["`tested`"]);
    let sum = [("T", ty(DataType::Float)), ("Tidx", ty(DataType::Int32))];
    expect(run("Sum", &sum, &[x(), ints(&[1])]), bad, &["`tested`"]);
    expect(run("Sum", &sum, &[x(), ints(&[-2])]), bad, &["`tested`"]);
    let slice = [("T", ty(DataType::Float)), ("Index", ty(DataType::Int32))];
    expect(run("Slice", &slice, &[x(), ints(&[2]), ints(&[2])]), bad, &["`tested`"]);
    expect(run("Slice", &slice, &[x(), ints(&[i32::MAX]), ints(&[i32::MAX])]), bad, &["`tested`"]);
    expect(run("Slice", &slice, &[x(), ints(&[-1]), ints(&[1])]), bad, &["`tested`"]);
    let reshape = [("T", ty(DataType::Float)), ("Tshape", ty(DataType::Int32))];
    for shape in [&[2][..], &[-1, -1], &[-2], &[0], &[-1, 2]] {
        expect(run("Reshape", &reshape, &[x(), ints(shape)]), bad, &["`tested`"]);
    }
    let transpose = [("T", ty(DataType::Float)), ("Tperm", ty(DataType::Int32))];
    expect(run("Transpose", &transpose, &[x(), ints(&[1])]), bad, &["`tested`"]);
    let matrices = [("T", ty(DataType::Float))];
    expect(run("MatMul", &matrices, &[x(), x()]), bad, &["`tested`"]);
    let pad = [("T", ty(DataType::Float)), ("Tpaddings", ty(DataType::Int32))];
    let paddings = Tensor::from_elements([1, 2], &[-1, 0]).unwrap();
    expect(run("Pad", &pad, &[x(), paddings]), bad, &["`tested`"]);
}

#[test]
fn an_error_names_node_op_and_device() {
    let result = run("Add", &[("T", ty(DataType::Float))], &[float(&[1.0, 2.0]), float(&[1.0, 2.0, 3.0])]);
    let error: Error = result.unwrap_err();
    let met = error.node().unwrap();
    assert_eq!((met.node.as_str(), met.op.as_str(), met.device.as_str()), ("tested", "Add", "/device:CPU:0"));
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("[2]") && error.message().contains("[3]"), "{error}");
}

#[test]
fn strings_beyond_the_memory_are_refused_before_they_are_made() {
    // 4 TB of handles: Linux would grant them and kill the process that fills them.
    let attrs = [("T", ty(DataType::String)), ("index_type", ty(DataType::Int64))];
    let result = run("Fill", &attrs, &[longs(&[1 << 37]), Tensor::scalar(kernlink::dtype::TString::from("x"))]);
    expect(result, Code::ResourceExhausted, &["`tested`"]);
}

/// Which indices there may be depends on an attr that the two ops of a pooling must agree on.
#[test]
fn an_index_outside_of_its_image_is_told_with_what_may_be() {
    use kernlink::prelude::*;
    let ones = |shape: [usize; 4]| Tensor::from_elements(shape, &vec![1f32; shape.iter().product()]).unwrap();
    for (index, across, expected) in [
        (
            [3i64, 7],
            false,
            "argmax 7 lies outside of image 1, whose elements are 0 to 3 with include_batch_in_index = false",
        ),
        (
            [3, 2],
            true,
            "argmax 2 lies outside of image 1, whose elements are 4 to 7 with include_batch_in_index = true",
        ),
        ([-1, 0], false, "argmax -1 lies outside of image 0, whose elements are 0 to 3"),
    ] {
        let argmax = Tensor::from_elements([2, 1, 1, 1], &index).unwrap();
        let window =
            ops::MaxPoolGradWithArgmaxRequired { ksize: &[1, 2, 2, 1], strides: &[1, 2, 2, 1], padding: "VALID" };
        let mut test = kernlink::testing::cpu();
        test.run(|op| {
            ops::max_pool_grad_with_argmax(op, ones([2, 2, 2, 1]), ones([2, 1, 1, 1]), argmax, window)
                .include_batch_in_index(across)
                .build()
        })
        .expect_error(Code::InvalidArgument, expected);
    }
}

/// TensorFlow's steps for some rows look at the scalars, those for whole variables do not. Only CPUs read them.
#[test]
fn sparse_steps_of_ftrl_refuse_rates_and_powers_of_the_wrong_sign() {
    let step = |is_sparse: bool, [lr, l1, l2, power]: [f32; 4]| -> Result<()> {
        let mut eager = EagerContext::new(&kernlink::registry()?)?;
        let mut variable = |name: &str| -> Result<Tensor> {
            let handle = ops::var_handle_op(&mut eager, DataType::Float, [2usize, 1]).shared_name(name).build()?;
            ops::assign_variable_op(&mut eager, &handle, [[1.0f32], [2.0]]).build()?;
            Ok(handle)
        };
        let [v, a, l] = [variable("v")?, variable("a")?, variable("l")?];
        match is_sparse {
            true => ops::resource_sparse_apply_ftrl(&mut eager, v, a, l, [[0.5f32]], [1], lr, l1, l2, power).build()?,
            false => ops::resource_apply_ftrl(&mut eager, v, a, l, [[0.5f32], [0.5]], lr, l1, l2, power).build()?,
        };
        Ok(())
    };
    let (nan, good) = (f32::NAN, [0.1, 0.0, 0.0, -0.5]);
    for is_sparse in [true, false] {
        step(is_sparse, good).unwrap();
    }
    for (place, bad) in [(0, 0.0), (0, -0.1), (0, nan), (1, -0.5), (1, nan), (2, -0.5), (2, nan), (3, 0.5), (3, nan)] {
        let mut scalars = good;
        scalars[place] = bad;
        expect(step(true, scalars), Code::InvalidArgument, &["ResourceSparseApplyFtrl"]);
        step(false, scalars).unwrap();
    }
}
