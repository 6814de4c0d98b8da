//! Kernlink's side of the comparison with TensorFlow: times work items in one long-lived process.
//!
//! Usage: `kernlink_side [--threads N] [ITEM ...]`. Protocol and items are described in `tensorflow_side.py`; what
//! differs here:
//!
//! - `graph` names a GraphDef to read, such as the other side wrote, and to run instead of a graph built here.
//! - `median_pool` is the MedianPool op of `examples/custom-ops`.
//! - `api` and `grappler` are ignored; of a `saved_model` nothing is saved.

#[path = "../../examples/custom-ops/src/median_pool.rs"]
#[allow(missing_docs, unreachable_pub, reason = "it is another crate's module")]
#[rustfmt::skip]
mod median_pool;
#[path = "../workload/mod.rs"]
mod workload;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

use kernlink::formats::LoadOptions;
use kernlink::prelude::*;
use serde_json::{Map, Value, json};
use workload::{Prepared, Work};

kernlink::provider!(ops = 1, kernels = if cfg!(feature = "gpu") { 9 } else { 7 });

type Item = Map<String, Value>;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut threads = 2;
    if arguments.first().is_some_and(|argument| argument == "--threads") && arguments.len() > 1 {
        threads = arguments[1].parse().expect("--threads takes a number");
        arguments.drain(..2);
    }
    let start = Instant::now();
    let registry = kernlink::registry().expect("the registry is sound");
    let ready = json!({
        "ready": true, "side": "kernlink", "version": env!("CARGO_PKG_VERSION"), "threads": threads,
        "start_s": start.elapsed().as_secs_f64(), "kernels": registry.kernels().count(), "rss_mb": peak_memory(),
    });
    answer(&ready);
    let mut side = Side { threads, prepared: HashMap::new() };
    let mut failed = false;
    let mut serve = |line: &str| {
        if !line.trim().is_empty() {
            let reply = side.answer(line);
            failed |= reply.get("error").is_some();
            answer(&reply);
        }
    };
    if arguments.is_empty() {
        std::io::stdin().lock().lines().map_while(|line| line.ok()).for_each(|line| serve(&line));
        return ExitCode::SUCCESS;
    }
    arguments.iter().for_each(|item| serve(item));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// A driver that has gone needs no answer.
fn answer(reply: &Value) {
    let _ = writeln!(std::io::stdout().lock(), "{reply}");
}

/// The most memory that the process has had, in MiB, where the system says.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

struct Side {
    threads: usize,
    prepared: HashMap<String, Ready>,
}

/// What runs when an item is timed.
enum Ready {
    Graph(Prepared),
    /// A signature of a SavedModel, with its inputs.
    Signature {
        model: Box<SavedModel>,
        name: String,
        inputs: Vec<(String, Tensor)>,
    },
}

impl Ready {
    fn of(item: &Item, threads: usize) -> Result<Ready> {
        if text(item, "kind", "") != "saved_model" {
            return build(item)?.prepare(threads).map(Ready::Graph);
        }
        let options = LoadOptions::new().session(SessionOptions::new().threads(threads));
        let model = SavedModel::load_with(text(item, "path", ""), &options)?;
        let strings = item.get("strings").and_then(Value::as_object).into_iter().flatten();
        let inputs = strings.map(|(name, values)| {
            let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
            let values: Vec<TString> = values.map(TString::from).collect();
            Ok((name.clone(), Tensor::vector(&values)?))
        });
        let inputs = inputs.collect::<Result<_>>()?;
        Ok(Ready::Signature {
            model: Box::new(model),
            name: text(item, "signature", "serving_default").to_owned(),
            inputs,
        })
    }

    fn run(&self) -> Result<Vec<Tensor>> {
        match self {
            Ready::Graph(prepared) => prepared.run(),
            Ready::Signature { model, name, inputs } => {
                let inputs: Vec<(&str, Tensor)> =
                    inputs.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
                Ok(model.signature(name)?.run(&inputs)?.into_values().collect())
            }
        }
    }
}

impl Side {
    /// The answer to one line of JSON.
    fn answer(&mut self, line: &str) -> Value {
        let item: Item = match serde_json::from_str(line) {
            Ok(item) => item,
            Err(error) => return json!({"name": null, "kind": null, "error": format!("no item: {error}")}),
        };
        let kind = item.get("kind").cloned().unwrap_or_default();
        let name = item.get("name").unwrap_or(&kind).clone();
        let mut reply = json!({"name": name, "kind": kind});
        match self.run(&item) {
            Ok(times) => reply.as_object_mut().into_iter().for_each(|reply| reply.extend(times.clone())),
            Err(error) => reply["error"] = error.to_string().into(),
        }
        reply
    }

    fn run(&mut self, item: &Item) -> Result<Item> {
        let mut reply = Item::new();
        if text(item, "kind", "") == "release" {
            self.prepared.clear();
            return Ok(reply);
        }
        let mut key = item.clone();
        key.retain(|field, _| !["name", "repeat", "warmup", "save"].contains(&field.as_str()));
        let key = serde_json::to_string(&key).unwrap_or_default();
        if !self.prepared.contains_key(&key) {
            self.prepared.insert(key.clone(), Ready::of(item, self.threads)?);
        }
        let prepared = &self.prepared[&key];
        if let Some(path) = item.get("save").and_then(Value::as_str) {
            let answers = prepared.run()?;
            ensure!(!answers.is_empty(), InvalidArgument, "nothing is fetched that could be saved");
            kernlink::npy::write(path, &answers[0])?;
        }
        for _ in 0..number(item, "warmup", 3) {
            prepared.run()?;
        }
        let repeat = number(item, "repeat", 20);
        ensure!(repeat > 0, InvalidArgument, "repeat is at least 1");
        let mut times = Vec::with_capacity(repeat);
        for _ in 0..repeat {
            let start = Instant::now();
            let answers = prepared.run()?;
            times.push(start.elapsed().as_secs_f64());
            drop(answers);
        }
        times.sort_by(f64::total_cmp);
        let median = (times[(repeat - 1) / 2] + times[repeat / 2]) / 2.0;
        reply.insert("median_s".to_owned(), median.into());
        reply.insert("min_s".to_owned(), times[0].into());
        reply.insert("runs".to_owned(), repeat.into());
        Ok(reply)
    }
}

/// The graph of an item and what to feed it.
fn build(item: &Item) -> Result<Work> {
    let inputs: Vec<Tensor> = match (item.get("inputs"), item.get("input")) {
        (Some(Value::Array(paths)), _) => {
            paths.iter().map(|path| kernlink::npy::read(path.as_str().unwrap_or_default())).collect::<Result<_>>()?
        }
        (_, Some(Value::String(path))) => vec![kernlink::npy::read(path)?],
        _ => Vec::new(),
    };
    let kind = text(item, "kind", "");
    if matches!(kind, "model" | "op" | "pipeline" | "csr") {
        let mut work = Work::from_file(text(item, if kind == "model" { "path" } else { "graph" }, ""), inputs)?;
        let names = |field: &str| match item.get(field) {
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(names)) => names.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
            _ => Vec::new(),
        };
        let (fetches, targets) = (names("fetch"), names("targets"));
        if !fetches.is_empty() || !targets.is_empty() {
            (work.fetches, work.targets) = (fetches, targets);
        }
        if flag(item, "init", false) {
            work.init = vec!["init".to_owned()];
        }
        for (name, path) in item.get("feeds").and_then(Value::as_object).into_iter().flatten() {
            let value = kernlink::npy::read(path.as_str().unwrap_or_default())?;
            work.feeds.retain(|(fed, _)| fed != name);
            work.feeds.push((name.clone(), value));
        }
        return Ok(work);
    }
    if kind == "median_pool" {
        return median_pool_work(item);
    }
    if let Some(path) = item.get("graph").and_then(Value::as_str) {
        let mut work = Work::from_file(path, inputs)?;
        work.is_kept = matches!(kind, "chain" | "wide" | "trivial" | "while");
        return Ok(work);
    }
    let mut work = match kind {
        "chain" => workload::chain(number(item, "nodes", 10_000))?,
        "wide" => workload::wide(number(item, "nodes", 10_000))?,
        "trivial" => workload::chain(1)?,
        "matmul" => {
            let n = number(item, "n", 0);
            workload::mat_mul(number(item, "m", n), number(item, "k", n), n, flag(item, "constant", false))?
        }
        "conv2d" => {
            let (input, filter) = (sizes(item, "input", &[]), sizes(item, "filter", &[]));
            let stride = number(item, "stride", 1) as i64;
            workload::conv2d(&input, &filter, stride, text(item, "padding", "SAME"), flag(item, "constant", true))?
        }
        "elementwise" => workload::element_wise(text(item, "op", ""), number(item, "size", 1_000_000))?,
        kind => bail!(InvalidArgument, "there is no kind `{kind}`"),
    };
    for (feed, input) in work.feeds.iter_mut().zip(inputs) {
        feed.1 = input;
    }
    Ok(work)
}

fn median_pool_work(item: &Item) -> Result<Work> {
    let mut work = Work::new()?;
    let x = work.placeholder("x", &sizes(item, "shape", &[1, 256, 256, 16]))?;
    let medians = median_pool::median_pool(&mut work.graph, x, text(item, "padding", "SAME"));
    let medians = medians.ksize(number(item, "window", 3) as i64).build()?;
    Ok(work.fetching(medians))
}

fn text<'i>(item: &'i Item, field: &str, default: &'i str) -> &'i str {
    item.get(field).and_then(Value::as_str).unwrap_or(default)
}

fn number(item: &Item, field: &str, default: usize) -> usize {
    item.get(field).and_then(Value::as_u64).map_or(default, |number| number as usize)
}

fn flag(item: &Item, field: &str, default: bool) -> bool {
    item.get(field).and_then(Value::as_bool).unwrap_or(default)
}

fn sizes(item: &Item, field: &str, default: &[usize]) -> Vec<usize> {
    let sizes = item.get(field).and_then(Value::as_array);
    sizes.map_or(default.to_vec(), |sizes| sizes.iter().map(|size| size.as_u64().unwrap_or(0) as usize).collect())
}
