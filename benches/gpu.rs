//! The cost of recording for the GPU on the calling thread, and whether memory stays level. On the adapter that
//! `KERNLINK_GPU` names, or else on Mesa's software one.
//!
//! ```text
//! cargo bench --features cli,gpu --bench gpu                              # recording
//! cargo bench --features cli,gpu --bench gpu -- MODEL [RUNS] [SECONDS]    # runs of a model, until one of them is reached
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kernlink::device::{CpuDevice, Device};
use kernlink::gpu::{Entry, GpuDevice, Groups, Program, Scalar, Shader};
use kernlink::graph::Output;
use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};

kernlink::provider!(ops = 2, kernels = 2);

/// Fewer than any batch has at first, so that nothing is submitted among them.
const DISPATCHES: usize = 7;
const NODES: usize = 1000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let wanted = std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned());
    let gpu = Arc::new(GpuDevice::open_named(0, Some(&wanted))?);
    println!("{}", gpu.adapter());
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.first() {
        None => {
            dispatches(&gpu)?;
            nodes(&gpu)
        }
        Some(model) => {
            let number = |index: usize, default| arguments.get(index).map_or(Ok(default), |text| text.parse::<u64>());
            runs(&gpu, model, number(1, 10_000)?, Duration::from_secs(number(2, 300)?))
        }
    }
}

fn session(gpu: &Arc<GpuDevice>, graph: Graph) -> Session {
    let cpu: Arc<dyn Device> = Arc::new(CpuDevice::on_caller());
    Session::on_devices(graph, [gpu.clone() as Arc<dyn Device>, cpu], &SessionOptions::new())
}

/// Prints the best and the median of times, each divided by `count`.
fn report(what: &str, goal: &str, count: usize, mut times: Vec<Duration>) {
    times.sort();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    println!("{what}: {:.2} µs at best, {:.2} µs median{goal}", each(times[0]), each(times[times.len() / 2]));
}

/// An element-wise shader on two tensors, recorded into a batch that is open.
fn dispatches(gpu: &GpuDevice) -> Result<()> {
    let program = Program::builder("negative").read("x", Scalar::F32).write("y", Scalar::F32);
    let shader = Shader::new(program.build(Entry::Elements, "fn element(i: u32) { y[i] = -x[i]; }"));
    let (x, y) = (gpu.allocate(DataType::Float, [4])?, gpu.allocate(DataType::Float, [4])?);
    let record = || gpu.dispatch(&shader, &[&x, &y], &[], Groups::Elements(4));
    let mut times = Vec::new();
    for _ in 0..2000 {
        gpu.synchronize()?;
        record()?;
        let started = Instant::now();
        for _ in 1..DISPATCHES {
            record()?;
        }
        times.push(started.elapsed());
    }
    report("recording one dispatch", " (goal: 2 µs)", DISPATCHES - 1, times);
    Ok(())
}

/// A chain of nodes of which nothing is read back.
fn nodes(gpu: &Arc<GpuDevice>) -> Result<()> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let mut last = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
    for _ in 1..NODES {
        last = ops::neg(&mut graph, last).build()?;
    }
    ops::neg(&mut graph, last).name("last").build()?;
    let session = session(gpu, graph);
    let callable = session.make_callable(&["x"], &[], &["last"])?;
    let x = gpu_tensor(gpu)?;
    let mut times = Vec::new();
    for _ in 0..100 {
        gpu.synchronize()?;
        let started = Instant::now();
        callable.run(std::slice::from_ref(&x))?;
        times.push(started.elapsed());
    }
    report("a node of a chain, submissions and all", "", NODES, times);
    Ok(())
}

fn gpu_tensor(gpu: &GpuDevice) -> Result<Tensor> {
    Ok(gpu.to_device(&Tensor::vector(&[1f32, 2.0, 3.0, 4.0])?)?)
}

/// Runs of a frozen graph with feeds of zeros, and what is kept in the device's memory meanwhile.
fn runs(gpu: &Arc<GpuDevice>, model: &str, most: u64, limit: Duration) -> Result<()> {
    let graph = Graph::import(&kernlink::proto::read_graph(model)?, &kernlink::registry()?)?;
    let mut feeds = Vec::new();
    for id in graph.ids().filter(|&id| graph.node(id).op.def.name == "Placeholder") {
        let output = Output { node: id, index: 0 };
        let dims: Vec<usize> = graph.shape(output).dims().unwrap_or_default().iter().map(|d| d.unwrap_or(1)).collect();
        let dtype = graph.node(id).signature.outputs[0].dtype;
        feeds.push((graph.node(id).name.clone(), Tensor::zeros(dtype, dims)?));
    }
    let fetch =
        graph.sinks().into_iter().map(|id| graph.node(id).name.clone()).next_back().ok_or("the graph is empty")?;
    let session = session(gpu, graph);
    let feeds: Vec<(&str, Tensor)> = feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
    let run = || -> Result<RunMetadata> {
        let mut metadata = RunMetadata::default();
        session.run_with_metadata(&feeds, &[&fetch], &[], &RunOptions::new(), &mut metadata)?;
        Ok(metadata)
    };
    run()?;
    run()?;
    let before = gpu.unused_memory();
    let (started, mut count, mut made) = (Instant::now(), 0, 0);
    while count < most && started.elapsed() < limit {
        let metadata = run()?;
        made += metadata.device_counters[0].get("buffers").unwrap_or(0);
        count += 1;
    }
    let after = gpu.unused_memory();
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{count} runs in {seconds:.1} s, {made} new buffers; unused in the pool {} buffers, {} bytes before and {}, {} after",
        before.0, before.1, after.0, after.1
    );
    Ok(())
}
