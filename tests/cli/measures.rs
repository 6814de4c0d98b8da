//! Traces and measurements.

use std::collections::BTreeMap;
use std::path::Path;

use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, TString};
use kernlink::proto::read_graph;
use kernlink::tensor::Tensor;

use crate::command::{bad, digits, folder, good, holds, save};
use crate::support::{constant, graph, node, path};

/// A file of the models that TensorFlow saved.
fn saved_model(file: &str) -> String {
    path("tests/saved_model/data").join(file).to_str().expect("UTF-8").to_owned()
}

/// A node in a trace: its row, when it began and how long it took in microseconds, and the whole event.
struct Event {
    row: (u64, u64),
    begin: f64,
    end: f64,
    whole: serde_json::Value,
}

/// The nodes of a trace, and the names of its rows; checks what is so of every trace.
#[track_caller]
fn trace(file: &Path) -> (Vec<Event>, BTreeMap<(u64, u64), String>) {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let (mut events, mut rows, mut processes) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for event in value["traceEvents"].as_array().unwrap() {
        let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let said = || event["args"]["name"].as_str().unwrap().to_owned();
        match (event["ph"].as_str().unwrap(), event["name"].as_str().unwrap()) {
            ("M", "process_name") => drop(processes.insert(pid, said())),
            ("M", "thread_name") => drop(rows.insert((pid, tid), said())),
            ("M", _) => assert!(event["args"]["sort_index"].is_u64(), "{event}"),
            ("X", _) => {
                let (begin, time) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                let args = &event["args"];
                assert!(begin >= 0.0 && time >= 0.0 && event["cat"] == args["op"], "{event}");
                assert!(args["inputs"].is_string() && args["outputs"].is_string(), "{event}");
                assert!(args["output_bytes"].is_u64() && args["allocated_bytes"].is_u64(), "{event}");
                events.push(Event { row: (pid, tid), begin, end: begin + time, whole: event.clone() });
            }
            other => panic!("{other:?}"),
        }
    }
    for event in &events {
        assert!(rows.contains_key(&event.row) && processes.contains_key(&event.row.0), "{}", event.whole);
    }
    assert!(processes.values().all(|name| name.starts_with("/device:CPU:")), "{processes:?}");
    // On a row, one begins when the other has ended, or within it.
    for (index, first) in events.iter().enumerate() {
        for second in events[index + 1..].iter().filter(|second| second.row == first.row) {
            let apart = second.begin >= first.end - 1e-6 || second.end <= first.end + 1e-6;
            assert!(apart, "{} and {} overlap", first.whole, second.whole);
        }
    }
    (events, rows)
}

fn named<'e>(events: &'e [Event], name: &str) -> &'e Event {
    let found = events.iter().find(|event| event.whole["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in the trace"))
}

#[test]
fn a_graph_is_traced() {
    let file = folder("trace").join("digits.json");
    let input = format!("images=@{}", digits("images.npy"));
    let model = digits("digits.pb");
    let text = good(&[
        "run",
        &model,
        "--input",
        &input,
        "--threads",
        "2",
        "--trace",
        file.to_str().unwrap(),
        "--timeout",
        "60",
    ]);
    let (events, rows) = trace(&file);
    holds(&text, &[&format!("what {} nodes took is in", events.len()), "digits.json"]);
    assert!(rows.values().all(|name| name == "main" || name.starts_with("kernlink-")), "{rows:?}");
    let classes = named(&events, "classes");
    assert_eq!(classes.whole["args"]["op"], "ArgMax");
    assert_eq!(classes.whole["args"]["output_bytes"], 360 * 8);
    assert_eq!(classes.whole["args"]["outputs"], "int64[360]");
    let last = events.iter().map(|event| event.end).fold(0.0, f64::max);
    assert_eq!(classes.end, last, "all else comes before the answer");
}

#[test]
fn what_functions_run_is_traced() {
    let file = folder("trace").join("tf2.json");
    let model = saved_model("tf2");
    let args = ["run", &model, "--input", "x=[[1, 2, 3]]", "--trace", file.to_str().unwrap()];
    holds(&good(&args), &["scaled: float [1,3]\n  [[1.5 -4.0 12.0]]", "nodes took"]);
    let (events, rows) = trace(&file);
    let call = events.iter().find(|event| event.whole["args"]["op"] == "StatefulPartitionedCall").expect("a call");
    assert!(rows[&call.row].starts_with("calls and waits"), "{rows:?}");
    let product = events.iter().find(|event| event.whole["args"]["op"] == "Mul").expect("in the function");
    assert!(product.whole["args"]["depth"].as_u64().unwrap() > 0, "{}", product.whole);
    assert!(call.begin <= product.begin && product.end <= call.end, "the call holds what it calls");
    assert_ne!(call.row, product.row);

    let file = folder("trace").join("meta.json");
    let (model, checkpoint) = (saved_model("meta/model.meta"), saved_model("meta/model"));
    let args = ["run", &model, "--checkpoint", &checkpoint, "--input", "x=[[1, 2]]", "--output", "loss"];
    good(&[&args[..], &["--trace", file.to_str().unwrap()]].concat());
    named(&trace(&file).0, "loss");
}

/// A graph that waits for what nobody puts into its queue.
fn stuck(name: &str) -> String {
    let types = || AttrValue::ListType(vec![DataType::Float]);
    save(
        name,
        &graph([
            constant("first", Tensor::scalar(1.0f32)),
            node("queue", "FIFOQueueV2", &["^first"], &[("component_types", types())]),
            node("taken", "QueueDequeueV2", &["queue"], &[("component_types", types())]),
        ]),
    )
}

#[test]
fn a_run_ends_in_time_and_its_trace_tells_of_it() {
    let (model, file) = (stuck("stuck.pb"), folder("trace").join("stuck.json"));
    let _ = std::fs::remove_file(&file);
    bad(&["run", &model, "--timeout", "4", "--trace", file.to_str().unwrap()], 2, &["DEADLINE_EXCEEDED"]);
    let (events, _) = trace(&file);
    named(&events, "queue");
    assert!(events.iter().all(|event| event.whole["name"] != "taken"), "it never ran");
    // Loading counts, and what waits for somebody else without looking at the clock is ended, too.
    bad(&["run", &model, "--timeout", "0"], 2, &["DEADLINE_EXCEEDED", "before the model was ready"]);
    #[cfg(unix)]
    {
        let pipe = folder("trace").join("pipe");
        let _ = std::fs::remove_file(&pipe);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let name = constant("name", Tensor::scalar(TString::from(pipe.to_str().unwrap())));
        let write = node("write", "WriteFile", &["name", "name"], &[]);
        let nobody_reads = save("pipe.pb", &graph([name.clone(), write]));
        let _ = std::fs::remove_file(&file);
        let run = ["run", &nobody_reads, "--target", "write", "--timeout", "0.5", "--trace", file.to_str().unwrap()];
        bad(&run, 2, &["DEADLINE_EXCEEDED"]);
        let (events, _) = trace(&file);
        assert!(events.iter().all(|event| event.whole["name"] != "write"), "it never ended");
        // Nor does telling so wait for whoever reads standard error.
        let text = constant("text", Tensor::scalar(TString::from(vec![b'x'; 300_000])));
        let print = node("print", "PrintV2", &["text"], &[]);
        let model = save("print.pb", &graph([text, print]));
        let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_kernlink"));
        let run =
            run.args(["run", &model, "--target", "print", "--timeout", "0.5"]).stderr(std::process::Stdio::piped());
        let mut run = run.spawn().unwrap();
        let unread = run.stderr.take();
        let (ended, end) = std::sync::mpsc::channel();
        let process = run.id().to_string();
        std::thread::spawn(move || ended.send(run.wait().unwrap().code()));
        let code = end.recv_timeout(std::time::Duration::from_secs(60)).unwrap_or_else(|_| {
            std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
            None
        });
        assert_eq!(code, Some(2), "the run that prints did not end by itself");
        drop(unread);
        // Reading one would wait for somebody to write.
        let nobody_writes = save("read.pb", &graph([name, node("read", "ReadFile", &["name"], &[])]));
        bad(&["run", &nobody_writes, "--output", "read"], 2, &["INVALID_ARGUMENT", "no regular file", "node `read`"]);
    }
    for seconds in ["-1", "soon", "NaN", "inf"] {
        bad(&["run", &model, "--timeout", seconds], 2, &["--timeout", seconds, "a number of seconds, 0 or more"]);
    }
    let nowhere = folder("trace").join("no-such-folder").join("t.json");
    bad(&["run", &model, "--trace", nowhere.to_str().unwrap()], 2, &["NOT_FOUND", "--trace", "no-such-folder"]);
    let itself = folder("trace");
    bad(&["run", &model, "--trace", itself.to_str().unwrap()], 2, &["--trace", "it is a folder"]);
    bad(&["run", &model, "--trace", &format!("{model}/t.json")], 2, &["--trace", "is a file"]);
}

#[test]
fn a_model_is_measured() {
    let model = digits("digits.pb");
    let args = ["bench", &model, "--runs", "7", "--warm-up", "1", "--threads", "2"];
    let text = good(&args);
    holds(&text, &["input images is not given: random numbers from 0 to 1, float [1,8,8,1]", "7 timed, 2 threads"]);
    holds(
        &text,
        &["latency: min", "p50", "p90", "p99", "max", "mean", "average of 7 traced runs", "Conv2D", "slowest"],
    );
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&good(args)).expect("JSON") };
    let input = format!("images=@{}", digits("images.npy"));
    let told = json(&[&args[..], &["--format", "json", "--input", &input]].concat());
    assert_eq!((&told["runs"], &told["warmup"], &told["traced_runs"]), (&7.into(), &1.into(), &7.into()));
    assert_eq!(told["inputs"][0]["filled"], serde_json::Value::Null);
    assert_eq!(told["inputs"][0]["shape"], serde_json::json!([360, 8, 8, 1]));
    let latency = |name: &str| told["latency_us"][name].as_f64().unwrap();
    let order = ["min", "p50", "p90", "p99", "max"].map(latency);
    assert!(order.is_sorted() && order[0] > 0.0 && order[0] <= latency("mean") && latency("mean") <= order[4]);
    let ops = told["ops"].as_array().unwrap();
    let def = read_graph(&model).unwrap();
    let convolutions = def.node.iter().filter(|node| node.op == "Conv2D").count();
    let op = ops.iter().find(|op| op["op"] == "_FusedConv2D").unwrap();
    assert_eq!(op["calls"], convolutions as f64);
    assert!(op["output_bytes"].as_f64() > Some(0.0) && op["time_us"].as_f64() > Some(0.0), "{op}");
    let shares: f64 = ops.iter().filter_map(|op| op["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    // Each has a bias, which the passes have put into it.
    let (passes, fused) = (&told["passes"], &told["passes"]["rewrites"]["fuse-bias"]);
    assert!(fused.as_u64() >= Some(convolutions as u64), "{passes}");
    assert!(
        passes["changes"]["rewrite"].as_u64() >= fused.as_u64() && passes["changes"]["prune"].is_null(),
        "{passes}"
    );
    assert!(passes["nodes_before"].as_u64() > passes["nodes_after"].as_u64(), "{passes}");
    let after = passes["nodes_after"].as_u64().unwrap();
    holds(
        &text,
        &["graph passes: ", &format!("nodes before, {after} after"), "rewrites: ", &format!("fuse-bias {fused}")],
    );
    let nodes = told["slowest_nodes"].as_array().unwrap();
    assert!(!nodes.is_empty() && nodes.len() <= 10);
    let times = nodes.iter().map(|node| node["time_us"].as_f64().unwrap());
    assert!(times.is_sorted_by(|a, b| a >= b), "the slowest come first");
}

#[test]
fn signatures_are_measured_and_mistakes_explained() {
    let model = saved_model("tf2");
    let text = good(&["bench", &model, "--signature", "serving_default", "--runs", "3"]);
    holds(&text, &["input x is not given", "float [1,3]", "StatefulPartitionedCall", "without a share"]);
    let (meta, checkpoint) = (saved_model("meta/model.meta"), saved_model("meta/model"));
    let trained = ["bench", &meta, "--checkpoint", &checkpoint, "--input", "x=[[1, 2]]", "--runs", "3"];
    holds(&good(&[&trained[..], &["--output", "loss"]].concat()), &["latency", "slowest nodes"]);
    bad(&["bench", &model, "--signature", "word"], 2, &["NOT_FOUND", "did you mean words", "serving_default"]);
    bad(&["bench", &digits("digits.pb"), "--signature", "x"], 2, &["a plain graph has no signatures"]);
    bad(&["bench", &model, "--output", "loss", "--signature", "words"], 2, &["gives no `loss`", "words"]);
    for runs in ["0", "-1", "many"] {
        bad(&["bench", &model, "--runs", runs], 2, &["--runs", runs]);
    }
    bad(&["bench", &model, "--warm-up", "-1"], 2, &["--warm-up", "-1"]);
    for command in ["run", "bench"] {
        let help = good(&[command, "--help"]);
        assert!(help.contains("--warm-up") && !help.contains("--warmup"), "{help}");
    }
    bad(&["bench", &model, "--input", "y=1"], 2, &["takes no `y`", "--input x=SRC"]);
    bad(&["bench", "nowhere.pb"], 2, &["NOT_FOUND", "nowhere.pb"]);
    let resource = [("dtype", AttrValue::Type(DataType::Resource))];
    let def = graph([
        node("handle", "Placeholder", &[], &resource),
        node("read", "ReadVariableOp", &["handle"], &[("dtype", AttrValue::Type(DataType::Float))]),
    ]);
    bad(&["bench", &save("handle.pb", &def)], 2, &["`handle`", "cannot be filled", "resource"]);
}
