//! `kernlink bench`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::error::{Result, escaped};
use crate::runtime::{DeviceCounters, RunMetadata, RunOptions};
use crate::sort::CompactSort as _;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::cli::applied::Applied;
use crate::cli::job::{ENVIRONMENT, How, Job, What};
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::tools::{Cost, slowest_first, words};

/// The most runs that are traced.
const TRACED: u32 = 10;

/// How many of the slowest nodes are listed.
const SLOWEST: usize = 10;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Args)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(super) what: What,
    /// How many runs are timed
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..),
          allow_negative_numbers = true)]
    runs: u32,
    /// How many runs come before them
    #[arg(long, alias = "warmup", value_name = "N", default_value_t = 5, allow_negative_numbers = true)]
    warm_up: u32,
    /// How to print what was measured
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn bench(args: &Bench) -> Result<()> {
    match args.format {
        Format::Text => output::print(&told(args, text)?),
        Format::Json => output::print_bytes(format!("{:#}\n", document(args)?).as_bytes()),
    }
}

/// What was measured, for other programs.
pub(crate) fn document(args: &Bench) -> Result<Value> {
    told(args, json)
}

/// Measures, and tells it.
fn told<T>(args: &Bench, tell: impl FnOnce(&Bench, &Job, Duration, &Applied, &Measured) -> T) -> Result<T> {
    let started = Instant::now();
    let model = args.what.load()?;
    let job = args.what.prepare(&model, How { fill: true, functions: false })?;
    let loaded = started.elapsed();
    let applied = Applied::to(model.session().graph(), &job.ends)?;
    let measured = measure(args, &job)?;
    Ok(tell(args, &job, loaded, &applied, &measured))
}

/// What was measured.
struct Measured {
    /// The time of each run, shortest first.
    times: Vec<Duration>,
    traced: u32,
    ops: Vec<(String, Cost)>,
    /// The nodes with their ops.
    nodes: Vec<((String, String), Cost)>,
    /// Counters of devices over the last timed run.
    devices: Vec<DeviceCounters>,
}

fn measure(args: &Bench, job: &Job) -> Result<Measured> {
    let (plain, trace) = (RunOptions::new(), RunOptions::new().trace(true));
    // Tracing takes time, so the traced runs are not the timed ones.
    let traced = args.runs.min(TRACED);
    let mut progress = Progress::new("run", u64::from(args.warm_up) + u64::from(args.runs) + u64::from(traced));
    let mut metadata = RunMetadata::default();
    for _ in 0..args.warm_up {
        progress.begin_next();
        job.run(&plain, &mut metadata)?;
    }
    let mut times = Vec::new();
    for _ in 0..args.runs {
        progress.begin_next();
        let started = Instant::now();
        let answers = job.run(&plain, &mut metadata)?;
        times.push(started.elapsed());
        drop(answers);
    }
    times.compact_sort();
    let devices = std::mem::take(&mut metadata.device_counters);
    let mut ops: BTreeMap<String, Cost> = BTreeMap::new();
    let mut nodes: BTreeMap<(String, String), Cost> = BTreeMap::new();
    for _ in 0..traced {
        progress.begin_next();
        job.run(&trace, &mut metadata)?;
        for stats in std::mem::take(&mut metadata.step_stats) {
            ops.entry(stats.op.clone()).or_default().add(&stats);
            nodes.entry((stats.node.clone(), stats.op.clone())).or_default().add(&stats);
        }
    }
    Ok(Measured { times, traced, ops: slowest_first(ops), nodes: slowest_first(nodes), devices })
}

impl Measured {
    /// A percentile of the runs' times.
    fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.times.len() * percent).div_ceil(100).max(1);
        self.times.get(rank - 1).copied().unwrap_or_default()
    }

    fn latencies(&self) -> [(&'static str, Duration); 6] {
        let mean = self.times.iter().sum::<Duration>() / u32::try_from(self.times.len()).unwrap_or(u32::MAX).max(1);
        let [min, p50, p90, p99, max] = [0, 50, 90, 99, 100].map(|percent| self.percentile(percent));
        [("min", min), ("p50", p50), ("p90", p90), ("p99", p99), ("max", max), ("mean", mean)]
    }

    /// The time of all nodes, without those that include the time of others.
    fn busy(&self) -> Duration {
        self.ops.iter().filter(|(_, sum)| !sum.is_async).map(|(_, sum)| sum.time).sum()
    }

    fn slowest_nodes(&self) -> impl Iterator<Item = &((String, String), Cost)> {
        self.nodes.iter().filter(|(_, sum)| !sum.is_async).take(SLOWEST)
    }

    /// The cells of a table's row.
    fn row(&self, sum: &Cost) -> Row {
        let runs = f64::from(self.traced.max(1));
        let (time, busy) = (sum.time.as_secs_f64(), self.busy().as_secs_f64());
        Row {
            calls: sum.calls as f64 / runs,
            time: time / runs,
            device_time: sum.device_time.as_secs_f64() / runs,
            share: (!sum.is_async && busy > 0.0).then(|| time / busy),
            per_call: time / sum.calls.max(1) as f64,
            output_bytes: sum.output_bytes as f64 / runs,
            allocated_bytes: (!sum.is_async).then(|| sum.allocated_bytes as f64 / runs),
        }
    }
}

/// A row of a table: seconds and bytes per run.
struct Row {
    calls: f64,
    time: f64,
    device_time: f64,
    share: Option<f64>,
    per_call: f64,
    output_bytes: f64,
    allocated_bytes: Option<f64>,
}

fn text(args: &Bench, job: &Job, loaded: Duration, applied: &Applied, measured: &Measured) -> String {
    let mut text = job.unnamed();
    for input in &job.inputs {
        if let Some(with) = input.filled {
            let (name, tensor) = (escaped(&input.name), &input.tensor);
            let _ = writeln!(text, "input {name} is not given: {with}, {} {}", tensor.dtype(), tensor.shape());
        }
    }
    let loaded = duration(loaded.as_secs_f64());
    let (warmup, threads) = (words::count(args.warm_up, "run"), words::count(args.what.threads(), "thread"));
    let _ = writeln!(text, "loaded in {loaded}; {warmup} to warm up, {} timed, {threads}", args.runs);
    text += &applied.text();
    let latencies = measured.latencies().map(|(name, time)| format!("{name} {}", duration(time.as_secs_f64())));
    let _ = writeln!(text, "latency: {}", latencies.join(", "));
    for counters in &measured.devices {
        let counts = counters.counts.iter().map(|(name, count)| format!("{count} {}", name.replace('_', " ")));
        let _ = writeln!(text, "{} in a run: {}", counters.device, counts.collect::<Vec<_>>().join(", "));
    }

    let _ = writeln!(text, "\nper op and run, on average of {}:", words::count(measured.traced, "traced run"));
    // The time of an asynchronous device is not that of the thread that submits its work.
    let is_apart = measured.ops.iter().any(|(_, sum)| !sum.device_time.is_zero());
    let device_time =
        |row: &Row| is_apart.then(|| if row.device_time == 0.0 { "-".to_owned() } else { duration(row.device_time) });
    let head = ["op", "calls", "time", "share", "per call", "output", "allocated"].map(str::to_owned);
    let head = head.into_iter().chain(is_apart.then(|| "on device".to_owned())).collect();
    let row = |(op, sum): &(String, Cost)| {
        let row = measured.row(sum);
        let share = row.share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 1e2));
        let allocated = row.allocated_bytes.map_or("-".to_owned(), bytes);
        let on_device = device_time(&row);
        let cells = [
            op.clone(),
            count(row.calls),
            duration(row.time),
            share,
            duration(row.per_call),
            bytes(row.output_bytes),
            allocated,
        ];
        cells.into_iter().chain(on_device).collect()
    };
    text += &table(std::iter::once(head).chain(measured.ops.iter().map(row)));
    if measured.ops.iter().any(|(_, sum)| sum.is_async) {
        text += "(The time of an op without a share holds that of what it calls or waits for.)\n";
    }
    let _ = writeln!(text, "\nslowest nodes:");
    let head = ["node", "op", "calls", "time", "share"].map(str::to_owned);
    let head = head.into_iter().chain(is_apart.then(|| "on device".to_owned())).collect();
    let row = |((node, op), sum): &((String, String), Cost)| {
        let row = measured.row(sum);
        let share = format!("{:.1} %", row.share.unwrap_or_default() * 1e2);
        let on_device = device_time(&row);
        let cells = [node.escape_debug().to_string(), op.clone(), count(row.calls), duration(row.time), share];
        cells.into_iter().chain(on_device).collect()
    };
    text + &table(std::iter::once(head).chain(measured.slowest_nodes().map(row)))
}

fn json(args: &Bench, job: &Job, loaded: Duration, applied: &Applied, measured: &Measured) -> Value {
    let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
    let inputs = job.inputs.iter().map(|input| {
        let (dtype, shape) = (input.tensor.dtype().to_string(), input.tensor.shape().dims());
        json!({"name": input.name, "dtype": dtype, "shape": shape, "filled": input.filled})
    });
    let row = |sum: &Cost| {
        let row = measured.row(sum);
        json!({
            "calls": row.calls, "time_us": row.time * 1e6, "share": row.share, "time_per_call_us": row.per_call * 1e6,
            "output_bytes": row.output_bytes, "allocated_bytes": row.allocated_bytes, "is_async": sum.is_async,
            "device_time_us": row.device_time * 1e6,
        })
    };
    let named = |names: &[(&str, &str)], sum: &Cost| {
        let mut row = row(sum);
        names.iter().for_each(|(key, name)| row[*key] = Value::from(*name));
        row
    };
    let ops = measured.ops.iter().map(|(op, sum)| named(&[("op", op.as_str())], sum));
    let nodes =
        measured.slowest_nodes().map(|((node, op), sum)| named(&[("node", node.as_str()), ("op", op.as_str())], sum));
    let latencies = measured.latencies().into_iter().map(|(name, time)| (name.to_owned(), micros(time).into()));
    let devices = measured.devices.iter().map(|counters| {
        let counts = counters.counts.iter().map(|(name, count)| ((*name).to_owned(), Value::from(*count)));
        (counters.device.clone(), counts.collect::<serde_json::Map<String, Value>>().into())
    });
    json!({
        "model": args.what.model(),
        "threads": args.what.threads(),
        "runs": args.runs,
        "warmup": args.warm_up,
        "traced_runs": measured.traced,
        "load_us": micros(loaded),
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": job.outputs,
        "passes": applied.json(),
        "latency_us": latencies.collect::<serde_json::Map<String, Value>>(),
        "devices": devices.collect::<serde_json::Map<String, Value>>(),
        "ops": ops.collect::<Vec<_>>(),
        "slowest_nodes": nodes.collect::<Vec<_>>(),
    })
}

/// Aligned columns: the first to the left, the others to the right.
fn table(rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = if column == 0 { write!(line, "  {cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn count(calls: f64) -> String {
    if calls.fract() == 0.0 { format!("{calls}") } else { format!("{calls:.1}") }
}

/// Seconds in a fitting unit.
fn duration(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.2} us", seconds * 1e6),
        ..1.0 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        ..1024.0 => format!("{bytes:.0} B"),
        ..1_048_576.0 => format!("{:.1} KiB", bytes / 1024.0),
        _ => format!("{:.1} MiB", bytes / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let of = |count: u64| Measured {
            times: (1..=count).map(Duration::from_millis).collect(),
            traced: 0,
            ops: Vec::new(),
            nodes: Vec::new(),
            devices: Vec::new(),
        };
        let millis = |count| of(count).latencies().map(|(_, time)| time.as_micros());
        assert_eq!(millis(100), [1_000, 50_000, 90_000, 99_000, 100_000, 50_500]);
        assert_eq!(millis(3), [1_000, 2_000, 3_000, 3_000, 3_000, 2_000]);
        assert_eq!(millis(1), [1_000; 6]);
    }
}
