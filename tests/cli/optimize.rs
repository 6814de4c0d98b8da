//! `kernlink optimize`: what it writes runs as what it read.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::ops;
use kernlink::proto::{
    GraphDef, Message as _, MetaGraphDef, SignatureDef, TensorInfo, TensorProto, TensorShapeProto, attr_value,
    read_graph, shape_to_proto, tensor_info,
};
use kernlink::runtime::Session;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;

use crate::command::{bad, digits, folder, good, holds, kernlink, save, sum};
use crate::support::{constant, graph, node, path};

/// y = x + 1 by way of identities and a branch that is never taken; what else there is nobody asks for.
fn branchy(name: &str) -> String {
    let t = |dtype| [("T", AttrValue::Type(dtype))];
    let float = t(DataType::Float);
    let merge = [("T", AttrValue::Type(DataType::Float)), ("N", AttrValue::Int(2))];
    save(
        name,
        &graph([
            node("x", "Placeholder", &[], &[("dtype", AttrValue::Type(DataType::Float))]),
            constant("p", Tensor::scalar(true)),
            constant("one", Tensor::scalar(1.0f32)),
            node("p_again", "Identity", &["p"], &t(DataType::Bool)),
            node("switch", "Switch", &["x", "p_again"], &float),
            node("then", "AddV2", &["switch:1", "one"], &float),
            node("else", "Neg", &["switch"], &float),
            node("merge", "Merge", &["then", "else"], &merge),
            node("y", "Identity", &["merge"], &float),
            node("unused", "Neg", &["x"], &float),
        ]),
    )
}

fn nodes(file: &Path) -> Vec<String> {
    read_graph(file).unwrap().node.into_iter().map(|node| node.name).collect()
}

#[test]
fn it_says_what_each_pass_did_and_writes_a_graph_that_runs_alike() {
    let (model, out) = (branchy("branchy.pb"), folder("optimize"));
    let (written, dot) = (out.join("branchy.pb"), out.join("branchy.dot"));
    let (written_text, dot_text) = (written.to_str().unwrap(), dot.to_str().unwrap());
    let args = ["optimize", &model, "-o", written_text, "--dot", dot_text, "--output", "y"];
    let text = good(&args);
    let first = "branchy.pb: 10 nodes, keeping what is named: y\n";
    let prune = "prune: 1 change, 10 nodes before, 9 after\n";
    let branches = "fold-branches: 1 change, 8 nodes before,";
    holds(&text, &[first, prune, branches, "elide-identities: ", "4 nodes, is in", "drawing"]);
    assert_eq!(nodes(&written), ["x", "one", "then", "y"]);
    let drawing = std::fs::read_to_string(&dot).unwrap();
    holds(&drawing, &["digraph", "\"then\" -> \"y\""]);
    let run = |model: &str| good(&["run", model, "--input", "x=[1, 2.5]", "--output", "y"]);
    let value = |text: String| text.lines().find(|line| line.contains('[')).unwrap().to_owned();
    let (before, after) = (run(&model), run(written_text));
    assert_eq!(value(before.clone()), value(after));
    holds(&before, &["2.0", "3.5"]);
    // Without a name, all stays that nothing else uses.
    good(&["optimize", &model, "-o", written_text]);
    assert!(nodes(&written).contains(&"unused".to_owned()));
}

#[test]
fn what_a_session_makes_of_a_model_is_told() {
    let t = [("T", AttrValue::Type(DataType::Float))];
    let model = save(
        "swish.pb",
        &graph([
            node("x", "Placeholder", &[], &[("dtype", AttrValue::Type(DataType::Float))]),
            node("sigmoid", "Sigmoid", &["x"], &t),
            node("swish", "Mul", &["x", "sigmoid"], &t),
            node("y", "Neg", &["swish"], &t),
        ]),
    );
    let text = good(&["inspect", &model, "--optimized"]);
    holds(
        &text,
        &[
            "in a session that computes what nothing else uses: y\n",
            "rewrite: 1 change, 4 nodes before, 3 after\n  fuse-swish: 1 time\n",
            "fuse-element-wise: 1 change, 3 nodes before, 2 after\n2 nodes of 2 ops:\n       1  Placeholder\n",
            "1  _FusedElementWise\n",
        ],
    );
    // What is written is for TensorFlow, too.
    let out = folder("optimize").join("swish.pb");
    let text = good(&["optimize", &model, "-o", out.to_str().unwrap()]);
    assert!(!text.contains("fuse-swish"), "{text}");
    bad(&["inspect", &model, "--optimized", "--dot"], 2, &["cannot be used with"]);
}

#[test]
fn passes_are_left_out_by_name() {
    let (model, out) = (branchy("left_out.pb"), folder("optimize").join("left_out.pb"));
    let out_text = out.to_str().unwrap();
    let without = ["--without", "fold-branches,fold-constants", "--without", "elide-identities"];
    let text = good(&[&["optimize", &model, "-o", out_text, "--output", "y"], &without[..]].concat());
    assert!(!text.contains("fold-branches"), "{text}");
    assert_eq!(nodes(&out).len(), 9);
    bad(
        &["optimize", &model, "-o", out_text, "--without", "fold-branch"],
        2,
        &["--without", "`fold-branch`", "did you mean", "elide-identities"],
    );
    holds(
        &good(&["optimize", "--help"]),
        &["fold-branches", "elide-identities", "KERNLINK_WITHOUT", "One of this and --dot"],
    );
    for command in ["run", "bench", "inspect", "verify"] {
        holds(&good(&[command, "--help"]), &["KERNLINK_WITHOUT", "kernlink optimize --help"]);
    }
    // As the variable, it may end in a comma.
    let text = good(&["optimize", &model, "-o", out_text, "--output", "y", "--without", "fold-branches, prune,"]);
    assert!(!text.contains("fold-branches"), "{text}");
}

#[test]
fn mistakes_are_told() {
    let (model, out) = (sum("optimize.pb"), folder("optimize").join("mistakes.pb"));
    let out = out.to_str().unwrap();
    bad(&["optimize", &model], 2, &["--out"]);
    bad(&["optimize", &model, "-o", out, "--output", "scope/z"], 2, &["--output", "`scope/z`", "scope/y"]);
    bad(&["optimize", &model, "-o", out, "--input", "z"], 2, &["--input", "`z`"]);
    bad(&["optimize", &model, "-o", out, "--target", "z"], 2, &["--target", "`z`"]);
    bad(&["optimize", &model, "-o", out, "--signature", "s"], 2, &["--signature", "`s`", "none"]);
    bad(&["optimize", &model, "-o", out, "--tag", "serve"], 2, &["--tag is for SavedModels"]);
    bad(&["optimize", "nowhere.pb", "-o", out], 2, &["nowhere.pb", "NOT_FOUND"]);
    bad(&["optimize", &model, "-o", "/nowhere/out.pb"], 2, &["/nowhere/out.pb"]);
}

#[test]
fn a_signature_is_kept_and_a_real_model_gives_the_same() {
    let out = folder("optimize").join("tf2.pb");
    let model = path("tests/saved_model/data/tf2");
    let text = good(&["optimize", model.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    holds(&text, &["keeping signature serving_default: ", "functions: ", "before"]);
    assert!(!nodes(&out).is_empty());

    let out = folder("optimize").join("digits.pb");
    let (model, written) = (digits("digits.pb"), out.to_str().unwrap());
    good(&["optimize", &model, "-o", written]);
    assert!(nodes(&out).len() < read_graph(&model).unwrap().node.len());
    let input = format!("images=@{}", digits("images.npy"));
    let saved = |model: &str, name: &str| {
        let to = folder(name);
        good(&["run", model, "--input", &input, "--output", "probabilities", "--save", to.to_str().unwrap()]);
        kernlink::npy::read(to.join("probabilities.npy")).unwrap()
    };
    let (before, after) = (saved(&model, "digits_before"), saved(written, "digits_after"));
    assert_eq!(before.as_slice::<f32>().unwrap(), after.as_slice::<f32>().unwrap());
}

#[test]
fn who_asked_to_be_with_a_removed_node_asks_for_none_that_is_gone() {
    let float = AttrValue::Type(DataType::Float);
    let class = || ("_class", AttrValue::ListString(vec!["loc:@i".into()]));
    let model = save(
        "colocated.pb",
        &graph([
            node("x", "Placeholder", &[], &[("dtype", float.clone())]),
            node("i", "Identity", &["x"], &[("T", float.clone())]),
            node("a", "Neg", &["i"], &[("T", float.clone()), class()]),
            node("y", "Neg", &["a"], &[("T", float), class()]),
        ]),
    );
    let out = folder("optimize").join("colocated.pb");
    good(&["optimize", &model, "-o", out.to_str().unwrap(), "--output", "y"]);
    let written = read_graph(&out).unwrap();
    let names: Vec<&str> = written.node.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["x", "a", "y"]);
    let text = format!("{written:?}");
    assert!(!text.contains("loc:@i"), "{text}");
}

#[test]
fn a_graph_of_several_is_chosen_by_its_tags() {
    let out = folder("optimize").join("tags.pb");
    let (model, out) = (path("tests/saved_model/data/tf2"), out.to_str().unwrap());
    let model = model.to_str().unwrap();
    good(&["optimize", model, "-o", out, "--tag", "serve"]);
    let words = ["NOT_FOUND", "no graph with the tags [train]", "it has graphs with the tags [serve]"];
    bad(&["optimize", model, "-o", out, "--tag", "train"], 2, &words);
}

#[test]
fn a_constant_that_repeats_a_value_stays_as_short_as_it_is() {
    let mut def = graph([
        constant("c", Tensor::scalar(0.0f32)),
        node("y", "Neg", &["c"], &[("T", AttrValue::Type(DataType::Float))]),
    ]);
    let ones = TensorProto {
        dtype: DataType::Float.number(),
        tensor_shape: Some(shape_to_proto(&PartialShape::from_known([Some(1_000_000)]))),
        float_val: vec![2.5, 1.5],
        ..TensorProto::default()
    };
    let value = def.node[0].attr.get_mut("value").unwrap();
    value.value = Some(attr_value::Value::Tensor(ones.clone()));
    let (model, out) = (save("ones.pb", &def), folder("optimize").join("ones.pb"));
    good(&["optimize", &model, "-o", out.to_str().unwrap(), "--without", "fold-constants"]);
    let written = read_graph(&out).unwrap();
    assert_eq!(written.node[0].attr["value"].value, Some(attr_value::Value::Tensor(ones)));
    holds(&good(&["run", out.to_str().unwrap()]), &["y: float [1000000]", "[-2.5 -1.5 -1.5 ... -1.5 -1.5 -1.5]"]);
    let text = out.with_extension("pbtxt");
    good(&["optimize", &model, "-o", text.to_str().unwrap(), "--without", "fold-constants"]);
    assert_eq!(read_graph(&text).unwrap(), written);
}

#[test]
fn an_if_that_a_constant_decides_becomes_a_call() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let negates = ops::constant(&mut graph, false).unwrap();
    let negate = |g: &mut Graph| ops::neg(g, x).build();
    ops::cond(&mut graph, negates, negate, |g| ops::square(g, x).build()).name("y").build().unwrap();
    let (model, out) = (save("if.pb", &graph.to_def().unwrap()), folder("optimize").join("if.pb"));
    let written = out.to_str().unwrap();
    let text = good(&["optimize", &model, "-o", written, "--output", "y"]);
    holds(&text, &["fold-branches: 1 change, 3 nodes before, 2 after", "functions: 2 before, 1 after"]);
    let def = read_graph(&out).unwrap();
    assert_eq!(def.node.iter().map(|node| node.op.as_str()).collect::<Vec<_>>(), ["Placeholder", "PartitionedCall"]);
    for model in [&model, written] {
        holds(&good(&["run", model, "--input", "x=3", "--output", "y"]), &["y: float []\n  9.0"]);
    }
    let folded = ["optimize", &model, "-o", written, "--output", "y", "--without", "prune,fold-branches"];
    holds(&good(&folded), &["functions: 2 before, 2 after"]);
    assert_eq!(read_graph(&out).unwrap().node.len(), 3);
}

#[test]
fn files_are_written_whole_and_over_nothing_that_is_read() {
    let (model, to) = (branchy("files.pb"), folder("optimize").join("files"));
    let _ = std::fs::remove_dir_all(&to);
    std::fs::create_dir_all(&to).unwrap();
    let at = |name: &str| to.join(name).to_str().unwrap().to_owned();
    let before = std::fs::read(&model).unwrap();
    let (x, same) = (at("x"), at("./x"));
    bad(&["optimize", &model, "-o", &x, "--dot", &same], 2, &["--dot", "is the file of --out too"]);
    bad(&["optimize", &model, "-o", &x, "--dot", &model], 2, &["--dot", "is part of the model"]);
    bad(&["optimize", &model, "-o", &model], 2, &["--out", "is part of the model"]);
    bad(&["optimize", &model, "-o", "-"], 2, &["--out", "standard output has the report", "./-"]);
    bad(
        &["optimize", &model, "-o", &x, "--dot", "/nowhere/x.dot"],
        2,
        &["--dot", "/nowhere/x.dot: its folder does not exist"],
    );
    bad(&["optimize", &model, "-o", &x, "--dot", to.to_str().unwrap()], 2, &["--dot", "it is a folder"]);
    bad(&["optimize", &model, "-o", &at("new/")], 2, &["--out", "it ends as the name of a folder"]);
    bad(&["optimize", &model, "-o", "/dev/stdout"], 2, &["--out", "would be lost"]);
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0);
    assert_eq!(std::fs::read(&model).unwrap(), before);
    for name in ["saved_model.pb", "variables/variables.index"] {
        std::fs::create_dir_all(to.join("saved/variables")).unwrap();
        std::fs::copy(path("tests/saved_model/data/tf2").join(name), to.join("saved").join(name)).unwrap();
        let (saved, file) = (at("saved"), to.join("saved").join(name));
        bad(&["optimize", &saved, "-o", file.to_str().unwrap()], 2, &["--out", "is part of the model"]);
    }
    good(&["optimize", &at("saved"), "-o", &at("saved/new.pb")]);
    // A link is followed, and nothing is left beside the file.
    #[cfg(unix)]
    {
        std::fs::write(to.join("old"), "old").unwrap();
        std::os::unix::fs::symlink("old", to.join("link")).unwrap();
        good(&["optimize", &model, "-o", &at("link")]);
        assert_eq!(read_graph(to.join("old")).unwrap(), read_graph(to.join("link")).unwrap());
        assert!(to.join("link").is_symlink());
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 3);
        // Also one to what is not there yet.
        std::os::unix::fs::symlink("later", to.join("early")).unwrap();
        good(&["optimize", &model, "-o", &at("early")]);
        assert!(to.join("early").is_symlink() && to.join("later").is_file());
        std::os::unix::fs::symlink("loop", to.join("loop")).unwrap();
        bad(&["optimize", &model, "-o", &at("loop")], 2, &["--out", "leads back to itself"]);
        assert!(to.join("loop").is_symlink());
        // A file keeps its permissions, and one that may not be written stays as it is.
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |mode| std::fs::set_permissions(to.join("old"), std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        good(&["optimize", &model, "-o", &at("old"), "--without", "prune"]);
        assert_eq!(std::fs::metadata(to.join("old")).unwrap().permissions().mode() & 0o777, 0o640);
        mode(0o440);
        let old = std::fs::read(to.join("old")).unwrap();
        bad(&["optimize", &model, "-o", &at("old")], 2, &["cannot write", "old", "read-only"]);
        assert_eq!(std::fs::read(to.join("old")).unwrap(), old);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_written_before_an_error_is_told() {
    let (model, out) = (branchy("partly.pb"), folder("optimize").join("partly.pb"));
    let out = out.to_str().unwrap();
    bad(&["optimize", &model, "-o", out, "--dot", "/dev/full"], 2, &["the graph, ", out, "cannot write /dev/full"]);
    good(&["optimize", &model, "-o", "/dev/null"]);
    // Where nothing can be printed, that is an error like others.
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernlink"));
    let status = command.args(["inspect", &model]).stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
    let output = kernlink(&["optimize", "/dev/null", "-o", out]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "error: INVALID_ARGUMENT: cannot read /dev/null: it is no regular file\n");
}

#[test]
fn a_wrong_name_of_a_pass_is_told_once_whatever_is_asked_for() {
    let model = branchy("without.pb");
    let output = |without: &OsStr, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernlink"));
        command.args(args).env("KERNLINK_WITHOUT", without).output().unwrap()
    };
    let golden = path("tests/golden/data/unary.pb");
    let mut wrong = vec![OsStr::new("prune,fold-branch").to_owned()];
    #[cfg(unix)]
    wrong.push(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"fold-branch\xff").to_owned());
    for wrong in wrong {
        for args in [["inspect", &model], ["verify", golden.to_str().unwrap()], ["run", &model]] {
            let output = output(&wrong, &args);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
            assert!(output.stdout.is_empty());
            holds(
                &error,
                &["KERNLINK_WITHOUT: there is no pass or rewrite `fold-branch", "did you mean fold-branches"],
            );
        }
    }
    assert!(output(OsStr::new("fold-branches, prune,"), &["inspect", &model]).status.success());
    let long = "x".repeat(10_000);
    let error = kernlink(&["optimize", &model, "-o", "x.pb", "--without", &long]).stderr;
    // The names that there are, but not the long one.
    assert!(error.len() < 2000, "{} bytes", error.len());
}

#[test]
fn no_name_gives_orders_to_a_terminal() {
    let float = || AttrValue::Type(DataType::Float);
    let name = "y\u{1b}[31m\nz";
    let def = graph([
        node("x", "Placeholder", &[], &[("dtype", float())]),
        node(name, "Neg", &["x"], &[("T", float())]),
        node("unknown", "No\u{9b}Such", &[name], &[]),
    ]);
    let (unknown, illegal) = (save("unknown.pb", &def), save("illegal.pb", &graph(def.node[..2].to_vec())));
    let model = with_signature("orders.meta", graph(def.node[..1].to_vec()), name, &["x"], &["x"]);
    let out = folder("optimize").join("orders.pb");
    let out = out.to_str().unwrap();
    holds(&good(&["optimize", &model, "-o", out]), &["keeping signature y\\u{1b}[31m\\nz"]);
    holds(&good(&["inspect", &model]), &["signature y\\u{1b}[31m"]);
    bad(&["optimize", &illegal, "-o", out], 2, &["illegal name `y\\u{1b}[31m"]);
    let other = ["optimize", &model, "-o", out, "--signature", name];
    for args in [&["inspect", &*unknown][..], &["optimize", &unknown, "-o", out], &["run", &illegal], &other] {
        let output = kernlink(args);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

/// A MetaGraph in a file, with a signature of these inputs and outputs.
fn with_signature(file: &str, def: GraphDef, name: &str, inputs: &[&str], outputs: &[&str]) -> String {
    let info = |name: &&str| {
        let tensor_shape = Some(TensorShapeProto { unknown_rank: true, ..TensorShapeProto::default() });
        let encoding = Some(tensor_info::Encoding::Name(format!("{name}:0")));
        let info = TensorInfo { dtype: DataType::Float.number(), tensor_shape, encoding };
        ((*name).to_owned(), info)
    };
    let signature = SignatureDef {
        inputs: inputs.iter().map(info).collect(),
        outputs: outputs.iter().map(info).collect(),
        ..SignatureDef::default()
    };
    let signature_def = [(name.to_owned(), signature)].into_iter().collect();
    let meta = MetaGraphDef { graph_def: Some(def), signature_def, ..MetaGraphDef::default() };
    let file = folder("optimize").join(file);
    std::fs::write(&file, meta.encode_to_vec()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn of_a_signature_no_more_is_kept_than_it_needs() {
    let (out, float) = (folder("optimize"), || AttrValue::Type(DataType::Float));
    let handle = [("dtype", float()), ("shape", AttrValue::Shape(PartialShape::from_known([])))];
    let def = graph([
        node("x", "Placeholder", &[], &[("dtype", float())]),
        node("unused", "Placeholder", &[], &[("dtype", float())]),
        node("needed", "Placeholder", &[], &[("dtype", float())]),
        node("other", "Placeholder", &[], &[("dtype", float())]),
        node("v", "VarHandleOp", &[], &handle),
        node("value", "ReadVariableOp", &["v"], &[("dtype", float())]),
        node("sum", "AddV2", &["x", "value"], &[("T", float())]),
        node("y", "AddV2", &["sum", "needed"], &[("T", float())]),
        node("z", "Neg", &["other"], &[("T", float())]),
    ]);
    let model = with_signature("signature.meta", def.clone(), "serving_default", &["x", "unused"], &["y"]);
    let written = out.join("signature.pb");
    let args = ["optimize", &model, "-o", written.to_str().unwrap()];
    holds(&good(&args), &["signature serving_default: y", "the values of 1 variable are not in the graph"]);
    assert!(!good(&args).contains("restores them"), "the model has no saver");
    assert_eq!(nodes(&written), ["x", "unused", "needed", "v", "value", "sum", "y"]);
    good(&[&args[..], &["--output", "z"]].concat());
    assert_eq!(nodes(&written), ["other", "z"]);
    good(&["optimize", &save("placeholders.pb", &def), "-o", written.to_str().unwrap()]);
    assert_eq!(nodes(&written).len(), def.node.len());
}

#[test]
fn a_graph_with_variables_runs_where_a_program_restores_them() {
    let (model, out) = (path("tests/saved_model/data/tf2"), folder("optimize").join("restored.pb"));
    let (folder, file) = (model.to_str().unwrap(), out.to_str().unwrap());
    let optimize = ["optimize", folder, "-o", file, "--signature", "serving_default"];
    let alone = "it runs only in a session in which a program has given them, and not by `kernlink run`";
    holds(&good(&optimize), &["the values of 2 variables", alone, "--target StatefulPartitionedCall_2 keeps what"]);
    let x = "serving_default_x=[[1, 2, 3]]";
    let scaled = "StatefulPartitionedCall:1";
    bad(&["run", file, "--input", x, "--output", scaled], 2, &["factor"]);
    let text = good(&[&optimize[..], &["--target", "StatefulPartitionedCall_2"]].concat());
    holds(
        &text,
        &[alone, "StatefulPartitionedCall_2 restores them from the checkpoint whose name is fed to saver_filename:0"],
    );
    let graph = Graph::import(&read_graph(&out).unwrap(), &kernlink::registry().unwrap()).unwrap();
    let session = Session::new(graph).unwrap();
    let prefix = kernlink::dtype::TString::from(model.join("variables/variables").to_str().unwrap());
    session.run(&[("saver_filename", Tensor::scalar(prefix))], &[], &["StatefulPartitionedCall_2"]).unwrap();
    let x = Tensor::from_elements(Shape::from([1, 3]), &[1.0f32, 2.0, 3.0]).unwrap();
    let answers = session.run(&[("serving_default_x", x)], &[scaled], &[]).unwrap();
    assert_eq!(answers[0].as_slice::<f32>().unwrap(), [1.5, -4.0, 12.0]);
    // The saver of Keras restores other variables than those that the functions take.
    let keras = path("tests/saved_model/data/keras");
    let text = good(&["optimize", keras.to_str().unwrap(), "-o", file]);
    assert!(text.contains(alone) && !text.contains("restores them"), "{text}");
    let help = good(&["optimize", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    holds(&help, &["without the values of variables", "gives them values first, in the same session"]);
}

#[test]
fn of_missing_ops_those_are_told_that_are_kept() {
    let model = crate::models::with_missing_ops("optimize");
    let out = folder("optimize").join("missing.pb");
    let told = |signature: &str| {
        let output = kernlink(&["optimize", &model, "-o", out.to_str().unwrap(), "--signature", signature]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(told("plain"), "");
    holds(&told("called"), &["warning: kept as it is: op `WithinF`"]);
    assert!(!told("called").contains("Unknown1"), "{}", told("called"));
}
