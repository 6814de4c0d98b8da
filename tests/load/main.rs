//! Load: tests that keep every processor busy, count the bytes of the whole process, or set its panic hook. They run one
//! at a time ([`alone`]), and in a binary of their own: the allocator that counts is the process's.
//!
//! One session under many threads, failing kernels, timeouts and cancellations at random, and queues that keep runs
//! waiting: every run ends, what happened adds up, and memory is level. `KERNLINK_LOAD_RUNS` says how many runs and
//! elements: 20,000 by default. One registry under many threads: `KERNLINK_STRESS_SECONDS` says for how long.

mod allocations;
#[path = "../support/counting.rs"]
mod counting;
#[cfg(feature = "gradients")]
mod derived;
mod linear;
mod prepare;
mod registry;
mod sessions;
#[path = "../support/mod.rs"]
mod support;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use counting::Counting;
use kernlink::attr::AttrValue;
use kernlink::prelude::*;
use kernlink::proto::NodeDef;
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::step::Cancellation;
use support::{Random, constant, graph, node};

kernlink::provider!();

const THREADS: usize = 8;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// ---- helpers ----

/// The tests count bytes and use all processors: one runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says nothing of the panics that the kernels of these tests are asked for.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some(PANIC) {
                default(info);
            }
        }));
    });
}

fn runs() -> usize {
    match std::env::var("KERNLINK_LOAD_RUNS") {
        Ok(runs) => runs.parse().expect("KERNLINK_LOAD_RUNS is a number"),
        Err(_) => 20_000,
    }
}

/// Runs `work`, and aborts the process if `progress` stands still for a minute: a run that never ends would hang the test.
fn watched<T>(progress: &AtomicUsize, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (mut seen, mut since) = (0, Instant::now());
            while !done.load(Ordering::SeqCst) {
                thread::park_timeout(Duration::from_millis(200));
                let now = progress.load(Ordering::SeqCst);
                if now != seen {
                    (seen, since) = (now, Instant::now());
                }
                if since.elapsed() > Duration::from_secs(60) {
                    eprintln!("a run does not end: {now} have ended");
                    std::process::abort();
                }
            }
        });
        let result = work();
        done.store(true, Ordering::SeqCst);
        watch.thread().unpark();
        result
    })
}

fn session(nodes: Vec<NodeDef>, threads: usize) -> Session {
    let graph = Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap();
    Session::with_options(graph, &SessionOptions::new().threads(threads)).unwrap()
}

fn types() -> AttrValue {
    AttrValue::ListType(vec![DataType::Int64])
}

fn placeholder(name: &str, dtype: DataType) -> NodeDef {
    let shape = AttrValue::Shape(PartialShape::from_dims(&[]).unwrap());
    node(name, "Placeholder", &[], &[("dtype", AttrValue::Type(dtype)), ("shape", shape)])
}

fn queue(capacity: i64) -> NodeDef {
    let shapes = AttrValue::ListShape(vec![PartialShape::from_dims(&[]).unwrap()]);
    let attrs = [("component_types", types()), ("shapes", shapes), ("capacity", AttrValue::Int(capacity))];
    node("queue", "FIFOQueueV2", &[], &attrs)
}

fn put(name: &str, value: &str) -> NodeDef {
    node(name, "QueueEnqueueV2", &["queue", value], &[("Tcomponents", types())])
}

fn take(name: &str, after: &[&str]) -> NodeDef {
    node(name, "QueueDequeueV2", &[&["queue"], after].concat(), &[("component_types", types())])
}

fn number(session: &Session, fetch: &str) -> i64 {
    session.run(&[], &[fetch], &[]).unwrap()[0].to_i64_vec().unwrap()[0]
}

// ---- everything at random ----

/// Fails at 1 and panics at 2.
#[register_op(input("mood: int32"), output("same: int32"), stateful, shape_fn = shape::unchanged)]
pub struct Temper;

struct TemperKernel;

const PANIC: &str = "out of temper";

#[register_kernel(device = Cpu)]
impl OpKernel<Temper> for TemperKernel {
    fn new(_: &KernelConstruction<Temper>) -> Result<Self> {
        Ok(TemperKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Temper>) -> Result<()> {
        let mood = ctx.input(Temper::MOOD)?.to_scalar::<i32>()?;
        ensure!(mood != 1, DataLoss, "as asked");
        assert!(mood != 2, "{PANIC}");
        ctx.set_output(Temper::SAME, Tensor::scalar(mood))
    }
}

/// A counter: an addition with a kernel before and after it that may fail, and one before it that waits.
fn counter() -> Vec<NodeDef> {
    let attrs = [
        ("dtype", AttrValue::Type(DataType::Int64)),
        ("shape", AttrValue::Shape(PartialShape::from_dims(&[]).unwrap())),
        ("shared_name", AttrValue::String("counter".into())),
    ];
    let dtype = || [("dtype", AttrValue::Type(DataType::Int64))];
    let add = |name: &str, after: &str| node(name, "AssignAddVariableOp", &["counter", "one", after], &dtype());
    vec![
        node("counter", "VarHandleOp", &[], &attrs),
        constant("zero", Tensor::scalar(0i64)),
        constant("one", Tensor::scalar(1i64)),
        node("start", "AssignVariableOp", &["counter", "zero"], &dtype()),
        node("count", "ReadVariableOp", &["counter"], &dtype()),
        placeholder("mood", DataType::Int32),
        // Kernels that may fail before and after.
        node("before", "Temper", &["mood"], &[]),
        add("add_after", "^before"),
        node("read", "ReadVariableOp", &["counter", "^add_after"], &dtype()),
        node("plain", "AssignAddVariableOp", &["counter", "one"], &dtype()),
        node("after", "Temper", &["mood", "^plain"], &[]),
        // Kernels that wait.
        queue(16),
        placeholder("token", DataType::Int64),
        put("put", "token"),
        take("take", &[]),
        add("add_taken", "^take"),
        node("size", "QueueSizeV2", &["queue"], &[]),
    ]
}

#[derive(Default)]
struct Tally {
    ended: AtomicUsize,
    added: AtomicI64,
    put: AtomicI64,
    perhaps_put: AtomicI64,
    taken: AtomicI64,
    failed: AtomicUsize,
    timed_out: AtomicUsize,
    cancelled: AtomicUsize,
}

impl Tally {
    fn add(counter: &AtomicI64) {
        counter.fetch_add(1, Ordering::SeqCst);
    }

    /// A run that waits, with a timeout, and which others may cancel. Its statistics say which of its nodes ran.
    fn wait(&self, session: &Session, random: &mut Random, slots: &[Mutex<Cancellation>], own: usize) {
        let cancellation = Cancellation::new();
        *slots[own].lock().unwrap() = cancellation.clone();
        let timeout = Duration::from_micros(50 + random.below(1000) as u64);
        let options = RunOptions::new().timeout(timeout).cancellation(&cancellation).trace(true);
        let mut metadata = RunMetadata::default();
        let puts = random.below(2) == 0;
        let result = if puts {
            let feeds = [("token", Tensor::scalar(own as i64))];
            session.run_with_metadata(&feeds, &[], &["put"], &options, &mut metadata)
        } else {
            session.run_with_metadata(&[], &["take"], &["add_taken"], &options, &mut metadata)
        };
        let ran = |name: &str| metadata.step_stats.iter().any(|stats| stats.node == name);
        for (name, counter) in [("put", &self.put), ("take", &self.taken), ("add_taken", &self.added)] {
            if ran(name) {
                Tally::add(counter);
            }
        }
        if result.is_err() && puts && !ran("put") {
            // A run may be over before it learns that a taker made room for its token.
            Tally::add(&self.perhaps_put);
        }
        match result {
            Ok(_) => assert!(ran(if puts { "put" } else { "add_taken" })),
            Err(error) if error.code() == Code::DeadlineExceeded => _ = self.timed_out.fetch_add(1, Ordering::SeqCst),
            Err(error) if error.code() == Code::Cancelled => _ = self.cancelled.fetch_add(1, Ordering::SeqCst),
            Err(error) => panic!("{error}"),
        }
    }

    fn run(&self, session: &Session, random: &mut Random, slots: &[Mutex<Cancellation>], own: usize) {
        let mood = |mood: i32| [("mood", Tensor::scalar(mood))];
        match random.below(20) {
            0..8 => {
                let read = session.run(&mood(0), &["read"], &[]).unwrap()[0].to_scalar::<i64>().unwrap();
                Tally::add(&self.added);
                assert!(read > 0);
            }
            kind @ 8..12 => {
                let fails = 1 + kind as i32 % 2;
                let fetch = if kind < 10 { "read" } else { "after" };
                let error = session.run(&mood(fails), &[fetch], &[]).unwrap_err();
                assert_eq!(error.code(), if fails == 1 { Code::DataLoss } else { Code::Internal }, "{error}");
                let culprit = if kind < 10 { "before" } else { "after" };
                assert!(error.to_string().contains(culprit), "{error}");
                if fetch == "after" {
                    Tally::add(&self.added);
                }
                self.failed.fetch_add(1, Ordering::SeqCst);
            }
            12..14 => {
                let other = slots[random.below(slots.len())].lock().unwrap().clone();
                other.cancel(Error::cancelled("at random"));
                let read = session.run(&[], &["count"], &[]).unwrap()[0].to_scalar::<i64>().unwrap();
                assert!(read >= 0);
            }
            _ => self.wait(session, random, slots, own),
        }
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn work(&self, session: &Session, runs: usize, seed: u64) {
        let slots: Vec<Mutex<Cancellation>> = (0..THREADS).map(|_| Mutex::default()).collect();
        thread::scope(|scope| {
            for own in 0..THREADS {
                let slots = &slots;
                scope.spawn(move || {
                    let mut random = Random::new(seed * 100 + own as u64);
                    for _ in 0..runs / THREADS {
                        self.run(session, &mut random, slots, own);
                    }
                });
            }
        });
    }

    fn check(&self, session: &Session) {
        assert_eq!(number(session, "count"), self.added.load(Ordering::SeqCst));
        let least = self.put.load(Ordering::SeqCst) - self.taken.load(Ordering::SeqCst);
        let (size, most) = (number(session, "size"), least + self.perhaps_put.load(Ordering::SeqCst));
        assert!((least..=most).contains(&size), "{size} tokens, not {least} to {most}");
    }
}

#[test]
fn runs_that_fail_wait_and_are_cancelled_add_up_and_leave_nothing() {
    let _turn = alone();
    quiet();
    let session = session(counter(), 2);
    session.run(&[], &[], &["start"]).unwrap();
    let (tally, runs, start) = (Tally::default(), runs(), Instant::now());
    let live = |session: &Session| {
        while number(session, "size") > 0 {
            session.run(&[], &["take"], &[]).unwrap();
            Tally::add(&tally.taken);
        }
        counting::live()
    };
    watched(&tally.ended, || {
        // What is made once is made at first.
        tally.work(&session, runs / 5, 1);
        tally.check(&session);
        let before = live(&session);
        tally.work(&session, runs - runs / 5, 2);
        tally.check(&session);
        let after = live(&session);
        assert!(after - before < 64 << 10, "{before} bytes lived before, {after} after {runs} runs");
        println!("{before} bytes lived before, {after} after");
    });
    let ended = tally.ended.load(Ordering::SeqCst);
    assert!(ended + 2 * THREADS > runs);
    for (count, name) in
        [(&tally.failed, "failed"), (&tally.timed_out, "ran out of time"), (&tally.cancelled, "were cancelled")]
    {
        let count = count.load(Ordering::SeqCst);
        println!("{count} {name}");
        assert!(count > 0 || runs < 1000, "none {name}");
    }
    let (added, taken) = (tally.added.into_inner(), tally.taken.into_inner());
    println!("{ended} runs in {:.1} s: {added} added, {taken} tokens were taken", start.elapsed().as_secs_f64());
}

// ---- a pipeline ----

/// How many elements a producer's run puts in and a consumer's takes out: as many kernels wait in one run.
const EACH: usize = 4;
const PAIRS: usize = 4;

#[test]
fn a_pipeline_wider_than_its_pool_loses_nothing_and_repeats_nothing() {
    let _turn = alone();
    let mut nodes = vec![queue(10), node("size", "QueueSizeV2", &["queue"], &[])];
    let name = |what: &str, thread: usize, part: usize| format!("{what}{thread}_{part}");
    for (thread, part) in (0..PAIRS).flat_map(|thread| (0..EACH).map(move |part| (thread, part))) {
        let value = name("value", thread, part);
        nodes.extend([
            placeholder(&value, DataType::Int64),
            put(&name("put", thread, part), &value),
            take(&name("take", thread, part), &[]),
        ]);
    }
    for threads in [2, 1] {
        let (session, start) = (session(nodes.clone(), threads), Instant::now());
        let each = runs() / (PAIRS * EACH);
        let seen: Vec<AtomicUsize> = (0..each * PAIRS * EACH).map(|_| AtomicUsize::new(0)).collect();
        let moved = AtomicUsize::new(0);
        watched(&moved, || {
            thread::scope(|scope| {
                let (session, seen, moved, name) = (&session, &seen, &moved, &name);
                for thread in 0..PAIRS {
                    let names = move |what: &str| (0..EACH).map(|part| name(what, thread, part)).collect::<Vec<_>>();
                    scope.spawn(move || {
                        let (values, puts) = (names("value"), names("put"));
                        let puts: Vec<&str> = puts.iter().map(String::as_str).collect();
                        for run in 0..each {
                            let value = |part| Tensor::scalar(((thread * each + run) * EACH + part) as i64);
                            let feeds = values.iter().enumerate().map(|(part, name)| (name.as_str(), value(part)));
                            session.run(&feeds.collect::<Vec<_>>(), &[], &puts).unwrap();
                        }
                    });
                    scope.spawn(move || {
                        let takes = names("take");
                        let takes: Vec<&str> = takes.iter().map(String::as_str).collect();
                        for _ in 0..each {
                            for taken in session.run(&[], &takes, &[]).unwrap() {
                                let taken = taken.to_scalar::<i64>().unwrap() as usize;
                                seen[taken].fetch_add(1, Ordering::SeqCst);
                                moved.fetch_add(1, Ordering::SeqCst);
                            }
                        }
                    });
                }
            });
        });
        assert!(seen.iter().all(|seen| seen.load(Ordering::SeqCst) == 1));
        assert_eq!(number(&session, "size"), 0);
        let (count, seconds) = (seen.len(), start.elapsed().as_secs_f64());
        println!("{count} elements went through a pool of {threads} in {seconds:.1} s");
    }
}
