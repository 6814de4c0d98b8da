//! Skipgram and NegTrain, which graphs of versions before 19 may hold, in several runs of a session.
//!
//! `words/runs.pb` holds what TensorFlow computed; `words/generate.py` writes it and says how to read it.

use std::collections::HashMap;
use std::fs;

use kernlink::attr::AttrValue;
use kernlink::prelude::*;
use kernlink::proto::{self, GraphDef, NodeDef};

use crate::support;

struct Runs {
    graph: GraphDef,
    values: HashMap<String, Tensor>,
}

impl Runs {
    fn read() -> Runs {
        let graph = proto::read_graph(support::path("tests/words/runs.pb")).unwrap();
        let value = |node: &NodeDef| match proto::attr_from_proto(node.attr.get("value")?).unwrap() {
            AttrValue::Tensor(value) => Some((node.name.clone(), value)),
            _ => None,
        };
        let values = graph.node.iter().filter_map(value).collect();
        Runs { graph, values }
    }

    /// The nodes of `op` under test.
    fn names(&self, op: &str) -> Vec<String> {
        let nodes = self.graph.node.iter().filter(|node| node.op == op);
        let names: Vec<_> = nodes.filter_map(|node| node.name.strip_suffix("/op").map(str::to_owned)).collect();
        assert!(names.len() > 10, "{names:?}");
        names
    }

    fn session(&self, nodes: Vec<NodeDef>) -> Result<Session> {
        let def = GraphDef { node: nodes, ..self.graph.clone() };
        Session::new(Graph::import(&def, &kernlink::registry()?)?)
    }

    fn error(&self, name: &str) -> Option<String> {
        let code = self.values.get(&format!("{name}/error"))?;
        Some(code.to_scalar::<TString>().unwrap().to_string_lossy().into_owned())
    }

    fn expected(&self, name: &str, run: usize, index: usize) -> Option<&Tensor> {
        self.values.get(&format!("{name}/run/{run}/{index}"))
    }
}

/// The words of a text that are as frequent as each other have their ids in any order.
fn words(answer: &[&Tensor], ids: &Tensor) -> Vec<TString> {
    let words = answer[0].as_slice::<TString>().unwrap();
    ids.as_slice::<i32>().unwrap().iter().map(|&id| words[id as usize].clone()).collect()
}

fn vocabulary(answer: &[&Tensor]) -> Vec<(i32, TString)> {
    let (words, counts) = (answer[0].as_slice::<TString>().unwrap(), answer[1].as_slice::<i32>().unwrap());
    let mut vocabulary: Vec<_> = counts.iter().copied().zip(words.iter().cloned()).collect();
    assert_eq!(&*vocabulary[0].1, b"UNK");
    assert!(vocabulary[1..].is_sorted_by(|a, b| a.0 >= b.0), "{vocabulary:?}");
    vocabulary.sort();
    vocabulary
}

#[test]
fn pairs_of_words_are_those_of_tensorflow() {
    let runs = Runs::read();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    for name in runs.names("Skipgram") {
        let text = runs.values[&format!("{name}/text")].to_scalar::<TString>().unwrap();
        fs::write(&path, text.as_bytes()).unwrap();
        let mut node = runs.graph.node.iter().find(|node| node.name == format!("{name}/op")).unwrap().clone();
        let file = AttrValue::String(path.to_str().unwrap().into());
        node.attr.insert("filename".to_owned(), proto::attr_to_proto(&file).unwrap());
        let fetches: Vec<_> = (0..7).map(|k| format!("{name}/op:{k}")).collect();
        let fetches: Vec<_> = fetches.iter().map(String::as_str).collect();
        let session = runs.session(vec![node]).unwrap();
        if let Some(code) = runs.error(&name) {
            let error = session.run(&[], &fetches, &[]).unwrap_err();
            assert_eq!(error.code().to_string(), code, "{name}: {error}");
            continue;
        }
        let mut run = 0;
        while runs.expected(&name, run, 0).is_some() {
            let answer = session.run(&[], &fetches, &[]).unwrap();
            let answer: Vec<_> = answer.iter().collect();
            let expected: Vec<_> = (0..7).map(|k| runs.expected(&name, run, k).unwrap()).collect();
            assert_eq!(vocabulary(&answer), vocabulary(&expected), "{name}");
            for k in 2..5 {
                assert_eq!(answer[k].bytes().unwrap(), expected[k].bytes().unwrap(), "{name}, run {run}, output {k}");
            }
            for k in 5..7 {
                assert_eq!(words(&answer, answer[k]), words(&expected, expected[k]), "{name}, run {run}, output {k}");
            }
            run += 1;
        }
        assert!(run > 1, "{name}");
    }
}

#[test]
fn vectors_of_words_are_those_of_tensorflow() {
    let runs = Runs::read();
    for name in runs.names("NegTrain") {
        let is_own = |node: &&NodeDef| node.name.starts_with(&format!("{name}/")) && !node.name.contains("/run/");
        let session = runs.session(runs.graph.node.iter().filter(is_own).cloned().collect()).unwrap();
        session.run(&[], &[], &[&format!("{name}/assign")]).unwrap();
        let op = format!("{name}/op");
        if let Some(code) = runs.error(&name) {
            let error = session.run(&[], &[], &[&op]).unwrap_err();
            assert_eq!(error.code().to_string(), code, "{name}: {error}");
            continue;
        }
        let mut run = 0;
        while let Some(inner) = runs.expected(&name, run, 0) {
            session.run(&[], &[], &[&op]).unwrap();
            let answers = session.run(&[], &[&format!("{name}/w_in"), &format!("{name}/w_out")], &[]).unwrap();
            for (answer, expected) in answers.iter().zip([inner, runs.expected(&name, run, 1).unwrap()]) {
                assert_eq!(answer.shape(), expected.shape(), "{name}");
                let pairs = answer.as_slice::<f32>().unwrap().iter().zip(expected.as_slice::<f32>().unwrap());
                for (answer, expected) in pairs {
                    let is_same = answer == expected || answer.is_nan() && expected.is_nan();
                    assert!(is_same, "{name}, run {run}: {answer} is not {expected}");
                }
            }
            run += 1;
        }
        assert!(run > 0, "{name}");
    }
}
