//! `kernlink gradients`

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::read_graph;
use kernlink::runtime::Session;
use kernlink::tensor::Tensor;

use crate::command::{bad, digits, folder, good, holds, save};
use crate::support::{constant, graph, node};

const FLOAT: AttrValue = AttrValue::Type(DataType::Float);

/// `y = sum(x[indices]²)`, `z = -own(2x * w)`, of which `own` has no gradient, `hard`, which has none either, and an integer.
fn model(name: &str) -> String {
    let t = [("T", FLOAT)];
    let gather = [
        ("Tparams", FLOAT),
        ("Tindices", AttrValue::Type(DataType::Int32)),
        ("Taxis", AttrValue::Type(DataType::Int32)),
    ];
    let cast = [("SrcT", FLOAT), ("DstT", AttrValue::Type(DataType::Int32))];
    save(
        name,
        &graph([
            node("x", "Placeholder", &[], &[("dtype", FLOAT)]),
            node("w", "Placeholder", &[], &[("dtype", FLOAT)]),
            constant("indices", Tensor::vector(&[2i32, 0, 2]).unwrap()),
            constant("axis", Tensor::scalar(0i32)),
            node("rows", "GatherV2", &["x", "indices", "axis"], &gather),
            node("squares", "Square", &["rows"], &t),
            node("y", "Sum", &["squares", "axis"], &t),
            node("twice", "AddV2", &["x", "x"], &t),
            node("product", "Mul", &["twice", "w"], &t),
            node("own", "Identity", &["product"], &[("T", FLOAT), ("_gradient_op_type", "CustomGradient-7".into())]),
            node("z", "Neg", &["own"], &t),
            node("hard", "Mod", &["x", "x"], &t),
            node("unused", "Placeholder", &[], &[("dtype", FLOAT)]),
            node("whole", "Cast", &["x"], &cast),
        ]),
    )
}

#[test]
fn gradients_are_added_by_name() {
    let (model, out) = (model("gradients.pb"), folder("gradients").join("out.pb"));
    let out = out.to_str().unwrap();
    let text = good(&["gradients", &model, "--y", "y:0", "--x", "x:0", "--x", "unused", "--x", "squares", "-o", out]);
    holds(&text, &["gradients.pb: 14 nodes, ", " added\ngradients of y\n", "of rows that were gathered"]);
    holds(&text, &["0  with respect to x        gradients/0  float", "1  with respect to unused   —", "gradients/2"]);
    // A program that makes them itself needs what they are made of.
    holds(&good(&["select", out]), &["\nFill CPU T=float ", "\nUnsortedSegmentSum CPU "]);
    let run = good(&["run", out, "--input", "x=[1, 2, 3]", "--output", "gradients/0", "--output", "gradients/2"]);
    holds(&run, &["2.0 0.0 12.0", "1.0 1.0 1.0"]);

    // What flows back, and constants.
    let args = ["gradients", &model, "--y", "product", "--grad-y", "w", "--x", "x", "--stop", "rows", "-o", out];
    holds(&good(&args), &["gradients of product\n"]);
    let run = good(&["run", out, "--input", "x=[1]", "--input", "w=[3]", "--output", "gradients/0"]);
    holds(&run, &["18.0"]);
    // Once more, of what was written.
    let twice = folder("gradients").join("twice.pbtxt");
    let twice = twice.to_str().unwrap();
    let text = good(&["gradients", out, "--y", "gradients/0", "--x", "w", "-o", twice]);
    holds(&text, &["gradients_1/0"]);
    let run = good(&["run", twice, "--input", "x=[1]", "--input", "w=[3]", "--output", "gradients_1/0"]);
    holds(&run, &["12.0"]);
}

/// A name that no column is as wide as, and a loop of a form that no function can have, beside what is differentiated and on the way.
#[test]
fn long_names_and_other_loops_are_no_obstacle() {
    let (t, long) = ([("T", FLOAT)], "x".repeat(70_000));
    let model = save(
        "long.pb",
        &graph([
            node(&long, "Placeholder", &[], &[("dtype", FLOAT)]),
            node("y", "Square", &[&long], &t),
            node("enter", "Enter", &[&long], &[("T", FLOAT), ("frame_name", "other".into())]),
            node("left", "Exit", &["enter"], &t),
        ]),
    );
    let out = folder("gradients").join("long.pb");
    let out = out.to_str().unwrap();
    let text = good(&["gradients", &model, "--y", "y", "--x", &long, "-o", out]);
    holds(&text, &["gradients of y\n", "xxx  gradients/0  float"]);
    let words = ["UNIMPLEMENTED", "loop `other`", "it has not one `LoopCond`"];
    bad(&["gradients", &model, "--y", "left", "--x", &long, "-o", out], 2, &words);
}

/// The whole of a network, with respect to the images that it reads.
#[test]
fn gradients_of_a_network_are_those_of_differences() {
    let out = folder("gradients").join("digits.pb");
    let out = out.to_str().unwrap();
    let scores = "digits/dense2/BiasAdd";
    let text = good(&["gradients", &digits("digits.pb"), "--y", scores, "--x", "images", "-o", out]);
    holds(&text, &["gradients/0", "float [?,8,8,1]"]);
    let graph = Graph::import(&read_graph(out).unwrap(), &kernlink::registry().unwrap()).unwrap();
    let session = Session::new(graph).unwrap();
    let images = kernlink::npy::read(digits("images.npy")).unwrap();
    let (shape, images) = (images.shape().clone(), images.as_slice::<f32>().unwrap().to_vec());
    let run = |images: &[f32], fetch: &str| {
        let images = Tensor::from_elements(&shape, images).unwrap();
        let found = session.run(&[("images", images)], &[fetch], &[]).unwrap().remove(0);
        found.as_slice::<f32>().unwrap().to_vec()
    };
    let gradient = run(&images, "gradients/0");
    assert_eq!(gradient.len(), images.len());
    // Along the gradient, the sum of all scores changes most.
    let step = 1e-3f32;
    let sum = |step: f32| {
        let moved: Vec<f32> = images.iter().zip(&gradient).map(|(pixel, slope)| pixel + step * slope).collect();
        run(&moved, scores).into_iter().map(f64::from).sum::<f64>()
    };
    let differences = (sum(step) - sum(-step)) / f64::from(2.0 * step);
    let slope: f64 = gradient.iter().map(|&slope| f64::from(slope).powi(2)).sum();
    assert!(slope > 100.0 && (slope - differences).abs() < 0.02 * slope, "{slope}, {differences}");
}

#[test]
fn mistakes_are_named() {
    let (model, out) = (model("gradients-mistakes.pb"), folder("gradients").join("none.pb"));
    let out = out.to_str().unwrap();
    let with = |y: &str, x: &str, code: i32, words: &[&str]| {
        bad(&["gradients", &model, "--y", y, "--x", x, "-o", out], code, words);
        assert!(!std::path::Path::new(out).exists());
    };
    with("yy", "x", 2, &["NOT_FOUND", "--y", "did you mean y?"]);
    with("y", "ex", 2, &["NOT_FOUND", "--x", "`ex`"]);
    with("y:1", "x", 2, &["--y", "`y` has only output 0"]);
    with("whole", "x", 2, &["INVALID_ARGUMENT", "`whole` is int32", "logits"]);
    with("y", "indices", 2, &["INVALID_ARGUMENT", "--x", "`indices` is int32"]);
    with("y", "w", 2, &["INVALID_ARGUMENT", "y depends on none of w", "nothing is written"]);
    let advice = "name an output on the way with --stop";
    with("z", "x", 2, &["NOT_FOUND", "CustomGradient-7", advice, "`z` (Neg) ← `own` (Identity)"]);
    with("hard", "x", 2, &["NOT_FOUND", "op Mod has no registered gradient", advice, "`hard` (Mod)"]);
    bad(&["gradients", &model, "--y", "y", "-o", out], 2, &["--x"]);
    bad(&["gradients", &model, "--y", "y", "--x", "x", "-o", &model], 2, &["--out"]);
    let folder = folder("gradients");
    bad(
        &["gradients", folder.to_str().unwrap(), "--y", "y", "--x", "x", "-o", out],
        2,
        &["INVALID_ARGUMENT", "is a folder", ".pb or .pbtxt"],
    );
}
