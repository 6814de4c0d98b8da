//! Bytes as a GraphDef: importing must not panic, nor running what is small.
#![no_main]

use std::sync::{Arc, LazyLock};

use kernlink::device::{CpuDevice, Device};
use kernlink::graph::Graph;
use kernlink::runtime::Session;
use libfuzzer_sys::fuzz_target;

static DEVICE: LazyLock<Arc<dyn Device>> = LazyLock::new(|| Arc::new(CpuDevice::new(1).expect("one thread")));

fuzz_target!(|bytes: &[u8]| {
    let Ok(def) = kernlink::proto::graph_from_bytes(bytes.to_vec()) else { return };
    let registry = kernlink::registry().expect("the registry is complete");
    let Ok(graph) = Graph::import(&def, &registry) else { return };
    if graph.nodes().len() > 32 {
        return;
    }
    let sinks: Vec<String> = graph.sinks().into_iter().map(|id| graph.node(id).name.clone()).collect();
    let targets: Vec<&str> = sinks.iter().map(String::as_str).collect();
    if let Err(error) = Session::on(graph, DEVICE.clone()).run(&[], &[], &targets) {
        // The session turns panics into errors.
        assert!(!error.message().contains("the kernel panicked"), "{error}");
    }
});
