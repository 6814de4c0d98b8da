//! What runs tell of themselves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use kernlink::runtime::RunMetadata as CoreMetadata;
use kernlink::step::NodeStats as CoreStats;
use kernlink::tools::{Cost, chrome_trace, slowest_first};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Whether what ops take that run at once is collected.
static COLLECTS: AtomicBool = AtomicBool::new(false);

/// What a run tells of itself. It is given to a run, which fills it in; or it is entered, by `with`, and has then what ops took that
/// ran at once meanwhile, on any thread.
#[pyclass(module = "kernlink", frozen)]
pub(crate) struct RunMetadata(Mutex<CoreMetadata>);

impl RunMetadata {
    fn lock(&self) -> MutexGuard<'_, CoreMetadata> {
        crate::locks::locked(&self.0)
    }

    pub(crate) fn set(&self, metadata: CoreMetadata) {
        *self.lock() = metadata;
    }
}

#[pymethods]
impl RunMetadata {
    #[new]
    fn new() -> RunMetadata {
        RunMetadata(Mutex::default())
    }

    /// How long the run took, in seconds.
    #[getter]
    fn time(&self) -> f64 {
        self.lock().time.as_secs_f64()
    }

    /// What each run of each node took, by start.
    #[getter]
    fn step_stats(&self) -> Vec<NodeStats> {
        self.lock().step_stats.iter().map(NodeStats::of).collect()
    }

    /// What devices that count have made and done meanwhile: for each device the numbers, by name.
    #[getter]
    fn device_counters(&self) -> BTreeMap<String, BTreeMap<&'static str, u64>> {
        let metadata = self.lock();
        let devices = metadata.device_counters.iter();
        devices.map(|counters| (counters.device.clone(), counters.counts.iter().copied().collect())).collect()
    }

    /// What each op took in all, the most time first; ops that include the time of others, as calls do, come last.
    #[getter]
    fn costs(&self) -> Vec<OpCost> {
        let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
        for stats in &self.lock().step_stats {
            costs.entry(stats.op.clone()).or_default().add(stats);
        }
        slowest_first(costs).into_iter().map(|(op, cost)| OpCost::of(op, &cost)).collect()
    }

    /// When each node ran, and on which thread, as JSON that Chrome (about:tracing) and Perfetto open.
    fn chrome_trace(&self, py: Python<'_>) -> String {
        let stats = self.lock().step_stats.clone();
        py.detach(|| chrome_trace(&stats))
    }

    /// Writes `chrome_trace()` to a file.
    fn save_trace(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = crate::values::path("path", path)?;
        let text = self.chrome_trace(py);
        Ok(py.detach(|| std::fs::write(path, text))?)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let context = crate::eager::context(slf.py())?;
        if COLLECTS.swap(true, Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err(
                "what ops take is collected already: one RunMetadata is entered at a time",
            ));
        }
        context.enable_run_metadata();
        Ok(slf)
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let context = crate::eager::context(py)?;
        let metadata = context.export_run_metadata();
        context.disable_run_metadata();
        COLLECTS.store(false, Ordering::Relaxed);
        self.set(metadata);
        Ok(())
    }

    fn __repr__(&self) -> String {
        let metadata = self.lock();
        let nodes = metadata.step_stats.iter().filter(|stats| !stats.is_device_work).count();
        let plural = if nodes == 1 { "" } else { "s" };
        format!("<kernlink.RunMetadata: {nodes} node{plural} in {:.3} ms>", metadata.time.as_secs_f64() * 1e3)
    }
}

/// One run of one node.
#[pyclass(module = "kernlink", frozen, get_all)]
pub(crate) struct NodeStats {
    /// The node's name.
    node: String,
    /// Its op.
    op: String,
    /// Its device.
    device: String,
    /// The thread that ran it.
    thread: String,
    /// When it began, in seconds from the start of the run.
    start: f64,
    /// How long it took, in seconds.
    time: f64,
    /// The dtypes and shapes of its inputs: `float[2,3];int32[]`.
    inputs: String,
    /// The same of its outputs.
    outputs: String,
    /// What its kernel says of the run.
    kernel: Option<String>,
    /// The bytes of its outputs.
    output_bytes: usize,
    /// The bytes of all tensors that it allocated.
    allocated_bytes: usize,
    /// The bytes that the kernel says it took for its own use.
    temporary_bytes: usize,
    /// The bytes that the kernel says it took for longer.
    persistent_bytes: i64,
    /// Whether its thread ran other nodes while it waited.
    is_async: bool,
    /// How deep in calls of functions it is.
    depth: u32,
    /// Whether this is what a device did for the node after a thread had told it to.
    is_device_work: bool,
}

impl NodeStats {
    fn of(stats: &CoreStats) -> NodeStats {
        NodeStats {
            node: stats.node.clone(),
            op: stats.op.clone(),
            device: stats.device.clone(),
            thread: stats.thread.clone(),
            start: stats.start.as_secs_f64(),
            time: stats.time.as_secs_f64(),
            inputs: stats.inputs.clone(),
            outputs: stats.outputs.clone(),
            kernel: stats.kernel.clone(),
            output_bytes: stats.output_bytes,
            allocated_bytes: stats.allocated_bytes,
            temporary_bytes: stats.temporary_bytes,
            persistent_bytes: stats.persistent_bytes,
            is_async: stats.is_async,
            depth: stats.depth,
            is_device_work: stats.is_device_work,
        }
    }
}

#[pymethods]
impl NodeStats {
    fn __repr__(&self) -> String {
        format!("<kernlink.NodeStats {} ({}): {:.1} µs>", self.node, self.op, self.time * 1e6)
    }
}

/// What an op took in a run.
#[pyclass(module = "kernlink", frozen, get_all)]
pub(crate) struct OpCost {
    /// The op.
    op: String,
    /// How often it ran.
    calls: u64,
    /// How long it took, in seconds.
    time: f64,
    /// How long devices took that work on their own.
    device_time: f64,
    /// The bytes of its outputs.
    output_bytes: u64,
    /// The bytes of all tensors that it allocated.
    allocated_bytes: u64,
    /// Whether its time includes that of others.
    is_async: bool,
}

impl OpCost {
    fn of(op: String, cost: &Cost) -> OpCost {
        OpCost {
            op,
            calls: cost.calls,
            time: cost.time.as_secs_f64(),
            device_time: cost.device_time.as_secs_f64(),
            output_bytes: cost.output_bytes,
            allocated_bytes: cost.allocated_bytes,
            is_async: cost.is_async,
        }
    }
}

#[pymethods]
impl OpCost {
    fn __repr__(&self) -> String {
        let plural = if self.calls == 1 { "" } else { "s" };
        format!("<kernlink.OpCost {}: {} call{plural}, {:.1} µs>", self.op, self.calls, self.time * 1e6)
    }
}
