//! Random executions of ops and corrupt graphs: nothing may panic, abort or hang, whatever the input.
//!
//! `KERNLINK_FUZZ_CASES` sets how many cases run, `KERNLINK_FUZZ_SEED` which is the first. A case that kills the process
//! is the one in the file `fuzz_ops.txt` that the test names when it starts.

#[path = "../support/mod.rs"]
mod support;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kernlink::device::{CpuDevice, Device};
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::{GraphDef, graph_from_bytes, read_graph};
use kernlink::runtime::Session;
use kernlink::tensor::Tensor;
use prost::Message;
use support::random_op::{self, Choices, generator};

/// How long one case may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Where the last panic came from.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// The case that runs; 0 for none.
static RUNNING: AtomicU64 = AtomicU64::new(0);

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Large requests must fail, not fill the machine.
#[cfg(target_os = "linux")]
fn limit_memory() {
    const MORE: u64 = 1 << 29;
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = text.split(' ').next().and_then(|word| word.parse().ok()).expect("pages");
    let bytes = pages * 4096 + MORE;
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the call only reads `limit`.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory() {}

/// Ends the process if one case takes too long.
fn watch() {
    std::thread::spawn(|| {
        let mut last = (0, std::time::Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let running = RUNNING.load(Ordering::Relaxed);
            if running != last.0 {
                last = (running, std::time::Instant::now());
            } else if running != 0 && last.1.elapsed() > LIMIT {
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

/// Imports a graph whose bytes may be anything and, if it is small, runs it.
fn import_and_run(bytes: Vec<u8>, device: &Arc<dyn Device>, feed: &[(&str, Tensor)]) -> Result<bool, String> {
    let Ok(def) = graph_from_bytes(bytes) else { return Ok(false) };
    let registry = kernlink::registry().map_err(|error| error.to_string())?;
    let graph = match Graph::import(&def, &registry) {
        Ok(graph) => graph,
        Err(error) => return random_op::is_fault(&error).map(|()| false),
    };
    let sinks: Vec<String> = graph.sinks().into_iter().map(|id| graph.node(id).name.clone()).collect();
    let targets: Vec<&str> = sinks.iter().map(String::as_str).collect();
    if targets.is_empty() {
        return Ok(false);
    }
    match Session::on(graph, device.clone()).run(feed, &[], &targets) {
        Ok(_) => Ok(true),
        Err(error) => random_op::is_fault(&error).map(|()| false),
    }
}

fn corrupt(choices: &mut Choices, bytes: &mut Vec<u8>) {
    for _ in 0..1 + choices.below(4) {
        if bytes.is_empty() {
            return;
        }
        let position = (choices.below(1 << 15) << 15 | choices.below(1 << 15)) % bytes.len();
        match choices.below(5) {
            0 => bytes.truncate(position),
            1 => bytes[position] ^= 1 << choices.below(8),
            2 => bytes[position] = choices.below(256) as u8,
            3 => drop(bytes.remove(position)),
            _ => bytes.insert(position, choices.below(256) as u8),
        }
    }
}

#[test]
fn nothing_panics() {
    let registry = kernlink::registry().unwrap();
    let graphs: Vec<GraphDef> = support::golden_files().iter().map(|file| read_graph(file).unwrap()).collect();
    let seeds: Vec<_> = graphs.iter().flat_map(random_op::seeds).collect();
    assert!(seeds.len() > 1000, "the golden data gives {} cases to start from", seeds.len());
    let digits = std::fs::read(support::path("examples/digits/digits.pb")).unwrap();
    let images = Tensor::zeros(DataType::Float, [1, 8, 8, 1]).unwrap();
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(2).unwrap());
    limit_memory();
    watch();
    std::panic::set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string().replace('\n', " ")));

    let log = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz_ops.txt");
    println!("the case that runs is in {}", log.display());
    let (first, count) = (number("KERNLINK_FUZZ_SEED", 1), number("KERNLINK_FUZZ_CASES", 4000));
    let (mut good, mut faults) = (0, Vec::new());
    for seed in first..first + count {
        RUNNING.store(seed, Ordering::Relaxed);
        let mut draw = generator(seed);
        let mut choices = Choices(&mut draw);
        let result = match seed % 8 {
            0 => {
                let source = &seeds[choices.below(seeds.len())];
                let mut bytes = as_graph(source).encode_to_vec();
                corrupt(&mut choices, &mut bytes);
                std::fs::write(&log, format!("{seed}: a corrupt graph of {source}")).unwrap();
                guarded(|| import_and_run(bytes, &device, &[])).map_err(|fault| format!("corrupt {source}\n{fault}"))
            }
            1 if seed % 64 == 1 => {
                let mut bytes = digits.clone();
                corrupt(&mut choices, &mut bytes);
                std::fs::write(&log, format!("{seed}: corrupt digits")).unwrap();
                guarded(|| import_and_run(bytes, &device, &[("images", images.clone())]))
            }
            _ => {
                let Some(case) = random_op::random_case(&mut choices, &registry, &seeds) else { continue };
                std::fs::write(&log, format!("{seed}: {case}")).unwrap();
                guarded(|| random_op::check(&case, &registry, &*device, &mut choices))
                    .map_err(|fault| format!("{case}\n  {fault}"))
            }
        };
        match result {
            Ok(ran) => good += usize::from(ran),
            Err(fault) => faults.push(format!("case {seed}: {fault}")),
        }
    }
    RUNNING.store(0, Ordering::Relaxed);
    drop(std::panic::take_hook());
    println!("{count} cases, {good} of which ran to the end, {} faults", faults.len());
    let text = faults.iter().fold(String::new(), |mut text, fault| {
        let _ = writeln!(text, "{fault}\n");
        text
    });
    assert!(faults.is_empty(), "{text}{} faults", faults.len());
    assert!(good as u64 > count / 20, "the cases are too poor: only {good} of {count} ran to the end");
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
