//! Random graphs: each runs with all passes and with none, and both give the same values or the same error; every fourth on
//! several threads.
//!
//! | variable | says | default |
//! |---|---|---|
//! | `KERNLINK_RANDOM_GRAPHS` | how many graphs there are | 300 |
//! | `KERNLINK_RANDOM_FROM` | the seed of the first | 1 |

mod material;
mod patterns;
mod write;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use kernlink::attr::AttrValue;
use kernlink::optimize::{Ends, Optimizer, PASSES};
use kernlink::prelude::*;
use kernlink::registry::{KernelFilter, Registry};
use kernlink::runtime::RunOptions;

use crate::rewrite_examples::EXAMPLES;
use crate::support::Random;
use material::feed_like;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// All ops and kernels but those of these tests: passes leave ops alone that have kernels of others.
pub(crate) fn registry() -> &'static Arc<Registry> {
    static REGISTRY: OnceLock<Arc<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let registry = Registry::linked(&[]).unwrap();
        let kernels = registry.kernels_where(|kernel| kernel.device.0 == "GPU");
        let ops: HashSet<&str> = kernels.iter().map(|kernel| kernel.op).collect();
        for op in ops {
            registry.remove_kernels(&KernelFilter::op(op).device("GPU")).unwrap();
        }
        Arc::new(registry)
    })
}

/// A graph, and runs of it.
struct Case {
    graph: Graph,
    runs: Vec<Run>,
    devices: usize,
    threads: usize,
}

/// What is fed, fetched and run, by names.
struct Run {
    feeds: Vec<(String, Tensor)>,
    fetches: Vec<String>,
    targets: Vec<String>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        (0..3).for_each(|_| _ = random.next());
        let mut graph = Graph::new(registry());
        let threads = if seed.is_multiple_of(4) { 4 } else { 1 };
        let written = write::write(&mut graph, &mut random, threads > 1, seed);
        let runs = (0..1 + random.below(3)).map(|_| Run::new(&graph, &written, &mut random)).collect();
        let devices = if random.below(4) == 0 { 2 } else { 1 };
        Case { graph, runs, devices, threads }
    }

    /// What each run gives, and the same again in its session; after a failure that is not asked: what else a run did that
    /// failed is for it to say.
    fn values(&self, graph: &Graph, options: &SessionOptions) -> Vec<[Result<Vec<Tensor>>; 2]> {
        let options = options.clone().threads(self.threads).cpu_devices(self.devices);
        let run = |run: &Run| {
            let session = Session::with_options(graph.clone(), &options).unwrap();
            let feeds: Vec<(&str, Tensor)> = run.feeds.iter().map(|(name, value)| (&**name, value.clone())).collect();
            let fetches: Vec<&str> = run.fetches.iter().map(String::as_str).collect();
            let targets: Vec<&str> = run.targets.iter().map(String::as_str).collect();
            let limits = RunOptions::new().timeout(Duration::from_secs(20));
            let values = || session.run_with(&feeds, &fetches, &targets, &limits);
            let first = values();
            let again = if first.is_ok() { values() } else { first.clone() };
            [first, again]
        };
        self.runs.iter().map(run).collect()
    }

    /// Whether an error may be that of a run without passes: that of a node which fails for itself. Of several that fail, the
    /// first says so, and passes may change which that is.
    fn may_give(&self, run: usize, error: &Error) -> bool {
        let Some(node) = error.node().filter(|node| node.function.is_empty()) else { return false };
        let run = &self.runs[run];
        let alone = Run { feeds: run.feeds.clone(), fetches: Vec::new(), targets: vec![node.node.clone()] };
        let case = Case { graph: self.graph.clone(), runs: vec![alone], devices: self.devices, threads: self.threads };
        let [first, _] = &case.values(&self.graph, &without_passes())[0];
        first.as_ref().is_err_and(|other| other.code() == error.code())
    }
}

impl Run {
    fn new(graph: &Graph, written: &write::Written, random: &mut Random) -> Run {
        let mut feeds: Vec<(String, Tensor)> = Vec::new();
        for &output in &written.placeholders {
            feeds.push((graph.output_name(output), feed_like(graph, output, random)));
        }
        // In the middle, too.
        let outputs = &written.outputs;
        for _ in 0..[0, 0, 1, 2][random.below(4)] {
            let output = outputs[random.below(outputs.len())];
            let name = graph.output_name(output);
            if feeds.iter().all(|(fed, _)| *fed != name) {
                feeds.push((name, feed_like(graph, output, random)));
            }
        }
        let mut fetches: Vec<String> = Vec::new();
        for _ in 0..1 + random.below(4) {
            // The last depend on most.
            let from = if random.below(3) == 0 { 0 } else { outputs.len() * 2 / 3 };
            let name = graph.output_name(outputs[from + random.below(outputs.len() - from)]);
            if feeds.iter().all(|(fed, _)| *fed != name) {
                fetches.push(name);
            }
        }
        let mut targets: Vec<String> = Vec::new();
        for &node in &written.effects {
            if random.below(2) == 0 {
                targets.push(graph.node(node).name.clone());
            }
        }
        Run { feeds, fetches, targets }
    }

    fn ends(&self, graph: &Graph) -> Ends {
        let output = |name: &String| graph.output(name).unwrap();
        Ends::new(
            self.feeds.iter().map(|(name, _)| output(name)).collect(),
            self.fetches.iter().map(output).collect(),
            self.targets.iter().map(|name| graph.find(name).unwrap()).collect(),
        )
    }
}

/// Whether two tensors hold the same, each NaN like any other.
fn is_same(a: &Tensor, b: &Tensor) -> bool {
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return false;
    }
    match a.dtype() {
        DataType::Float => {
            let (a, b) = (a.as_slice::<f32>().unwrap(), b.as_slice::<f32>().unwrap());
            a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
        }
        DataType::Double => {
            let (a, b) = (a.as_slice::<f64>().unwrap(), b.as_slice::<f64>().unwrap());
            a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
        }
        _ => (0..a.num_elements()).all(|index| a.element_text(index) == b.element_text(index)),
    }
}

/// How often there are nodes that a run needs, by the names of their functions and their own: once for each call. `passes` is how
/// often passes run first.
fn counted(graph: &Graph, run: &Run, passes: usize) -> HashMap<[String; 2], usize> {
    let mut counts: HashMap<[String; 2], usize> = HashMap::new();
    let mut count = |function: &str, graph: &mut Graph, ends: &mut Ends| {
        (0..passes).for_each(|_| _ = Optimizer::default().optimize(graph, ends).unwrap());
        let mut called = Vec::new();
        // What is fed stays, and what that needs.
        for id in graph.needed(ends.feeds(), ends.fetches(), ends.targets()) {
            let node = graph.node(id);
            // One that was taken from a function goes on to be called what it was there.
            let text = |attr: &str| match node.attrs.get(attr) {
                Some(AttrValue::String(text)) => Some(String::from_utf8(text.as_bytes().to_vec()).unwrap()),
                _ => None,
            };
            let own = || [function.to_owned(), node.name.clone()];
            let was = text("_inlined_function").zip(text("_inlined_node"));
            *counts.entry(was.map_or_else(own, |(function, node)| [function, node])).or_default() += 1;
            for (_, value) in node.attrs.iter() {
                match value {
                    AttrValue::Func(function) => called.push(function.clone()),
                    AttrValue::ListFunc(functions) => called.extend(functions.clone()),
                    _ => {}
                }
            }
        }
        called
    };
    let mut open = count("", &mut graph.clone(), &mut run.ends(graph));
    while let Some(call) = open.pop() {
        let mut body = graph.function_body(&call).unwrap();
        let mut ends = Ends::new(body.arguments, body.results, body.targets);
        open.extend(count(&call.name, &mut body.graph, &mut ends));
    }
    counts
}

/// Whether an error may be that of a node which nothing needs any more, in one of the calls of its function: passes need not run
/// what has no effects.
fn is_of_none(error: &Error, graph: &Graph, run: &Run) -> bool {
    error.node().is_some_and(|node| {
        let name = [node.function.clone(), node.node.clone()];
        let number = |passes: usize| counted(graph, run, passes).get(&name).copied().unwrap_or(0);
        // As often as a session does.
        let left = number(3);
        left == 0 || left < number(0)
    })
}

/// What differs between runs with and without passes.
fn difference(case: &Case, with: &[[Result<Vec<Tensor>>; 2]], without: &[[Result<Vec<Tensor>>; 2]]) -> Option<String> {
    for (run, (with, without)) in with.iter().zip(without).enumerate() {
        for (time, (with, without)) in with.iter().zip(without).enumerate() {
            let at = format!("run {run}.{time}");
            match (with, without) {
                (Ok(a), Ok(b)) => {
                    if let Some(index) = (0..a.len()).find(|&index| !is_same(&a[index], &b[index])) {
                        let text = |t: &Tensor| format!("{} {} {}", t.dtype(), t.shape(), t.values_text());
                        let (a, b) = (text(&a[index]), text(&b[index]));
                        return Some(format!("{at}, fetch {index}: {a}\n  without passes {b}"));
                    }
                }
                (Err(a), Err(b)) if a.code() == b.code() || case.may_give(run, a) => {}
                (Err(a), Err(b)) => return Some(format!("{at}: {a}\n  without passes {b}")),
                // The second time is without passes what the first was.
                (Ok(_), Err(b)) if is_of_none(b, &case.graph, &case.runs[run]) => break,
                (Ok(_), Err(b)) => return Some(format!("{at} succeeds, without passes: {b}")),
                (Err(a), Ok(_)) => return Some(format!("{at} succeeds without passes; with them: {a}")),
            }
        }
    }
    None
}

fn without_passes() -> SessionOptions {
    PASSES.iter().fold(SessionOptions::new(), |options, pass| options.without_pass(pass.name()))
}

/// The rewrites whose results may differ in the last bits.
const ROUNDING: [&str; 7] = [
    "fuse-layer-norm",
    "fuse-moments-norm",
    "fuse-centred-norm",
    "fuse-gelu-erf",
    "fuse-gelu-distribution",
    "fuse-half-gelu",
    "fuse-hard-swish-sixth",
];

/// All passes whose results are the same to the bit.
fn with_passes() -> SessionOptions {
    ROUNDING.iter().fold(SessionOptions::new(), |options, name| options.without_pass(*name))
}

/// What of a graph is fetched by all runs is optimised to be written, and runs as it is.
fn written(case: &Case, optimizer: &Optimizer) -> Graph {
    let mut graph = case.graph.clone();
    let output = |name: &String| graph.output(name).unwrap();
    let feeds = case.runs.iter().flat_map(|run| run.feeds.iter().map(|(name, _)| output(name))).collect();
    let fetches = case.runs.iter().flat_map(|run| run.fetches.iter().map(output)).collect();
    let targets = case.runs.iter().flat_map(|run| run.targets.iter().map(|name| graph.find(name).unwrap())).collect();
    let mut ends = Ends::new(feeds, fetches, targets);
    ends.is_written = true;
    optimizer.optimize(&mut graph, &mut ends).unwrap();
    graph
}

/// The rewrite alone of the example that is in the graph of a seed: others may take what it would.
fn of_example(seed: u64) -> Optimizer {
    Optimizer::only([EXAMPLES[(seed % EXAMPLES.len() as u64) as usize].rewrite]).unwrap()
}

#[derive(Default)]
struct Tally {
    runs: AtomicU64,
    succeeded: AtomicU64,
    nodes: AtomicU64,
    /// How often each pass and rewrite changed something in the graphs themselves, not to speak of functions.
    rewrites: Mutex<BTreeMap<&'static str, usize>>,
}

impl Tally {
    fn count_rewrites(&self, case: &Case, seed: u64) {
        let optimizers = [Optimizer::default(), of_example(seed)];
        for (run, optimizer) in case.runs.iter().flat_map(|run| optimizers.iter().map(move |by| (run, by))) {
            let (mut graph, mut ends) = (case.graph.clone(), run.ends(&case.graph));
            // Those that are inexact are counted alone.
            let reports = optimizer.clone().with_inexact(true).optimize(&mut graph, &mut ends).unwrap();
            // Others are the graph's: what it has cannot be added again.
            let mut failed = reports.iter().flat_map(|report| &report.failed);
            let fault = failed.find(|(_, error)| error.code() == Code::Internal);
            assert!(fault.is_none(), "{fault:?}");
            let mut rewrites = self.rewrites.lock().unwrap();
            for report in reports {
                if report.changes > 0 {
                    *rewrites.entry(report.name).or_default() += report.changes;
                }
                report.parts.into_iter().for_each(|(name, times)| *rewrites.entry(name).or_default() += times);
            }
        }
    }
}

fn check(seed: u64, tally: &Tally) -> Option<String> {
    let case = Case::new(seed);
    let without = case.values(&case.graph, &without_passes());
    tally.runs.fetch_add(without.len() as u64, Ordering::Relaxed);
    tally.succeeded.fetch_add(without.iter().filter(|run| run[0].is_ok()).count() as u64, Ordering::Relaxed);
    tally.nodes.fetch_add(case.graph.nodes().len() as u64, Ordering::Relaxed);
    let with = case.values(&case.graph, &with_passes());
    tally.count_rewrites(&case, seed);
    if let Some(difference) = difference(&case, &with, &without) {
        // Which pass it is.
        let to_blame = PASSES.iter().filter(|pass| {
            let with = case.values(&case.graph, &with_passes().without_pass(pass.name()));
            self::difference(&case, &with, &without).is_none()
        });
        let names: Vec<&str> = to_blame.map(|pass| pass.name()).collect();
        return Some(format!("{difference}\n  not without {}", names.join(" or ")));
    }
    let rounds = ROUNDING.contains(&EXAMPLES[(seed % EXAMPLES.len() as u64) as usize].rewrite);
    let optimizer = match seed % 3 {
        0 => Some(Optimizer::default()),
        1 if !rounds => Some(of_example(seed)),
        _ => None,
    };
    if let Some(optimizer) = optimizer
        && let Some(difference) =
            difference(&case, &case.values(&written(&case, &optimizer), &without_passes()), &without)
    {
        return Some(format!("optimised to be written: {difference}"));
    }
    None
}

#[test]
fn passes_change_nothing_that_a_run_gives() {
    let (first, count) = (number("KERNLINK_RANDOM_FROM", 1), number("KERNLINK_RANDOM_GRAPHS", 300));
    let (next, tally) = (AtomicU64::new(first), Tally::default());
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let fault = catch_unwind(AssertUnwindSafe(|| check(seed, &tally)));
                    match fault {
                        Ok(None) => {}
                        Ok(Some(fault)) => faults.lock().unwrap().push(format!("seed {seed}: {fault}")),
                        Err(_) => faults.lock().unwrap().push(format!("seed {seed} panics")),
                    }
                }
            });
        }
    });
    let Tally { runs, succeeded, nodes, rewrites } = tally;
    let (runs, succeeded) = (runs.into_inner(), succeeded.into_inner());
    println!("{count} graphs from seed {first}, {} nodes: {succeeded} of {runs} runs succeed", nodes.into_inner());
    let rewrites = rewrites.into_inner().unwrap();
    println!("passes and rewrites: {rewrites:?}");
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}\n{} faults", faults[..faults.len().min(20)].join("\n"), faults.len());
    let all = PASSES.iter().map(|pass| pass.name()).chain(EXAMPLES.iter().map(|example| example.rewrite));
    let missing: Vec<&str> = all.filter(|name| !rewrites.contains_key(name)).collect();
    let fused = rewrites.get("fuse-element-wise").copied().unwrap_or(0);
    assert!(count < 50 || fused as u64 > count / 2, "{fused} chains of element-wise functions");
    assert!(count < 300 || missing.is_empty(), "never applied: {missing:?}");
    assert!(count < 50 || succeeded > runs / 3, "the graphs are too poor: {succeeded} of {runs} runs succeed");
}
