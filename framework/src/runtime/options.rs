//! How a session and its runs behave.

use std::sync::Arc;
use std::time::Duration;

use crate::device::Device;
use crate::resource::ResourceManager;
use crate::step::{Cancellation, CollectiveExecutor, NodeStats, StepStats};
use crate::threads::ThreadPool;

/// How a session runs.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Threads to run on; 0 stands for one per processor.
    pub threads: usize,
    /// The threads to run on, in the place of the session's own.
    pub pool: Option<Arc<ThreadPool>>,
    /// The resources, which several sessions may share; the session's own if not given.
    pub resources: Option<Arc<ResourceManager>>,
    /// How many CPU devices there are, `/device:CPU:0` and so on, on the same threads; 0 stands for one.
    pub cpu_devices: usize,
    /// Threads that a run can ask for; see [`RunOptions::inter_op_pool`].
    pub inter_op_pools: Vec<Arc<ThreadPool>>,
    /// What computes together with other devices and processes.
    pub collectives: Option<Arc<dyn CollectiveExecutor>>,
    /// Whether a node that asks for a device that is not there, or has no kernel for it, must not run elsewhere.
    pub strict_placement: bool,
    /// The names of the graph passes and rewrites that do not run, beside those that the environment variable
    /// [`KERNLINK_WITHOUT`](crate::optimize::WITHOUT) names; see [`PASSES`](crate::optimize::PASSES).
    pub without_passes: Vec<String>,
    /// Whether rewrites run after which results may differ in the last bits; see
    /// [`RewriteDef::is_inexact`](crate::optimize::rewrite::RewriteDef::is_inexact).
    pub inexact_rewrites: bool,
    /// How deeply calls of functions may be nested; 0 stands for 1,000. Each takes memory.
    pub call_depth: u32,
}

impl SessionOptions {
    /// The defaults: one thread per processor.
    pub fn new() -> SessionOptions {
        SessionOptions::default()
    }

    /// Sets the number of threads; 0 stands for one per processor.
    pub fn threads(mut self, threads: usize) -> SessionOptions {
        self.threads = threads;
        self
    }

    /// Has the session run on the threads of a pool, which other sessions may share, and those that call, in the place of
    /// threads of its own. [`thread_pool`](crate::device::thread_pool) makes one.
    pub fn pool(mut self, pool: Arc<ThreadPool>) -> SessionOptions {
        self.pool = Some(pool);
        self
    }

    /// Has the session run on the threads of one of rayon's pools, which the program may compute on as well; see
    /// [`ThreadPool::on_rayon`].
    #[cfg(feature = "rayon")]
    pub fn rayon_pool(self, pool: Arc<rayon::ThreadPool>) -> SessionOptions {
        self.pool(Arc::new(ThreadPool::on_rayon(pool)))
    }

    /// Sets the number of CPU devices: what is placed on different ones is handed from one to the other.
    pub fn cpu_devices(mut self, count: usize) -> SessionOptions {
        self.cpu_devices = count;
        self
    }

    /// Adds a pool of threads that nodes can run on; see [`RunOptions::inter_op_pool`].
    /// [`thread_pool`](crate::device::thread_pool) makes one; several sessions may share it.
    pub fn inter_op_pool(mut self, pool: Arc<ThreadPool>) -> SessionOptions {
        self.inter_op_pools.push(pool);
        self
    }

    /// Gives kernels what computes together with other devices and processes.
    pub fn collectives(mut self, collectives: Arc<dyn CollectiveExecutor>) -> SessionOptions {
        self.collectives = Some(collectives);
        self
    }

    /// Refuses graphs with nodes that ask for a device which is not there or has no kernel for them. Without this they
    /// run elsewhere, as TensorFlow 2 places them ("soft placement").
    pub fn strict_placement(mut self, strict: bool) -> SessionOptions {
        self.strict_placement = strict;
        self
    }

    /// Has a graph pass or a rewrite not run. A run fails if there is none of this name.
    pub fn without_pass(mut self, name: impl Into<String>) -> SessionOptions {
        self.without_passes.push(name.into());
        self
    }

    /// Has those rewrites run, too, after which results may differ in the last bits. Without this they do not.
    pub fn inexact_rewrites(mut self, inexact: bool) -> SessionOptions {
        self.inexact_rewrites = inexact;
        self
    }

    /// Sets how deeply calls of functions may be nested; 0 stands for 1,000. A run that goes deeper ends with
    /// RESOURCE_EXHAUSTED.
    pub fn call_depth(mut self, calls: u32) -> SessionOptions {
        self.call_depth = calls;
        self
    }

    /// Has the session keep its variables, tables and queues in `resources`, for other sessions to share.
    pub fn resources(mut self, resources: Arc<ResourceManager>) -> SessionOptions {
        self.resources = Some(resources);
        self
    }
}

/// How one run behaves.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// After which time the run ends with DEADLINE_EXCEEDED.
    pub timeout: Option<Duration>,
    /// Ends the run when it is cancelled. If it was before, nothing runs.
    pub cancellation: Option<Cancellation>,
    /// Whether statistics of every node are collected.
    pub trace: bool,
    /// Where they are collected, if others are to see them while the run goes on; see [`RunOptions::trace_to`].
    pub stats: Option<Arc<StepStats>>,
    /// Which of the session's [pools](SessionOptions::inter_op_pool) nodes run on: 0, which is the default, stands for
    /// the first, or for the devices' own threads if the session has none; -1 for the thread that asks for the run.
    pub inter_op_pool: i32,
}

/// What a run tells of itself; see [`Session::run_with_metadata`](super::Session::run_with_metadata).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunMetadata {
    /// What each node took, by start; empty if [`RunOptions::trace`] is not set.
    pub step_stats: Vec<NodeStats>,
    /// How long the run took.
    pub time: Duration,
    /// What devices that count have made and done meanwhile; for other runs at the same time, too.
    pub device_counters: Vec<DeviceCounters>,
}

/// What a device has made and done during a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeviceCounters {
    /// The device's name.
    pub device: String,
    /// How many of each, by name.
    pub counts: Vec<(&'static str, u64)>,
}

impl DeviceCounters {
    /// How many there are of what has this name; `None` if the device does not count them.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.counts.iter().find(|(other, _)| *other == name).map(|(_, count)| *count)
    }

    /// What the devices have counted so far.
    pub(super) fn so_far(devices: &[Arc<dyn Device>]) -> Vec<DeviceCounters> {
        let counted = devices.iter().map(|device| (device, device.counters()));
        let counted = counted.filter(|(_, counts)| !counts.is_empty());
        counted.map(|(device, counts)| DeviceCounters { device: device.name().to_owned(), counts }).collect()
    }

    /// What was counted since.
    pub(super) fn since(mut self, before: &DeviceCounters) -> DeviceCounters {
        for (name, count) in &mut self.counts {
            *count = count.saturating_sub(before.get(name).unwrap_or_default());
        }
        self
    }
}

impl RunOptions {
    /// The defaults: no timeout.
    pub fn new() -> RunOptions {
        RunOptions::default()
    }

    /// Ends the run with DEADLINE_EXCEEDED after this time.
    pub fn timeout(mut self, timeout: Duration) -> RunOptions {
        self.timeout = Some(timeout);
        self
    }

    /// Sets which of the session's [pools](SessionOptions::inter_op_pool) nodes run on; -1 stands for the thread that asks
    /// for the run.
    pub fn inter_op_pool(mut self, index: i32) -> RunOptions {
        self.inter_op_pool = index;
        self
    }

    /// Has statistics of every node collected.
    pub fn trace(mut self, trace: bool) -> RunOptions {
        self.trace = trace;
        self
    }

    /// Has statistics of every node collected in `stats`, where another thread can take those of the nodes that have ended
    /// while the run goes on. What it takes is not in the [`RunMetadata`].
    pub fn trace_to(mut self, stats: Arc<StepStats>) -> RunOptions {
        self.trace = true;
        self.stats = Some(stats);
        self
    }

    /// Ends the run when `cancellation` is cancelled.
    pub fn cancellation(mut self, cancellation: &Cancellation) -> RunOptions {
        self.cancellation = Some(cancellation.clone());
        self
    }
}
