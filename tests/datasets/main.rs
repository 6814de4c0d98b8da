//! Datasets, readers and what they wait for: see `pipelines.py`, `files.py` and `readers.py` for their values.
//!
//! Iterators that go on beside runs: they wait without a thread, end with whoever is interested, and are taken up again.
//! `generate.py` writes the graphs. `disk.rs` and `snapshots.rs` are about what is kept on disk, `eager.rs` about ops that run one by one. `pipelines.py` holds random pipelines against TensorFlow.

use std::time::{Duration, Instant};

use kernlink::Code;
use kernlink::prelude::*;
use kernlink::proto::{GraphDef, Message};
use kernlink::runtime::RunOptions;
use kernlink::step::Cancellation;

mod disk;
mod eager;
mod readers;
mod snapshots;

kernlink::provider!();

fn session(graph: &[u8], threads: usize) -> Session {
    let def = GraphDef::decode(graph).expect("the file is a GraphDef");
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    Session::with_options(graph, &SessionOptions::new().threads(threads)).unwrap()
}

const WAITING: &[u8] = include_bytes!("data/waiting.pb");
const SAVED: &[u8] = include_bytes!("data/saved.pb");
const NESTED: &[u8] = include_bytes!("data/nested.pb");
const TOO_NESTED: &[u8] = include_bytes!("data/too_nested.pb");
const SAVED_INTERLEAVED: &[u8] = include_bytes!("data/saved_interleaved.pb");
const SAVED_CACHE: &[u8] = include_bytes!("data/saved_cache.pb");
const PARALLEL: &[u8] = include_bytes!("data/parallel.pb");
const ENDLESS: &[u8] = include_bytes!("data/endless.pb");
const EXPECTED: &[u8] = include_bytes!("data/expected.pb");
/// What TensorFlow makes of the nodes of that graph: a line for each element, in order.
const EXPECTED_LINES: &str = include_str!("data/expected.txt");

fn enqueue(session: &Session, value: i64) {
    session.run(&[("value", Tensor::scalar(value))], &[], &["enqueue"]).unwrap();
}

fn next(session: &Session, name: &str) -> i64 {
    let options = RunOptions::new().timeout(Duration::from_secs(20));
    let values = session.run_with(&[], &[name], &[], &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    values[0].to_scalar().unwrap()
}

fn begin(session: &Session, name: &str) {
    session.run(&[], &[], &[&format!("{name}_begin")]).unwrap();
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the queue has so many elements.
fn wait_for_size(session: &Session, size: i32) {
    let there = || session.run(&[], &["size"], &[]).unwrap()[0].to_scalar::<i32>().unwrap();
    wait_until("nobody takes the elements", || there() == size);
}

#[test]
fn who_waits_for_an_element_holds_no_thread() {
    for threads in [1, 2] {
        for name in ["plain", "ahead"] {
            let session = session(WAITING, threads);
            begin(&session, name);
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| next(&session, name));
                std::thread::sleep(Duration::from_millis(20));
                // Other runs go on.
                enqueue(&session, 7);
                assert_eq!(waits.join().unwrap(), 7);
            });
            enqueue(&session, 8);
            assert_eq!(next(&session, name), 108);
        }
    }
}

#[test]
fn elements_are_made_ahead_after_the_run_has_ended() {
    for threads in [1, 2] {
        let session = session(WAITING, threads);
        begin(&session, "ahead");
        enqueue(&session, 1);
        assert_eq!(next(&session, "ahead"), 1);
        for value in 2..=4 {
            enqueue(&session, value);
        }
        // Two are made ahead, and no more; none if nobody works beside the runs.
        let left = if threads == 1 { 3 } else { 1 };
        wait_for_size(&session, left);
        std::thread::sleep(Duration::from_millis(20));
        wait_for_size(&session, left);
        assert_eq!([(); 3].map(|()| next(&session, "ahead")), [102, 203, 304]);
    }
}

#[test]
fn what_has_no_end_ends_with_the_run() {
    let timeout = RunOptions::new().timeout(Duration::from_millis(50));
    let in_time = |start: Instant, what: &str| assert!(start.elapsed() < Duration::from_secs(10), "{what}");
    for threads in [1, 2] {
        for name in [
            "filter",
            "prefetch",
            "map",
            "stuck",
            "parallel_filter",
            "map_and_batch",
            "interleave",
            "interleaved",
            "legacy",
            "unique",
            "rows",
            "several",
        ] {
            let session = session(ENDLESS, threads);
            begin(&session, name);
            // What there is comes though what is behind it never does, unless a call that never ends has the only thread beside
            // the run.
            if threads == 1 || name != "stuck" {
                assert_eq!([(); 3].map(|()| next(&session, name)), [0, 1, 2], "{name}, {threads} threads");
            }
            let start = Instant::now();
            let error = session.run_with(&[], &[name], &[], &timeout).map(drop).unwrap_err();
            assert_eq!(error.code(), Code::DeadlineExceeded, "{name}, {threads} threads: {error}");
            in_time(start, name);
            let cancellation = Cancellation::new();
            let options = RunOptions::new().cancellation(&cancellation);
            std::thread::scope(|scope| {
                let runs = scope.spawn(|| session.run_with(&[], &[name], &[], &options).map(drop).unwrap_err());
                std::thread::sleep(Duration::from_millis(20));
                cancellation.cancel(kernlink::Error::new(Code::Aborted, "enough"));
                assert_eq!(runs.join().unwrap().code(), Code::Aborted, "{name}, {threads} threads");
            });
            in_time(start, name);
        }
        // Nor does the end of a generator hold up the run in which its iterator goes.
        let session = session(ENDLESS, threads);
        let start = Instant::now();
        for _ in 0..3 {
            begin(&session, "generator");
            assert_eq!(next(&session, "generator"), 7);
        }
        in_time(start, "generator");
    }
}

#[test]
fn a_run_that_ends_early_ends_what_it_waits_for() {
    for name in ["plain", "ahead"] {
        let session = session(WAITING, 2);
        begin(&session, name);
        let options = RunOptions::new().timeout(Duration::from_millis(30));
        let error = session.run_with(&[], &[name], &[], &options).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
        let cancellation = Cancellation::new();
        let options = RunOptions::new().cancellation(&cancellation);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| session.run_with(&[], &[name], &[], &options).map(drop).unwrap_err());
            std::thread::sleep(Duration::from_millis(20));
            cancellation.cancel(kernlink::Error::new(Code::Aborted, "enough"));
            assert_eq!(waits.join().unwrap().code(), Code::Aborted);
        });
        // What was made at once is lost with the runs, what was made ahead is not.
        enqueue(&session, 5);
        assert_eq!(next(&session, name), if name == "plain" { 205 } else { 5 });
    }
}

#[test]
fn an_iterator_that_goes_ends_its_work() {
    let session = session(WAITING, 2);
    begin(&session, "ahead");
    let options = RunOptions::new().timeout(Duration::from_millis(30));
    session.run_with(&[], &["ahead"], &[], &options).unwrap_err();
    // The call that waits for the queue belongs to the iterator that goes now.
    begin(&session, "ahead");
    enqueue(&session, 9);
    assert_eq!(next(&session, "ahead"), 9);
    // And nothing keeps a session from going while its iterators wait.
    let resources = std::sync::Arc::downgrade(session.resources());
    drop(session);
    wait_until("the session is kept", || resources.upgrade().is_none());
}

#[test]
fn an_iterator_that_was_not_begun_says_so() {
    let session = session(WAITING, 1);
    assert_eq!(session.run(&[], &["plain"], &[]).unwrap_err().code(), Code::FailedPrecondition);
}

#[test]
fn an_iterator_goes_on_where_it_was_saved() {
    let elements = |session: &Session| {
        let mut elements = Vec::new();
        loop {
            match session.run(&[], &["next"], &[]) {
                Ok(element) => elements.push(element[0].as_slice::<i64>().unwrap().to_vec()),
                Err(error) => {
                    assert_eq!(error.code(), Code::OutOfRange, "{error}");
                    return elements;
                }
            }
        }
    };
    for (graph, threads) in
        [SAVED, SAVED_INTERLEAVED, SAVED_CACHE].into_iter().flat_map(|graph| [(graph, 1), (graph, 2)])
    {
        let session = session(graph, threads);
        for taken in [0, 1, 7, 30, 70] {
            session.run(&[], &[], &["begin"]).unwrap();
            for _ in 0..taken {
                session.run(&[], &["next"], &[]).unwrap();
            }
            let state = session.run(&[], &["state"], &[]).unwrap().remove(0);
            let expected = elements(&session);
            assert!(!expected.is_empty());
            session.run(&[("given", state.clone())], &[], &["go_back"]).unwrap();
            assert_eq!(elements(&session), expected, "{taken} were taken");
            // Also over the end, and twice.
            session.run(&[("given", state)], &[], &["go_back"]).unwrap();
            assert_eq!(elements(&session), expected, "{taken} were taken");
        }
    }
}

#[test]
fn datasets_are_nested_only_so_deeply() {
    let all = session(NESTED, 1).run(&[], &["all"], &[]).unwrap();
    assert_eq!(all[0].as_slice::<i64>().unwrap(), [0, 1]);
    let error = session(TOO_NESTED, 1).run(&[], &["all"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
}

#[test]
fn an_element_that_is_there_does_not_wait_for_the_next_one() {
    for threads in [1, 2] {
        for (name, added) in [("map", 1), ("filter", 0), ("map_and_batch", 1)] {
            let session = session(PARALLEL, threads);
            begin(&session, name);
            for value in [3, 4] {
                enqueue(&session, value);
                assert_eq!(next(&session, name), value + added, "{name}");
            }
        }
    }
}

#[test]
fn who_gives_up_saving_takes_nothing_along() {
    let session = session(PARALLEL, 2);
    begin(&session, "prefetch");
    enqueue(&session, 1);
    enqueue(&session, 2);
    assert_eq!(next(&session, "prefetch"), 2);
    // The second is made ahead, and what makes elements for it waits for a third.
    wait_for_size(&session, 0);
    std::thread::sleep(Duration::from_millis(20));
    let options = RunOptions::new().timeout(Duration::from_millis(50));
    let error = session.run_with(&[], &["state"], &[], &options).map(drop).unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    enqueue(&session, 3);
    assert_eq!([(); 2].map(|()| next(&session, "prefetch")), [3, 4]);
}

#[test]
fn a_generator_is_finalized_though_nobody_comes_to_its_end() {
    for threads in [1, 2] {
        let session = session(PARALLEL, threads);
        begin(&session, "generator");
        assert_eq!([(); 2].map(|()| next(&session, "generator")), [7, 7]);
        wait_for_size(&session, 0);
        begin(&session, "generator");
        wait_for_size(&session, 1);
        // One that was not asked for an element has nothing to be finalized.
        begin(&session, "generator");
        std::thread::sleep(Duration::from_millis(20));
        wait_for_size(&session, 1);
    }
}

#[test]
fn elements_and_what_is_asked_of_datasets_are_as_in_tensorflow() {
    for threads in [1, 2] {
        let session = session(EXPECTED, threads);
        let mut different = Vec::new();
        let (mut begun, mut count) = ("", 0);
        for line in EXPECTED_LINES.lines() {
            let (node, expected) = line.split_once('\t').unwrap();
            if node.starts_with("elements") && begun != node {
                session.run(&[], &[], &["init_all"]).unwrap();
                session.run(&[], &[], &[&format!("{node}_begin")]).unwrap();
                begun = node;
            }
            let found = match session.run(&[], &[node], &[]) {
                Ok(value) => value[0].to_scalar::<kernlink::dtype::TString>().unwrap().to_string_lossy().into_owned(),
                Err(error) if error.code() == Code::OutOfRange && node.starts_with("elements") => "END".to_owned(),
                Err(error) => error.code().to_string(),
            };
            count += 1;
            if found != expected {
                different.push(format!("{node}: {expected} in TensorFlow, {found} here"));
            }
        }
        assert!(count > 300, "{count}");
        assert!(different.is_empty(), "{threads} threads:\n{}", different.join("\n"));
    }
}
