//! Memory that kernels ask for: all whose size comes from a tensor or an attr may be refused, and what is refused is
//! RESOURCE_EXHAUSTED.
//!
//! Golden cases are made large: dimensions and sizes by the factor [`FACTOR`], strings longer. The allocator of the process
//! knows by the call stack whether a request may be refused (`try_reserve`) or ends the process (`collect`). One that ends
//! it and is larger than in the case as it was, is a fault. Then the requests that may be refused are, from each on.
//!
//! It takes one golden case of each op, which the seed `KERNLINK_SCRATCH_SEED` picks; `KERNLINK_SCRATCH_CASES` says how many.
//! With `KERNLINK_SCRATCH_OP` it takes only that op's. Ops that take what others make (variables, queues, tables, lists) run in
//! the graphs of their cases, whose constants are made large (`graphs.rs`). Processes of their own share the ops: the allocator
//! watches one op at a time.

#![cfg(debug_assertions)]

mod allocator;
mod exceptions;
mod fallback;
mod graphs;
mod rule;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod watchdog;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

use allocator::{callers, watched};
use exceptions::{EXCEPTIONS, SLOW};
use kernlink::device::{CpuDevice, Device};
use kernlink::dtype::{DataType, TString};
use kernlink::proto::{GraphDef, read_graph};
use kernlink::registry::Registry;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use support::random_op::{self, Case};
use watchdog::Watchdog;

/// How much larger a dimension becomes: in bytes, more than what is looked at.
const FACTOR: usize = allocator::LARGE + 1;

/// No input is made larger than this, in elements.
const MOST: usize = 1 << 18;

/// From so many refusals of one run on, only some are tried.
const REFUSALS: usize = 6;

/// How the elements along a dimension that grew come from those that were.
#[derive(Clone, Copy, PartialEq)]
enum Fill {
    /// Each many times in a row: what was in order is in order.
    Stretch,
    /// All, over and over.
    Tile,
}

/// The tensor with every dimension of size `size` as many times as large.
fn grown(tensor: &Tensor, size: usize, fill: Fill) -> Option<Tensor> {
    let old = tensor.shape();
    let dims: Vec<usize> = old.iter().map(|&dim| if dim == size { dim * FACTOR } else { dim }).collect();
    let count = dims.iter().try_fold(1usize, |count, &dim| count.checked_mul(dim))?;
    if count > MOST || !(tensor.dtype().is_pod() || tensor.dtype() == DataType::String) {
        return None;
    }
    let place = |mut index: usize| {
        let (mut from, mut stride) = (0, 1);
        for axis in (0..dims.len()).rev() {
            let (at, dim) = (index % dims[axis], old[axis]);
            index /= dims[axis];
            let at = if dims[axis] == dim {
                at
            } else if fill == Fill::Tile {
                at % dim
            } else {
                at / FACTOR
            };
            from += at * stride;
            stride *= dim;
        }
        from
    };
    picked(tensor, Shape::from(dims.clone()), (0..count).map(place))
}

/// The elements at these places.
fn picked(tensor: &Tensor, shape: Shape, places: impl Iterator<Item = usize>) -> Option<Tensor> {
    if let Ok(texts) = tensor.as_slice::<TString>() {
        let texts: Vec<TString> = places.map(|place| texts[place].clone()).collect();
        return Tensor::from_elements(shape, &texts).ok();
    }
    let (bytes, size) = (tensor.bytes().ok()?, tensor.dtype().size());
    let bytes: Vec<u8> = places.flat_map(|place| &bytes[place * size..][..size]).copied().collect();
    Tensor::from_bytes(tensor.dtype(), shape, &bytes).ok()
}

/// The tensor with integers (and floats, if `all`) for which `grows` holds as many times as large.
fn with_larger_values(tensor: &Tensor, grows: impl Fn(f64) -> bool) -> Tensor {
    let grow = |value: f64| if grows(value) { value * FACTOR as f64 } else { value };
    let elements = match tensor.dtype() {
        DataType::Int32 => {
            let values = tensor.as_slice::<i32>().unwrap();
            Tensor::vector(&values.iter().map(|&value| grow(value.into()) as i32).collect::<Vec<_>>())
        }
        DataType::Int64 => {
            let values = tensor.as_slice::<i64>().unwrap();
            Tensor::vector(&values.iter().map(|&value| grow(value as f64) as i64).collect::<Vec<_>>())
        }
        _ => return tensor.clone(),
    };
    elements.and_then(|elements| elements.reshaped(tensor.shape().clone())).unwrap()
}

fn with_longer_strings(tensor: &Tensor) -> Tensor {
    let Ok(texts) = tensor.as_slice::<TString>() else { return tensor.clone() };
    let texts: Vec<TString> = texts.iter().map(|text| TString::from(text.repeat(FACTOR))).collect();
    Tensor::from_elements(tensor.shape().clone(), &texts).unwrap()
}

/// The inputs of a case, made large in every way there is.
fn enlarged(inputs: &[Tensor]) -> Vec<Vec<Tensor>> {
    let mut all = Vec::new();
    let sizes: BTreeSet<usize> =
        inputs.iter().flat_map(|input| input.shape().to_vec()).filter(|&size| size > 0).collect();
    for &size in &sizes {
        for fill in [Fill::Stretch, Fill::Tile] {
            let Some(larger) = inputs.iter().map(|input| grown(input, size, fill)).collect::<Option<Vec<_>>>() else {
                continue;
            };
            // Sizes are values, too: of shapes, splits and limits.
            let is_size = |value: f64| value == size as f64;
            all.push(larger.iter().map(|input| with_larger_values(input, is_size)).collect());
            all.push(larger);
        }
        // One input alone, and one alone along its first dimension.
        for (index, input) in inputs.iter().enumerate() {
            if input.rank() > 0
                && input.shape()[0] == size
                && let Some(larger) = grown(input, size, Fill::Stretch)
            {
                let mut inputs = inputs.to_vec();
                inputs[index] = larger;
                all.push(inputs);
            }
        }
    }
    for (index, input) in inputs.iter().enumerate() {
        for larger in [with_larger_values(input, |value| value >= 2.0), with_larger_values(input, |value| value >= 1.0)]
        {
            let mut inputs = inputs.to_vec();
            inputs[index] = larger;
            all.push(inputs);
        }
    }
    all.push(inputs.iter().map(|input| with_larger_values(input, |value| value >= 2.0)).collect());
    // One input at a time: a long pattern in a long text would take hours.
    for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.dtype() == DataType::String) {
        let mut inputs = inputs.to_vec();
        inputs[index] = with_longer_strings(input);
        all.push(inputs);
    }
    all
}

/// The largest infallible request of each place.
fn by_place(found: &allocator::Found) -> HashMap<String, usize> {
    let mut places = HashMap::new();
    for (stack, &size) in &found.infallible {
        let largest = places.entry(callers(stack).join(CALLED_BY)).or_insert(0);
        *largest = size.max(*largest);
    }
    places
}

/// Between the functions of a place.
const CALLED_BY: &str = "\n      < ";

#[derive(Default)]
struct Faults {
    places: BTreeMap<String, (BTreeSet<String>, usize)>,
    answers: BTreeSet<String>,
    /// Which exceptions occurred.
    met: BTreeSet<usize>,
    runs: usize,
    refusals: usize,
}

impl Faults {
    /// Runs `run` on what `make` makes, once with all requests granted and then with some refused. What counts is where a
    /// place is `ours`.
    fn check<S, T>(
        &mut self,
        name: &str,
        small: &HashMap<String, usize>,
        ours: fn(&str) -> bool,
        make: impl Fn() -> S,
        run: impl Fn(&S) -> Result<T>,
    ) {
        let state = make();
        let (result, found) = watched(None, || run(&state));
        self.runs += 1;
        // An error whose message gets no memory is that error, with a shorter message.
        let usual = result.err().map(|error| error.code());
        for (place, size) in by_place(&found) {
            if size <= small.get(&place).copied().unwrap_or(0) || !ours(&place) {
                continue;
            }
            if let Some(exception) = EXCEPTIONS.iter().position(|(function, _)| place.contains(function)) {
                self.met.insert(exception);
                continue;
            }
            let (names, largest) = self.places.entry(place).or_default();
            names.insert(name.to_owned());
            *largest = size.max(*largest);
        }
        let step = found.fallible.div_ceil(REFUSALS).max(1);
        for grants in (0..found.fallible).step_by(step) {
            let state = make();
            let (result, found) = watched(Some(grants), || run(&state));
            self.refusals += usize::from(found.refused);
            if let Err(error) = result
                && found.refused
                && ![Code::ResourceExhausted, Code::DeadlineExceeded].contains(&error.code())
                && Some(error.code()) != usual
            {
                self.answers.insert(format!("{name}: refused memory is {error}"));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (place, (names, size)) in &self.places {
            let names: Vec<&str> = names.iter().map(String::as_str).take(4).collect();
            let _ = writeln!(text, "{size} bytes, {}\n      {place}", names.join(", "));
        }
        self.answers.iter().for_each(|answer| {
            let _ = writeln!(text, "{answer}");
        });
        text
    }
}

fn run(case: &Case, inputs: &[Tensor], registry: &Arc<Registry>, device: &dyn Device) -> Result<Vec<Tensor>> {
    kernlink::runtime::run_op(registry, device, &case.op, case.attrs.clone(), inputs.to_vec())
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text}")))
}

/// Checks every `parts`-th op, from `part` on.
fn check(part: usize, parts: usize) -> Faults {
    let registry = kernlink::registry().unwrap();
    let golden: Vec<GraphDef> = support::golden_files().iter().map(|file| read_graph(file).unwrap()).collect();
    let mut by_op: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    // Those that wait for others run in graphs, which have a deadline.
    for case in golden.iter().flat_map(random_op::seeds).filter(|case| random_op::ends_alone(&case.op)) {
        by_op.entry(case.op.clone()).or_default().push(case);
    }
    let only = std::env::var("KERNLINK_SCRATCH_OP").ok();
    let most = number("KERNLINK_SCRATCH_CASES").unwrap_or(1).max(1);
    let seed = number("KERNLINK_SCRATCH_SEED").unwrap_or(14);
    let mut faults = Faults::default();
    let watchdog = Watchdog::new();
    for (index, (op, cases)) in by_op.iter().enumerate() {
        let is_wanted = match &only {
            Some(only) => only == op,
            None => SLOW.iter().all(|(slow, _)| slow != op),
        };
        if index % parts != part || !is_wanted {
            continue;
        }
        // What stateful ops keep goes with the device.
        let device = CpuDevice::new(1).unwrap();
        let step = cases.len().div_ceil(most);
        let chosen = cases.iter().skip(seed.wrapping_mul(31).wrapping_add(index) % step).step_by(step);
        watchdog.watch(op, || {
            for case in chosen {
                let (_, found) = watched(None, || run(case, &case.inputs, &registry, &device));
                let small = by_place(&found);
                for inputs in enlarged(&case.inputs) {
                    faults.check(op, &small, |_| true, || (), |()| run(case, &inputs, &registry, &device));
                }
            }
        });
    }
    let is_single = |op: &str| by_op.contains_key(op);
    graphs::check(&golden, is_single, only.as_deref(), (part, parts), seed, &watchdog, &mut faults);
    faults
}

/// The marks of a process's report.
const COUNTS: &str = "counts ";
const MET: &str = "met ";
const FAULTS: &str = "faults:\n";

/// Set in a process that [`alone`] started.
const ALONE: &str = "KERNLINK_SCRATCH_ALONE";

/// Starts a process that runs one ignored test, so that the allocator sees nothing else; what it wrote when it ended.
fn alone(test: &str, variables: &[(&str, String)]) -> JoinHandle<Output> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).env(ALONE, "1").envs(variables.iter().cloned());
    std::thread::spawn(move || command.stderr(Stdio::inherit()).output().unwrap())
}

#[test]
#[ignore = "the processes of `no_op_ends_the_process_when_memory_is_refused` run it"]
fn part_of_the_ops() {
    let Ok(part) = std::env::var("KERNLINK_SCRATCH_PART") else { return };
    let (part, parts) = part.split_once('/').expect("a part and the number of parts");
    let faults = check(part.parse().unwrap(), parts.parse().unwrap());
    println!("\n{COUNTS}{} {}", faults.runs, faults.refusals);
    faults.met.iter().for_each(|exception| println!("{MET}{exception}"));
    println!("{FAULTS}{}{FAULTS}", faults.text());
}

#[test]
fn no_op_ends_the_process_when_memory_is_refused() {
    let parts = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    let start = |part| alone("part_of_the_ops", &[("KERNLINK_SCRATCH_PART", format!("{part}/{parts}"))]);
    let processes: Vec<_> = (0..parts).map(start).collect();
    let (mut text, mut runs, mut refusals, mut met) = (String::new(), 0, 0, BTreeSet::new());
    for process in processes {
        let output = process.join().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "a process ended: {}\n{said}", output.status);
        let mut report = said.split(FAULTS);
        for line in report.next().unwrap_or_default().lines() {
            if let Some(counts) = line.strip_prefix(COUNTS) {
                let (r, s) = counts.split_once(' ').expect("two numbers");
                runs += r.parse::<usize>().unwrap();
                refusals += s.parse::<usize>().unwrap();
            } else if let Some(exception) = line.strip_prefix(MET) {
                met.insert(exception.parse::<usize>().unwrap());
            }
        }
        text += report.next().expect("the report is whole");
    }
    println!("{runs} runs, {refusals} refusals");
    assert!(runs > 1000 || std::env::var_os("KERNLINK_SCRATCH_OP").is_some(), "only {runs} runs");
    let gone = EXCEPTIONS.iter().enumerate().filter(|(index, _)| !met.contains(index));
    for (_, (function, _)) in gone {
        println!("exception that did not occur in these cases: {function}");
    }
    assert!(text.is_empty(), "memory that cannot be refused, or is not RESOURCE_EXHAUSTED:\n{text}");
}
