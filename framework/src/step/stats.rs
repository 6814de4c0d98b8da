//! What a step tells of its nodes: when each ran, where, for how long, and how much memory it took.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::lock;
use crate::dtype::DataType;
use crate::sort::CompactSort as _;
use crate::tensor::{Tensor, allocated_by_thread};

/// One run of one node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeStats {
    /// The node's name.
    pub node: String,
    /// Its op.
    pub op: String,
    /// The full name of its device.
    pub device: String,
    /// The name of the thread that ran it, or that it ended on.
    pub thread: String,
    /// When it began, from the start of the step.
    pub start: Duration,
    /// How long it took, with what it waited.
    pub time: Duration,
    /// The dtypes and shapes of its inputs, as `float[2,3];int32[]`; nothing stands for one that is a reference, or has no
    /// shape to speak of: `resource` and `variant`.
    pub inputs: String,
    /// The same of its outputs; nothing stands for one that was not set.
    pub outputs: String,
    /// What its kernel says of this run: [`OpKernel::trace_string`](crate::kernel::OpKernel::trace_string).
    pub kernel: Option<String>,
    /// The bytes of its outputs.
    pub output_bytes: usize,
    /// The bytes of all tensors that it allocated on its thread; 0 if it is asynchronous.
    pub allocated_bytes: usize,
    /// The bytes that the kernel says it took for its own use in this run.
    pub temporary_bytes: usize,
    /// The bytes that the kernel says it took for longer, less those that it gave back.
    pub persistent_bytes: i64,
    /// Whether it is asynchronous, as calls and queues are: its thread ran other nodes while it waited, those that it
    /// called among them.
    pub is_async: bool,
    /// How deep in calls of functions it is; 0 for a node of the graph itself.
    pub depth: u32,
    /// Whether this is what a device did for the node once a thread had told it to; what the thread did is told apart.
    pub is_device_work: bool,
}

/// A node that runs on this thread in a step that is traced.
#[derive(Debug)]
#[non_exhaustive]
pub struct TracedNode {
    /// The [`Step::id`](super::Step::id).
    pub step: i64,
    /// Its name.
    pub node: String,
    /// Its op.
    pub op: &'static str,
    /// How deep in calls of functions it is.
    pub depth: u32,
}

thread_local! {
    static TRACED: RefCell<Option<Arc<TracedNode>>> = const { RefCell::new(None) };
}

/// The node whose kernel runs on this thread, if its step is traced: devices that work on their own tell for which node they
/// do.
pub fn traced_node() -> Option<Arc<TracedNode>> {
    TRACED.with_borrow(Clone::clone)
}

/// Notes which node runs on this thread, until the guard is dropped.
pub(crate) fn trace_node(step: i64, node: &str, op: &'static str, depth: u32) -> Traced {
    let traced = Arc::new(TracedNode { step, node: node.to_owned(), op, depth });
    Traced(TRACED.replace(Some(traced)))
}

/// See [`trace_node`].
pub(crate) struct Traced(Option<Arc<TracedNode>>);

impl Drop for Traced {
    fn drop(&mut self) {
        TRACED.set(self.0.take());
    }
}

/// Collects the statistics of a step.
#[derive(Default)]
pub struct StepStats(Mutex<Vec<NodeStats>>);

impl StepStats {
    /// What was collected, by start.
    pub fn take(&self) -> Vec<NodeStats> {
        let mut stats = std::mem::take(&mut *lock(&self.0));
        stats.compact_sort_by_key(|stats| stats.start);
        stats
    }

    pub(crate) fn record(&self, stats: NodeStats) {
        lock(&self.0).push(stats);
    }

    /// Adds what a device did for a node, as `DEVICE/stream`; `start` counts from the start of the step.
    pub fn add_work(&self, node: &TracedNode, device: &str, start: Duration, time: Duration) {
        self.record(NodeStats {
            node: node.node.clone(),
            op: node.op.to_owned(),
            device: format!("{device}/stream"),
            thread: "stream".to_owned(),
            start,
            time,
            inputs: String::new(),
            outputs: String::new(),
            kernel: None,
            output_bytes: 0,
            allocated_bytes: 0,
            temporary_bytes: 0,
            persistent_bytes: 0,
            is_async: false,
            depth: node.depth,
            is_device_work: true,
        });
    }
}

/// A run of a node that has begun.
pub(crate) struct Begun {
    at: Instant,
    allocated: usize,
    /// What is told of the run from the time before it: a kernel may take its inputs. Apart, so that a run that is not traced
    /// has little to carry.
    before: Box<Before>,
}

struct Before {
    inputs: String,
    kernel: Option<String>,
}

/// The dtypes and shapes of tensors, as TensorFlow's traces have them.
fn types(tensors: &[Option<Tensor>]) -> String {
    let text = |tensor: &Option<Tensor>| match tensor {
        Some(tensor) if tensor.reference().is_none() => match tensor.dtype() {
            DataType::Resource | DataType::Variant => String::new(),
            dtype => format!("{dtype}{}", tensor.shape()),
        },
        _ => String::new(),
    };
    tensors.iter().map(text).collect::<Vec<_>>().join(";")
}

/// Which node has run.
pub(crate) struct Ran<'n> {
    pub(crate) node: &'n str,
    pub(crate) op: &'n str,
    pub(crate) device: &'n str,
    pub(crate) is_async: bool,
    pub(crate) depth: u32,
    pub(crate) temporary: usize,
    pub(crate) persistent: i64,
}

impl Begun {
    /// A run on these inputs that begins now; `kernel` is what the kernel says of it.
    pub(crate) fn now(inputs: &[Option<Tensor>], kernel: Option<String>) -> Begun {
        let before = Box::new(Before { inputs: types(inputs), kernel });
        Begun { at: Instant::now(), allocated: allocated_by_thread(), before }
    }

    /// The statistics of a run that ends now.
    pub(crate) fn ended(self, step_start: Instant, ran: &Ran, outputs: &[Option<Tensor>]) -> NodeStats {
        let thread = std::thread::current();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), str::to_owned);
        NodeStats {
            node: ran.node.to_owned(),
            op: ran.op.to_owned(),
            device: ran.device.to_owned(),
            thread,
            start: self.at.saturating_duration_since(step_start),
            time: self.at.elapsed(),
            inputs: self.before.inputs,
            outputs: types(outputs),
            kernel: self.before.kernel,
            output_bytes: outputs.iter().flatten().map(Tensor::num_bytes).sum(),
            // What else its thread ran meanwhile allocated as well.
            allocated_bytes: if ran.is_async { 0 } else { allocated_by_thread().saturating_sub(self.allocated) },
            temporary_bytes: ran.temporary,
            persistent_bytes: ran.persistent,
            is_async: ran.is_async,
            depth: ran.depth,
            is_device_work: false,
        }
    }
}
