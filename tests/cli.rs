//! The command, as a person uses it.

#[path = "support/html.rs"]
mod html;
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::{GraphDef, read_graph, write_graph};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use support::{constant, graph, node, path};

fn kernlink(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kernlink")).args(args).output().expect("the command starts")
}

/// What a run that must succeed prints.
#[track_caller]
fn good(args: &[&str]) -> String {
    let output = kernlink(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Checks that a run fails with this exit code and these words.
#[track_caller]
fn bad(args: &[&str], code: i32, words: &[&str]) {
    let output = kernlink(args);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

#[track_caller]
fn holds(text: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

fn digits(file: &str) -> String {
    path("examples/digits").join(file).to_str().expect("UTF-8").to_owned()
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A graph in a file; y = x + [1, 2].
fn sum(name: &str) -> String {
    let float = AttrValue::Type(DataType::Float);
    let shape = AttrValue::Shape(PartialShape::from_known([None, Some(2)]));
    let def = graph([
        node("scope/x", "Placeholder", &[], &[("dtype", float.clone()), ("shape", shape)]),
        constant("c", Tensor::vector(&[1.0f32, 2.0]).unwrap()),
        node("scope/y", "AddV2", &["scope/x", "c"], &[("T", float)]),
    ]);
    save(name, &def)
}

fn save(name: &str, def: &GraphDef) -> String {
    let file = folder("graphs").join(name);
    write_graph(&file, def).unwrap();
    file.to_str().expect("UTF-8").to_owned()
}

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
    bad(&["run", &model, "--input", "scope/x=[1, 2]"], 2, &["`scope/x`", "[?,2]", "[2]"]);
    bad(&["run", &model, "--input", "scope/x=[[1], 2]"], 2, &["ragged"]);
    bad(&["run", &model, "--input", "scope/x"], 2, &["NAME=SRC"]);
    bad(&["run", &model, "--input", "scope/q=1"], 2, &["`scope/q`"]);
    bad(&["run", &model, "--input", "scope/x=@nowhere.npy"], 2, &["nowhere.npy"]);
    bad(&[&["run", &model, "--device", "gpu7"], &x[..]].concat(), 2, &["no device `gpu7`"]);
    if cfg!(not(feature = "gpu")) {
        bad(&[&["run", &model, "--device", "gpu"], &x[..]].concat(), 2, &["build it with `--features gpu`"]);
        holds(&good(&["kernels", "--device", "gpu"]), &["0 kernels", "`--features gpu`"]);
    }
    bad(&["run", "nowhere.pb"], 2, &["nowhere.pb", "NOT_FOUND"]);
    bad(&["run", env!("CARGO_TARGET_TMPDIR")], 2, &["NOT_FOUND", "SavedModel"]);
    bad(&["run", &model, "--threads", "-1"], 2, &["--threads", "-1"]);
    bad(&["run", &digits("images.npy")], 2, &["INVALID_ARGUMENT", "no GraphDef"]);
    bad(&["ops", "MatMull"], 2, &["did you mean", "MatMul"]);
    bad(&["kernels", "--op", "MatMull"], 2, &["MatMul"]);
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
}

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
        &["scald", "scaled"],
    );
    bad(&["run", &digits("digits.pb"), "--signature", "f"], 2, &["no signatures"]);

    let text = good(&["inspect", &model]);
    holds(&text, &["tags: serve", "signature serving_default", "input  x: float [?,3]", "output words: string []"]);
    holds(&text, &["functions", "AssignAddVariableOp"]);
    // What only functions use is selected too.
    holds(&good(&["select", &model]), &["AssignAddVariableOp CPU", "Mul CPU T=float", "RestoreV2 CPU"]);
}

#[test]
fn meta_graphs_run_with_their_checkpoints() {
    let (model, checkpoint) = (saved("meta/model.meta"), saved("meta/model"));
    let plain = ["run", &model, "--input", "x=[[1, 2], [3, -1], [0.5, 0.5]]", "--output", "loss"];
    holds(&good(&[&plain[..], &["--checkpoint", &checkpoint]].concat()), &["loss: float []"]);
    bad(&plain, 2, &["FAILED_PRECONDITION"]);
    bad(&["run", &model, "--checkpoint", "nowhere"], 2, &["NOT_FOUND", "nowhere"]);
    bad(&["run", &digits("digits.pb"), "--checkpoint", &checkpoint], 2, &["--checkpoint is for MetaGraphs"]);
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
    holds(&good(&["inspect", &save("missing.pb", &def)]), &["NoSuchOp", "OtherOp", "missing:"]);
    let dot = good(&["inspect", "--dot", &sum("dot.pb")]);
    holds(&dot, &["digraph", "scope/x", "scope/y", "->"]);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
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
fn files(folder: &Path) -> BTreeMap<String, (String, std::time::SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), (text, entry.metadata().unwrap().modified().unwrap()))
    };
    entries.map(file).collect()
}

fn empty_folder(name: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::remove_dir_all(&folder).unwrap();
    folder
}

fn write_pages(folder: &Path) -> String {
    good(&["ops", "--format", "html", "--output", folder.to_str().unwrap()])
}

#[test]
fn every_op_and_kernel_is_on_one_page() {
    let folder = empty_folder("catalogue");
    let said = write_pages(&folder);
    let registry = kernlink::registry().unwrap();
    let numbers = [format!("{} ops", registry.ops().count()), format!("{} kernels", registry.kernels().count())];
    holds(&said, &[&numbers[0], &numbers[1], "index.html"]);
    let pages: BTreeMap<String, html::Page> = files(&folder)
        .into_iter()
        .filter(|(name, _)| name.ends_with(".html"))
        .map(|(name, (text, _))| {
            let page = html::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            (name, page)
        })
        .collect();
    let index = &pages["index.html"];
    let listed = index.elements.iter().filter(|element| element.attributes.contains_key("data-op")).count();
    assert_eq!(listed, registry.ops().count());
    let linked: Vec<&str> = index.attribute("href").collect();
    for op in registry.ops() {
        let name = &*op.def.name;
        let [(file, page)] = pages.iter().filter(|(_, page)| page.ops.contains_key(name)).collect::<Vec<_>>()[..]
        else {
            panic!("{name} is not on one page");
        };
        assert!(linked.contains(&&*format!("{file}#{name}")), "{name} is not in the index");
        let parts = op.location.file.trim_start_matches("ops/src/").trim_end_matches(".rs").replace('/', "-");
        assert_eq!(*file, format!("{parts}.html"), "{name}");
        let (text, kernels) = (&page.ops[name], registry.kernels_of(name));
        let of_op = page.elements.iter().filter(|element| element.op.as_deref() == Some(name));
        let rows = of_op.filter_map(|element| element.attributes.get("data-kernels"));
        assert_eq!(rows.map(|row| row.parse::<usize>().unwrap()).sum::<usize>(), kernels.len(), "{name}");
        holds(text, &[&op.location.to_string(), op.provider.name]);
        for kernel in kernels {
            holds(text, &[kernel.device.0, &kernel.priority.to_string(), &kernel.location.to_string()]);
            holds(text, kernel.host_memory);
            for constraint in kernel.constraints {
                let values = constraint.to_string();
                let values = values.split_once(" in [").unwrap().1.trim_end_matches(']');
                values.split(", ").for_each(|value| holds(text, &[constraint.attr, value]));
            }
        }
        for part in op.def.attrs.iter().map(|attr| &attr.name).chain(op.def.inputs.iter().map(|arg| &arg.name)) {
            holds(text, &[part]);
        }
    }
    let sum = pages.values().map(|page| page.ops.len()).sum::<usize>();
    assert_eq!(sum, registry.ops().count());
    for (name, page) in &pages {
        links_resolve(name, page, &pages, &folder);
        assert_eq!(page.count("h1"), 1, "{name}");
        assert_eq!(page.count("main"), 1, "{name}");
        assert_eq!(page.count("script"), usize::from(name == "index.html"), "{name}");
        assert!(page.attribute("src").next().is_none(), "{name} loads something");
        let cells = page.elements.iter().filter(|element| element.tag == "th");
        cells.for_each(|cell| assert!(cell.attributes.contains_key("scope"), "{name}"));
    }
    holds(&pages["nn-activation.html"].ops["LogSoftmax"], &["log_softmax(scope, logits: Output)"]);
    assert!(pages["nn-activation.html"].attribute("href").any(|href| href == "#Softmax"), "ops link to each other");
}

fn links_resolve(name: &str, page: &html::Page, pages: &BTreeMap<String, html::Page>, folder: &Path) {
    let ids: Vec<&str> = page.attribute("id").collect();
    let once: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), once.len(), "{name} has ids twice");
    for labelled in page.attribute("aria-labelledby").chain(page.attribute("for")) {
        assert!(ids.contains(&labelled), "{name}: no {labelled}");
    }
    for href in page.attribute("href") {
        let (file, id) = href.split_once('#').unwrap_or((href, ""));
        let target = if file.is_empty() { name } else { file };
        assert!(folder.join(target).is_file(), "{name} links to {href}");
        let id = id.replace("%3E", ">");
        assert!(id.is_empty() || pages[target].attribute("id").any(|own| own == id), "{name} links to {href}");
    }
}

#[test]
fn pages_are_written_again_and_nothing_else() {
    let folder = empty_folder("catalogue-again");
    write_pages(&folder);
    let first = files(&folder);
    write_pages(&folder);
    assert_eq!(files(&folder), first, "a second run changes nothing, times included");

    // An earlier run knew one family more, and a person has put notes there.
    let list = std::fs::read_to_string(folder.join(".kernlink-ops")).unwrap();
    std::fs::write(folder.join(".kernlink-ops"), list + "gone.html\n").unwrap();
    std::fs::write(folder.join("gone.html"), "old").unwrap();
    std::fs::write(folder.join("notes.html"), "mine").unwrap();
    std::fs::write(folder.join("index.html"), "changed").unwrap();
    write_pages(&folder);
    let mut again = files(&folder);
    assert_eq!(again.remove("notes.html").unwrap().0, "mine");
    let contents = |files: &BTreeMap<String, (String, _)>| -> Vec<(String, String)> {
        files.iter().map(|(name, (text, _))| (name.clone(), text.clone())).collect()
    };
    assert_eq!(contents(&again), contents(&first), "what is no longer needed is gone, what was changed is mended");
}

#[test]
fn no_file_of_somebody_else_is_overwritten() {
    let folder = empty_folder("catalogue-foreign");
    let output = folder.to_str().unwrap().to_owned();
    let args = ["ops", "--format", "html", "--output", &output];
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("index.html"), "mine").unwrap();
    bad(&args, 2, &["ALREADY_EXISTS", "index.html", "--output"]);
    assert_eq!(files(&folder).len(), 1, "nothing is written");
    let head = std::fs::read_to_string({
        let other = empty_folder("catalogue-foreign-list");
        write_pages(&other);
        other.join(".kernlink-ops")
    });
    let head = head.unwrap().lines().next().unwrap().to_owned();
    for list in ["mine".to_owned(), format!("{head}\n../index.html\n"), format!("{head}\nindex.html/../../x.html\n")] {
        std::fs::write(folder.join(".kernlink-ops"), list).unwrap();
        bad(&args, 2, &["ALREADY_EXISTS", ".kernlink-ops"]);
    }
    assert_eq!(files(&folder).len(), 2, "nothing is written");
    bad(&["ops", "--format", "html", "--output", env!("CARGO_BIN_EXE_kernlink")], 2, &["cannot make the folder"]);
    bad(&["ops", "MatMul", "--format", "html"], 2, &["leave `MatMul` out"]);
    bad(&["ops", "--output", &output], 2, &["--format html"]);
}

#[test]
fn one_op_in_text_says_all() {
    holds(&good(&["ops", "ConcatV2"]), &["a list of at least 2 tensors", "concat_v2(scope, values: impl IntoIterator"]);
    holds(&good(&["ops", "Cast"]), &["cast(scope, x: Output, dst_t: DataType)", ".truncate(bool)  // default false"]);
    holds(&good(&["ops", "Where"]), &["where_(scope, input: Output)"]);
    let text = good(&["ops", "MatMul"]);
    holds(&text, &["b: a tensor, of the dtype of a", "kernels: 8", "MatMulKernel<_>", "none for T in {uint8"]);
    holds(&good(&["ops", "StridedSlice"]), &["in host memory: begin, end, strides", "feature array"]);
    holds(&good(&["kernels", "--device", "XPU"]), &["0 kernels", "`XPU`", "there are kernels for CPU"]);
    holds(&good(&["kernels", "--op", "MatMul", "--device", "XPU"]), &["0 kernels: none of MatMul", "CPU"]);
    assert_eq!(good(&["kernels", "--device", "XPU", "--format", "json"]), "[]\n");
}

// ---- traces and measurements ----

/// A file of the models that TensorFlow saved.
fn saved_model(file: &str) -> String {
    path("tests/saved_model/data").join(file).to_str().expect("UTF-8").to_owned()
}

/// A node in a trace: its row, when it began and how long it took in microseconds, and the whole event.
struct Event {
    row: (u64, u64),
    begin: f64,
    end: f64,
    whole: serde_json::Value,
}

/// The nodes of a trace, and the names of its rows; checks what is so of every trace.
#[track_caller]
fn trace(file: &Path) -> (Vec<Event>, BTreeMap<(u64, u64), String>) {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let (mut events, mut rows, mut processes) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for event in value["traceEvents"].as_array().unwrap() {
        let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let said = || event["args"]["name"].as_str().unwrap().to_owned();
        match (event["ph"].as_str().unwrap(), event["name"].as_str().unwrap()) {
            ("M", "process_name") => drop(processes.insert(pid, said())),
            ("M", "thread_name") => drop(rows.insert((pid, tid), said())),
            ("M", _) => assert!(event["args"]["sort_index"].is_u64(), "{event}"),
            ("X", _) => {
                let (begin, time) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                let args = &event["args"];
                assert!(begin >= 0.0 && time >= 0.0 && event["cat"] == args["op"], "{event}");
                assert!(args["output_bytes"].is_u64() && args["allocated_bytes"].is_u64(), "{event}");
                events.push(Event { row: (pid, tid), begin, end: begin + time, whole: event.clone() });
            }
            other => panic!("{other:?}"),
        }
    }
    for event in &events {
        assert!(rows.contains_key(&event.row) && processes.contains_key(&event.row.0), "{}", event.whole);
    }
    assert!(processes.values().all(|name| name.starts_with("/device:CPU:")), "{processes:?}");
    // On a row, one begins when the other has ended, or within it.
    for (index, first) in events.iter().enumerate() {
        for second in events[index + 1..].iter().filter(|second| second.row == first.row) {
            let apart = second.begin >= first.end - 1e-6 || second.end <= first.end + 1e-6;
            assert!(apart, "{} and {} overlap", first.whole, second.whole);
        }
    }
    (events, rows)
}

fn named<'e>(events: &'e [Event], name: &str) -> &'e Event {
    let found = events.iter().find(|event| event.whole["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in the trace"))
}

#[test]
fn a_graph_is_traced() {
    let file = folder("trace").join("digits.json");
    let input = format!("images=@{}", digits("images.npy"));
    let model = digits("digits.pb");
    let text = good(&[
        "run",
        &model,
        "--input",
        &input,
        "--threads",
        "2",
        "--trace",
        file.to_str().unwrap(),
        "--timeout",
        "60",
    ]);
    let (events, rows) = trace(&file);
    holds(&text, &[&format!("what {} nodes took is in", events.len()), "digits.json"]);
    assert!(rows.values().all(|name| name == "main" || name.starts_with("kernlink-")), "{rows:?}");
    let classes = named(&events, "classes");
    assert_eq!(classes.whole["args"]["op"], "ArgMax");
    assert_eq!(classes.whole["args"]["output_bytes"], 360 * 8);
    let last = events.iter().map(|event| event.end).fold(0.0, f64::max);
    assert_eq!(classes.end, last, "all else comes before the answer");
}

#[test]
fn what_functions_run_is_traced() {
    let file = folder("trace").join("tf2.json");
    let model = saved_model("tf2");
    let args = ["run", &model, "--input", "x=[[1, 2, 3]]", "--trace", file.to_str().unwrap()];
    holds(&good(&args), &["scaled: float [1,3]\n  [[1.5 -4.0 12.0]]", "nodes took"]);
    let (events, rows) = trace(&file);
    let call = events.iter().find(|event| event.whole["args"]["op"] == "StatefulPartitionedCall").expect("a call");
    assert!(rows[&call.row].starts_with("calls and waits"), "{rows:?}");
    let product = events.iter().find(|event| event.whole["args"]["op"] == "Mul").expect("in the function");
    assert!(product.whole["args"]["depth"].as_u64().unwrap() > 0, "{}", product.whole);
    assert!(call.begin <= product.begin && product.end <= call.end, "the call holds what it calls");
    assert_ne!(call.row, product.row);

    let file = folder("trace").join("meta.json");
    let (model, checkpoint) = (saved_model("meta/model.meta"), saved_model("meta/model"));
    let args = ["run", &model, "--checkpoint", &checkpoint, "--input", "x=[[1, 2]]", "--output", "loss"];
    good(&[&args[..], &["--trace", file.to_str().unwrap()]].concat());
    named(&trace(&file).0, "loss");
}

/// A graph that waits for what nobody puts into its queue.
fn stuck(name: &str) -> String {
    let types = || AttrValue::ListType(vec![DataType::Float]);
    save(
        name,
        &graph([
            constant("first", Tensor::scalar(1.0f32)),
            node("queue", "FIFOQueueV2", &["^first"], &[("component_types", types())]),
            node("taken", "QueueDequeueV2", &["queue"], &[("component_types", types())]),
        ]),
    )
}

#[test]
fn a_run_ends_in_time_and_its_trace_tells_of_it() {
    let (model, file) = (stuck("stuck.pb"), folder("trace").join("stuck.json"));
    let _ = std::fs::remove_file(&file);
    bad(&["run", &model, "--timeout", "0.2", "--trace", file.to_str().unwrap()], 2, &["DEADLINE_EXCEEDED"]);
    let (events, _) = trace(&file);
    named(&events, "queue");
    assert!(events.iter().all(|event| event.whole["name"] != "taken"), "it never ran");
    for seconds in ["-1", "soon", "NaN", "inf"] {
        bad(&["run", &model, "--timeout", seconds], 2, &["--timeout", seconds, "a number of seconds, 0 or more"]);
    }
    let nowhere = folder("trace").join("no-such-folder").join("t.json");
    bad(&["run", &model, "--trace", nowhere.to_str().unwrap()], 2, &["NOT_FOUND", "--trace", "no-such-folder"]);
    let itself = folder("trace");
    bad(&["run", &model, "--trace", itself.to_str().unwrap()], 2, &["--trace", "it is a folder"]);
    bad(&["run", &model, "--trace", &format!("{model}/t.json")], 2, &["--trace", "is a file"]);
}

#[test]
fn a_model_is_measured() {
    let model = digits("digits.pb");
    let args = ["bench", &model, "--runs", "7", "--warmup", "1", "--threads", "2"];
    let text = good(&args);
    holds(&text, &["input images is not given: random numbers from 0 to 1, float [1,8,8,1]", "7 timed, 2 threads"]);
    holds(
        &text,
        &["latency: min", "p50", "p90", "p99", "max", "mean", "average of 7 traced runs", "Conv2D", "slowest"],
    );
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&good(args)).expect("JSON") };
    let input = format!("images=@{}", digits("images.npy"));
    let told = json(&[&args[..], &["--format", "json", "--input", &input]].concat());
    assert_eq!((&told["runs"], &told["warmup"], &told["traced_runs"]), (&7.into(), &1.into(), &7.into()));
    assert_eq!(told["inputs"][0]["filled"], serde_json::Value::Null);
    assert_eq!(told["inputs"][0]["shape"], serde_json::json!([360, 8, 8, 1]));
    let latency = |name: &str| told["latency_us"][name].as_f64().unwrap();
    let order = ["min", "p50", "p90", "p99", "max"].map(latency);
    assert!(order.is_sorted() && order[0] > 0.0 && order[0] <= latency("mean") && latency("mean") <= order[4]);
    let ops = told["ops"].as_array().unwrap();
    let def = read_graph(&model).unwrap();
    let convolutions = def.node.iter().filter(|node| node.op == "Conv2D").count();
    let op = ops.iter().find(|op| op["op"] == "Conv2D").unwrap();
    assert_eq!(op["calls"], convolutions as f64);
    assert!(op["output_bytes"].as_f64() > Some(0.0) && op["time_us"].as_f64() > Some(0.0), "{op}");
    let shares: f64 = ops.iter().filter_map(|op| op["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    let nodes = told["slowest_nodes"].as_array().unwrap();
    assert!(!nodes.is_empty() && nodes.len() <= 10);
    let times = nodes.iter().map(|node| node["time_us"].as_f64().unwrap());
    assert!(times.is_sorted_by(|a, b| a >= b), "the slowest come first");
}

#[test]
fn signatures_are_measured_and_mistakes_explained() {
    let model = saved_model("tf2");
    let text = good(&["bench", &model, "--signature", "serving_default", "--runs", "3"]);
    holds(&text, &["input x is not given", "float [1,3]", "StatefulPartitionedCall", "without a share"]);
    let (meta, checkpoint) = (saved_model("meta/model.meta"), saved_model("meta/model"));
    let trained = ["bench", &meta, "--checkpoint", &checkpoint, "--input", "x=[[1, 2]]", "--runs", "3"];
    holds(&good(&[&trained[..], &["--output", "loss"]].concat()), &["latency", "slowest nodes"]);
    bad(&["bench", &model, "--signature", "word"], 2, &["NOT_FOUND", "did you mean words", "serving_default"]);
    bad(&["bench", &digits("digits.pb"), "--signature", "x"], 2, &["a plain graph has no signatures"]);
    bad(&["bench", &model, "--output", "loss", "--signature", "words"], 2, &["gives no `loss`", "words"]);
    for runs in ["0", "-1", "many"] {
        bad(&["bench", &model, "--runs", runs], 2, &["--runs", runs]);
    }
    bad(&["bench", &model, "--warmup", "-1"], 2, &["--warmup", "-1"]);
    bad(&["bench", &model, "--input", "y=1"], 2, &["takes no `y`", "--input x=SRC"]);
    bad(&["bench", "nowhere.pb"], 2, &["NOT_FOUND", "nowhere.pb"]);
    let resource = [("dtype", AttrValue::Type(DataType::Resource))];
    let def = graph([
        node("handle", "Placeholder", &[], &resource),
        node("read", "ReadVariableOp", &["handle"], &[("dtype", AttrValue::Type(DataType::Float))]),
    ]);
    bad(&["bench", &save("handle.pb", &def)], 2, &["`handle`", "cannot be filled", "resource"]);
}
