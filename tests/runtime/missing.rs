//! Ops that the registry lacks: what needs them is refused, and nothing else.

use std::collections::BTreeMap;

use kernlink::Code;
use kernlink::formats::{LoadOptions, MetaGraph};
use kernlink::graph::NodeClass;
use kernlink::prelude::*;
use kernlink::proto::{self, MetaGraphDef, SignatureDef, TensorInfo, tensor_info};

/// `lost` has an op that nobody has.
const NODES: &str = r#"
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "lost" op: "NoSuchOp" input: "x" input: "x" device: "/cpu:0"
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "_mark" value { s: "kept" } } }
    node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "z" op: "Neg" input: "lost:1" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "count" op: "Neg" input: "lost:2" attr { key: "T" value { type: DT_INT32 } } }
    node { name: "after" op: "Neg" input: "x" input: "^lost" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "behind" op: "NeitherThis" input: "lost:3" input: "y" }
    versions { producer: 2474 }"#;

fn import(text: &str) -> Graph {
    let def = proto::graph_from_text(text).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

#[track_caller]
fn refused(session: &Session, feeds: &[(&str, Tensor)], fetch: &str, words: &[&str]) {
    let error = session.run(feeds, &[fetch], &[]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "`{word}` is not in: {error}"));
}

#[test]
fn a_missing_op_refuses_the_runs_that_need_it() {
    let session = Session::new(import(NODES)).unwrap();
    let x = || ("x", Tensor::scalar(2f32));
    let y = session.run(&[x()], &["y"], &[]).unwrap();
    assert_eq!(y[0].to_scalar::<f32>().unwrap(), -2.0);
    for fetch in ["z", "after", "lost", "lost:1", "lost:9", "count"] {
        refused(&session, &[x()], fetch, &["`NoSuchOp`", "node `lost`"]);
    }
    refused(&session, &[x()], "behind", &["`NoSuchOp`", "node `lost`", "`NeitherThis`", "node `behind`"]);
    let error = session.run(&[x()], &[], &["lost"]).unwrap_err();
    assert!(error.message().contains("`NoSuchOp`"), "{error}");
    // What is fed in its place is taken, if it has the dtype that others expect.
    let z = session.run(&[("lost:1", Tensor::scalar(3f32))], &["z"], &[]).unwrap();
    assert_eq!(z[0].to_scalar::<f32>().unwrap(), -3.0);
    let error = session.run(&[("lost:1", Tensor::scalar(3i32))], &["z"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
}

#[test]
fn a_missing_node_is_written_as_it_was_read() {
    let graph = import(NODES);
    let lost = graph.find("lost").unwrap();
    assert_eq!(graph.node(lost).class, NodeClass::Missing);
    assert_eq!(graph.node(lost).op_name(), "NoSuchOp");
    let (read, written) = (proto::graph_from_text(NODES).unwrap(), graph.to_def().unwrap());
    let written = |name: &str| written.node.iter().find(|node| node.name == name).cloned();
    for node in read.node.iter().filter(|node| ["lost", "behind"].contains(&node.name.as_str())) {
        assert_eq!(written(&node.name).as_ref(), Some(node));
    }
}

#[test]
fn a_branch_that_a_constant_decides_needs_no_op_of_the_other() {
    let text = r#"
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "no" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
          attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }
        node { name: "s" op: "Switch" input: "x" input: "no" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "lost" op: "NoSuchOp" input: "s:1" }
        node { name: "kept" op: "Neg" input: "s" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "m" op: "Merge" input: "lost" input: "kept" attr { key: "T" value { type: DT_FLOAT } }
          attr { key: "N" value { i: 2 } } }
        versions { producer: 2474 }"#;
    let session = Session::new(import(text)).unwrap();
    let m = session.run(&[("x", Tensor::scalar(2f32))], &["m"], &[]).unwrap();
    assert_eq!(m[0].to_scalar::<f32>().unwrap(), -2.0);
}

/// A graph with a choice between two functions, of which `Lost` has an op that nobody has, and calls of `Lost` and of
/// `Half`, which has it beside what it computes.
fn with_functions(control_ret: &str) -> Graph {
    let function = |name: &str, nodes: &str, result: &str, ends: &str| {
        format!(
            r#"function {{ signature {{ name: "{name}" input_arg {{ name: "x" type: DT_FLOAT }}
              output_arg {{ name: "y" type: DT_FLOAT }} }} {nodes} ret {{ key: "y" value: "{result}" }} {ends} }}"#
        )
    };
    let lost = r#"node_def { name: "lost" op: "NoSuchOp" input: "x" }"#;
    let neg = |name: &str, input: &str| {
        format!(
            r#"node_def {{ name: "{name}" op: "Neg" input: "{input}" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}"#
        )
    };
    let call = |name: &str, function: &str| {
        format!(
            r#"node {{ name: "{name}" op: "PartitionedCall" input: "x"
              attr {{ key: "Tin" value {{ list {{ type: DT_FLOAT }} }} }}
              attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }}
              attr {{ key: "f" value {{ func {{ name: "{function}" }} }} }} }}"#
        )
    };
    let functions = [
        function("Lost", &[lost, &neg("n", "lost:second:0"), &neg("m", "lost:first:0")].concat(), "n:y:0", ""),
        function("Direct", lost, "lost:first:0", ""),
        function("Half", &[lost, &neg("used", "lost:first:0"), &neg("n", "x")].concat(), "n:y:0", control_ret),
        function("Fine", &neg("n", "x"), "n:y:0", ""),
    ];
    import(&format!(
        r#"
        node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} }}
        node {{ name: "go" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_BOOL }} }} }}
        node {{ name: "choice" op: "If" input: "go" input: "x" attr {{ key: "Tcond" value {{ type: DT_BOOL }} }}
          attr {{ key: "Tin" value {{ list {{ type: DT_FLOAT }} }} }} attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }}
          attr {{ key: "then_branch" value {{ func {{ name: "Lost" }} }} }}
          attr {{ key: "else_branch" value {{ func {{ name: "Fine" }} }} }} }}
        {} {} {}
        library {{ {} }} versions {{ producer: 2474 }}"#,
        call("lost", "Lost"),
        call("direct", "Direct"),
        call("half", "Half"),
        functions.concat()
    ))
}

#[test]
fn a_function_with_a_missing_op_refuses_those_who_call_it() {
    let session = Session::new(with_functions("")).unwrap();
    let x = || ("x", Tensor::scalar(2f32));
    let go = |go: bool| ("go", Tensor::scalar(go));
    for fetch in ["half", "choice"] {
        let y = session.run(&[x(), go(false)], &[fetch], &[]).unwrap();
        assert_eq!(y[0].to_scalar::<f32>().unwrap(), -2.0, "{fetch}");
    }
    refused(&session, &[x()], "lost", &["`NoSuchOp`", "node `lost`", "in function `Lost`"]);
    refused(&session, &[x()], "direct", &["`NoSuchOp`", "node `lost`", "in function `Direct`"]);
    refused(&session, &[x(), go(true)], "choice", &["`NoSuchOp`", "node `lost`", "in function `Lost`"]);
    // What must run for its effect is needed.
    let session = Session::new(with_functions(r#"control_ret { key: "lost" value: "lost" }"#)).unwrap();
    refused(&session, &[x()], "half", &["`NoSuchOp`", "node `lost`", "in function `Half`"]);
}

#[test]
fn a_missing_op_that_decides_what_is_alive_refuses_the_graph() {
    let mut def = proto::graph_from_text(
        r#"node { name: "x" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }
           node { name: "e" op: "Enter" input: "x" attr { key: "T" value { type: DT_FLOAT } }
             attr { key: "frame_name" value { s: "loop" } } }"#,
    );
    let def = def.as_mut().unwrap();
    let all = kernlink::registry().unwrap();
    let ops = all.ops().filter(|op| op.def.name != "Enter");
    let registry = std::sync::Arc::new(kernlink::registry::Registry::new(ops, []).unwrap());
    let error = Graph::import(def, &registry).map(drop).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.message().contains("`Enter`"), "{error}");
}

fn info(name: &str) -> TensorInfo {
    let encoding = Some(tensor_info::Encoding::Name(name.to_owned()));
    TensorInfo { encoding, dtype: DataType::Float.number(), ..TensorInfo::default() }
}

#[test]
fn a_signature_is_refused_for_what_it_needs_alone() {
    let signature = |output: TensorInfo| SignatureDef {
        inputs: BTreeMap::from([("x".to_owned(), info("x:0"))]),
        outputs: BTreeMap::from([("y".to_owned(), output)]),
        ..SignatureDef::default()
    };
    let def = MetaGraphDef {
        graph_def: Some(proto::graph_from_text(NODES).unwrap()),
        signature_def: BTreeMap::from([
            ("fine".to_owned(), signature(info("y:0"))),
            ("lost".to_owned(), signature(info("z:0"))),
            ("nameless".to_owned(), signature(TensorInfo::default())),
        ]),
        ..MetaGraphDef::default()
    };
    let model = MetaGraph::import(def, &kernlink::registry().unwrap(), &LoadOptions::new()).unwrap();
    let y = model.signature("fine").unwrap().run(&[("x", Tensor::scalar(2f32))]).unwrap();
    assert_eq!(y["y"].to_scalar::<f32>().unwrap(), -2.0);
    let error = model.signature("lost").map(drop).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    ["signature `lost`", "`NoSuchOp`", "node `lost`"]
        .iter()
        .for_each(|word| assert!(error.message().contains(word), "{error}"));
    let error = model.signature("nameless").map(drop).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.message().contains("it names no tensor"), "{error}");
    assert_eq!(model.signatures().keys().collect::<Vec<_>>(), ["fine", "lost"]);
    let error = model.signature("nowhere").map(drop).unwrap_err();
    assert!(error.message().contains("fine, lost, nameless"), "{error}");
}

#[test]
fn a_missing_op_of_a_function_with_effects_refuses_those_who_call_it() {
    // TensorFlow notes of functions whether they have effects: the op that is missing may be one that has.
    let mut def = with_functions("").to_def().unwrap();
    let functions = &mut def.library.as_mut().unwrap().function;
    let half = functions.iter_mut().filter_map(|function| function.signature.as_mut()).find(|it| it.name == "Half");
    half.unwrap().is_stateful = true;
    let session = Session::new(Graph::import(&def, &kernlink::registry().unwrap()).unwrap()).unwrap();
    refused(&session, &[("x", Tensor::scalar(2f32))], "half", &["`NoSuchOp`", "node `lost`", "in function `Half`"]);
}

#[test]
fn dtypes_that_nobody_knows_are_said_to_be_unknown() {
    let graph = import(NODES);
    let lost = graph.node(graph.find("lost").unwrap());
    let dtypes: Vec<_> = (0..5).map(|index| lost.output_dtype(index)).collect();
    assert_eq!(dtypes, [None, Some(DataType::Float), Some(DataType::Int32), None, None]);
    let y = graph.node(graph.find("y").unwrap());
    assert_eq!((y.output_dtype(0), y.output_dtype(1)), (Some(DataType::Float), None));
}

#[test]
fn the_name_that_stands_for_missing_ops_is_reserved() {
    let def = proto::graph_from_text(r#"node { name: "a" op: "_MissingOp" } versions { producer: 2474 }"#).unwrap();
    let error = Graph::import(&def, &kernlink::registry().unwrap()).map(drop).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.to_string().contains("`a`") && error.message().contains("reserved"), "{error}");
    let op = kernlink::op::OpDef { name: "_MissingOp".into(), ..kernlink::op::OpDef::EMPTY };
    let error = kernlink::registry::Registry::from_ops([op]).map(drop).unwrap_err();
    assert!(error.message().contains("reserved"), "{error}");
}

/// A function of an attr `T`, which one node calls by its name with it and another without, outside of functions and in one.
const CALLS: &str = r#"
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "good" op: "Negated" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "bad" op: "Negated" input: "x" }
    node { name: "behind" op: "Neg" input: "bad" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "inside" op: "Both" input: "x" }
    library {
      function { signature { name: "Negated" attr { name: "T" type: "type" } input_arg { name: "x" type_attr: "T" }
          output_arg { name: "y" type_attr: "T" } }
        node_def { name: "n" op: "Neg" input: "x" attr { key: "T" value { placeholder: "T" } } }
        ret { key: "y" value: "n:y:0" } }
      function { signature { name: "Both" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT }
          output_arg { name: "z" type: DT_FLOAT } }
        node_def { name: "fine" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "bad_inside" op: "Negated" input: "x" }
        ret { key: "y" value: "fine:y:0" } ret { key: "z" value: "bad_inside:y:0" } } }
    versions { producer: 2474 }"#;

#[test]
fn a_call_that_cannot_be_refuses_what_needs_it_alone() {
    let session = Session::new(import(CALLS)).unwrap();
    let x = || ("x", Tensor::scalar(2f32));
    let y = session.run(&[x()], &["good"], &[]).unwrap();
    assert_eq!(y[0].to_scalar::<f32>().unwrap(), -2.0);
    for (fetch, node) in [("bad", "`bad`"), ("behind", "`bad`"), ("inside:1", "`bad_inside`")] {
        let error = session.run(&[x()], &[fetch], &[]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        let text = error.to_string();
        assert!(text.contains(node) && text.contains("the attr `T` is not given"), "{text}");
    }
    let fed = session.run(&[("bad", Tensor::scalar(3f32))], &["behind"], &[]).unwrap();
    assert_eq!(fed[0].to_scalar::<f32>().unwrap(), -3.0);
}

#[test]
fn a_call_whose_shapes_do_not_fit_is_left_to_its_kernels() {
    // A session may be fed other shapes than the graph says.
    let graph = import(
        r#"
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
          attr { key: "shape" value { shape { dim { size: 3 } } } } }
        node { name: "y" op: "PartitionedCall" input: "x" attr { key: "Tin" value { list { type: DT_FLOAT } } }
          attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "F" } } } }
        library { function { signature { name: "F" input_arg { name: "x" type: DT_FLOAT }
            output_arg { name: "y" type: DT_FLOAT } }
          node_def { name: "two" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value"
            value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }
          node_def { name: "sum" op: "AddV2" input: "x" input: "two:output:0" attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "y" value: "sum:z:0" } } }
        versions { producer: 2474 }"#,
    );
    assert!(graph.node(graph.find("y").unwrap()).fault().is_some());
    let session = Session::new(graph).unwrap();
    let run = |x: &[f32]| session.run(&[("x", Tensor::vector(x).unwrap())], &["y"], &[]);
    assert_eq!(run(&[1.0, 1.0]).unwrap()[0].as_slice::<f32>().unwrap(), [2.0, 3.0]);
    let error = run(&[1.0; 3]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.to_string().contains("node `sum`"), "{error}");
}

#[test]
fn a_part_of_a_signature_takes_and_needs_what_leads_to_it() {
    let text = r#"
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "other" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "stray" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "middle" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "y" op: "Neg" input: "middle" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "z" op: "NoSuchOp" input: "other" }
        node { name: "w" op: "Neg" input: "stray" attr { key: "T" value { type: DT_FLOAT } } }"#;
    let names = |names: &[(&str, &str)]| -> BTreeMap<String, TensorInfo> {
        names.iter().map(|(name, tensor)| ((*name).to_owned(), info(tensor))).collect()
    };
    let signature = SignatureDef {
        inputs: names(&[("in", "x:0"), ("half", "middle:0"), ("other", "other:0"), ("lost", "nowhere:0")]),
        outputs: names(&[("out", "y:0"), ("bad", "z:0"), ("same", "x:0"), ("stray", "w:0")]),
        ..SignatureDef::default()
    };
    let def = MetaGraphDef {
        graph_def: Some(proto::graph_from_text(text).unwrap()),
        signature_def: BTreeMap::from([("f".to_owned(), signature)]),
        ..MetaGraphDef::default()
    };
    let model = MetaGraph::import(def, &kernlink::registry().unwrap(), &LoadOptions::new()).unwrap();
    let float = |value: f32| Tensor::scalar(value);
    // An input that is no placeholder stands for what its node computes.
    let part = model.signature_outputs("f", &["out", "y"]).unwrap();
    assert_eq!(part.inputs().collect::<Vec<_>>(), ["half"]);
    let found = part.run(&[("half", float(3.0)), ("other", float(0.0))]).unwrap();
    assert!(found.len() == 2 && found.values().all(|value| value.to_scalar::<f32>().unwrap() == -3.0), "{found:?}");
    let error = part.run(&[("in", float(1.0))]).unwrap_err();
    assert!(error.message().contains("inputs are missing: half"), "{error}");
    let same = model.signature_outputs("f", &["same"]).unwrap();
    assert_eq!(same.inputs().collect::<Vec<_>>(), ["in"]);
    assert_eq!(same.run(&[("in", float(2.0))]).unwrap()["same"].to_scalar::<f32>().unwrap(), 2.0);
    for (name, output, code, words) in [
        ("f", "bad", Code::NotFound, "`NoSuchOp`"),
        ("f", "ot", Code::NotFound, "the signature gives no `ot`; it gives bad, out, same, stray; did you mean out?"),
        ("f", "stray", Code::InvalidArgument, "`stray`, which is no input of the signature"),
        ("g", "out", Code::NotFound, "no signature `g`"),
    ] {
        let error = model.signature_outputs(name, &[output]).map(drop).unwrap_err();
        assert!(error.code() == code && error.message().contains(words), "{error}");
    }
}
