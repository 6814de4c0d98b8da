//! A MetaGraph trained from the command line.

use kernlink::proto::{attr_value, read_graph, tensor_from_proto};

use crate::command::{bad, digits, folder, good, holds};
use crate::support::path;

const X: &str = "x=[[1, 2], [3, -1], [0.5, 0.5]]";

fn model(file: &str) -> String {
    path("tests/saved_model/data").join(file).to_str().expect("UTF-8").to_owned()
}

/// A prefix in a folder of this test's own.
fn prefix(name: &str) -> String {
    folder("training").join(name).to_str().expect("UTF-8").to_owned()
}

fn loss(checkpoint: &str) -> f32 {
    let run = ["run", &model("meta/model.meta"), "--checkpoint", checkpoint, "--input", X, "--output", "loss"];
    let text = good(&run);
    text.lines().nth(1).and_then(|line| line.trim().parse().ok()).unwrap_or_else(|| panic!("no loss in {text}"))
}

fn variables(checkpoint: &str) -> String {
    good(&["checkpoint", checkpoint, "--tensor", "w", "--tensor", "global_step"])
}

#[test]
fn steps_change_the_variables_that_are_saved() {
    let (graph, start) = (model("meta/model.meta"), model("meta/model"));
    let train = |from: &str, steps: &str, to: &str| {
        let run = ["run", &graph, "--checkpoint", from, "--input", X, "--target", "train", "--output", "loss"];
        good(&[&run[..], &["--steps", steps, "--save-checkpoint", to]].concat())
    };
    let (once, twice, at_once) = (prefix("once"), prefix("twice"), prefix("at_once"));
    holds(&train(&start, "1", &once), &["loss: float []", "the variables are in", &once]);
    train(&once, "1", &twice);
    holds(&train(&start, "2", &at_once), &["ran 2 times in"]);
    assert!(loss(&start) > loss(&once) && loss(&once) > loss(&twice), "{} {}", loss(&start), loss(&once));
    holds(&variables(&start), &["global_step: int64 []\n  1\n"]);
    holds(&variables(&twice), &["global_step: int64 []\n  3\n"]);
    assert_eq!(variables(&twice), variables(&at_once));

    // The graph's own saver, which saves nothing unless it is named.
    let own = prefix("own");
    let name = format!("save/Const=\"{own}\"");
    good(&["run", &graph, "--checkpoint", &once, "--input", &name, "--target", "save/control_dependency"]);
    assert_eq!(variables(&own), variables(&once));
    // And its initialiser.
    let new = prefix("new");
    good(&["run", &graph, "--target", "init", "--save-checkpoint", &new]);
    holds(&variables(&new), &["global_step: int64 []\n  0\n", "[[0.5], [-1.0]]"]);
}

#[test]
fn a_saved_model_is_trained_and_kept() {
    let model = model("keras");
    let answers = read_graph(path("tests/saved_model/data/answers.pb")).unwrap();
    let answer = |name: &str| {
        let node = answers.node.iter().find(|node| node.name == name).unwrap();
        match node.attr["value"].value.as_ref().unwrap() {
            attr_value::Value::Tensor(tensor) => tensor_from_proto(tensor).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let to = folder("keras");
    let x = to.join("x.npy");
    kernlink::npy::write(&x, &answer("keras/x")).unwrap();
    let x = format!("x=@{}", x.display());
    let run = |more: &[&str]| good(&[&["run", &model, "--input", &x], more].concat());
    let kept = prefix("keras");
    let train = ["--signature", "train", "--steps", "3", "--save-checkpoint", &kept];
    holds(&run(&train), &["steps: int64 []\n  4\n", "ran 3 times", &kept]);
    // As TensorFlow's own training goes, in three steps or in one and two more.
    let predicts = |more: &[&str]| {
        run(&[&["--output", "y", "--save", to.to_str().unwrap()], more].concat());
        kernlink::npy::read(to.join("y.npy")).unwrap()
    };
    let close = Some((1e-5, 1e-6));
    kernlink::golden::compare(&predicts(&[]), &answer("keras/y"), close).unwrap();
    kernlink::golden::compare(&predicts(&["--checkpoint", &kept]), &answer("keras/trained"), close).unwrap();
    let (once, thrice) = (prefix("keras-once"), prefix("keras-thrice"));
    run(&["--signature", "train", "--save-checkpoint", &once]);
    run(&["--signature", "train", "--checkpoint", &once, "--steps", "2", "--save-checkpoint", &thrice]);
    kernlink::golden::compare(&predicts(&["--checkpoint", &thrice]), &answer("keras/trained"), close).unwrap();
    // The names are those that TensorFlow looks for.
    let names = |checkpoint: &str| {
        let list = good(&["checkpoint", checkpoint]);
        list.lines().map(|line| line.split(" (").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&kept), names(&format!("{model}/variables/variables")));
    assert!(names(&kept).iter().any(|name| name.starts_with("_CHECKPOINTABLE_OBJECT_GRAPH")));
}

/// A file may have no bytes here, as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_that_cannot_be_written_leaves_nothing() {
    let to = folder("full");
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    let kept = to.join("kept");
    let run = [env!("CARGO_BIN_EXE_kernlink"), "run", &model("tf2"), "--signature", "words", "--save-checkpoint"];
    let mut command = std::process::Command::new("bash");
    let output = command.args(["-c", script, "bash"]).args(run).arg(kept).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("--save-checkpoint") && error.contains("File too large"), "{error}");
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0, "{error}");
}

#[test]
fn mistakes_are_told() {
    let (graph, start) = (model("meta/model.meta"), model("meta/model"));
    let run = ["run", &graph, "--checkpoint", &start, "--input", X];
    let fails = |more: &[&str], words: &[&str]| bad(&[&run[..], more].concat(), 2, words);
    fails(&["--output", "train"], &["`train` (op NoOp) has no outputs: run it with --target train"]);
    fails(&["--target", "trian"], &["--target: the graph has no node `trian`; did you mean train?"]);
    fails(&["--target", "train", "--steps", "0"], &["--steps"]);
    fails(&["--target", "train", "--signature", "f"], &["--target is for nodes of the graph", "`f`"]);
    let to = folder("training");
    let to = to.to_str().expect("UTF-8");
    fails(&["--target", "train", "--save-checkpoint", to], &["INVALID_ARGUMENT", "it is a folder", "`.index`"]);
    bad(&["run", &digits("digits.pb"), "--save-checkpoint", "x"], 2, &["only SavedModels and MetaGraphs (.meta) can"]);
    bad(&["run", &graph, "--input", X, "--target", "train"], 2, &["get their values by --checkpoint PREFIX"]);
    let deadline = ["--target", "train", "--steps", "1000000000", "--timeout", "0.5"];
    fails(&deadline, &["DEADLINE_EXCEEDED"]);
}
