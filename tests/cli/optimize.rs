//! `kernlink optimize`: what it writes runs as what it read.

use std::path::Path;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::read_graph;
use kernlink::tensor::Tensor;

use crate::command::{bad, digits, folder, good, holds, save, sum};
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
    let branches = "fold-branches: 1 change, 9 nodes before,";
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
fn passes_are_left_out_by_name() {
    let (model, out) = (branchy("left_out.pb"), folder("optimize").join("left_out.pb"));
    let out_text = out.to_str().unwrap();
    let without = ["--without", "fold-branches", "--without", "elide-identities"];
    let text = good(&[&["optimize", &model, "-o", out_text, "--output", "y"], &without[..]].concat());
    assert!(!text.contains("fold-branches"), "{text}");
    assert_eq!(nodes(&out).len(), 9);
    bad(
        &["optimize", &model, "-o", out_text, "--without", "fold-branch"],
        2,
        &["--without", "`fold-branch`", "did you mean", "elide-identities"],
    );
    holds(&good(&["optimize", "--help"]), &["fold-branches", "elide-identities", "KERNLINK_WITHOUT"]);
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
