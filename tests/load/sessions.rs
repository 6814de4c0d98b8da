//! Sessions that share their threads or have their own, made, closed and dropped while others run, with kernels that split
//! their work, some of whose parts panic.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use kernlink::prelude::*;
use kernlink::runtime::RunOptions;
use kernlink::step::Cancellation;
use kernlink::threads::ThreadPool;

use super::{PANIC, THREADS, alone, quiet, runs, watched};
use crate::support::Random;

/// One more than each element, computed in parts; the part panics that has a negative one.
#[register_op(input("x: float"), output("y: float"), stateful, shape_fn = shape::unchanged)]
pub(crate) struct Parted;

#[register_kernel(device = Cpu)]
fn parted(ctx: &mut KernelContext<'_, Parted>) -> Result<()> {
    let x = ctx.input(Parted::X)?.clone();
    let elements = x.as_slice::<f32>()?;
    let mut y = ctx.allocate_output(Parted::Y, x.shape().clone())?;
    ctx.parallel_chunks(y.as_mut_slice::<f32>()?, 1, 2_000, |first, part| {
        for (y, x) in part.iter_mut().zip(&elements[first..]) {
            assert!(*x >= 0.0, "{PANIC}");
            *y = x + 1.0;
        }
    });
    ctx.set_output(Parted::Y, y)
}

const WIDTH: usize = 5;
const ELEMENTS: usize = 3_000;

/// Two rows of such nodes, each fed by all of the row before.
fn graph() -> Graph {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let g = &mut graph;
    let mut x = ops::placeholder(g, DataType::Float).name("x").build().unwrap();
    for _ in 0..2 {
        let row: Vec<Output> = (0..WIDTH).map(|_| self::parted(g, x).build().unwrap()).collect();
        x = ops::add_n(g, row).build().unwrap();
    }
    ops::identity(g, x).name("y").build().unwrap();
    graph
}

fn new_session(graph: &Graph, shared: &Arc<ThreadPool>, random: &mut Random) -> Arc<Session> {
    let options = match random.below(3) {
        0 => SessionOptions::new().threads(1 + random.below(4)),
        _ => SessionOptions::new().pool(shared.clone()),
    };
    Arc::new(Session::with_options(graph.clone(), &options).unwrap())
}

/// Runs once; the code of the error, if the run ended with one.
fn one_run(session: &Session, random: &mut Random) -> Option<Code> {
    let mut elements = vec![1.0f32; ELEMENTS];
    let fails = random.below(6) == 0;
    if fails {
        elements[random.below(ELEMENTS)] = -1.0;
    }
    let cancellation = Cancellation::new();
    let options = RunOptions::new().cancellation(&cancellation).timeout(Duration::from_secs(50));
    let run = || session.run_with(&[("x", Tensor::vector(&elements).unwrap())], &["y"], &[], &options);
    let result = match random.below(5) {
        0 => thread::scope(|scope| {
            let run = scope.spawn(run);
            cancellation.cancel(Error::cancelled("at random"));
            run.join().unwrap()
        }),
        _ => run(),
    };
    match result {
        Ok(y) => {
            let expected = (2 * WIDTH + 1) as f32 * WIDTH as f32;
            assert!(!fails && y[0].as_slice::<f32>().unwrap().iter().all(|y| *y == expected));
            None
        }
        Err(error) => {
            let is_told = fails && error.code() == Code::Internal && error.message().contains(PANIC);
            assert!(is_told || error.code() == Code::Cancelled, "{error}");
            Some(error.code())
        }
    }
}

#[test]
fn sessions_come_and_go_while_others_run() {
    let _alone = alone();
    quiet();
    let (graph, shared) = (graph(), Arc::new(ThreadPool::new("shared", 2)));
    let first = |seed: usize| Mutex::new(new_session(&graph, &shared, &mut Random::new(seed as u64)));
    let slots: Vec<Mutex<Arc<Session>>> = (1..=3).map(first).collect();
    let (ended, seen) = (AtomicUsize::new(0), Mutex::new(HashSet::new()));
    watched(&ended, || {
        thread::scope(|scope| {
            for own in 0..THREADS {
                let (slots, graph, shared, ended, seen) = (&slots, &graph, &shared, &ended, &seen);
                scope.spawn(move || {
                    let mut random = Random::new(7 + own as u64);
                    for _ in 0..runs() / 20 / THREADS {
                        let slot = &slots[random.below(slots.len())];
                        let session = slot.lock().unwrap().clone();
                        match random.below(20) {
                            0 => *slot.lock().unwrap() = new_session(graph, shared, &mut random),
                            1 => {
                                session.close();
                                *slot.lock().unwrap() = new_session(graph, shared, &mut random);
                            }
                            _ => {
                                let end = one_run(&session, &mut random);
                                seen.lock().unwrap().insert(end);
                            }
                        }
                        ended.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
    });
    let seen = seen.into_inner().unwrap();
    for end in [None, Some(Code::Cancelled), Some(Code::Internal)] {
        assert!(seen.contains(&end) || runs() < 20_000, "no run ended with {end:?}");
    }
}
