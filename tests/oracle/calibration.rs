//! CalibrationStatisticsSaver, whose file is whole when its session ends.
//!
//! `calibration/runs.pb` holds what TensorFlow wrote; `calibration/generate.py` writes it and says how to read it.

use std::collections::HashMap;
use std::fs;

use kernlink::attr::AttrValue;
use kernlink::prelude::*;
use kernlink::proto::{self, GraphDef, NodeDef};

use crate::support;

const OP: &str = "CalibrationStatisticsSaver";

#[test]
fn files_of_statistics_are_those_of_tensorflow() {
    let graph = proto::read_graph(support::path("tests/calibration/runs.pb")).unwrap();
    let value = |node: &NodeDef| match proto::attr_from_proto(node.attr.get("value")?).unwrap() {
        AttrValue::Tensor(value) => Some((node.name.clone(), value)),
        _ => None,
    };
    let values: HashMap<String, Tensor> = graph.node.iter().filter_map(value).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("statistics");
    let names = graph.node.iter().filter_map(|node| node.name.strip_suffix("/op"));
    let mut count = 0;
    for name in names {
        let is_own = |node: &&NodeDef| node.name.starts_with(&format!("{name}/")) && node.op != "Const";
        let mut nodes: Vec<_> = graph.node.iter().filter(is_own).cloned().collect();
        for node in nodes.iter_mut().filter(|node| node.op == OP) {
            let file = AttrValue::String(path.to_str().unwrap().into());
            node.attr.insert("output_file_path".to_owned(), proto::attr_to_proto(&file).unwrap());
        }
        let def = GraphDef { node: nodes, ..graph.clone() };
        let session = Session::new(Graph::import(&def, &kernlink::registry().unwrap()).unwrap()).unwrap();
        let run = |number: usize| {
            let inputs = (0..).map_while(|input| values.get(&format!("{name}/run/{number}/{input}")).cloned());
            let feeds: Vec<_> = inputs.enumerate().map(|(input, value)| (format!("{name}/{input}"), value)).collect();
            let feeds: Vec<_> = feeds.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            session.run(&feeds, &[], &[&format!("{name}/op")])
        };
        if let Some(code) = values.get(&format!("{name}/error")) {
            let error = run(0).unwrap_err();
            assert_eq!(
                error.code().to_string(),
                code.to_scalar::<TString>().unwrap().to_string_lossy(),
                "{name}: {error}"
            );
            continue;
        }
        let runs = (0..).take_while(|run| values.contains_key(&format!("{name}/run/{run}/0"))).count();
        assert!(runs > 0, "{name}");
        (0..runs).for_each(|number| _ = run(number).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"", "{name}: it is not written before");
        drop(session);
        let expected = values[&format!("{name}/file")].to_scalar::<TString>().unwrap();
        assert_eq!(fs::read(&path).unwrap().as_slice(), expected.as_bytes(), "{name}");
        count += 1;
    }
    assert!(count > 50, "{count}");
}

/// Of which TensorFlow dies, or takes all memory.
#[test]
fn histograms_without_parts_or_with_too_many_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let attrs = [
        ("Tin", AttrValue::ListType(vec![DataType::Float, DataType::Float, DataType::Int64])),
        ("ids", AttrValue::ListString(vec!["x".into()])),
        ("calibration_methods", AttrValue::ListInt(vec![3])),
        ("output_file_path", AttrValue::String(folder.path().join("file").to_str().unwrap().into())),
    ];
    let placeholder = |name: &str, dtype| support::node(name, "Placeholder", &[], &[("dtype", AttrValue::Type(dtype))]);
    let nodes = [
        placeholder("a", DataType::Float),
        placeholder("b", DataType::Float),
        placeholder("c", DataType::Int64),
        support::node("op", OP, &["a", "b", "c"], &attrs),
    ];
    let graph = Graph::import(&support::graph(nodes), &kernlink::registry().unwrap()).unwrap();
    let session = Session::new(graph).unwrap();
    let run = |least: f32, greatest: f32, counts: &[i64]| {
        let feeds = [("a", least.into()), ("b", greatest.into()), ("c", Tensor::vector(counts).unwrap())];
        session.run(&feeds, &[], &["op"]).map(drop)
    };
    let refused = |result: Result<()>, code| assert_eq!(result.unwrap_err().code(), code);
    for (least, greatest) in [(1.0, 1.0), (5.0, 1.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (-3e38, 3e38)] {
        refused(run(least, greatest, &[1, 2]), Code::InvalidArgument);
    }
    run(0.0, 1.0, &[1, 2]).unwrap();
    refused(run(0.0, 1e30, &[1, 2]), Code::ResourceExhausted);
    refused(run(-1e30, 0.0, &[1, 2]), Code::ResourceExhausted);
    // Parts so narrow that adding their width to a number changes nothing.
    refused(run(1e6, 1_000_000.06, &vec![1; 1 << 20]), Code::InvalidArgument);
    run(0.5, 2.0, &[1, 2]).unwrap();
}
