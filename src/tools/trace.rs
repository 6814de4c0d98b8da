//! Traces: when each node ran, and where, in the format of Chrome's `about:tracing`, which Perfetto opens too.
//!
//! A device is a process there, and a thread a row of it. A node that waits for others, as a call does for its function,
//! lends its thread to them meanwhile: such nodes have rows of their own, as many as they need for none to overlap
//! another.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::step::NodeStats;
use serde_json::{Value, json};

/// The statistics of a run, which are sorted by start, as a trace: JSON that Chrome and Perfetto open.
pub fn chrome_trace(stats: &[NodeStats]) -> String {
    let mut text = document(stats).to_string();
    text.push('\n');
    text
}

/// A row of a trace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    /// Threads: those with short names first, so that `kernlink-10` comes after `kernlink-9`.
    Thread(usize, String),
    /// Asynchronous nodes at this depth of calls, and the row among them.
    Async(u32, usize),
}

impl Row {
    fn name(&self) -> String {
        match self {
            Row::Thread(_, name) => name.clone(),
            Row::Async(0, 0) => "calls and waits".to_owned(),
            Row::Async(0, number) => format!("calls and waits ({})", number + 1),
            Row::Async(depth, 0) => format!("calls and waits, depth {depth}"),
            Row::Async(depth, number) => format!("calls and waits, depth {depth} ({})", number + 1),
        }
    }
}

/// For each node, its row on its device. They are sorted by start.
fn rows(stats: &[NodeStats]) -> Vec<Row> {
    // For each device and depth, when each row is free again.
    let mut free: BTreeMap<(&str, u32), Vec<Duration>> = BTreeMap::new();
    let row = |stats: &NodeStats, ends: &mut Vec<Duration>| {
        let end = stats.start + stats.time;
        let number = ends.iter().position(|free| *free <= stats.start).unwrap_or_else(|| {
            ends.push(Duration::ZERO);
            ends.len() - 1
        });
        ends[number] = end;
        Row::Async(stats.depth, number)
    };
    let mut rows = Vec::with_capacity(stats.len());
    for stats in stats {
        rows.push(if stats.is_async {
            row(stats, free.entry((stats.device.as_str(), stats.depth)).or_default())
        } else {
            Row::Thread(stats.thread.len(), stats.thread.clone())
        });
    }
    rows
}

/// The trace of nodes that are sorted by start.
fn document(stats: &[NodeStats]) -> Value {
    let rows = rows(stats);
    // Numbers for the devices and the rows of each, in the order of their names.
    let mut devices: BTreeMap<(usize, &str), BTreeMap<&Row, usize>> = BTreeMap::new();
    for (stats, row) in stats.iter().zip(&rows) {
        devices.entry((stats.device.len(), stats.device.as_str())).or_default().insert(row, 0);
    }
    let mut events = Vec::with_capacity(stats.len());
    let mut number = 0;
    let mut processes = BTreeMap::new();
    for (process, ((_, device), rows)) in devices.iter_mut().enumerate() {
        let pid = process + 1;
        processes.insert(*device, pid);
        let mut say = |what: &str, tid: usize, args: Value| {
            events.push(json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}));
        };
        say("process_name", 0, json!({"name": device}));
        say("process_sort_index", 0, json!({"sort_index": pid}));
        for (row, tid) in rows.iter_mut() {
            number += 1;
            *tid = number;
            say("thread_name", number, json!({"name": row.name()}));
            say("thread_sort_index", number, json!({"sort_index": number}));
        }
    }
    for (stats, row) in stats.iter().zip(&rows) {
        let tid = devices.get(&(stats.device.len(), stats.device.as_str())).and_then(|rows| rows.get(row));
        let args = json!({
            "op": stats.op,
            "inputs": stats.inputs,
            "outputs": stats.outputs,
            "kernel": stats.kernel,
            "output_bytes": stats.output_bytes,
            "allocated_bytes": stats.allocated_bytes,
            "depth": stats.depth,
            "thread": stats.thread,
        });
        events.push(json!({
            "ph": "X",
            "name": stats.node,
            "cat": stats.op,
            "ts": micros(stats.start),
            "dur": micros(stats.time),
            "pid": processes.get(stats.device.as_str()),
            "tid": tid,
            "args": args,
        }));
    }
    json!({"displayTimeUnit": "ns", "traceEvents": events})
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
