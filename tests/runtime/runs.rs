//! The pool, partial runs, statistics.

use std::time::Duration;

use kernlink::attr::AttrValue;
use kernlink::graph::Output;
use kernlink::prelude::*;
use kernlink::runtime::RunOptions;
use kernlink::step::Cancellation;

use crate::graphs::{endless, graph, node, placed, scalar, waiting_graph};

#[test]
fn expensive_nodes_share_the_pool() {
    let mut graph = graph();
    let x = node(&mut graph, "Placeholder", "x", &[], &[("dtype", DataType::Float.into())]);
    let met: Vec<Output> = (0..64).map(|i| node(&mut graph, "Meet", &format!("meet_{i}"), &[x], &[])).collect();
    ops::add_n(&mut graph, met).name("sum").build().unwrap();
    let session = Session::with_options(graph, &SessionOptions::new().threads(8)).unwrap();
    let sum = session.run(&[("x", Tensor::scalar(1f32))], &["sum"], &[]).unwrap();
    assert_eq!(sum[0].to_scalar::<f32>().unwrap(), 64.0);
}

#[test]
fn a_partial_run_takes_feeds_and_gives_fetches_one_by_one() {
    let mut graph = graph();
    let float = [("dtype", AttrValue::from(DataType::Float))];
    let (a, b) = (node(&mut graph, "Placeholder", "a", &[], &float), node(&mut graph, "Placeholder", "b", &[], &float));
    let square = node(&mut graph, "Square", "square", &[a], &[]);
    node(&mut graph, "AddV2", "sum", &[square, b], &[]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    let run = session.partial_run_setup(&["a", "b"], &["square", "sum"], &[]).unwrap();
    let early = run.run(&[], &["square"]).unwrap_err();
    assert!(early.message().contains("not fed yet"), "{early}");
    let square = run.run(&[("a", scalar(3.0))], &["square"]).unwrap();
    assert_eq!(square[0].to_scalar::<f32>().unwrap(), 9.0);
    assert!(run.run(&[("a", scalar(3.0))], &[]).unwrap_err().message().contains("already been fed"));
    assert!(run.run(&[], &["square"]).unwrap_err().message().contains("already been fetched"));
    assert!(run.run(&[("c", scalar(3.0))], &[]).unwrap_err().message().contains("no feed"));
    let sum = run.run(&[("b:0", scalar(1.0))], &["sum"]).unwrap();
    assert_eq!(sum[0].to_scalar::<f32>().unwrap(), 10.0);

    // What was computed before something was missing is not lost, and a feed that does not fit ends nothing.
    let run = session.partial_run_setup(&["a", "b"], &["square", "sum"], &[]).unwrap();
    let error = run.run(&[("a", Tensor::scalar(3i32))], &[]).unwrap_err();
    assert!(error.message().contains("must be float"), "{error}");
    assert!(run.run(&[("a", scalar(3.0))], &["square", "sum"]).unwrap_err().message().contains("not fed yet"));
    let both = run.run(&[("b", scalar(1.0))], &["sum", "square"]).unwrap();
    assert_eq!((both[0].to_scalar::<f32>().unwrap(), both[1].to_scalar::<f32>().unwrap()), (10.0, 9.0));

    let run = session.partial_run_setup(&["a", "b"], &["square", "sum"], &[]).unwrap();
    session.close();
    assert_eq!(run.run(&[("a", scalar(3.0))], &["square"]).unwrap_err().code(), kernlink::Code::Cancelled);
}

#[test]
fn what_a_partial_run_feeds_is_not_computed_instead() {
    let mut graph = graph();
    let x = node(&mut graph, "Placeholder", "x", &[], &[("dtype", AttrValue::from(DataType::Float))]);
    let parts = node(&mut graph, "Unpack", "parts", &[x], &[("num", AttrValue::Int(2))]);
    let second = Output { index: 1, ..parts };
    node(&mut graph, "Sub", "less", &[parts, second], &[]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    // The other part is needed, and so its node runs.
    let run = session.partial_run_setup(&["x", "parts:0"], &["less"], &[]).unwrap();
    let feeds = [("x", Tensor::vector(&[1f32, 2.0]).unwrap()), ("parts:0", scalar(10.0))];
    let less = run.run(&feeds, &["less"]).unwrap();
    assert_eq!(less[0].to_scalar::<f32>().unwrap(), 8.0);
}

#[test]
fn a_partial_run_ends_with_its_time_or_a_cancellation() {
    let timeout = || RunOptions::new().timeout(Duration::from_millis(20));
    let code = |result: Result<Vec<Tensor>>| result.unwrap_err().code();
    // Once it waits, and once it never comes to wait.
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let feeds = [("count", Tensor::scalar(1000i32))];
    let run = session.partial_run_setup(&["count"], &["wait"], &[]).unwrap();
    assert_eq!(code(run.run_with(&feeds, &["wait"], &timeout())), kernlink::Code::DeadlineExceeded);
    assert_eq!(code(run.run(&[], &["wait"])), kernlink::Code::DeadlineExceeded);
    let session = Session::with_options(endless(), &SessionOptions::new().threads(2)).unwrap();
    let run = session.partial_run_setup(&[], &["exit"], &[]).unwrap();
    assert_eq!(code(run.run_with(&[], &["exit"], &timeout())), kernlink::Code::DeadlineExceeded);
    let run = session.partial_run_setup(&[], &["exit"], &[]).unwrap();
    let cancellation = Cancellation::new();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| code(run.run_with(&[], &["exit"], &RunOptions::new().cancellation(&cancellation))));
        std::thread::sleep(Duration::from_millis(10));
        cancellation.cancel(kernlink::Error::new(kernlink::Code::Aborted, "enough"));
        assert_eq!(run.join().unwrap(), kernlink::Code::Aborted);
    });
}

#[test]
fn statistics_name_every_node_that_ran() {
    let options = SessionOptions::new().threads(2).without_pass("fuse-element-wise");
    let session = Session::with_options(placed(&[("a", ""), ("b", "")]), &options).unwrap();
    let mut metadata = kernlink::runtime::RunMetadata::default();
    let options = RunOptions::new().trace(true);
    session.run_with_metadata(&[("x", Tensor::scalar(1f32))], &["b"], &[], &options, &mut metadata).unwrap();
    let names: Vec<&str> = metadata.step_stats.iter().map(|stats| stats.node.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let stats = &metadata.step_stats[1];
    assert_eq!((stats.op.as_str(), stats.device.as_str(), stats.output_bytes), ("AddV2", "/device:CPU:0", 4));
    let shapes = (stats.inputs.as_str(), stats.outputs.as_str(), stats.kernel.as_deref());
    assert_eq!(shapes, ("float[];float[]", "float[]", None));
    assert!(!stats.is_async && stats.depth == 0, "{stats:?}");
    assert!(stats.start + stats.time <= metadata.time);
}
