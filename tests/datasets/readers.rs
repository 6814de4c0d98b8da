//! Readers that several runs use, and that wait for the names of files. `generate.py` writes the graph.

use std::sync::Arc;
use std::time::Duration;

use kernlink::Code;
use kernlink::dtype::TString;
use kernlink::prelude::*;
use kernlink::proto::{GraphDef, Message};
use kernlink::resource::ResourceManager;
use kernlink::runtime::RunOptions;
use kernlink::step::Cancellation;

const READERS: &[u8] = include_bytes!("data/readers.pb");

fn session(resources: &Arc<ResourceManager>, threads: usize) -> Session {
    let def = GraphDef::decode(READERS).expect("the file is a GraphDef");
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    Session::with_options(graph, &SessionOptions::new().threads(threads).resources(resources.clone())).unwrap()
}

fn enqueue(session: &Session, path: &std::path::Path) {
    session.run(&[("name", Tensor::scalar(TString::from(path.to_str().unwrap())))], &[], &["enqueue"]).unwrap();
}

/// The value of the next record of a reader.
fn read(session: &Session, node: &str) -> Result<String> {
    let options = RunOptions::new().timeout(Duration::from_secs(20));
    let value = session.run_with(&[], &[&format!("{node}:1")], &[], &options)?;
    Ok(value[0].to_scalar::<TString>()?.to_string_lossy().into_owned())
}

fn count(session: &Session) -> i64 {
    session.run(&[], &["count"], &[]).unwrap()[0].to_scalar().unwrap()
}

#[test]
fn who_waits_for_a_name_holds_no_thread_and_ends_with_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    std::fs::write(&path, "a\nb\nc\n").unwrap();
    for threads in [1, 2] {
        let session = session(&Arc::default(), threads);
        std::thread::scope(|scope| {
            // One waits for the queue, the others for it: none holds a thread that the enqueuing needs.
            let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| read(&session, "line").unwrap())).collect();
            std::thread::sleep(Duration::from_millis(20));
            enqueue(&session, &path);
            let mut lines: Vec<String> = waiting.into_iter().map(|waits| waits.join().unwrap()).collect();
            lines.sort();
            assert_eq!(lines, ["a", "b", "c"]);
        });
        assert_eq!(count(&session), 3);

        let options = RunOptions::new().timeout(Duration::from_millis(30));
        let error = session.run_with(&[], &["line"], &[], &options).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
        let cancellation = Cancellation::new();
        let options = RunOptions::new().cancellation(&cancellation);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| session.run_with(&[], &["line"], &[], &options).map(drop).unwrap_err());
            std::thread::sleep(Duration::from_millis(20));
            cancellation.cancel(kernlink::Error::new(Code::Aborted, "enough"));
            assert_eq!(waits.join().unwrap().code(), Code::Aborted);
        });
        // Neither took a name with it, nor the reader.
        enqueue(&session, &path);
        assert_eq!(read(&session, "line").unwrap(), "a");
        enqueue(&session, &path);
        assert_eq!(read(&session, "whole").unwrap(), "a\nb\nc\n");

        session.run(&[], &[], &["close"]).unwrap();
        let several = session.run(&[("n", Tensor::scalar(10_i64))], &["several:1"], &[]).unwrap();
        assert_eq!(several[0].as_slice::<TString>().unwrap(), [TString::from("b"), TString::from("c")]);
        for node in ["line", "whole"] {
            assert_eq!(read(&session, node).unwrap_err().code(), Code::OutOfRange);
        }
    }
}

#[test]
fn readers_of_one_name_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    std::fs::write(&path, "a\nb\nc\n").unwrap();
    let resources = Arc::default();
    let (one, other) = (session(&resources, 1), session(&resources, 1));
    enqueue(&one, &path);
    assert_eq!(read(&one, "line").unwrap(), "a");
    assert_eq!(read(&other, "line").unwrap(), "b");
    assert_eq!((count(&one), count(&other)), (2, 2));
    one.run(&[], &[], &["reset"]).unwrap();
    enqueue(&other, &path);
    assert_eq!(read(&other, "line").unwrap(), "a");
    assert_eq!(count(&one), 1);
    // Readers of wholes have no name that they share.
    enqueue(&one, &path);
    assert_eq!(read(&other, "whole").unwrap(), "a\nb\nc\n");
}
