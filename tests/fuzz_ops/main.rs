//! Random executions of ops, mutated golden graphs and corrupt files: nothing may panic, abort or hang, whatever the input.
//!
//! Cases run in a process of their own, with a limit on its address space; one that kills the process is a fault like any
//! other, and the next case runs in a new process.
//!
//! | variable | says | default |
//! |---|---|---|
//! | `KERNLINK_FUZZ_CASES` | how many cases run | 3000 |
//! | `KERNLINK_FUZZ_SEED` | which is the first | 1 |
//! | `KERNLINK_FUZZ_GIB` | the address space, in GiB; the less, the sooner large outputs are refused instead of computed | 4 |
//! | `KERNLINK_FUZZ_SECONDS` | how long one case may take | 60 |
//! | `KERNLINK_FUZZ_OPS` | run only these single ops, such as `MatMul,Conv2D` | all, and graphs and files |
//!
//! Of sixteen cases twelve are single ops, two golden graphs with other constants and attrs, one the message of a corrupt graph,
//! one a corrupt model or checkpoint. Ops that take what other nodes make, such as variables, run in the graphs of their golden
//! cases, where they and their constants change. The end says how many of each ran, and which ops never did.

mod files;
mod graphs;
#[path = "../support/mod.rs"]
mod support;
mod tally;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kernlink::device::{CpuDevice, Device};
use kernlink::graph::Graph;
use kernlink::proto::{GraphDef, Message, graph_from_bytes, read_graph};
use kernlink::registry::Registry;
use kernlink::runtime::{RunOptions, Session};
use support::random_op::{self, Choices, Material, Outcome, generator};
use tally::{Record, Tally};

/// Set in the process that runs cases: the folder for what they write.
const CHILD: &str = "KERNLINK_FUZZ_CHILD";

/// Where the last panic came from.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// The case that runs; 0 for none.
static RUNNING: AtomicU64 = AtomicU64::new(0);

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// The ops that alone run.
fn only_ops() -> Option<String> {
    std::env::var("KERNLINK_FUZZ_OPS").ok()
}

/// How graphs run: one that waits ends.
fn options() -> RunOptions {
    RunOptions::new().timeout(Duration::from_secs(2))
}

#[test]
fn nothing_panics() {
    match std::env::var_os(CHILD) {
        Some(folder) => Child::new(folder.into()).run(),
        None => watch_over_children(),
    }
}

#[test]
#[should_panic(expected = "no ops, or none that end by themselves: [\"NoSuchOp\", \"\"]")]
fn names_of_no_ops_are_told() {
    Material::new(&kernlink::registry().unwrap(), []).retain(&["MatMul", "NoSuchOp", ""]);
}

// ---- the process that watches ----

fn watch_over_children() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz_ops-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (first, count) = (number("KERNLINK_FUZZ_SEED", 1), number("KERNLINK_FUZZ_CASES", 3000));
    let (mut next, end) = (first, first + count);
    let (mut deaths, start) = (String::new(), Instant::now());
    while next < end {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "nothing_panics", "--nocapture"]).env(CHILD, &folder);
        child.env("KERNLINK_FUZZ_SEED", next.to_string()).env("KERNLINK_FUZZ_CASES", (end - next).to_string());
        let (from, output) = (next, child.output().unwrap());
        let log = std::fs::read_to_string(folder.join("case.txt")).unwrap_or_default();
        if output.status.success() {
            break;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let seed = log.split(':').next().and_then(|seed| seed.parse::<u64>().ok()).filter(|&seed| seed >= next);
        let Some(seed) = seed else { panic!("cases from {from} on: {}\n{errors}", output.status) };
        let last: Vec<&str> = errors.lines().rev().filter(|line| !line.starts_with("note:")).take(3).collect();
        let _ = writeln!(deaths, "case {log}\n  {}: {}\n", output.status, last.join(" | "));
        eprintln!("case {seed} killed its process");
        next = seed + 1;
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let (faults, tally) = (deaths + &read("faults.txt"), Tally::new(&read("ran.txt")));
    println!("{count} cases from seed {first} in {} s\n{tally}", start.elapsed().as_secs());
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(faults.is_empty(), "{faults}{} faults", faults.matches("case ").count());
    if only_ops().is_none() && count >= 1000 {
        let ran = tally.ran();
        assert!(ran as u64 > count / 3, "the cases are too poor: only {ran} of {count} ran to the end");
        assert!(tally.never_seen().is_empty(), "no case that ran has {:?}", tally.never_seen());
    }
}

// ---- the process that runs cases ----

/// Large requests must fail, not fill the machine.
#[cfg(target_os = "linux")]
fn limit_memory() {
    let bytes = number("KERNLINK_FUZZ_GIB", 4) << 30;
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the call only reads `limit`.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory() {}

/// Ends the process if one case takes too long.
fn watch() {
    let limit = Duration::from_secs(number("KERNLINK_FUZZ_SECONDS", 60));
    std::thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let running = RUNNING.load(Ordering::Relaxed);
            if running != last.0 {
                last = (running, Instant::now());
            } else if running != 0 && last.1.elapsed() > limit {
                eprintln!("case {running} hangs");
                std::process::abort();
            }
        }
    });
}

/// Runs something that must not panic.
fn guarded<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    PANIC.lock().unwrap().clear();
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(format!("{fault} {}", PANIC.lock().unwrap())),
        Err(_) => Err(format!("panicked {}", PANIC.lock().unwrap())),
    }
}

/// Imports a graph, which may be anything, and runs all of it.
fn run_graph(def: &GraphDef, device: &Arc<dyn Device>) -> Result<Outcome, String> {
    let registry = kernlink::registry().map_err(|error| error.to_string())?;
    let graph = match Graph::import(def, &registry) {
        Ok(graph) => graph,
        Err(error) => return random_op::is_fault(&error).map(|()| Outcome::Refused),
    };
    let sinks: Vec<String> = graph.sinks().into_iter().map(|id| graph.node(id).name.clone()).collect();
    let targets: Vec<&str> = sinks.iter().map(String::as_str).collect();
    if targets.is_empty() {
        return Ok(Outcome::Refused);
    }
    match Session::on(graph, device.clone()).run_with(&[], &[], &targets, &options()) {
        Ok(_) => Ok(Outcome::Ran),
        Err(error) => random_op::is_fault(&error).map(|()| Outcome::Failed),
    }
}

struct Child {
    folder: PathBuf,
    registry: Arc<Registry>,
    material: Material,
    graphs: Vec<GraphDef>,
    /// Of ops that only run in a graph, because they take what others make (variables, queues, iterators): the cases.
    in_graphs: BTreeMap<String, Vec<usize>>,
    models: Vec<files::Model>,
    device: Arc<dyn Device>,
}

impl Child {
    fn new(folder: PathBuf) -> Child {
        let registry = kernlink::registry().unwrap();
        let golden: Vec<GraphDef> = support::golden_files().iter().map(|file| read_graph(file).unwrap()).collect();
        let mut material = Material::new(&registry, golden.iter().flat_map(random_op::seeds));
        let graphs: Vec<GraphDef> = golden.iter().flat_map(support::golden_graphs::cases).collect();
        let mut in_graphs = support::golden_graphs::by_op(&graphs);
        in_graphs.retain(|op, _| !material.has_seeds(op));
        let (ops, seeds) = material.counts();
        assert!(ops > 700 && seeds > 5000 && graphs.len() > 300, "{ops} ops, {seeds} seeds, {} graphs", graphs.len());
        if let Some(ops) = only_ops() {
            material.retain(&ops.split(',').collect::<Vec<_>>());
        }
        let device: Arc<dyn Device> = Arc::new(CpuDevice::new(2).unwrap());
        Child { folder, registry, material, graphs, in_graphs, models: files::models(), device }
    }

    fn run(&self) {
        // What ops write goes there.
        let scratch = self.folder.join("scratch");
        std::fs::create_dir_all(&scratch).and_then(|()| std::env::set_current_dir(&scratch)).unwrap();
        limit_memory();
        watch();
        std::panic::set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string().replace('\n', " ")));
        let append = |name: &str| std::fs::OpenOptions::new().create(true).append(true).open(self.folder.join(name));
        let (mut ran, mut faults) = (append("ran.txt").unwrap(), append("faults.txt").unwrap());
        let first = number("KERNLINK_FUZZ_SEED", 1);
        for seed in first..first + number("KERNLINK_FUZZ_CASES", 1) {
            RUNNING.store(seed, Ordering::Relaxed);
            let start = Instant::now();
            let (what, marks, result) = self.case(seed);
            let outcome = *result.as_ref().unwrap_or(&Outcome::Failed);
            let record = Record { seed, what: &what, outcome, took: start.elapsed(), marks: &marks };
            write!(ran, "{record}").unwrap();
            if let Err(fault) = result {
                write!(faults, "case {seed}: {fault}\n\n").unwrap();
            }
        }
        RUNNING.store(0, Ordering::Relaxed);
        drop(std::panic::take_hook());
    }

    /// Runs a case; says what it was, what makes it hostile, and how far it got.
    fn case(&self, seed: u64) -> (String, String, Result<Outcome, String>) {
        let mut draw = generator(seed);
        let choices = &mut Choices(&mut draw);
        let log = |case: &dyn std::fmt::Display| {
            std::fs::write(self.folder.join("case.txt"), format!("{seed}: {case}")).unwrap();
        };
        let (what, result) = match seed % 16 {
            _ if only_ops().is_some() => return self.single_op(choices, &log),
            0 => {
                let source = self.material.seed(choices);
                let mut bytes = as_graph(source).encode_to_vec();
                files::corrupt(choices, &mut bytes);
                log(&format_args!("a corrupt graph of {source}"));
                let run = || match graph_from_bytes(bytes) {
                    Ok(def) => run_graph(&def, &self.device),
                    Err(_) => Ok(Outcome::Refused),
                };
                ("(message)", guarded(run).map_err(|fault| format!("corrupt {source}\n  {fault}")))
            }
            8 => {
                let model = &self.models[choices.below(self.models.len())];
                log(&format_args!("a corrupt file of {}", model.name()));
                let run = || model.corrupt_and_load(choices, &self.device);
                ("(file)", guarded(run).map_err(|fault| format!("corrupt {}\n  {fault}", model.name())))
            }
            1 | 9 => {
                let case = &self.graphs[choices.below(self.graphs.len())];
                let run =
                    || graphs::mutate_and_run(choices, case, None, &self.registry, &self.device, |case| log(&case));
                ("(graph)", guarded(run))
            }
            _ => return self.single_op(choices, &log),
        };
        (what.to_owned(), String::new(), result)
    }

    fn single_op(
        &self,
        choices: &mut Choices,
        log: &dyn Fn(&dyn std::fmt::Display),
    ) -> (String, String, Result<Outcome, String>) {
        let case = loop {
            if let Some(case) = random_op::random_case(choices, &self.material) {
                break case;
            }
        };
        if let Some(cases) = self.in_graphs.get(&case.op)
            && !choices.one_in(6)
        {
            let (graph, op) = (&self.graphs[cases[choices.below(cases.len())]], Some(case.op.as_str()));
            let run = || graphs::mutate_and_run(choices, graph, op, &self.registry, &self.device, |case| log(&case));
            return (case.op.clone(), String::new(), guarded(run));
        }
        log(&case);
        let run = || random_op::check(&case, &self.registry, &*self.device, choices);
        let result = guarded(run).map_err(|fault| format!("{case}\n  {fault}"));
        (case.op.clone(), tally::marks(&case), result)
    }
}

/// A graph with one node and its constant inputs.
fn as_graph(case: &random_op::Case) -> GraphDef {
    let inputs = case.inputs.iter().enumerate();
    let constants = inputs.clone().map(|(i, input)| support::constant(&format!("c{i}"), input.clone()));
    let names: Vec<String> = inputs.map(|(i, _)| format!("c{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let attrs: Vec<_> = case.attrs.iter().map(|(name, value)| (name, value.clone())).collect();
    let node = support::node("case", &case.op, &names, &attrs);
    support::graph(constants.chain([node]))
}
