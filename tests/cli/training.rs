//! A MetaGraph trained from the command line.

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
    bad(&["run", &digits("digits.pb"), "--save-checkpoint", "x"], 2, &["only MetaGraphs (.meta)"]);
    bad(&["run", &graph, "--input", X, "--target", "train"], 2, &["get their values by --checkpoint PREFIX"]);
    let deadline = ["--target", "train", "--steps", "1000000000", "--timeout", "0.5"];
    fails(&deadline, &["DEADLINE_EXCEEDED"]);
}
