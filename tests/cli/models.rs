//! SavedModels, MetaGraphs, checkpoints.

use std::path::Path;
use std::process::{Command, Stdio};

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::dtype::DataType;
use kernlink::proto::{
    FunctionDef, FunctionDefLibrary, Message as _, MetaGraphDef, OpDef, SavedModel, SignatureDef, TensorInfo,
    TensorShapeProto, op_def::ArgDef, tensor_info,
};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;

use crate::command::{bad, digits, folder, good, holds, kernlink, save};
use crate::support::{constant, graph, node, path};

/// A model that TensorFlow saved.
fn saved(name: &str) -> String {
    path("tests/saved_model/data").join(name).to_str().expect("UTF-8").to_owned()
}

#[test]
fn saved_models_run() {
    let model = saved("tf2");
    let text = good(&["run", &model, "--input", "x=[[1, 2, 3]]"]);
    holds(&text, &["calls: int64 []", "scaled: float [1,3]", "[[1.5 -4.0 12.0]]", "loaded in"]);
    let text =
        good(&["run", &model, "--signature", "serving_default", "--input", "x=[[0, 1, 0]]", "--output", "scaled"]);
    assert!(text.contains("scaled") && !text.contains("calls"), "{text}");
    holds(&good(&["run", &model, "--signature", "words"]), &["one two"]);
    let file = folder("saved").join("x.json");
    std::fs::write(&file, "[[2, 2, 2]]").expect("a file");
    let source = format!("x=@{}", file.display());
    holds(&good(&["run", &model, "--input", &source]), &["[[3.0 -4.0 8.0]]"]);
    bad(&["run", &model], 2, &["inputs are missing", "--input x=SRC (float, shape [?,3])"]);
    bad(&["run", &model, "--input", "y=1"], 2, &["takes no `y`", "--input x=SRC"]);
    bad(&["run", &model, "--signature", "serving"], 2, &["serving_default", "words"]);
    bad(&["run", &model, "--tag", "gpu", "--input", "x=1"], 2, &["{ gpu }", "{ serve }"]);
    bad(
        &["run", &model, "--signature", "serving_default", "--input", "x=[[1, 2, 3]]", "--output", "scald"],
        2,
        &["the signature gives no `scald`; it gives calls, scaled, x; did you mean scaled?", "no node `scald`"],
    );
    bad(&["run", &digits("digits.pb"), "--signature", "f"], 2, &["no signatures"]);

    let text = good(&["inspect", &model]);
    holds(&text, &["tags: serve", "signature serving_default", "input  x: float [?,3]", "output words: string []"]);
    holds(&text, &["functions", "AssignAddVariableOp"]);
    // What only functions use is selected too.
    holds(&good(&["select", &model]), &["AssignAddVariableOp CPU", "Mul CPU T=float", "RestoreV2 CPU"]);
}

#[test]
fn outputs_are_those_of_the_signature_and_of_nodes() {
    let model = saved("tf2");
    let run = |more: &[&str]| good(&[&["run", &model, "--input", "x=[[1, 2, 3]]"], more].concat());
    let scaled = "scaled: float [1,3]\n  [[1.5 -4.0 12.0]]\n";
    // By the signature's names, with and without naming it; an input may be asked for, and an output twice.
    let text = run(&["--output", "scaled"]);
    assert!(text.contains(scaled) && !text.contains("calls"), "{text}");
    holds(&run(&["--output", "x", "--output", "scaled", "--output", "scaled"]), &["x: float [1,3]", scaled]);
    // Nodes besides, by the names of their outputs.
    let node = good(&["inspect", &model]);
    let node =
        node.lines().find_map(|line| line.trim().strip_prefix("output scaled: float [?,3], ")).expect("a tensor");
    holds(
        &run(&["--signature", "serving_default", "--output", node]),
        &[&format!("{node}: float [1,3]\n  [[1.5 -4.0")],
    );
    holds(&run(&["--output", "scaled", "--output", node]), &[scaled, &format!("{node}: float")]);
    // Inputs that nothing needs may be left out, others not.
    let meta = saved("meta/model.meta");
    bad(&["run", &model, "--output", "scaled"], 2, &["inputs are missing", "--input x=SRC (float, shape [?,3])"]);
    bad(&["run", &meta, "--output", "y"], 2, &["no node `y`"]);
}

#[test]
fn meta_graphs_run_with_their_checkpoints() {
    let (model, checkpoint) = (saved("meta/model.meta"), saved("meta/model"));
    let plain = ["run", &model, "--input", "x=[[1, 2], [3, -1], [0.5, 0.5]]", "--output", "loss"];
    holds(&good(&[&plain[..], &["--checkpoint", &checkpoint]].concat()), &["loss: float []"]);
    bad(&plain, 2, &["FAILED_PRECONDITION"]);
    bad(&["run", &model, "--checkpoint", "nowhere"], 2, &["NOT_FOUND", "nowhere"]);
    bad(
        &["run", &digits("digits.pb"), "--checkpoint", &checkpoint],
        2,
        &["--checkpoint is for SavedModels and MetaGraphs"],
    );
}

#[test]
fn what_changes_something_runs_only_by_its_name() {
    let to = folder("unnamed");
    for file in ["model.meta", "model.index", "model.data-00000-of-00001"] {
        std::fs::copy(saved(&format!("meta/{file}")), to.join(file)).unwrap();
    }
    let files = || ["model.index", "model.data-00000-of-00001"].map(|file| std::fs::read(to.join(file)).unwrap());
    let before = files();
    let (model, checkpoint) = (to.join("model.meta"), to.join("model"));
    let (model, checkpoint) = (model.to_str().expect("UTF-8"), checkpoint.to_str().expect("UTF-8"));
    // Its graph saves `model` into the working folder unless it is told another place, so it is run there.
    for command in ["run", "bench"] {
        let args = [command, model, "--checkpoint", checkpoint, "--input", "x=[[1, 2]]"];
        let output = Command::new(env!("CARGO_BIN_EXE_kernlink")).args(args).current_dir(&to).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(text.contains("as it changes something") || text.contains("changes something or may"), "{text}");
    }
    assert!(files() == before, "the checkpoint is as it was");

    let float = || [("T", AttrValue::Type(DataType::Float))];
    let def = graph([
        constant("x", Tensor::scalar(2.0f32)),
        constant("on", Tensor::scalar(true)),
        node("switch", "Switch", &["x", "on"], &float()),
        node("dead", "Neg", &["switch"], &float()),
        node("alive", "Neg", &["switch:1"], &float()),
        node("either", "Merge", &["switch", "switch:1"], &[("T", float()[0].1.clone()), ("N", AttrValue::Int(2))]),
    ]);
    let text = good(&["run", &save("branches.pb", &def)]);
    holds(&text, &["either: float []\n  2.0", "may have no value: dead, alive"]);
    let def = graph([
        constant("name", Tensor::scalar(kernlink::dtype::TString::from("never-written"))),
        node("length", "StringLength", &["name"], &[]),
        node("file", "WriteFile", &["name", "name"], &[]),
        node("after", "Identity", &["length", "^file"], &[("T", AttrValue::Type(DataType::Int32))]),
    ]);
    bad(&["run", &save("writes.pb", &def)], 2, &["name an --output, such as length", "after"]);
    assert!(!Path::new("never-written").exists());
}

#[test]
fn checkpoints_go_by_any_of_their_names() {
    let (model, prefix) = (saved("meta/model.meta"), saved("meta/model"));
    let names = [".index", ".meta", ".data-00000-of-00001"].map(|end| format!("{prefix}{end}"));
    for name in &names {
        holds(&good(&["checkpoint", name]), &["1 data file\n", "w: float [2,1]"]);
        let run = ["run", &model, "--checkpoint", name, "--input", "x=[[1, 2]]", "--output", "loss"];
        holds(&good(&run), &["loss: float []"]);
    }
    let list = folder("latest");
    let _ = std::fs::remove_file(list.join("checkpoint"));
    let at = list.to_str().expect("UTF-8");
    bad(&["checkpoint", at], 2, &["NOT_FOUND", "no file `checkpoint`", "before `.index`"]);
    for file in ["model.index", "model.data-00000-of-00001"] {
        std::fs::copy(saved(&format!("meta/{file}")), list.join(file)).unwrap();
    }
    std::fs::write(list.join("checkpoint"), "model_checkpoint_path: \"model\"\n").unwrap();
    holds(&good(&["checkpoint", at, "--verify"]), &["2 tensors are whole"]);
    holds(&good(&["checkpoint", at, "--verify", "--tensor", "w"]), &["2 tensors are whole\nw: float [2,1]"]);
    let save = ["checkpoint", at, "--save", at, "--tensor", "a/b", "--tensor", "a_b"];
    bad(&save, 2, &["ALREADY_EXISTS", "`a/b` and `a_b` would both be written to a_b.npy; name only one"]);
}

#[test]
fn a_killed_save_leaves_the_old_checkpoint_or_the_new_one() {
    let to = folder("killed");
    let prefix = to.join("model");
    let name = kernlink::dtype::TString::from(prefix.to_str().expect("UTF-8"));
    let strings = |text: &str| Tensor::vector(&[kernlink::dtype::TString::from(text)]).unwrap();
    let float = AttrValue::Type(DataType::Float);
    let def = graph([
        node(
            "x",
            "Placeholder",
            &[],
            &[("dtype", float.clone()), ("shape", AttrValue::Shape(PartialShape::unknown()))],
        ),
        constant("prefix", Tensor::scalar(name)),
        constant("names", strings("a")),
        constant("slices", strings("")),
        node(
            "save",
            "SaveV2",
            &["prefix", "names", "slices", "x"],
            &[("dtypes", AttrValue::ListType(vec![DataType::Float]))],
        ),
        node("saved", "Identity", &["prefix", "^save"], &[("T", AttrValue::Type(DataType::String))]),
    ]);
    let model = save("killed.pb", &def);
    let began = std::time::Instant::now();
    good(&["run", &model, "--input", "x=0", "--output", "saved"]);
    let whole = began.elapsed();
    for time in 0..20u32 {
        let input = format!("x={time}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernlink"));
        command
            .args(["run", &model, "--input", &input, "--output", "saved"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut running = command.spawn().unwrap();
        std::thread::sleep(whole * (time + 5) / 24);
        let _ = running.kill();
        running.wait().unwrap();
        let reader = kernlink::formats::CheckpointReader::open(&prefix).unwrap();
        reader.read("a").unwrap();
    }
    good(&["run", &model, "--input", "x=0", "--output", "saved"]);
    let mut left: Vec<_> = std::fs::read_dir(&to).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["model.data-00000-of-00001", "model.index"]);
}

#[test]
fn checkpoints_are_listed() {
    let prefix = saved("meta/model");
    let text = good(&["checkpoint", &prefix, "--verify"]);
    holds(&text, &["w: float [2,1]", "global_step: int64 []", "2 tensors are whole"]);
    let to = folder("checkpoint");
    let text = good(&["checkpoint", &prefix, "--tensor", "global_step", "--save", to.to_str().expect("UTF-8")]);
    holds(&text, &["global_step: int64 []", "1"]);
    assert!(to.join("global_step.npy").exists());
    let parts = path("tests/checkpoint/data/first-?????-of-00002");
    holds(&good(&["checkpoint", parts.to_str().expect("UTF-8")]), &["parts: float [5,7]", "dtype/string"]);
    bad(&["checkpoint", "nowhere"], 2, &["NOT_FOUND", "nowhere"]);
    bad(&["checkpoint", &prefix, "--tensor", "v"], 2, &["NOT_FOUND", "v"]);
}

/// A SavedModel with signatures of which some need ops that are missing: `plain` none, `partly` one for one of its outputs,
/// `called` one within a function, `init` names what initialises it.
pub(crate) fn with_missing_ops(name: &str) -> String {
    let to = folder(&format!("missing-{name}"));
    let float = AttrValue::Type(DataType::Float);
    let t = [("T", float.clone())];
    let call = [
        ("Tin", AttrValue::ListType(vec![DataType::Float])),
        ("Tout", AttrValue::ListType(vec![DataType::Float])),
        ("f", AttrValue::Func(FunctionRef { name: "F".to_owned(), attrs: Default::default() })),
    ];
    let mut def = graph([
        node("x", "Placeholder", &[], &[("dtype", float.clone())]),
        node("plain", "Neg", &["x"], &t),
        node("unknown", "Unknown1", &["x"], &t),
        node("partly", "Neg", &["unknown"], &t),
        node("called", "PartitionedCall", &["x"], &call),
    ]);
    let arg = |name: &str| ArgDef { name: name.to_owned(), r#type: DataType::Float.number(), ..ArgDef::default() };
    let signature =
        OpDef { name: "F".to_owned(), input_arg: vec![arg("a")], output_arg: vec![arg("b")], ..OpDef::default() };
    let function = FunctionDef {
        signature: Some(signature),
        node_def: vec![node("w", "WithinF", &["a"], &t)],
        ret: [("b".to_owned(), "w:y:0".to_owned())].into(),
        ..FunctionDef::default()
    };
    def.library = Some(FunctionDefLibrary { function: vec![function], ..FunctionDefLibrary::default() });
    let info = |node: &str| TensorInfo {
        dtype: DataType::Float.number(),
        tensor_shape: Some(TensorShapeProto { unknown_rank: true, ..TensorShapeProto::default() }),
        encoding: Some(tensor_info::Encoding::Name(format!("{node}:0"))),
    };
    let signature = |outputs: &[&str]| SignatureDef {
        inputs: [("x".to_owned(), info("x"))].into(),
        outputs: outputs.iter().map(|name| ((*name).to_owned(), info(name))).collect(),
        ..SignatureDef::default()
    };
    let signatures = [("plain", &["plain"][..]), ("partly", &["plain", "partly"]), ("called", &["called"])].into_iter();
    let meta = MetaGraphDef {
        graph_def: Some(def),
        signature_def: signatures.map(|(name, outputs)| (name.to_owned(), signature(outputs))).collect(),
        ..MetaGraphDef::default()
    };
    let model = SavedModel { saved_model_schema_version: 1, meta_graphs: vec![meta] };
    std::fs::write(to.join("saved_model.pb"), model.encode_to_vec()).unwrap();
    to.to_str().expect("UTF-8").to_owned()
}

#[test]
fn inspect_says_which_signatures_lack_ops_and_how_large_variables_are() {
    let model = with_missing_ops("inspect");
    let words = [
        "op `Unknown1` is not linked",
        "op `WithinF` is not linked",
        "\n  signatures that need ops that are missing: called, partly (for partly)\n",
        "\n  signatures that need none of them: plain\n",
    ];
    bad(&["inspect", &model], 1, &words);
    // What stands in no function can be given in the place of what a missing op would compute.
    holds(&good(&["run", &model, "--input", "unknown=2", "--output", "partly"]), &["partly: float []\n  -2.0"]);
    bad(&["run", &model, "--signature", "called", "--input", "x=1"], 2, &["op `WithinF`", "in function `F`"]);
    let loading = "what runs when the model is loaded";
    let read = || kernlink::proto::read_saved_model(Path::new(&model).join("saved_model.pb")).unwrap();
    assert!(!String::from_utf8(kernlink(&["inspect", &model]).stdout).unwrap().contains(loading));
    let mut def = read();
    let init = def.meta_graphs[0].signature_def["partly"].outputs["partly"].clone();
    let key = "__saved_model_init_op".to_owned();
    let init = SignatureDef { outputs: [(key.clone(), init)].into(), ..SignatureDef::default() };
    def.meta_graphs[0].signature_def.insert(key, init);
    std::fs::write(Path::new(&model).join("saved_model.pb"), def.encode_to_vec()).unwrap();
    bad(&["inspect", &model], 1, &[loading]);

    holds(&good(&["inspect", &saved("keras")]), &["parameters: 32 bytes in constants, 164 bytes in 15 variables\n"]);
    holds(&good(&["inspect", &saved("meta/model.meta")]), &["constants, 16 bytes in 2 variables\n"]);
    let to = folder("damaged");
    std::fs::create_dir_all(to.join("variables")).unwrap();
    std::fs::copy(format!("{}/saved_model.pb", saved("tf2")), to.join("saved_model.pb")).unwrap();
    std::fs::write(to.join("variables/variables.index"), "nonsense").unwrap();
    bad(&["inspect", to.to_str().expect("UTF-8")], 1, &["the variables cannot be read: DATA_LOSS"]);
}

/// Names like each would take minutes to look for.
#[test]
fn of_many_missing_ops_the_first_are_told() {
    let nodes = (0..50_000).map(|index| node(&format!("n{index}"), &format!("UnknwnOp{index:05}"), &[], &[]));
    let model = save("many-missing.pb", &graph(nodes.collect::<Vec<_>>()));
    let began = std::time::Instant::now();
    let words = ["op `UnknwnOp00099` is not linked", "and 49900 more ops"];
    bad(&["inspect", &model], 1, &words);
    bad(&["select", &model], 2, &words);
    let out = folder("many-missing").join("out.pb");
    let output = kernlink(&["optimize", &model, "-o", out.to_str().expect("UTF-8")]);
    holds(&String::from_utf8_lossy(&output.stderr), &words);
    // One line tells of a kernel, however many nodes need it.
    let string = [("T", AttrValue::Type(DataType::String))];
    let nodes = (0..50_000).map(|index| node(&format!("n{index}"), "Square", &["x"], &string));
    let x = node("x", "Placeholder", &[], &[("dtype", AttrValue::Type(DataType::String))]);
    let model = save("many-kernels.pb", &graph(std::iter::once(x).chain(nodes).collect::<Vec<_>>()));
    let output = kernlink(&["inspect", &model]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), text.matches("no kernel for node").count()), (Some(1), 1));
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
