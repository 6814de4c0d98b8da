//! `kernlink select`, as a person uses it. What a build makes of a selection is tested in tests/select.

use std::process;

use kernlink::attr::AttrValue;
use kernlink::gradient::derive_gradient;
use kernlink::graph::{FunctionBuilder, Needs, NodeBuilder};
use kernlink::prelude::*;
use kernlink::proto::{GraphDef, read_graph, write_graph};

use crate::command::{folder, kernlink};
use crate::support::{golden_files, graph, node, path};

fn select(args: &[&str]) -> process::Output {
    kernlink(&[&["select"], args].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The lines that are no comments.
fn needs(output: &process::Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let text = text(&output.stdout);
    text.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect()
}

fn save(name: &str, def: &GraphDef) -> String {
    let file = folder("selection").join(name);
    write_graph(&file, def).unwrap();
    file.to_str().expect("UTF-8").to_owned()
}

const DIGITS: &str = "\
ArgMax CPU T=float Tidx=int32 output_type=int64
BiasAdd CPU T=float
Const CPU
Const CPU dtype=float
Const CPU dtype=int32
Conv2D CPU T=float
FusedBatchNormV3 CPU T=float U=float
Identity CPU T=float
MatMul CPU T=float
MaxPool CPU T=float
Pack CPU T=int32
Placeholder CPU dtype=float
Relu CPU T=float
Reshape CPU T=float
Reshape CPU T=float Tshape=int32
Shape CPU T=float out_type=int32
Softmax CPU T=float
StridedSlice CPU T=int32 Index=int32
_FusedBatchNormEx CPU T=float
_FusedConv2D CPU T=float
_FusedElementWise CPU T=float
_FusedMatMul CPU T=float
";

#[test]
fn a_model_is_selected_exactly_and_reads_well() {
    let digits = path("examples/digits/digits.pb");
    let output = select(&[digits.to_str().unwrap()]);
    assert_eq!(needs(&output), DIGITS);
    assert_eq!(text(&output.stderr), "");
    let head: String = text(&output.stdout).lines().take_while(|line| line.starts_with('#')).collect();
    assert!(head.contains("KERNLINK_SELECT") && head.contains("digits.pb"), "{head}");
}

#[test]
fn several_models_are_one_selection() {
    let square = |dtype| graph([node("n", "Square", &[], &[("T", AttrValue::Type(dtype))])]);
    let one = save("one.pb", &square(DataType::Float));
    let two = save("two.pbtxt", &square(DataType::Double));
    assert_eq!(needs(&select(&[&one, &two, &one])), "Square CPU T=double\nSquare CPU T=float\n");
}

#[test]
fn what_passes_make_of_a_model_is_selected_with_it() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let p = ops::constant(&mut graph, true).unwrap();
    ops::cond(&mut graph, p, |g| ops::neg(g, x).build(), |g| ops::square(g, x).build()).build().unwrap();
    let selected = needs(&select(&[&save("folded.pb", &graph.to_def().unwrap())]));
    for line in ["PartitionedCall CPU\n", "StatelessIf CPU ", "Neg CPU T=float\n", "Square CPU T=float\n"] {
        assert!(selected.contains(line), "`{line}` is not in {selected}");
    }
}

#[test]
fn everything_unknown_is_reported_and_nothing_is_written() {
    let def = graph([
        node("a", "OneOp", &[], &[("T", AttrValue::Type(DataType::Half)), ("_x", DataType::Float.into())]),
        node("b", "OtherOp", &["a"], &[]),
        node("c", "OtherOp", &["a"], &[]),
        node("d", "Square", &["a"], &[("T", AttrValue::Type(DataType::String))]),
    ]);
    let model = save("unknown.pb", &def);
    let output = select(&[&model]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    for words in ["`OneOp`", "(node `a`)", "`OtherOp`", "(node `b` and 1 more)", "--allow-unknown"] {
        assert!(text(&output.stderr).contains(words), "`{words}` is not in: {}", text(&output.stderr));
    }
    let output = select(&["--allow-unknown", &model]);
    assert_eq!(needs(&output), "OneOp CPU T=half\nOtherOp CPU\nSquare CPU T=string\n");
    for words in ["warning: ", "`OneOp`", "`OtherOp`", "no kernel for node `d`"] {
        assert!(text(&output.stderr).contains(words), "`{words}` is not in: {}", text(&output.stderr));
    }
}

/// A model that asks for the gradient of a function.
fn asking(name: &str, build: impl FnOnce(&mut Graph, Output) -> Result<Output>) -> String {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let function = FunctionBuilder::new("asked", [DataType::Float])
        .build(&mut graph, |graph, [a]| Ok([build(graph, a)?]))
        .unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let op = graph.registry().op("SymbolicGradient").unwrap().def;
    let mut node = NodeBuilder::new(&mut graph, op);
    node.name("asks").input_list([x, x]).attr("f", function.reference()).attr("Tout", vec![DataType::Float]);
    node.build_output().unwrap();
    save(name, &graph.to_def().unwrap())
}

#[test]
fn gradients_that_are_derived_as_the_model_runs_are_selected_with_it() {
    let selected = needs(&select(&[&asking("derived.pb", |graph, a| ops::sin(graph, a).build())]));
    for line in ["SymbolicGradient CPU\n", "Sin CPU T=float\n", "Cos CPU T=float\n", "Mul CPU T=float\n"] {
        assert!(selected.contains(line), "`{line}` is not in {selected}");
    }
    let model = asking("underived.pb", |graph, a| ops::deep_copy(graph, a).build());
    let output = select(&[&model]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    for words in ["node `asks`", "op DeepCopy has no registered gradient", "--allow-unknown", "kernlink::graph::Needs"]
    {
        assert!(text(&output.stderr).contains(words), "`{words}` is not in: {}", text(&output.stderr));
    }
    let output = select(&["--allow-unknown", &model]);
    assert!(needs(&output).contains("SymbolicGradient CPU\n"));
    assert!(text(&output.stderr).contains("warning: gradients that cannot be derived"), "{}", text(&output.stderr));
}

#[test]
fn what_is_no_model_is_refused() {
    for args in [&[] as &[&str], &["nowhere.pb"], &["Cargo.toml"]] {
        let output = select(args);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{args:?}");
        assert!(!text(&output.stderr).contains("panicked"));
    }
}

#[test]
fn of_several_signatures_those_are_selected_that_are_wanted() {
    let keras = path("tests/saved_model/data/keras");
    let keras = keras.to_str().unwrap();
    let serving = needs(&select(&[keras, "--signature", "serving_default"]));
    let (train, all) = (needs(&select(&[keras, "--signature", "train"])), needs(&select(&[keras])));
    // What is fed, run, and restored when the model is loaded; neither training nor saving.
    for line in ["Placeholder CPU dtype=float\n", "MatMul CPU T=float\n", "RestoreV2 CPU\n", "NoOp CPU\n"] {
        assert!(serving.contains(line), "`{line}` is not in {serving}");
    }
    for line in ["TanhGrad CPU T=float\n", "SaveV2 CPU\n"] {
        assert!(all.contains(line) && !serving.contains(line), "{line}");
    }
    assert!(train.contains("TanhGrad CPU T=float\n") && !train.contains("SaveV2"), "{train}");
    let both = needs(&select(&[keras, "--signature", "train", "--signature", "serving_default"]));
    assert!(both.lines().all(|line| all.contains(line)) && serving.lines().all(|line| both.contains(line)));

    let model = crate::models::with_missing_ops("select");
    assert_eq!(select(&[&model]).status.code(), Some(2));
    assert_eq!(needs(&select(&[&model, "--signature", "plain"])), "Neg CPU T=float\nPlaceholder CPU dtype=float\n");
    // A graph without signatures is taken as it is.
    let digits = path("examples/digits/digits.pb");
    let digits = digits.to_str().unwrap();
    assert!(needs(&select(&[digits, &model, "--signature", "plain"])).contains("Conv2D CPU T=float\n"));
    for (args, words) in [
        (&[keras, "--signature", "trian"][..], "has no signature `trian`; did you mean train?"),
        (&[keras, &model, "--signature", "train"], "it has called, partly, plain"),
        (&[keras, "--signature", "train", "--signature", "plain"], "no model has a signature `plain`"),
        (&[keras, "--signature", "__saved_model_init_op"], "it has serving_default, train"),
        (&[digits, "--signature", "x"], "no model has a signature `x`"),
    ] {
        let output = select(args);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{args:?}");
        assert!(text(&output.stderr).contains(words), "`{words}` is not in: {}", text(&output.stderr));
    }
}

#[test]
fn every_golden_graph_can_be_selected() {
    let registry = kernlink::registry().unwrap();
    let mut all = Needs::new(&registry).with_gradients(derive_gradient);
    for file in golden_files() {
        all.add(&read_graph(&file).unwrap()).unwrap();
    }
    assert_eq!(all.unknown_ops().keys().next(), None);
    // Each need names an op that is linked, and is read as it was written.
    let text = all.to_string();
    assert!(text.lines().count() > 1000, "{text}");
    let ops: Vec<&str> = registry.ops().map(|entry| &*entry.def.name).collect();
    for line in text.lines() {
        assert!(ops.contains(&line.split(' ').next().unwrap()), "{line}");
    }
}
