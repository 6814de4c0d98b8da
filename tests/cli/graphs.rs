//! Frozen graphs, and what there is to know of them and of the ops.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::{NodeDef, read_graph};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;

use crate::command::{bad, digits, folder, good, holds, kernlink, save, sum};
use crate::support::chain::chain;
use crate::support::{constant, graph, node};

#[test]
fn digits_are_saved_and_equal_tensorflow() {
    let out = folder("digits");
    let input = format!("images=@{}", digits("images.npy"));
    let model = digits("digits.pb");
    let run = ["run", &model, "--input", &input, "--save", out.to_str().unwrap(), "--threads", "2"];
    holds(&good(&run), &["no --output is given", "classes: int64 [360]", "loaded in"]);
    let text = good(&[&run[..], &["--output", "probabilities", "--output", "classes"]].concat());
    holds(&text, &["probabilities: float [360,10]", "classes: int64 [360]"]);
    let read = |path: PathBuf| kernlink::npy::read(path).unwrap();
    let classes = read(out.join("classes.npy"));
    let expected = read(digits("classes.npy").into());
    assert_eq!(classes.to_i64_vec().unwrap(), expected.to_i64_vec().unwrap());
    let (ours, theirs) = (read(out.join("probabilities.npy")), read(digits("probabilities.npy").into()));
    kernlink::golden::compare(&ours, &theirs, Some((1e-4, 1e-5))).unwrap();
}

#[test]
fn literals_and_names_with_slashes() {
    let (model, out) = (sum("literal.pb"), folder("literal"));
    let save = out.to_str().unwrap();
    let text =
        good(&["run", &model, "--input", "scope/x=[[1, 2.5], [-1, \"inf\"]]", "--output", "scope/y", "--save", save]);
    holds(&text, &["scope/y: float [2,2]", "4.5", "inf"]);
    let y = kernlink::npy::read(out.join("scope_y.npy")).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [2.0, 4.5, 0.0, f32::INFINITY]);
    let numbers = out.join("x.txt");
    std::fs::write(&numbers, "1 2\n3, 4\n").unwrap();
    let input = format!("scope/x=@{}", numbers.display());
    holds(&good(&["run", &model, "--input", &input]), &["[[2.0 4.0], [4.0 6.0]]"]);
}

#[test]
fn mistakes_are_explained() {
    let model = sum("mistakes.pb");
    bad(&["run", &model], 2, &["inputs are missing", "--input scope/x=SRC", "float", "[?,2]"]);
    let x = ["--input", "scope/x=[[1, 2]]"];
    bad(&[&["run", &model, "--output", "scope/z"], &x[..]].concat(), 2, &["`scope/z`", "did you mean", "scope/y"]);
    bad(&["run", &model, "--input", "scope/x=[[1], 2]"], 2, &["ragged"]);
    bad(&["run", &model, "--input", "scope/x"], 2, &["NAME=SRC"]);
    bad(&["run", &model, "--input", "scope/q=1"], 2, &["`scope/q`"]);
    bad(&["run", &model, "--input", "scope/x=@nowhere.npy"], 2, &["nowhere.npy"]);
    bad(&[&["run", &model, "--device", "gpu7"], &x[..]].concat(), 2, &["no device `gpu7`"]);
    if cfg!(not(feature = "gpu")) {
        bad(&[&["run", &model, "--device", "gpu"], &x[..]].concat(), 2, &["build it with `--features gpu`"]);
        holds(&good(&["kernels", "--device", "gpu"]), &["0 kernels", "`--features gpu`"]);
    }
    bad(&["run", &model, "--input", "scope/x="], 2, &["no value stands behind the `=`"]);
    bad(&["run", &model, "--input", "scope/x=x.npy"], 2, &["is neither", "write @x.npy"]);
    bad(
        &["run", &model, "--input", "scope/x=@nowhere"],
        2,
        &["NOT_FOUND", "cannot read nowhere: there is no such file"],
    );
    bad(&[&["run", &model, "--output", "c,scope/y"], &x[..]].concat(), 2, &["each output has an --output of its own"]);
    bad(&["rnu"], 2, &["unrecognized subcommand 'rnu'", "Commands: new, run, bench"]);
    bad(&["ops", "mat_mul"], 2, &["there is no op `mat_mul`; did you mean MatMul?"]);
    bad(&["kernels", "--op", "matmul"], 2, &["there is no op `matmul`; did you mean MatMul?"]);
    bad(
        &["ops", "SqlDataset"],
        2,
        &["`SqlDataset` is not linked into this program: TensorFlow has it, but Kernlink lacks it"],
    );
    bad(&["ops", "TextNormalizer"], 2, &["`use that_crate as _;`"]);
    bad(&["run", "nowhere.pb"], 2, &["NOT_FOUND: cannot read nowhere.pb: there is no such file or folder; a model is"]);
    let typo = save("typo.pb", &graph([node("y", "Rellu", &[], &[])]));
    let output = kernlink(&["run", &typo, "--output", "y"]);
    let text = String::from_utf8_lossy(&output.stderr);
    holds(&text, &["`Rellu`", "`use that_crate as _;`"]);
    assert!(!text.contains("--target"), "{text}");
    bad(&["select", "/nope"], 2, &["NOT_FOUND: cannot read /nope", "the folder of a SavedModel"]);
    bad(&["inspect", "-"], 2, &["no model is read from standard input by `-`"]);
    bad(&["ops", "Zero"], 2, &["there is no op `Zero`; it is in the names of", "ZerosLike"]);
    bad(&["run", env!("CARGO_TARGET_TMPDIR")], 2, &["NOT_FOUND", "SavedModel"]);
    bad(&["run", &model, "--threads", "-1"], 2, &["--threads", "-1"]);
    bad(&["run", &digits("images.npy")], 2, &["INVALID_ARGUMENT", "no GraphDef"]);
    bad(&["ops", "MatMull"], 2, &["did you mean", "MatMul"]);
    bad(&["kernels", "--op", "MatMull"], 2, &["MatMul"]);
}

#[test]
fn names_and_numbers_read_well() {
    let one = save("one.pb", &graph([constant("ab", Tensor::scalar(1.0f32))]));
    let run = good(&["run", &one]);
    holds(&run, &["what nothing else uses: ab\n", "\nab: float []\n  1.0\n"]);
    holds(&good(&["inspect", &one]), &["1 node of 1 op:", "ab (Const)", "parameters: 4 bytes in constants"]);
    holds(&good(&["optimize", &one, "-o", &folder("one").join("o.pb").display().to_string()]), &["1 node, keeping"]);
    bad(
        &["run", &one, "--output", "nope"],
        2,
        &["NOT_FOUND: --output: the graph has no node `nope`", "nothing else uses ab"],
    );
    let bench = good(&["bench", &one, "--runs", "1", "--warm-up", "1", "--threads", "1"]);
    holds(&bench, &["; 1 run to warm up, 1 timed, 1 thread\n", "on average of 1 traced run:"]);
    let lacking = save("lacking.pb", &graph([node("x", "NoSuchOp", &[], &[])]));
    bad(&["inspect", &lacking], 1, &["(1 node)", "x (NoSuchOp) unknown\n"]);
    bad(&["run", &lacking], 2, &["`NoSuchOp`", "node `x`"]);
    let empty = save("empty.pb", &graph([]));
    bad(&["run", &empty], 2, &["the graph has no nodes"]);
    bad(&["optimize", &empty, "-o", "x.pb"], 2, &["the graph has no nodes"]);
    let model = sum("quoted.pb");
    let output = kernlink(&["run", &model, "--input", "=1"]);
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.contains("expected NAME=SRC") && !output.contains("did you mean"), "{output}");
    bad(
        &["run", &model, "--input", "scope/x=[[1, 2]]", "--input", "scope/x=[[1, 2]]"],
        2,
        &["`scope/x` is given twice"],
    );
    for name in ["--output=", "--target="] {
        let output = kernlink(&["run", &model, name]);
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.contains("error: ") && !output.contains("did you mean"), "{output}");
    }
}

#[test]
fn no_output_is_saved_over_another() {
    let model = save("names.pb", &graph(["a/b", "a_b"].map(|name| constant(name, Tensor::scalar(1.0f32)))));
    let out = folder("names");
    std::fs::remove_dir_all(&out).unwrap();
    let args = ["run", &model, "--save", out.to_str().unwrap()];
    bad(&args, 2, &["`a/b`", "`a_b`", "a_b.npy"]);
    assert!(!out.join("a_b.npy").exists());
    good(&[&args[..], &["--output", "a/b"]].concat());
    assert!(out.join("a_b.npy").exists());
}

#[test]
fn verify_says_what_failed() {
    let case = |name: &str, expected: f32| {
        [
            constant(&format!("{name}/x"), Tensor::scalar(-2.0f32)),
            node(
                &format!("{name}/actual/0"),
                "Abs",
                &[&format!("{name}/x")],
                &[("T", AttrValue::Type(DataType::Float))],
            ),
            constant(&format!("{name}/expected/0"), Tensor::scalar(expected)),
        ]
    };
    let right = save("right.pb", &graph(case("right", 2.0)));
    holds(&good(&["verify", &right]), &["1 passed, 0 failed"]);
    let both = save("both.pb", &graph(case("right", 2.0).into_iter().chain(case("wrong", 3.0))));
    bad(&["verify", &both], 1, &["1 passed, 1 failed", "FAILED wrong", "2.0 instead of 3.0"]);
    holds(&good(&["verify", "--only", "right", &both]), &["1 passed, 0 failed"]);
    bad(&["verify", &sum("no_case.pb")], 2, &["no golden case"]);
    bad(&["verify"], 2, &["Usage"]);
    // Nobody reads what it says, and yet it says that a case failed.
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_kernlink")).args(["verify", &both]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn chains_of_thousands_of_functions_are_told_apart_from_endless_ones() {
    let file = folder("chains").join("chain.pb");
    let model = save("chain.pb", &chain(20_000, false));
    let deep = ["is called within 1000 other calls", "it must allow more: `--call-depth N`"];
    bad(&["run", &model], 2, &deep);
    bad(&["bench", &model], 2, &deep);
    for command in [&["run", "--warm-up"][..], &["run"], &["bench", "--runs=1", "--warm-up=0"]] {
        let short = save("short.pb", &chain(2_000, false));
        good(&[command, &[&short, "--call-depth", "2000"]].concat());
        bad(&[command, &[&short, "--call-depth", "100"]].concat(), 2, &["is called within 100 other calls"]);
    }
    bad(&["run", &model, "--call-depth", "-1"], 2, &["--call-depth", "a whole number from 0"]);
    bad(&["run", &model, "--warm-up"], 2, &["more than 10000 functions are to be prepared"]);
    // However many nodes call a chain, each of its functions is looked at once.
    let mut called_often = chain(10_000, false);
    let call = called_often.node.last().expect("the call").clone();
    called_often.node.extend((0..10_000).map(|index| NodeDef { name: format!("y{index}"), ..call.clone() }));
    bad(&["run", &save("called-often.pb", &called_often), "--timeout", "60"], 2, &deep);
    holds(&good(&["inspect", &model]), &["20000 functions", "missing: nothing"]);
    holds(&good(&["select", &model]), &["Neg CPU T=float", "PartitionedCall CPU"]);
    let out = file.to_str().unwrap();
    holds(&good(&["optimize", &model, "--out", out]), &["functions: 20000 before, 20000 after"]);
}

#[test]
fn inspect_and_dot() {
    let text = good(&["inspect", &digits("digits.pb")]);
    holds(&text, &["images (Placeholder) float [?,8,8,1]", "classes (ArgMax) int64 [?]", "Conv2D", "parameters:"]);
    holds(&text, &["missing: nothing"]);
    let def = graph([
        node("a", "NoSuchOp", &[], &[]),
        node("b", "OtherOp", &["a"], &[]),
        node("c", "Square", &["a"], &[("T", AttrValue::Type(DataType::Uint16))]),
    ]);
    bad(&["inspect", &save("missing.pb", &def)], 1, &["NoSuchOp", "OtherOp", "missing:"]);
    // It has what is not missing, and an error for what is.
    let negated = node("b", "Neg", &["a"], &[("T", AttrValue::Type(DataType::Float))]);
    let def = graph([node("a", "NoSuchOp", &[], &[]), negated, constant("c", Tensor::scalar(1.5f32))]);
    let half = save("half.pb", &def);
    holds(&good(&["run", &half, "--output", "c"]), &["c: float []", "1.5"]);
    bad(&["run", &half, "--output", "b"], 2, &["`NoSuchOp`", "node `a`"]);
    let lacks = "not run, as it needs what this program lacks (NoSuchOp): b\n";
    let run = good(&["run", &half]);
    holds(&run, &["fetching what nothing else uses: c\n", lacks, "c: float []", "1.5"]);
    holds(&good(&["bench", &half, "--runs", "1"]), &[lacks, "latency"]);
    // What is fed in the place of what is missing is not.
    let fed = good(&["run", &half, "--input", "a=2"]);
    holds(&fed, &["b: float []", "-2.0"]);
    assert!(!fed.contains("not run"), "{fed}");
    let out = folder("missing").join("kept.pb");
    let warned = ["warning: kept as it is: op `NoSuchOp`", "(node `a`)"];
    bad(&["optimize", &half, "--output", "b", "--out", out.to_str().unwrap()], 0, &warned);
    assert_eq!(kernlink::proto::read_graph(&out).unwrap().node[0], def.node[0]);
    let dot = good(&["inspect", "--dot", &sum("dot.pb")]);
    holds(&dot, &["digraph", "scope/x", "scope/y", "->"]);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}

#[test]
fn attrs_that_an_op_lacks_are_told() {
    let attrs =
        [("T", AttrValue::Type(DataType::Float)), ("transpos_a", AttrValue::Bool(true)), ("_note", AttrValue::Int(1))];
    let def = graph([
        constant("x", Tensor::zeros(DataType::Float, [1, 1]).unwrap()),
        node("y", "MatMul", &["x", "x"], &attrs),
    ]);
    let model = save("attrs.pb", &def);
    let told = "op MatMul has no attr `transpos_a` (node `y`); did you mean transpose_a";
    let text = good(&["inspect", &model]);
    holds(&text, &["passed over:", told]);
    assert!(!text.contains("_note"), "{text}");
    bad(&["run", &model], 0, &["warning: attrs that are passed over:", told, "y: float [1,1]"]);
}

#[test]
fn values_and_files_that_are_none_are_told_what_to_be() {
    let shape = ("shape", AttrValue::Shape(PartialShape::unknown()));
    let input = |name, dtype| node(name, "Placeholder", &[], &[("dtype", AttrValue::Type(dtype)), shape.clone()]);
    let same = |name, from, dtype| node(name, "Identity", &[from], &[("T", AttrValue::Type(dtype))]);
    let def = graph([
        input("f", DataType::Float),
        input("b", DataType::Bool),
        input("s", DataType::String),
        input("c", DataType::Complex64),
        same("of_f", "f", DataType::Float),
        same("of_b", "b", DataType::Bool),
        same("of_s", "s", DataType::String),
        same("of_c", "c", DataType::Complex64),
    ]);
    let model = save("values.pb", &def);
    for (value, output, advice) in [
        ("f=nan", "of_f", "write 'NaN'"),
        ("f=1,2,3", "of_f", "write '[1, 2, 3]'"),
        ("f=[1. 2.]", "of_f", "write '[1.0, 2.0]'"),
        ("f=[1, [2]]", "of_f", "the lists are ragged"),
        ("b=True", "of_b", "write 'true'"),
        ("s=hello", "of_s", "write '\"hello\"'"),
    ] {
        bad(&["run", &model, "--input", value, "--output", output], 2, &[advice]);
    }
    let text = good(&["run", &model, "--input", "c=[[1, 2], [0.5, -1]]", "--output", "of_c"]);
    holds(&text, &["of_c: complex64 [2]\n  [(1+2j) (0.5-1j)]\n"]);
    // NumPy's default, float64, is not what most models take.
    let file = folder("values").join("x.npy");
    kernlink::npy::write(&file, &Tensor::scalar(1.5f64)).unwrap();
    let value = format!("f=@{}", file.display());
    let words = ["x.npy: the array is double, and the input is float: save it as `array.astype(np.float32)`"];
    bad(&["run", &model, "--input", &value, "--output", "of_f"], 2, &words);

    let text = "node { name: \"x\" op: \"NoOp\" }\nnode { name: \"y\"\n  inptu: \"x\" }\n";
    let written = |name: &str, bytes: &[u8]| {
        let file = folder("values").join(name);
        std::fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_owned()
    };
    bad(&["inspect", &written("a.pbtxt", text.as_bytes())], 2, &["line 3, column 3: field 'inptu' not found"]);
    bad(
        &["inspect", &written("a.pb", text.as_bytes())],
        2,
        &["it is text; the name of a graph in text ends in .pbtxt"],
    );
    bad(&["inspect", &written("a.meta", text.as_bytes())], 2, &["the name of a MetaGraph in text ends in .meta.pbtxt"]);
    bad(&["inspect", &written("b.pbtxt", b"\x0a\xff")], 2, &["the name of a binary file ends otherwise"]);
    let output = kernlink(&["inspect", &written("b.pb", b"\x0a\xff")]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("this is no GraphDef") && !error.contains("pbtxt"), "{error}");
}

#[test]
fn catalogues() {
    holds(&good(&["ops"]), &["MatMul", "Conv2D", " ops"]);
    holds(&good(&["ops", "MatMul"]), &["transpose_a", "kernels:", "declared at"]);
    holds(&good(&["kernels", "--op", "MatMul", "--device", "cpu"]), &["MatMul on CPU", "float", " kernels"]);
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&good(args)).expect("JSON") };
    let ops = json(&["ops", "--format", "json"]);
    let registry = kernlink::registry().unwrap();
    assert_eq!(ops.as_array().unwrap().len(), registry.ops().count());
    assert_eq!(json(&["kernels", "--format", "json"]).as_array().unwrap().len(), registry.kernels().count());
    let one = json(&["ops", "MatMul", "--format", "json"]);
    assert_eq!(one[0]["name"], "MatMul");
    assert!(one[0]["attrs"].as_array().unwrap().iter().any(|attr| attr["name"] == "transpose_a"));
}

#[test]
fn text_graphs_run_too() {
    let def = read_graph(digits("digits.pb")).unwrap();
    let text = save("digits.pbtxt", &def);
    assert_eq!(read_graph(&text).unwrap(), def);
    let input = format!("images=@{}", digits("images.npy"));
    let run = |model: &str| -> Vec<String> {
        let text = good(&["run", model, "--input", &input, "--threads", "1"]);
        text.lines().filter(|line| !line.starts_with("loaded")).map(str::to_owned).collect()
    };
    assert_eq!(run(&text), run(&digits("digits.pb")));
    std::fs::write(&text, "node { name: 3 }").unwrap();
    bad(&["run", &text], 2, &["INVALID_ARGUMENT", "digits.pbtxt"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kernlink"))
        .args(["kernels", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// The files of a folder with their contents and times.

#[test]
fn one_op_in_text_says_all() {
    holds(&good(&["ops", "ConcatV2"]), &["a list of at least 2 tensors", "concat_v2(scope, values: impl IntoIterator"]);
    holds(&good(&["ops", "Cast"]), &["cast(scope, x: Output, dst_t: DataType)", ".truncate(bool)  // default false"]);
    holds(&good(&["ops", "Where"]), &["where_(scope, input: Output)"]);
    let text = good(&["ops", "MatMul"]);
    let kernels = if cfg!(feature = "gpu") { "kernels: 12" } else { "kernels: 9" };
    holds(&text, &["b: a tensor, of the dtype of a", kernels, "mat_mul<_>", "none for T in {uint8"]);
    holds(&good(&["ops", "StridedSlice"]), &["in host memory: begin, end, strides", "feature array"]);
    holds(&good(&["kernels", "--device", "XPU"]), &["0 kernels", "`XPU`", "there are kernels for CPU"]);
    holds(&good(&["kernels", "--op", "MatMul", "--device", "XPU"]), &["0 kernels: none of MatMul", "CPU"]);
    assert_eq!(good(&["kernels", "--device", "XPU", "--format", "json"]), "[]\n");
}
