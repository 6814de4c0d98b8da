//! Kernels that wait for what another run does.

use std::time::Duration;

use kernlink::prelude::*;
use kernlink::runtime::RunOptions;
use kernlink::step::Cancellation;

use crate::graphs::waiting_graph;

#[test]
fn kernels_that_wait_hold_no_thread() {
    for threads in [1, 2] {
        let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(threads)).unwrap();
        let runs = 16;
        std::thread::scope(|scope| {
            for _ in 0..runs {
                scope.spawn(|| {
                    let answer = session.run(&[("count", Tensor::scalar(20i32))], &["wait"], &[]).unwrap();
                    assert_eq!(answer[0].to_scalar::<i32>().unwrap(), 20);
                });
            }
            for _ in 0..20 {
                session.run(&[], &[], &["open"]).unwrap();
            }
        });
    }
}

#[test]
fn waiting_ends_with_the_time_a_cancellation_or_the_session() {
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let feeds = [("count", Tensor::scalar(1000i32))];
    let options = RunOptions::new().timeout(Duration::from_millis(20));
    let error = session.run_with(&feeds, &["wait"], &[], &options).unwrap_err();
    assert_eq!(error.code(), kernlink::Code::DeadlineExceeded);

    let cancellation = Cancellation::new();
    let options = RunOptions::new().cancellation(&cancellation);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| session.run_with(&feeds, &["wait"], &[], &options).unwrap_err());
        std::thread::sleep(Duration::from_millis(10));
        cancellation.cancel(kernlink::Error::new(kernlink::Code::Aborted, "enough"));
        assert_eq!(run.join().unwrap().code(), kernlink::Code::Aborted);
        let run = scope.spawn(|| session.run(&feeds, &["wait"], &[]).unwrap_err());
        std::thread::sleep(Duration::from_millis(10));
        session.close();
        assert_eq!(run.join().unwrap().code(), kernlink::Code::Cancelled);
    });
    let error = session.run(&[], &["open"], &[]).unwrap_err();
    assert_eq!((error.code(), error.message()), (kernlink::Code::Cancelled, "Session has been closed."));
}

#[test]
fn what_is_cancelled_before_it_begins_does_nothing() {
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let cancellation = Cancellation::new();
    cancellation.cancel(kernlink::Error::new(kernlink::Code::Aborted, "enough"));
    let error = session.run_with(&[], &["open"], &[], &RunOptions::new().cancellation(&cancellation)).unwrap_err();
    assert_eq!((error.code(), error.message()), (kernlink::Code::Aborted, "enough"));
    assert_eq!(session.run(&[], &["open"], &[]).unwrap()[0].to_scalar::<i32>().unwrap(), 1);
}

#[test]
fn what_fails_ends_what_waits_and_names_its_node() {
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let feeds = [("count", Tensor::scalar(1000i32))];
    let error = session.run(&feeds, &["wait", "fail"], &[]).unwrap_err();
    assert_eq!((error.code(), error.node().unwrap().node.as_str()), (kernlink::Code::DataLoss, "fail"));
    let error = session.run(&feeds, &["wait", "panic"], &[]).unwrap_err();
    assert_eq!((error.code(), error.node().unwrap().node.as_str()), (kernlink::Code::Internal, "panic"));
    assert!(error.message().contains("as asked"), "{error}");
    // The session lives on.
    session.run(&[], &["open"], &[]).unwrap();
}
