//! Files of events: what the ops that write summaries write is what TensorFlow writes.
//!
//! `tests/summaries/generate.py` made the graph and TensorFlow's file.

use std::path::Path;

use crate::support::{constant, graph, node, path};
use kernlink::Code;
use kernlink::dtype::TString;
use kernlink::formats::masked_crc32c;
use kernlink::graph::Graph;
use kernlink::proto::{self, GraphDef};
use kernlink::runtime::Session;
use kernlink::tensor::Tensor;
use prost::Message;

const DATA: &str = "tests/summaries/data";

/// TensorFlow's `Event`; messages whose bytes must be equal are bytes here.
#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, tag = "3")]
    file_version: String,
    #[prost(message, optional, tag = "4")]
    graph_def: Option<GraphDef>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
    #[prost(bytes = "vec", tag = "10")]
    source_metadata: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    /// A float, of which the bits are compared.
    #[prost(fixed32, optional, tag = "2")]
    simple_value: Option<u32>,
    #[prost(message, optional, tag = "4")]
    image: Option<Image>,
    #[prost(bytes = "vec", tag = "5")]
    histogram: Vec<u8>,
    #[prost(bytes = "vec", tag = "6")]
    audio: Vec<u8>,
    #[prost(bytes = "vec", tag = "8")]
    tensor: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "9")]
    metadata: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Image {
    #[prost(int32, tag = "1")]
    height: i32,
    #[prost(int32, tag = "2")]
    width: i32,
    #[prost(int32, tag = "3")]
    colorspace: i32,
    /// A PNG file, or here its samples.
    #[prost(bytes = "vec", tag = "4")]
    encoded: Vec<u8>,
}

/// The events of a file, whose checksums must be right.
fn events(file: &Path) -> Vec<Event> {
    let bytes = std::fs::read(file).unwrap();
    let (mut rest, mut events) = (&bytes[..], Vec::new());
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        assert_eq!(number(&rest[8..12]), masked_crc32c(&rest[..8]));
        let record = &rest[12..12 + length];
        assert_eq!(number(&rest[12 + length..16 + length]), masked_crc32c(record));
        events.push(Event::decode(record).unwrap());
        rest = &rest[16 + length..];
    }
    events
}

/// The samples of a PNG file.
fn samples(file: &[u8]) -> Vec<u8> {
    let nodes = [constant("file", Tensor::scalar(TString::from(file))), node("png", "DecodePng", &["file"], &[])];
    let session = Session::new(Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap()).unwrap();
    session.run(&[], &["png:0"], &[]).unwrap()[0].as_slice::<u8>().unwrap().to_vec()
}

/// What must be equal of a file: no time, and samples of images.
fn compared(file: &Path) -> Vec<Event> {
    let mut events = events(file);
    for event in &mut events {
        // The one that was imported came with its time.
        let now = if event.wall_time == 1.5 { 1.5 } else { 0.0 };
        assert!(event.wall_time > 1.7e9 || now > 0.0, "{event:?}");
        event.wall_time = now;
        for value in event.summary.iter_mut().flat_map(|summary| &mut summary.value) {
            if let Some(image) = &mut value.image {
                image.encoded = samples(&image.encoded);
            }
        }
    }
    events
}

#[test]
fn summaries_are_written_as_tensorflow_writes_them() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("summaries");
    let _ = std::fs::remove_dir_all(&folder);
    let graph = proto::read_graph(path(DATA).join("graph.pb")).unwrap();
    let count = graph.node.iter().filter(|node| node.name.starts_with("event/") && !node.op.eq("Const")).count();
    let session = Session::new(Graph::import(&graph, &kernlink::registry().unwrap()).unwrap()).unwrap();
    let feed = [("logdir:0", Tensor::scalar(TString::from(folder.join("deep").to_str().unwrap())))];
    let run = |name: &str| session.run(&feed, &[], &[name]).unwrap_or_else(|error| panic!("{name}: {error}"));
    run("create");
    let file = std::fs::read_dir(folder.join("deep")).unwrap().next().unwrap().unwrap().path();
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("events.out.tfevents.") && name.ends_with(".kernlink"), "{name}");
    for k in 0..count {
        run(&format!("event/{k}"));
        // Three events may wait.
        assert_eq!(events(&file).len(), 1 + (k + 1) / 4 * 4);
    }
    // A second writer of the handle is none.
    run("create");
    run("flush");
    assert_eq!(std::fs::read_dir(folder.join("deep")).unwrap().count(), 1);
    run("close");
    let (found, expected) = (compared(&file), compared(&path(DATA).join("events")));
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "event {k}");
    }
    assert_eq!((found.len(), expected.len()), (count + 1, count + 1));
    let error = session.run(&feed, &[], &["flush"]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
}

#[test]
fn a_writer_closes_its_file_with_its_session() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("summaries_of_a_session");
    let _ = std::fs::remove_dir_all(&folder);
    let graph = proto::read_graph(path(DATA).join("graph.pb")).unwrap();
    let session = Session::new(Graph::import(&graph, &kernlink::registry().unwrap()).unwrap()).unwrap();
    let feed = [("logdir:0", Tensor::scalar(TString::from(folder.to_str().unwrap())))];
    session.run(&feed, &[], &["create"]).unwrap();
    session.run(&feed, &[], &["event/0"]).unwrap();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(events(&file).len(), 1);
    drop(session);
    assert_eq!(events(&file).len(), 2);
    // What is no folder, and what is no file's name.
    let session = Session::new(Graph::import(&graph, &kernlink::registry().unwrap()).unwrap()).unwrap();
    let feed = [("logdir:0", Tensor::scalar(TString::from(file.to_str().unwrap())))];
    assert_eq!(session.run(&feed, &[], &["create"]).unwrap_err().code(), Code::FailedPrecondition);
}
