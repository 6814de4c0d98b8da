//! Queues, locks and lists under several threads: nothing is lost, nothing comes twice, nobody waits for ever.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::error::Code;
use kernlink::prelude::*;
use kernlink::proto::NodeDef;
use kernlink::runtime::{RunOptions, SessionOptions};
use kernlink::shape::PartialShape;
use kernlink::step::Cancellation;

use crate::support::{constant, graph, node};

fn session(nodes: Vec<NodeDef>) -> Session {
    let graph = Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap();
    Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap()
}

fn types(dtypes: &[DataType]) -> AttrValue {
    AttrValue::ListType(dtypes.to_vec())
}

/// A queue of `int64` scalars with nodes that enqueue and dequeue.
fn queue(op: &str, capacity: i64) -> Vec<NodeDef> {
    let int64 = || types(&[DataType::Int64]);
    let shapes = AttrValue::ListShape(vec![PartialShape::from_dims(&[]).unwrap()]);
    let placeholder = |name: &str, dtype| node(name, "Placeholder", &[], &[("dtype", AttrValue::Type(dtype))]);
    let attrs = [("component_types", int64()), ("shapes", shapes), ("capacity", AttrValue::Int(capacity))];
    let taken = [("component_types", int64())];
    vec![
        node("queue", op, &[], &attrs),
        placeholder("value", DataType::Int64),
        placeholder("n", DataType::Int32),
        node("put", "QueueEnqueueV2", &["queue", "value"], &[("Tcomponents", int64())]),
        node("put_many", "QueueEnqueueManyV2", &["queue", "value"], &[("Tcomponents", int64())]),
        node("take", "QueueDequeueV2", &["queue"], &taken),
        node("take_many", "QueueDequeueManyV2", &["queue", "n"], &taken),
        node("take_up_to", "QueueDequeueUpToV2", &["queue", "n"], &taken),
        node("close", "QueueCloseV2", &["queue"], &[]),
        node("cancel", "QueueCloseV2", &["queue"], &[("cancel_pending_enqueues", AttrValue::Bool(true))]),
        node("size", "QueueSizeV2", &["queue"], &[]),
    ]
}

fn put(session: &Session, value: i64) -> Result<()> {
    session.run(&[("value", Tensor::scalar(value))], &[], &["put"]).map(drop)
}

fn take(session: &Session) -> Result<i64> {
    session.run(&[], &["take"], &[])?[0].to_scalar()
}

fn take_many(session: &Session, op: &str, n: i32) -> Result<Vec<i64>> {
    session.run(&[("n", Tensor::scalar(n))], &[op], &[])?[0].to_i64_vec()
}

fn put_many(session: &Session, values: &[i64]) -> Result<()> {
    session.run(&[("value", Tensor::vector(values).unwrap())], &[], &["put_many"]).map(drop)
}

fn size(session: &Session) -> i32 {
    session.run(&[], &["size"], &[]).unwrap()[0].to_scalar().unwrap()
}

/// Returns once a queue has as many elements: who wants to put or take several has done some of it then, and waits.
fn until_size(session: &Session, expected: i32) {
    while size(session) != expected {
        thread::yield_now();
    }
}

#[test]
fn producers_and_consumers_lose_nothing_and_repeat_nothing() {
    const EACH: i64 = 2_000;
    let session = session(queue("FIFOQueueV2", 7));
    let (sum, count) = (AtomicI64::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let session = &session;
        for producer in 0..4 {
            scope.spawn(move || {
                for i in 0..EACH {
                    let value = producer * EACH + i;
                    match i % 100 {
                        0 => {
                            let many: Vec<i64> = (0..20).map(|k| value + k).collect();
                            let feeds = [("value", Tensor::vector(&many).unwrap())];
                            session.run(&feeds, &[], &["put_many"]).unwrap();
                        }
                        1..20 => {}
                        _ => put(session, value).unwrap(),
                    }
                }
            });
        }
        for consumer in 0..4 {
            let (sum, count) = (&sum, &count);
            scope.spawn(move || {
                let mut last = [-1; 4];
                for i in 0..EACH / 4 {
                    let values = match (consumer + i) % 2 {
                        0 => take_many(session, "take_many", 4).unwrap(),
                        _ => (0..4).map(|_| take(session).unwrap()).collect(),
                    };
                    for value in values {
                        // Each consumer sees what a producer made in order.
                        let last = &mut last[(value / EACH) as usize];
                        assert!(*last < value, "{value} came after {last}");
                        *last = value;
                        sum.fetch_add(value, Ordering::Relaxed);
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let total = 4 * EACH;
    assert_eq!(count.into_inner() as i64, total);
    assert_eq!(sum.into_inner(), total * (total - 1) / 2);
    assert_eq!(size(&session), 0);
}

#[test]
fn a_shuffled_queue_gives_every_element_once() {
    let session = session(queue("RandomShuffleQueueV2", -1));
    let values: Vec<i64> = (0..100).collect();
    session.run(&[("value", Tensor::vector(&values).unwrap())], &[], &["put_many"]).unwrap();
    let taken = take_many(&session, "take_many", 100).unwrap();
    assert_ne!(taken, values);
    assert_eq!(taken.into_iter().collect::<HashSet<_>>().len(), 100);
}

#[test]
fn a_cancelled_run_gives_back_what_it_took() {
    let session = session(queue("FIFOQueueV2", -1));
    for value in 0..3 {
        put(&session, value).unwrap();
    }
    let options = RunOptions::new().timeout(Duration::from_millis(30));
    let error = session.run_with(&[("n", Tensor::scalar(5i32))], &["take_many"], &[], &options).unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    assert_eq!(size(&session), 3);
    assert_eq!(take_many(&session, "take_many", 3).unwrap(), [0, 1, 2]);

    put(&session, 6).unwrap();
    let cancellation = Cancellation::new();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let options = RunOptions::new().cancellation(&cancellation);
            session.run_with(&[("n", Tensor::scalar(2i32))], &["take_many"], &[], &options)
        });
        until_size(&session, 0);
        cancellation.cancel(kernlink::Error::cancelled("enough"));
        assert_eq!(waiting.join().unwrap().unwrap_err().code(), Code::Cancelled);
    });
    // A dequeue that was cancelled does not take later elements.
    put(&session, 7).unwrap();
    assert_eq!([take(&session).unwrap(), take(&session).unwrap()], [6, 7]);
}

#[test]
fn those_who_wait_are_served_in_order() {
    let session = session(queue("FIFOQueueV2", -1));
    put(&session, 0).unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(|| take_many(&session, "take_many", 3).unwrap());
        until_size(&session, 0);
        let second = scope.spawn(|| take(&session).unwrap());
        for value in 1..4 {
            put(&session, value).unwrap();
        }
        assert_eq!(first.join().unwrap(), [0, 1, 2]);
        assert_eq!(second.join().unwrap(), 3);
    });
}

#[test]
fn closing_wakes_everybody() {
    let session = session(queue("FIFOQueueV2", 2));
    put(&session, 1).unwrap();
    thread::scope(|scope| {
        let putting = scope.spawn(|| put_many(&session, &[2, 3]));
        until_size(&session, 2);
        session.run(&[], &[], &["cancel"]).unwrap();
        assert_eq!(putting.join().unwrap().unwrap_err().code(), Code::Cancelled);
    });
    assert_eq!(put(&session, 4).unwrap_err().code(), Code::Cancelled);
    assert_eq!(take_many(&session, "take_up_to", 5).unwrap(), [1, 2]);
    assert_eq!(take(&session).unwrap_err().code(), Code::OutOfRange);
}

#[test]
fn closing_waits_for_those_who_put() {
    let session = session(queue("FIFOQueueV2", 2));
    put(&session, 1).unwrap();
    thread::scope(|scope| {
        let putting = scope.spawn(|| put_many(&session, &[2, 3]));
        until_size(&session, 2);
        let closing = scope.spawn(|| session.run(&[], &[], &["close"]).map(drop));
        // A dequeue of more than is left fails once the queue is closed, and takes nothing.
        let many = scope.spawn(|| take_many(&session, "take_many", 4));
        assert_eq!(many.join().unwrap().unwrap_err().code(), Code::OutOfRange);
        putting.join().unwrap().unwrap();
        closing.join().unwrap().unwrap();
    });
    assert_eq!(size(&session), 3);
    assert_eq!(take_many(&session, "take_up_to", 9).unwrap(), [1, 2, 3]);
}

#[test]
fn a_lock_is_held_by_one_run_at_a_time() {
    let held = || AttrValue::Type(DataType::Variant);
    let session = session(vec![
        node("mutex", "MutexV2", &[], &[]),
        node("lock", "MutexLock", &["mutex"], &[]),
        constant("one", Tensor::scalar(1i32)),
        node("stack", "Identity", &["one", "^lock"], &[("T", AttrValue::Type(DataType::Int32))]),
        node("keep", "Identity", &["lock", "^stack"], &[("T", held())]),
        node("release", "ConsumeMutexLock", &["keep"], &[]),
    ]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|_| drop(session.run(&[], &[], &["release"]).unwrap())));
        }
    });
    // The lock goes with the run that fetched it, not before.
    let fetched = session.run(&[], &["lock"], &[]).unwrap();
    let options = RunOptions::new().timeout(Duration::from_millis(30));
    let error = session.run_with(&[], &[], &["release"], &options).unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    drop(fetched);
    session.run(&[], &[], &["release"]).unwrap();
}

#[test]
fn tensors_stay_in_the_session() {
    let session = session(vec![
        node("x", "Placeholder", &[], &[("dtype", AttrValue::Type(DataType::Float))]),
        node("name", "Placeholder", &[], &[("dtype", AttrValue::Type(DataType::String))]),
        node("keep", "GetSessionHandle", &["x"], &[("T", AttrValue::Type(DataType::Float))]),
        node("get", "GetSessionTensor", &["name"], &[("dtype", AttrValue::Type(DataType::Float))]),
        node("forget", "DeleteSessionTensor", &["name"], &[]),
    ]);
    let name = session.run(&[("x", Tensor::scalar(2.5f32))], &["keep"], &[]).unwrap().remove(0);
    let kept = session.run(&[("name", name.clone())], &["get"], &[]).unwrap();
    assert_eq!(kept[0].to_scalar::<f32>().unwrap(), 2.5);
    session.run(&[("name", name.clone())], &[], &["forget"]).unwrap();
    let error = session.run(&[("name", name)], &["get"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
}

#[test]
fn tables_are_filled_from_files() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("vocabulary.txt");
    let attrs = [("key_dtype", AttrValue::Type(DataType::String)), ("value_dtype", AttrValue::Type(DataType::Int64))];
    let from_file = |key: i64, value: i64| {
        let table = node("table", "HashTableV2", &[], &attrs);
        let indices = [
            ("key_index", AttrValue::Int(key)),
            ("value_index", AttrValue::Int(value)),
            ("delimiter", AttrValue::String(",".into())),
            ("offset", AttrValue::Int(10)),
        ];
        let find = [("Tin", AttrValue::Type(DataType::String)), ("Tout", AttrValue::Type(DataType::Int64))];
        session(vec![
            table,
            constant("file", Tensor::from(file.to_str().unwrap())),
            node("fill", "InitializeTableFromTextFileV2", &["table", "file"], &indices),
            constant(
                "keys",
                Tensor::vector::<kernlink::dtype::TString>(&["a".into(), "b".into(), "z".into()]).unwrap(),
            ),
            constant("default", Tensor::scalar(-1i64)),
            node("find", "LookupTableFindV2", &["table", "keys", "default"], &find),
        ])
    };
    let found = |session: &Session| session.run(&[], &["find"], &[]).map(|found| found[0].to_i64_vec().unwrap());
    let fill = |session: &Session| session.run(&[], &[], &["fill"]).map(drop);

    std::fs::write(&file, "a,5\r\nb,7\n").unwrap();
    let session = from_file(0, 1);
    assert_eq!(found(&session).unwrap_err().code(), Code::FailedPrecondition);
    fill(&session).unwrap();
    fill(&session).unwrap();
    assert_eq!(found(&session).unwrap(), [5, 7, -1]);
    assert_eq!(fill(&from_file(2, 1)).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(fill(&from_file(1, 0)).unwrap_err().code(), Code::InvalidArgument);

    std::fs::write(&file, "a\nb\nc").unwrap();
    let session = from_file(-2, -1);
    fill(&session).unwrap();
    assert_eq!(found(&session).unwrap(), [10, 11, -1]);

    // Lines count from one, and errors name the file.
    let name = file.to_str().unwrap();
    for (text, key, value, code, why) in [
        ("a\n\nb", -2, -1, Code::InvalidArgument, "empty line found at line 2"),
        ("a,1\nb,x", 0, 1, Code::InvalidArgument, "Field x in line 2"),
        ("a,1\nb", 0, 1, Code::InvalidArgument, "columns in line 2"),
        ("a,1\na,2", 0, 1, Code::FailedPrecondition, "different value for same key"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = fill(&from_file(key, value)).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(why) && error.message().contains(name), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(fill(&from_file(-2, -1)).unwrap_err().code(), Code::NotFound);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        let error = fill(&from_file(-2, -1)).unwrap_err();
        assert!(error.code() == Code::InvalidArgument && error.message().contains("no regular file"), "{error}");
        std::fs::remove_file(&file).unwrap();
    }
}
