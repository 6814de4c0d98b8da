//! Generators that live in a session: the second and later runs, several sessions, several threads.
//!
//! `random/runs.pb` holds what TensorFlow drew in each run; `random/generate.py` writes it and says how to read it. First
//! runs are among the golden cases.

use std::collections::HashSet;

use kernlink::attr::AttrValue;
use kernlink::prelude::*;
use kernlink::proto::{self, GraphDef};

use crate::support;

/// What run `k` feeds to `length`.
const LENGTHS: [i32; 6] = [5, 1, 0, 17, 4, 4];

struct Runs {
    graph: GraphDef,
    /// The nodes under test, in the order of the file.
    names: Vec<String>,
    /// What was drawn.
    drawn: Vec<(String, Tensor)>,
}

fn runs() -> Runs {
    let mut graph = proto::read_graph(support::path("tests/random/runs.pb")).unwrap();
    let (drawn, nodes): (Vec<_>, Vec<_>) = graph.node.into_iter().partition(|node| node.name.contains("/run/"));
    let value = |node: proto::NodeDef| {
        let Some(AttrValue::Tensor(value)) = node.attr.get("value").map(|value| proto::attr_from_proto(value).unwrap())
        else {
            panic!("{} is no Const", node.name)
        };
        (node.name, value)
    };
    let names = nodes.iter().filter_map(|node| node.name.strip_suffix("/op").map(str::to_owned)).collect();
    graph.node = nodes;
    Runs { graph, names, drawn: drawn.into_iter().map(value).collect() }
}

impl Runs {
    fn session(&self, threads: usize) -> Session {
        let graph = Graph::import(&self.graph, &kernlink::registry().unwrap()).unwrap();
        Session::with_options(graph, &SessionOptions::new().threads(threads)).unwrap()
    }

    /// Makes run `k` and compares all that it gives.
    fn check(&self, session: &Session, k: usize) -> usize {
        let expected = |name: &str| {
            let wanted = format!("{name}/run/{k}");
            self.drawn.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value)
        };
        let names = self.names.iter().filter(|name| expected(name).is_some()).collect::<Vec<_>>();
        let fetches = names.iter().map(|name| format!("{name}/op")).collect::<Vec<_>>();
        let fetches = fetches.iter().map(String::as_str).collect::<Vec<_>>();
        let answers = session.run(&[("length", Tensor::vector(&[LENGTHS[k]]).unwrap())], &fetches, &[]).unwrap();
        for (name, answer) in names.iter().zip(&answers) {
            let expected = expected(name).unwrap();
            if answer.num_elements() > 100 {
                let ends = |width: usize| {
                    let bytes = answer.bytes().unwrap();
                    [&bytes[..20 * width], &bytes[bytes.len() - 20 * width..]].concat()
                };
                assert_eq!(ends(answer.dtype().size()), expected.bytes().unwrap(), "{name}, run {k}");
            } else if answer.dtype() == DataType::Double {
                // These come from the platform's functions.
                let pairs = answer.as_slice::<f64>().unwrap().iter().zip(expected.as_slice::<f64>().unwrap());
                pairs.for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * b.abs(), "{name}, run {k}: {a} and {b}"));
                assert_eq!(answer.shape(), expected.shape(), "{name}, run {k}");
            } else {
                assert_eq!(answer.values_text(), expected.values_text(), "{name}, run {k}");
                assert_eq!(answer.shape(), expected.shape(), "{name}, run {k}");
            }
        }
        answers.len()
    }
}

#[test]
fn every_run_of_a_session_is_tensorflows() {
    let runs = runs();
    for threads in [1, 4] {
        let session = runs.session(threads);
        let compared = (0..LENGTHS.len()).map(|k| runs.check(&session, k)).sum::<usize>();
        assert_eq!(compared, runs.drawn.len());
        assert!(compared > 200, "{compared}");
    }
}

#[test]
fn sessions_do_not_share_generators() {
    let runs = runs();
    let (first, second) = (runs.session(1), runs.session(1));
    runs.check(&first, 0);
    runs.check(&second, 0);
    runs.check(&first, 1);
    runs.check(&second, 1);
}

fn uniform(seed: i64, count: i32) -> Session {
    let graph = support::graph([
        support::constant("shape", Tensor::vector(&[count]).unwrap()),
        support::node(
            "x",
            "RandomUniform",
            &["shape"],
            &[
                ("T", AttrValue::Type(DataType::Int32)),
                ("dtype", AttrValue::Type(DataType::Float)),
                ("seed", AttrValue::Int(seed)),
            ],
        ),
    ]);
    Session::new(Graph::import(&graph, &kernlink::registry().unwrap()).unwrap()).unwrap()
}

fn bits(session: &Session) -> Vec<u32> {
    let answers = session.run(&[], &["x"], &[]).unwrap();
    answers[0].as_slice::<f32>().unwrap().iter().map(|number| number.to_bits()).collect()
}

#[test]
fn without_a_seed_no_session_is_like_another() {
    let (first, second) = (uniform(0, 8), uniform(0, 8));
    let drawn = [bits(&first), bits(&first), bits(&second), bits(&second)];
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 4);
    assert_eq!(bits(&uniform(1, 8)), bits(&uniform(1, 8)));
}

#[test]
fn threads_on_one_session_never_draw_the_same() {
    let session = uniform(5, 4);
    let expected = {
        let alone = uniform(5, 4);
        (0..400).map(|_| bits(&alone)).collect::<HashSet<_>>()
    };
    assert_eq!(expected.len(), 400);
    let drawn = std::thread::scope(|scope| {
        let threads = (0..4).map(|_| scope.spawn(|| (0..100).map(|_| bits(&session)).collect::<Vec<_>>()));
        let threads = threads.collect::<Vec<_>>();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<HashSet<_>>()
    });
    assert_eq!(drawn, expected);
}

/// TensorFlow runs RandomPoisson in graphs of before version 25 alone.
#[test]
fn the_old_poisson_is_the_new_one_in_the_rates_dtype() {
    let mut graph = support::graph([
        support::constant("shape", Tensor::vector(&[6i32]).unwrap()),
        support::constant("rate", Tensor::vector(&[0.5f32, 30.0]).unwrap()),
        support::node(
            "old",
            "RandomPoisson",
            &["shape", "rate"],
            &[
                ("S", AttrValue::Type(DataType::Int32)),
                ("dtype", AttrValue::Type(DataType::Float)),
                ("seed", AttrValue::Int(3)),
            ],
        ),
        support::node(
            "new",
            "RandomPoissonV2",
            &["shape", "rate"],
            &[
                ("S", AttrValue::Type(DataType::Int32)),
                ("R", AttrValue::Type(DataType::Float)),
                ("dtype", AttrValue::Type(DataType::Float)),
                ("seed", AttrValue::Int(3)),
            ],
        ),
    ]);
    graph.versions = Some(proto::VersionDef { producer: 24, ..proto::VersionDef::default() });
    let graph = Graph::import(&graph, &kernlink::registry().unwrap()).unwrap();
    let session = Session::new(graph).unwrap();
    for _ in 0..2 {
        let answers = session.run(&[], &["old", "new"], &[]).unwrap();
        assert_eq!(answers[0].as_slice::<f32>().unwrap(), answers[1].as_slice::<f32>().unwrap());
    }
}

/// What TensorFlow never ends with.
#[test]
fn hopeless_parameters_are_errors() {
    let run = |op: &str, inputs: &[(&str, Tensor)], attrs: &[(&str, AttrValue)]| {
        let names = inputs.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let constants = inputs.iter().map(|(name, value)| support::constant(name, value.clone()));
        let graph = support::graph(constants.chain([support::node("x", op, &names, attrs)]));
        let graph = Graph::import(&graph, &kernlink::registry().unwrap()).unwrap();
        Session::new(graph).unwrap().run(&[], &["x"], &[]).map(|_| ()).unwrap_err()
    };
    let int32 = || AttrValue::Type(DataType::Int32);
    let shape = || ("shape", Tensor::vector(&[3i32]).unwrap());
    for (rate, dtype) in [(f64::NAN, DataType::Double), (1e300, DataType::Int64), (1e6, DataType::Half)] {
        let attrs = [("S", int32()), ("R", AttrValue::Type(DataType::Double)), ("dtype", AttrValue::Type(dtype))];
        let error = run("RandomPoissonV2", &[shape(), ("rate", Tensor::scalar(rate))], &attrs);
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
    let inputs = [
        shape(),
        ("seed", Tensor::vector(&[1i32, 2]).unwrap()),
        ("counts", Tensor::scalar(f64::NAN)),
        ("probs", Tensor::scalar(0.5f64)),
    ];
    let error = run("StatelessRandomBinomial", &inputs, &[("S", int32()), ("Tseed", int32())]);
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    let inputs = [
        ("index", Tensor::scalar(1i32)),
        ("seed", Tensor::vector(&[1i32, 2, 3]).unwrap()),
        ("max", Tensor::scalar(9i32)),
    ];
    let attrs = [("rounds", AttrValue::Int(5)), ("dtype", int32()), ("Tseed", int32())];
    assert_eq!(run("RandomIndexShuffle", &inputs, &attrs).code(), Code::InvalidArgument);
}
