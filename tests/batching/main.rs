//! Batches: runs meet, wait without a thread, are told apart again, fail and end early. `generate.py` writes the graphs;
//! `beside.py` holds random batches against TensorFlow.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kernlink::Code;
use kernlink::prelude::*;
use kernlink::proto::{GraphDef, Message};
use kernlink::resource::ResourceManager;
use kernlink::runtime::RunOptions;

kernlink::provider!();

const FUNCTION: &[u8] = include_bytes!("data/function.pb");
const TENSORS: &[u8] = include_bytes!("data/tensors.pb");
const PATIENCE: Duration = Duration::from_secs(60);

fn session(graph: &[u8], threads: usize, resources: &Arc<ResourceManager>) -> Session {
    let def = GraphDef::decode(graph).expect("the file is a GraphDef");
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    Session::with_options(graph, &SessionOptions::new().threads(threads).resources(resources.clone())).unwrap()
}

fn enqueue(session: &Session, value: i64) {
    session.run(&[("value", Tensor::scalar(value))], &[], &["enqueue"]).unwrap();
}

/// The rows of a run multiplied by what the queue held, and of how many rows the batch was.
fn call(session: &Session, node: &str, rows: &[i64]) -> Result<(Vec<i64>, i32)> {
    let fetches = [node, &format!("{node}:1")];
    let options = RunOptions::new().timeout(PATIENCE);
    let results = session.run_with(&[("x", Tensor::vector(rows)?)], &fetches, &[], &options)?;
    let sizes = results[1].as_slice::<i32>()?;
    assert!(sizes.iter().all(|size| *size == sizes[0]) && sizes.len() == rows.len());
    Ok((results[0].to_i64_vec()?, sizes[0]))
}

/// Waits until the function has taken what was enqueued: its batch is computed.
fn until_taken(session: &Session) {
    let start = Instant::now();
    while session.run(&[], &["size"], &[]).unwrap()[0].to_scalar::<i32>().unwrap() != 0 {
        assert!(start.elapsed() < PATIENCE, "nobody takes the value");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn runs_meet_in_a_full_batch_and_each_gets_its_part() {
    for threads in [1, 2] {
        let session = session(FUNCTION, threads, &Arc::default());
        thread::scope(|scope| {
            let run = |rows: &'static [i64]| scope.spawn(|| call(&session, "late", rows).unwrap());
            let waiting = [run(&[1]), run(&[2, 3]), run(&[4])];
            thread::sleep(Duration::from_millis(20));
            // They hold no thread that this needs.
            enqueue(&session, 10);
            let parts = waiting.map(|waits| waits.join().unwrap());
            assert_eq!(parts, [(vec![10], 4), (vec![20, 30], 4), (vec![40], 4)]);
        });
    }
}

#[test]
fn sessions_that_share_resources_share_batches() {
    let resources = Arc::default();
    let sessions = [session(FUNCTION, 1, &resources), session(FUNCTION, 2, &resources)];
    enqueue(&sessions[0], 3);
    thread::scope(|scope| {
        let waiting = [0, 1].map(|k| {
            scope.spawn({
                let session = &sessions[k];
                move || call(session, "late", &[1, 2]).unwrap()
            })
        });
        assert_eq!(waiting.map(|waits| waits.join().unwrap()), [(vec![3, 6], 4), (vec![3, 6], 4)]);
    });
}

#[test]
fn a_batch_that_is_not_full_is_computed_at_its_time() {
    for threads in [1, 2] {
        let session = session(FUNCTION, threads, &Arc::default());
        enqueue(&session, 2);
        enqueue(&session, 3);
        let start = Instant::now();
        assert_eq!(call(&session, "soon", &[5]).unwrap(), (vec![10], 1));
        assert!(start.elapsed() >= Duration::from_millis(100));
        assert_eq!(call(&session, "now", &[1, 2, 3]).unwrap(), (vec![3, 6, 9], 3));
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let session = session(FUNCTION, 2, &Arc::default());
    assert_eq!(call(&session, "now", &[1; 5]).unwrap_err().code(), Code::InvalidArgument);
    thread::scope(|scope| {
        // Two are computed, one is closed, one is open and full: a fifth has no room.
        let mut waiting = Vec::new();
        for _ in 0..2 {
            waiting.push(scope.spawn(|| call(&session, "now", &[1; 4]).unwrap()));
            thread::sleep(Duration::from_millis(50));
        }
        for _ in 0..2 {
            waiting.push(scope.spawn(|| call(&session, "now", &[1; 4]).unwrap()));
            thread::sleep(Duration::from_millis(50));
        }
        let error = call(&session, "now", &[1]).unwrap_err();
        assert_eq!(error.code(), Code::Unavailable, "{error}");
        (0..4).for_each(|_| enqueue(&session, 7));
        for waits in waiting {
            assert_eq!(waits.join().unwrap(), (vec![7; 4], 4));
        }
    });
}

#[test]
fn a_run_that_ends_early_takes_only_its_rows_with_it() {
    for threads in [1, 2] {
        let session = session(FUNCTION, threads, &Arc::default());
        let gives_up = |node: &str, rows: &[i64]| {
            let options = RunOptions::new().timeout(Duration::from_millis(60));
            let error = session.run_with(&[("x", Tensor::vector(rows).unwrap())], &[node], &[], &options).unwrap_err();
            assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
        };
        // While the batch is open.
        thread::scope(|scope| {
            let left = scope.spawn(|| gives_up("late", &[9]));
            left.join().unwrap();
            enqueue(&session, 2);
            let waiting =
                [scope.spawn(|| call(&session, "late", &[1, 2])), scope.spawn(|| call(&session, "late", &[1, 2]))];
            for waits in waiting {
                assert_eq!(waits.join().unwrap().unwrap(), (vec![2, 4], 4));
            }
        });
        // While it is computed: for the other it goes on.
        thread::scope(|scope| {
            let stays = scope.spawn(|| call(&session, "late", &[1, 2]).unwrap());
            thread::sleep(Duration::from_millis(20));
            gives_up("late", &[3, 4]);
            enqueue(&session, 5);
            assert_eq!(stays.join().unwrap(), (vec![5, 10], 4));
        });
        // With the last of its runs a batch ends, and makes room.
        for _ in 0..5 {
            gives_up("now", &[1; 4]);
        }
        enqueue(&session, 3);
        assert_eq!(call(&session, "now", &[1]).unwrap(), (vec![3], 1));
        until_taken(&session);
    }
}

#[test]
fn one_run_gets_a_batch_of_tensors_and_all_get_their_parts() {
    for threads in [1, 2, 4] {
        let session = session(TENSORS, threads, &Arc::default());
        let run = |rows: i64| {
            let x = Tensor::from_elements([rows as usize, 2], &(0..2 * rows).collect::<Vec<_>>()).unwrap();
            let fetches = ["batch:0", "batch:1", "batch:2", "part", "gradient"];
            let options = RunOptions::new().timeout(PATIENCE);
            session.run_with(&[("x", x)], &fetches, &[], &options).unwrap()
        };
        thread::scope(|scope| {
            let runs = [1, 2, 3].map(|rows| (rows, scope.spawn(move || run(rows))));
            let (mut ids, mut index, mut whole) = (Vec::new(), Vec::new(), 0);
            for (rows, waits) in runs {
                let outputs = waits.join().unwrap();
                ids.push(outputs[2].to_scalar::<i64>().unwrap());
                index.extend_from_slice(outputs[1].as_slice::<i64>().unwrap());
                let part: Vec<i64> = (0..2 * rows).map(|value| 10 * value).collect();
                assert_eq!(outputs[3].as_slice::<i64>().unwrap(), part);
                if outputs[0].shape()[0] == 0 {
                    assert_eq!(outputs[4].shape().dims(), [0, 2]);
                    continue;
                }
                whole += 1;
                let flow: Vec<i64> = outputs[0].as_slice::<i64>().unwrap().iter().map(|value| 10 * value + 1).collect();
                assert_eq!(outputs[4].as_slice::<i64>().unwrap(), flow);
            }
            assert_eq!(whole, 1);
            assert_eq!(
                index.iter().step_by(3).copied().collect::<std::collections::BTreeSet<_>>(),
                ids.into_iter().collect()
            );
            assert_eq!(index.last(), Some(&6));
        });
    }
}

#[test]
fn parts_are_told_apart_by_ids_and_do_not_wait_for_ever() {
    let session = session(TENSORS, 2, &Arc::default());
    let given = |rows: usize, index: &[[i64; 3]], id: i64| {
        let tensor: Vec<f32> = (0..rows).map(|row| row as f32).collect();
        let feeds = [
            ("tensor", Tensor::vector(&tensor).unwrap()),
            ("index", Tensor::from_elements([index.len(), 3], index.as_flattened()).unwrap()),
            ("id", Tensor::scalar(id)),
        ];
        session.run(&feeds, &["given"], &[]).map(|part| part[0].as_slice::<f32>().unwrap().to_vec())
    };
    assert_eq!(given(3, &[[1, 0, 2], [2, 2, 3]], 1).unwrap(), [0.0, 1.0]);
    assert_eq!(given(0, &[], 2).unwrap(), [2.0]);
    // It was there once.
    assert_eq!(given(0, &[], 2).unwrap_err().code(), Code::DeadlineExceeded);
    // What comes too late is forgotten.
    assert_eq!(given(2, &[[5, 0, 1], [6, 1, 2]], 5).unwrap(), [0.0]);
    thread::sleep(Duration::from_millis(700));
    assert_eq!(given(0, &[], 6).unwrap_err().code(), Code::DeadlineExceeded);
    for (rows, index) in [(1, [[1, 0, 2]]), (1, [[1, 2, 0]]), (1, [[1, i64::MIN, i64::MAX]]), (0, [[1, 0, 0]])] {
        assert_eq!(given(rows, &index, 1).unwrap_err().code(), Code::InvalidArgument);
    }
}
